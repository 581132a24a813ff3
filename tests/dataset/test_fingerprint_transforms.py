"""Names for what users' own transforms make."""

from __future__ import annotations

import pickle
import threading
import warnings
from typing import Any

import pytest

from arrowprep import Dataset, Hasher, fingerprint_transform, generate_fingerprint, update_fingerprint
from arrowprep.errors import ArrowprepWarning


@pytest.fixture
def ds() -> Dataset:
    return Dataset.from_dict({"n": [1, 2, 3]})


@fingerprint_transform(ignore_kwargs=["note"])
def heads(dataset: Dataset, n: int = 1, note: str = "", new_fingerprint: str | None = None) -> Dataset:
    return dataset.select(range(n), new_fingerprint=new_fingerprint)


def test_a_transform_is_named_by_its_arguments(ds: Dataset) -> None:
    assert heads(ds)._fingerprint == heads(ds, 1)._fingerprint == heads(ds, note="x")._fingerprint
    names = {heads(ds)._fingerprint, heads(ds, 2)._fingerprint, heads(heads(ds, 2))._fingerprint}
    assert len(names | {ds._fingerprint}) == 4
    assert heads(ds, n=2)._fingerprint == heads(ds, 2)._fingerprint


def test_a_name_that_the_caller_gives_stands(ds: Dataset) -> None:
    assert heads(ds, new_fingerprint="mine")._fingerprint == "mine"


def test_a_version_is_part_of_the_name(ds: Dataset) -> None:
    def made(version: str | None) -> str:
        @fingerprint_transform(version=version)
        def same(dataset: Dataset, new_fingerprint: str | None = None) -> str:
            assert new_fingerprint is not None
            return new_fingerprint

        return same(ds)  # type: ignore[return-value]

    assert made("1") == made("1")
    assert len({made(None), made("1"), made("2")}) == 3


def test_each_of_several_names_is_another(ds: Dataset) -> None:
    @fingerprint_transform(fingerprint_names=["left", "right"])
    def halves(dataset: Dataset, left: str | None = None, right: str | None = None) -> tuple[Any, Any]:
        return left, right

    left, right = halves(ds)
    assert left != right
    assert halves(ds, right="mine") == (left, "mine")


def test_a_dataset_changed_in_place_has_another_name_afterwards(ds: Dataset) -> None:
    @fingerprint_transform(inplace=True)
    def touch(dataset: Dataset, how: str) -> None: ...

    before = generate_fingerprint(ds)
    touch(ds, "softly")
    assert generate_fingerprint(ds) == ds._fingerprint != before


def test_what_cannot_be_named_is_told_and_never_found_again() -> None:
    with pytest.warns(ArrowprepWarning, match="lock"):
        first = update_fingerprint("f", "t", {"x": threading.Lock()})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert update_fingerprint("f", "t", {"x": threading.Lock()}) != first
    assert update_fingerprint("f", "t", {"x": 1}) == update_fingerprint("f", "t", {"x": 1})


def test_a_hasher_adds_up_values_in_their_order() -> None:
    def hashed(*values: Any) -> str:
        hasher = Hasher()
        for value in values:
            hasher.update(value)
        return hasher.hexdigest()

    assert hashed("a", [1]) == hashed("a", [1])
    assert len({hashed("a", "b"), hashed("b", "a"), hashed("a"), hashed()}) == 4
    with pytest.raises(pickle.PicklingError):
        hashed(threading.Lock())


def test_a_compiled_function_or_module_is_named_by_what_was_compiled() -> None:
    torch = pytest.importorskip("torch")

    def double(x: int) -> int:
        return x * 2

    assert Hasher.hash(torch.compile(double)) == Hasher.hash(double)
    layer, other = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)
    assert Hasher.hash(torch.compile(layer)) == Hasher.hash(layer) != Hasher.hash(torch.compile(other))
