"""Models as the kernel takes them, or why it does not."""

from __future__ import annotations

from collections.abc import Sequence
from ctypes import byref
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from arrowprep.tokenize.models import BPE, Model, Unigram, WordLevel, WordPiece
from arrowprep.tokenize.models.base import Vocabulary
from arrowprep.tokenize.models.bpe_tables import BpeTables
from arrowprep.tokenize.native_library import (
    FlatStrings,
    Handle,
    ModelParts,
    call,
    flat_list,
    flat_strings,
)

BYTES, CHARACTERS, UNIGRAM, PIECES, LEVELS = range(5)  # kinds of models
IGNORE_MERGES, FUSE_UNKNOWN, BYTE_FALLBACK = 1, 2, 4  # options
AS_BERT, CLEAN, IDEOGRAPHS, STRIPPED, LOWER = 8, 16, 32, 64, 128  # options of models of words
OVER_BYTES = 256  # pieces are bytes, and tokens of the characters that spell them
DROPPED, MISSING = -1, -2  # in place of the id of an unknown token


class Unsupported(Exception):
    """Why the kernel cannot run a pipeline."""


class Shape(NamedTuple):
    """What a model is beside its tables.

    affixes: what tokens inside a word begin with; or what stands for a space in the vocabulary, where pieces
        have the space, and the prefix and the suffix of BPE
    longest: characters of a word that is not unknown for its length
    """

    kind: int
    options: int
    unknown: int
    affixes: tuple[str, ...] = ()
    longest: int = 0


# compiled models by the tables that copies of a model share
_models: WeakKeyDictionary[Any, dict[tuple[Shape, int], Handle]] = WeakKeyDictionary()


def compiled_model(library: Any, model: Model, shape: Shape, cache_bytes: int) -> Handle:
    """The compiled model; made once for all pipelines that share its vocabulary."""
    made = _models.setdefault(vars(model)["_tables"], {})
    if (shape, cache_bytes) not in made:
        made[shape, cache_bytes] = _made(library, vars(model)["_tables"], shape, cache_bytes)
    return made[shape, cache_bytes]


def shape_of_words(model: WordPiece | WordLevel, options: int) -> Shape:
    """options: of what makes words of pieces; 0 where pieces are words"""
    unknown = MISSING if (id := model._tables.id_of(model.unk_token)) is None else id
    if isinstance(model, WordPiece):
        longest = model.max_input_chars_per_word
        return Shape(PIECES, options, unknown, (model.continuing_subword_prefix,), longest)
    return Shape(LEVELS, options, unknown)


def shape_of(model: Model, byte_level: bool, space: str = "") -> Shape:
    """byte_level: whether pieces are bytes, not characters; space: what stands for one in the vocabulary"""
    if type(model) is Unigram:
        return _unigram(model, OVER_BYTES * byte_level, space)
    if type(model) is not BPE:
        raise Unsupported(f"it has no {type(model).__name__} model")
    if model.is_random:
        raise Unsupported("merges are dropped at random")
    options = IGNORE_MERGES * model.ignore_merges + FUSE_UNKNOWN * model.fuse_unk
    unknown = None if model.unk_token is None else model._tables.id_of(model.unk_token)
    if unknown is None:
        unknown = DROPPED if model.unk_token is None else MISSING
    affixes = (space, model.continuing_subword_prefix or "", model.end_of_word_suffix or "")
    kind = BYTES if byte_level else CHARACTERS
    return Shape(kind, options + BYTE_FALLBACK * model.byte_fallback, unknown, affixes)


def _unigram(model: Unigram, options: int, space: str) -> Shape:
    if model.is_random:
        raise Unsupported("paths are drawn at random")
    unknown = DROPPED if model.unk_id is None else model.unk_id
    return Shape(UNIGRAM, options + BYTE_FALLBACK * model.byte_fallback, unknown, (space,))


def _made(library: Any, tables: Any, shape: Shape, cache_bytes: int) -> Handle:
    affixes, ways, scores = strings(shape.affixes), _NO_WAYS, None
    if shape.kind == UNIGRAM:
        tokens, scores = _texts(tables), tables.score_array
        numbers = np.arange(len(scores), dtype=np.uint32)
    elif shape.kind in (PIECES, LEVELS):
        tokens, numbers = _numbered(tables)
    else:
        tokens, ways, numbers = _bpe_parts(tables)
    parts = ModelParts(
        shape.kind,
        shape.options,
        tokens.strings,
        numbers.ctypes.data,
        None if scores is None else scores.ctypes.data,
        ways.ctypes.data,
        len(ways),
        affixes.strings,
        shape.unknown,
        shape.longest,
        cache_bytes,
    )
    return call(library, "arrowprep_model_new", "arrowprep_model_free", byref(parts))


_NO_WAYS = np.empty((0, 3), np.int32)


def _numbered(tables: Vocabulary) -> tuple[FlatStrings, npt.NDArray[np.uint32]]:
    """Tokens and ids."""
    if _repeats(tables.numbers):
        raise Unsupported("two tokens have the same id")
    return _texts(tables), tables.numbers.astype(np.uint32)


def _bpe_parts(tables: BpeTables) -> tuple[FlatStrings, npt.NDArray[np.int32], npt.NDArray[np.uint32]]:
    """Tokens, the places of merges, and ids."""
    if tables.order is not None and _repeats(tables.numbers):
        raise Unsupported("two tokens have the same id")
    return _texts(tables), np.ascontiguousarray(tables.ways.T), tables.numbers.astype(np.uint32)


def _repeats(ids: npt.NDArray[np.integer[Any]]) -> bool:
    """Whether one comes twice. `np.unique` would load NumPy's masked arrays, 20 ms."""
    ordered = np.sort(ids)
    return bool((ordered[1:] == ordered[:-1]).any())


def _texts(tables: Vocabulary) -> FlatStrings:
    """The texts of a vocabulary for the kernel, which has seen those that it read to be UTF-8."""
    try:
        if tables._read is None:
            tables.flat.data.decode()
    except UnicodeDecodeError as error:
        raise Unsupported("a token has half of a surrogate pair") from error
    return flat_strings(*tables.flat)


def encoded(text: str) -> bytes:
    """A text for the kernel."""
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise Unsupported("a text has half of a surrogate pair") from error


def strings(texts: Sequence[str]) -> FlatStrings:
    """Texts for the kernel."""
    try:
        return flat_list([text.encode() for text in texts])
    except UnicodeEncodeError as error:
        raise Unsupported("a token has half of a surrogate pair") from error
