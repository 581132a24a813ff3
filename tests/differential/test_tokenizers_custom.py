"""Custom components beside Hugging Face's: the same objects, the same tokens, offsets and words."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arrowprep import tokenize as ours

peer: Any = pytest.importorskip("tokenizers", reason="tokenizers is not installed: nothing to compare with")

CHARACTERS = "aAbBé\u0301ñßﬁ猫 .-1xs<>"
TEXT = st.text(st.sampled_from(CHARACTERS), max_size=10).map(lambda text: text.replace("1", "<s>"))


class Plain:
    """Decomposed, without digits, spaces as one sign."""

    def __init__(self, library: Any) -> None:
        self.library = library

    def normalize(self, normalized: Any) -> None:
        normalized.nfkd()
        normalized.filter(lambda c: not c.isnumeric())
        normalized.replace(self.library.Regex(r"\s+"), "--")
        normalized.lowercase()
        normalized.append("!")


class Pieces:
    """At signs, then each piece's first character off, then decomposed characters composed."""

    def pre_tokenize(self, pretok: Any) -> None:
        pretok.split(lambda _, text: text.split("-", "merged_with_previous"))
        pretok.split(lambda _, text: [text[0:1], text[1 : len(str(text))]] if str(text)[1:] else [text])
        pretok.normalize(lambda text: text.nfc())


class Marks:
    def decode_chain(self, tokens: list[str]) -> list[str]:
        return [f"<{token}>" for token in tokens]


def tokenizer(library: Any, sequence: bool) -> Any:
    vocabulary = {character: id for id, character in enumerate(sorted({*CHARACTERS, *"\u0303sfin-!"}))}
    tok = library.Tokenizer(library.models.BPE(vocabulary, [], unk_token=None))
    tok.normalizer = library.normalizers.Normalizer.custom(Plain(library))
    tok.pre_tokenizer = library.pre_tokenizers.PreTokenizer.custom(Pieces())
    tok.decoder = library.decoders.Decoder.custom(Marks())
    if sequence:
        parts = library.pre_tokenizers
        tok.pre_tokenizer = parts.Sequence([parts.Punctuation(), parts.FixedLength(3)])
    tok.add_special_tokens(["<s>"])
    return tok


@settings(max_examples=300, deadline=None)
@given(TEXT, st.booleans())
def test_encodings_and_decoded_text(text: str, sequence: bool) -> None:
    def result(library: Any) -> Any:
        tok = tokenizer(library, sequence)
        encoding = tok.encode(text)
        found = encoding.ids, encoding.tokens, encoding.offsets, encoding.word_ids
        return found, tok.decode(encoding.ids, skip_special_tokens=False)

    assert result(ours) == result(peer)
