"""Models of SentencePiece, .tiktoken and tekken.json by the kernel, beside what Python reads of them."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from arrowprep.errors import TokenizerError
from arrowprep.tokenize import Tokenizer, native_files
from arrowprep.tokenize.byte_characters import BYTE_CHARACTERS
from arrowprep.tokenize.files.sentencepiece import read_sentencepiece
from arrowprep.tokenize.files.tekken import read_tekken
from arrowprep.tokenize.files.tiktoken import read_tiktoken
from arrowprep.tokenize.files.vocabulary_files import read_vocab_and_merges
from arrowprep.tokenize.models.flat import FlatVocabulary
from arrowprep.tokenize.models.sentencepiece import NORMAL, UNUSED, USER_DEFINED
from arrowprep.tokenize.native_library import load
from tests.tokenize.test_files_sentencepiece import (
    BPE,
    BYTES,
    SPECIAL,
    UNIGRAM,
    Entry,
    field,
    model_file,
    normal,
)
from tests.tokenize.test_native_files import by_both

pytestmark = pytest.mark.skipif(isinstance(load(), str), reason="the native kernel is not there")

HAN: list[Entry] = [(chr(0x4E00 + i) * (1 + i % 3), -9.0 - i % 7, NORMAL) for i in range(600)]
WORDS: list[Entry] = [
    *normal("▁a", "ab", "▁ab", "▁", "a", "b", "ba", "aba", "▁b"),
    ("bb", -2.0, NORMAL),
    ("<x>", 0, USER_DEFINED),
    ("abab", -1.5, UNUSED),
]
MODELS = {
    "bpe": model_file([*SPECIAL, *WORDS, *HAN], BPE),
    "bpe with bytes": model_file([*SPECIAL, *BYTES, *WORDS, *HAN], BPE, byte_fallback=1),
    "bpe across words": model_file([*SPECIAL, *WORDS, ("a▁b", 0.5, NORMAL), ("▁▁", -3, NORMAL), *HAN], BPE),
    "unigram": model_file([*SPECIAL, *WORDS, *HAN], UNIGRAM),
    "unigram with bytes": model_file([*SPECIAL, *BYTES, *WORDS, *HAN], UNIGRAM, byte_fallback=1),
    "a long piece": model_file([*SPECIAL, *WORDS, ("▁" * 50, -1, NORMAL)], BPE),
    "few fields": field(1, field(1, b"<unk>") + field(3, 2))
    + field(1, field(1, b"a"))
    + field(2, field(3, 2)),
    "pieces behind the rest": field(2, field(3, BPE)) + model_file([*SPECIAL, *WORDS], BPE),
    "pieces before and behind": model_file([*SPECIAL, *WORDS], BPE) + field(1, field(1, b"c")),
}
BROKEN = {
    "nothing": b"",
    "a piece twice": model_file([*SPECIAL, *WORDS, ("ab", 0, NORMAL)], BPE),
    "an empty piece": model_file([*SPECIAL, ("", 0, NORMAL)], BPE),
    "a kind that is none": model_file([*SPECIAL, ("a", 0, 7)], BPE),
    "a score that is none": model_file([*SPECIAL, ("a", float("nan"), NORMAL)], BPE),
    "a score beyond all": model_file([*SPECIAL, ("a", 1e31, NORMAL)], BPE),
    "no text": field(1, field(1, b"\xff")),
    "half a character": field(1, field(1, b"\xc3")) + field(1, field(1, b"\xa9")),
    "a number for a piece": field(1, 5),
    "a number for a text": field(1, field(1, 5)),
    "a claim of 2 GB": b"\x0a\xff\xff\xff\xff\x07\x0a\x01a",
    "a claim of 2 GB in a piece": field(1, b"\x0a\xff\xff\xff\xff\x07a"),
    "a length without end": b"\x0a" + b"\xff" * 12,
    "cut short": model_file([*SPECIAL, *WORDS], BPE)[:62],
}
TEXTS = ("", "ab", "abab ba  bb", "<x>a<x>", "漢 a 一丁丁七七七", "é", "a" * 900)


def told(read: Callable[[], Tokenizer]) -> list[Any]:
    """All that can be asked of a tokenizer, or what is wrong with its file."""
    try:
        tok = read()
        # the first texts are looked up in what the kernel has read, the last in dicts
        encoded = [tok.encode(text, add_special_tokens=False) for text in TEXTS]
        encodings = [(encoding.ids, encoding.tokens, encoding.offsets) for encoding in encoded]
    except TokenizerError as error:
        return [type(error), str(error), error.facts]
    tokens = [tok.id_to_token(id) for id in (0, 1, 2, 3, 5, 260, 300, 10**6)]
    ids = [tok.token_to_id(token or "none") for token in tokens]
    return [encodings, tokens, ids, tok.fingerprint, tok.get_vocab_size(), tok.get_vocab(), tok.to_str()]


def of_pieces(content: bytes) -> Callable[[], Tokenizer]:
    return lambda: read_sentencepiece(content, "it")[0]


class TestPieces:
    @pytest.mark.parametrize("name", MODELS)
    def test_both_read_the_same(self, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
        ours, plain = by_both(monkeypatch, lambda: told(of_pieces(MODELS[name])))
        assert ours == plain
        assert len(ours) == 7
        roles = by_both(monkeypatch, lambda: read_sentencepiece(MODELS[name])[1])
        assert roles[0] == roles[1]

    @pytest.mark.parametrize("name", [name for name in MODELS if "behind" not in name])
    def test_the_kernel_reads_what_is_usual(self, name: str) -> None:
        assert native_files.read_pieces(MODELS[name]) is not None

    @pytest.mark.parametrize("name", BROKEN)
    def test_the_same_is_said_of_what_is_broken(self, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
        ours, plain = by_both(monkeypatch, lambda: told(of_pieces(BROKEN[name])))
        assert ours == plain
        assert issubclass(ours[0], ValueError)

    @settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
    @given(st.data())
    def test_bytes_that_are_changed(self, monkeypatch: pytest.MonkeyPatch, data: st.DataObject) -> None:
        content = bytearray(model_file([*SPECIAL, *WORDS], data.draw(st.sampled_from([BPE, UNIGRAM]))))
        for _ in range(data.draw(st.integers(1, 3))):
            at = data.draw(st.integers(0, len(content) - 1))
            kind = data.draw(st.sampled_from(["set", "put", "cut"]))
            if kind == "cut":
                del content[at : at + data.draw(st.integers(1, 40))]
            else:
                content[at : at + (kind == "set")] = data.draw(st.binary(min_size=1, max_size=6))
        ours, plain = by_both(monkeypatch, lambda: told(of_pieces(bytes(content))))
        assert ours == plain

    @pytest.mark.parametrize("name", ["bpe", "bpe with bytes", "unigram", "unigram with bytes"])
    def test_dicts_give_what_single_lookups_do(self, name: str) -> None:
        texts = ["abab bab", "b<x>aé", "ab 一丁丁漢", "  bbab"]
        tok = of_pieces(MODELS[name])()
        alone = [of_pieces(MODELS[name])().encode(text).ids for text in texts]
        tok.encode("ab" * 500)
        assert [tok.encode(text).ids for text in texts] == alone
        assert {"in_text", "pieces"} <= vars(vars(tok.model)["_tables"]).keys()


SINGLE = [bytes([byte]) for byte in range(256)]
TOKENS = [*SINGLE, b"ab", b" a", b"abab", "é".encode(), "\u2028".encode(), b"\xff\xfe", b"", b"x" * 300]


def lines(tokens: list[bytes], ranks: list[int] | None = None) -> bytes:
    encoded = [base64.b64encode(token) or b"=" for token in tokens]
    return b"".join(b"%s %d\n" % row for row in zip(encoded, ranks or range(len(tokens)), strict=True))


def tekken(tokens: list[bytes], **changes: Any) -> bytes:
    vocab = [
        {
            "rank": rank,
            "token_bytes": base64.b64encode(token).decode(),
            "token_str": None if rank % 2 else "é\n",
        }
        for rank, token in enumerate(tokens)
    ]
    config = {"pattern": r"\w+|\W", "default_vocab_size": len(tokens) + 8, "default_num_special_tokens": 10}
    return json.dumps({"config": {**config, **changes}, "vocab": vocab, "image": {"a": 1}}, indent=1).encode()


USUAL = lines(TOKENS)
ENTRIES = tekken([token for token in TOKENS if token])
RANKS = {
    "usual": USUAL,
    "no line end": USUAL[:-1],
    "other line ends": USUAL.replace(b"\n", b"\r\n"),
    "gaps": lines(TOKENS, [3 * rank for rank in range(len(TOKENS))]),
    "falling": lines(TOKENS[::-1], list(range(len(TOKENS)))[::-1]),
    "empty lines": USUAL.replace(b"\n", b"\n\n"),
    "a byte is missing": lines(TOKENS[1:]),
    "a rank twice": lines(TOKENS, [0, *range(len(TOKENS) - 1)]),
    "a token twice": USUAL + b"YWI= 999\n",
    "no base64": USUAL + b"YWI$ 999\n",
    "bits to spare": USUAL + b"YWN= 999\n",
    "no rank": USUAL + b"YWJj x\n",
    "a rank below zero": USUAL + b"YWJj -1\n",
    "a huge rank": USUAL + b"YWJj 99999999999999999999\n",
    "a long token": lines([*TOKENS, b"y" * 1025]),
    "nothing": b"",
}
TEKKENS = {
    "usual": ENTRIES,
    "one line": json.dumps(json.loads(ENTRIES)).encode(),
    "all count": tekken([*SINGLE, b"ab"], default_vocab_size=267),
    "more counted than there are": tekken(TOKENS[:-2], default_vocab_size=10**6),
    "none counted": tekken(TOKENS[:-2], default_vocab_size=5),
    "a byte is missing": tekken(TOKENS[1:-2]),
    "a token twice": tekken([*SINGLE, b"ab", b"ab"]),
    "many special tokens": tekken(TOKENS[:-2], default_num_special_tokens=10**9),
    "no config": ENTRIES.replace(b'"config"', b'"other"'),
    "a config that is none": ENTRIES.replace(b'"default_vocab_size": ', b'"default_vocab_size": null, "x": '),
    "a text that is none": ENTRIES.replace(b'"token_str": null', b'"token_str": nul', 1),
    "another type": ENTRIES.replace(b'"token_str": null', b'"token_str": 5', 1),
    "a rank that is none": ENTRIES.replace(b'"rank": 7,', b'"rank": "7",'),
    "a rank twice": ENTRIES.replace(b'"rank": 7,', b'"rank": 6,'),
    "no base64": ENTRIES.replace(b'"AA=="', b'"A"'),
    "no UTF-8": ENTRIES.replace(b"\\u00e9", b"\xff", 1),
    "cut short": ENTRIES[: len(ENTRIES) // 2],
    "rubbish behind": ENTRIES + b"}",
    "two vocabularies": ENTRIES[:-1] + b', "vocab": []}',
    "no vocabulary": ENTRIES.replace(b'"vocab"', b'"words"'),
}


VOCAB = json.dumps(
    {character: i for i, character in enumerate([*BYTE_CHARACTERS, "ab", "abab", "é"])}, indent=1
)
MERGES = "#version: 0.2\na b\nab ab\n"
VOCABULARIES = {
    "usual": (VOCAB, MERGES),
    "white space around": (f" {VOCAB}\r\n", MERGES),
    "no comment, no end": (VOCAB, "a b\nab ab"),
    "other line ends and empty lines": (VOCAB, MERGES.replace("\n", "\r\n\n")),
    "no merges": (VOCAB, ""),
    "a merge of what is not there": (VOCAB, "a b\nb a\n"),
    "a line of three": (VOCAB, "a b\nab ab x\n"),
    "ends of words": ('{"a</w>": 0}', ""),
    "no JSON": ('{"a": 0}, "x": {"b": 1}', ""),
    "a vocabulary twice": ('{"a": 0}, "vocab": {"b": 1}', ""),
    "a list": ('[["a", 0]]', ""),
    "an id that is none": ('{"a": "0"}', ""),
    "nothing": ("", ""),
}


@pytest.mark.parametrize("name", VOCABULARIES)
def test_both_read_the_same_vocabulary_and_merges(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    vocab, merges = (text.encode() for text in VOCABULARIES[name])

    def read() -> Tokenizer:
        return read_vocab_and_merges(vocab, merges, {"unk_token": "a"})

    ours, plain = by_both(monkeypatch, lambda: told(read))
    assert ours == plain
    if name in ("usual", "white space around", "no comment, no end"):
        assert isinstance(vars(read().model)["_tables"]._read, FlatVocabulary)


class TestRanks:
    @pytest.mark.parametrize("name", RANKS)
    def test_both_read_the_same_lines(self, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
        ours, plain = by_both(monkeypatch, lambda: told(lambda: read_tiktoken(RANKS[name], "it", "gpt2")))
        assert ours == plain

    @pytest.mark.parametrize("name", TEKKENS)
    def test_both_read_the_same_entries(self, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
        ours, plain = by_both(monkeypatch, lambda: told(lambda: read_tekken(TEKKENS[name], "it")))
        assert ours == plain

    def test_the_kernel_reads_what_is_usual(self) -> None:
        for name in ("usual", "no line end", "other line ends", "gaps"):
            assert native_files.read_ranks(RANKS[name]) is not None
        for name in ("usual", "one line", "all count"):
            assert native_files.read_tekken(TEKKENS[name]) is not None

    @given(st.binary(max_size=200), st.integers(0, len(USUAL)))
    def test_any_bytes_are_read_or_left(self, junk: bytes, at: int) -> None:
        for content in (junk, USUAL[:at] + junk, ENTRIES[:at] + junk):
            native_files.read_pieces(content)
            native_files.read_ranks(content)
            native_files.read_tekken(content)


@given(st.text("ab▁é漢一丁七", max_size=30))
@settings(deadline=None)
def test_unigram_gives_the_same_with_dicts_and_without(text: str) -> None:
    vocab = [["<unk>", 0.0], *([piece, score] for piece, score, _ in (*WORDS, *HAN))]
    content = json.dumps({"model": {"type": "Unigram", "unk_id": 0, "vocab": vocab}})
    few, many = (Tokenizer.from_str(content).model for _ in range(2))
    many.tokenize("a" * 600)
    assert few.tokenize(text) == many.tokenize(text)
    assert "lengths" in vars(vars(many)["_tables"])
    assert "lengths" not in vars(vars(few)["_tables"])
