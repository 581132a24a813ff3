"""Datasets from and to databases."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from arrowprep import Dataset, Features, Value

pytest.importorskip("pandas")


@pytest.fixture
def ds() -> Dataset:
    return Dataset.from_dict({"n": [1, 2, 3], "t": ["a", None, "c"]})


def test_rows_come_back_from_a_database(ds: Dataset, tmp_path: Path) -> None:
    address = f"sqlite:///{tmp_path / 'd.sqlite'}"
    assert ds.to_sql("rows", address, batch_size=2) == 3
    assert Dataset.from_sql("rows", address).to_list() == ds.to_list()
    chosen = Dataset.from_sql("SELECT t FROM rows WHERE n = ?", address, params=(3,))
    assert chosen.to_list() == [{"t": "c"}]


def test_a_connection_that_is_open_stays_open(ds: Dataset, tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "d.sqlite")) as con:
        ds.to_sql("rows", con)
        with pytest.raises(ValueError, match="rows"):
            ds.to_sql("rows", con)
        ds.to_sql("rows", con, if_exists="append")
        assert Dataset.from_sql("SELECT count(*) AS c FROM rows", con)[0] == {"c": 6}


def test_features_are_the_types(ds: Dataset, tmp_path: Path) -> None:
    address = f"sqlite:///{tmp_path / 'd.sqlite'}"
    ds.to_sql("rows", address)
    features = Features({"n": Value("int8"), "t": Value("large_string")})
    assert Dataset.from_sql("rows", address, features=features).features == features
