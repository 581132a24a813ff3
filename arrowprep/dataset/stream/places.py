"""The place in a stream as JSON: what `state_dict` gives and `load_state_dict` takes."""

from __future__ import annotations

import base64
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

_TABLE = "arrow stream, base64"


class Waiting:
    """Rows that wait in a buffer; written down once, however often the place is asked for meanwhile."""

    def __init__(self, table: pa.Table) -> None:
        self.table = table

    @cached_property
    def text(self) -> str:
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, self.table.schema) as writer:
            writer.write_table(self.table)
        return base64.b64encode(sink.getvalue()).decode()

    @classmethod
    def of(cls, text: str) -> Waiting:
        return cls(pa.ipc.open_stream(base64.b64decode(text)).read_all())


def encode(place: Any) -> Any:
    """A reader's state with rows that wait in a buffer as text."""
    if isinstance(place, dict):
        return {name: encode(value) for name, value in place.items()}
    if isinstance(place, list):
        return [encode(value) for value in place]
    if isinstance(place, np.ndarray | np.generic):  # of random generators, which take lists as well
        return place.tolist()
    if isinstance(place, Waiting):
        return {_TABLE: place.text}
    return place


def decode(written: Any) -> Any:
    """The reverse of `encode`."""
    if isinstance(written, dict):
        if set(written) == {_TABLE}:
            return Waiting.of(written[_TABLE])
        return {name: decode(value) for name, value in written.items()}
    if isinstance(written, list):
        return [decode(value) for value in written]
    return written
