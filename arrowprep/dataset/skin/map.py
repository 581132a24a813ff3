"""Functions over rows: map, filter, and what is made of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from arrowprep import config
from arrowprep.dataset import verbs
from arrowprep.dataset.features import Features, List
from arrowprep.dataset.fingerprint import Unnameable
from arrowprep.dataset.formatted import FormatSpec
from arrowprep.dataset.indices import Span
from arrowprep.dataset.skin.held import Held
from arrowprep.dataset.storage.backing import own_copy
from arrowprep.dataset.storage.cache import Cache
from arrowprep.dataset.storage.scratch import scratch_folder
from arrowprep.dataset.verbs.naming import result_name
from arrowprep.dataset.verbs.spec import MapSpec, RunOptions, names_of
from arrowprep.dataset.view import View
from arrowprep.errors import BadArgument, WrongType, warn

if TYPE_CHECKING:
    from typing_extensions import Self

    from arrowprep.dataset.verbs.explain import Explanation


# arguments that decide rows; the others decide only how a map runs
_DECIDE_FILTER = {"batched", "batch_size", "with_indices", "with_rank", "input_columns", "fn_kwargs"}
_DECIDE_MAP = _DECIDE_FILTER | {
    "drop_last_batch",
    "remove_columns",
    "features",
    "on_error",
    "try_original_type",
    "on_mixed_types",
}


class Maps(Held):
    """map and filter, cached by content."""

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
        cache_file_name: str | os.PathLike[str] | None = None,
        writer_batch_size: int | None = 1000,
        features: Features | Mapping[str, Any] | None = None,
        disable_nullable: bool = False,
        fn_kwargs: Mapping[str, Any] | None = None,
        num_proc: int | None = None,
        suffix_template: str = "_{rank:05d}_of_{num_proc:05d}",
        new_fingerprint: str | None = None,
        desc: str | None = None,
        try_original_type: bool = True,
        on_mixed_types: str | None = None,
        on_error: str = "raise",
        progress: bool | None = None,
        compression: str | None = None,
        verify: bool | None = None,
        mp_context: str | None = None,
    ) -> Self:
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
        cache_file_name: a file for the whole result, in place of the cache
        new_fingerprint: the name of the result, for functions that cannot be named
        try_original_type: False stores returned values of a known column by their own type alone,
            also where the old one would hold them
        on_mixed_types: "use_json" makes a column JSON whose values are of no one type, which is an
            error otherwise; give it features={name: Json()} where that is known before
        writer_batch_size, suffix_template, disable_nullable: taken, for they may stand in a script;
            they change no row
        on_error: where the function fails, "raise", leave new columns "null", or "skip" the rows
            (a batch fails as a whole); a warning tells which rows and why, on cached runs too
        progress: whether a bar shows, of this call; by default what the settings say
        compression: of the files written, "lz4", "zstd" or "none"; by default what the settings say
        verify: read a result that is found, and make anew what is not as it was written; by default
            what the settings say
        mp_context: how workers are started, for this call: "spawn" (each a new Python), "forkserver" (forks
            of a clean one), "fork" (of this process, with the locks that its threads hold); by default
            forks of a clean process where that is safe, which stay for the next call
        Raises MapError, with the rows, when the function fails.
        """
        if function is None:
            function = _identity
        if not callable(function):
            raise WrongType(f"map needs a function, not a {type(function).__name__}")
        if on_error not in ("raise", "null", "skip"):
            raise BadArgument(f"on_error {on_error!r} is none of raise, null, skip", on_error=on_error)
        if on_mixed_types not in (None, "use_json"):
            raise BadArgument(f'on_mixed_types {on_mixed_types!r} is neither None nor "use_json"')
        if keep_in_memory and cache_file_name is not None:
            raise BadArgument("keep_in_memory and cache_file_name exclude each other")
        _check_names(cache_file_name, suffix_template)
        spec = self._spec(
            function,
            batched=batched,
            batch_size=batch_size,
            drop_last_batch=drop_last_batch,
            with_indices=with_indices,
            with_rank=with_rank,
            input_columns=input_columns,
            remove_columns=remove_columns,
            features=features,
            fn_kwargs=fn_kwargs,
            on_error=on_error,
            try_original_type=try_original_type,
            on_mixed_types=on_mixed_types,
        )
        name, options = self._run(
            "map",
            spec,
            new_fingerprint,
            load_from_cache_file,
            num_proc=num_proc,
            desc=desc or "Map",
            show_progress=progress,
            compression=compression,
            verify=verify,
            keep_in_memory=keep_in_memory,
            mp_context=mp_context,
        )
        if cache_file_name is not None:
            view = verbs.map.map_to_file(self._view, spec, name, options, Path(cache_file_name))
        else:
            view = verbs.map.map_any_types(self._view, spec, name, options)
        return self._with(view, self._format_of(view))

    def filter(
        self,
        function: Callable[..., Any] | None = None,
        with_indices: bool = False,
        with_rank: bool = False,
        input_columns: str | Sequence[str] | None = None,
        batched: bool = False,
        batch_size: int | None = 1000,
        keep_in_memory: bool = False,
        load_from_cache_file: bool | None = None,
        cache_file_name: str | os.PathLike[str] | None = None,
        writer_batch_size: int | None = 1000,
        fn_kwargs: Mapping[str, Any] | None = None,
        num_proc: int | None = None,
        suffix_template: str = "_{rank:05d}_of_{num_proc:05d}",
        new_fingerprint: str | None = None,
        desc: str | None = None,
        progress: bool | None = None,
        verify: bool | None = None,
        mp_context: str | None = None,
    ) -> Self:
        """The rows for which the function is true; a batched one returns one boolean a row.

        A pyarrow expression, such as `pc.field("n") > 3`, is evaluated by Arrow; null is not true.

        cache_file_name: a file for the numbers of the rows, as `from_file` reads it
        writer_batch_size, suffix_template: as `map` takes them
        """
        if verbs.expressions.is_expression(function):
            function, batched = verbs.expressions.Mask(function), True
        if function is None or not callable(function):
            raise WrongType("filter needs a function or a pyarrow expression")
        _check_names(cache_file_name, suffix_template)
        spec = self._spec(
            function,
            batched=batched,
            batch_size=batch_size,
            with_indices=with_indices,
            with_rank=with_rank,
            input_columns=input_columns,
            fn_kwargs=fn_kwargs,
        )
        name, options = self._run(
            "filter",
            spec,
            new_fingerprint,
            load_from_cache_file,
            num_proc=num_proc,
            desc=desc or "Filter",
            show_progress=progress,
            verify=verify,
            keep_in_memory=keep_in_memory,
            mp_context=mp_context,
        )
        return self._with(verbs.filter.filter_view(self._view, spec, name, options))._numbered(
            cache_file_name
        )

    def explain_cache(
        self,
        function: Callable[..., Any] | None = None,
        operation: str = "map",
        *,
        new_fingerprint: str | None = None,
        **arguments: Any,
    ) -> Explanation:
        """Whether `map` (or `filter`) with these arguments finds its result, and if not, which part of its
        name differs from the nearest entry: a constant, a helper, a module-level value, an argument, a file.
        """
        decide = {"map": _DECIDE_MAP, "filter": _DECIDE_FILTER}
        if operation not in decide:
            raise BadArgument(f"operation {operation!r} is neither map nor filter")
        known = {name: value for name, value in arguments.items() if name in decide[operation]}
        spec = self._spec(function or _identity, **known)
        return verbs.explain.explain(self._view, spec, operation, self._cache, new_fingerprint)

    def cleanup_cache_files(self) -> int:
        """Remove results that were made of this dataset and that nobody uses; how many.

        Files of this dataset, and of any that is open in some process, stay.
        """
        from arrowprep.dataset.storage import shelf

        own = set(self._view.files)
        made = [
            entry for entry in shelf.results(self._cache.folder) if entry.parent == self._view.fingerprint
        ]
        return sum(entry.remove() for entry in made if own.isdisjoint(entry.files))

    def _spec(
        self,
        function: Callable[..., Any],
        *,
        batch_size: int | None = 1000,
        input_columns: str | Sequence[str] | None = None,
        remove_columns: str | Sequence[str] | None = None,
        features: Features | Mapping[str, Any] | None = None,
        fn_kwargs: Mapping[str, Any] | None = None,
        on_error: str = "raise",
        on_mixed_types: str | None = None,
        **flags: bool,
    ) -> MapSpec:
        return MapSpec(
            function,
            batch_size=batch_size,
            input_columns=names_of(input_columns),
            remove_columns=names_of(remove_columns) or (),
            features=None if features is None else Features(features),
            fn_kwargs=dict(fn_kwargs or {}),
            on_error=on_error,
            on_mixed_types=on_mixed_types,
            format=self._format,
            **flags,
        )

    def _run(
        self,
        operation: str,
        spec: MapSpec,
        new_fingerprint: str | None,
        load_from_cache_file: bool | None,
        *,
        num_proc: int | None,
        compression: str | None = None,
        verify: bool | None = None,
        **how: Any,
    ) -> tuple[str, RunOptions]:
        """The name of a result, and how to make it. how: further fields of RunOptions"""
        if num_proc is not None and num_proc < 0:
            raise BadArgument(f"num_proc must not be negative: {num_proc}", num_proc=num_proc)
        cache, reuse, known = self._cache, self._reuse(load_from_cache_file), config.settings()
        try:
            name = new_fingerprint or result_name(self._view, spec, operation)
        except Unnameable as reason:
            warn(_uncached(operation, reason))
            name, cache, reuse = _unrepeatable_name(), Cache(scratch_folder()), False
        cache.path(name)  # refuses a name that no file can have before anything runs
        return name, RunOptions(
            cache=cache,
            operation=operation,
            num_proc=num_proc,
            reuse=reuse,
            compression=config.check_compression(compression or known.cache_compression),
            verify=known.verify if verify is None else verify,
            **how,
        )

    def _format_of(self, view: View) -> FormatSpec:
        """Our format on a view made from ours: new columns join the covered ones."""
        covered = self._format.columns
        if covered is None:
            return self._format
        new = [name for name in view.columns if name not in self._view.columns]
        return replace(self._format, columns=(*(n for n in covered if n in view.columns), *new))

    def batch(
        self,
        batch_size: int | None = None,
        by_column: str | Sequence[str] | None = None,
        drop_last_batch: bool = False,
        num_proc: int | None = None,
        new_fingerprint: str | None = None,
    ) -> Self:
        """Rows of lists: batch_size rows of each column as one, or neighbours that are equal in some columns.

        by_column: the columns; batch_size beside it is taken, and cuts no run of neighbours
        num_proc: not beside by_column, for one process finds the neighbours
        """
        if batch_size is not None and batch_size < 1:
            raise BadArgument(f"batch_size must be at least 1, not {batch_size}", batch_size=batch_size)
        if by_column is not None:
            names = self._view.check(names_of(by_column) or ())
            return self._with(verbs.group.grouped(self._view, names))._called(new_fingerprint)
        if batch_size is None:
            raise BadArgument("batch needs a batch_size, or by_column")
        plain = self._with(format=FormatSpec())
        batched = plain.map(
            _as_one_row,
            batched=True,
            batch_size=batch_size,
            drop_last_batch=drop_last_batch,
            num_proc=num_proc,
            features=Features({name: List(feature) for name, feature in self._view.features.items()}),
            desc="Batching",
            new_fingerprint=new_fingerprint,
        )
        return self._with(batched._view)

    def flatten_indices(
        self,
        keep_in_memory: bool = False,
        cache_file_name: str | os.PathLike[str] | None = None,
        writer_batch_size: int | None = 1000,
        features: Features | Mapping[str, Any] | None = None,
        disable_nullable: bool = False,
        num_proc: int | None = None,
        new_fingerprint: str | None = None,
    ) -> Self:
        """The rows written out in their order, so that reading them is sequential. Arguments: as of `map`"""
        if all(isinstance(source.rows, Span) for source in self._view.sources):
            return self
        plain = self._with(format=FormatSpec("arrow"))
        flat = plain.map(
            own_copy,
            batched=True,
            keep_in_memory=keep_in_memory,
            cache_file_name=cache_file_name,
            features=features,
            num_proc=num_proc,
            new_fingerprint=new_fingerprint,
            desc="Flattening the indices",
        )
        return self._with(flat._view)


