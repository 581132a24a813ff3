"""ReadInstruction: which rows of which splits, as an object instead of the text "train[:10%]"."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from arrowprep.dataset.load.split_expressions import rows_of_expression, terms_of
from arrowprep.errors import BadArgument

_SUFFIX = {None: "", "closest": "", "pct1_dropremainder": "(pct1_dropremainder)"}


class Range(NamedTuple):
    """Rows of one split; from_ is in, to is out."""

    splitname: str
    from_: int
    to: int


class ReadInstruction:
    """Rows of a split, and with `+` of several; taken wherever a split expression is.

    >>> first = ReadInstruction("train", to=10, unit="%")
    >>> (first + ReadInstruction("test")).to_spec()
    'train[:10%]+test'

    from_, to: rows, or percents with unit="%"; negative ones count from the end
    rounding: of percents to rows, "closest" (the default) or "pct1_dropremainder", where each percent has
        as many rows
    """

    def __init__(
        self,
        split_name: str,
        rounding: str | None = None,
        from_: int | None = None,
        to: int | None = None,
        unit: str | None = None,
    ) -> None:
        ends = [end for end in (from_, to) if end is not None]
        if unit not in (None, "abs", "%"):
            raise BadArgument(f"unit {unit!r} is neither '%' nor 'abs'", unit=unit)
        if rounding not in _SUFFIX or (rounding and unit != "%"):
            raise BadArgument(f"rounding {rounding!r} of {unit or 'abs'}: percents take {[*_SUFFIX][1:]}")
        if unit == "%" and any(abs(end) > 100 for end in ends):
            raise BadArgument(f"percents are within -100..100, not {ends}")
        start, stop = (
            "" if end is None else f"{end}{unit.removeprefix('abs') if unit else ''}" for end in (from_, to)
        )
        self._spec = f"{split_name}[{start}:{stop}]{_SUFFIX[rounding]}" if ends else str(split_name)

    @classmethod
    def from_spec(cls, spec: str) -> ReadInstruction:
        """Of a split expression. Raises BadArgument where it is none."""
        terms_of(spec)
        made = cls.__new__(cls)
        made._spec = str(spec)
        return made

    def to_spec(self) -> str:
        """As a split expression."""
        return self._spec

    def to_absolute(self, name2len: Mapping[str, int]) -> list[Range]:
        """The ranges of rows, where the splits have so many."""
        return [Range(*found) for found in rows_of_expression(self._spec, name2len)]

    def __add__(self, other: ReadInstruction) -> ReadInstruction:
        return self.from_spec(f"{self._spec}+{other._spec}")

    def __str__(self) -> str:
        return self._spec

    def __repr__(self) -> str:
        return f"ReadInstruction({self._spec})"
