"""From ids back to text: one row or many, from lists, arrays, tensors or Arrow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from arrowprep.errors import warn

if TYPE_CHECKING:
    from arrowprep.tokenize.tokenizer import Tokenizer

# spaces that English text has not, and that a WordPiece model puts before punctuation; applied in this order
CLEAN_UP = (" .", " ?", " !", " ,", " ' ", " n't", " 'm", " 's", " 've", " 're")


def decode(backend: Tokenizer, ids: Any, *, skip_special_tokens: bool, clean_up: bool) -> Any:
    """The text of one list of ids (or of one id), or the texts of a list of lists."""
    rows = plain(ids)
    if isinstance(rows, (list, tuple)) and rows and isinstance(rows[0], (list, tuple)):
        texts = backend.decode_batch(rows, skip_special_tokens=skip_special_tokens)
        return [clean_spaces(text) for text in texts] if clean_up else texts
    text = backend.decode([rows] if isinstance(rows, int) else rows, skip_special_tokens=skip_special_tokens)
    return clean_spaces(text) if clean_up else text


def may_clean_up(backend: Tokenizer, asked: bool | None, configured: bool) -> bool:
    """Whether spaces before punctuation go: as asked, else as configured, and never for BPE.

    A byte-level model writes no space there that the text had not. Many configs
    say True all the same, so only who asks for it in a call is told.
    """
    if not (configured if asked is None else asked):
        return False
    if type(backend.model).__name__ != "BPE":
        return True
    if asked:
        warn("clean_up_tokenization_spaces does nothing for BPE: it would remove spaces that the text had")
    return False


def plain(ids: Any) -> Any:
    """Ids as ints and lists of them, from whatever holds them."""
    if isinstance(ids, Mapping):
        ids = ids["input_ids"]
    if isinstance(ids, (pa.Array, pa.ChunkedArray)):
        return ids.to_pylist()
    if hasattr(ids, "tolist"):
        return ids.tolist()
    if isinstance(ids, (list, tuple)) and ids and type(ids[0]) is not int:
        return [plain(item) for item in ids]
    return ids


def clean_spaces(text: str) -> str:
    """Take the space out before punctuation and English contractions.

    >>> clean_spaces("it is n't so , he said .")
    "it isn't so, he said."
    """
    for spaced in CLEAN_UP:
        text = text.replace(spaced, spaced.strip())
    return text
