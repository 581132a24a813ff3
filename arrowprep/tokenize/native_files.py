"""What is large in tokenizer files, by the kernel: vocabularies read flat, and merges as places in them."""

from __future__ import annotations

from ctypes import byref, string_at
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from arrowprep.tokenize.bulk import Flat
from arrowprep.tokenize.native_library import FileParts, Handle, KernelFailure, call, flat_strings, load

if TYPE_CHECKING:
    from arrowprep.tokenize.models.flat import FlatVocabulary


class Parts(NamedTuple):
    """A tokenizer.json without what is large, and that.

    rest: with an empty vocabulary and no merges, and null in place of a map of characters
    map: of the normalizer; None where there is none, or it was left in its place
    """

    rest: bytes
    vocabulary: FlatVocabulary
    map: bytes | None


def read_parts(json: bytes) -> Parts | None:
    """The parts of a tokenizer.json.

    None where there is no kernel, or where anything about these is unusual, as a mistake is.
    """
    found = _read("arrowprep_read", json)
    if found is None:
        return None
    parts, handle = found
    listed = json[parts.vocab[0]] == ord("[")
    vocabulary = _vocabulary(parts, handle, scored=listed, numbered=not listed)
    cuts = sorted([(*parts.vocab, b"{}"), (*parts.merges_at, b"[]"), (*parts.map_at, b"null")])
    rest, last = [], 0
    for start, stop, instead in cuts:
        if stop:
            rest += [json[last:start], instead]
            last = stop
    map = string_at(parts.map, parts.map_size) if parts.map_at[1] else None
    return Parts(b"".join([*rest, json[last:]]), vocabulary, map)


def read_pieces(model: bytes) -> tuple[FlatVocabulary, int] | None:
    """The pieces that a SentencePiece model begins with, and the byte behind them; None as above."""
    found = _read("arrowprep_read_pieces", model)
    if found is None:
        return None
    parts, handle = found
    kinds = _copied(parts.ids, parts.count, np.int64)
    return replace(_vocabulary(parts, handle, scored=True, numbered=False), kinds=kinds), parts.vocab[1]


def read_ranks(lines: bytes) -> FlatVocabulary | None:
    """The tokens of a .tiktoken file in byte characters, with rising ranks; None as above."""
    found = _read("arrowprep_read_ranks", lines)
    return found and _vocabulary(*found, scored=False, numbered=True)


def read_tekken(json: bytes) -> tuple[bytes, FlatVocabulary] | None:
    """A tekken.json with an empty vocabulary, and what was there, as of a .tiktoken file; None as above."""
    found = _read("arrowprep_read_tekken", json)
    if found is None:
        return None
    start, stop = found[0].vocab
    return b"".join([json[:start], b"[]", json[stop:]]), _vocabulary(*found, scored=False, numbered=True)


def _read(function: str, content: bytes) -> tuple[FileParts, Handle] | None:
    library = load()
    if isinstance(library, str):
        return None
    try:
        handle = call(library, function, "arrowprep_parts_free", content, len(content))
    except KernelFailure:
        return None
    return FileParts.from_address(handle.pointer), handle


def _vocabulary(parts: FileParts, handle: Handle, *, scored: bool, numbered: bool) -> FlatVocabulary:
    from arrowprep.tokenize.models.flat import FlatVocabulary

    n, library = parts.count, load()
    assert not isinstance(library, str)
    find = library.arrowprep_find

    def place_of(text: bytes) -> int:
        place: int = find(handle.pointer, text, len(text))
        return place

    return FlatVocabulary(
        Flat(string_at(parts.data, parts.size), _copied(parts.offsets, n + 1, np.int64)),
        _copied(parts.ids, n, np.int64) if numbered else np.arange(n),
        _copied(parts.scores, n, np.float64) if scored else None,
        _ways(parts),
        place_of,
    )


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
