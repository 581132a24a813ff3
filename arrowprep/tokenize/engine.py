"""The Engine protocol: Arrow text in, Arrow ids out; the seam behind which the native kernel fits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Encoded:
    """Token ids of n texts, and where each token came from.

    ids: (n,) list<int32>; null where the text is null
    starts, ends: (n,) list<int32> or None; character offsets into the text
        as given, end exclusive, one pair per id
    words: (n,) list<int32> or None; the number of the piece a token came from, null for none
    """

    ids: pa.ListArray
    starts: pa.ListArray | None = None
    ends: pa.ListArray | None = None
    words: pa.ListArray | None = None


class Engine(Protocol):
    """What turns many texts into ids.

    Promises: input is Arrow string, large_string or string_view, whole or sliced;
    same length out, null in is null out, an empty text is an empty list; nothing is
    changed or kept; the output depends neither on threads, nor on how texts are
    batched, nor on what was encoded before; errors carry the row; memory is bounded.
    The reference engine is right by definition, any other agrees with it.
    """

    name: str

    def encode(self, texts: pa.Array, *, offsets: bool = False, words: bool = False) -> Encoded:
        """Ids of each text without the post-processor's tokens, truncation or padding."""
        ...

    def decode(self, ids: pa.ListArray, *, skip_special_tokens: bool = False) -> pa.StringArray:
        """The text of each list of ids."""
        ...
