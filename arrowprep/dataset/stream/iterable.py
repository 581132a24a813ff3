"""IterableDataset: the second skin, over rows that are read as they come."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np

from arrowprep.dataset.feature_kinds import with_decoding
from arrowprep.dataset.features import Features
from arrowprep.dataset.formats import canonical_name
from arrowprep.dataset.formatted import FormatSpec
from arrowprep.dataset.indices import Span, shard
from arrowprep.dataset.info import DatasetInfo, Split
from arrowprep.dataset.load.parquet import parquet_options
from arrowprep.dataset.stream import changes
from arrowprep.dataset.stream.apply import Batched, Filtered, Mapped, Reshaped
from arrowprep.dataset.stream.base import Draws, Run, Stage
from arrowprep.dataset.stream.export import StreamExports
from arrowprep.dataset.stream.grouped import Grouped
from arrowprep.dataset.stream.held import IterableColumn
from arrowprep.dataset.stream.mix import Interleaved, Stacked, abreast, common_features
from arrowprep.dataset.stream.permute import Permuted
from arrowprep.dataset.stream.rows import Part, Reordered, Repeated, Sliced
from arrowprep.dataset.stream.shuffle import Buffered
from arrowprep.dataset.stream.sources import (
    FileShard,
    Source,
    ViewShard,
    file_shards,
    generator_shards,
    typed,
)
from arrowprep.dataset.verbs.interleave import check_turns
from arrowprep.dataset.verbs.rows import generator_of
from arrowprep.dataset.verbs.spec import MapSpec, names_of
from arrowprep.errors import BadArgument

if TYPE_CHECKING:
    from typing_extensions import Self

    from arrowprep.dataset.dataset import Dataset

_LOOKED_AT = 5  # rows, whose types are those of all
STRATEGIES = ("auto", "shards", "examples")
Paths: TypeAlias = "str | os.PathLike[str] | Sequence[str | os.PathLike[str]]"


class IterableDataset(StreamExports):
    """Rows that are read as they come, in a pass whose exact place can be kept; verbs are lazy.

    >>> numbers = IterableDataset.from_generator(lambda: ({"n": n} for n in range(10**9)))
    >>> list(numbers.map(lambda row: {"n": row["n"] * 2}).take(2))
    [{'n': 0}, {'n': 2}]

    A PyTorch DataLoader knows a stream that was made, or derived from another, after torch was imported.
    """

    # -- make -------------------------------------------------------------------------------------

    @classmethod
    def from_generator(
        cls,
        generator: Callable[..., Iterable[Mapping[str, Any]]],
        features: Features | Mapping[str, Any] | None = None,
        gen_kwargs: Mapping[str, Any] | None = None,
        split: str | None = Split.TRAIN,
    ) -> Self:
        """What a function yields; lists in gen_kwargs are the shards, one element each."""
        wanted = None if features is None else Features(features)
        return cls(Source(generator_shards(generator, gen_kwargs or {}, wanted), wanted), split=split)

    @classmethod
    def _from_files(cls, reader: str, paths: Paths, split: str | None, **options: Any) -> Self:
        from arrowprep.dataset.loading import load_local

        split = split or "train"
        return cast("Self", load_local({split: paths}, split=split, reader=reader, streaming=True, **options))

    @classmethod
    def from_csv(
        cls,
        path_or_paths: Paths,
        split: str | None = None,
        features: Features | None = None,
        keep_in_memory: bool = False,
        **options: Any,
    ) -> Self:
        """The rows of CSV files, a file a shard. options: of the reader"""
        return cls._from_files("csv", path_or_paths, split, features=features, **options)

    @classmethod
    def from_json(
        cls,
        path_or_paths: Paths,
        split: str | None = None,
        features: Features | None = None,
        keep_in_memory: bool = False,
        field: str | None = None,
        **options: Any,
    ) -> Self:
        """The rows of JSON or JSON Lines files, a file a shard. options: of the reader"""
        return cls._from_files("json", path_or_paths, split, features=features, field=field, **options)

    @classmethod
    def from_parquet(
        cls,
        path_or_paths: Paths,
        split: str | None = None,
        features: Features | None = None,
        keep_in_memory: bool = False,
        columns: Sequence[str] | None = None,
        filters: Any = None,
        fragment_scan_options: Any = None,
        on_bad_files: str = "error",
        **options: Any,
    ) -> Self:
        """The rows of Parquet files, a file a shard; `Dataset.from_parquet` says what the arguments mean."""
        reading = parquet_options(filters, fragment_scan_options, on_bad_files)
        return cls._from_files(
            "parquet", path_or_paths, split, features=features, columns=columns, **reading, **options
        )

    @classmethod
    def from_text(
        cls,
        path_or_paths: Paths,
        split: str | None = None,
        features: Features | None = None,
        keep_in_memory: bool = False,
        keep_linebreaks: bool = False,
        sample_by: str = "line",
        **options: Any,
    ) -> Self:
        """The lines, paragraphs or documents of text files, a file a shard. options: of the reader"""
        reading = {"keep_linebreaks": keep_linebreaks, "sample_by": sample_by}
        return cls._from_files("text", path_or_paths, split, features=features, **reading, **options)

    @classmethod
    def from_file(cls, filename: str | os.PathLike[str]) -> Self:
        """The rows of one Arrow file or stream."""
        return cls._from_files("arrow", filename, None)

    @classmethod
    def from_dict(
        cls,
        mapping: Mapping[str, Any],
        features: Features | None = None,
        info: DatasetInfo | None = None,
        split: str | None = None,
        num_shards: int | None = 1,
    ) -> Self:
        """From columns in memory, in shards of neighbouring rows."""
        return cls._of_dataset("from_dict", num_shards, mapping, features, info, split)

    @classmethod
    def from_list(
        cls,
        mapping: Sequence[Mapping[str, Any]],
        features: Features | None = None,
        info: DatasetInfo | None = None,
        split: str | None = None,
        num_shards: int | None = 1,
    ) -> Self:
        """From a list of rows in memory, in shards of neighbouring rows."""
        return cls._of_dataset("from_list", num_shards, mapping, features, info, split)

    @classmethod
    def from_pandas(
        cls,
        df: Any,
        features: Features | None = None,
        info: DatasetInfo | None = None,
        split: str | None = None,
        preserve_index: bool | None = None,
        num_shards: int | None = 1,
    ) -> Self:
        """From a pandas data frame, in shards of neighbouring rows."""
        return cls._of_dataset("from_pandas", num_shards, df, features, info, split, preserve_index)

    @classmethod
    def from_polars(
        cls,
        df: Any,
        features: Features | None = None,
        info: DatasetInfo | None = None,
        split: str | None = None,
        num_shards: int | None = 1,
    ) -> Self:
        """From a Polars data frame, in shards of neighbouring rows."""
        return cls._of_dataset("from_polars", num_shards, df, features, info, split)

    @classmethod
    def _of_dataset(cls, constructor: str, num_shards: int | None, *args: Any) -> Self:
        from arrowprep.dataset.dataset import Dataset

        return cls.over(getattr(Dataset, constructor)(*args), num_shards)

    @classmethod
    def over(cls, dataset: Dataset, num_shards: int | None = 1) -> Self:
        """The rows of a dataset, in shards of neighbouring rows."""
        view, count = dataset._view, num_shards or 1
        if not 1 <= count <= max(view.num_rows, 1):
            raise BadArgument(f"{view.num_rows} rows make no {count} shards", num_shards=count)
        spans = [shard(view.num_rows, count, at) for at in range(count)]
        shards = tuple(ViewShard(view, span) for span in spans if isinstance(span, Span))
        stage = Source(shards, view.features)
        return cls(stage, format=dataset._format, split=dataset._split, info=dataset._info)

    @classmethod
    def over_files(
        cls,
        paths: Sequence[Path],
        reader: str | None,
        columns: Sequence[str] | None,
        features: Features | None,
        options: Mapping[str, Any],
        split: str | None = None,
    ) -> Self:
        """The rows of files, a file a shard; what `load_local(..., streaming=True)` makes."""
        shards, known = typed(file_shards(paths, reader, columns, features, options))
        return cls(Source(shards, known), split=split)

    # -- functions --------------------------------------------------------------------------------

    def map(
        self,
        function: Callable[..., Any] | None = None,
        with_indices: bool = False,
        input_columns: str | Sequence[str] | None = None,
        batched: bool = False,
        batch_size: int | None = 1000,
        drop_last_batch: bool = False,
        remove_columns: str | Sequence[str] | None = None,
        features: Features | Mapping[str, Any] | None = None,
        fn_kwargs: Mapping[str, Any] | None = None,
    ) -> Self:
        """What a function makes of each row or batch as it is read; the rules are those of `Dataset.map`.

        features: the columns of the result and their types, which are not known otherwise
        """
        spec = self._spec(
            function or _identity,
            with_indices=with_indices,
            input_columns=names_of(input_columns),
            batched=batched,
            batch_size=batch_size,
            drop_last_batch=drop_last_batch,
            remove_columns=names_of(remove_columns) or (),
            features=None if features is None else Features(features),
            fn_kwargs=dict(fn_kwargs or {}),
        )
        return self._with(Mapped(self._stage, spec), replace(self._format, columns=None))

    def filter(
        self,
        function: Callable[..., Any] | None = None,
        with_indices: bool = False,
        input_columns: str | Sequence[str] | None = None,
        batched: bool = False,
        batch_size: int | None = 1000,
        fn_kwargs: Mapping[str, Any] | None = None,
    ) -> Self:
        """The rows for which the function is true; a batched one returns one boolean a row."""
        if function is None:
            raise BadArgument("filter needs a function")
        spec = self._spec(
            function,
            with_indices=with_indices,
            input_columns=names_of(input_columns),
            batched=batched,
            batch_size=batch_size,
            fn_kwargs=dict(fn_kwargs or {}),
        )
        return self._with(Filtered(self._stage, spec))

    def _spec(self, function: Callable[..., Any], **fields: Any) -> MapSpec:
        if not callable(function):
            raise BadArgument(f"a function is needed, not a {type(function).__name__}")
        for name in (*(fields["input_columns"] or ()), *fields.get("remove_columns", ())):
            self._check([name])
        return MapSpec(function, format=self._format, **fields)

    def batch(
        self,
        batch_size: int | None = None,
        by_column: str | Sequence[str] | None = None,
        drop_last_batch: bool = False,
    ) -> Self:
        """Rows of lists: batch_size rows of each column as one.

        by_column: as one the neighbouring rows that are equal there, however many, and across shards that
            are read one after the other
        """
        if batch_size is not None and batch_size < 1:
            raise BadArgument(f"batch_size must be at least 1, not {batch_size}", batch_size=batch_size)
        if by_column is not None:
            names = names_of(by_column) or ()
            self._check(names)
            return self._with(Grouped(self._stage, names))
        if batch_size is None:
            raise BadArgument("batch needs a batch_size, or by_column")
        return self._with(Batched(self._stage, batch_size, drop_last_batch))

    # -- rows -------------------------------------------------------------------------------------

    def take(self, n: int) -> Self:
        """The first n rows, the same ones however many workers read."""
        return self._with(Sliced(self._stage, stop=max(n, 0)))

    def skip(self, n: int) -> Self:
        """All rows but the first n; with `take(n)` they are each row once."""
        return self._with(Sliced(self._stage, start=max(n, 0)))

    def repeat(self, num_times: int | None) -> Self:
        """All rows, num_times over; None for ever."""
        return self._with(Repeated(self._stage, num_times))

    def shard(self, num_shards: int, index: int, contiguous: bool = True) -> Self:
        """Some of the shards: neighbours, or every num_shards-th."""
        numbers = shard(self.num_shards, num_shards, index, contiguous=contiguous).array().tolist()
        return self._with(Part(self._stage, tuple(numbers)))

    def reshard(self) -> Self:
        """More shards, where they can be parted: a Parquet file by its row groups."""
        return self._with(resharded(self._stage))

    def shuffle(
        self,
        seed: int | None = None,
        generator: np.random.Generator | None = None,
        buffer_size: int | None = 1000,
        max_buffer_input_shards: int = 10,
    ) -> Self:
        """The shards in an order drawn for each epoch, and their rows drawn through a buffer.

        The order for a seed never changes between releases; `stream.shuffle` says how it is drawn.
        After `take` and `skip` the order of the shards is fixed, and the buffer shuffles alone.

        buffer_size: rows that wait in memory; None for no buffer and any row anywhere, where this is
            `dataset.to_iterable_dataset()` itself (`stream.permute` says how)
        """
        if buffer_size is None:
            return self._with(self._permuted(Draws(generator_of(seed, generator))))
        if buffer_size < 1:
            raise BadArgument(f"buffer_size must be at least 1, not {buffer_size}", buffer_size=buffer_size)
        draws, stage = Draws(generator_of(seed, generator)), self._stage
        if stage.shards_are_rows:
            return self._with(Buffered(stage, draws, buffer_size, 1))
        return self._with(Buffered(Reordered(stage, draws), draws, buffer_size, max_buffer_input_shards))

    def _permuted(self, draws: Draws) -> Permuted:
        shards = self._stage.shards if isinstance(self._stage, Source) else ()
        views = [shard for shard in shards if isinstance(shard, ViewShard)]
        if not views or len(views) < len(shards):
            raise BadArgument(
                "shuffling without a buffer needs rows that can be read by number: shuffle what "
                "to_iterable_dataset() gives before other steps, or give a buffer_size"
            )
        rows = ViewShard(views[0].view, Span(views[0].rows.start, views[-1].rows.stop))
        return Permuted(rows, len(views), draws)

    # -- columns ----------------------------------------------------------------------------------

    def select_columns(self, column_names: str | Sequence[str]) -> Self:
        """Only these columns, in this order."""
        names = names_of(column_names) or ()
        return self._reshaped(changes.Select(names), names, lambda known: {n: known[n] for n in names})

    def remove_columns(self, column_names: str | Sequence[str]) -> Self:
        """Without these columns."""
        names = names_of(column_names) or ()
        return self._reshaped(
            changes.Remove(names), names, lambda known: {n: f for n, f in known.items() if n not in names}
        )

    def rename_column(self, original_column_name: str, new_column_name: str) -> Self:
        """One column under another name, in its place."""
        return self.rename_columns({original_column_name: new_column_name})

    def rename_columns(self, column_mapping: Mapping[str, str]) -> Self:
        """Columns under other names, in their places."""
        mapping = dict(column_mapping)
        return self._reshaped(
            changes.Rename(mapping), list(mapping), lambda k: {mapping.get(n, n): f for n, f in k.items()}
        )

    def cast(self, features: Features | Mapping[str, Any]) -> Self:
        """The columns as other types. Raises, when it is read, where a value does not fit."""
        wanted = Features(features)
        return self._reshaped(changes.CastTo(wanted), list(wanted), lambda known: {**known, **wanted})

    def cast_column(self, column: str, feature: Any) -> Self:
        """One column as another type."""
        return self.cast({column: feature})

    def add_column(self, name: str, column: Any) -> Self:
        """One more column, one value a row; it is read in step with the rows, so there is one shard."""
        if name in (self._stage.features or ()):
            raise BadArgument(f"there is a column {name!r} already; remove or rename it first", column=name)
        added = self.from_dict({name: column})
        return self._with(abreast((self._stage, added._stage)))

    def _reshaped(self, change: Any, names: Sequence[str], features: Callable[[Features], Any]) -> Self:
        self._check(names)
        known = self._stage.features
        stage = Reshaped(self._stage, change, None if known is None else Features(features(known)))
        return self._with(stage, replace(self._format, columns=None))

    def _resolve_features(self) -> Self:
        """The same stream with known features: those of its first rows, where nothing tells them before.

        Under the name that libraries look for. Later rows that do not fit them raise TypeConflict.
        """
        if self._stage.features is not None:
            return self
        first = self._stage.open(Run(self.epoch), range(self.num_shards)).read(_LOOKED_AT)
        found = Features() if first is None else Features.from_arrow_schema(first.schema)
        return self._with(Reshaped(self._stage, changes.CastTo(found), found))

    def _check(self, names: Sequence[str]) -> None:
        if self._stage.features is not None:
            changes.check(names, list(self._stage.features))

    # -- show -------------------------------------------------------------------------------------

    def with_format(self, type: str | None = None, **format_kwargs: Any) -> Self:
        """The same rows shown in another format."""
        spec = FormatSpec(canonical_name(type), options=format_kwargs)
        spec.format  # noqa: B018  unknown options are refused here, not at the first read
        return self._with(format=spec)

    def decode(self, enable: bool = True, num_threads: int | None = None) -> Self:
        """Pictures, JSON and arrays as what they are; with enable=False as they are stored.

        num_threads: that decode neighbouring rows at the same time
        Raises BadArgument where features are not known before rows are read.
        """
        known = self._stage.features
        if known is None:
            raise BadArgument("what is decoded is not known before it is read: give map features=")
        if num_threads is not None and num_threads < 0:
            raise BadArgument(f"num_threads must be at least 0, not {num_threads}", num_threads=num_threads)
        shown = Features({name: with_decoding(feature, enable) for name, feature in known.items()})
        stage = self._stage if shown == known else Reshaped(self._stage, changes.CastTo(shown), shown)
        return self._with(stage, threads=num_threads or 1)

    def push_to_hub(self, *args: Any, **options: Any) -> None:
        """Nothing here opens a connection: this says what to do instead."""
        raise BadArgument(
            "arrowprep uploads nothing: write files with to_parquet, and give the folder to "
            "huggingface_hub.upload_folder"
        )

    def __getitem__(self, name: str) -> IterableColumn:
        """`stream["text"]`: the values of one column, as they come."""
        self._check([name])
        return IterableColumn(self, (name,))


def _identity(row: Any) -> Any:
    return row


def resharded(stage: Stage) -> Stage:
    """The stage over parts of its source's shards; others are as they were."""
    if isinstance(stage, Source):
        parts = [shard.parts() if isinstance(shard, FileShard) else (shard,) for shard in stage.shards]
        return replace(stage, shards=tuple(part for some in parts for part in some))
    if isinstance(stage, Mapped | Filtered | Batched | Grouped | Reshaped | Sliced | Repeated):
        return replace(stage, input=resharded(stage.input))
    return stage


