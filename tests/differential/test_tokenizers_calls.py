"""The ways to call a tokenizer beside Hugging Face's: fast, async, one step at a time."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from arrowprep import tokenize as ours
from tests.tokenize.small import pipeline

peer: Any = pytest.importorskip("tokenizers", reason="tokenizers is not installed: nothing to compare with")

BATCHES: list[list[Any]] = [
    ["hello world", "", "<sep>hi  there", "é猫"],
    [("hello", "world 12"), ("", "x"), "hello world, hello"],
]


def fields(encoding: Any) -> dict[str, Any]:
    names = "ids type_ids tokens offsets word_ids sequence_ids special_tokens_mask attention_mask n_sequences"
    found: dict[str, Any] = {name: getattr(encoding, name) for name in names.split()}
    return {**found, "overflowing": [fields(part) for part in encoding.overflowing]}


@pytest.fixture(params=["plain", "truncated and padded"])
def both(request: pytest.FixtureRequest) -> tuple[Any, Any]:
    toks = ours.Tokenizer.from_str(json.dumps(pipeline())), peer.Tokenizer.from_str(json.dumps(pipeline()))
    if request.param != "plain":
        for tok in toks:
            tok.enable_truncation(8, stride=1)
            tok.enable_padding(pad_id=271, pad_token="<pad>", pad_to_multiple_of=6)
    return toks


@pytest.mark.parametrize("texts", BATCHES)
@pytest.mark.parametrize("specials", [True, False])
def test_fast_batches(both: tuple[Any, Any], texts: list[Any], specials: bool) -> None:
    mine, theirs = (tok.encode_batch_fast(texts, add_special_tokens=specials) for tok in both)
    assert [fields(encoding) for encoding in mine] == [fields(encoding) for encoding in theirs]


def test_fast_batches_of_words(both: tuple[Any, Any]) -> None:
    words = [["hello", " world"], ["", "é"]]
    mine, theirs = (tok.encode_batch_fast(words, is_pretokenized=True) for tok in both)
    assert [fields(encoding) for encoding in mine] == [fields(encoding) for encoding in theirs]


def test_async_calls(both: tuple[Any, Any]) -> None:
    async def results(tok: Any) -> list[Any]:
        encodings = [await tok.async_encode("hello", "world")]
        for texts in BATCHES:
            encodings += await tok.async_encode_batch(texts) + await tok.async_encode_batch_fast(texts)
        return [*map(fields, encodings), await tok.async_decode_batch([[260, 261, 268], []])]

    mine, theirs = (asyncio.run(results(tok)) for tok in both)
    assert mine == theirs


def test_an_encoding_made_in_steps(both: tuple[Any, Any]) -> None:
    def steps(tok: Any) -> list[Any]:
        first, second = (tok.encode(text, add_special_tokens=False) for text in ("hello wor", "12 12"))
        framed = tok.post_process(first, second), tok.post_process(first, add_special_tokens=False)
        merged = type(first).merge([first, second], growing_offsets=True)
        before = fields(merged)
        merged.pad(12, direction="left", pad_id=7, pad_type_id=1, pad_token="*")
        second.set_sequence_id(1)
        second.truncate(2, stride=1, direction="left")
        return [*map(fields, framed), before, fields(merged), fields(second)]

    mine, theirs = map(steps, both)
    assert mine == theirs
