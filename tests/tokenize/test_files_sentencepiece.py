"""SentencePiece models: what their pieces do, and that broken files are named."""

from __future__ import annotations

import contextlib
import copy
import pickle
import struct
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arrowprep import load_tokenizer
from arrowprep.errors import BadTokenizerFile, TokenizerError, UnsupportedComponent
from arrowprep.tokenize import Tokenizer
from arrowprep.tokenize.files.sentencepiece import read_sentencepiece
from arrowprep.tokenize.models.sentencepiece import BYTE, CONTROL, NORMAL, UNKNOWN, UNUSED, USER_DEFINED

UNIGRAM, BPE, WORD = 1, 2, 3
Entry = tuple[str, float, int]
SPECIAL: list[Entry] = [("<unk>", 0, UNKNOWN), ("<s>", 0, CONTROL), ("</s>", 0, CONTROL)]
BYTES: list[Entry] = [(f"<0x{byte:02X}>", 0, BYTE) for byte in range(256)]


def varint(value: int) -> bytes:
    out = b""
    while value > 0x7F:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def field(number: int, value: bytes | int | float) -> bytes:
    if isinstance(value, bytes):
        return varint(number << 3 | 2) + varint(len(value)) + value
    if isinstance(value, float):
        return varint(number << 3 | 5) + struct.pack("<f", value)
    return varint(number << 3) + varint(value)


def model_file(
    pieces: list[Entry], model_type: int, normalizer: dict[int, int] | None = None, **trainer: int
) -> bytes:
    """The bytes of a .model; normalizer: field numbers with values."""
    content = b"".join(
        field(1, field(1, text.encode()) + field(2, float(score)) + field(3, kind))
        for text, score, kind in pieces
    )
    flags = field(35, trainer.get("byte_fallback", 0)) + field(24, trainer.get("suffix", 0))
    content += field(2, field(3, model_type) + flags)
    return content + field(3, b"".join(field(number, value) for number, value in (normalizer or {}).items()))


def tokenizer(pieces: list[Entry], model_type: int = BPE, **options: Any) -> Tokenizer:
    return read_sentencepiece(model_file([*SPECIAL, *pieces], model_type, **options))[0]


def normal(*texts: str) -> list[Entry]:
    """Pieces of falling scores."""
    return [(text, -float(rank), NORMAL) for rank, text in enumerate(texts)]


LETTERS = normal("▁a", "ab", "▁ab", "▁", "a", "b")


def spans(tok: Tokenizer, text: str) -> list[tuple[str, tuple[int, int]]]:
    encoding = tok.encode(text)
    return list(zip(encoding.tokens, encoding.offsets, strict=True))


class TestSpaces:
    def test_an_inserted_space_stands_for_nothing(self) -> None:
        assert spans(tokenizer(normal("▁", "a")), "a a") == [
            ("▁", (0, 0)),
            ("a", (0, 1)),
            ("▁", (1, 2)),
            ("a", (2, 3)),
        ]

    def test_superfluous_spaces_are_taken_out(self) -> None:
        tok = tokenizer(LETTERS)
        assert spans(tok, "  a   b ") == [("▁a", (2, 3)), ("▁", (3, 6)), ("b", (6, 7))]
        assert tok.encode("   ").ids == []

    def test_a_model_may_keep_them_and_add_none(self) -> None:
        tok = tokenizer(LETTERS, normalizer={3: 0, 4: 0})
        assert tok.encode("a  b").tokens == ["a", "▁", "▁", "b"]
        assert tok.decode(tok.encode(" a  b").ids) == " a  b"

    def test_spaces_may_be_suffixes(self) -> None:
        assert tokenizer(normal("a▁", "a", "▁"), suffix=1).encode("a a").tokens == ["a▁", "a▁"]


