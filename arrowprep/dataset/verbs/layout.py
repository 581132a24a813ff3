"""Layout: which columns what a function returned has, and the one that all batches agree on."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from arrowprep.dataset.indices import Span
from arrowprep.dataset.verbs.naming import VERSION
from arrowprep.dataset.verbs.returned import BARE
from arrowprep.dataset.view import View
from arrowprep.errors import BadResult


class Layout(NamedTuple):
    """Which columns a result has: the parent's that are kept, and new ones; or a whole table."""

    gone: frozenset[str]
    whole: bool = False

    def note(self, view: View, new: list[str], about: Mapping[str, Any]) -> dict[str, Any]:
        """What an entry says: its columns in order, which of them are the parent's, and its name."""
        new = [name for name in new if name != BARE]
        kept = [name for name in view.columns if name not in self.gone and name not in new]
        in_place = bool(kept) or not self.whole  # a table passed columns through only in their order
        order = [name for name in view.columns if name in kept or (name in new and in_place)]
        order += [name for name in new if name not in order]
        return {
            **about,
            "version": VERSION,
            "parent": view.fingerprint,
            "columns": order,
            "kept": kept,
            "gone": sorted(self.gone),
            "whole": self.whole,
        }

    @classmethod
    def of(cls, note: Mapping[str, Any]) -> Layout:
        """The layout of a part that an earlier run wrote."""
        return cls(frozenset(note["gone"]), note["whole"])


def agreed(layouts: Collection[Layout | None], label: str) -> Layout | None:
    """The one layout of all batches, which may be a dict with the first rows of each."""
    if len(layouts) == 1:
        return next(iter(layouts))
    tables = [layout for layout in layouts if layout is not None and layout.whole]
    if len(tables) == len(layouts):  # what not all of them passed through is written
        return Layout(frozenset().union(*(layout.gone for layout in tables)), whole=True)
    rows = layouts if isinstance(layouts, Mapping) else {}
    shown = " but ".join(_described(layout, rows.get(layout)) for layout in layouts)
    raise BadResult(
        f"{label} returned {shown}; it must return one kind for all rows "
        "({} leaves a row as it is; `filter` drops rows; None for all means that nothing is to be kept)",
        function=label,
    )


def _described(layout: Layout | None, span: Span | None) -> str:
    rows = (
        ""
        if span is None
        else f" for row {span.start}"
        if len(span) == 1
        else f" for rows {span.start}..{span.stop - 1}"
    )
    if layout is None:
        return f"None{rows}"
    if layout.whole:
        return f"whole tables{rows}"
    gone = f" without {', '.join(map(repr, sorted(layout.gone)))}" if layout.gone else ""
    return f"values{gone}{rows}"
