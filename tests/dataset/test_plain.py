"""Arrays made by their buffers are those that pyarrow makes, and pandas is not loaded for them."""

import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arrowprep.dataset.plain import bool_flags, int64_array, plain_array, uint64_numbers, valid_flags

LEAVES = [
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False),
    st.booleans(),
    st.text(st.characters(exclude_categories=["Cs"])),
]


def columns(leaf):
    value = st.none() | leaf
    return st.lists(value) | st.lists(st.none() | st.lists(value)) | st.lists(st.lists(st.lists(value)))


@given(st.one_of([columns(leaf) for leaf in LEAVES]))
def test_it_is_what_pyarrow_makes(values):
    made = plain_array(values)
    assert made is not None
    made.validate(full=True)
    wanted = pa.array(values)
    assert made.type == wanted.type
    assert made.equals(wanted)


@given(st.lists(st.none() | st.booleans()), st.integers(0, 20), st.integers(0, 20))
def test_flags_of_a_slice_are_those_of_its_rows(values, start, count):
    part = pa.array(values, pa.bool_()).slice(min(start, len(values)), count)
    assert valid_flags(part).tolist() == [value is not None for value in part.to_pylist()]
    assert (bool_flags(part) & valid_flags(part)).tolist() == [bool(value) for value in part.to_pylist()]


def test_nan_and_zero_keep_their_bits():
    made = plain_array([float("nan"), -0.0])
    assert np.signbit(made.to_numpy()[1])
    assert np.isnan(made.to_numpy()[0])


@pytest.mark.parametrize(
    "values", [[1, 2.5], [1, True], ["a", b"a"], [{"a": 1}], [(1,)], [2**63], ["\ud800"], [[1], ["a"]]]
)
def test_other_and_mixed_values_are_left_to_pyarrow(values):
    assert plain_array(values) is None


@given(st.lists(st.integers(-(2**63), 2**63 - 1)), st.integers(0, 3))
def test_numbers_go_both_ways(numbers, start):
    made = int64_array(np.array(numbers, np.int64))
    assert made.to_pylist() == numbers
    back = uint64_numbers(made.view(pa.uint64())[start:])
    assert back.view(np.int64).tolist() == numbers[start:]


def test_a_map_does_not_load_pandas():
    pytest.importorskip("pandas", reason="pandas is not installed, so nothing could load it")
    script = (
        "import sys; from arrowprep import Dataset, load_local\n"
        "import arrowprep.data as data\n"
        "ds = load_local(data.DOCUMENTS, split='train[:50]')\n"
        "ds = ds.shuffle(seed=1).map(lambda row: {'n': len(row['text']), 'l': [row['id']]})\n"
        "ds = ds.filter(lambda row: row['n'] > 10)\n"
        "ds[0], ds[[3, 1]], list(ds.iter(8))\n"
        "print('pandas' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    assert run.stdout.strip() == "False"