class TestBpe:
    def test_the_piece_of_the_highest_score_is_made_first(self) -> None:
        assert tokenizer(normal("▁a", "ab", "▁", "a", "b")).encode("ab").tokens == ["▁a", "b"]
        assert tokenizer(normal("ab", "▁a", "▁", "a", "b")).encode("ab").tokens == ["▁", "ab"]

    def test_of_equal_scores_the_leftmost_is_made_first(self) -> None:
        pieces = [("aa", 0.0, NORMAL), ("ab", 0.0, NORMAL), *normal("a", "b")]
        assert tokenizer(pieces, normalizer={3: 0}).encode("aab").tokens == ["aa", "b"]

    def test_an_unused_piece_is_taken_apart_again(self) -> None:
        pieces = [("ab", 0.0, UNUSED), ("abc", -1.0, NORMAL), *normal("▁", "a", "b", "c")]
        tok = tokenizer(pieces, normalizer={3: 0})
        assert tok.encode("ab").tokens == ["a", "b"]
        assert tok.encode("abc").tokens == ["abc"]

    def test_words_are_looked_up_alone_only_where_no_piece_goes_across(self) -> None:
        assert tokenizer(LETTERS).pre_tokenizer is not None
        across = tokenizer([("a▁b", 5.0, NORMAL), ("a▁", 4.0, NORMAL), *LETTERS], normalizer={3: 0})
        assert across.pre_tokenizer is None
        assert across.encode("a b").tokens == ["a▁b"]


class TestUnigram:
    def test_the_path_of_the_highest_sum_wins(self) -> None:
        pieces = [("▁", -1, NORMAL), ("a", -2, NORMAL), ("b", -2, NORMAL), ("ab", -3, NORMAL)]
        assert tokenizer(pieces, UNIGRAM).encode("abb").tokens == ["▁", "ab", "b"]
        worse = [*pieces[:3], ("ab", -5, NORMAL)]
        assert tokenizer([*worse], UNIGRAM).encode("abb").tokens == ["▁", "a", "b", "b"]

    def test_unused_pieces_are_on_no_path(self) -> None:
        pieces = [("▁", -1, NORMAL), ("a", -9, NORMAL), ("aa", 0, UNUSED), ("u", 0, UNUSED)]
        assert tokenizer(pieces, UNIGRAM).encode("aau").ids == [3, 4, 4, 0]


@pytest.mark.parametrize("model_type", [UNIGRAM, BPE])
class TestKindsOfPieces:
    def test_control_pieces_match_no_text(self, model_type: int) -> None:
        tok = tokenizer(normal("▁", "<", "/", "s", ">"), model_type)
        assert tok.encode("</s>").tokens == ["▁", "<", "/", "s", ">"]

    def test_user_defined_pieces_are_taken_whole(self, model_type: int) -> None:
        pieces = [("<x>", 0, USER_DEFINED), ("<x>y", 0, USER_DEFINED), *normal("▁", "a", "<", "x", ">", "y>")]
        tok = tokenizer(pieces, model_type)
        assert tok.encode("a<x>y><x>").tokens == ["▁", "a", "<x>y", ">", "<x>"]

    def test_unknown_neighbours_are_one_token_that_keeps_its_text(self, model_type: int) -> None:
        tok = tokenizer(normal("▁", "a"), model_type)
        assert spans(tok, "a漢字a") == [("▁", (0, 0)), ("a", (0, 1)), ("漢字", (1, 3)), ("a", (3, 4))]
        assert tok.encode("漢").ids == [3, 0]
        assert tok.decode(tok.encode("a漢").ids, skip_special_tokens=False) == "a \u2047 "

    def test_bytes_spell_what_is_unknown_and_the_last_has_its_place(self, model_type: int) -> None:
        tok = tokenizer([*BYTES, *normal("▁", "a")], model_type, byte_fallback=1)
        assert spans(tok, "é")[1:] == [("<0xC3>", (0, 0)), ("<0xA9>", (0, 1))]
        assert tok.decode(tok.encode("aé漢a").ids) == "aé漢a"
        assert tok.decode([3 + 0xC3, 3 + 0xC3, 3 + 0xA9]) == "\ufffdé"

    def test_copies_pickles_and_files_give_the_same(self, model_type: int) -> None:
        pieces = [("<x>", 0, USER_DEFINED), *BYTES, *((t, s / 3, k) for t, s, k in normal("▁", "a", "▁a"))]
        tok = tokenizer(pieces, model_type, byte_fallback=1)
        for again in (copy.deepcopy(tok), pickle.loads(pickle.dumps(tok))):
            assert again.fingerprint == tok.fingerprint
        again = Tokenizer.from_str(tok.to_str())
        text = "  a<x>é  a"
        assert again.encode(text).ids == tok.encode(text).ids
        assert again.encode(text).offsets == tok.encode(text).offsets
        assert again.to_str() == tok.to_str()


