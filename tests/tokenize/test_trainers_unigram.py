"""The unigram trainer, and the arithmetic under it."""

from __future__ import annotations

import math
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arrowprep.errors import BadArgument
from arrowprep.tokenize import Tokenizer
from arrowprep.tokenize.models import BPE, Unigram, WordPiece
from arrowprep.tokenize.pre_tokenizers import Metaspace
from arrowprep.tokenize.trainers import BpeTrainer, UnigramTrainer, WordPieceTrainer
from arrowprep.tokenize.trainers.lattice import Lattice
from arrowprep.tokenize.trainers.portable_math import digamma, exp, log
from arrowprep.tokenize.trainers.substrings import Words, repeated_substrings

CORPUS = [
    "the cat sat on the mat while the other cat was sitting on the matting",
    "a mat for the cat and another for the hat of the fat man who sat on that hat",
    "là où la chatte s'était assise, le chat s'assit aussi",
] * 3


def trained(vocab_size: int = 60, **options: object) -> Tokenizer:
    tok = Tokenizer(Unigram())
    tok.pre_tokenizer = Metaspace()
    trainer = UnigramTrainer(vocab_size=vocab_size, show_progress=False, **options)  # type: ignore[arg-type]
    tok.train_from_iterator(CORPUS, trainer)
    return tok


def learnt() -> list[str]:
    """Names of what trainers make that choose among equals: pieces, and letters that are left out."""
    options: Any = {"limit_alphabet": 12, "vocab_size": 60, "show_progress": False}
    pieces, joined = Tokenizer(WordPiece()), Tokenizer(BPE())
    for tok, trainer in ((pieces, WordPieceTrainer(**options)), (joined, BpeTrainer(**options))):
        tok.pre_tokenizer = Metaspace()
        tok.train_from_iterator(CORPUS, trainer)
    return [tok.fingerprint for tok in (trained(unk_token="<unk>"), pieces, joined)]


class TestArithmetic:
    @given(st.floats(1e-300, 1e300))
    def test_log_is_the_logarithm(self, x: float) -> None:
        assert log(np.array([x]))[0] == pytest.approx(math.log(x), rel=4e-16, abs=4e-16)

    @given(st.floats(-700, 700))
    def test_exp_is_its_inverse(self, x: float) -> None:
        assert exp(np.array([x]))[0] == pytest.approx(math.exp(x), rel=1e-15)

    @given(st.floats(0.1, 1e6))
    def test_digamma_is_the_slope_of_log_gamma(self, x: float) -> None:
        # the recurrence digamma(x + 1) = digamma(x) + 1/x, and its value at 1
        here, next = digamma(np.array([x, x + 1]))
        assert next - here == pytest.approx(1 / x, rel=1e-12, abs=1e-14)
        assert digamma(np.array([1.0]))[0] == pytest.approx(-0.5772156649015329, rel=1e-15)


class TestSubstrings:
    @given(st.lists(st.text("ab\0", min_size=1, max_size=8), min_size=1, max_size=6))
    def test_those_that_come_again_and_go_on_in_several_ways(self, words: list[str]) -> None:
        counts: Counter[str] = Counter()
        following: dict[str, set[str]] = {}
        for word in words:
            for start in range(len(word)):
                for stop in range(start + 2, min(len(word), start + 4) + 1):
                    counts[word[start:stop]] += 1
                    end = word[stop] if stop < len(word) else "end"
                    following.setdefault(word[start:stop], set()).add(end)
        laid = Words.of(words)
        found = {
            laid.text[first : first + part.length]: count
            for part in repeated_substrings(laid, 4)
            for first, count in zip(part.firsts.tolist(), part.counts.tolist(), strict=True)
        }
        assert found == {text: n for text, n in counts.items() if n > 1 and len(following[text]) > 1}


PIECES = {"a": -1.0, "b": -1.5, "ab": -1.2, "ba": -2.0, "aba": -2.2}


def lattice_of(words: list[str]) -> Lattice:
    numbers = {piece: number for number, piece in enumerate(PIECES, 1)}
    laid = Words.of(words)
    edges = [
        (first + start, first + stop, numbers[word[start:stop]])
        for word, first in zip(words, laid.starts.tolist(), strict=True)
        for start in range(len(word))
        for stop in range(start + 1, min(start + 3, len(word)) + 1)
        if word[start:stop] in numbers
    ]
    return Lattice.of(laid.starts, laid.starts + laid.lengths, *np.array(edges).T)


def ways(word: str) -> Iterator[list[str]]:
    """All ways to spell a word."""
    if not word:
        yield []
    for piece in PIECES:
        if word.startswith(piece):
            yield from ([piece, *rest] for rest in ways(word[len(piece) :]))


