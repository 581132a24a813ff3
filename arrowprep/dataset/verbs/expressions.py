"""pyarrow expressions where a function could stand: evaluated by Arrow, named by their content."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from arrowprep.dataset.compute import pc
from arrowprep.errors import BadArgument


@dataclass(frozen=True)
class Evaluated:
    """An expression as a batched function. name: of the column that it makes; None where it is a mask."""

    expression: pc.Expression
    name: str | None = None
    input_format = "arrow"

    @property
    def label(self) -> str:
        """What messages call it."""
        return str(self.expression)

    def __call__(self, table: pa.Table) -> Any:
        from pyarrow import acero

        name = self.name or "mask"
        plan = acero.Declaration.from_sequence(
            [
                acero.Declaration("table_source", acero.TableSourceNodeOptions(table)),
                acero.Declaration("project", acero.ProjectNodeOptions([self.expression], [name])),
            ]
        )
        try:
            column = plan.to_table(use_threads=False).column(name)
        except pa.ArrowInvalid as error:
            raise BadArgument(f"{self.expression} cannot be evaluated: {error}") from error
        return {name: column} if self.name else pc.fill_null(column, False)


def is_expression(value: Any) -> bool:
    """Whether this is a pyarrow expression, such as `pc.field("n") > 3`."""
    compute = sys.modules.get("pyarrow.compute")  # who has an expression has loaded it
    return compute is not None and isinstance(value, compute.Expression)
