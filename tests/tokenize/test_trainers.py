"""Trainers: what is learnt from a corpus, and that it is always the same."""

from __future__ import annotations

import itertools
import random
import re
import signal
import tracemalloc
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import arrowprep
from arrowprep import progress
from arrowprep.config import configured
from arrowprep.errors import ArrowprepWarning
from arrowprep.tokenize import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
from arrowprep.tokenize.native_library import load


def trained(corpus: Any, trainer: Any, model: models.Model | None = None, **parts: Any) -> Tokenizer:
    tok = Tokenizer(model or models.BPE())
    tok.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    for name, part in parts.items():
        setattr(tok, name, part)
    tok.train_from_iterator(corpus, trainer)
    return tok


def merges(tok: Tokenizer) -> list[tuple[str, str]]:
    return list(map(tuple, tok.model.to_json()["merges"]))


def by_the_book(words: Counter[str], rounds: int) -> list[tuple[str, str]]:
    """Count all pairs, join the best everywhere, begin anew."""
    ids = {character: id for id, character in enumerate(sorted(set("".join(words))))}
    corpus = [(list(word), count) for word, count in words.items()]
    found = []
    for _ in range(rounds):
        pairs: Counter[tuple[str, str]] = Counter()
        for parts, count in corpus:
            for pair in pairwise(parts):
                pairs[pair] += count
        if not pairs:
            break
        left, right = min(pairs, key=lambda pair: (-pairs[pair], ids[pair[0]], ids[pair[1]]))
        ids.setdefault(left + right, len(ids))
        found.append((left, right))
        for parts, _ in corpus:
            i = 0
            while i < len(parts) - 1:
                if (parts[i], parts[i + 1]) == (left, right):
                    parts[i : i + 2] = [left + right]
                i += 1
    return found


class TestBpe:
    def test_the_commonest_pair_is_joined_first(self) -> None:
        tok = trained(["low low low lower newest newest"], trainers.BpeTrainer(vocab_size=11))
        assert merges(tok)[:2] == [("l", "o"), ("lo", "w")]
        assert tok.get_vocab_size() == 11

    @given(st.lists(st.text("abc", min_size=1, max_size=6), min_size=1, max_size=8))
    def test_merges_are_those_of_the_book(self, words: list[str]) -> None:
        counts = Counter(words)
        tok = trained([" ".join(words)], trainers.BpeTrainer(vocab_size=len(set("".join(words))) + 4))
        # a token can be made in two ways, which uses up a round but no id
        found = merges(tok)
        assert found == by_the_book(counts, len(found))

    def test_special_tokens_come_first_and_are_not_cut_out(self) -> None:
        tok = trained(["<s> <s>"], trainers.BpeTrainer(special_tokens=["<pad>", "<s>"]))
        assert [tok.token_to_id(token) for token in ("<pad>", "<s>", "<", ">", "s")] == [0, 1, 2, 3, 4]
        assert ("<", "s") in merges(tok)

    def test_options_bound_what_is_learnt(self) -> None:
        corpus = ["aaaa aaaa bb c"]
        assert trained(corpus, trainers.BpeTrainer(vocab_size=2)).get_vocab_size() == 3
        assert merges(trained(corpus, trainers.BpeTrainer(min_frequency=4))) == [("a", "a")]
        assert merges(trained(corpus, trainers.BpeTrainer(max_token_length=2)))[0] == ("a", "a")
        assert "aaaa" not in trained(corpus, trainers.BpeTrainer(max_token_length=3)).get_vocab()
        assert set(trained(corpus, trainers.BpeTrainer(limit_alphabet=1, vocab_size=1)).get_vocab()) == {"a"}
        assert "z" in trained(corpus, trainers.BpeTrainer(initial_alphabet=["zy"])).get_vocab()

    def test_a_pair_may_come_more_often_than_32_bits_count(self) -> None:
        model = models.BPE()
        trainers.BpeTrainer(vocab_size=4, show_progress=False).train(
            Counter({"ab": 2**40, "cd": 2**33}), model
        )
        assert model.to_json()["merges"] == []
        trainers.BpeTrainer(vocab_size=5, show_progress=False).train(
            Counter({"ab": 2**40, "cd": 2**33}), model
        )
        assert model.to_json()["merges"] == [("a", "b")]

    def test_bytes_can_be_learnt_whole(self) -> None:
        tok = trained(
            ["héllo wörld 猫"] * 3,
            trainers.BpeTrainer(vocab_size=280, initial_alphabet=pre_tokenizers.ByteLevel.alphabet()),
            pre_tokenizer=pre_tokenizers.ByteLevel(add_prefix_space=False),
            decoder=decoders.ByteLevel(),
        )
        assert tok.decode(tok.encode("猫 héllo x\n").ids) == "猫 héllo x\n"

    def test_prefix_and_suffix_mark_the_place(self) -> None:
        tok = trained(
            ["abab"], trainers.BpeTrainer(continuing_subword_prefix="##", end_of_word_suffix="</w>")
        )
        assert {"a", "##b", "##a", "##b</w>"} < set(tok.get_vocab())
        assert tok.encode("abab").tokens == ["abab</w>"]

    def test_the_different_words_of_a_corpus_are_counted(self) -> None:
        trainer = trainers.BpeTrainer(show_progress=False)
        before = trainer.get_word_count(), repr(trainer)
        trained(["a b b c", "d"], trainer)
        assert (before, trainer.get_word_count()) == ((0, repr(trainer)), 4)