class TestLattice:
    SCORES = np.array([-20.0, *PIECES.values()])

    @given(st.lists(st.text("ab", min_size=1, max_size=7), min_size=1, max_size=5))
    def test_expectations_are_those_of_all_ways_to_spell(self, words: list[str]) -> None:
        wanted: Counter[str] = Counter()
        counts = np.arange(1.0, len(words) + 1)
        for word, count in zip(words, counts.tolist(), strict=True):
            chances = [(way, math.exp(sum(PIECES[piece] for piece in way))) for way in ways(word)]
            total = sum(chance for _, chance in chances)
            for way, chance in chances:
                for piece in way:
                    wanted[piece] += count * chance / total
        expected = lattice_of(words).expected(self.SCORES, counts)
        assert expected[1:] == pytest.approx([wanted[piece] for piece in PIECES], rel=1e-12)

    @given(st.lists(st.text("ab", min_size=1, max_size=9), min_size=1, max_size=5))
    def test_the_best_way_has_the_highest_sum(self, words: list[str]) -> None:
        lattice = lattice_of(words)
        best, by = lattice.best(self.SCORES)
        for word, score in zip(words, best[lattice.last], strict=True):
            assert score == pytest.approx(max(sum(PIECES[p] for p in way) for way in ways(word)))
        pieces, owners = lattice.paths(by)
        sums = np.bincount(owners, self.SCORES[pieces], minlength=len(words))
        assert sums == pytest.approx(best[lattice.last])

    def test_a_long_word_does_not_underflow(self) -> None:
        expected = lattice_of(["ab" * 5000]).expected(self.SCORES, np.array([1.0]))
        assert np.isfinite(expected).all()
        covered = sum(n * len(piece) for n, piece in zip(expected[1:].tolist(), PIECES, strict=True))
        assert covered == pytest.approx(10_000)


class TestTrainer:
    def test_special_tokens_come_first_and_the_rest_by_score(self) -> None:
        tok = trained(40, special_tokens=["<s>", "<unk>"], unk_token="<unk>")
        vocab = tok.model._tables.vocab  # type: ignore[attr-defined]
        assert vocab[:2] == [("<s>", 0.0), ("<unk>", 0.0)]
        scores = [score for _, score in vocab[2:]]
        assert scores == sorted(scores, reverse=True)
        assert tok.encode("☃").ids[-1] == 1
        assert len(vocab) == 40

    def test_an_unknown_token_that_is_not_special_is_put_first(self) -> None:
        assert trained(unk_token="<?>").id_to_token(0) == "<?>"

    def test_what_comes_often_becomes_a_piece_and_every_character_stays(self) -> None:
        tok = trained(initial_alphabet=["☃ and more"])
        assert {"the", "at"} <= set(tok.get_vocab())
        assert {character for text in CORPUS for character in text if character != " "} <= set(
            tok.get_vocab()
        )
        assert tok.token_to_id("☃") is not None

    def test_pieces_are_not_longer_than_asked(self) -> None:
        assert max(map(len, trained(vocab_size=80, max_piece_length=3).get_vocab())) <= 3

    def test_a_vocabulary_that_cannot_hold_the_characters_is_refused(self) -> None:
        with pytest.raises(BadArgument, match="vocab_size=5 is less than the"):
            trained(vocab_size=5)

    def test_another_model_is_refused(self) -> None:
        with pytest.raises(BadArgument, match="UnigramTrainer"):
            Tokenizer(BPE()).train_from_iterator(CORPUS, UnigramTrainer())

    def test_a_corpus_of_nothing_leaves_the_special_tokens(self) -> None:
        tok = Tokenizer(Unigram())
        tok.train_from_iterator([], UnigramTrainer(special_tokens=["<s>"], show_progress=False))
        assert tok.get_vocab() == {"<s>": 0}

    def test_a_file_holds_the_scores_as_they_are(self) -> None:
        tok = trained(unk_token="<unk>")
        assert Tokenizer.from_str(tok.to_str()).fingerprint == tok.fingerprint

    def test_every_process_learns_the_same_to_the_last_bit(self) -> None:
        code = "from tests.tokenize.test_trainers_unigram import learnt; print(learnt())"
        prints = {
            subprocess.run(
                [sys.executable, "-c", code],
                env={"PYTHONHASHSEED": seed, "OMP_NUM_THREADS": seed},
                capture_output=True,
                text=True,
                check=True,
            ).stdout
            for seed in "12"
        }
        assert prints == {f"{learnt()}\n"}
