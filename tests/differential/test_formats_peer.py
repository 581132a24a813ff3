"""Formats show what `datasets` shows, but for the named differences."""

from __future__ import annotations

from typing import Any

import pytest

from arrowprep.dataset.dataset import Dataset

peer = pytest.importorskip("datasets", reason="datasets is not installed: nothing to compare with")

COLUMNS = {
    "int": [3, -1, 2],
    "float": [0.5, None, 1e10],
    "bool": [True, False, True],
    "text": ["a", "", None],
    "equal": [[1, 2], [3, 4], [5, 6]],
    "floats": [[0.5], [1.5], [2.5]],
    "ragged": [[1], [], [2, 3]],
    "struct": [{"n": i, "t": str(i), "l": [i, i]} for i in range(3)],
    "deep": [[[1, 2]], [[3, 4]], [[5, 6]]],
}
READS = {
    "row": lambda d: d[1],
    "batch": lambda d: d[:],
    "rows": lambda d: d[[2, 0]],
    "iteration": list,
    "batches": lambda d: list(d.iter(2)),
    "getitems": lambda d: d.__getitems__([2, 1]),
}


def described(value: Any) -> Any:
    """Types, shapes and values of what is shown; a nan is 'nan'."""
    if isinstance(value, dict):
        return {key: described(inner) for key, inner in value.items()}
    if hasattr(value, "dtype"):
        return str(value.dtype), tuple(value.shape), str(value.tolist())
    return [described(inner) for inner in value] if isinstance(value, list) else value


@pytest.mark.parametrize("read", READS)
@pytest.mark.parametrize("column", COLUMNS)
def test_tensors_are_those_of_the_peer(column: str, read: str) -> None:
    pytest.importorskip("torch", reason="torch is not installed")
    columns = {column: COLUMNS[column]}
    ours = READS[read](Dataset.from_dict(columns).with_format("torch"))
    wanted = READS[read](peer.Dataset.from_dict(columns).with_format("torch"))
    assert described(ours) == described(wanted)


@pytest.mark.parametrize("read", ["row", "batch", "batches"])
def test_polars_frames_are_those_of_the_peer(read: str) -> None:
    testing = pytest.importorskip("polars.testing", reason="polars is not installed")
    ours = READS[read](Dataset.from_dict(COLUMNS).with_format("polars"))
    wanted = READS[read](peer.Dataset.from_dict(COLUMNS).with_format("polars"))
    for one, other in zip(*(it if isinstance(it, list) else [it] for it in (ours, wanted)), strict=True):
        testing.assert_frame_equal(one, other)
