"""Carry out a call: encode the texts, and name the columns that were asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from arrowprep.errors import warn
from arrowprep.tokenize import ragged
from arrowprep.tokenize.batch_encoding import BatchEncoding
from arrowprep.tokenize.encoding import Encoding
from arrowprep.tokenize.inputs import Inputs
from arrowprep.tokenize.request import Request

if TYPE_CHECKING:
    from arrowprep.tokenize.columns import Columns
    from arrowprep.tokenize.tokenizer import Tokenizer


class RowEncodings(Sequence[Encoding]):
    """The Encoding of each row, worked out when somebody looks, and once.

    By the pipeline as it was when the columns were made: ids alone are the fast path
    of a call, and most callers never look. Pickles as the list of them.
    """

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self._made: dict[int, Encoding] = {}

    def __len__(self) -> int:
        return len(self._columns)

    @overload
    def __getitem__(self, row: int) -> Encoding: ...
    @overload
    def __getitem__(self, row: slice) -> list[Encoding]: ...
    def __getitem__(self, row: int | slice) -> Encoding | list[Encoding]:
        rows = range(len(self))[row]
        if isinstance(rows, range):
            return [self[one] for one in rows]
        if rows not in self._made:
            self._made[rows] = self._columns.encoding(rows)
        return self._made[rows]

    def __reduce__(self) -> tuple[Any, ...]:
        return list, (list(self),)


def encode(backend: Tokenizer, inputs: Inputs, request: Request) -> BatchEncoding:
    """What a call gives, as tensors where they were asked for."""
    columns = columns_of(backend, inputs, request)
    if request.bos is not None and backend.num_special_tokens_to_add(False):
        _warn_if_bos_is_twice(columns, request.bos)
    batch = to_batch(inputs, request, columns)
    return batch.convert_to_tensors(request.tensors)


def columns_of(backend: Tokenizer, inputs: Inputs, request: Request) -> Columns:
    """The encoded texts; windows of what was cut off are further rows if they were asked for."""
    if request.plain_between:
        return _columns_of_marked(backend, inputs, request, request.plain_between)
    return backend.encode_columns(
        inputs.texts,
        inputs.pairs,
        add_special_tokens=request.add_special_tokens,
        truncation=request.truncation,
        padding=request.padding,
        offsets=request.offsets,
        special_tokens_mask=request.special_tokens_mask,
        is_pretokenized=request.words,
        encode_special_tokens=request.split_special_tokens,
        overflow=request.overflowing,
    )


def _columns_of_marked(
    backend: Tokenizer, inputs: Inputs, request: Request, marks: tuple[str, str]
) -> Columns:
    """For texts with marks around stretches that are plain text."""
    from arrowprep.tokenize.columns import Wanted, encode_columns
    from arrowprep.tokenize.marked import MarkedEngine
    from arrowprep.tokenize.rows import Framing

    engine: Any = MarkedEngine(backend.engine.engine, *marks)
    framing = Framing(request.add_special_tokens, request.truncation, request.padding)
    wanted = Wanted(bool(request.offsets), False, request.special_tokens_mask, request.overflowing)
    return encode_columns(engine, inputs.texts, None, framing, wanted)


def sample_of(columns: Columns) -> npt.NDArray[np.int64]:
    """(n,) which of the texts each row is from."""
    if columns.sample is None:
        return np.arange(len(columns), dtype=np.int64)
    sample: npt.NDArray[np.int64] = columns.sample.to_numpy().astype(np.int64)
    return sample


def to_batch(inputs: Inputs, request: Request, columns: Columns) -> BatchEncoding:
    """The columns that were asked for, under the names that models know them by."""
    data: dict[str, Any] = {"input_ids": columns.ids}
    if request.token_type_ids:
        data["token_type_ids"] = columns.type_ids
    if request.attention_mask:
        data["attention_mask"] = columns.attention_mask
    if request.special_tokens_mask:
        data["special_tokens_mask"] = columns.special_tokens_mask
    if request.offsets:
        data["offset_mapping"] = ragged.zip_spans(columns.starts, columns.ends)
    if request.length:
        data["length"] = pa.array(ragged.row_lengths(columns.ids))
    if request.overflowing:
        data["overflow_to_sample_mapping"] = pa.array(sample_of(columns))
    _warn_if_too_long(columns.ids, request.warn_beyond)
    return BatchEncoding(
        data,
        RowEncodings(columns),
        n_sequences=1 if inputs.pairs is None else 2,
        single=inputs.single and not request.overflowing and request.tensors is None,
    )


def _warn_if_too_long(ids: pa.ListArray, limit: int | None) -> None:
    if limit is None or len(ids.values) <= limit:  # all rows together
        return
    if ragged.row_lengths(ids).max(initial=0) > limit:
        # says not how many, so that Python shows it once a line of the caller's
        warn(f"a text has more tokens than the model's {limit}; truncation=True cuts it")


def _warn_if_bos_is_twice(columns: Columns, bos: int) -> None:
    """A chat template writes bos itself: encoding its text again with special tokens makes two."""
    ids, mask = (column.flatten().to_numpy() for column in (columns.ids, columns.attention_mask))
    lengths = ragged.row_lengths(columns.ids)
    attended = np.flatnonzero(mask)  # not the padding, whose id may be bos too
    rows = np.repeat(np.arange(len(lengths)), lengths)[attended]
    first = attended[np.flatnonzero(np.diff(rows, prepend=-1))]
    first = first[first + 1 < len(ids)]
    if np.any((ids[first] == bos) & (ids[first + 1] == bos) & (mask[first + 1] == 1)):
        warn(
            "a text begins with the bos token and another one was put before it;"
            " pass add_special_tokens=False for text that a chat template wrote"
        )
