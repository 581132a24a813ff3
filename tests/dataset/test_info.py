"""What is told of a dataset beside its rows, and the names under which other libraries look at it."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from arrowprep import (
    Dataset,
    DatasetInfo,
    Features,
    NamedSplit,
    Split,
    Value,
    concatenate_datasets,
    load_from_disk,
)
from arrowprep.errors import MissingFile, UnreadableFile

MIT = DatasetInfo(description="Two rows.", license="MIT")


@pytest.fixture
def ds() -> Dataset:
    return Dataset.from_dict({"n": [1, 2]}, info=MIT, split=Split.TRAIN)


def test_texts_follow_the_dataset_through_verbs_and_files(ds: Dataset, tmp_path: Path) -> None:
    ds.map(lambda row: {"m": row["n"]}).select([1]).save_to_disk(tmp_path / "saved")
    opened = load_from_disk(tmp_path / "saved")
    assert isinstance(opened, Dataset)
    assert (opened.description, opened.license, opened.citation) == ("Two rows.", "MIT", "")
    assert opened.info.num_rows == 1
    assert opened.info.features == opened.features


def test_datasets_put_together_keep_each_text_once(ds: Dataset) -> None:
    other = Dataset.from_dict({"n": [3]}, info=DatasetInfo(description="One row.", license="MIT"))
    info = concatenate_datasets([ds, other, ds]).info
    assert (info.description, info.license) == ("Two rows.\n\nOne row.", "MIT")


def test_features_of_an_info_are_the_types() -> None:
    small = Dataset.from_dict({"n": [1]}).cast_column("n", Dataset.from_dict({"n": [1.5]}).features["n"])
    assert Dataset.from_dict({"n": [1]}, info=small.info).features == small.features
    assert Dataset(pa.table({"n": [1]}), info=small.info)[0] == {"n": 1.0}


def test_a_split_is_text(ds: Dataset) -> None:
    assert ds.split == "train" == NamedSplit("train") == Split.TRAIN
    assert isinstance(ds.split, NamedSplit)
    assert Dataset.from_dict({"n": [1]}).split is None


def test_row_numbers_given_beside_a_table_are_the_rows() -> None:
    numbers = pa.table({"indices": pa.array([2, 0, 2], pa.uint64())})
    ds = Dataset(pa.table({"n": [7, 8, 9]}), indices_table=numbers)
    assert ds["n"].to_list() == [9, 7, 9]
    assert ds._indices == numbers


def test_row_numbers_are_told_only_where_rows_are_not_a_range(ds: Dataset) -> None:
    assert ds._indices is None
    assert ds.select(range(1, 2))._indices is None
    picked = ds.select([1, 0])._indices
    assert picked is not None
    assert picked["indices"].to_pylist() == [1, 0]


def test_what_format_tells_can_be_set_again(ds: Dataset) -> None:
    ds.set_format("numpy", columns=["n"], dtype="int8")
    assert ds.format == {
        "type": "numpy",
        "format_kwargs": {"dtype": "int8"},
        "columns": ["n"],
        "output_all_columns": False,
    }
    assert (ds._format_type, ds._format_columns, ds._format_kwargs) == ("numpy", ["n"], {"dtype": "int8"})
    again = Dataset.from_dict({"n": [1, 2]})
    again.set_format(**ds.format)
    assert again[0]["n"].dtype == "int8"


def test_a_transform_is_told_and_set_as_the_custom_format(ds: Dataset) -> None:
    def double(batch: dict[str, list[int]]) -> dict[str, list[int]]:
        return {"n": [2 * n for n in batch["n"]]}

    ds.set_transform(double)
    assert ds.format["type"] == "custom"
    assert ds.format["format_kwargs"] == {"transform": double}
    again = Dataset.from_dict({"n": [1, 2]})
    again.set_format(**ds.format)
    assert again[1] == {"n": 4}


def test_a_with_block_gives_the_dataset(ds: Dataset) -> None:
    with ds as inside:
        assert inside[0] == {"n": 1}


@pytest.mark.parametrize("folder", ["{tmp_path}/new", "memory://infos"])
def test_an_info_is_written_to_a_folder_and_read_again(folder: str, tmp_path: Path) -> None:
    folder = folder.format(tmp_path=tmp_path)
    info = DatasetInfo(
        description="x", license="MIT", features=Features({"n": Value("int8")}), download_size=3
    )
    info.write_to_directory(folder, pretty_print=True)
    assert DatasetInfo.from_directory(folder) == info


def test_a_folder_without_an_info_says_so(tmp_path: Path) -> None:
    with pytest.raises(MissingFile, match="dataset_info"):
        DatasetInfo.from_directory(tmp_path)
    (tmp_path / "dataset_info.json").write_text("[")
    with pytest.raises(UnreadableFile, match="no JSON"):
        DatasetInfo.from_directory(tmp_path)


def test_equal_infos_merge_to_the_same_others_to_their_texts() -> None:
    info = DatasetInfo(description="x", builder_name="json", features=Features({"n": Value("int8")}))
    assert DatasetInfo.from_merge([info, None, info.copy()]) == info
    other = DatasetInfo(description="y", builder_name="csv")
    assert DatasetInfo.from_merge([info, other, info]) == DatasetInfo(description="x\n\ny")
    assert DatasetInfo.from_merge([None]) == DatasetInfo()


def test_an_info_is_updated_with_what_another_knows() -> None:
    info = DatasetInfo(description="x", download_size=3)
    info.update(DatasetInfo(description="y"))
    assert info == DatasetInfo(description="y", download_size=3)
    copy = info.copy()
    copy.update(DatasetInfo(), ignore_none=False)
    assert (copy, info.download_size) == (DatasetInfo(), 3)
