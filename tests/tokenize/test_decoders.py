"""Decoders: from the texts of tokens to text, at once and as ids arrive."""

from __future__ import annotations

import copy
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arrowprep.errors import TokenizerError
from arrowprep.tokenize import Regex, Tokenizer, decoders, models
from tests.tokenize.build import byte_tokenizer


class TestByteLevel:
    def test_bytes_of_several_tokens_make_a_character(self) -> None:
        assert decoders.ByteLevel().decode(["Ã", "©", "Ġa"]) == "é a"

    def test_a_token_that_spells_no_bytes_stands_for_itself(self) -> None:
        assert decoders.ByteLevel().decode(["Ġa", " 猫"]) == " a 猫"

    def test_bytes_that_are_no_text_are_replaced(self) -> None:
        assert decoders.ByteLevel().decode(["Ã"]) == "\ufffd"


class TestByteFallback:
    def test_a_run_of_bytes_is_one_text(self) -> None:
        assert decoders.ByteFallback().decode(["<0xC3>", "<0xA9>", "x", "<0x41>"]) == "éxA"

    def test_one_wrong_byte_spoils_its_run(self) -> None:
        assert decoders.ByteFallback().decode(["<0x41>", "<0xFF>", "x", "<0x42>"]) == "\ufffd\ufffdxB"


class TestMarks:
    def test_word_pieces_are_joined_and_cleaned(self) -> None:
        tokens = ["do", "##n", "'t", "?", "n't"]
        assert decoders.WordPiece(cleanup=False).decode(tokens) == "don 't ? n't"
        assert decoders.WordPiece().decode(tokens) == "don 't?n't"

    def test_every_mark_of_the_first_token_is_dropped(self) -> None:
        assert decoders.Metaspace().decode(["▁a▁b", "▁c"]) == "ab c"
        assert decoders.Metaspace(prepend_scheme="never").decode(["▁a", "▁c"]) == " a c"
        for options in ({"replacement": ""}, {"replacement": "ab"}, {"prepend_scheme": "often"}):
            with pytest.raises(ValueError, match=r"replacement|prepend_scheme"):
                decoders.Metaspace(**options)

    def test_the_suffix_of_words_is_a_space(self) -> None:
        assert decoders.BPEDecoder().decode(["he", "llo</w>", "you</w>"]) == "hello you"

    def test_strip_takes_so_many_at_most(self) -> None:
        assert decoders.Strip(" ", left=1).decode(["  a ", "b"]) == " a b"
        with pytest.raises(TokenizerError, match="shorter"):
            decoders.Strip("_", 1, 1).decode(["_"])

    def test_replace_takes_patterns(self) -> None:
        assert decoders.Replace(Regex("[ab]+"), "X").decode(["abc", "ba"]) == "XcX"

    def test_ctc_drops_repeats_and_padding(self) -> None:
        tokens = ["<pad>", "h", "h", "<pad>", "h", "|", "i"]
        assert decoders.CTC().decode(tokens) == "hh i"
        assert decoders.CTC(cleanup=False).decode(tokens) == "hh|i"

    def test_a_sequence_fuses_before_it_strips(self) -> None:
        llama = decoders.Sequence(
            [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
        )
        assert llama.decode(["▁a", "▁b", "<0xC3>", "<0xA9>"]) == "a bé"


class TestStream:
    def test_characters_come_when_they_are_whole(self) -> None:
        tok = byte_tokenizer()
        stream = decoders.DecodeStream()
        ids = tok.encode("a 猫!").ids
        assert [stream.step(tok, id) for id in ids] == ["a", " ", None, None, "猫", "!"]

    def test_several_ids_at_once(self) -> None:
        tok = byte_tokenizer()
        ids = tok.encode("猫 hello").ids
        stream = decoders.DecodeStream()
        assert stream.step(tok, ids[:3]) == "猫"
        assert stream.step(tok, ids[3:]) == " hello"

    def test_a_copy_goes_on_by_itself(self) -> None:
        tok = byte_tokenizer()
        stream = decoders.DecodeStream()
        first, *rest = tok.encode("猫!").ids
        assert stream.step(tok, first) is None
        other = copy.copy(stream)
        for each in (stream, other):
            assert [each.step(tok, id) for id in rest] == [None, "猫", "!"]

    @given(st.text(st.characters(exclude_categories=["Cs"])).filter(lambda text: "\ufffd" not in text))
    def test_the_parts_are_the_text(self, text: str) -> None:
        tok = STREAMED
        stream = decoders.DecodeStream()
        assert "".join(stream.step(tok, id) or "" for id in tok.encode(text).ids) == text


STREAMED = byte_tokenizer()
EVERY = [
    decoders.BPEDecoder("@@"),
    decoders.ByteFallback(),
    decoders.ByteLevel(),
    decoders.CTC(),
    decoders.Fuse(),
    decoders.Metaspace("_", "never"),
    decoders.Replace(Regex("a+"), "b"),
    decoders.Strip("x", 2, 1),
    decoders.WordPiece("@", cleanup=False),
    decoders.Sequence([decoders.Fuse(), decoders.Sequence([])]),
]


@pytest.mark.parametrize("decoder", EVERY, ids=repr)
def test_each_is_written_and_read(decoder: decoders.Decoder) -> None:
    tok = Tokenizer(models.BPE())
    tok.decoder = decoder
    again = Tokenizer.from_str(tok.to_str()).decoder
    assert again is not None
    assert json.dumps(again.to_json()) == json.dumps(decoder.to_json())
    assert repr(again) == repr(decoder)
