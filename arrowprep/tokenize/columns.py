"""Columns: many encoded texts as Arrow; framed, truncated and padded without a step per token."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from operator import attrgetter
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from arrowprep.errors import NotText
from arrowprep.tokenize.encoding import Encoding, check_same_length
from arrowprep.tokenize.engine import Encoded
from arrowprep.tokenize.ragged import alongside, row_lengths
from arrowprep.tokenize.reference import ReferenceEngine
from arrowprep.tokenize.row_layout import Builder, Frame, frame_of, layout_of
from arrowprep.tokenize.rows import Framing, encode_row, encode_rows
from arrowprep.tokenize.truncation import Truncation, check_second, windows

Texts = Any  # an Arrow array or chunked array of text, or a sequence of str and None


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which columns are asked for beside ids, types and attention."""

    offsets: bool = False
    words: bool = False
    specials: bool = False
    overflow: bool = True


@dataclass(frozen=True)
class Columns:
    """n encoded rows; a row is null where its text is.

    ids: (n,) list<int32>
    type_ids, attention_mask, special_tokens_mask: (n,) list<int8>, one number per id
    starts, ends: (n,) list<int32>, characters of the text, one pair per id, (0, 0) for added ones
    words: (n,) list<int32>, null for added ones
    sample: (n,) which text a row is of, where truncation made several of one; else None
    """

    ids: pa.ListArray
    _mask: Callable[[str], pa.ListArray]
    _encoding: Callable[[int], Encoding]
    special_tokens_mask: pa.ListArray | None = None
    starts: pa.ListArray | None = None
    ends: pa.ListArray | None = None
    words: pa.ListArray | None = None
    sample: pa.Array | None = None

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def type_ids(self) -> pa.ListArray:
        return self._mask("type_ids")  # made when asked for, like the next: most callers use one or none

    @cached_property
    def attention_mask(self) -> pa.ListArray:
        return self._mask("attention_mask")

    def encoding(self, i: int) -> Encoding:
        """Row i with all that is known about its tokens; worked out when asked for."""
        if not -len(self) <= i < len(self):
            raise IndexError(f"row {i} of {len(self)}")
        return self._encoding(i % len(self))


def encode_columns(
    engine: ReferenceEngine, texts: Texts, pairs: Texts | None, framing: Framing, wanted: Wanted
) -> Columns:
    """Columns of texts, or of pairs."""
    column = None if framing.words_given or pairs is not None else text_column(texts)
    frame = frame_of(engine.pipeline, framing.add_special_tokens)
    # what overflows keeps type 0, whatever the template says
    uneven = frame is not None and frame.type_id and framing.truncation and wanted.overflow
    if column is None or frame is None or uneven or (wanted.offsets and frame.trims_offsets):
        return _from_rows(engine, _as_list(texts), _as_list(pairs), framing, wanted)
    whole = not (wanted.offsets or wanted.words or (framing.truncation and wanted.overflow))
    if whole and len(column) == 1 and isinstance(text := column[0].as_py(), str):
        return _from_one(engine, text, frame, framing, wanted)
    return _from_flat(engine, column, frame, framing, wanted)


def text_column(texts: Texts) -> pa.Array:
    """An Arrow array of text. Raises NotText, with the row, for what is no text."""
    if isinstance(texts, pa.ChunkedArray):
        return texts.combine_chunks() if texts.num_chunks != 1 else texts.chunk(0)
    if isinstance(texts, pa.Array):
        return texts
    try:
        return pa.array(texts, pa.string())
    except pa.ArrowCapacityError:  # more than 2 GB of text
        return pa.array(texts, pa.large_string())
    except (pa.ArrowException, UnicodeEncodeError, TypeError) as error:
        for row, text in enumerate(texts):
            if text is not None and not isinstance(text, str):
                raise NotText(f"row {row} is {type(text).__name__}, not text", row=row) from error
        raise NotText(f"a text has half of a surrogate pair: {error}") from error


def _as_list(texts: Texts | None) -> list[Any] | None:
    if texts is None:
        return None
    return texts.to_pylist() if isinstance(texts, (pa.Array, pa.ChunkedArray)) else list(texts)


# ---------------------------------------------------------------------- single texts


def _from_flat(
    engine: ReferenceEngine, column: pa.Array, frame: Frame, framing: Framing, wanted: Wanted
) -> Columns:
    encoded = engine.encode(column, offsets=wanted.offsets, words=wanted.words)
    if not (len(frame) or framing.padding or wanted.specials) and _fits(encoded.ids, framing.truncation):
        return _as_encoded(engine, column, encoded, frame, framing)
    lengths = row_lengths(encoded.ids)
    layout = layout_of(lengths, frame, framing, wanted.overflow)
    missing = np.asarray(encoded.ids.is_null())[layout.rows] if encoded.ids.null_count else None
    if missing is not None:
        layout = replace(layout, lengths=np.where(missing, 0, layout.lengths))
    pad = framing.padding
    build = Builder(layout, frame, missing)
    several = len(layout.rows) > len(lengths)

    def encoding(i: int) -> Encoding:
        row = int(layout.rows[i])
        if missing is not None and missing[i]:
            return Encoding()
        nth = i - int(np.searchsorted(layout.rows, row))
        whole = encode_row(engine, column[row].as_py(), None, replace(framing, padding=None))
        part = whole.overflowing[nth - 1] if nth else whole
        if pad:
            part.pad(int(layout.lengths[i]), pad.direction, pad.pad_id, pad.pad_type_id, pad.pad_token)
        return part

    def spans(rows: pa.ListArray | None) -> pa.ListArray | None:
        return None if rows is None else build.column(_flat(rows), "zero", 0)

    def mask(name: str) -> pa.ListArray:
        if name == "attention_mask":
            return build.column(1, name, 0)
        return build.column(frame.type_id, name, pad.pad_type_id if pad else 0)

    return Columns(
        ids=build.column(_flat(encoded.ids), "ids", pad.pad_id if pad else 0),
        _mask=mask,
        special_tokens_mask=build.column(0, "special_tokens_mask", 1) if wanted.specials else None,
        starts=spans(encoded.starts),
        ends=spans(encoded.ends),
        words=None if encoded.words is None else build.words(_flat(encoded.words)),
        sample=pa.array(layout.rows.astype(np.int32)) if several else None,
        _encoding=encoding,
    )