class TestLoading:
    def test_a_folder_knows_its_roles_and_adds_what_its_config_says(self, tmp_path: Path) -> None:
        (tmp_path / "tokenizer.model").write_bytes(model_file([*SPECIAL, *LETTERS], BPE))
        tok = load_tokenizer(tmp_path)
        assert (tok.bos_token_id, tok.eos_token_id, tok.unk_token_id) == (1, 2, 0)
        assert tok("a")["input_ids"] == [3]
        assert load_tokenizer(tmp_path, add_bos_token=True)("a")["input_ids"] == [1, 3]
        (tmp_path / "tokenizer_config.json").write_text('{"add_bos_token": true}')
        assert load_tokenizer(tmp_path)("a")["input_ids"] == [1, 3]

    def test_special_tokens_that_a_chat_template_writes_are_tokens(self, tmp_path: Path) -> None:
        (tmp_path / "spiece.model").write_bytes(model_file([*SPECIAL, *LETTERS], BPE))
        tok = load_tokenizer(tmp_path, chat_template="{{ bos_token }}{{ messages[0].content }}")
        chat = tok.apply_chat_template([{"role": "user", "content": "a"}], return_dict=True)
        assert chat["input_ids"] == [1, 3]

    def test_saved_and_loaded_it_is_the_same(self, tmp_path: Path) -> None:
        (tmp_path / "spiece.model").write_bytes(model_file([*SPECIAL, *LETTERS], UNIGRAM))
        tok = load_tokenizer(tmp_path)
        tok.save_pretrained(tmp_path / "saved")
        again = load_tokenizer(tmp_path / "saved")
        assert again("ab  ab</s>")["input_ids"] == tok("ab  ab</s>")["input_ids"]


class TestBrokenFiles:
    WHOLE = model_file([*SPECIAL, *LETTERS], BPE)

    def test_a_file_cut_anywhere_fails_or_is_a_smaller_model(self) -> None:
        for stop in range(len(self.WHOLE)):
            try:
                tok, _ = read_sentencepiece(self.WHOLE[:stop])
            except TokenizerError:
                continue
            assert tok.get_vocab_size() <= len(SPECIAL) + len(LETTERS)

    @given(st.binary(max_size=200), st.integers(0, 300))
    def test_bytes_that_mean_nothing_are_no_other_error(self, noise: bytes, at: int) -> None:
        for content in (noise, self.WHOLE[:at] + noise + self.WHOLE[at + len(noise) :]):
            with contextlib.suppress(TokenizerError):
                read_sentencepiece(content)

    @pytest.mark.parametrize(
        ("content", "problem"),
        [
            (b"", "no pieces"),
            (varint(1 << 3 | 2) + varint(1 << 30) + b"abc", "cut short.*byte"),
            (b"\xff" * 30, "byte"),
            (field(1, 5), "stands for a message"),
            (field(1, field(1, b"\xff")), "UTF-8"),
            (field(1, field(1, b"a") + field(3, 9)), "piece 0.*type 9"),
            (field(1, field(1, b"a") + field(2, float("nan"))), "piece 0.*nan"),
            (model_file([("a", 0, NORMAL)] * 2, BPE), "piece 1.*twice"),
            (model_file(SPECIAL, BPE) + field(3, field(2, b"\x08\0\0\0")), "character map"),
        ],
    )
    def test_the_place_is_named(self, content: bytes, problem: str) -> None:
        with pytest.raises(BadTokenizerFile, match=problem):
            read_sentencepiece(content)

    def test_models_of_words_are_not_read_as_something_else(self) -> None:
        with pytest.raises(UnsupportedComponent, match="type word"):
            tokenizer(LETTERS, WORD)
