"""Datasets out of what users have in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from arrowprep.dataset.features import Features
from arrowprep.dataset.fingerprint import combine, fingerprint_of
from arrowprep.dataset.formatted import FormatSpec
from arrowprep.dataset.indices import Rows, simplest
from arrowprep.dataset.info import DatasetInfo
from arrowprep.dataset.plain import uint64_numbers
from arrowprep.dataset.skin.held import Held
from arrowprep.dataset.storage.backing import Memory
from arrowprep.dataset.view import View

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    from typing_extensions import Self


class Makes(Held):
    """Constructors."""

    def __init__(
        self,
        arrow_table: Any,
        info: DatasetInfo | None = None,
        split: str | None = None,
        indices_table: pa.Table | None = None,
        fingerprint: str | None = None,
    ) -> None:
        """Over an Arrow table, or anything with the Arrow stream method, in memory.

        info: texts about it; where it has features, the types of the columns
        indices_table: one column of row numbers, which are the rows of the dataset
        """
        table = arrow_table if isinstance(arrow_table, pa.Table) else pa.table(arrow_table)
        if info is not None and info.features is not None:
            from arrowprep.dataset.construct import retyped

            table = retyped(table, info.features)
        view = View.over(Memory(table), fingerprint or combine("memory", fingerprint_of(table)))
        if indices_table is not None:
            name = fingerprint or combine("select", view.fingerprint, fingerprint_of(indices_table))
            view = view.select(_rows_in(indices_table), name)
        self._set(view, FormatSpec(), None if split is None else str(split), None, info)

    @classmethod
    def from_dict(
        cls,
        mapping: Mapping[str, Any],
        features: Features | None = None,
        info: DatasetInfo | None = None,
        split: str | None = None,
        on_mixed_types: str | None = None,
    ) -> Self:
        """From columns: lists, NumPy or Arrow arrays of one length.

        info: texts about it, perhaps features
        on_mixed_types: "use_json" makes a column of several types JSON, which is an error otherwise
        """
        from arrowprep.dataset.construct import table_of_columns

        return cls(table_of_columns(mapping, _types(features, info), on_mixed_types), info, split)

    @classmethod
    def from_list(
        cls,
        mapping: Sequence[Mapping[str, Any]],
        features: Features | None = None,
        info: DatasetInfo | None = None,
        split: str | None = None,
        on_mixed_types: str | None = None,
    ) -> Self:
        """From a list of rows; the columns are the keys of all rows, absent ones null."""
        from arrowprep.dataset.construct import table_of_rows

        return cls(table_of_rows(mapping, _types(features, info), on_mixed_types), info, split)

    @classmethod
    def from_pandas(
        cls,
        df: pd.DataFrame,
        features: Features | None = None,
        info: DatasetInfo | None = None,
        split: str | None = None,
        preserve_index: bool | None = None,
    ) -> Self:
        """From a pandas data frame; its index becomes a column where it has a name, or on request."""
        from arrowprep.dataset.construct import table_of_frame

        return cls(table_of_frame(df, _types(features, info), preserve_index), info, split)

    @classmethod
    def from_polars(
        cls,
        df: pl.DataFrame | pl.LazyFrame,
        features: Features | Mapping[str, Any] | None = None,
        info: DatasetInfo | None = None,
        split: str | None = None,
    ) -> Self:
        """From a Polars data frame; a lazy one is collected."""
        from arrowprep.dataset.construct import retyped
        from arrowprep.dataset.load.plain import plain

        frame: Any = df.collect() if hasattr(df, "collect") else df
        table, wanted = frame.to_arrow(), _types(features, info)
        return cls(plain(table if wanted is None else retyped(table, Features(wanted))), info, split)

    @classmethod
    def from_hf(cls, dataset: Any) -> Self:
        """Over the memory, or the mapped files, of a `datasets.Dataset`, with its selection of rows."""
        table = dataset.data.table
        name = combine("datasets", dataset._fingerprint)
        schema = dataset.features.arrow_schema
        view = View.over(Memory(table), name, Features.from_arrow_schema(schema)).keep(schema.names, name)
        chosen = dataset._indices
        if chosen is not None:
            view = view.select(_rows_in(chosen.table), name)
        return cls._over(view, split=None if dataset.split is None else str(dataset.split))


def _rows_in(indices_table: pa.Table) -> Rows:
    numbers = indices_table.column(0).combine_chunks()
    return simplest(uint64_numbers(numbers).view(np.int64))


def _types(features: Any, info: DatasetInfo | None) -> Any:
    return features if features is not None or info is None else info.features
