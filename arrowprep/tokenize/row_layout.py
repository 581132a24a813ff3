"""Rows laid out: which tokens each has, between special tokens and padding; without a step per token."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from arrowprep.tokenize.custom import has_customs
from arrowprep.tokenize.encoding import Encoding
from arrowprep.tokenize.native_rows import lay_out
from arrowprep.tokenize.pipeline import Pipeline
from arrowprep.tokenize.processors import PostProcessor
from arrowprep.tokenize.ragged import alongside
from arrowprep.tokenize.rows import Framing
from arrowprep.tokenize.truncation import Truncation, check_second, count_windows

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Frame:
    """What a post-processor puts around one text; read off what it does to a text of one token."""

    before: Encoding
    after: Encoding
    type_id: int
    trims_offsets: bool

    def __len__(self) -> int:
        return len(self.before) + len(self.after)


def frame_of(pipeline: Pipeline, add_special_tokens: bool) -> Frame | None:
    """None where the text does not come out once, as one stretch. Worked out once for a pipeline."""
    if add_special_tokens not in pipeline.frames:
        frame = _read_frame(pipeline.post_processor, add_special_tokens)
        if has_customs(pipeline.post_processor):
            return frame
        pipeline.frames[add_special_tokens] = frame
    found: Frame | None = pipeline.frames[add_special_tokens]
    return found


def _read_frame(processor: PostProcessor | None, add_special_tokens: bool) -> Frame | None:
    if processor is None:
        return Frame(Encoding(), Encoding(), 0, False)
    framed = processor.process(Encoding([0]), add_special_tokens=add_special_tokens)
    places = [i for i, added in enumerate(framed.special_tokens_mask) if not added]
    if len(places) != 1:
        return None
    at = places[0]
    before, after = framed.part(0, at), framed.part(at + 1, len(framed))
    return Frame(before, after, framed.type_ids[at], processor.trims_offsets)


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the tokens of each output row come from and go to.

    rows: (m,) the text of each row
    takes: (m,) where its first token is in the flat tokens of all texts
    counts: (m,) how many it has
    lengths: (m,) of the row with frame and padding
    lefts: (m,) how much padding stands in front
    """

    rows: Ints
    takes: Ints
    counts: Ints
    lengths: Ints
    lefts: Ints

    @property
    def begins(self) -> Ints:
        return np.cumsum(self.lengths) - self.lengths


def layout_of(lengths: Ints, frame: Frame, framing: Framing, overflow: bool) -> Layout:
    """The rows of texts with so many tokens; what truncation cuts off becomes further rows, or is dropped."""
    begins = np.cumsum(lengths) - lengths
    rows, takes, counts = np.arange(len(lengths)), begins, lengths
    if framing.truncation:
        rows, starts, counts = _cut(lengths, framing.truncation, len(frame), overflow)
        takes = begins[rows] + starts
    out = counts + len(frame)
    lefts = np.zeros(len(rows), np.int64)
    if framing.padding:
        first = np.flatnonzero(np.diff(rows, prepend=-1))  # the windows that overflow do not count
        padded = np.maximum(out, framing.padding.target(int(out[first].max(initial=0))))
        if framing.padding.direction == "left":
            lefts = padded - out
        out = padded
    return Layout(rows, takes, counts, out, lefts)


def _cut(lengths: Ints, settings: Truncation, added: int, overflow: bool) -> tuple[Ints, Ints, Ints]:
    """Of each window: its text, where it starts there, and how long it is."""
    room = settings.room(added)
    check_second(int(lengths.max(initial=0)), room, settings)
    per_row = count_windows(lengths, room, settings.stride) if overflow else np.ones(len(lengths), np.int64)
    rows = np.repeat(np.arange(len(lengths)), per_row)
    nth = np.arange(len(rows)) - np.repeat(np.cumsum(per_row) - per_row, per_row)
    whole = lengths[rows]
    if room == 0:
        return rows, np.zeros(len(rows), np.int64), np.where(nth == 0, 0, whole)
    step = room - settings.stride
    if settings.direction == "left":
        stops = whole - nth * step
        starts = np.maximum(stops - room, 0)
    else:
        starts = nth * step
        stops = np.minimum(starts + room, whole)
    return rows, starts, stops - starts


@dataclass(frozen=True)
class Builder:
    """Fills columns by a layout."""

    layout: Layout
    frame: Frame
    missing: npt.NDArray[np.bool_] | None

    def column(self, values: npt.NDArray[np.int32] | int, name: str, fill: int) -> pa.ListArray:
        return self._rows(self._fill(values, name, fill))

    def words(self, values: npt.NDArray[np.int32]) -> pa.ListArray:
        filled = self._fill(values, "none", -1)
        return self._rows(pa.array(filled, mask=filled < 0))

    def _fill(self, values: npt.NDArray[np.int32] | int, name: str, fill: int) -> npt.NDArray[Any]:
        kind = np.int8 if name in ("type_ids", "attention_mask", "special_tokens_mask") else np.int32
        before, after = _added(self.frame.before, name, kind), _added(self.frame.after, name, kind)
        layout = self.layout
        places = (layout.takes, layout.counts, layout.lengths, layout.lefts)
        out = lay_out(places, values, (before, after), fill)
        return _values_laid_out(layout, values, before, after, fill) if out is None else out

    @cached_property
    def _shape(self) -> pa.ListArray:
        """Rows of the right lengths, null where they are missing."""
        offsets = np.zeros(len(self.layout.lengths) + 1, np.int32)
        np.cumsum(self.layout.lengths, out=offsets[1:])
        nulls = None if self.missing is None else pa.array(self.missing)
        return pa.ListArray.from_arrays(pa.array(offsets), pa.nulls(int(offsets[-1]), pa.int8()), mask=nulls)

    def _rows(self, values: Any) -> pa.ListArray:
        return alongside(self._shape, values)


def _added(encoding: Encoding, name: str, kind: type[np.integer[Any]]) -> npt.NDArray[Any]:
    if name in ("zero", "none"):
        return np.full(len(encoding), 0 if name == "zero" else -1, kind)
    return np.array(getattr(encoding, name), kind)


def _values_laid_out(
    layout: Layout,
    values: npt.NDArray[Any] | int,
    before: npt.NDArray[Any],
    after: npt.NDArray[Any],
    fill: int,
) -> npt.NDArray[Any]:
    """`lay_out` where there is no kernel."""
    present = layout.lengths > 0
    tops, counts = (layout.begins + layout.lefts)[present], layout.counts[present]
    out = np.full(int(layout.lengths.sum()), fill, before.dtype)
    places = _ranges(tops + len(before), counts)
    out[places] = values if isinstance(values, int) else values[_ranges(layout.takes[present], counts)]
    for at, added in ((tops, before), (tops + len(before) + counts, after)):
        for i, value in enumerate(added):
            out[at + i] = value
    return out


def _ranges(starts: Ints, counts: Ints) -> Ints:
    """start, start + 1, ... for each start, as many as its count.

    >>> _ranges(np.array([5, 0]), np.array([2, 3]))
    array([5, 6, 0, 1, 2])
    """
    shift = starts - (np.cumsum(counts) - counts)
    places: Ints = np.arange(int(counts.sum())) + np.repeat(shift, counts)
    return places
