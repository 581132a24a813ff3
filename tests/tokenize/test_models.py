"""WordPiece, WordLevel and Unigram."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arrowprep.errors import BadArgument, BadTokenizerFile, MissingFile, TokenizerError
from arrowprep.tokenize import Tokenizer, models
from arrowprep.tokenize.tokenizer_json import read_number


def spelled(model: models.Model, text: str) -> list[tuple[str, tuple[int, int]]]:
    return [(token.value, token.offsets) for token in model.tokenize(text)]


def numbered(*tokens: str) -> dict[str, int]:
    return {token: id for id, token in enumerate(tokens)}


class TestWordPiece:
    model = models.WordPiece(numbered("[UNK]", "un", "##aff", "##able", "##a", "u"))

    def test_the_longest_comes_first(self) -> None:
        assert spelled(self.model, "unaffable") == [("un", (0, 2)), ("##aff", (2, 5)), ("##able", (5, 9))]

    def test_what_cannot_be_spelled_to_the_end_is_unknown_as_a_whole(self) -> None:
        assert spelled(self.model, "unaffx") == [("[UNK]", (0, 6))]

    def test_too_long_is_unknown(self) -> None:
        short = models.WordPiece(numbered("[UNK]", "u", "##u"), max_input_chars_per_word=3)
        assert [value for value, _ in spelled(short, "uuu")] == ["u", "##u", "##u"]
        assert spelled(short, "uuuu") == [("[UNK]", (0, 4))]

    def test_without_an_unknown_token_that_is_an_error(self) -> None:
        with pytest.raises(TokenizerError, match=r"'\[UNK\]' is not in the vocabulary"):
            models.WordPiece(numbered("a")).tokenize("b")


class TestWordLevel:
    def test_a_piece_is_a_token(self) -> None:
        model = models.WordLevel(numbered("<unk>", "cat"))
        assert spelled(model, "cat") == [("cat", (0, 3))]
        assert spelled(model, "cats") == [("<unk>", (0, 4))]

    def test_without_an_unknown_token_a_new_word_is_an_error(self) -> None:
        with pytest.raises(TokenizerError, match="neither 'dog' nor"):
            models.WordLevel(numbered("cat")).tokenize("dog")


PIECES = [("<unk>", 0.0), ("a", -1.0), ("b", -1.5), ("ab", -2.0), ("abc", -4.0), ("bc", -2.2), ("c", -3.0)]


class TestUnigram:
    model = models.Unigram(PIECES, unk_id=0)

    def test_the_most_likely_path_wins(self) -> None:
        assert [value for value, _ in spelled(self.model, "abc")] == ["a", "bc"]

    def test_of_equal_paths_the_last_token_is_the_longest(self) -> None:
        equal = models.Unigram([("<unk>", 0.0), ("a", -1.0), ("aa", -2.0), ("aaa", -3.0)], unk_id=0)
        assert [value for value, _ in spelled(equal, "aaaa")] == ["a", "aaa"]

    def test_unknown_neighbours_are_one_and_keep_their_text(self) -> None:
        assert spelled(self.model, "axyb") == [("a", (0, 1)), ("xy", (1, 3)), ("b", (3, 4))]
        assert [token.id for token in self.model.tokenize("axyb")] == [1, 0, 2]

    def test_unknown_text_is_spelled_in_bytes_where_all_are_there(self) -> None:
        with_bytes = models.Unigram([*PIECES, ("<0xC3>", -9.0), ("<0xA9>", -9.0)], 0, byte_fallback=True)
        assert spelled(with_bytes, "aé") == [("a", (0, 1)), ("<0xC3>", (1, 2)), ("<0xA9>", (1, 2))]
        assert spelled(with_bytes, "è") == [("è", (0, 1))]

    def test_without_an_unknown_token_that_is_an_error(self) -> None:
        with pytest.raises(TokenizerError, match="'x' is not in the vocabulary"):
            models.Unigram(PIECES).tokenize("x")

    def test_the_unknown_token_must_be_there(self) -> None:
        with pytest.raises(BadArgument, match="unk_id=7"):
            models.Unigram(PIECES, unk_id=7)

    @given(st.text("abc", max_size=9))
    def test_no_other_path_is_better(self, text: str) -> None:
        scores = dict(PIECES[1:])

        def best(rest: str) -> float:
            ways = (scores[p] + best(rest[len(p) :]) for p in scores if rest.startswith(p))
            return max(ways, default=0.0 if not rest else -math.inf)

        found = sum(scores[value] for value, _ in spelled(self.model, text))
        assert math.isclose(found, best(text), abs_tol=1e-9)

    def test_a_broken_vocabulary_is_named(self) -> None:
        content = json.loads(Tokenizer(self.model).to_str())
        for entry in (["x"], ["x", "1"], [1, -1.0]):
            content["model"]["vocab"] = [["<unk>", 0.0], entry]
            with pytest.raises(BadTokenizerFile, match=r"vocab\[1\]"):
                Tokenizer.from_str(json.dumps(content))


@pytest.mark.parametrize(
    "model",
    [TestUnigram.model, TestWordPiece.model, models.WordLevel(numbered("<unk>", "a"))],
    ids=["unigram", "wordpiece", "wordlevel"],
)
def test_each_is_written_and_read(model: models.Model) -> None:
    tok = Tokenizer(model)
    again = Tokenizer.from_str(tok.to_str())
    assert again.to_str() == tok.to_str()
    assert again.fingerprint == tok.fingerprint
    assert again.get_vocab() == model.get_vocab()
    assert [again.id_to_token(id) for id in range(2)] == [model.id_to_token(id) for id in range(2)]


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_are_read_to_the_last_bit_but_one(number: float) -> None:
    read = read_number(repr(number))
    assert math.isclose(read, number, rel_tol=1e-15, abs_tol=5e-324)


class TestFiles:
    """Models as files of their own."""

    def test_bpe_comes_back_from_its_two_files(self, tmp_path: Path) -> None:
        model = models.BPE(numbered("a", "b", "ab", "\u2028", "a\u2028"), [("a", "b"), ("a", "\u2028")])
        files = model.save(tmp_path, "small")
        assert [Path(file).name for file in files] == ["small-vocab.json", "small-merges.txt"]
        assert Path(files[1]).read_text(encoding="utf-8") == "#version: 0.2\na b\na \u2028\n"
        assert models.BPE.from_file(*files).to_json() == {
            **model.to_json(),
            "merges": [("a", "b"), ("a", "\u2028")],
        }

    def test_word_pieces_are_lines(self, tmp_path: Path) -> None:
        (file,) = models.WordPiece(numbered("[UNK]", "a", "##b")).save(tmp_path)
        assert Path(file).read_text(encoding="utf-8") == "[UNK]\na\n##b\n"
        assert models.WordPiece.from_file(file, unk_token="a").get_vocab() == numbered("[UNK]", "a", "##b")

    def test_words_and_scores_are_json(self, tmp_path: Path) -> None:
        (file,) = models.WordLevel(numbered("b", "a")).save(tmp_path)
        assert Path(file).read_text(encoding="utf-8") == '{"b":0,"a":1}'
        assert models.WordLevel.from_file(file).get_vocab() == numbered("b", "a")
        (file,) = TestUnigram.model.save(tmp_path, "x")
        assert json.loads(Path(file).read_text(encoding="utf-8")) == TestUnigram.model.to_json()

    def test_a_mistake_is_named_with_its_line(self, tmp_path: Path) -> None:
        vocab, merges = tmp_path / "vocab.json", tmp_path / "merges.txt"
        vocab.write_text('{"a": 0, "b": 1}', encoding="utf-8")
        with pytest.raises(MissingFile, match=r"merges\.txt"):
            models.BPE.from_file(vocab, merges)
        merges.write_text("#version: 0.2\na b c\n", encoding="utf-8")
        with pytest.raises(BadTokenizerFile, match="line 2: 'a b c' is no pair"):
            models.BPE.from_file(vocab, merges)
        merges.write_text("a b\n", encoding="utf-8")
        with pytest.raises(BadTokenizerFile, match="'ab' is not in the vocabulary"):
            models.BPE.from_file(vocab, merges)
        vocab.write_text("{", encoding="utf-8")
        with pytest.raises(BadTokenizerFile, match="not JSON"):
            models.BPE.from_file(vocab, merges)


class TestNamesOfVocabularies:
    def test_the_order_in_which_tokens_are_given_is_no_part_of_the_name(self) -> None:
        merges = [("a", "b"), ("b", "a")]
        one = models.BPE({"a": 0, "b": 1, "ab": 2, "ba": 3}, merges)
        other = models.BPE({"ba": 3, "b": 1, "ab": 2, "a": 0}, merges)
        assert one.digest == other.digest
        assert other.tokenize("bab") == one.tokenize("bab")

    def test_the_order_of_merges_and_every_id_is(self) -> None:
        vocab = {"a": 0, "b": 1, "ab": 2, "ba": 3}
        names = {
            models.BPE(vocab, [("a", "b"), ("b", "a")]).digest,
            models.BPE(vocab, [("b", "a"), ("a", "b")]).digest,
            models.BPE(vocab, [("a", "b")]).digest,
            models.BPE({**vocab, "ba": 4}, [("a", "b")]).digest,
            models.WordPiece(vocab).digest,
        }
        assert len(names) == 5

    def test_scores_are_to_the_last_bit(self) -> None:
        scores = (1 / 3, np.nextafter(1 / 3, 1))
        assert len({models.Unigram([("a", score)]).digest for score in scores}) == 2
