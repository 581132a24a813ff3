"""Rows out of a dataset: to Python, to data frames, to files, to a folder."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeAlias, cast

import pyarrow as pa

from arrowprep import progress
from arrowprep.dataset import formats
from arrowprep.dataset.feature_kinds import listed
from arrowprep.dataset.indices import Span
from arrowprep.dataset.skin.held import Held
from arrowprep.errors import BadArgument

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

Target: TypeAlias = "str | os.PathLike[str] | IO[bytes]"

_ROWS_AT_ONCE = 10_000


class Exports(Held):
    """Methods that write or convert the rows, in their order."""

    def to_dict(
        self, batch_size: int | None = None, batched: bool = False
    ) -> dict[str, list[Any]] | Iterator[dict[str, list[Any]]]:
        """Columns of Python objects, or a generator of them, batch by batch, where `batched`."""
        python, features = formats.make("python"), listed(self._view.features)
        if batched:
            tables = self._view.batches(batch_size or _ROWS_AT_ONCE)
            return (python.batch(table, features) for table in tables)
        columns: dict[str, list[Any]] = python.batch(self._whole(), features)
        return columns

    def to_list(self) -> list[dict[str, Any]]:
        """Rows of Python objects."""
        columns = cast("dict[str, list[Any]]", self.to_dict())
        if not columns:
            return [{} for _ in range(self._view.num_rows)]
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    def to_pandas(
        self, batch_size: int | None = None, batched: bool = False
    ) -> pd.DataFrame | Iterator[pd.DataFrame]:
        """A pandas data frame, or a generator of them where `batched`."""
        pandas = formats.make("pandas")
        if batched:
            tables = self._view.batches(batch_size or _ROWS_AT_ONCE)
            return (pandas.batch(table, self._view.features) for table in tables)
        frame: pd.DataFrame = pandas.batch(self._whole(), self._view.features)
        return frame

    def to_polars(
        self,
        batch_size: int | None = None,
        batched: bool = False,
        schema_overrides: Mapping[str, Any] | None = None,
        rechunk: bool = True,
    ) -> pl.DataFrame | Iterator[pl.DataFrame]:
        """A Polars data frame, or a generator of them where `batched`.

        schema_overrides, rechunk: as polars.from_arrow takes them
        """
        polars = formats.make("polars", schema_overrides=schema_overrides, rechunk=rechunk)
        if batched:
            tables = self._view.batches(batch_size or _ROWS_AT_ONCE)
            return (polars.batch(table, self._view.features) for table in tables)
        frame: pl.DataFrame = polars.batch(self._whole(), self._view.features)
        return frame

    def to_json(
        self,
        path_or_buf: Target,
        batch_size: int | None = None,
        num_proc: int | None = None,
        storage_options: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> int:
        """Write JSON Lines, or with lines=False one array; returns the bytes written.

        path_or_buf: a file, a buffer, or a URL for fsspec, with storage_options for its file system
        num_proc: taken, and changes nothing: one process writes; here and in `to_csv`, `to_sql`
        options: lines, orient, force_ascii, indent, compression (by default from the suffix)
        """
        from arrowprep.dataset.save.json import write_json
        from arrowprep.dataset.save.sinks import check_processes

        check_processes(num_proc)
        batches = self._shown("Writing JSON", batch_size)
        return write_json(batches, path_or_buf, storage_options=storage_options, **options)

    def to_csv(
        self,
        path_or_buf: Target,
        batch_size: int | None = None,
        num_proc: int | None = None,
        storage_options: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> int:
        """Write CSV; returns the bytes written. options: sep, header, na_rep, quoting, compression."""
        from arrowprep.dataset.save.csv import write_csv
        from arrowprep.dataset.save.sinks import check_processes

        check_processes(num_proc)
        batches, schema = self._shown("Writing CSV", batch_size), self._view.schema
        return write_csv(batches, path_or_buf, schema=schema, storage_options=storage_options, **options)

    def to_parquet(
        self,
        path_or_buf: Target,
        batch_size: int | None = None,
        storage_options: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> int:
        """Write Parquet, snappy by default; returns the bytes of the rows. options: of ParquetWriter."""
        from arrowprep.dataset.save.parquet import write_parquet

        return write_parquet(
            self._shown("Writing Parquet", batch_size),
            path_or_buf,
            schema=self._view.schema,
            batch_size=batch_size,
            storage_options=storage_options,
            **options,
        )

    def save_to_disk(
        self,
        dataset_path: str | os.PathLike[str],
        max_shard_size: str | int | None = None,
        num_shards: int | None = None,
        num_proc: int | None = None,
        storage_options: Mapping[str, Any] | None = None,
    ) -> None:
        """Write all rows in their order as a folder that `load_from_disk`, here and of `datasets`, reads.

        dataset_path: a folder, or a URL that fsspec knows, with storage_options for its file system
        max_shard_size: of a file, 500 MB by default
        num_proc: so many files at least, for loaders that deal them out; one process copies as fast as
            the disk writes
        """
        from arrowprep.dataset.save.remote import local_folder

        with local_folder(dataset_path, storage_options) as folder:
            self._save(folder, max_shard_size, num_shards, num_proc)

    def _save(
        self, folder: Path, max_shard_size: str | int | None, num_shards: int | None, num_proc: int | None
    ) -> None:
        from arrowprep.dataset.save.hf_disk import save_hf_disk, size_in_bytes

        if num_shards is None and num_proc is not None and num_proc > 1:
            limit, max_shard_size = size_in_bytes(max_shard_size or "500MB"), None
            num_shards = max(num_proc, self.dataset_size // limit + 1)
        save_hf_disk(
            self._shown("Saving", None),
            folder,
            features=self._view.features,
            fingerprint=self._view.fingerprint,
            num_rows=self._view.num_rows,
            max_shard_size=max_shard_size,
            num_shards=num_shards,
            split=self._split,
            format=self._format.saved(),
            info=self._info.told(),
            sources=self._view.files,
        )

    def to_sql(
        self, name: str, con: Any, batch_size: int | None = None, num_proc: int | None = None, **options: Any
    ) -> int:
        """Write a table of a database; returns its rows. con: as `from_sql`; options: of pandas' to_sql"""
        from arrowprep.dataset.save.sinks import check_processes
        from arrowprep.dataset.save.sql import write_sql

        check_processes(num_proc)
        return write_sql(self._shown("Writing SQL", batch_size), name, con, self._view.features, **options)

    def push_to_hub(self, *args: Any, **options: Any) -> None:
        """Nothing here opens a connection: this says what to do instead."""
        raise BadArgument(
            "arrowprep uploads nothing: write files with to_parquet or save_to_disk, and give the folder to "
            "huggingface_hub.upload_folder, or pass ds.to_hf() to a script that pushes"
        )

    def to_hf(self) -> Any:
        """A `datasets.Dataset` over the same memory, for libraries that ask for that type."""
        try:
            import datasets
        except ImportError as error:
            raise BadArgument("to_hf makes a datasets.Dataset, and `datasets` is not installed") from error
        table = self._whole().replace_schema_metadata(self._view.schema.metadata)
        split = None if self._split is None else datasets.NamedSplit(self._split)
        made = datasets.Dataset(table, split=split, fingerprint=self._view.fingerprint)
        shown = self._format.saved()
        if not any(shown.values()):  # the peer names a dataset anew where a format is set, also the same one
            return made
        return made.with_format(shown["type"], shown["columns"], shown["output_all_columns"])

    def _whole(self) -> pa.Table:
        return self._view.read(Span(0, self._view.num_rows))

    def _shown(self, desc: str, batch_size: int | None) -> Iterator[pa.Table]:
        """All rows batch by batch, under a bar."""
        with progress.bar(self._view.num_rows, desc) as bar:
            for table in self._view.batches(batch_size or _ROWS_AT_ONCE):
                yield table
                bar.advance(table.num_rows)
