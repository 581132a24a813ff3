"""On input that both read rightly, rows and types are those of `datasets`; where not, it is on purpose."""

from __future__ import annotations

import csv
import json
import random
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from arrowprep.dataset.features import Features
from arrowprep.dataset.load.discover import discover
from tests.dataset.load import load, rows

datasets = pytest.importorskip(
    "datasets", reason="compares with the datasets library, which is not installed"
)


@pytest.fixture(autouse=True)
def _quiet():
    datasets.disable_progress_bars()


def theirs(kind: str, path: Path, tmp_path: Path, **options):
    return datasets.load_dataset(
        kind, data_files=str(path), split="train", cache_dir=str(tmp_path / "their-cache"), **options
    )


def assert_same(loaded, expected) -> None:
    assert rows(loaded) == expected.to_list()
    # a newer pandas brings text to their CSV reader with 64-bit offsets
    text = json.loads(json.dumps(expected.features.to_dict()).replace("large_string", "string"))
    assert Features.from_arrow_schema(loaded.schema).to_dict() == text


def _chats(count: int) -> list[dict]:
    choose = random.Random(0)
    return [
        {
            "id": number,
            "score": choose.random(),
            "messages": [
                {"role": role, "content": f"{role} says {choose.random()} é猫\n"}
                for role in ("user", "assistant")
            ]
            * choose.randrange(3),
            "meta": {"source": choose.choice(["web", "book"]), "tags": ["a"] * choose.randrange(3)},
            "ok": choose.random() < 0.5,
        }
        for number in range(count)
    ]


def test_json_lines(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in _chats(300)))
    expected = theirs("json", path, tmp_path)
    assert_same(load(path, tmp_path / "cache"), expected)
    assert_same(load(path, tmp_path / "cache", block_bytes=2000), expected)


def test_a_json_array_and_a_field(tmp_path: Path) -> None:
    # theirs alters the last digits of fractions in an array
    chats = [{**row, "score": row["id"] / 8} for row in _chats(20)]
    array, field = tmp_path / "a.json", tmp_path / "f.json"
    array.write_text(json.dumps(chats, indent=1))
    field.write_text(json.dumps({"version": 1, "data": chats}))
    assert_same(load(array, tmp_path / "cache"), theirs("json", array, tmp_path))
    assert_same(load(field, tmp_path / "cache", field="data"), theirs("json", field, tmp_path, field="data"))


@pytest.mark.parametrize("separator", [",", "\t", ";"])
def test_csv(tmp_path: Path, separator: str) -> None:
    path = tmp_path / "a.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file, delimiter=separator)
        writer.writerow(["id", "score", "text", "ok", "", "id"])
        for row in _chats(50):
            text = json.dumps(row["messages"])
            writer.writerow(
                [row["id"], row["score"], text + ' "q"\n,;\t', row["ok"], "x" * (row["id"] % 3), 1]
            )
    assert_same(load(path, tmp_path / "cache", sep=separator), theirs("csv", path, tmp_path, sep=separator))


@pytest.mark.parametrize(
    "options", [{}, {"keep_linebreaks": True}, {"sample_by": "paragraph"}, {"sample_by": "document"}]
)
def test_text(tmp_path: Path, options: dict) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes("one\r\ntwo é\n\nthree\n\n\nfour\u2028five\nsix".encode())
    assert_same(load(path, tmp_path / "cache", **options), theirs("text", path, tmp_path, **options))


def test_parquet_and_arrow(tmp_path: Path) -> None:
    table = pa.Table.from_pylist(_chats(40))
    pq.write_table(table, tmp_path / "a.parquet")
    with pa.ipc.new_stream(str(tmp_path / "a.arrow"), table.schema) as writer:
        writer.write_table(table)
    for kind in ("parquet", "arrow"):
        path = tmp_path / f"a.{kind}"
        assert_same(load(path, tmp_path / "cache"), theirs(kind, path, tmp_path))


@pytest.mark.parametrize(
    "names",
    [
        ["train.csv", "test.csv"],
        ["my-training-data.csv", "dev.csv", "x_eval_2.csv"],
        ["train/1.csv", "train/2.csv", "valid/1.csv", "other/1.csv"],
        ["data/train-00000-of-00002.csv", "data/train-00001-of-00002.csv", "data/odd-00000-of-00001.csv"],
        ["1.csv", "2.csv", "10.csv", "README.md", ".hidden.csv"],
        ["trained.csv", "latest.csv"],
        ["train/test.csv", "test/train.csv"],
        ["a.train.csv", "validation.1.csv"],
    ],
)
def test_a_folder_has_the_same_splits_with_the_same_files(tmp_path: Path, names: list[str]) -> None:
    for name in names:
        path = tmp_path / "ds" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"a\n{name}\n")
    expected = datasets.load_dataset(str(tmp_path / "ds"), cache_dir=str(tmp_path / "their-cache"))
    found = discover(tmp_path / "ds")
    assert list(found) == list(expected)
    for split, files in found.items():
        assert {row["a"] for row in rows(load(files, tmp_path / "cache"))} == set(expected[split]["a"])


def test_where_datasets_alters_values_we_keep_them(tmp_path: Path) -> None:
    """Dates in text, words that pandas takes for null, integers of more than 64 bits."""
    lines = tmp_path / "a.jsonl"
    lines.write_text('{"d": "2020-01-01", "n": 12345678901234567890123}\n')
    [row] = rows(load(lines, tmp_path / "cache"))
    assert (row["d"], int(row["n"])) == ("2020-01-01", 12345678901234567890123)
    words = tmp_path / "a.csv"
    words.write_text("w,zip\nNA,007\nnull,008\n")
    assert rows(load(words, tmp_path / "cache")) == [{"w": "NA", "zip": "007"}, {"w": "null", "zip": "008"}]
    assert theirs("csv", words, tmp_path).to_list() == [{"w": None, "zip": 7}, {"w": None, "zip": 8}]