def concatenated(
    streams: Sequence[IterableDataset], info: DatasetInfo | None, split: str | None, axis: int
) -> IterableDataset:
    """Streams end to end, features aligned where they are known, or side by side."""
    stages = tuple(stream._stage for stream in streams)
    stage = abreast(stages) if axis else Stacked(stages, common_features(stages))
    return _together(streams, stage, info, split)


def _together(
    streams: Sequence[IterableDataset], stage: Stage, info: DatasetInfo | None, split: str | None
) -> IterableDataset:
    first = streams[0]
    told = info or DatasetInfo.from_merge([stream._info for stream in streams])
    return IterableDataset(stage, format=first._format, split=split or first.split, info=told)


def interleaved(
    streams: Sequence[IterableDataset],
    probabilities: Sequence[float] | None,
    seed: int | None,
    info: DatasetInfo | None,
    split: str | None,
    strategy: str,
) -> IterableDataset:
    """Rows of streams by turns; what `interleave_datasets` says."""
    check_turns(len(streams), probabilities, strategy)
    stages = tuple(stream._stage for stream in streams)
    draws = None if probabilities is None else Draws(np.random.default_rng(seed))
    weights = None if probabilities is None else tuple(probabilities)
    stage = Interleaved(stages, common_features(stages), strategy, draws, weights)
    return _together(streams, stage, info, split)


def split_by_node(stream: IterableDataset, rank: int, world_size: int, strategy: str) -> IterableDataset:
    """The share of one node; "auto" takes shards where they can be dealt evenly, else every n-th row."""
    if strategy not in STRATEGIES:
        raise BadArgument(f"strategy {strategy!r} is none of {', '.join(STRATEGIES)}")
    count = stream.num_shards
    if strategy == "shards" and count < world_size:
        raise BadArgument(f"{count} shards are too few for {world_size} nodes; use strategy='examples'")
    if strategy == "shards" or (strategy == "auto" and count % world_size == 0):
        return stream.shard(world_size, rank, contiguous=False)
    return stream._with(Sliced(stream._stage, start=rank, step=world_size))
