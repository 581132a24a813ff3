"""Datasets out of files, and of functions that yield rows."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import pyarrow as pa

from arrowprep.dataset.features import Features
from arrowprep.dataset.fingerprint import Unnameable, combine
from arrowprep.dataset.info import DatasetInfo, Split
from arrowprep.dataset.skin.held import Held
from arrowprep.dataset.storage import ipc
from arrowprep.dataset.storage.backing import Files, Memory
from arrowprep.dataset.storage.converted import FILES, Reuse
from arrowprep.dataset.storage.scratch import cache_root, scratch_folder
from arrowprep.dataset.storage.sources import stat_name
from arrowprep.dataset.view import View
from arrowprep.errors import BadArgument, UnreadableFile, WrongType, warn

if TYPE_CHECKING:
    from typing_extensions import Self

    from arrowprep.dataset.dataset import Dataset

Paths: TypeAlias = "str | os.PathLike[str] | Sequence[str | os.PathLike[str]]"


class Loads(Held):
    """Constructors over files; `load_local` is the general one."""

    @classmethod
    def from_generator(
        cls,
        generator: Callable[..., Iterable[Mapping[str, Any]]],
        features: Features | Mapping[str, Any] | None = None,
        cache_dir: str | os.PathLike[str] | None = None,
        keep_in_memory: bool = False,
        gen_kwargs: Mapping[str, Any] | None = None,
        num_proc: int | None = None,
        split: str | None = Split.TRAIN,
        fingerprint: str | None = None,
        *,
        refresh: bool = False,
        verify: bool | None = None,
    ) -> Self:
        """The rows that a function yields, written to the cache once.

        They are found again by the function's code, what it captured, and gen_kwargs; not by
        what it reads elsewhere, so give `fingerprint` where that changes.

        num_proc: processes; the lists in gen_kwargs are the shards that they share, and the generator is
            called for one element at a time
        refresh: run the generator, whatever is in the cache
        verify: read what is found there, and run it again where a byte has changed
        """
        from arrowprep.dataset.load.generated import generate, generated_name
        from arrowprep.dataset.storage.shelf import tidy

        if not callable(generator):
            raise WrongType(f"generator must be callable: a function, not a {type(generator).__name__}")
        wanted = None if features is None else Features(features)
        root = cache_root(cache_dir)
        try:
            name = (
                combine("generator", fingerprint)
                if fingerprint is not None
                else generated_name(generator, gen_kwargs or {}, wanted)
            )
        except Unnameable as reason:
            warn(
                f"what the generator yields is not kept, since it cannot be named: {reason} "
                "Or give it a name of your own: fingerprint=..."
            )
            name, root = os.urandom(16).hex(), scratch_folder()
        files = generate(
            generator,
            gen_kwargs or {},
            features=wanted,
            name=name,
            cache_dir=root / FILES,
            num_proc=num_proc,
            reuse=Reuse.of(refresh, verify),
        )
        view = View.over(files, name, wanted)
        tidy(root)
        view = view.in_memory() if keep_in_memory else view
        return cls._over(view, split=split, cache_dir=None if cache_dir is None else Path(cache_dir))

    @classmethod
    def _from_files(cls, reader: str, paths: Paths, split: str | None, **options: Any) -> Self:
        from arrowprep.dataset.loading import load_local

        found = load_local({split or "train": paths}, split=split or "train", reader=reader, **options)
        return cls._over(found._view, split=found._split, cache_dir=found._cache_dir)

    @classmethod
    def from_csv(
        cls,
        path_or_paths: Paths,
        split: str | None = None,
        features: Features | None = None,
        cache_dir: str | os.PathLike[str] | None = None,
        keep_in_memory: bool = False,
        num_proc: int | None = None,
        **options: Any,
    ) -> Self:
        """The rows of CSV files as one split; arguments are those of `load_local`.

        options: of the reader: sep, na_values, columns, ...
        """
        return cls._from_files(
            "csv", path_or_paths, split, **_loading(features, cache_dir, keep_in_memory, num_proc), **options
        )

    @classmethod
    def from_json(
        cls,
        path_or_paths: Paths,
        split: str | None = None,
        features: Features | None = None,
        cache_dir: str | os.PathLike[str] | None = None,
        keep_in_memory: bool = False,
        field: str | None = None,
        num_proc: int | None = None,
        **options: Any,
    ) -> Self:
        """The rows of JSON or JSON Lines files as one split.

        field: where the rows are in a JSON document; options: of the reader
        """
        loading = _loading(features, cache_dir, keep_in_memory, num_proc)
        reading = {} if field is None else {"field": field}
        return cls._from_files("json", path_or_paths, split, **loading, **reading, **options)

    @classmethod
    def from_parquet(
        cls,
        path_or_paths: Paths,
        split: str | None = None,
        features: Features | None = None,
        cache_dir: str | os.PathLike[str] | None = None,
        keep_in_memory: bool = False,
        columns: Sequence[str] | None = None,
        num_proc: int | None = None,
        filters: Any = None,
        fragment_scan_options: Any = None,
        on_bad_files: str = "error",
        **options: Any,
    ) -> Self:
        """The rows of Parquet files as one split.

        columns, filters: what is read at all; filters as pyarrow.parquet takes them, or an expression
        fragment_scan_options: of pyarrow.dataset
        on_bad_files: "error", or go on without files that cannot be opened: "warn" and "skip"
        """
        from arrowprep.dataset.load.parquet import parquet_options

        loading = _loading(features, cache_dir, keep_in_memory, num_proc)
        reading = parquet_options(filters, fragment_scan_options, on_bad_files)
        options = {"columns": columns, **reading, **options}
        return cls._from_files("parquet", path_or_paths, split, **loading, **options)

    @classmethod
    def from_text(
        cls,
        path_or_paths: Paths,
        split: str | None = None,
        features: Features | None = None,
        cache_dir: str | os.PathLike[str] | None = None,
        keep_in_memory: bool = False,
        num_proc: int | None = None,
        keep_linebreaks: bool = False,
        sample_by: str = "line",
        **options: Any,
    ) -> Self:
        """The lines of text files as one split; sample_by="paragraph" or "document" for longer rows."""
        loading = _loading(features, cache_dir, keep_in_memory, num_proc)
        reading = {"keep_linebreaks": keep_linebreaks, "sample_by": sample_by}
        return cls._from_files("text", path_or_paths, split, **loading, **reading, **options)

    @classmethod
    def from_sql(
        cls,
        sql: Any,
        con: Any,
        features: Features | None = None,
        cache_dir: str | os.PathLike[str] | None = None,
        keep_in_memory: bool = False,
        **options: Any,
    ) -> Self:
        """The rows of a query or a table, in memory: cache_dir and keep_in_memory change nothing.

        con: a connection, or "sqlite:///path"; other addresses need SQLAlchemy
        options: of pandas.read_sql
        """
        from arrowprep.dataset.load.sql import read_sql

        table = read_sql(sql, con, features, **options)
        return cls._over(View.over(Memory(table), combine("memory", table)), split="train")

    @staticmethod
    def load_from_disk(
        dataset_path: str | os.PathLike[str],
        keep_in_memory: bool | None = None,
        storage_options: Mapping[str, Any] | None = None,
    ) -> Dataset:
        """What `save_to_disk` wrote. Raises BadArgument for a folder of several splits."""
        from arrowprep.dataset.dataset import Dataset
        from arrowprep.dataset.saved import load_from_disk

        found = load_from_disk(dataset_path, keep_in_memory, storage_options)
        if not isinstance(found, Dataset):
            raise BadArgument(f"{dataset_path} holds several splits; open it with load_from_disk")
        return found

    @classmethod
    def from_file(
        cls,
        filename: str | os.PathLike[str],
        info: DatasetInfo | None = None,
        split: str | None = None,
        indices_filename: str | os.PathLike[str] | None = None,
        in_memory: bool = False,
    ) -> Self:
        """The rows of one Arrow file or stream, mapped where it lies.

        indices_filename: an Arrow file of row numbers that selects from them
        Raises UnreadableFile, which names what is missing, for a file that holds some columns only.
        """
        path = Path(filename).expanduser()
        view = View.over(Files((path,)), combine("file", stat_name(path)))
        _refuse_half(path, view.sources[0].backing.schema)
        dataset = cls._over(view.in_memory() if in_memory else view, split=split, info=info)
        if indices_filename is None:
            return dataset
        numbers = Files((Path(indices_filename).expanduser(),)).chunks
        rows = [batch.column(0).to_pylist() for batch in numbers.batches]
        return dataset.select([row for part in rows for row in part])  # type: ignore[attr-defined,no-any-return]

    @classmethod
    def from_buffer(
        cls,
        buffer: pa.Buffer | bytes,
        info: DatasetInfo | None = None,
        split: str | None = None,
        indices_buffer: pa.Buffer | bytes | None = None,
    ) -> Self:
        """The rows of an Arrow stream in memory. indices_buffer: a stream of row numbers that selects them"""
        from arrowprep.dataset.load.plain import plain

        table = _stream_in(buffer)
        view = View.over(Memory(plain(table)), combine("memory", table))
        dataset = cls._over(view, split=split, info=info)
        if indices_buffer is None:
            return dataset
        rows = _stream_in(indices_buffer).column(0).to_numpy()
        return dataset.select(rows)  # type: ignore[attr-defined,no-any-return]


def _loading(
    features: Features | None,
    cache_dir: str | os.PathLike[str] | None,
    keep_in_memory: bool,
    num_proc: int | None,
) -> dict[str, Any]:
    """Arguments that `load_local` has under the same names."""
    return {
        "features": features,
        "cache_dir": cache_dir,
        "keep_in_memory": keep_in_memory,
        "num_proc": num_proc,
    }


def _stream_in(buffer: pa.Buffer | bytes) -> pa.Table:
    try:
        return pa.ipc.open_stream(buffer).read_all()
    except pa.ArrowInvalid as error:
        raise UnreadableFile(f"the buffer holds no Arrow stream: {error}") from error


def _refuse_half(path: Path, schema: pa.Schema) -> None:
    """A result that holds new columns only is no dataset without its parent."""
    note = json.loads((schema.metadata or {}).get(ipc.NOTE, b"{}"))
    if kept := note.get("kept"):
        raise UnreadableFile(
            f"{path} holds only what a map made new; the columns {', '.join(kept)} are in its parent, the "
            f"dataset {note.get('parent')}: load that and map again, or use save_to_disk for whole copies",
            path=path,
        )
