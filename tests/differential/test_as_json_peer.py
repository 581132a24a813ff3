"""Dicts whose keys differ: the peer's `Json` columns and ours are the same files and the same rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from arrowprep import Dataset, load_from_disk, load_local

datasets = pytest.importorskip(
    "datasets", reason="compares with the datasets library, which is not installed"
)

ROWS: list[dict[str, Any]] = [
    {"m": [{"role": "user", "content": "Weather?"}], "call": {"name": "look", "arguments": {"at": "Rome"}}},
    {"m": [{"role": "tool", "content": None, "name": "look"}, {}], "call": {"name": "x", "arguments": {}}},
    {"m": None, "call": None},
]


def test_the_peer_asked_for_json_types_them_alike() -> None:
    theirs = datasets.Dataset.from_dict(
        {"m": [row["m"] for row in ROWS]},
        on_mixed_types="use_json",
    )
    ours = Dataset.from_list(ROWS).select_columns("m")
    assert ours.features.to_dict() == theirs.features.to_dict()
    assert ours.to_list() == theirs.to_list()


def test_the_peer_opens_what_is_saved_here(tmp_path: Path) -> None:
    Dataset.from_list(ROWS).save_to_disk(tmp_path / "saved")
    Dataset.from_list(ROWS).to_parquet(tmp_path / "a.parquet")
    theirs = datasets.load_from_disk(str(tmp_path / "saved"))
    assert theirs.to_list() == ROWS
    assert theirs.features["m"] == datasets.List(datasets.Json())
    parquet = datasets.Dataset.from_parquet(str(tmp_path / "a.parquet"), cache_dir=str(tmp_path / "hf"))
    assert parquet.to_list() == ROWS


def test_what_the_peer_saved_is_opened_here(tmp_path: Path) -> None:
    features = datasets.Features(
        {
            "m": datasets.List(datasets.Json()),
            "call": {"name": datasets.Value("string"), "arguments": datasets.Json()},
        }
    )
    theirs = datasets.Dataset.from_list(ROWS, features=features)
    theirs.save_to_disk(str(tmp_path / "saved"))
    theirs.to_parquet(str(tmp_path / "a.parquet"))
    assert load_from_disk(tmp_path / "saved").to_list() == ROWS
    assert load_local(tmp_path / "a.parquet", cache_dir=tmp_path / "cache").to_list() == ROWS
