"""Models as the kernel takes them, or why it does not."""

from __future__ import annotations

from collections.abc import Sequence
from ctypes import byref
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from arrowprep.tokenize.bulk import Flat, utf8
from arrowprep.tokenize.models import BPE, Model
from arrowprep.tokenize.native_library import FlatStrings, Handle, ModelParts, call, flat_strings

BYTES, CHARACTERS = 0, 1  # kinds of models
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
    if type(model) is not BPE:
        raise Unsupported(f"it has no {type(model).__name__} model")
    kind, options, unknown = _bpe(model, byte_level)
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
    unknown = DROPPED if model.unk_token is None else model._tables.ids.get(model.unk_token, MISSING)
    return CHARACTERS, options + BYTE_FALLBACK * model.byte_fallback, unknown


def _made(library: Any, model: BPE, key: tuple[Any, ...]) -> Handle:
    kind, options, unknown, space, cache_bytes = key
    tables = model._tables
    if tables.order is not None and len(np.unique(tables.numbers)) < len(tables.numbers):
        raise Unsupported("two tokens have the same id")
    tokens, spaces = _checked(tables.flat), strings([space])
    merges = flat_strings(*tables.flat.chosen(tables.parts))
    numbers = tables.numbers.astype(np.uint32)
    parts = ModelParts(
        kind,
        options,
        tokens.strings,
        numbers.ctypes.data,
        merges.strings,
        spaces.strings,
        unknown,
        cache_bytes,
    )
    return call(library, "arrowprep_model_new", "arrowprep_model_free", byref(parts))


def _checked(texts: Flat) -> FlatStrings:
    """The texts of a vocabulary for the kernel."""
    try:
        texts.data.decode()
    except UnicodeDecodeError as error:
        raise Unsupported("a token has half of a surrogate pair") from error
    return flat_strings(*texts)


def strings(texts: Sequence[str]) -> FlatStrings:
    """Texts for the kernel."""
    try:
        return flat_strings(*utf8(list(texts)))
    except UnicodeEncodeError as error:
        raise Unsupported("a token has half of a surrogate pair") from error
