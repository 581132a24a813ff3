"""Columns as other types: functions that map runs over Arrow tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from arrowprep.dataset.compute import pc
from arrowprep.dataset.convert import to_feature
from arrowprep.dataset.feature_kinds import ClassLabel, Value
from arrowprep.dataset.features import Features
from arrowprep.errors import BadArgument


@dataclass(frozen=True)
class Cast:
    """Columns cast to features; a value that does not fit is a TypeConflict that names the column."""

    features: Features
    input_format = "arrow"

    def __call__(self, table: pa.Table) -> dict[str, Any]:
        return {name: to_feature(table.column(name), name, f) for name, f in self.features.items()}


@dataclass(frozen=True)
class Labels:
    """A column of values as the numbers of their names."""

    column: str
    names: tuple[str, ...]
    include_nulls: bool
    input_format = "arrow"

    def __call__(self, table: pa.Table) -> dict[str, Any]:
        texts = as_text(table.column(self.column))
        if self.include_nulls:
            texts = pc.fill_null(texts, "None")
        return {self.column: pc.index_in(texts, pa.array(self.names, texts.type)).cast(pa.int64())}


@dataclass(frozen=True)
class Renumbered:
    """A column of labels with other numbers."""

    column: str
    numbers: tuple[int, ...]
    input_format = "arrow"

    def __call__(self, table: pa.Table) -> dict[str, Any]:
        old = table.column(self.column)
        known = pc.if_else(pc.greater_equal(old, 0), old, None)  # -1 is unknown, and stays
        new = pc.take(pa.array(self.numbers, pa.int64()), known.combine_chunks())
        return {self.column: pc.coalesce(new, old.combine_chunks())}


def as_text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Values as Python prints them."""
    if pa.types.is_integer(column.type) or pa.types.is_string(column.type):
        return column.cast(pa.string())
    values = pc.unique(column)
    texts = [None if value is None else str(value) for value in values.to_pylist()]
    return pc.take(pa.array(texts, pa.string()), pc.index_in(column, values))


def label_feature(values: pa.Array, include_nulls: bool, feature: Any, column: str) -> ClassLabel:
    """The label of a column's distinct values: their texts, sorted."""
    if not isinstance(feature, Value) or "binary" in feature.dtype:
        raise BadArgument(
            f"column {column!r} holds {feature!r}; only texts, numbers and the like become labels"
        )
    texts = {text for text in as_text(pa.chunked_array([values])).to_pylist() if text is not None}
    if include_nulls and values.null_count:
        texts.add("None")
    return ClassLabel(names=sorted(texts))


def renumbering(label: ClassLabel, label2id: Mapping[str, int]) -> tuple[ClassLabel, tuple[int, ...]]:
    """A label with the numbers of a mapping, and the new number of each old one; case does not count."""
    wanted = {name.lower(): number for name, number in label2id.items()}
    if missing := [name for name in label.names if name.lower() not in wanted]:
        raise BadArgument(f"the mapping lacks the labels {missing}")
    names = [name for name, _ in sorted(label2id.items(), key=lambda item: item[1])]
    return ClassLabel(names=names), tuple(wanted[name.lower()] for name in label.names)


def only_known(given: Sequence[str], columns: Sequence[str]) -> None:
    """Refuse features that are not those of exactly these columns."""
    if sorted(given) != sorted(columns):
        raise BadArgument(f"features for columns {sorted(given)}, but the columns are {sorted(columns)}")
