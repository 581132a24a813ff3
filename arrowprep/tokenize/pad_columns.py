"""Pad what is already encoded: a batch or a list of encodings, all rows of a column at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from arrowprep.errors import BadArgument, LengthMismatch
from arrowprep.tokenize import ragged
from arrowprep.tokenize.batch_encoding import WRITTEN_AS, BatchEncoding
from arrowprep.tokenize.encoding import Padding
from arrowprep.tokenize.request import Defaults, pad_settings, padding_strategy, resolve
from arrowprep.tokenize.tensors import is_tensor


def pad(
    tokenizer: Defaults,
    encoded: Any,
    *,
    padding: bool | str,
    max_length: int | None,
    pad_to_multiple_of: int | None,
    padding_side: str | None,
    return_attention_mask: bool | None,
    return_tensors: str | None,
    pad_also: Mapping[str, int],
) -> BatchEncoding:
    """See `PreTrainedTokenizer.pad`."""
    columns = _columns_of(encoded)
    if "input_ids" not in columns:
        raise BadArgument(f"pad needs input_ids; it was given {', '.join(columns) or 'nothing'}")
    ids = columns["input_ids"]
    if len(ids) == 0:
        empty = {**columns, "attention_mask": []} if return_attention_mask else columns
        return BatchEncoding(empty, tensor_type=return_tensors)
    if return_tensors is None:
        return_tensors = _kind_of(ids)
    single = _is_single(ids)
    settings = _settings(tokenizer, padding, max_length, pad_to_multiple_of, padding_side)
    fills = _fills(settings, pad_also) if settings else {}
    rows = {key: _rows(key, value, single) for key, value in columns.items() if key in {"input_ids", *fills}}
    lengths = ragged.row_lengths(rows["input_ids"])
    if return_attention_mask is None:
        return_attention_mask = "attention_mask" in tokenizer.model_input_names
    if return_attention_mask and "attention_mask" not in columns:
        rows["attention_mask"] = ragged.from_flat(np.ones(int(lengths.sum()), dtype=np.int8), lengths)
    if settings:
        length = settings.target(int(lengths.max()))
        rows = {
            key: ragged.pad_rows(row, length, fills[key], settings.direction) for key, row in rows.items()
        }
    out = {key: rows.get(key, value) for key, value in columns.items()} | rows
    _check_rows(out, len(lengths), single)
    return BatchEncoding(out, tensor_type=return_tensors, single=single)


def _columns_of(encoded: Any) -> dict[str, Any]:
    """Columns of a mapping, or of a list of mappings with the keys of its first."""
    if isinstance(encoded, BatchEncoding) and not encoded.is_single:
        return {key: encoded.column(key) for key in encoded}
    if isinstance(encoded, Mapping):
        return dict(encoded)
    if isinstance(encoded, Sequence) and encoded and isinstance(encoded[0], Mapping):
        try:
            return {key: [row[key] for row in encoded] for key in encoded[0]}
        except KeyError as error:
            raise BadArgument(f"the first encoding has {error.args[0]!r} and a later one has not") from error
    raise BadArgument(f"pad takes an encoding or a list of encodings, not {type(encoded).__name__}")


def _is_single(ids: Any) -> bool:
    """One row of ids rather than a list of rows."""
    if isinstance(ids, pa.Array):
        return False
    if is_tensor(ids):
        return bool(np.ndim(ids) == 1)
    return not isinstance(ids[0], (list, tuple)) and not (is_tensor(ids[0]) and np.ndim(ids[0]) == 1)


def _kind_of(ids: Any) -> str | None:
    """The tensors that came in, if they are tensors."""
    value = ids if is_tensor(ids) or isinstance(ids, pa.Array) else ids[0]
    if not is_tensor(value):
        return None
    return {"torch": "pt", "tensorflow": "tf", "jax": "jax", "jaxlib": "jax"}.get(
        type(value).__module__.partition(".")[0], "np"
    )


def _settings(
    tokenizer: Defaults, padding: bool | str, max_length: int | None, multiple: int | None, side: str | None
) -> Padding | None:
    if padding_strategy(padding) == "max_length":
        return resolve(
            tokenizer,
            padding="max_length",
            max_length=max_length,
            pad_to_multiple_of=multiple,
            padding_side=side,
        )[1]
    if padding_strategy(padding) == "longest":
        return pad_settings(tokenizer, None, multiple, side)
    return None


def _fills(settings: Padding, pad_also: Mapping[str, int]) -> dict[str, int]:
    return {
        "input_ids": settings.pad_id,
        "attention_mask": 0,
        "token_type_ids": settings.pad_type_id,
        "special_tokens_mask": 1,
        "assistant_masks": 0,
        **pad_also,
    }


def _rows(key: str, value: Any, single: bool) -> pa.ListArray:
    """A column as rows of numbers, whatever it came as."""
    if isinstance(value, pa.Array):
        return value
    if is_tensor(value):
        array = np.asarray(value)
        return ragged.from_numpy(array[None] if single else array)
    rows = [value] if single else value
    try:
        if rows and is_tensor(rows[0]):
            arrays = [np.asarray(row) for row in rows]
            return ragged.from_flat(np.concatenate(arrays), np.array([len(array) for array in arrays]))
        try:
            return pa.array(rows, WRITTEN_AS.get(key, pa.list_(pa.int64())))
        except pa.ArrowInvalid:
            return pa.array(rows, pa.list_(pa.int64()))
    except (pa.ArrowInvalid, pa.ArrowTypeError, TypeError, ValueError) as error:
        raise BadArgument(f"column {key!r} cannot be padded: {error}", column=key) from error


def _check_rows(columns: Mapping[str, Any], rows: int, single: bool) -> None:
    if single:
        return
    for key, value in columns.items():
        if len(value) != rows:
            raise LengthMismatch(f"column {key!r} has {len(value)} rows and input_ids {rows}", column=key)