def _fits(ids: pa.ListArray, truncation: Truncation | None) -> bool:
    """Whether rows without a frame stay as they are."""
    if truncation is None:
        return True
    longest, room = int(row_lengths(ids).max(initial=0)), truncation.room(0)
    check_second(longest, room, truncation)
    return longest <= room


def _as_encoded(
    engine: ReferenceEngine, column: pa.Array, encoded: Encoded, frame: Frame, framing: Framing
) -> Columns:
    """The columns of the engine, to which nothing is added: a fixed cost of 20 µs, not 200."""
    ids = encoded.ids

    def mask(name: str) -> pa.ListArray:
        value = frame.type_id if name == "type_ids" else 1
        return alongside(ids, np.full(len(ids.values), value, np.int8))

    def encoding(i: int) -> Encoding:
        text = column[i].as_py()
        return Encoding() if text is None else encode_row(engine, text, None, framing)

    return Columns(ids, mask, encoding, starts=encoded.starts, ends=encoded.ends, words=encoded.words)


def _from_one(engine: ReferenceEngine, text: str, frame: Frame, framing: Framing, wanted: Wanted) -> Columns:
    """The same for one text, by lists: NumPy takes 0.15 ms to lay out a row; a short text takes 0.01."""
    ids = engine.ids(text)
    if framing.truncation:
        room = framing.truncation.room(len(frame))
        check_second(len(ids), room, framing.truncation)
        start, stop = windows(len(ids), room, framing.truncation.stride, framing.truncation.direction)[0]
        ids = ids[start:stop]
    length = len(ids) + len(frame)
    pad = framing.padding
    missing = max(pad.target(length) - length, 0) if pad else 0
    left = missing if pad and pad.direction == "left" else 0

    def row(
        before: list[int], values: list[int], after: list[int], fill: int, type: pa.DataType
    ) -> pa.ListArray:
        filled = [fill] * left + before + values + after + [fill] * (missing - left)
        return pa.array([filled], pa.list_(type))

    def column(name: str, value: int, fill: int) -> pa.ListArray:
        before, after = getattr(frame.before, name), getattr(frame.after, name)
        return row(before, [value] * len(ids), after, fill, pa.int8())

    return Columns(
        ids=row(frame.before.ids, ids, frame.after.ids, pad.pad_id if pad else 0, pa.int32()),
        _mask=lambda name: (
            column(name, 1, 0)
            if name == "attention_mask"
            else column(name, frame.type_id, pad.pad_type_id if pad else 0)
        ),
        special_tokens_mask=column("special_tokens_mask", 0, 1) if wanted.specials else None,
        _encoding=lambda _: encode_row(engine, text, None, framing),
    )


def _flat(rows: pa.ListArray) -> npt.NDArray[np.int32]:
    values: npt.NDArray[np.int32] = rows.flatten().to_numpy()
    return values


# ---------------------------------------------------------------------- pairs, words


def _from_rows(
    engine: ReferenceEngine,
    texts: list[Any] | None,
    pairs: list[Any] | None,
    framing: Framing,
    wanted: Wanted,
) -> Columns:
    assert texts is not None
    if pairs is not None:
        check_same_length("pairs", texts, pairs)
    both = list(zip(texts, pairs or [None] * len(texts), strict=True))
    present = [row for row, text in enumerate(texts) if text is not None]
    encodings = encode_rows(engine, [both[row] for row in present], framing)
    rows: list[tuple[int, Encoding | None]] = []
    found = dict(zip(present, encodings, strict=True))
    for row in range(len(both)):
        encoding = found.get(row)
        parts = [encoding, *_overflowing(encoding)] if wanted.overflow else [encoding]
        rows.extend((row, part) for part in parts)

    def column(get: Callable[[Encoding], list[Any]], type: pa.DataType) -> pa.ListArray:
        values = [None if encoding is None else get(encoding) for _, encoding in rows]
        return pa.array(values, pa.list_(type))

    def encoding_of(i: int) -> Encoding:
        encoding = rows[i][1]
        return Encoding() if encoding is None else encoding

    return Columns(
        ids=column(lambda e: e.ids, pa.int32()),
        _mask=lambda name: column(attrgetter(name), pa.int8()),
        special_tokens_mask=(column(lambda e: e.special_tokens_mask, pa.int8()) if wanted.specials else None),
        starts=column(lambda e: [start for start, _ in e.offsets], pa.int32()) if wanted.offsets else None,
        ends=column(lambda e: [end for _, end in e.offsets], pa.int32()) if wanted.offsets else None,
        words=column(lambda e: e.words, pa.int32()) if wanted.words else None,
        sample=pa.array([row for row, _ in rows], pa.int32()) if len(rows) > len(both) else None,
        _encoding=encoding_of,
    )


def _overflowing(encoding: Encoding | None) -> list[Encoding]:
    return [] if encoding is None else encoding.overflowing
