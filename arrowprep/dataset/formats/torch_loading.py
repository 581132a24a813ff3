"""Rows for PyTorch's DataLoader, which puts them together again: without a copy, and from a worker as bytes.

A batch that was read together is collated by finding that its rows are still as they were read. Out of a
worker its tensors travel as bytes: torch sends an open file for each, which takes a millisecond.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from operator import is_, itemgetter
from typing import Any

import numpy as np

SENT_BYTES = 1 << 20  # of a tensor; a larger one is cheaper to send as a file than to copy


class LoadedRow(dict[str, Any]):
    """A row that knows the batch that it was read with; a plain dict to whoever copies or pickles it."""

    __slots__ = ("together",)
    together: Together

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (dict(self),)


class Together:
    """A batch, and each of its columns row by row."""

    def __init__(self, batch: Mapping[str, Any]) -> None:
        self.batch = batch
        self.columns = {
            name: values.unbind(0) if hasattr(values, "unbind") else values for name, values in batch.items()
        }

    def rows(self) -> list[LoadedRow]:
        _teach_torch()
        names = list(self.columns)
        rows = [
            LoadedRow(zip(names, values, strict=True)) for values in zip(*self.columns.values(), strict=True)
        ]
        for row in rows:
            row.together = self
        return rows

    def is_all_of(self, rows: Sequence[LoadedRow]) -> bool:
        """Whether these are the rows of the batch, in order, none of them edited."""
        width = len(self.columns)
        return all(len(row) == width for row in rows) and all(
            len(column) == len(rows)
            and all(name in row for row in rows)
            and all(map(is_, map(itemgetter(name), rows), column))
            for name, column in self.columns.items()
        )


@cache
def _teach_torch() -> None:
    """Have `default_collate` collate our rows so, as torch's documentation of it extends it to a type."""
    try:
        from torch.utils.data._utils.collate import default_collate_fn_map
    except ImportError:  # another torch, which collates our rows as the dicts they are
        return
    default_collate_fn_map[LoadedRow] = collate_rows


def collate_rows(rows: list[LoadedRow], *, collate_fn_map: Any = None) -> Any:
    """What torch's `default_collate` makes of such rows as plain dicts."""
    from torch.utils.data import get_worker_info
    from torch.utils.data._utils.collate import collate

    together = rows[0].together
    if not together.is_all_of(rows):
        return collate([dict(row) for row in rows], collate_fn_map=collate_fn_map)
    batch = {
        name: values if hasattr(values, "unbind") else collate(values, collate_fn_map=collate_fn_map)
        for name, values in together.batch.items()
    }
    return batch if get_worker_info() is None else _Sent(batch)


class _Sent(dict[str, Any]):
    """A batch on its way out of a worker; a plain dict where it arrives."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _received, ({name: _as_bytes(values) for name, values in self.items()},)


def _as_bytes(values: Any) -> Any:
    """A small tensor as a NumPy array, which is pickled by its bytes; others as torch sends them."""
    import torch

    if not isinstance(values, torch.Tensor) or values.device.type != "cpu" or values.nbytes > SENT_BYTES:
        return values
    return values if values.dtype == torch.bfloat16 else values.numpy()


def _received(columns: Mapping[str, Any]) -> dict[str, Any]:
    import torch

    return {
        name: torch.from_numpy(values) if isinstance(values, np.ndarray) else values
        for name, values in columns.items()
    }
