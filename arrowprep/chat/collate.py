"""Batches for a trainer: rows of tokens as arrays, padded to one length or laid end to end.

Rows are dicts (as a training loop hands them over), columns of a batch, or an Arrow table; arrays and Arrow
lists are read where they lie, without Python numbers between.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from arrowprep.errors import BadArgument, LengthMismatch

__all__ = ["DataCollatorWithFlattening", "DataCollatorWithPadding"]


class PadsRows(Protocol):
    """What a collator asks of a tokenizer."""

    padding_side: str

    @property
    def pad_token_id(self) -> int | None: ...


# what stands for no token, in columns that are not ids; 0 in all others
_FILLS = {"labels": -100, "special_tokens_mask": 1}
_LABELS = ("label", "label_ids")
_NONE = np.empty(0, np.int64)


@dataclass
class DataCollatorWithPadding:
    """Rows padded to the longest, or to max_length, on the tokenizer's padding side.

    tokenizer: for pad_token_id and padding_side
    padding: True or "longest"; "max_length"; False leaves rows as they are, which must then be equal
    pad_to_multiple_of: the length is rounded up to a multiple of it
    return_tensors: "pt", "np" or "jax"

    input_ids are padded with the pad token, labels with -100, masks and positions with 0; attention_mask is
    made where it is not given. Whole numbers come out as int64, label and label_ids as labels.
    """

    tokenizer: PadsRows
    padding: bool | str = True
    max_length: int | None = None
    pad_to_multiple_of: int | None = None
    return_tensors: str = "pt"

    def __call__(self, features: Any, return_tensors: str | None = None) -> dict[str, Any]:
        columns = {name: _rows(column) for name, column in _columns(features).items()}
        if "input_ids" not in columns:
            raise BadArgument(f"a batch needs input_ids; it has {', '.join(columns) or 'nothing'}")
        ids = columns["input_ids"]
        if not isinstance(ids, _Ragged):
            raise BadArgument("input_ids are one list of token ids for each row")
        if "attention_mask" not in columns:
            columns["attention_mask"] = _Ragged(np.ones(len(ids.flat), np.int64), ids.lengths)
        width = self._width(ids.lengths)
        arrays = {}
        for name, column in columns.items():
            if isinstance(column, _Ragged):
                column = column.padded(width, self._fill(name), self.tokenizer.padding_side, name)
            arrays["labels" if name in _LABELS else name] = column
        return _converted(arrays, return_tensors or self.return_tensors)

    def _width(self, lengths: Any) -> int:
        width = int(lengths.max(initial=0))
        if self.padding == "max_length":
            if self.max_length is None:
                raise BadArgument('padding="max_length" needs a max_length')
            width = max(width, self.max_length)
        elif self.padding in (False, "do_not_pad"):
            if len(set(lengths.tolist())) > 1:
                raise BadArgument("rows of unequal length make no array; set padding=True")
            return width
        elif self.padding not in (True, "longest"):
            raise BadArgument(f'padding is True, False, "longest" or "max_length", not {self.padding!r}')
        multiple = self.pad_to_multiple_of or 1
        return -(-width // multiple) * multiple

    def _fill(self, name: str) -> int:
        if name != "input_ids":
            return _FILLS.get(name, 0)
        if self.tokenizer.pad_token_id is None:
            raise BadArgument("the tokenizer has no pad token; set tokenizer.pad_token")
        return self.tokenizer.pad_token_id


@dataclass
class DataCollatorWithFlattening:
    """All rows of a batch as one, without padding: for attention that is told where documents begin.

    return_position_ids: position_ids, counted anew in each document
    separator_id: the label of each document's first token
    return_flash_attn_kwargs: cu_seq_lens_q, cu_seq_lens_k and max_length_q, max_length_k
    return_seq_idx: seq_idx, the number of each token's document
    return_tensors: "pt", "np" or "jax"

    A row is one document, or those that its seq_lengths name. labels are input_ids where they are not given.
    """

    return_position_ids: bool = True
    separator_id: int = -100
    return_flash_attn_kwargs: bool = False
    return_seq_idx: bool = False
    return_tensors: str = "pt"

    def __call__(self, features: Any, return_tensors: str | None = None) -> dict[str, Any]:
        columns = {name: _rows(column) for name, column in _columns(features).items()}
        ids = columns.get("input_ids")
        if not isinstance(ids, _Ragged) or not len(ids.flat):
            raise BadArgument("a batch needs input_ids, and at least one token in them")
        documents = self._documents(ids, columns.get("seq_lengths"))
        begins = np.cumsum(documents) - documents
        given = columns.get("labels")
        labels = np.array(given.flat if isinstance(given, _Ragged) else ids.flat, np.int64)
        if len(labels) != len(ids.flat):
            raise LengthMismatch(f"{len(labels)} labels for {len(ids.flat)} tokens")
        labels[begins] = self.separator_id
        arrays: dict[str, Any] = {"input_ids": ids.flat.astype(np.int64)[None], "labels": labels[None]}
        if self.return_position_ids:
            arrays["position_ids"] = (np.arange(len(labels)) - np.repeat(begins, documents))[None]
        if self.return_seq_idx:
            arrays["seq_idx"] = np.repeat(np.arange(len(documents), dtype=np.int32), documents)[None]
        if self.return_flash_attn_kwargs:
            edges = np.append(begins, len(labels)).astype(np.int32)
            arrays |= {"cu_seq_lens_q": edges, "cu_seq_lens_k": edges}
        batch = _converted(arrays, return_tensors or self.return_tensors)
        if self.return_flash_attn_kwargs:
            batch |= dict.fromkeys(("max_length_q", "max_length_k"), int(documents.max()))
        return batch

    def _documents(self, ids: _Ragged, seq_lengths: Any) -> Any:
        """(d,) lengths of the documents, those without tokens left out."""
        lengths = seq_lengths.flat if isinstance(seq_lengths, _Ragged) else ids.lengths
        if lengths.sum() != len(ids.flat):
            raise LengthMismatch(f"seq_lengths name {lengths.sum()} tokens, the rows hold {len(ids.flat)}")
        return lengths[lengths > 0].astype(np.int64)


@dataclass(frozen=True)
class _Ragged:
    """Rows of unequal length: flat values, and (n,) the length of each row."""

    flat: Any
    lengths: Any

    def padded(self, width: int, fill: int, side: str, name: str) -> Any:
        """(n, width), the rows at the left (side "right") or the right end."""
        if self.lengths.max(initial=0) > width:
            raise LengthMismatch(
                f"a row of {name} is longer than its input_ids, or than max_length", column=name
            )
        filled = np.full((len(self.lengths), width), fill, self.flat.dtype)
        end = 0
        for row, length in zip(
            filled, self.lengths.tolist(), strict=True
        ):  # rows are few and long: faster than one mask
            begin, end = end, end + length
            row[slice(length) if side == "right" else slice(width - length, width)] = self.flat[begin:end]
        return filled


def _columns(features: Any) -> Mapping[str, Any]:
    """The columns of a batch, of whatever it was given as. Rows must have the same keys."""
    if isinstance(features, (pa.Table, pa.RecordBatch)):
        return {name: features.column(name) for name in features.schema.names}
    if isinstance(features, Mapping):
        return features
    if not features:
        raise BadArgument("a batch needs at least one row")
    names = features[0].keys()
    for number, row in enumerate(features):
        if row.keys() != names:
            odd = ", ".join(sorted(map(str, row.keys() ^ names)))
            raise BadArgument(f"row {number} of the batch has other columns than row 0: {odd}", row=number)
    return {name: [row[name] for row in features] for name in names}


def _rows(column: Any) -> Any:
    """A column of lists as _Ragged, one of plain values as an array; whole numbers as int64."""
    if isinstance(column, pa.ChunkedArray):
        column = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    if isinstance(column, pa.Array):
        return _arrow_rows(column)
    if isinstance(column, np.ndarray) and column.dtype != object:
        if column.ndim < 2:
            return _int64(column)
        return _Ragged(_int64(column.reshape(-1)), np.full(len(column), column.shape[1]))
    if not len(column) or not hasattr(column[0], "__len__"):
        return _int64(np.asarray(column))
    lengths = np.fromiter(map(len, column), np.int64, len(column))
    if all(isinstance(row, np.ndarray) for row in column):
        return _Ragged(_int64(np.concatenate(column)), lengths)
    return _Ragged(_flat_of_lists(column), lengths)


def _flat_of_lists(rows: Any) -> Any:
    try:
        # a third of the time of np.array, and unlike np.fromiter it refuses what is not whole
        return np.concatenate(
            [np.frombuffer(array("q", row), np.int64) if len(row) else _NONE for row in rows]
        )
    except TypeError:
        return _int64(np.array(list(chain.from_iterable(rows))))


def _arrow_rows(column: Any) -> Any:
    if isinstance(column, pa.FixedSizeListArray):
        column = column.cast(pa.list_(column.type.value_type))
    if not isinstance(column, (pa.ListArray, pa.LargeListArray)):
        return _int64(column.to_numpy(zero_copy_only=False))
    if column.null_count:
        raise BadArgument("a row of the batch is null")
    edges = np.asarray(column.offsets)
    flat = column.values.slice(edges[0], edges[-1] - edges[0])
    return _Ragged(_int64(flat.to_numpy(zero_copy_only=False)), np.diff(edges).astype(np.int64))


def _int64(values: Any) -> Any:
    return values.astype(np.int64, copy=False) if values.dtype.kind in "iub" or not len(values) else values


def _converted(arrays: dict[str, Any], tensors: str) -> dict[str, Any]:
    if tensors == "np":
        return arrays
    if tensors == "pt":
        import torch

        return {name: torch.from_numpy(np.ascontiguousarray(values)) for name, values in arrays.items()}
    if tensors == "jax":
        import jax.numpy as jnp

        return {name: jnp.asarray(values) for name, values in arrays.items()}
    raise BadArgument(f'return_tensors is "pt", "np" or "jax", not {tensors!r}', return_tensors=tensors)
