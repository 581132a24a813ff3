"""MapWorker: what runs in each process of a map, batch by batch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import pyarrow as pa

from arrowprep.dataset.execute import undisturbed
from arrowprep.dataset.indices import Span
from arrowprep.dataset.storage.parts import Part, PartPlan, PartWriter
from arrowprep.dataset.verbs.batches import BatchFunction, random_state_kept
from arrowprep.dataset.verbs.layout import Layout, agreed
from arrowprep.dataset.verbs.returned import BARE, Returned
from arrowprep.dataset.verbs.spec import MapSpec
from arrowprep.dataset.view import LazyTable, View
from arrowprep.errors import TypeConflict


class Task(NamedTuple):
    """Rows of the parent, cut where batches are cut."""

    rows: Span
    batch_size: int


class MapWorker:
    """Applies the function to the batches of its tasks and appends what is new."""

    def __init__(
        self, view: View, spec: MapSpec, name: str, plan: PartPlan, about: Mapping[str, Any], rank: int | None
    ) -> None:
        self._view, self._spec, self._about, self._rank = view, spec, about, rank
        self._apply = BatchFunction(spec, view.features, name)
        self._writer = PartWriter(plan, rank or 0)
        self._layouts: dict[Layout | None, Span] = {}  # and the first rows that came in each
        self._notes: dict[tuple[Layout, tuple[str, ...]], dict[str, Any]] = {}
        self._new: dict[str, None] = {}  # columns that some batch made or changed, in order

    def work(self, task: Task, report: Callable[[int], None]) -> set[Layout | None]:
        """The layouts that came; None for a function that returned nothing."""
        layouts: set[Layout | None] = set()
        starts = range(task.rows.start, task.rows.stop, task.batch_size)
        with random_state_kept():
            for at in range(0, len(starts), self._apply.at_once):
                firsts = starts[at : at + self._apply.at_once]
                spans = [Span(start, min(start + task.batch_size, task.rows.stop)) for start in firsts]
                tables = [self._view.lazy(span) for span in spans]
                made = self._apply.together(tables, firsts, self._rank)
                for span, table, returned in zip(spans, tables, made, strict=True):
                    with undisturbed():  # or what waits to be written would be lost with the batch
                        layouts.add(self._append(returned, table, span))
                    report(len(span))
        return layouts

    def _append(self, returned: Returned, parent: LazyTable, span: Span) -> Layout | None:
        layout = None
        if returned.table is not None:
            layout = Layout(returned.gone.union(self._spec.remove_columns), returned.whole)
        if layout not in self._layouts:
            self._layouts[layout] = span
            agreed(self._layouts, self._apply.label)
        if returned.table is None or layout is None:
            return None
        table = self._with_all_new(returned.table, parent, layout)
        if not table.column_names and not self._spec.batched:  # a row stays a row, also without a column
            table = pa.table({BARE: pa.nulls(len(span))})
        if table.column_names:
            try:
                self._writer.append(table, span, self._note(layout, tuple(table.column_names)))
            except TypeConflict as error:
                raise self._apply.bad(
                    f"returned values that do not fit earlier ones: {error}", span, error.column
                ) from error
        return layout

    def _note(self, layout: Layout, names: tuple[str, ...]) -> dict[str, Any]:
        if (layout, names) not in self._notes:
            self._notes[layout, names] = layout.note(self._view, list(names), self._about)
        return self._notes[layout, names]

    def _with_all_new(self, table: pa.Table, parent: LazyTable, layout: Layout) -> pa.Table:
        """The table with each column that an earlier batch changed and this one did not."""
        if not table.column_names and not self._new:
            # an entry needs a column to have rows: the smallest kept one stands in
            kept = [name for name in parent.column_names if name not in layout.gone]
            self._new.update(dict.fromkeys(sorted(kept, key=lambda n: parent.column(n).nbytes)[:1]))
        if table.column_names == list(self._new):  # as most batches are
            return table
        names = [*table.column_names, *self._new] if layout.whole else [*self._new, *table.column_names]
        self._new = dict.fromkeys(names)
        columns = dict(zip(table.column_names, table.columns, strict=True))
        for name in self._new:
            if name not in columns and name in parent.column_names and name not in layout.gone:
                columns[name] = parent.column(name)
        return pa.table({name: columns[name] for name in self._new if name in columns})

    def finish(self) -> list[Part]:
        return self._writer.close()

    def abandon(self) -> None:
        self._writer.abandon()
