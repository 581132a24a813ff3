"""View: what a dataset is. Named columns over backings with row numbers; frozen, and cheap to derive."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
from numpy.typing import NDArray

from arrowprep.dataset.compute import pc
from arrowprep.dataset.features import Features, children_of
from arrowprep.dataset.indices import Rows, Span, compose
from arrowprep.dataset.storage.backing import Backing, Cell, Memory, own_copy
from arrowprep.dataset.storage.cache import MappedPicks
from arrowprep.dataset.widen import cast
from arrowprep.errors import ColumnNotFound, LengthMismatch


class Source(NamedTuple):
    """Rows of one backing: logical row i of the view is physical row rows[i]."""

    backing: Backing
    rows: Rows


class Place(NamedTuple):
    """Where a column lies: the number of its source, its name there, and the way into its structs."""

    source: int
    field: str
    path: tuple[str, ...] = ()


@dataclass(frozen=True)
class View:
    """Columns over sources. All sources have num_rows rows; columns keep their order.

    fingerprint: the name of the content, 32 hex digits (or what `new_fingerprint=` gave)
    origin: the files that it was loaded from, and the names of their contents; told when a miss is explained
    """

    sources: tuple[Source, ...]
    columns: Mapping[str, Place]
    features: Features
    fingerprint: str
    num_rows: int
    origin: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def over(
        cls,
        backing: Backing,
        fingerprint: str,
        features: Features | None = None,
        origin: Mapping[str, str] | None = None,
    ) -> View:
        """All rows and columns of one backing."""
        schema = backing.schema
        return cls(
            sources=(Source(backing, Span(0, backing.num_rows)),),
            columns={name: Place(0, name) for name in schema.names},
            features=features if features is not None else Features.from_arrow_schema(schema),
            fingerprint=fingerprint,
            num_rows=backing.num_rows,
            origin=origin or {},
        )

    @property
    def column_names(self) -> list[str]:
        return list(self.columns)

    @cached_property
    def schema(self) -> pa.Schema:
        return self.features.arrow_schema

    @property
    def files(self) -> list[Path]:
        """The files behind the columns, each once."""
        return list(dict.fromkeys(f for source in self.sources for f in source.backing.files))

    @property
    def entries(self) -> list[str]:
        """The names of the cache entries that hold the rows, or their numbers."""
        names = [name for source in self.sources for name in source.backing.entries]
        names += [source.rows.entry for source in self.sources if isinstance(source.rows, MappedPicks)]
        return list(dict.fromkeys(names))

    def check(self, names: Iterable[str]) -> list[str]:
        """The names, or ColumnNotFound for the first that is none of ours."""
        names = list(names)
        for name in names:
            if name not in self.columns:
                raise ColumnNotFound(name, self.column_names)
        return names

    def read(self, rows: Rows, names: Sequence[str] | None = None) -> pa.Table:
        """A table of these logical rows; contiguous ones of a contiguous view are not copied."""
        key = None if names is None else tuple(names)
        plan = self._plans.get(key)
        if plan is None:
            plan = self._plans[key] = _ReadPlan(self, self.column_names if key is None else key)
        return plan.read(rows)

    def cells(self, row: int, names: Sequence[str]) -> list[Cell] | None:
        """Where one logical row lies; None where a column is cast as it is read."""
        key = tuple(names)
        plan = self._plans.get(key)
        if plan is None:
            plan = self._plans[key] = _ReadPlan(self, key)
        return plan.cells(row)

    def numbers(self, rows: Rows, name: str) -> NDArray[Any] | None:
        """(n, ...) rows of a column as NumPy numbers, or objects where lists differ in length.

        None where they are not read so: a null among their neighbours, or another type.
        """
        source, field = self._number_sources[name]
        return None if field is None else source.backing.numbers(field, compose(source.rows, rows))

    @cached_property
    def _number_sources(self) -> dict[str, tuple[Source, str | None]]:
        """Where each column lies; the field is None where it is cast as it is read."""
        found: dict[str, tuple[Source, str | None]] = {}
        for name, place in self.columns.items():
            source = self.sources[place.source]
            stored = source.backing.schema.field(place.field).type
            is_as_stored = not place.path and stored == self.schema.field(name).type
            found[name] = source, place.field if is_as_stored else None
        return found

    @cached_property
    def _plans(self) -> dict[tuple[str, ...] | None, _ReadPlan]:
        return {}

    def __getstate__(self) -> dict[str, Any]:
        return {item.name: getattr(self, item.name) for item in fields(self)}  # nothing that is derived

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    def lazy(self, rows: Rows) -> LazyTable:
        """These logical rows, of which no column is read before it is asked for."""
        return LazyTable(self, rows, self.column_names)

    def batches(self, batch_size: int, names: Sequence[str] | None = None) -> Iterator[pa.Table]:
        """Tables of batch_size rows, the last one shorter."""
        for start in range(0, self.num_rows, batch_size):
            yield self.read(Span(start, min(start + batch_size, self.num_rows)), names)

    def portable(self) -> View:
        """The same view over backings that another process can map."""
        return replace(self, sources=tuple(Source(s.backing.portable(), s.rows) for s in self.sources))

    def in_memory(self) -> View:
        """The same view over this process's own memory."""
        copied = Memory(own_copy(self.read(Span(0, self.num_rows))))
        return replace(
            self,
            sources=(Source(copied, Span(0, self.num_rows)),),
            columns={n: Place(0, n) for n in self.columns},
        )

    def select(self, rows: Rows, fingerprint: str) -> View:
        """These logical rows; no data is touched."""
        composed: dict[int, Rows] = {}
        sources = []
        for source in self.sources:
            key = id(source.rows)  # sources that share their rows go on sharing them
            if key not in composed:
                composed[key] = compose(source.rows, rows)
            sources.append(Source(source.backing, composed[key]))
        return replace(self, sources=tuple(sources), num_rows=len(rows), fingerprint=fingerprint)

    def keep(self, names: Sequence[str], fingerprint: str) -> View:
        """These columns, in this order."""
        return replace(
            self,
            columns={name: self.columns[name] for name in names},
            features=Features({name: self.features[name] for name in names}),
            fingerprint=fingerprint,
        )

    def rename(self, mapping: Mapping[str, str], fingerprint: str) -> View:
        """Columns under other names, in place."""
        new = {name: mapping.get(name, name) for name in self.columns}
        return replace(
            self,
            columns={new[name]: place for name, place in self.columns.items()},
            features=Features({new[name]: self.features[name] for name in self.columns}),
            fingerprint=fingerprint,
        )

    def retyped(self, features: Mapping[str, Any]) -> View:
        """Some columns with other features; values are cast as they are read."""
        return replace(self, features=Features({n: features.get(n, f) for n, f in self.features.items()}))

    def flattened(self, max_depth: int, fingerprint: str) -> View:
        """Struct columns as one column a field, named `parent.child`; 2 deep opens the outer structs only."""
        view = self
        for _ in range(max_depth - 1):
            if not any(map(children_of, view.features.values())):
                break
            columns: dict[str, Place] = {}
            found = Features()
            for name, place in view.columns.items():
                feature = view.features[name]
                children = children_of(feature)
                if not children:
                    columns[name], found[name] = place, feature
                for child, inner in children.items():
                    columns[f"{name}.{child}"] = place._replace(path=(*place.path, child))
                    found[f"{name}.{child}"] = inner
            view = replace(view, columns=columns, features=found)
        return replace(view, fingerprint=fingerprint)

    def beside(self, other: View, fingerprint: str) -> View:
        """Our columns and the other's; a name that both have is the other's, in our place."""
        if self.num_rows != other.num_rows and self.columns:
            raise LengthMismatch(
                f"columns of {other.num_rows} rows cannot stand beside columns of {self.num_rows} rows"
            )
        sources = list(self.sources) if self.columns else []
        shift = len(sources)
        moved = {
            name: Place(place.source + shift, place.field, place.path)
            for name, place in other.columns.items()
        }
        return View(
            sources=(*sources, *other.sources),
            columns={**self.columns, **moved},
            features=Features({**self.features, **other.features}),
            fingerprint=fingerprint,
            num_rows=other.num_rows,
            origin={**self.origin, **other.origin},
        ).pruned()

    def pruned(self) -> View:
        """Without sources that no column lies in (one stays, for the row count)."""
        used = sorted({place.source for place in self.columns.values()}) or [0]
        if len(used) == len(self.sources):
            return self
        number = {old: new for new, old in enumerate(used)}
        return replace(
            self,
            sources=tuple(self.sources[i] for i in used),
            columns={name: Place(number[p.source], p.field, p.path) for name, p in self.columns.items()},
        )


