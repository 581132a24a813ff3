"""Pictures: stored as bytes and a path, shown through Pillow, or as they are stored without it."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from arrowprep import Dataset, Features, Image, Value, load_from_disk
from arrowprep.errors import BadArgument, MissingFile, TypeConflict, UnreadableFile

PIXELS = np.arange(4 * 5 * 3, dtype=np.uint8).reshape(4, 5, 3)
TYPED = Features({"picture": Image()})


@pytest.fixture
def pillow() -> Any:
    return pytest.importorskip("PIL.Image", reason="Pillow is not installed")


@pytest.fixture
def file(pillow: Any, tmp_path: Path) -> Path:
    """A picture on disk."""
    path = tmp_path / "a.png"
    pillow.fromarray(PIXELS).save(path)
    return path


def test_without_decoding_bytes_and_path_come_back_and_no_pillow_is_needed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    stored = [{"bytes": b"\x89", "path": "a.png"}, None, {"bytes": None, "path": "b.png"}]
    ds = Dataset.from_dict({"picture": stored}, features=Features({"picture": Image(decode=False)}))
    assert ds["picture"].to_list() == stored
    assert ds.cast_column("picture", Image(decode=False))[0] == {"picture": stored[0]}
    with pytest.raises(ImportError, match="pip install pillow"):
        ds.cast_column("picture", Image())[0]


def test_every_way_to_give_a_picture_shows_the_same_picture(pillow: Any, file: Path) -> None:
    given = [str(file), file.read_bytes(), {"path": str(file)}, PIXELS, pillow.fromarray(PIXELS)]
    ds = Dataset.from_dict({"picture": [*given, None]}, features=TYPED)
    shown = ds["picture"].to_list()
    assert shown.pop() is None
    for picture in shown:
        np.testing.assert_array_equal(np.asarray(picture), PIXELS)
    raw = ds.cast_column("picture", Image(decode=False))["picture"].to_list()
    assert raw[0] == {"bytes": None, "path": str(file)}
    assert raw[1] == {"bytes": file.read_bytes(), "path": None}


def test_a_column_of_paths_or_bytes_is_cast_to_pictures(pillow: Any, file: Path) -> None:
    for values in ([str(file)], [file.read_bytes()]):
        ds = Dataset.from_dict({"picture": values}).cast_column("picture", Image())
        assert ds.features == TYPED
        np.testing.assert_array_equal(np.asarray(ds[0]["picture"]), PIXELS)


def test_a_mode_is_what_the_picture_is_converted_to(pillow: Any, file: Path) -> None:
    ds = Dataset.from_dict({"picture": [str(file)]}, features=Features({"picture": Image(mode="L")}))
    assert ds[0]["picture"].mode == "L"


def test_pixels_in_numpy_stack_where_they_have_one_shape(pillow: Any) -> None:
    ds = Dataset.from_dict({"picture": [PIXELS, PIXELS, PIXELS[:2], None]}, features=TYPED).with_format(
        "numpy"
    )
    assert ds[:2]["picture"].shape == (2, 4, 5, 3)
    np.testing.assert_array_equal(ds[1]["picture"], PIXELS)
    mixed = ds[:]["picture"]
    assert [None if one is None else one.shape for one in mixed] == [(4, 5, 3), (4, 5, 3), (2, 5, 3), None]
    assert [len(batch["picture"]) for batch in ds.iter(3)] == [3, 1]


def test_pixels_as_tensors(pillow: Any) -> None:
    pytest.importorskip("torch", reason="PyTorch is not installed")
    ds = Dataset.from_dict({"picture": [PIXELS, PIXELS]}, features=TYPED).with_format("torch")
    assert tuple(ds[:]["picture"].shape) == (2, 4, 5, 3)
    assert ds[0]["picture"].numpy().tolist() == PIXELS.tolist()


def test_a_map_sees_pictures_and_returns_them(pillow: Any, file: Path) -> None:
    ds = Dataset.from_dict({"picture": [str(file)]}, features=TYPED)
    turned = ds.map(lambda row: {"picture": row["picture"].rotate(180)}, features=TYPED)
    np.testing.assert_array_equal(np.asarray(turned[0]["picture"]), PIXELS[::-1, ::-1])
    sized = ds.map(lambda row: {"width": row["picture"].width})
    assert sized.features == {"picture": Image(), "width": Value("int64")}
    assert sized["width"][:] == [5]


def test_a_saved_dataset_still_knows_its_pictures(pillow: Any, file: Path, tmp_path: Path) -> None:
    ds = Dataset.from_dict({"picture": [file.read_bytes()], "all": [[str(file)]]}).cast(
        Features({"picture": Image(), "all": [Image(mode="L")]})
    )
    ds.save_to_disk(tmp_path / "saved")
    again = load_from_disk(tmp_path / "saved")
    assert again.features == ds.features
    assert again[0]["all"][0].mode == "L"


def test_what_is_no_picture_is_told(pillow: Any, tmp_path: Path) -> None:
    ds = Dataset.from_dict({"picture": [b"no picture", str(tmp_path / "gone.png")]}, features=TYPED)
    with pytest.raises(UnreadableFile, match="cannot identify"):
        ds[0]
    with pytest.raises(MissingFile, match=r"gone\.png"):
        ds[1]
    with pytest.raises((BadArgument, TypeConflict), match="no picture"):
        Dataset.from_dict({"picture": [3.5]}, features=TYPED)
    with pytest.raises((BadArgument, TypeConflict), match="uint8"):
        Dataset.from_dict({"picture": [PIXELS.astype(float)]}, features=TYPED)


def test_bytes_of_pictures_outlive_their_format(pillow: Any) -> None:
    file = io.BytesIO()
    pillow.fromarray(PIXELS).save(file, "JPEG")
    opened = pillow.open(io.BytesIO(file.getvalue()))
    ds = Dataset.from_dict({"picture": [opened]}, features=TYPED)
    assert ds[0]["picture"].format == "JPEG"


def test_storage_and_metadata_are_those_of_the_peer(pillow: Any, file: Path) -> None:
    datasets = pytest.importorskip("datasets", reason="datasets is not installed")
    theirs = datasets.Features({"a": datasets.Image(), "b": datasets.Image(mode="L", decode=False)})
    ours = Features({"a": Image(), "b": Image(mode="L", decode=False)})
    assert ours.to_dict() == theirs.to_dict()
    assert Features.from_dict(theirs.to_dict()) == ours
    assert ours.arrow_schema.field("a").type == theirs.arrow_schema.field("a").type
    both = [
        kind.from_dict({"a": [str(file), {"bytes": b"x", "path": None}, None]}, features=known)
        for kind, known in (
            (Dataset, Features({"a": Image()})),
            (datasets.Dataset, datasets.Features({"a": datasets.Image()})),
        )
    ]
    tables = [pa.table(one.with_format("arrow")[:]).to_pylist() for one in both]
    assert tables[0] == tables[1]
