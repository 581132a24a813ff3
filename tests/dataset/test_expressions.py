"""Where a function could stand, a pyarrow expression may: Arrow evaluates it, and the result is cached."""

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from arrowprep import Dataset
from arrowprep.errors import BadArgument, MapError


@pytest.fixture
def ds():
    return Dataset.from_dict({"n": [5, None, 1, 4], "text": ["a", "bb", None, "dddd"]})


def test_rows_are_filtered(ds):
    assert ds.filter(pc.field("n") > 3)["n"][:] == [5, 4]
    assert ds.shuffle(seed=1).filter((pc.field("n") > 3) | pc.field("text").is_null())["n"][:] == [
        n for n in ds.shuffle(seed=1)["n"] if n in (5, 1, 4)
    ]
    assert len(ds.select([]).filter(pc.field("n") > 3)) == 0


def test_a_column_is_computed_and_the_only_one_written(ds):
    out = ds.add_column("length", pc.utf8_length(pc.field("text")))
    assert out["length"][:] == [1, 2, None, 4]
    written = pa.ipc.open_file(out.cache_files[0]["filename"]).read_all()
    assert written.column_names == ["length"]


def test_expressions_are_named_by_their_content(ds):
    few = list(range(1000))
    assert ds.filter(pc.field("n") > 3).fingerprint == ds.filter(pc.field("n") > 3).fingerprint
    assert ds.filter(pc.field("n") > 3).fingerprint != ds.filter(pc.field("n") > 2).fingerprint
    assert (
        ds.filter(pc.field("n").isin(few)).fingerprint
        != ds.filter(pc.field("n").isin([*few[:-1], -1])).fingerprint
    )


def test_it_runs_in_processes_too():
    ds = Dataset.from_dict({"n": list(range(5000))})
    assert ds.filter(pc.field("n") >= 4990, num_proc=2)["n"][:] == list(range(4990, 5000))


def test_a_wrong_column_is_named(ds):
    with pytest.raises(MapError, match="nothing"):
        ds.filter(pc.field("nothing") > 3)


def test_several_columns_are_made_or_replaced_at_once(ds):
    out = ds.with_format("numpy").with_columns(
        {"text": pc.utf8_upper(pc.field("text"))},
        twice=pc.field("n") * 2,
        short=pc.utf8_length(pc.field("text")) < 2,
    )
    assert out.format["type"] == "numpy"
    assert out.to_dict() == {
        "n": [5, None, 1, 4],
        "text": ["A", "BB", None, "DDDD"],
        "twice": [10, None, 2, 8],
        "short": [True, False, None, False],
    }
    assert ds.with_columns().to_dict() == ds.to_dict()


def test_what_is_no_expression_is_named(ds):
    with pytest.raises(BadArgument, match=r"'m' is a list.*add_column"):
        ds.with_columns(m=[1, 2, 3, 4])


def test_rows_of_each_value_are_counted():
    ds = Dataset.from_dict({"kind": ["b", "a", None, "b", "c", "b", None]})
    assert list(ds.value_counts("kind").items()) == [("b", 3), (None, 2), ("a", 1), ("c", 1)]
    assert ds.select([1, 1, 0]).value_counts("kind") == {"a": 2, "b": 1}
    with pytest.raises(BadArgument, match="cannot be counted"):
        Dataset.from_dict({"tags": [["a"], ["b"]]}).value_counts("tags")
