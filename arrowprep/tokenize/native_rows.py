"""Rows of tokens framed and padded by the kernel, which takes a tenth of NumPy's time."""

from __future__ import annotations

from ctypes import byref
from typing import Any

import numpy as np
import numpy.typing as npt

from arrowprep.tokenize.native_library import Layout, load

Ints = npt.NDArray[np.int64]


def lay_out(
    places: tuple[Ints, Ints, Ints, Ints],
    values: npt.NDArray[Any] | int,
    around: tuple[npt.NDArray[Any], npt.NDArray[Any]],
    fill: int,
) -> npt.NDArray[Any] | None:
    """The values of all rows, one row after the other; None where there is no kernel.

    places: (m,) each: the first of a row's values, how many it has, its length with all that
        is put around them, and how much of that is padding in front
    values: (n,) int32 or int8, or one that is everywhere the same
    around: what stands before and after the values of every row; of the kind that is wanted
    """
    library = load()
    if isinstance(library, str):
        return None
    before, after = around
    takes, counts, lengths, lefts = (np.ascontiguousarray(part, np.int64) for part in places)
    same = isinstance(values, int)
    column = None if same else np.ascontiguousarray(values, before.dtype)
    out = np.empty(int(lengths.sum()), before.dtype)
    layout = Layout(
        len(takes),
        *(part.ctypes.data for part in (takes, counts, lengths, lefts)),
        before.ctypes.data,
        len(before),
        after.ctypes.data,
        len(after),
        before.dtype.itemsize,
    )
    data, count = (None, 0) if column is None else (column.ctypes.data, len(column))
    code = library.arrowprep_lay_out(
        byref(layout), data, count, fill, values if same else 0, out.ctypes.data, len(out), None
    )
    assert code == 0, "the rows do not fit together"
    return out
