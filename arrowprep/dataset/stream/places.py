"""The place in a stream as JSON: what `state_dict` gives and `load_state_dict` takes."""

from __future__ import annotations

import base64
from typing import Any

import pyarrow as pa

_TABLE = "arrow stream, base64"


def encode(place: Any) -> Any:
    """A reader's state with tables (rows that wait in a buffer) as text."""
    if isinstance(place, dict):
        return {name: encode(value) for name, value in place.items()}
    if isinstance(place, list):
        return [encode(value) for value in place]
    if isinstance(place, pa.Table):
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, place.schema) as writer:
            writer.write_table(place)
        return {_TABLE: base64.b64encode(sink.getvalue()).decode()}
    return place


def decode(written: Any) -> Any:
    """The reverse of `encode`."""
    if isinstance(written, dict):
        if set(written) == {_TABLE}:
            return pa.ipc.open_stream(base64.b64decode(written[_TABLE])).read_all()
        return {name: decode(value) for name, value in written.items()}
    if isinstance(written, list):
        return [decode(value) for value in written]
    return written
