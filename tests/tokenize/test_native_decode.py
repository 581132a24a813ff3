"""Decoding by the kernel beside the reference engine's."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arrowprep.config import configured
from arrowprep.tokenize import native_decoder
from arrowprep.tokenize.native_library import load
from tests.tokenize.build import byte_tokenizer
from tests.tokenize.test_native import engines

library = load()
pytestmark = pytest.mark.skipif(isinstance(library, str), reason=str(library))


@pytest.fixture(autouse=True)
def however_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native_decoder, "FEW_IDS", -1)


def check(ids: pa.Array, **changes: Any) -> None:
    native, reference = NATIVE, REFERENCE
    assert native_decoder.can_decode(native.pipeline, ids)
    for skip in (False, True):
        found = native.decode(ids, skip_special_tokens=skip)
        assert found.to_pylist() == reference.decode(ids, skip_special_tokens=skip).to_pylist()
        found.validate(full=True)


if not isinstance(library, str):
    tok = byte_tokenizer(special=("<s>", "</s>", "a token longer than sixteen bytes", "猫"))
    NATIVE, REFERENCE = engines(tok)

IDS = st.lists(st.one_of(st.none(), st.lists(st.integers(0, 290), max_size=30)), max_size=8)


@given(IDS)
@settings(deadline=None)
def test_any_ids_are_decoded(rows: list[Any]) -> None:
    check(pa.array(rows, pa.list_(pa.int32())))
    check(pa.array(rows, pa.large_list(pa.int32())))


@pytest.mark.parametrize("number", [1, 2, 3])
def test_any_number_of_threads_gives_the_same(number: int) -> None:
    rows = [
        None if row % 50 == 7 else [(row * 7 + i * i) % 290 for i in range(row % 400)] for row in range(900)
    ]
    with configured(threads=number):  # 180,000 ids, which are six units of work
        check(pa.array(rows, pa.list_(pa.int32())))
        check(pa.array(rows, pa.large_list(pa.int32())).slice(100, 700))


@given(st.lists(st.binary(max_size=12), max_size=6))
@settings(max_examples=300, deadline=None)
def test_bytes_that_are_no_text_are_replaced_the_same_way(rows: list[bytes]) -> None:
    from arrowprep.tokenize.byte_characters import BYTE_CHARACTERS

    ids = [[NATIVE.pipeline.token_to_id(BYTE_CHARACTERS[byte]) for byte in row] for row in rows]
    check(pa.array(ids, pa.list_(pa.int32())))


@given(IDS, st.integers(0, 8), st.integers(0, 8))
@settings(deadline=None)
def test_slices_are_read_as_slices(rows: list[Any], start: int, length: int) -> None:
    check(pa.array(rows, pa.list_(pa.int32())).slice(start, length))


def test_ids_of_other_types_and_missing_ids_are_left_to_the_reference() -> None:
    for ids in (pa.array([[1, None]], pa.list_(pa.int32())), pa.array([[1, 2]], pa.list_(pa.int64()))):
        assert not native_decoder.can_decode(NATIVE.pipeline, ids)
        assert NATIVE.decode(ids).to_pylist() == REFERENCE.decode(ids).to_pylist()


def test_added_tokens_are_seen_from_then_on() -> None:
    tok = byte_tokenizer()
    ids = pa.array([[tok.get_vocab_size()]], pa.list_(pa.int32()))
    assert engines(tok)[0].decode(ids).to_pylist() == [""]
    tok.add_tokens(["new"])
    assert engines(tok)[0].decode(ids).to_pylist() == ["new"]
