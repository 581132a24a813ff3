"""The Engine protocol: Arrow text in, Arrow ids out; the seam behind which the native kernel fits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

from arrowprep.config import settings
from arrowprep.errors import TokenizerError

if TYPE_CHECKING:
    import pyarrow as pa

    from arrowprep.tokenize.pipeline import Pipeline


class Encoded(NamedTuple):
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


@dataclass(frozen=True, slots=True)
class Choice:
    """The engine that runs a pipeline, and why it is that one."""

    engine: Engine
    why: str


def choose_engine(pipeline: Pipeline, *, wanted: str | None = None, cache_bytes: int | None = None) -> Choice:
    """The engine that the settings ask for.

    wanted: "auto", "reference" or "native"; None asks the settings
    cache_bytes: limit of the engine's cache of known pieces; None is the usual one

    "auto" takes the native kernel for what it knows, the model alone where it must.
    Raises TokenizerError when "native" is asked for and cannot run the pipeline.
    """
    from arrowprep.tokenize.bulk import uncollected
    from arrowprep.tokenize.native import compile_pipeline
    from arrowprep.tokenize.reference import CACHE_BYTES, ReferenceEngine

    wanted = wanted or settings().engine
    why = "the settings ask for it"
    if wanted != "reference":
        with uncollected():  # 8 ms, where it falls into this
            native, why = compile_pipeline(pipeline, cache_bytes)
        if native is not None:
            return Choice(native, why)
        if wanted == "native":
            raise TokenizerError(
                f"{why}; use ARROWPREP_ENGINE=auto or configure(engine='reference')", engine=wanted
            )
        from arrowprep.tokenize.mixed import compile_model

        mixed = compile_model(pipeline, cache_bytes)
        if mixed is not None:
            return Choice(mixed, f"the reference engine cuts and the kernel does the rest, for {why}")
    return Choice(ReferenceEngine(pipeline, CACHE_BYTES if cache_bytes is None else cache_bytes), why)