def _check_names(cache_file_name: str | os.PathLike[str] | None, suffix_template: str) -> None:
    """Refuse names of files of which nothing could be made."""
    if cache_file_name is not None and not Path(cache_file_name).suffix:
        raise BadArgument(f"cache_file_name needs an extension, such as .arrow: {cache_file_name}")
    if suffix_template == "_{rank:05d}_of_{num_proc:05d}":
        return
    from string import Formatter

    fields = sorted(name for _, name, _, _ in Formatter().parse(suffix_template) if name is not None)
    if fields != ["num_proc", "rank"]:
        raise BadArgument(
            f"suffix_template needs the fields rank and num_proc, each once: {suffix_template!r}"
        )


def _as_one_row(table: pa.Table) -> pa.Table:
    columns = {
        name: pa.ListArray.from_arrays([0, table.num_rows], table.column(name).combine_chunks())
        for name in table.column_names
    }
    return pa.table(columns)


_as_one_row.input_format = "arrow"  # type: ignore[attr-defined]


def _identity(batch: Any) -> Any:
    return batch


def _uncached(operation: str, reason: Unnameable) -> str:
    return (
        f"the result of {operation} is not cached, since its function cannot be named: {reason} "
        "Or give the result a name of your own: new_fingerprint=..."
    )


def _unrepeatable_name() -> str:
    return os.urandom(16).hex()
