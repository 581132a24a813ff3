"""Files become datasets: splits by name, types from the whole data, found again without reading."""

import json
import os

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import arrowprep
from arrowprep import Dataset, DatasetDict, Features, Value, load_from_disk, load_local
from arrowprep.errors import (
    BadArgument,
    CacheError,
    ColumnNotFound,
    MissingFile,
    TypeConflict,
    UnknownFileType,
    UnreadableFile,
)


def write_lines(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture
def rows():
    return [{"text": f"row {i}", "n": i} for i in range(10)]


@pytest.fixture
def file(tmp_path, rows):
    return write_lines(tmp_path / "rows.jsonl", rows)


class TestSplits:
    def test_one_file_is_a_dataset(self, file, rows):
        ds = load_local(file)
        assert isinstance(ds, Dataset)
        assert ds.to_list() == rows
        assert ds.split == "train"

    def test_a_folder_has_the_splits_that_its_names_tell(self, tmp_path, rows):
        write_lines(tmp_path / "d" / "train-00001.jsonl", rows[5:])
        write_lines(tmp_path / "d" / "train-00000.jsonl", rows[:5])
        write_lines(tmp_path / "d" / "test.jsonl", rows[:2])
        splits = load_local(tmp_path / "d")
        assert isinstance(splits, DatasetDict)
        assert splits.num_rows == {"train": 10, "test": 2}
        assert splits["train"].to_list() == rows
        assert load_local(tmp_path / "d", split="test").to_list() == rows[:2]

    def test_files_may_be_named_by_split(self, file, tmp_path, rows):
        more = write_lines(tmp_path / "more.jsonl", rows[:3])
        splits = load_local({"a": file, "b": [str(more), file]})
        assert splits.num_rows == {"a": 10, "b": 13}

    @pytest.mark.parametrize(
        ("expression", "numbers"),
        [
            ("train", range(10)),
            ("train[:20%]", range(2)),
            ("train[3:5]", range(3, 5)),
            ("train[-2:]", range(8, 10)),
            ("train[:1]+train[9:]", [0, 9]),
        ],
    )
    def test_an_expression_picks_rows(self, file, expression, numbers):
        assert load_local(file, split=expression)["n"][:] == list(numbers)

    def test_a_split_that_is_not_there_is_named(self, file):
        with pytest.raises(ValueError, match="train"):
            load_local(file, split="dev")


class TestCache:
    def test_a_second_load_reads_nothing(self, file, monkeypatch):
        first = load_local(file)
        monkeypatch.setattr(
            "arrowprep.dataset.load.reading._read_into", lambda *_: pytest.fail("it is read again")
        )
        again = load_local(file)
        assert again.fingerprint == first.fingerprint
        assert again.cache_files == first.cache_files

    def test_the_name_is_that_of_the_content_not_of_the_path(self, file, tmp_path):
        other = tmp_path / "elsewhere" / "copy.jsonl"
        other.parent.mkdir()
        other.write_bytes(file.read_bytes())
        assert load_local(other).fingerprint == load_local(file).fingerprint

    def test_an_edit_is_seen_even_with_the_old_modification_time(self, file, rows):
        load_local(file)
        before = file.stat()
        file.write_text(file.read_text().replace("row 3", "ROW 3"))
        os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
        assert load_local(file)[3]["text"] == "ROW 3"

    def test_results_and_files_lie_in_the_folder_that_is_asked_for(self, file, tmp_path, own_cache):
        ds = load_local(file, cache_dir=tmp_path / "mine").map(lambda row: {"m": row["n"]})
        assert all(f["filename"].startswith(str(tmp_path / "mine")) for f in ds.cache_files)
        assert list(own_cache.iterdir()) == []

    def test_a_truncated_converted_file_is_made_again(self, file, rows):
        (path,) = (f["filename"] for f in load_local(file).cache_files)
        os.truncate(path, os.path.getsize(path) // 2)
        assert load_local(file).to_list() == rows

    def test_a_cache_folder_that_cannot_be_written_is_named(self, file, tmp_path):
        (tmp_path / "blocked").write_text("a file where the folder should be")
        with pytest.raises(CacheError, match=r"blocked.*cache_dir"):
            load_local(file, cache_dir=tmp_path / "blocked")

    def test_rows_may_be_held_in_memory(self, file, rows):
        ds = load_local(file, keep_in_memory=True)
        assert ds.cache_files == []
        assert ds.to_list() == rows

    def test_an_arrow_file_is_mapped_as_it_is(self, tmp_path):
        path = tmp_path / "x.arrow"
        with pa.ipc.new_file(str(path), pa.schema([("n", pa.int8()), ("m", pa.int8())])) as writer:
            writer.write_batch(
                pa.record_batch({"n": pa.array([1, 2], pa.int8()), "m": pa.array([3, 4], pa.int8())})
            )
        ds = load_local(path)
        assert ds.cache_files == [{"filename": str(path)}]
        assert load_local(path, columns=["m"])[:] == {"m": [3, 4]}


class TestTypes:
    def test_types_are_decided_from_the_whole_file(self, tmp_path):
        values = [{"a": None, "b": 1} for _ in range(2000)] + [{"a": "text", "b": 2.5}]
        ds = load_local(write_lines(tmp_path / "late.jsonl", values), block_bytes=1000)
        assert ds.features == {"a": Value("string"), "b": Value("float64")}
        assert ds[-1] == {"a": "text", "b": 2.5}

    def test_features_and_columns_are_what_is_asked_for(self, file):
        ds = load_local(file, features={"text": Value("large_string"), "n": Value("float32")})
        assert ds.features == Features({"text": Value("large_string"), "n": Value("float32")})
        assert load_local(file, columns=["n"]).column_names == ["n"]
        with pytest.raises(ColumnNotFound, match="'m'"):
            load_local(file, columns=["m"])
        with pytest.raises(TypeConflict, match="text"):
            load_local(file, features={"text": Value("int8"), "n": Value("int8")})


class TestBadInput:
    def test_a_missing_file(self, tmp_path):
        with pytest.raises(MissingFile, match=r"nothing\.jsonl"):
            load_local(tmp_path / "nothing.jsonl")
        with pytest.raises(FileNotFoundError):
            load_local(str(tmp_path / "*.jsonl"))

    def test_an_empty_file_and_an_empty_folder(self, tmp_path):
        (tmp_path / "empty.jsonl").write_text("")
        with pytest.raises(UnreadableFile, match="empty"):
            load_local(tmp_path / "empty.jsonl")
        (tmp_path / "folder").mkdir()
        with pytest.raises(MissingFile, match="folder"):
            load_local(tmp_path / "folder")

    def test_a_broken_line_is_named(self, tmp_path):
        lines = [json.dumps({"n": i}) for i in range(5000)]
        lines[3456] = '{"n": 1'
        (tmp_path / "broken.jsonl").write_text("\n".join(lines))
        with pytest.raises(UnreadableFile, match="line 3457") as caught:
            load_local(tmp_path / "broken.jsonl")
        assert caught.value.line == 3457

    def test_a_csv_row_with_too_many_fields_is_named(self, tmp_path):
        (tmp_path / "x.csv").write_text("a,b\n1,2\n3,4,5\n6,7\n")
        with pytest.raises(UnreadableFile, match="line 3"):
            load_local(tmp_path / "x.csv")

    def test_mixed_file_types_in_a_folder(self, tmp_path, rows):
        write_lines(tmp_path / "d" / "a.jsonl", rows)
        (tmp_path / "d" / "b.csv").write_text("a\n1\n")
        with pytest.raises(UnreadableFile, match=r"csv.*json|json.*csv"):
            load_local(tmp_path / "d")

    def test_an_unknown_suffix(self, tmp_path):
        (tmp_path / "x.docx").write_text("hello")
        with pytest.raises(UnknownFileType, match="docx"):
            load_local(tmp_path / "x.docx")

    def test_a_truncated_parquet_file(self, tmp_path):
        path = tmp_path / "x.parquet"
        pq.write_table(pa.table({"a": list(range(1000))}), path)
        os.truncate(path, 500)
        with pytest.raises(UnreadableFile, match=r"x\.parquet"):
            load_local(path)

    def test_an_option_that_no_reader_has(self, file):
        with pytest.raises(BadArgument, match="colour"):
            load_local(file, colour="red")


class TestExport:
    @pytest.fixture
    def ds(self):
        return Dataset.from_dict({"t": ["a", None, "é\n"], "l": [[1, 2], [], None], "x": [0.5, 1.0, 2.0]})

    def test_python_objects(self, ds):
        assert ds.to_dict() == ds[:]
        assert ds.to_list() == list(ds)
        assert ds.with_format("numpy").to_dict() == ds[:]
        assert Dataset.from_list(ds.to_list()).fingerprint == ds.fingerprint

    def test_data_frames(self, ds):
        assert ds.to_pandas()["t"].tolist()[0] == "a"
        assert [len(frame) for frame in ds.to_pandas(batch_size=2, batched=True)] == [2, 1]

    @pytest.mark.parametrize("suffix", ["jsonl", "jsonl.gz", "parquet"])
    def test_files_load_back_as_they_were(self, ds, suffix, tmp_path):
        path = tmp_path / f"out.{suffix}"
        shuffled = ds.shuffle(seed=1)
        assert (shuffled.to_parquet if suffix == "parquet" else shuffled.to_json)(path) > 0
        assert load_local(path)[:] == shuffled[:]

    def test_csv_loads_back_as_it_was(self, tmp_path):
        ds = Dataset.from_dict({"t": ["a", "b,c", 'd"e', ""], "n": [1, None, 3, 4]})
        ds.to_csv(tmp_path / "out.csv")
        assert load_local(tmp_path / "out.csv")["n"][:] == [1, None, 3, 4]
        assert load_local(tmp_path / "out.csv")["t"][:3] == ["a", "b,c", 'd"e']

    def test_a_saved_folder_holds_rows_format_and_name(self, ds, tmp_path):
        chosen = ds.select([2, 0]).with_format("numpy", columns=["x"])
        chosen.save_to_disk(tmp_path / "saved")
        again = load_from_disk(tmp_path / "saved")
        assert again.to_list() == [ds[2], ds[0]]
        assert again.format == chosen.format
        assert again.fingerprint == chosen.fingerprint
        assert load_local(tmp_path / "saved").to_list() == again.to_list()

    def test_saved_splits(self, ds, tmp_path):
        DatasetDict({"train": ds, "test": ds.take(1)}).save_to_disk(tmp_path / "saved")
        again = load_from_disk(tmp_path / "saved")
        assert again.num_rows == {"train": 3, "test": 1}
        assert load_local(tmp_path / "saved", split="test").to_list() == [ds[0]]

    def test_a_folder_that_is_no_saved_dataset(self, tmp_path):
        with pytest.raises(MissingFile, match=r"state\.json"):
            load_from_disk(tmp_path)


def test_the_public_names_are_those_of_the_package():
    assert arrowprep.load_local is load_local