class LazyTable:
    """Some rows of a view: a column is read when it is asked for. Has what a batch needs of a table."""

    def __init__(self, view: View, rows: Rows, names: Sequence[str]) -> None:
        self._view, self._rows = view, rows
        self.column_names = list(names)
        self.num_rows = len(rows)
        self._read: dict[str, pa.ChunkedArray] = {}

    def column(self, name: str) -> pa.ChunkedArray:
        if name not in self._read:
            self._read[name] = self._view.read(self._rows, [name]).column(0)
        return self._read[name]

    def select(self, names: Sequence[str]) -> LazyTable:
        """The same rows with these columns."""
        picked = LazyTable(self._view, self._rows, names)
        picked._read = self._read  # what one has read serves the other
        return picked

    def whole(self) -> pa.Table:
        """All columns."""
        return self._view.read(self._rows, self.column_names)


class _ReadPlan:
    """How some columns of a view are read: which fields of which sources, and what must be cast."""

    def __init__(self, view: View, names: Sequence[str]) -> None:
        places = [view.columns[name] for name in names]
        self._schema = pa.schema([view.schema.field(name) for name in names])
        self._parts = [
            (view.sources[number], tuple(dict.fromkeys(p.field for p in places if p.source == number)))
            for number in dict.fromkeys(place.source for place in places)
        ]
        at = {number: i for i, number in enumerate(dict.fromkeys(place.source for place in places))}
        self._columns = [(at[place.source], place.field, place.path) for place in places]
        self._is_whole_part = self._is_read_as_it_is()

    def _is_read_as_it_is(self) -> bool:
        """Whether the columns are those of one source, under their names, of the types that are stored."""
        if len(self._parts) != 1 or self._parts[0][1] != tuple(self._schema.names):
            return False
        if any(path for _, _, path in self._columns):
            return False
        stored = self._parts[0][0].backing.schema
        return all(stored.field(field.name).type == field.type for field in self._schema)

    def cells(self, row: int) -> list[Cell] | None:
        """Where a row lies; None where a column is cast as it is read, or lies within another."""
        if not self._is_uncast:
            return None
        found = [source.backing.cells(source.rows.at(row), names) for source, names in self._parts]
        if self._is_one_part:
            return found[0]
        if None in found:
            return None
        return [cells[at] for part, at in self._cells if (cells := found[part]) is not None]

    @cached_property
    def _is_uncast(self) -> bool:
        stored = [source.backing.schema for source, _ in self._parts]
        return all(
            not path and stored[part].field(name).type == field.type
            for (part, name, path), field in zip(self._columns, self._schema, strict=True)
        )

    @cached_property
    def _is_one_part(self) -> bool:
        """Whether the columns are the fields of one source, in order."""
        return self._cells == [(0, at) for at in range(len(self._columns))]

    @cached_property
    def _cells(self) -> list[tuple[int, int]]:
        """Of each column the number of its part, and its place among the part's fields."""
        return [(part, self._parts[part][1].index(name)) for part, name, _ in self._columns]

    def read(self, rows: Rows) -> pa.Table:
        if not self._parts:  # no columns: pyarrow keeps a row count only of what once had one
            return pa.table({"": pa.nulls(len(rows))}).select([])
        tables = [source.backing.read(compose(source.rows, rows), fields) for source, fields in self._parts]
        if self._is_whole_part:
            return tables[0]
        columns = [
            cast(field_of(tables[part].column(name), path), field.type)
            for (part, name, path), field in zip(self._columns, self._schema, strict=True)
        ]
        return pa.Table.from_arrays(columns, schema=self._schema)


def field_of(column: pa.ChunkedArray, path: tuple[str, ...]) -> pa.ChunkedArray:
    """A field within a struct column; null where a struct on the way is."""
    if not path:
        return column
    kind = column.type
    for name in path:
        kind = kind.field(name).type
    return pa.chunked_array([pc.struct_field(chunk, list(path)) for chunk in column.chunks], kind)
