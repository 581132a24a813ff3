"""The mixed engine: texts are normalized and cut in Python, and the kernel turns the pieces into tokens.

It runs what the kernel has no steps or cuts for: components of one's own, patterns with back references.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from arrowprep.tokenize.added_tokens import AddedVocabulary
from arrowprep.tokenize.bulk import utf8
from arrowprep.tokenize.models import Model
from arrowprep.tokenize.models.base import FlatTokens
from arrowprep.tokenize.native import NativeEngine, compile_pipeline
from arrowprep.tokenize.native_library import load
from arrowprep.tokenize.pipeline import Pipeline
from arrowprep.tokenize.reference import CACHE_BYTES, ReferenceEngine


class MixedEngine(ReferenceEngine):
    """The reference engine with the kernel for a model. pieces: the kernel's engine over whole pieces"""

    name = "mixed"

    def __init__(self, pipeline: Pipeline, pieces: NativeEngine, cache_bytes: int) -> None:
        super().__init__(pipeline, cache_bytes, _PieceModel(pipeline.model, pieces).tokenize_all)

    def decode(self, ids: pa.ListArray, *, skip_special_tokens: bool = False) -> pa.StringArray:
        """The text of each list of ids."""
        from arrowprep.tokenize.native_decoder import can_decode, decode

        if not can_decode(self.pipeline, ids):
            return super().decode(ids, skip_special_tokens=skip_special_tokens)
        return decode(load(), self.pipeline, ids, skip_special_tokens)


class _PieceModel:
    """A model whose pieces go to the kernel as one column."""

    def __init__(self, model: Model, engine: NativeEngine) -> None:
        self._model = model
        self._engine = engine

    def tokenize_all(self, sequences: Sequence[str], *, located: bool) -> FlatTokens:
        """As `Model.tokenize_all`."""
        try:
            data, offsets = utf8(sequences)
        except UnicodeEncodeError:  # half of a surrogate pair, which components of one's own may make
            return self._model.tokenize_all(sequences, located=located)
        buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
        texts = pa.Array.from_buffers(pa.large_string(), len(sequences), buffers)
        found = self._engine.encode(texts, offsets=located)
        counts = np.diff(found.ids.offsets.to_numpy()).astype(np.int64)
        places = [None if column is None else _flat(column) for column in (found.starts, found.ends)]
        return FlatTokens(counts, _flat(found.ids), *places)


def _flat(column: pa.ListArray) -> npt.NDArray[np.int64]:
    flat: npt.NDArray[np.int64] = column.flatten().to_numpy().astype(np.int64)
    return flat


def compile_model(pipeline: Pipeline, cache_bytes: int | None = None) -> MixedEngine | None:
    """The mixed engine of a pipeline; None where the kernel does not know the model."""
    alone = Pipeline(None, None, pipeline.model, None, None, AddedVocabulary())
    pieces, _ = compile_pipeline(alone, cache_bytes)
    limit = CACHE_BYTES if cache_bytes is None else cache_bytes
    return None if pieces is None else MixedEngine(pipeline, pieces, limit)
