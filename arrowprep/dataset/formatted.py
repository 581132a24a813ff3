"""How a dataset shows its rows: a format, the columns it covers, or a transform."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property, lru_cache
from typing import Any, cast

import pyarrow as pa

from arrowprep.dataset import formats
from arrowprep.dataset.features import Features
from arrowprep.dataset.formats.base import Format

TRANSFORM = "custom"


@dataclass(frozen=True)
class FormatSpec:
    """What `set_format` sets.

    columns: those the format covers; None for all
    output_all_columns: the others come out too, as Python objects
    options: keywords of the format, such as dtype
    transform: a function from batch dict to batch dict, in place of a format
    """

    name: str = "python"
    columns: tuple[str, ...] | None = None
    output_all_columns: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)
    transform: Callable[[dict[str, Any]], Mapping[str, Any]] | None = None

    @property
    def identity(self) -> tuple[Any, ...]:
        """What decides how rows look."""
        return self.name, self.columns, self.output_all_columns, dict(self.options), self.transform

    def saved(self) -> dict[str, Any]:
        """As a saved dataset keeps it; a transform is code, and is not kept."""
        if self.transform is not None:
            return {}
        return {
            "type": None if self.name == "python" else self.name,
            "columns": None if self.columns is None else list(self.columns),
            "format_kwargs": dict(self.options),
            "output_all_columns": self.output_all_columns,
        }

    def __getstate__(self) -> dict[str, Any]:
        return {
            field.name: getattr(self, field.name) for field in fields(self)
        }  # not the format: it has modules

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    @cached_property
    def format(self) -> Format:
        return formats.make(self.name if self.transform is None else "python", **self.options)

    @cached_property
    def _python(self) -> Format:
        return formats.make("python")

    @property
    def shows_lazily(self) -> bool:
        """Whether a column of this format can be shown without the others."""
        return self.transform is None and self.format.by_column

    @cached_property
    def cell(self) -> Callable[[pa.Array, int, Any], Any] | None:
        """What shows one value of an array; None where rows are shown otherwise."""
        return self._plainly("cell")

    @cached_property
    def gathered(self) -> Callable[[Any], Any] | None:
        """What shows numbers that were gathered; None where batches are shown otherwise."""
        return self._plainly("gathered")

    @cached_property
    def loaded(self) -> Callable[[Any], list[Any]] | None:
        """What makes rows for a DataLoader of a batch; None where they are plain dicts."""
        return self._plainly("loaded")

    def _plainly(self, how: str) -> Callable[..., Any] | None:
        plain = self.transform is None and not self.output_all_columns
        return getattr(self.format, how, None) if plain else None

    def covered(self, names: Iterable[str]) -> list[str]:
        """The columns that come out, in the dataset's order."""
        if self.columns is None or self.output_all_columns:
            return list(names)
        return [name for name in names if name in self.columns]

    def row(self, table: pa.Table, features: Features) -> Any:
        """A one-row table as `ds[i]` returns it."""
        if self.transform is not None:
            return {name: values[0] for name, values in self.batch(table, features).items()}
        if not self.output_all_columns:
            return self.format.row(table, features)
        return self._mixed(table, features, "row")

    def rows(self, table: pa.Table, features: Features) -> Iterator[Any]:
        """The rows of a table one by one, each as `row` gives it."""
        if not self.shows_lazily:
            for i in range(table.num_rows):
                yield self.row(table.slice(i, 1), features)
            return
        columns = {name: self.column(name, table.column(name), features) for name in table.column_names}
        yield from as_rows(columns, table.num_rows)

    def batch(self, table: pa.Table, features: Features) -> Any:
        """A table as `ds[a:b]` returns it."""
        if self.transform is not None:
            return self.transform(self._python.batch(table, features))
        if not self.output_all_columns:
            return self.format.batch(table, features)
        return self._mixed(table, features, "batch")

    def batches(self, table: pa.Table, features: Features, batch_size: int) -> Iterator[Any]:
        """A table cut into batches, the last one perhaps shorter, each as `batch` gives it."""
        if self.transform is None and not self.output_all_columns:
            yield from self.format.batches(table, features, batch_size)
            return
        for start in range(0, table.num_rows, batch_size):
            yield self.batch(table.slice(start, batch_size), features)

    def column(self, name: str, column: pa.ChunkedArray, features: Features) -> Any:
        """One column, as `ds[name][:]` returns it."""
        if self.transform is not None:
            return self.batch(pa.table({name: column}), Features({name: features[name]}))[name]
        covers = self.columns is None or name in self.columns
        return (self.format if covers else self._python).column(column, features[name])

    def _mixed(self, table: pa.Table, features: Features, how: str) -> Any:
        names = table.column_names
        inside = [n for n in names if self.columns is None or n in self.columns]
        shown = getattr(self.format, how)(table.select(inside), features)
        outside = [n for n in names if n not in inside]
        if not outside:
            return shown
        plain = getattr(self._python, how)(table.select(outside), features)
        if not isinstance(shown, dict):
            return shown  # a table or a data frame has no place for Python objects
        return {n: shown[n] if n in shown else plain[n] for n in names}


def as_rows(columns: Mapping[str, Any], count: int) -> Iterator[dict[str, Any]]:
    """`count` rows as dicts, from a value a row of each column."""
    if not columns:
        return iter([{} for _ in range(count)])
    return _maker_of_rows(tuple(columns))(zip(*columns.values(), strict=True))


@lru_cache(maxsize=64)
def _maker_of_rows(names: tuple[str, ...]) -> Callable[[Iterable[Any]], Iterator[dict[str, Any]]]:
    """Rows out of tuples of values, by a dict display for so many: a third of the time of `dict(zip(...))`.

    >>> list(_maker_of_rows(("a", "b"))([(1, 2), (3, 4)]))
    [{'a': 1, 'b': 2}, {'a': 3, 'b': 4}]
    """
    numbers = range(len(names))
    keys, values = ("".join(f"{letter}{number}, " for number in numbers) for letter in "kv")
    display = ", ".join(f"k{number}: v{number}" for number in numbers)
    made = eval(f"lambda {keys}: lambda rows: ({{{display}}} for {values} in rows)")(*names)
    return cast("Callable[[Iterable[Any]], Iterator[dict[str, Any]]]", made)
