"""What is large in tokenizer files, by the kernel: a vocabulary read flat, and merges as places in it."""

from __future__ import annotations

from ctypes import byref, string_at
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from arrowprep.tokenize.bulk import Flat
from arrowprep.tokenize.native_library import FileParts, Handle, KernelFailure, call, flat_strings, load

if TYPE_CHECKING:
    from arrowprep.tokenize.models.flat import FlatVocabulary


def read_parts(json: bytes) -> tuple[bytes, FlatVocabulary] | None:
    """A tokenizer.json with an empty vocabulary and no merges, and what was in their place.

    None where there is no kernel, or where anything about these is unusual, as a mistake is.
    """
    from arrowprep.tokenize.models.flat import FlatVocabulary

    library = load()
    if isinstance(library, str):
        return None
    try:
        handle = call(library, "arrowprep_read", "arrowprep_parts_free", json, len(json))
    except KernelFailure:
        return None
    parts = FileParts.from_address(handle.pointer)
    n = parts.count
    texts = Flat(string_at(parts.data, parts.size), _copied(parts.offsets, n + 1, np.int64))
    listed = json[parts.vocab[0]] == ord("[")
    vocabulary = FlatVocabulary(
        texts,
        np.arange(n) if listed else _copied(parts.ids, n, np.int64),
        _copied(parts.scores, n, np.float64) if listed else None,
        _ways(parts),
        lambda text: int(library.arrowprep_find(handle.pointer, text, len(text))),
    )
    (start, stop), (then, end) = parts.vocab, parts.merges_at
    if end:
        return b"".join([json[:start], b"{}", json[stop:then], b"[]", json[end:]]), vocabulary
    return b"".join([json[:start], b"{}", json[stop:]]), vocabulary


def every_way(tokens: Flat) -> npt.NDArray[np.int32] | None:
    """(3, m) the places of left, right and whole for each way to cut a token; None without a kernel."""
    library = load()
    if isinstance(library, str):
        return None
    try:
        texts = flat_strings(*tokens)
        handle = call(library, "arrowprep_every_way", "arrowprep_parts_free", byref(texts.strings))
    except KernelFailure:
        return None
    return _ways(FileParts.from_address(handle.pointer), handle)


def _ways(parts: FileParts, _owner: Handle | None = None) -> npt.NDArray[np.int32]:
    return _copied(parts.ways, 3 * parts.merges, np.int32).reshape(-1, 3).T


def _copied(pointer: int, count: int, type: Any) -> npt.NDArray[Any]:
    return np.frombuffer(string_at(pointer, count * np.dtype(type).itemsize), type)
