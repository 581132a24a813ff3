"""Rows out of a stream: to Python, to data frames, to files; block by block where the target takes blocks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from arrowprep import progress
from arrowprep.dataset import formats
from arrowprep.dataset.feature_kinds import listed
from arrowprep.dataset.features import Features
from arrowprep.dataset.formatted import FormatSpec
from arrowprep.dataset.save.sinks import Target
from arrowprep.dataset.stream.held import Streams
from arrowprep.dataset.widen import cast_table, empty_table, wider_schema
from arrowprep.errors import TypeConflict

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

_ROWS_AT_ONCE = 10_000


class StreamExports(Streams):
    """Methods that read a stream to its end, whatever its format is.

    Those that give one value hold all rows in memory; `batched`, and files, hold one block at a time.
    """

    def to_dict(
        self, batch_size: int | None = None, batched: bool = False
    ) -> dict[str, list[Any]] | Iterator[dict[str, list[Any]]]:
        """Columns of Python objects, or a generator of them where `batched`."""
        columns: dict[str, list[Any]] | Iterator[dict[str, list[Any]]]
        columns = self._as(formats.make("python"), batch_size, batched)
        return columns

    def to_list(self) -> list[dict[str, Any]]:
        """Rows of Python objects."""
        rows = FormatSpec().rows
        return [row for table in self._tables(None) for row in rows(table, listed(self._features_of(table)))]

    def to_pandas(
        self, batch_size: int | None = None, batched: bool = False
    ) -> pd.DataFrame | Iterator[pd.DataFrame]:
        """A pandas data frame, or a generator of them where `batched`."""
        frames: pd.DataFrame | Iterator[pd.DataFrame] = self._as(formats.make("pandas"), batch_size, batched)
        return frames

    def to_polars(
        self,
        batch_size: int | None = None,
        batched: bool = False,
        schema_overrides: Mapping[str, Any] | None = None,
        rechunk: bool = True,
    ) -> pl.DataFrame | Iterator[pl.DataFrame]:
        """A Polars data frame, or a generator of them where `batched`. The rest: as `Dataset.to_polars`"""
        shown = formats.make("polars", schema_overrides=schema_overrides, rechunk=rechunk)
        frames: pl.DataFrame | Iterator[pl.DataFrame] = self._as(shown, batch_size, batched)
        return frames

    def to_json(
        self,
        path_or_buf: Target,
        batch_size: int | None = None,
        storage_options: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> int:
        """Write JSON Lines, or with lines=False an array; returns the bytes. options: as `Dataset.to_json`"""
        from arrowprep.dataset.save.json import write_json

        tables = self._shown_tables("Writing JSON", batch_size)
        return write_json(tables, path_or_buf, storage_options=storage_options, **options)

    def to_csv(
        self,
        path_or_buf: Target,
        batch_size: int | None = None,
        storage_options: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> int:
        """Write CSV; returns the bytes written. options: those of `Dataset.to_csv`."""
        from arrowprep.dataset.save.csv import write_csv

        schema, tables = self._of_one_schema("Writing CSV", batch_size)
        return write_csv(tables, path_or_buf, schema=schema, storage_options=storage_options, **options)

    def to_parquet(
        self,
        path_or_buf: Target,
        batch_size: int | None = None,
        storage_options: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> int:
        """Write Parquet; returns the bytes of the rows. options: those of `Dataset.to_parquet`."""
        from arrowprep.dataset.save.parquet import write_parquet

        schema, tables = self._of_one_schema("Writing Parquet", batch_size)
        return write_parquet(
            tables,
            path_or_buf,
            schema=schema,
            batch_size=batch_size,
            storage_options=storage_options,
            **options,
        )

    def to_sql(self, name: str, con: Any, batch_size: int | None = None, **options: Any) -> int:
        """Write a table of a database; returns its rows. The rest: as `Dataset.to_sql`"""
        from arrowprep.dataset.save.sql import write_sql

        schema, tables = self._of_one_schema("Writing SQL", batch_size)
        return write_sql(tables, name, con, Features.from_arrow_schema(schema), **options)

    def _as(self, format: formats.Format, batch_size: int | None, batched: bool) -> Any:
        show = format.batch
        if batched:
            return (show(table, self._shown_features(table, format)) for table in self._tables(batch_size))
        tables = list(self._tables(None))
        schema = self._known_schema() or pa.schema([])
        for table in tables:
            schema = wider_schema(schema, table.schema)
        whole = pa.concat_tables([empty_table(schema), *(cast_table(table, schema) for table in tables)])
        return show(whole, self._shown_features(whole, format))

    def _tables(self, batch_size: int | None) -> Iterator[pa.Table]:
        """All rows that are left of the pass, in blocks of batch_size and a last one of what is left."""
        cursor = self._begin()
        while (table := cursor.take(batch_size or _ROWS_AT_ONCE)) is not None:
            yield table

    def _shown_tables(self, desc: str, batch_size: int | None) -> Iterator[pa.Table]:
        """The same under a bar, which knows no end."""
        with progress.bar(None, desc) as bar:
            for table in self._tables(batch_size):
                yield table
                bar.advance(table.num_rows)

    def _of_one_schema(self, desc: str, batch_size: int | None) -> tuple[pa.Schema, Iterator[pa.Table]]:
        """The blocks with the types that are known, else with those of the first block.

        A file tells its columns before its rows, so TypeConflict where a later block does not fit.
        """
        tables = self._shown_tables(desc, batch_size)
        first = next(tables, None)
        known = self._known_schema()
        schema = known or (
            pa.schema([]) if first is None else Features.from_arrow_schema(first.schema).arrow_schema
        )
        rest = chain([] if first is None else [first], tables)
        return schema, (self._fitted(table, schema) for table in rest)

    def _fitted(self, table: pa.Table, schema: pa.Schema) -> pa.Table:
        try:
            if wider_schema(schema, table.schema).equals(schema):
                return cast_table(table, schema)
        except TypeConflict as error:
            raise TypeConflict(
                f"a later block does not fit the first: {error}; {_CURE}", **error.facts
            ) from error
        raise TypeConflict(f"a later block has wider types than the first, which has {schema.names}; {_CURE}")

    def _known_schema(self) -> pa.Schema | None:
        known = self._stage.features
        return None if known is None else known.arrow_schema

    def _shown_features(self, table: pa.Table, format: formats.Format) -> Features:
        features = self._features_of(table)
        return Features(listed(features)) if format.name == "python" else features

    def _features_of(self, table: pa.Table) -> Features:
        return self._stage.features or Features.from_arrow_schema(table.schema)


_CURE = "say what the columns hold: map(..., features=...)"
