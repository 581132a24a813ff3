"""Dataset: the skin that users hold. Each method makes a spec, calls a verb and wraps the view."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from arrowprep import config
from arrowprep.dataset.column import Column
from arrowprep.dataset.construct import table_of_columns, table_of_frame, table_of_rows
from arrowprep.dataset.export import Exports
from arrowprep.dataset.features import Features
from arrowprep.dataset.fingerprint import Unnameable, combine, fingerprint_of
from arrowprep.dataset.formats import canonical_name
from arrowprep.dataset.formatted import TRANSFORM, FormatSpec
from arrowprep.dataset.indices import Rows, Span, row_of, rows_of
from arrowprep.dataset.storage.backing import Memory
from arrowprep.dataset.storage.cache import Cache
from arrowprep.dataset.storage.scratch import scratch_folder
from arrowprep.dataset.verbs import rows as row_verbs
from arrowprep.dataset.verbs.batches import MapSpec, names_of
from arrowprep.dataset.verbs.filter import filter_view
from arrowprep.dataset.verbs.map import RunOptions, map_name, map_view
from arrowprep.dataset.view import View
from arrowprep.errors import ArrowprepWarning, BadArgument, BadSelection, LengthMismatch

if TYPE_CHECKING:
    import pandas as pd

    from arrowprep.dataset.splits import DatasetDict

_ROWS_AT_ONCE = 1000


class Dataset(Exports):
    """Rows of named columns over mapped Arrow files; immutable but for its format.

    >>> ds = Dataset.from_dict({"text": ["a", "b"]})
    >>> ds.map(lambda row: {"n": len(row["text"])})[0]
    {'text': 'a', 'n': 1}
    """

    _view: View
    _format: FormatSpec
    _split: str | None
    _cache_dir: Path | None

    def __init__(self, arrow_table: Any, *, split: str | None = None, fingerprint: str | None = None) -> None:
        """Over an Arrow table, or anything with the Arrow stream method, in memory."""
        table = arrow_table if isinstance(arrow_table, pa.Table) else pa.table(arrow_table)
        view = View.over(Memory(table), fingerprint or combine("memory", fingerprint_of(table)))
        self._set(view, FormatSpec(), split, None)

    def _set(self, view: View, format: FormatSpec, split: str | None, cache_dir: Path | None) -> None:
        self._view, self._format, self._split, self._cache_dir = view, format, split, cache_dir

    @classmethod
    def _over(cls, view: View, *, split: str | None = None, cache_dir: Path | None = None) -> Dataset:
        dataset = cls.__new__(cls)
        dataset._set(view, FormatSpec(), split, cache_dir)
        return dataset

    def _with(self, view: View | None = None, format: FormatSpec | None = None) -> Dataset:
        """This dataset with another view or format."""
        dataset = type(self).__new__(type(self))
        dataset._set(view or self._view, format or self._format, self._split, self._cache_dir)
        return dataset

    # -- make one ----------------------------------------------------------------------------------

    @classmethod
    def from_dict(
        cls, mapping: Mapping[str, Any], features: Features | None = None, *, split: str | None = None
    ) -> Dataset:
        """From columns: lists, NumPy or Arrow arrays of one length."""
        return cls(table_of_columns(mapping, features), split=split)

    @classmethod
    def from_list(
        cls, rows: Sequence[Mapping[str, Any]], features: Features | None = None, *, split: str | None = None
    ) -> Dataset:
        """From rows; the columns are the keys of all rows, absent ones null."""
        return cls(table_of_rows(rows, features), split=split)

    @classmethod
    def from_pandas(
        cls,
        df: pd.DataFrame,
        features: Features | None = None,
        *,
        split: str | None = None,
        preserve_index: bool | None = None,
    ) -> Dataset:
        """From a pandas data frame; its index becomes a column where it has a name, or on request."""
        return cls(table_of_frame(df, features, preserve_index), split=split)

    # -- look at it --------------------------------------------------------------------------------

    def __len__(self) -> int:
        return self._view.num_rows

    @property
    def num_rows(self) -> int:
        return self._view.num_rows

    @property
    def num_columns(self) -> int:
        return len(self._view.columns)

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, columns)"""
        return self.num_rows, self.num_columns

    @property
    def column_names(self) -> list[str]:
        return self._view.column_names

    @property
    def features(self) -> Features:
        """Column names and what they hold, in order."""
        return self._view.features.copy()

    @property
    def split(self) -> str | None:
        """The name of the split that this was loaded as."""
        return self._split

    @property
    def cache_files(self) -> list[dict[str, str]]:
        """The Arrow files behind the columns; none for data in memory."""
        return [{"filename": str(path)} for path in self._view.files]

    @property
    def fingerprint(self) -> str:
        """The name of the content: equal for equal files and equal steps."""
        return self._view.fingerprint

    @property
    def _fingerprint(self) -> str:
        return self._view.fingerprint

    @property
    def data(self) -> pa.Table:
        """All rows as an Arrow table; contiguous ones are mapped, not copied."""
        return self._view.read(Span(0, len(self)))

    @property
    def format(self) -> dict[str, Any]:
        """What `set_format` set."""
        known = self._format.saved() or {"type": self._format.name}
        return {**known, "columns": list(self._format.columns or self.column_names)}

    def __repr__(self) -> str:
        width = max((len(name) for name in self.column_names), default=0)
        lines = [f"    {name:<{width}}  {feature!r}" for name, feature in self._view.features.items()]
        split = f"{self._split}: " if self._split else ""
        head = f"Dataset({split}{len(self):,} rows, {self.num_columns} columns"
        return "\n".join([head + (":" if lines else ""), *lines]) + ")"

    # -- read --------------------------------------------------------------------------------------

    def __getitem__(self, key: Any) -> Any:
        """`ds[3]` a row, `ds["text"]` a column, `ds[2:5]`, `ds[[3, 1]]` or `ds[mask]` a dict of columns."""
        if isinstance(key, str):
            return self._whole_column(key)
        if isinstance(key, bool | np.bool_):
            raise BadSelection("a bool selects no row; use 0 or 1, or a boolean mask with one entry a row")
        if isinstance(key, int | np.integer):
            row = row_of(int(key), len(self))
            return self._format.row(self._read(Span(row, row + 1)), self._view.features)
        return self._format.batch(self._read(rows_of(key, len(self))), self._view.features)

    def __getitems__(self, keys: Sequence[int]) -> list[Any]:
        """Rows by number, read together; what a PyTorch DataLoader calls."""
        table = self._read(rows_of(keys, len(self)))
        return list(self._rows(table))

    def __iter__(self) -> Iterator[Any]:
        for start in range(0, len(self), _ROWS_AT_ONCE):
            yield from self._rows(self._read(Span(start, min(start + _ROWS_AT_ONCE, len(self)))))

    def iter(self, batch_size: int, drop_last_batch: bool = False) -> Iterator[Any]:
        """Batches of rows, as the format shows them."""
        if batch_size < 1:
            raise BadArgument(f"batch_size must be at least 1, not {batch_size}", batch_size=batch_size)
        stop = len(self) - len(self) % batch_size if drop_last_batch else len(self)
        for start in range(0, stop, batch_size):
            table = self._read(Span(start, min(start + batch_size, stop)))
            yield self._format.batch(table, self._view.features)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.data.__arrow_c_stream__(requested_schema)

    def _read(self, rows: Rows) -> pa.Table:
        return self._view.read(rows, self._format.covered(self.column_names))

    def _rows(self, table: pa.Table) -> Iterator[Any]:
        """The rows of a table one by one, as the format shows them."""
        if not self._format.shows_lazily:
            for i in range(table.num_rows):
                yield self._format.row(table.slice(i, 1), self._view.features)
            return
        columns = {
            name: self._format.column(name, table.column(name), self._view.features)
            for name in table.column_names
        }
        names = list(columns)
        for values in zip(*columns.values(), strict=True):
            yield dict(zip(names, values, strict=True))

    def _whole_column(self, name: str) -> Any:
        self._view.check([name])
        if self._format.shows_lazily or self._format.transform is not None:
            return Column(self, name)
        return self._column_values(name, Span(0, len(self)))

    def _column_values(self, name: str, rows: Rows, path: tuple[str, ...] = ()) -> Any:
        """Values of one column, or of a field within it, as the format shows them."""
        column = self._view.read(rows, [name]).column(name)
        features = self._view.features
        if path:
            column = pa.chunked_array(
                [_field(chunk, path) for chunk in column.chunks], _field_type(column.type, path)
            )
            features = Features.from_arrow_schema(pa.schema([pa.field(name, column.type)]))
        return self._format.column(name, column, features)

    # -- choose and order rows ---------------------------------------------------------------------

    def select(self, indices: Any) -> Dataset:
        """The rows of a slice, range, mask or collection of row numbers; negative ones from the end."""
        return self._with(row_verbs.select(self._view, indices, self._cache))

    def skip(self, n: int) -> Dataset:
        """All rows but the first n."""
        return self.select(range(min(n, len(self)), len(self)))

    def take(self, n: int) -> Dataset:
        """The first n rows, or all when there are fewer."""
        return self.select(range(min(n, len(self))))

    def shard(self, num_shards: int, index: int, contiguous: bool = True) -> Dataset:
        """Shard `index` of `num_shards`: neighbouring rows, or every num_shards-th row."""
        return self._with(row_verbs.select_shard(self._view, num_shards, index, contiguous))

    def shuffle(
        self,
        seed: int | None = None,
        generator: np.random.Generator | None = None,
        *,
        load_from_cache_file: bool | None = None,
    ) -> Dataset:
        """All rows in an order drawn by NumPy's default generator; equal seeds give equal orders."""
        drawn = row_verbs.generator_of(seed, generator)
        return self._with(
            row_verbs.shuffle(self._view, drawn, self._cache, self._reuse(load_from_cache_file))
        )

    def sort(
        self,
        column_names: str | Sequence[str],
        reverse: bool | Sequence[bool] = False,
        null_placement: str = "at_end",
    ) -> Dataset:
        """Rows ordered by one or more columns; equal rows keep their order."""
        columns = list(names_of(column_names) or ())
        down = [reverse] * len(columns) if isinstance(reverse, bool) else list(reverse)
        if len(down) != len(columns):
            raise BadArgument(f"reverse has {len(down)} entries for {len(columns)} columns")
        places = {"at_end": False, "last": False, "at_start": True, "first": True}
        if null_placement not in places:
            raise BadArgument(f"null_placement {null_placement!r} is none of {', '.join(places)}")
        return self._with(row_verbs.sort(self._view, columns, down, places[null_placement], self._cache))

    def train_test_split(
        self,
        test_size: float | int | None = None,
        train_size: float | int | None = None,
        shuffle: bool = True,
        seed: int | None = None,
        generator: np.random.Generator | None = None,
    ) -> DatasetDict:
        """Two datasets, "train" and "test", of rows drawn without replacement; a quarter is the test."""
        from arrowprep.dataset.splits import DatasetDict

        train, test = row_verbs.split_sizes(len(self), test_size, train_size)
        drawn = row_verbs.generator_of(seed, generator) if shuffle else None
        drawn_name = None if drawn is None else fingerprint_of(drawn)
        chosen = dict(
            zip(("train", "test"), row_verbs.split_rows(len(self), train, test, drawn), strict=True)
        )
        splits = DatasetDict()
        for split, rows in chosen.items():
            name = combine("train_test_split", self._fingerprint, split, train, test, drawn_name)
            splits[split] = self._with(self._view.select(row_verbs.stored(rows, name, self._cache), name))
        return splits

    def unique(self, column: str) -> list[Any]:
        """The distinct values of a column."""
        return list(row_verbs.unique(self._view, column).to_pylist())

    def flatten_indices(self, **options: Any) -> Dataset:
        """The rows written out in their order, so that reading them is sequential."""
        if all(isinstance(source.rows, Span) for source in self._view.sources):
            return self
        plain = self._with(format=FormatSpec("arrow"))
        flat = plain.map(_identity, batched=True, desc="Flattening the indices", **options)
        return self._with(flat._view)

    # -- columns -----------------------------------------------------------------------------------

    def remove_columns(self, column_names: str | Sequence[str]) -> Dataset:
        """Without these columns."""
        gone = self._view.check(names_of(column_names) or ())
        return self.select_columns([name for name in self.column_names if name not in gone])

    def select_columns(self, column_names: str | Sequence[str]) -> Dataset:
        """Only these columns, in this order."""
        names = self._view.check(names_of(column_names) or ())
        view = self._view.keep(names, combine("select_columns", self._fingerprint, tuple(names)))
        covered = self._format.columns
        kept = None if covered is None else tuple(name for name in covered if name in names)
        return self._with(view, replace(self._format, columns=kept))

    def rename_column(self, original_column_name: str, new_column_name: str) -> Dataset:
        """One column under another name, in its place."""
        return self.rename_columns({original_column_name: new_column_name})

    def rename_columns(self, column_mapping: Mapping[str, str]) -> Dataset:
        """Columns under other names, in their places."""
        self._view.check(column_mapping)
        names = [column_mapping.get(name, name) for name in self.column_names]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise BadArgument(f"renaming would make more than one column {', '.join(map(repr, twice))}")
        view = self._view.rename(
            column_mapping, combine("rename_columns", self._fingerprint, dict(column_mapping))
        )
        covered = self._format.columns
        kept = None if covered is None else tuple(column_mapping.get(name, name) for name in covered)
        return self._with(view, replace(self._format, columns=kept))

    def add_column(self, name: str, column: Any, feature: Any = None) -> Dataset:
        """One more column, one value a row."""
        if name in self._view.columns:
            raise BadArgument(f"there is a column {name!r} already; remove or rename it first", column=name)
        table = table_of_columns({name: column}, None if feature is None else Features({name: feature}))
        if table.num_rows != len(self):
            raise LengthMismatch(f"column {name!r} has {table.num_rows} values for {len(self)} rows")
        new = combine("add_column", self._fingerprint, name, fingerprint_of(table))
        return self._with(self._view.beside(View.over(Memory(table), new), new))

    # -- format ------------------------------------------------------------------------------------

    def set_format(
        self,
        type: str | None = None,
        columns: Sequence[str] | None = None,
        output_all_columns: bool = False,
        **format_kwargs: Any,
    ) -> None:
        """Set how rows come out, in place: None or "python", "numpy", "arrow", "pandas"."""
        covered = None if columns is None else tuple(self._view.check(names_of(columns) or ()))
        name = canonical_name(type)
        self._format = FormatSpec(name, covered, output_all_columns, format_kwargs)
        self._format.format  # noqa: B018  unknown options are refused here, not at the first read

    def with_format(
        self,
        type: str | None = None,
        columns: Sequence[str] | None = None,
        output_all_columns: bool = False,
        **format_kwargs: Any,
    ) -> Dataset:
        """The same dataset, shown in another format; nothing is copied."""
        dataset = self._with()
        dataset.set_format(type, columns, output_all_columns, **format_kwargs)
        return dataset

    def reset_format(self) -> None:
        """Show Python objects again."""
        self.set_format()

    @contextmanager
    def formatted_as(self, type: str | None = None, **options: Any) -> Iterator[None]:
        """`set_format` for the length of a with block."""
        before = self._format
        try:
            self.set_format(type, **options)
            yield
        finally:
            self._format = before

    def set_transform(
        self,
        transform: Callable[[dict[str, Any]], Mapping[str, Any]] | None,
        columns: Sequence[str] | None = None,
        output_all_columns: bool = False,
    ) -> None:
        """Set a function from batch dict to batch dict that rows pass as they are read, in place."""
        if transform is None:
            return self.reset_format()
        covered = None if columns is None else tuple(self._view.check(names_of(columns) or ()))
        self._format = FormatSpec(TRANSFORM, covered, output_all_columns, transform=transform)
        return None

    def with_transform(
        self,
        transform: Callable[[dict[str, Any]], Mapping[str, Any]] | None,
        columns: Sequence[str] | None = None,
        output_all_columns: bool = False,
    ) -> Dataset:
        """The same dataset, whose rows pass a function as they are read."""
        dataset = self._with()
        dataset.set_transform(transform, columns, output_all_columns)
        return dataset

    # -- map and filter ----------------------------------------------------------------------------

    def map(
        self,
        function: Callable[..., Any] | None = None,
        with_indices: bool = False,
        with_rank: bool = False,
        input_columns: str | Sequence[str] | None = None,
        batched: bool = False,
        batch_size: int | None = 1000,
        drop_last_batch: bool = False,
        remove_columns: str | Sequence[str] | None = None,
        keep_in_memory: bool = False,
        load_from_cache_file: bool | None = None,
        cache_file_name: str | None = None,
        features: Features | Mapping[str, Any] | None = None,
        fn_kwargs: Mapping[str, Any] | None = None,
        num_proc: int | None = None,
        new_fingerprint: str | None = None,
        desc: str | None = None,
    ) -> Dataset:
        """Apply a function to every row, or batch of rows, and keep what it makes.

        The function gets a mapping (a row, or columns where `batched`) and returns a
        mapping: its columns are added, or replace those of the same name; a batch may
        come back with another number of rows when no column is kept. A pyarrow table
        or data frame stands for all columns. None for every row means that the
        function is called for what it does. The result is cached by the content of
        the data, the function and what it reads; the rows are the same whatever
        num_proc is.

        input_columns: these columns as positional arguments instead of a mapping
        batch_size: rows a call; None or 0 for all
        remove_columns: taken away before what the function returned is added
        features: the types of columns of the result
        num_proc: worker processes; None for this one
        new_fingerprint: the name of the result, for functions that cannot be named
        Raises MapError, with the rows, when the function fails.
        """
        if function is None:
            function = _identity
        if not callable(function):
            raise BadArgument(f"map needs a function, not a {type(function).__name__}")
        spec = self._spec(
            function,
            batched=batched,
            batch_size=batch_size,
            drop_last_batch=drop_last_batch,
            with_indices=with_indices,
            with_rank=with_rank,
            input_columns=names_of(input_columns),
            remove_columns=names_of(remove_columns) or (),
            features=None if features is None else Features(features),
            fn_kwargs=dict(fn_kwargs or {}),
        )
        name, options = self._run("map", spec, new_fingerprint, load_from_cache_file, num_proc, desc or "Map")
        view = map_view(self._view, spec, name, replace(options, keep_in_memory=keep_in_memory))
        return self._with(view, self._format_of(view))

    def filter(
        self,
        function: Callable[..., Any] | None = None,
        with_indices: bool = False,
        with_rank: bool = False,
        input_columns: str | Sequence[str] | None = None,
        batched: bool = False,
        batch_size: int | None = 1000,
        load_from_cache_file: bool | None = None,
        fn_kwargs: Mapping[str, Any] | None = None,
        num_proc: int | None = None,
        new_fingerprint: str | None = None,
        desc: str | None = None,
    ) -> Dataset:
        """The rows for which the function is true; a batched one returns one boolean a row."""
        if function is None or not callable(function):
            raise BadArgument("filter needs a function")
        spec = self._spec(
            function,
            batched=batched,
            batch_size=batch_size,
            with_indices=with_indices,
            with_rank=with_rank,
            input_columns=names_of(input_columns),
            fn_kwargs=dict(fn_kwargs or {}),
        )
        name, options = self._run(
            "filter", spec, new_fingerprint, load_from_cache_file, num_proc, desc or "Filter"
        )
        return self._with(filter_view(self._view, spec, name, options))

    def _spec(self, function: Callable[..., Any], **fields: Any) -> MapSpec:
        return MapSpec(function, format=self._format, **fields)

    def _run(
        self,
        operation: str,
        spec: MapSpec,
        new_fingerprint: str | None,
        load_from_cache_file: bool | None,
        num_proc: int | None,
        desc: str,
    ) -> tuple[str, RunOptions]:
        """The name of a result, and how to make it."""
        if num_proc is not None and num_proc < 0:
            raise BadArgument(f"num_proc must not be negative: {num_proc}", num_proc=num_proc)
        cache, reuse = self._cache, self._reuse(load_from_cache_file)
        try:
            name = new_fingerprint or map_name(self._view, spec, operation)
        except Unnameable as reason:
            warnings.warn(_uncached(operation, reason), ArrowprepWarning, stacklevel=3)
            name, cache, reuse = _unrepeatable_name(), Cache(scratch_folder()), False
        cache.path(name)  # refuses a name that no file can have before anything runs
        return name, RunOptions(cache=cache, num_proc=num_proc, reuse=reuse, desc=desc)

    def _format_of(self, view: View) -> FormatSpec:
        """Our format on a view made from ours: new columns join the covered ones."""
        covered = self._format.columns
        if covered is None:
            return self._format
        new = [name for name in view.columns if name not in self._view.columns]
        return replace(self._format, columns=(*(n for n in covered if n in view.columns), *new))

    @property
    def _cache(self) -> Cache:
        settings = config.settings()
        if not settings.caching:
            return Cache(scratch_folder())
        return Cache((self._cache_dir or settings.cache_dir) / "results")

    def _reuse(self, load_from_cache_file: bool | None) -> bool:
        return config.settings().caching if load_from_cache_file is None else load_from_cache_file


