"""Components of one's own: they work, are shown, copied, pickled and named, and no file takes them."""

from __future__ import annotations

import copy
import os
import pickle
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from arrowprep.errors import TokenizerError, Unnameable, UnsupportedComponent
from arrowprep.tokenize import (
    NormalizedString,
    PreTokenizedString,
    Token,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
)
from arrowprep.tokenize.decoders import Decoder
from arrowprep.tokenize.normalizers import Normalizer
from arrowprep.tokenize.pre_tokenizers import PreTokenizer
from arrowprep.tokenize.shell import PreTrainedTokenizer

LETTERS = {letter: id for id, letter in enumerate("abcdefghijklmnopqrstuvwxyz>é")}


class Doubler:
    """A normalizer: each of some letters twice."""

    def __init__(self, letters: str) -> None:
        self.letters = letters

    def normalize(self, normalized: NormalizedString) -> None:
        for letter in self.letters:
            normalized.replace(letter, letter * 2)


class Halves:
    """A pre-tokenizer: at spaces, and then each word in two."""

    def halve(self, number: int, word: NormalizedString) -> list[Any]:
        middle = (len(str(word)) + 1) // 2
        return [word[:middle], word[middle:]]

    def pre_tokenize(self, pretok: PreTokenizedString) -> None:
        pretok.split(lambda _, text: text.split(" ", "removed"))
        pretok.split(self.halve)


class Dashes:
    """A decoder."""

    def decode_chain(self, tokens: list[str]) -> list[str]:
        return [f"{token}-" for token in tokens]


def tokenizer(**parts: Any) -> Tokenizer:
    tok = Tokenizer(models.BPE(LETTERS, []))
    for name, part in parts.items():
        setattr(tok, name, part)
    return tok


@pytest.fixture
def tok() -> Tokenizer:
    return tokenizer(
        normalizer=Normalizer.custom(Doubler("b")),
        pre_tokenizer=PreTokenizer.custom(Halves()),
        decoder=Decoder.custom(Dashes()),
    )


