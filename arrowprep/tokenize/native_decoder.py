"""Decoding columns of ids by the kernel."""

from __future__ import annotations

from ctypes import byref
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import pyarrow as pa

from arrowprep.tokenize.bulk import joined
from arrowprep.tokenize.decoders import ByteLevel
from arrowprep.tokenize.native import threads
from arrowprep.tokenize.native_decoded import is_known, meant
from arrowprep.tokenize.native_library import (
    DecodedColumn,
    DecoderParts,
    Handle,
    Rows,
    address,
    call,
    flat_strings,
    foreign,
    validity,
)
from arrowprep.tokenize.pipeline import Pipeline

# so few ids are decoded before a table of the whole vocabulary is made
FEW_IDS = 4000
SPECIAL, BYTE = 1, 2
# decoders by the tables that copies of a model share, each for what is beside it
_decoders: WeakKeyDictionary[Any, tuple[Any, Handle | None]] = WeakKeyDictionary()


def can_decode(pipeline: Pipeline, ids: pa.Array) -> bool:
    """Whether the kernel gives the text of these rows, and it pays."""
    if not _is_list(ids.type) or not is_known(pipeline.decoder) or "_tables" not in vars(pipeline.model):
        return False
    if ids.type.value_type != pa.int32() or ids.values.null_count:
        return False
    return len(ids.values) > FEW_IDS or _kept(pipeline) is not None


def _is_list(type: pa.DataType) -> bool:
    return bool(pa.types.is_list(type) or pa.types.is_large_list(type))


def decode(library: Any, pipeline: Pipeline, ids: pa.Array, skip_special_tokens: bool) -> pa.StringArray:
    """The text of each list of ids. Only for what `can_decode`."""
    if not len(ids):
        return pa.array([], pa.string())
    decoder = _decoder(library, pipeline)
    values, wide = ids.values, pa.types.is_large_list(ids.type)
    data = values.buffers()[1]
    rows = Rows(
        (address(data) or 0) + 4 * values.offset if len(values) else None,
        len(values),
        ids.buffers()[1].address + ids.offset * (8 if wide else 4),
        wide,
        len(ids),
    )
    pointer = decoder.pointer
    handle = call(
        library,
        "arrowprep_decode",
        "arrowprep_decoded_free",
        pointer,
        byref(rows),
        skip_special_tokens,
        threads(),
    )
    result = DecodedColumn.from_address(handle.pointer)
    buffers = [
        validity(ids),
        foreign(result.offsets, 4 * (len(ids) + 1), handle),
        foreign(result.text, result.size, handle),
    ]
    return pa.Array.from_buffers(pa.string(), len(ids), buffers, ids.null_count)


def _kept(pipeline: Pipeline) -> Handle | None:
    """The decoder that was made before, unless tokens were added since, or another decoder is set."""
    wanted, handle = _decoders.get(vars(pipeline.model)["_tables"], (None, None))
    return handle if wanted == _wanted(pipeline) else None


def _wanted(pipeline: Pipeline) -> Any:
    """What a decoder is made for."""
    texts = {} if type(pipeline.decoder) is ByteLevel else pipeline.added_texts
    return pipeline.added.stamp, pipeline.decoder and pipeline.decoder.to_json(), texts


def _decoder(library: Any, pipeline: Pipeline) -> Handle:
    """The decoder of a pipeline; made when first needed."""
    if kept := _kept(pipeline):
        return kept
    tokens = {id: token for token, id in pipeline.model.get_vocab().items()}
    tokens.update(pipeline.added_texts)
    texts, special = list(tokens.values()), pipeline.added.special
    made = meant(pipeline.decoder, texts)
    contents, firsts, strip = (
        flat_strings(*joined(part)) for part in (made.texts, made.firsts, [made.strip.encode()])
    )
    ids = np.fromiter(tokens, np.uint32, len(tokens))
    flags = np.fromiter((SPECIAL * (token in special) for token in texts), np.uint8, len(tokens))
    flags[made.bytes] |= BYTE
    parts = DecoderParts(
        made.form,
        contents.strings,
        firsts.strings,
        ids.ctypes.data,
        flags.ctypes.data,
        strip.strings,
        made.most,
    )
    handle = call(library, "arrowprep_decoder_new", "arrowprep_decoder_free", byref(parts))
    _decoders[vars(pipeline.model)["_tables"]] = (_wanted(pipeline), handle)
    return handle
