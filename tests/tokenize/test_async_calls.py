"""Async calls: the same results, the loop goes on, and what was given when the call was made counts."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from arrowprep.errors import NotText
from arrowprep.tokenize import Encoding, NormalizedString, Tokenizer
from arrowprep.tokenize.normalizers import Lowercase, Normalizer
from tests.tokenize.build import byte_tokenizer


@pytest.fixture
def tok() -> Tokenizer:
    return byte_tokenizer(template="<s> $A </s>")


def awaited(*calls: Any) -> list[Any]:
    """What calls give, all of them begun before the first is awaited."""

    async def gather() -> list[Any]:
        return await asyncio.gather(*(call() for call in calls))

    return asyncio.run(gather())


def test_they_give_what_the_other_calls_give(tok: Tokenizer) -> None:
    texts = ["hello world", "", "hé"]
    assert awaited(
        lambda: tok.async_encode("hello", "world"),
        lambda: tok.async_encode(["hello", "world"], is_pretokenized=True, add_special_tokens=False),
        lambda: tok.async_encode_batch([*texts, ("hello", "world")]),
        lambda: tok.async_encode_batch_fast(texts, add_special_tokens=False),
        lambda: tok.async_decode_batch([[268, 256], []], skip_special_tokens=False),
    ) == [
        tok.encode("hello", "world"),
        tok.encode(["hello", "world"], is_pretokenized=True, add_special_tokens=False),
        tok.encode_batch([*texts, ("hello", "world")]),
        tok.encode_batch_fast(texts, add_special_tokens=False),
        tok.decode_batch([[268, 256], []], skip_special_tokens=False),
    ]


def test_the_loop_goes_on_meanwhile(tok: Tokenizer) -> None:
    set_by_loop = threading.Event()

    class Waits:
        def normalize(self, normalized: NormalizedString) -> None:
            assert set_by_loop.wait(10), "the loop stood still"

    tok.normalizer = Normalizer.custom(Waits())

    async def main() -> Encoding:
        call = tok.async_encode("hello")
        await asyncio.sleep(0)
        set_by_loop.set()
        return await call

    assert asyncio.run(main()).tokens == ["<s>", "hello", "</s>"]


def test_inputs_and_settings_are_those_of_the_call(tok: Tokenizer) -> None:
    texts, pair, words, ids = ["HELLO"], ["a", "b"], [["x"], ["y"]], [[256]]
    before = tok.encode_batch([*texts, list(pair)]), tok.encode_batch([["x"], ["y"]], is_pretokenized=True)

    async def main() -> list[Any]:
        calls = [
            tok.async_encode_batch([*texts, pair]),
            tok.async_encode_batch(words, is_pretokenized=True),
            tok.async_decode_batch(ids),
        ]
        texts[0], pair[0], words[0][0], ids[0][0] = "other", "other", "other", 0
        tok.normalizer = Lowercase()
        tok.enable_padding(length=20)
        return await asyncio.gather(*calls)

    assert asyncio.run(main()) == [*before, ["he"]]


def test_an_error_comes_when_it_is_awaited(tok: Tokenizer) -> None:
    async def main() -> None:
        call = tok.async_encode(3)  # type: ignore[arg-type]
        with pytest.raises(NotText, match="a text is a str, not int"):
            await call

    asyncio.run(main())


def test_without_a_loop_it_says_so(tok: Tokenizer) -> None:
    with pytest.raises(RuntimeError, match="no running event loop"):
        tok.async_encode("hello")
