"""What a call was given as text: one or many, alone or in pairs, whole or as words, Python's or Arrow's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from arrowprep.errors import BadArgument, NotText

Texts = Any  # pa.Array | pa.ChunkedArray of text (or of lists of words), or a list of them


@dataclass(frozen=True, slots=True)
class Inputs:
    """n texts, and for each its pair where there are pairs.

    texts, pairs: Arrow text, or a list of str (of lists of str when given as words)
    single: one text was given, not a batch
    """

    texts: Texts
    pairs: Texts | None
    single: bool


def read_inputs(text: Any, pair: Any = None, *, words: bool = False) -> Inputs:
    """Sort out what `text` and `text_pair` are.

    A str is one text, a list a batch; with `words` a list of str is one text and a
    list of lists a batch. Any element of a batch may itself be a pair. Arrow columns, and
    whatever has the Arrow capsule methods, are batches and stay Arrow; there null is
    no text and stays null. An empty str as the pair of one text is no pair.

    Raises NotText (a TypeError and a ValueError) that names the row.
    """
    text, pair = as_column(text), as_column(pair)
    if _is_one(text, words):
        if isinstance(pair, pa.Array) or (pair is not None and not _is_one(pair, words)):
            raise NotText(
                f"text is one text, so text_pair is one too, not {_say(pair)}", given=type(pair).__name__
            )
        return Inputs([text], [pair] if pair else None, single=True)
    if isinstance(text, pa.Array):
        return Inputs(text, _pairs_for(text, pair), single=False)
    if not isinstance(text, (list, tuple)):
        raise NotText(
            f"text is a str, a list of str or an Arrow column of text, not {_say(text)}",
            given=type(text).__name__,
        )
    if pair is None and (split := _split_pairs(text, words)):
        return Inputs(*split, single=False)
    pairs = _pairs_for(text, pair)
    for texts in (text, pairs):
        if isinstance(texts, (list, tuple)):
            _check(texts, words)
    return Inputs(list(text), pairs, single=False)


def as_column(value: Any) -> Any:
    """Arrow for what can be Arrow, a list for other sequences; the value itself otherwise."""
    if value is None or isinstance(value, (str, bytes, pa.Array)):
        return value
    if hasattr(value, "__arrow_c_array__") or hasattr(value, "__arrow_array__"):
        # also a list, where it knows the column that it shows
        array = pa.array(value)
        return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
    if hasattr(value, "__arrow_c_stream__"):  # a ChunkedArray has it too
        chunked = pa.chunked_array(value)
        return chunked.chunk(0) if chunked.num_chunks == 1 else chunked.combine_chunks()
    if hasattr(value, "tolist"):  # NumPy's and pandas' columns
        return value.tolist()
    if isinstance(value, Sequence) and not isinstance(value, (list, tuple)):
        return list(value)
    return value


def _is_one(value: Any, words: bool) -> bool:
    if words:
        return isinstance(value, (list, tuple)) and not (value and _is_words(value[0]))
    return isinstance(value, str)


def _is_words(value: Any) -> bool:
    return isinstance(value, (list, tuple, np.ndarray))


def _pairs_for(texts: Any, pair: Any) -> Any:
    if pair is None:
        return None
    if isinstance(pair, str) or not isinstance(pair, (list, tuple, pa.Array)):
        raise NotText(
            f"text is a batch, so text_pair is one too, not {_say(pair)}", given=type(pair).__name__
        )
    if len(texts) != len(pair):
        raise BadArgument(
            f"there are {len(texts)} texts and {len(pair)} pairs for them", texts=len(texts), pairs=len(pair)
        )
    return pair if isinstance(pair, pa.Array) else list(pair)


def _split_pairs(texts: Sequence[Any], words: bool) -> tuple[list[Any], list[Any]] | None:
    """Both sides of a batch in which elements are pairs, with None beside the others; None where none is."""
    if not words and set(map(type, texts)) <= {str}:
        return None
    are_pairs = [_is_pair(item, words) for item in texts]
    if not any(are_pairs):
        return None
    both = list(zip(texts, are_pairs, strict=True))
    firsts = [item[0] if is_pair else item for item, is_pair in both]
    seconds = [item[1] if is_pair else None for item, is_pair in both]
    _check(firsts, words)
    _check([item for item in seconds if item is not None], words)
    return firsts, seconds


def _is_pair(item: Any, words: bool) -> bool:
    if not isinstance(item, (list, tuple)) or len(item) != 2:
        return False
    return all(map(_is_words, item)) if words else True


def _check(texts: Sequence[Any], words: bool) -> None:
    if not words and set(map(type, texts)) <= {str}:
        return
    for row, item in enumerate(texts):
        if words and not (_is_words(item) and all(isinstance(word, str) for word in item)):
            raise NotText(f"element {row} of the batch is {_say(item)}, not a list of words", row=row)
        if not words and not isinstance(item, str):
            raise NotText(f"element {row} of the batch is {_say(item)}, not text", row=row)


def _say(value: Any) -> str:
    return "None" if value is None else f"of type {type(value).__name__}"
