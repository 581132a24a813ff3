"""Models as the kernel takes them, or why it does not."""

from __future__ import annotations

from collections.abc import Sequence
from ctypes import byref
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from arrowprep.tokenize.bulk import Flat, utf8
from arrowprep.tokenize.models import BPE, Model, Unigram
from arrowprep.tokenize.models.bpe import BpeTables
from arrowprep.tokenize.native_library import FlatStrings, Handle, ModelParts, call, flat_strings

BYTES, CHARACTERS, UNIGRAM = 0, 1, 2  # kinds of models
IGNORE_MERGES, FUSE_UNKNOWN, BYTE_FALLBACK = 1, 2, 4  # options
DROPPED, MISSING = -1, -2  # in place of the id of an unknown token


class Unsupported(Exception):
    """Why the kernel cannot run a pipeline."""


# compiled models by the tables that copies of a model share
_models: WeakKeyDictionary[Any, dict[tuple[Any, ...], Handle]] = WeakKeyDictionary()


def compiled_model(library: Any, model: Model, cache_bytes: int, byte_level: bool, space: str = "") -> Handle:
    """The compiled model; made once for all pipelines that share its vocabulary.

    byte_level: whether pieces are bytes; else they are characters
    space: what stands for a space in the vocabulary, where pieces have the space
    """
    if isinstance(model, BPE) and type(model) is BPE:
        kind, options, unknown = _bpe(model, byte_level)
    elif isinstance(model, Unigram) and type(model) is Unigram and not byte_level:
        kind, options, unknown = _unigram(model)
    else:
        raise Unsupported(f"it has no {type(model).__name__} model")
    made = _models.setdefault(vars(model)["_tables"], {})
    key = (kind, options, unknown, space, cache_bytes)
    if key not in made:
        made[key] = _made(library, model, key)
    return made[key]


def _bpe(model: BPE, byte_level: bool) -> tuple[int, int, int]:
    """Kind, options and unknown token."""
    if model.is_random:
        raise Unsupported("merges are dropped at random")
    if model.continuing_subword_prefix or model.end_of_word_suffix:
        raise Unsupported("tokens have a prefix or a suffix")
    if byte_level:
        return BYTES, IGNORE_MERGES * model.ignore_merges, DROPPED
    options = IGNORE_MERGES * model.ignore_merges + FUSE_UNKNOWN * model.fuse_unk
    unknown = None if model.unk_token is None else model._tables.id_of(model.unk_token)
    if unknown is None:
        unknown = DROPPED if model.unk_token is None else MISSING
    return CHARACTERS, options + BYTE_FALLBACK * model.byte_fallback, unknown


def _unigram(model: Unigram) -> tuple[int, int, int]:
    if model.is_random:
        raise Unsupported("paths are drawn at random")
    return UNIGRAM, BYTE_FALLBACK * model.byte_fallback, DROPPED if model.unk_id is None else model.unk_id


def _made(library: Any, model: BPE | Unigram, key: tuple[Any, ...]) -> Handle:
    kind, options, unknown, space, cache_bytes = key
    spaces, ways, scores = strings([space]), _NO_WAYS, None
    if isinstance(model, Unigram):
        tokens, scores = _checked(model._tables.flat), model._tables.score_array
        numbers = np.arange(len(scores), dtype=np.uint32)
    else:
        tokens, ways, numbers = _bpe_parts(model._tables)
    parts = ModelParts(
        kind,
        options,
        tokens.strings,
        numbers.ctypes.data,
        None if scores is None else scores.ctypes.data,
        ways.ctypes.data,
        len(ways),
        spaces.strings,
        unknown,
        cache_bytes,
    )
    return call(library, "arrowprep_model_new", "arrowprep_model_free", byref(parts))


_NO_WAYS = np.empty((0, 3), np.int32)


def _bpe_parts(tables: BpeTables) -> tuple[FlatStrings, npt.NDArray[np.int32], npt.NDArray[np.uint32]]:
    """Tokens, the places of merges, and ids."""
    if tables.order is not None and len(np.unique(tables.numbers)) < len(tables.numbers):
        raise Unsupported("two tokens have the same id")
    return _checked(tables.flat), np.ascontiguousarray(tables.ways.T), tables.numbers.astype(np.uint32)


def _checked(texts: Flat) -> FlatStrings:
    """The texts of a vocabulary for the kernel."""
    try:
        texts.data.decode()
    except UnicodeDecodeError as error:
        raise Unsupported("a token has half of a surrogate pair") from error
    return flat_strings(*texts)


def encoded(text: str) -> bytes:
    """A text for the kernel."""
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise Unsupported("a text has half of a surrogate pair") from error


def strings(texts: Sequence[str]) -> FlatStrings:
    """Texts for the kernel."""
    try:
        return flat_strings(*utf8(list(texts)))
    except UnicodeEncodeError as error:
        raise Unsupported("a token has half of a surrogate pair") from error
