"""A column of text as a function sees it: a list, and Arrow's own buffers again where nobody changed it."""

from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import arrowprep
from arrowprep import Dataset, Features, Json
from arrowprep.dataset.verbs.text_rows import remembered

TEXTS = ["a", None, "ü" * 300, "", "b"]


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path) -> Any:
    with arrowprep.configured(cache_dir=tmp_path):
        yield


def rows(type: pa.DataType | None = None) -> tuple[Any, pa.Array]:
    column = pa.array(["skipped", *TEXTS], type or pa.string()).slice(1)
    return remembered(column.to_pylist(), pa.chunked_array([column])), column


@pytest.mark.parametrize("type", [pa.string(), pa.large_string()])
def test_arrow_takes_back_the_buffers_of_the_column(type: pa.DataType) -> None:
    shown, column = rows(type)
    taken = pa.array(shown)
    assert taken.equals(column)
    assert taken.buffers()[2].address == column.buffers()[2].address
    assert pa.array(shown, pa.large_string()).to_pylist() == TEXTS


def test_chunks_come_back_too() -> None:
    chunked = pa.chunked_array([["a"], ["b", "c"]])
    assert pa.array(remembered(chunked.to_pylist(), chunked)).to_pylist() == ["a", "b", "c"]


@pytest.mark.parametrize(
    "change",
    [
        lambda shown: shown.append("more"),
        lambda shown: shown.__setitem__(0, "x"),
        lambda shown: shown.reverse(),
        lambda shown: shown.pop(),
        lambda shown: shown.clear(),
        lambda shown: shown.__setitem__(1, "was null"),
    ],
)
def test_a_changed_list_is_taken_as_it_is(change: Any) -> None:
    shown, _ = rows()
    plain = list(TEXTS)
    change(shown)
    change(plain)
    assert shown == plain
    assert pa.array(shown, pa.string()).to_pylist() == plain


def test_it_is_a_list_to_everybody_else() -> None:
    shown, _ = rows()
    assert shown == TEXTS
    assert json.dumps(shown) == json.dumps(TEXTS)
    for same in (
        shown[:],
        shown + ["more"][1:],
        copy.copy(shown),
        copy.deepcopy(shown),
        pickle.loads(pickle.dumps(shown)),
    ):
        assert type(same) is list
        assert same == TEXTS


def test_what_is_no_text_is_a_plain_list() -> None:
    numbers = pa.chunked_array([[1, 2]])
    assert type(remembered([1, 2], numbers)) is list


def test_a_map_hands_them_out_and_takes_them_back() -> None:
    ds = Dataset.from_dict({"text": TEXTS})
    mapped = ds.map(lambda batch: {"same": pa.array(batch["text"]), "again": batch["text"]}, batched=True)
    assert mapped.to_dict() == {"text": TEXTS, "same": TEXTS, "again": TEXTS}
    edited = ds.map(lambda batch: batch["text"].__setitem__(0, "x") or {"new": batch["text"]}, batched=True)
    assert edited["new"].to_list() == ["x", *TEXTS[1:]]


def test_json_is_taken_back_as_it_was_shown() -> None:
    ds = Dataset.from_dict({"value": ["a", "1", None]}, features=Features({"value": Json()}))
    mapped = ds.map(lambda batch: {"n": pa.array(batch["value"])}, batched=True)
    assert mapped["n"].to_list() == ["a", "1", None]


def test_a_transform_s_list_is_its_own() -> None:
    ds = Dataset.from_dict({"text": ["a", "b"]})
    ds.set_transform(lambda batch: {"text": [text.upper() for text in batch["text"]]})
    mapped = ds.map(lambda batch: {"n": pa.array(batch["text"])}, batched=True)
    mapped.reset_format()
    assert mapped["n"].to_list() == ["A", "B"]
