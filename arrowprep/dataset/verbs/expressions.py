"""pyarrow expressions where a function could stand: evaluated by Arrow, named by their content."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from arrowprep.dataset.compute import pc
from arrowprep.errors import BadArgument


@dataclass(frozen=True)
class Evaluated:
    """Expressions as a batched function: the columns that they make, by name."""

    columns: Mapping[str, pc.Expression]
    input_format = "arrow"

    @property
    def label(self) -> str:
        """What messages call it."""
        return ", ".join(map(str, self.columns.values()))

    def __call__(self, table: pa.Table) -> dict[str, pa.ChunkedArray]:
        made = _evaluated(table, self.columns)
        return {name: made.column(name) for name in self.columns}


@dataclass(frozen=True)
class Mask:
    """An expression as a batched predicate; null is not true."""

    expression: pc.Expression
    input_format = "arrow"

    @property
    def label(self) -> str:
        """What messages call it."""
        return str(self.expression)

    def __call__(self, table: pa.Table) -> pa.ChunkedArray:
        return pc.fill_null(_evaluated(table, {"mask": self.expression}).column("mask"), False)


def _evaluated(table: pa.Table, columns: Mapping[str, pc.Expression]) -> pa.Table:
    from pyarrow import acero

    project = acero.ProjectNodeOptions(list(columns.values()), list(columns))
    plan = acero.Declaration.from_sequence(
        [
            acero.Declaration("table_source", acero.TableSourceNodeOptions(table)),
            acero.Declaration("project", project),
        ]
    )
    try:
        return plan.to_table(use_threads=False)
    except pa.ArrowInvalid as error:
        shown = ", ".join(map(str, columns.values()))
        raise BadArgument(f"{shown} cannot be evaluated: {error}") from error


def is_expression(value: Any) -> bool:
    """Whether this is a pyarrow expression, such as `pc.field("n") > 3`."""
    compute = sys.modules.get("pyarrow.compute")  # who has an expression has loaded it
    return compute is not None and isinstance(value, compute.Expression)