class TestAtWork:
    def test_offsets_are_those_of_the_text(self, tok: Tokenizer) -> None:
        encoding = tok.encode("abc de")
        assert encoding.tokens == ["a", "b", "b", "c", "d", "e"]
        assert encoding.offsets == [(0, 1), (1, 2), (1, 2), (2, 3), (4, 5), (5, 6)]
        assert encoding.words == [0, 0, 1, 1, 2, 3]

    def test_it_decodes(self, tok: Tokenizer) -> None:
        assert tok.decode([0, 1]) == "a-b-"
        assert Decoder.custom(Dashes()).decode(["x", "y"]) == "x-y-"

    def test_a_decoder_may_join_the_tokens_itself(self) -> None:
        class Joined:
            def decode(self, tokens: list[str]) -> str:
                return "+".join(tokens)

        parts = decoders.Sequence([Decoder.custom(Joined()), decoders.Replace("+", "/")])
        assert tokenizer(decoder=parts).decode([0, 1, 2]) == "a/b/c"

    def test_batches_and_columns_agree_with_single_texts(self, tok: Tokenizer) -> None:
        texts = ["abc de", "", "bb", "abc de"]
        ids = [tok.encode(text).ids for text in texts]
        assert [encoding.ids for encoding in tok.encode_batch(texts)] == ids
        columns = tok.encode_columns(texts, offsets=True)
        assert columns.ids.to_pylist() == ids
        assert columns.starts is not None
        assert columns.starts.to_pylist()[0] == [0, 1, 1, 2, 4, 5]

    def test_it_stands_in_a_sequence(self) -> None:
        pre = pre_tokenizers.Sequence([pre_tokenizers.Split("x", "isolated"), PreTokenizer.custom(Halves())])
        norm = normalizers.Sequence([normalizers.Lowercase(), Normalizer.custom(Doubler("a"))])
        encoding = tokenizer(pre_tokenizer=pre, normalizer=norm).encode("zAxcd")
        assert encoding.tokens == ["z", "a", "a", "x", "c", "d"]
        assert encoding.offsets == [(0, 1), (1, 2), (1, 2), (2, 3), (3, 4), (4, 5)]
        assert encoding.words == [0, 0, 1, 2, 3, 4]

    def test_added_tokens_are_cut_out_before(self, tok: Tokenizer) -> None:
        tok.add_special_tokens(["<s>"])
        encoding = tok.encode("ab<s>bc")
        assert encoding.tokens == ["a", "b", "b", "<s>", "b", "b", "c"]
        assert encoding.offsets[3:] == [(2, 5), (5, 6), (5, 6), (6, 7)]

    def test_what_is_set_in_the_object_takes_effect_at_once(self, tok: Tokenizer) -> None:
        assert tok.encode("a").tokens == ["a"]
        tok.normalizer.obj.letters = "a"  # type: ignore[union-attr]
        assert tok.encode("a").tokens == ["a", "a"]

    def test_nothing_of_a_pre_tokenizer_is_kept_for_the_next_text(self) -> None:
        class Alternating:
            calls = 0

            def pre_tokenize(self, pretok: PreTokenizedString) -> None:
                self.calls += 1
                if self.calls % 2:
                    pretok.split(lambda _, text: list(text))

        tok = tokenizer(pre_tokenizer=PreTokenizer.custom(Alternating()))
        assert [tok.encode("ab").words for _ in range(3)] == [[0, 1], [0, 0], [0, 1]]

    def test_it_changes_strings_that_are_given_to_it(self) -> None:
        text = NormalizedString("Ab")
        normalizers.Sequence([normalizers.Lowercase(), Normalizer.custom(Doubler("a"))]).normalize(text)
        assert (text.normalized, text.original) == ("aab", "Ab")
        cut = PreTokenizedString("ab cd")
        pre_tokenizers.Sequence([PreTokenizer.custom(Halves())]).pre_tokenize(cut)
        assert [piece for piece, _, _ in cut.get_splits()] == ["a", "b", "c", "d"]

    def test_training_sees_its_pieces(self, tok: Tokenizer) -> None:
        tok.train_from_iterator(["acac ac"])
        assert "ac" in tok.get_vocab()
        assert "aca" not in tok.get_vocab()


class TestMistakes:
    @pytest.mark.parametrize(
        ("make", "method"),
        [
            (Normalizer.custom, "normalize"),
            (PreTokenizer.custom, "pre_tokenize"),
            (Decoder.custom, "decode_chain"),
        ],
    )
    def test_an_object_without_the_method_is_refused(self, make: Callable[[Any], Any], method: str) -> None:
        with pytest.raises(TypeError, match=f"has a method {method}; 3 has none"):
            make(3)

    def test_an_exception_of_the_object_comes_through(self) -> None:
        class Broken:
            def normalize(self, normalized: NormalizedString) -> None:
                raise KeyError("broken")

        with pytest.raises(KeyError, match="broken"):
            tokenizer(normalizer=Normalizer.custom(Broken())).encode("a")

    def test_tokens_are_the_models_part(self) -> None:
        class Greedy:
            def pre_tokenize(self, pretok: PreTokenizedString) -> None:
                pretok.tokenize(lambda text: [Token(0, text, (0, len(text)))])

        with pytest.raises(TokenizerError, match="Greedy made tokens"):
            tokenizer(pre_tokenizer=PreTokenizer.custom(Greedy())).encode("a")

    def test_no_file_takes_it(self, tok: Tokenizer, tmp_path: Path) -> None:
        with pytest.raises(UnsupportedComponent, match=r"test_custom\.Doubler is a custom normalizer"):
            tok.to_str()
        with pytest.raises(UnsupportedComponent, match="set it again after loading"):
            tok.save(tmp_path / "tokenizer.json")
        assert not (tmp_path / "tokenizer.json").exists()

    def test_a_folder_that_cannot_be_written_whole_is_not_begun(self, tok: Tokenizer, tmp_path: Path) -> None:
        with pytest.raises(UnsupportedComponent):
            PreTrainedTokenizer(tokenizer_object=tok).save_pretrained(tmp_path / "saved")
        assert list(tmp_path.glob("saved/*")) == []