class TestOthers:
    def test_word_pieces_have_the_prefix(self) -> None:
        trainer = trainers.WordPieceTrainer(special_tokens=["[UNK]"], vocab_size=20)
        tok = trained(["unable unable able"], trainer, models.WordPiece())
        assert tok.encode("unable").tokens == ["unable"]
        assert tok.encode("xyz").tokens == ["[UNK]"]

    def test_words_come_by_count_then_by_text(self) -> None:
        trainer = trainers.WordLevelTrainer(special_tokens=["<unk>"], vocab_size=4)
        tok = trained(["b a c c d"], trainer, models.WordLevel())
        assert tok.get_vocab() == {"<unk>": 0, "c": 1, "a": 2, "b": 3}

    def test_a_trainer_of_another_model_is_refused(self) -> None:
        with pytest.raises(ValueError, match="a WordLevelTrainer trains WordLevel, not BPE"):
            trained(["a"], trainers.WordLevelTrainer())


class TestCorpus:
    @pytest.mark.parametrize("corpus", [["ab ab", "ab c"], [["ab ab"], ["ab c"]], [("ab ab", "ab c")]])
    def test_texts_and_lists_of_texts_are_taken(self, corpus: Any) -> None:
        assert trained(iter(corpus), trainers.BpeTrainer()).get_vocab() == {"a": 0, "b": 1, "c": 2, "ab": 3}

    def test_lines_of_files_are_taken(self, tmp_path: Path) -> None:
        (tmp_path / "corpus.txt").write_text("ab ab\nab c", encoding="utf-8")
        tok = Tokenizer(models.BPE())
        tok.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
        tok.train([tmp_path / "corpus.txt"])
        assert "ab" in tok.get_vocab()

    def test_words_are_those_of_the_whole_pipeline(self) -> None:
        cut = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Digits(True)])
        words = trainers.count_words([["A1 a12", "b1"]], normalizers.Lowercase(), cut)
        assert words == {"a": 2, "1": 3, "2": 1, "b": 1}

    @pytest.mark.parametrize("scheme", ["first", "always"])
    def test_the_start_of_a_text_is_known(self, scheme: str) -> None:
        words = trainers.count_words([["a b", "a"]], None, pre_tokenizers.Metaspace(prepend_scheme=scheme))
        assert words == {"▁a": 2, "▁b": 1}

    def test_an_exception_of_the_iterator_comes_through(self) -> None:
        def broken() -> Iterator[str]:
            yield "ab"
            raise OSError("disk")

        tok = Tokenizer(models.BPE())
        with pytest.raises(OSError, match="disk"):
            tok.train_from_iterator(broken())
        assert tok.get_vocab() == {}

    def test_lines_that_are_not_cut_are_warned_of(self) -> None:
        lines = [f"{number} " * 20 for number in range(10_001)]
        trainer = trainers.WordLevelTrainer(show_progress=False)
        with pytest.warns(ArrowprepWarning, match=r"10,001 pieces.*Set a pre_tokenizer"):
            Tokenizer(models.WordLevel()).train_from_iterator(lines, trainer)

    def test_a_second_training_leaves_no_token_on_an_id_of_another(self) -> None:
        tok = trained(["aaa bbb"], trainers.BpeTrainer(special_tokens=["<a>", "<b>"], show_progress=False))
        tok.add_tokens(["more"])
        tok.train_from_iterator(["aaa"], trainers.BpeTrainer(special_tokens=["<c>"], show_progress=False))
        vocab = tok.get_vocab()
        assert sorted(vocab.values()) == list(range(len(vocab)))
        assert vocab["<c>"] == 0
        assert {"<a>", "<b>", "more"} < vocab.keys()
        assert tok.encode("<b>aaa").tokens == ["<b>", "aaa"]

    def test_the_same_corpus_gives_the_same_file(self) -> None:
        corpus = ["the cat sat on the mat", "été 猫"]
        trainer = trainers.BpeTrainer(limit_alphabet=8, continuing_subword_prefix="##")
        assert trained(corpus, trainer).to_str() == trained(list(corpus), trainer).to_str()


