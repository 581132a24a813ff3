"""Array2D to Array5D: a shape that rows keep, lists on disk, arrays for whoever reads."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from arrowprep import (
    Array2D,
    Array3D,
    Array4D,
    Array5D,
    Dataset,
    Features,
    List,
    Value,
    concatenate_datasets,
    load_from_disk,
)
from arrowprep.errors import BadArgument, BadResult, MapError, TypeConflict

SQUARES = [np.arange(4, dtype=np.int32).reshape(2, 2) + i for i in range(3)]
TYPED = Features({"a": Array2D((2, 2), "int32")})


def _dataset() -> Dataset:
    return Dataset.from_dict({"a": SQUARES}, features=TYPED)


@pytest.mark.parametrize(("kind", "shape"), [(Array2D, 2), (Array3D, 3), (Array4D, 4), (Array5D, 5)])
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float16", "float32", "float64"])
def test_rows_are_arrays_of_the_shape_and_type(kind: type, shape: int, dtype: str) -> None:
    given = np.arange(2**shape).reshape((2,) * shape).astype(dtype)
    feature = kind((2,) * shape, dtype)
    for rows in ([given, given], [given.tolist()] * 2, np.stack([given, given])):
        ds = Dataset.from_dict({"a": rows}, features=Features({"a": feature}))
        for shown in (ds[1]["a"], ds[:]["a"][0], ds["a"][0], next(iter(ds))["a"], next(ds.iter(1))["a"][0]):
            assert shown.dtype == given.dtype
            np.testing.assert_array_equal(shown, given)
    assert ds.features == {"a": feature}


def test_the_first_dimension_may_differ_by_row_and_a_row_may_be_null() -> None:
    rows = [np.ones((1, 3)), None, np.zeros((0, 3)), np.full((2, 3), 7.0)]
    ds = Dataset.from_dict({"a": rows}, features=Features({"a": Array2D((None, 3), "float64")}))
    for shown in (ds[:]["a"], [ds[i]["a"] for i in range(4)], ds.with_format("numpy")[:]["a"].tolist()):
        assert shown[1] is None
        for row in (0, 2, 3):
            np.testing.assert_array_equal(shown[row], rows[row])
            assert shown[row].shape == rows[row].shape


def test_integers_beside_null_stay_what_they_are() -> None:
    large = 2**53 + 1
    ds = Dataset.from_dict({"a": [[[large]], None]}, features=Features({"a": Array2D((1, 1), "int64")}))
    assert ds[0]["a"].dtype == np.int64
    assert ds[0]["a"][0, 0] == large
    assert ds.with_format("numpy")["a"][1] is None
    assert ds.to_dict() == {"a": [[[large]], None]}


@pytest.mark.parametrize("row", [np.ones((2, 3)), [[1, 2]], [[1, 2], [3]], [1, 2, 3, 4], np.ones((2, 2, 1))])
def test_a_row_of_another_shape_is_refused_wherever_it_is_given(row: object, tmp_path: Path) -> None:
    with pytest.raises(TypeConflict, match=r"'a'.*Array2D\(shape=\(2, 2\)"):
        Dataset.from_dict({"a": [SQUARES[0], row]}, features=TYPED)
    with pytest.raises(MapError, match="Array2D"):
        Dataset.from_dict({"a": [row]}).cast(TYPED)
    lists = row.tolist() if isinstance(row, np.ndarray) else row
    (tmp_path / "rows.jsonl").write_text(
        json.dumps({"a": [[1, 2], [3, 4]]}) + "\n" + json.dumps({"a": lists})
    )
    with pytest.raises(TypeConflict, match=r"row 1|line 1"):
        Dataset.from_json(str(tmp_path / "rows.jsonl"), features=TYPED)


@pytest.mark.parametrize("shape", [(2,), (2, None), (2, 2, 2)])
def test_a_shape_has_as_many_numbers_as_the_name_says(shape: tuple[int | None, ...]) -> None:
    with pytest.raises(BadArgument, match="shape of 2 numbers"):
        Array2D(shape, "int8")


def test_arrays_of_text_are_lists() -> None:
    ds = Dataset.from_dict({"a": [[["x"], ["y"]]]}, features=Features({"a": Array2D((2, 1), "string")}))
    assert ds[0] == {"a": [["x"], ["y"]]}


def test_formats_show_one_array_of_one_more_dimension() -> None:
    ds = _dataset()
    numpy = ds.with_format("numpy")
    assert numpy[:]["a"].shape == (3, 2, 2)
    assert numpy[:]["a"].dtype == np.int32
    np.testing.assert_array_equal(numpy[1]["a"], SQUARES[1])
    assert ds.with_format("pandas")[:]["a"][2].shape == (2, 2)


def test_torch_shows_one_tensor() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    tensors = _dataset().with_format("torch")[:]["a"]
    assert tensors.dtype == torch.int64
    assert torch.equal(tensors, torch.tensor(np.stack(SQUARES)).long())


def test_polars_shows_lists_in_lists() -> None:
    pytest.importorskip("polars", reason="polars is not installed")
    assert _dataset().with_format("polars")["a"].to_list() == [square.tolist() for square in SQUARES]


def test_data_frames_bring_arrays_back() -> None:
    frames = _dataset().with_format("pandas")
    frame = frames[:]
    assert Dataset.from_pandas(frame, features=TYPED).to_dict() == _dataset().to_dict()
    assert Dataset.from_pandas(frame).features == {"a": List(List(Value("int32")))}
    mapped = frames.map(lambda frame: frame.assign(n=1), batched=True)
    assert mapped.features == {**TYPED, "n": Value("int64")}
    with pytest.raises(TypeConflict, match="shape"):
        Dataset.from_pandas(frame, features=Features({"a": Array2D((2, 3), "int32")}))


def test_arrays_within_lists_and_structs() -> None:
    features = Features({"l": List(Array2D((1, 2), "int8")), "s": {"a": Array2D((None, 1), "int8")}})
    ds = Dataset.from_dict(
        {"l": [[[[1, 2]], [[3, 4]]], []], "s": [{"a": [[1], [2]]}, None]}, features=features
    )
    np.testing.assert_array_equal(ds[0]["l"], [[[1, 2]], [[3, 4]]])
    np.testing.assert_array_equal(ds[0]["s"]["a"], [[1], [2]])
    assert ds[1] == {"l": [], "s": None}
    assert ds.to_list()[0] == {"l": [[[1, 2]], [[3, 4]]], "s": {"a": [[1], [2]]}}


def test_verbs_keep_the_feature_and_files_the_rows(tmp_path: Path) -> None:
    ds = _dataset()
    doubled = ds.map(lambda row: {"a": row["a"] * 2, "n": 1}).select([2, 0])
    assert doubled.features == {**TYPED, "n": Value("int64")}
    np.testing.assert_array_equal(doubled[0]["a"], SQUARES[2] * 2)
    both = concatenate_datasets([ds, ds.shuffle(seed=1)])
    assert both.features == TYPED
    assert both["a"][2].shape == (2, 2)
    wanted = [square.tolist() for square in SQUARES]
    ds.save_to_disk(tmp_path / "saved")
    ds.to_parquet(tmp_path / "a.parquet")
    for read in (load_from_disk(tmp_path / "saved"), Dataset.from_parquet(str(tmp_path / "a.parquet"))):
        assert read.features == TYPED
        assert read.to_dict()["a"] == wanted
    ds.to_json(tmp_path / "a.jsonl")
    read = Dataset.from_json(str(tmp_path / "a.jsonl"), features=TYPED)
    assert read.features == TYPED
    assert read.to_dict()["a"] == wanted


def test_an_array_edited_in_place_is_a_changed_column() -> None:
    def edit(row):
        row["a"][0, 0] = 9
        return row

    assert [row["a"][0][0] for row in _dataset().map(edit).to_list()] == [9, 9, 9]
    assert _dataset()[0]["a"][0, 0] == 0


def test_a_map_of_another_shape_says_so_unless_features_do() -> None:
    with pytest.raises(BadResult, match=r"shape \(1, 2\)"):
        _dataset().map(lambda row: {"a": row["a"][:1]})
    wider = Features({"a": Array2D((None, 2), "int32")})
    assert _dataset().map(lambda row: {"a": row["a"][:1]}, features=wider)[0]["a"].shape == (1, 2)
    as_lists = _dataset().map(lambda row: {"a": row["a"] / 2})
    assert as_lists.features == {"a": List(List(Value("float64")))}