class TestCopies:
    def test_it_is_shown(self, tok: Tokenizer) -> None:
        assert "reference engine" in repr(tok)
        assert re.fullmatch(r"CustomNormalizer\(obj=<.*Doubler object at .*>\)", repr(tok.normalizer))

    @pytest.mark.parametrize(
        "twin_of", [copy.copy, copy.deepcopy, lambda tok: pickle.loads(pickle.dumps(tok))]
    )
    def test_a_twin_gives_the_same_and_stands_alone(self, tok: Tokenizer, twin_of: Any) -> None:
        tok.add_tokens(["<x>"])
        twin = twin_of(tok)
        assert twin.encode("abc <x>").offsets == tok.encode("abc <x>").offsets
        assert twin.decode([0]) == "a-"
        assert twin.fingerprint == tok.fingerprint
        twin.normalizer.obj.letters = "a"
        assert tok.encode("ab").tokens == ["a", "b", "b"]

    def test_a_part_is_copied_alone(self, tok: Tokenizer) -> None:
        for twin in (copy.deepcopy(tok.normalizer), pickle.loads(pickle.dumps(tok.normalizer))):
            assert twin.normalize_str("ab") == "abb"


class TestNames:
    def test_values_count(self) -> None:
        one, same, other = (tokenizer(normalizer=Normalizer.custom(Doubler(x))) for x in ("a", "a", "b"))
        assert one.fingerprint == same.fingerprint != other.fingerprint

    def test_a_value_that_is_set_later_counts(self, tok: Tokenizer) -> None:
        before = tok.fingerprint
        tok.normalizer.obj.letters = "z"  # type: ignore[union-attr]
        assert tok.fingerprint != before

    def test_code_counts(self) -> None:
        def made(step: Callable[[str], str]) -> Tokenizer:
            class Local:
                def normalize(self, normalized: NormalizedString) -> None:
                    normalized.map(step)

            return tokenizer(normalizer=Normalizer.custom(Local()))

        def upper(c: str) -> str:
            return c.upper()

        def lower(c: str) -> str:
            return c.lower()

        assert made(upper).fingerprint == made(upper).fingerprint != made(lower).fingerprint

    def test_what_the_code_reads_of_its_module_counts(self, monkeypatch: pytest.MonkeyPatch) -> None:
        class Reads:
            def normalize(self, normalized: NormalizedString) -> None:
                normalized.filter(lambda c: c in LETTERS)

        tok = tokenizer(normalizer=Normalizer.custom(Reads()))
        before = tok.fingerprint
        monkeypatch.setitem(LETTERS, "!", 99)
        assert tok.fingerprint != before

    def test_an_object_may_bring_its_name(self) -> None:
        class Named:
            fingerprint = "rules of May"

            def __init__(self) -> None:
                self.lock = threading.Lock()

            def normalize(self, normalized: NormalizedString) -> None:
                pass

        tok = tokenizer(normalizer=Normalizer.custom(Named()))
        before = tok.fingerprint
        Named.fingerprint = "rules of June"
        assert tok.fingerprint != before

    def test_what_cannot_be_named_is_said(self) -> None:
        doubler = Doubler("a")
        doubler.lock = threading.Lock()  # type: ignore[attr-defined]
        tok = tokenizer(normalizer=normalizers.Sequence([Normalizer.custom(doubler)]))
        with pytest.raises(Unnameable, match=r"is a _thread\.lock, which cannot be named .*`fingerprint`"):
            tok.fingerprint  # noqa: B018
        assert tok.encode("a").tokens == ["a", "a"]

    def test_the_name_is_that_of_another_process(self, tmp_path: Path) -> None:
        code = (
            "from tests.tokenize.test_custom import *\n"
            "print(tokenizer(pre_tokenizer=PreTokenizer.custom(Halves()),"
            " normalizer=Normalizer.custom(Doubler('a'))).fingerprint)"
        )
        names = {run(code, seed) for seed in ("1", "2")}
        assert len(names) == 1


def run(code: str, seed: str) -> str:
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    root = Path(__file__).parents[2]
    return subprocess.check_output([sys.executable, "-c", code], env=environment, cwd=root, text=True)