def concatenate_datasets(dsets: Iterable[Dataset], split: str | None = None, axis: int = 0) -> Dataset:
    """Datasets end to end (axis 0, features aligned) or side by side (axis 1); nothing is copied."""
    from arrowprep.dataset.verbs.combine import side_by_side, stack

    dsets = list(dsets)
    if not dsets:
        raise BadArgument("there are no datasets to concatenate")
    if axis not in (0, 1):
        raise BadArgument(f"axis must be 0 (rows) or 1 (columns), not {axis!r}")
    if odd := [type(d).__name__ for d in dsets if not isinstance(d, Dataset)]:
        raise BadArgument(f"only datasets can be concatenated, not {odd[0]}")
    join = stack if axis == 0 else side_by_side
    view = dsets[0]._view if len(dsets) == 1 else join([d._view for d in dsets])
    formats = {repr(d._format.identity) for d in dsets}
    joined = Dataset._over(view, split=split or dsets[0].split, cache_dir=dsets[0]._cache_dir)
    if len(formats) == 1 and (axis == 0 or dsets[0]._format.columns is None):
        joined._format = dsets[0]._format
    return joined


def _identity(batch: Any) -> Any:
    return batch


def _uncached(operation: str, reason: Unnameable) -> str:
    return (
        f"the result of {operation} is not cached, since its function cannot be named: {reason} "
        "Or give the result a name of your own: new_fingerprint=..."
    )


def _unrepeatable_name() -> str:
    import secrets

    return secrets.token_hex(16)


def _field(chunk: pa.Array, path: tuple[str, ...]) -> pa.Array:
    import pyarrow.compute as pc

    return pc.struct_field(chunk, list(path))


def _field_type(kind: pa.DataType, path: tuple[str, ...]) -> pa.DataType:
    for name in path:
        kind = kind.field(name).type
    return kind
