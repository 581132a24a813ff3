"""Arrays of a shape and translations go both ways between this library and `datasets`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import arrowprep

peer = pytest.importorskip("datasets", reason="datasets is not installed: nothing to compare with")


def _features(lib):
    return lib.Features(
        {
            "fixed": lib.Array2D((2, 3), "int32"),
            "ragged": lib.Array3D(shape=(None, 1, 2), dtype="float32"),
            "four": lib.Array4D((1, 1, 1, 2), "float64"),
            "five": lib.Array5D((1, 1, 1, 1, 2), "bool"),
            "words": lib.Array2D((1, 2), "string"),
            "several": lib.List(lib.Array2D((1, 2), "uint8")),
            "inside": {"a": lib.Array2D((1, 1), "int64")},
            "pair": lib.Translation(["fr", "en"]),
            "any": lib.TranslationVariableLanguages(["en", "fr"]),
            "named": lib.Value("int8", id="mine"),
        }
    )


ROWS = {
    "fixed": [np.arange(6).reshape(2, 3) + i for i in range(3)],
    "ragged": [np.full((i, 1, 2), i / 2) for i in range(3)],
    "four": [[[[[0.5, 1e300]]]]] * 3,
    "five": [[[[[[True, False]]]]]] * 3,
    "words": [[["x", None]], [["", "yy"]], [["z", "z"]]],
    "several": [[[[1, 2]], [[3, 4]]], [], [[[5, 6]]]],
    "inside": [{"a": [[2**53 + 1]]}, None, {"a": [[0]]}],
    "pair": [{"en": "cat", "fr": "chat"}, {"en": "", "fr": "x"}, {"fr": "b", "en": "a"}],
    "any": [{"en": "cat", "fr": ["chat", "chatte"]}, {"fr": "x"}, {"language": ["en"], "translation": ["a"]}],
    "named": [1, 2, 3],
}


@pytest.fixture
def ours() -> arrowprep.Dataset:
    return arrowprep.Dataset.from_dict(ROWS, features=_features(arrowprep))


@pytest.fixture
def theirs():
    return peer.Dataset.from_dict(ROWS, features=_features(peer))


def test_features_are_written_down_alike() -> None:
    ours, theirs = _features(arrowprep), _features(peer)
    assert ours.to_dict() == theirs.to_dict()
    assert repr(ours) == repr(theirs)
    assert arrowprep.Features.from_dict(theirs.to_dict()) == ours
    assert arrowprep.Features.from_arrow_schema(theirs.arrow_schema) == ours
    assert {n: repr(f) for n, f in ours.flatten().items()} == {
        n: repr(f) for n, f in theirs.flatten().items()
    }


def test_rows_are_the_same(ours, theirs) -> None:
    assert ours.to_list() == theirs.to_list()


def test_numpy_shows_the_same_arrays(ours, theirs) -> None:
    names = ["fixed", "four", "five", "ragged"]
    shown, wanted = ours.with_format("numpy")[:], theirs.with_format("numpy", dtype=None)[:]
    for name in names:
        assert shown[name].shape == wanted[name].shape
        assert shown[name].dtype == wanted[name].dtype
        for row, other in zip(shown[name], wanted[name], strict=True):
            np.testing.assert_array_equal(row, other)


def test_torch_shows_the_same_tensors(ours, theirs) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    for name in ("fixed", "five", "ragged"):
        shown = ours.select_columns(name).with_format("torch")[:][name]
        wanted = theirs.select_columns(name).with_format("torch")[:][name]
        assert type(shown) is type(wanted)
        assert all(torch.equal(a, b) and a.dtype == b.dtype for a, b in zip(shown, wanted, strict=True))


def test_saved_folders_go_both_ways(ours, theirs, tmp_path: Path) -> None:
    ours.save_to_disk(tmp_path / "ours")
    read = peer.load_from_disk(str(tmp_path / "ours"))
    assert read.features == theirs.features
    assert read.to_list() == theirs.to_list()
    theirs.save_to_disk(str(tmp_path / "theirs"))
    back = arrowprep.load_from_disk(tmp_path / "theirs")
    assert back.features == ours.features
    assert back.to_list() == ours.to_list()
    assert back[0]["fixed"].dtype == np.int32


def test_parquet_goes_both_ways(ours, theirs, tmp_path: Path) -> None:
    ours.to_parquet(tmp_path / "ours.parquet")
    theirs.to_parquet(str(tmp_path / "theirs.parquet"))
    read = peer.Dataset.from_parquet(str(tmp_path / "ours.parquet"), cache_dir=str(tmp_path / "cache"))
    assert read.features == theirs.features
    assert read.to_list() == theirs.to_list()
    back = arrowprep.Dataset.from_parquet(str(tmp_path / "theirs.parquet"))
    assert back.features == ours.features
    assert back.to_list() == ours.to_list()


def test_a_file_of_the_peer_opens_where_its_types_are_registered_and_where_not(
    theirs, tmp_path: Path
) -> None:
    theirs.save_to_disk(str(tmp_path / "theirs"))
    file = next((tmp_path / "theirs").glob("*.arrow"))
    names = [f"datasets.features.features.Array{n}DExtensionType" for n in (2, 3, 4, 5)]
    types = [kind((1,) * kind.ndims, "int64") for kind in map(_peer_type, names)]
    for name in names:
        pa.unregister_extension_type(name)
    try:
        unknown = arrowprep.Dataset.from_file(str(file))
        assert unknown.features == _features(arrowprep)
        assert unknown.to_list() == theirs.to_list()
    finally:
        for kind in types:
            pa.register_extension_type(kind)
    assert arrowprep.Dataset.from_file(str(file)).to_list() == theirs.to_list()


def _peer_type(name: str):
    return getattr(peer.features.features, name.rsplit(".", 1)[-1])


def test_a_dataset_goes_to_the_peer_and_back_in_memory(ours, theirs) -> None:
    assert ours.to_hf().to_list() == theirs.to_list()
    assert arrowprep.Dataset.from_hf(theirs).features == ours.features
    assert arrowprep.Dataset.from_hf(theirs).to_list() == ours.to_list()