WORDS = [f"{number:x}{number % 7}" for number in range(300)]


class TestLongWork:
    @pytest.fixture(params=["reference", "native"])
    def engine(self, request: pytest.FixtureRequest) -> Iterator[str]:
        if request.param == "native" and isinstance(load(), str):
            pytest.skip(f"no kernel: {load()}")
        with configured(engine=request.param):
            yield request.param

    def test_a_bar_shows_what_was_read_and_learnt(self, monkeypatch: Any, capsys: Any, engine: str) -> None:
        monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
        monkeypatch.delenv("ARROWPREP_DISABLE_PROGRESS_BARS")
        monkeypatch.setattr(progress, "SILENT_FOR_S", 0.0)
        arrowprep.enable_progress_bars()
        trained(WORDS, trainers.BpeTrainer(vocab_size=40))
        shown = capsys.readouterr().err
        assert re.search(r"read texts: 100%.*300/300", shown)
        assert re.search(r"learn merges: 100%.*24/24", shown)  # beside 16 letters
        for options in ({"show_progress": False}, {"progress_format": "silent"}):
            trained(WORDS, trainers.BpeTrainer(vocab_size=40, **options))
        assert capsys.readouterr().err == ""

    @pytest.mark.parametrize("step", [1, 5])  # one block is read
    def test_control_c_stops_reading_and_learning(self, monkeypatch: Any, engine: str, step: int) -> None:
        steps = itertools.count(1)

        def advance(bar: progress.Silent, amount: int) -> None:
            if next(steps) == step:
                signal.raise_signal(signal.SIGINT)

        monkeypatch.setattr(progress.Silent, "advance", advance)
        # a job in the background of a shell ignores it
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        tok = Tokenizer(models.BPE({"a": 0}, []))
        try:
            with pytest.raises(KeyboardInterrupt):
                tok.train_from_iterator(iter(WORDS), trainers.BpeTrainer(vocab_size=40))
        finally:
            signal.signal(signal.SIGINT, before)
        assert next(steps) == step + 1
        assert tok.get_vocab() == {"a": 0}

    def test_texts_are_not_kept(self, monkeypatch: Any, engine: str) -> None:
        monkeypatch.setattr("arrowprep.tokenize.trainers.corpus.TEXTS_AT_ONCE", 50)
        texts = (" ".join(random.Random(row).choices(WORDS, k=400)) for row in range(200))
        trainer = trainers.WordLevelTrainer(show_progress=False)
        trained(WORDS, trainer, models.WordLevel())
        tracemalloc.start()
        try:
            trained(texts, trainer, models.WordLevel())
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert peak < 250_000  # all texts are 360,000 bytes; fifty of them wait
