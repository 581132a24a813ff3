"""Computing a map: what no earlier run has left whole is run, and all of it is published."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import pyarrow as pa

from arrowprep import progress
from arrowprep.dataset.execute import Executor, Inline, Outcome, choose_executor
from arrowprep.dataset.indices import Span
from arrowprep.dataset.storage.backing import Memory
from arrowprep.dataset.storage.cache import Entry
from arrowprep.dataset.storage.leftovers import gaps
from arrowprep.dataset.storage.parts import Part, PartPlan
from arrowprep.dataset.storage.shelf import tidy
from arrowprep.dataset.verbs.layout import Layout, agreed
from arrowprep.dataset.verbs.map_worker import MapWorker, Task
from arrowprep.dataset.verbs.naming import VERSION, about
from arrowprep.dataset.verbs.spec import MapSpec, RunOptions, label_of
from arrowprep.dataset.view import View
from arrowprep.dataset.widen import cast_table
from arrowprep.errors import BadResult, CannotTravel, DiskFull, WorkerDied, warn

TASKS_A_WORKER = 16


def computed(
    view: View, spec: MapSpec, name: str, options: RunOptions, locked: bool, retry: bool = True
) -> Entry | None:
    """Run what no earlier run has left whole, and publish all of it; None where nothing was returned.

    locked: whether nobody else computes it; or else what others write cannot be told from what they left
    retry: after the death of a worker go on once from what is whole
    """
    said = about(view, spec, options.operation)
    version = VERSION if options.reuse else -1
    parts = options.cache.leftovers(name, view.num_rows, version) if locked else []
    layouts: set[Layout | None] = {Layout.of(part.note) for part in parts}
    missing = gaps(view.num_rows, [span for part in parts for span in part.spans])
    rows = sum(map(len, missing))
    tasks = _plan(missing, spec.rows_a_call(view.num_rows), options.num_proc or 1)
    # what is left of an earlier run may be all that killed its worker, and must not kill this process
    executor = choose_executor(options.num_proc, tasks, options.mp_context, away=bool(parts))
    with progress.bar(view.num_rows, options.desc, show=options.show_progress) as bar:
        bar.advance(view.num_rows - rows)
        plan = PartPlan(options.cache.stem(name), rows, options.compression)
        make_worker = partial(MapWorker, view, spec, name, plan, said)
        try:
            outcome = _run(executor, make_worker, tasks, bar.advance)
        except WorkerDied as death:
            told = _told_death(death, tasks, label_of(spec.function))
            if not retry:
                raise told from death
            warn(f"{told}; what is not done yet is tried once more")
            return computed(view, spec, name, replace(options, reuse=True), locked, retry=False)
        except DiskFull as full:
            kept = "what was whole is kept, and the same call goes on from there"
            raise DiskFull(f"{label_of(spec.function)} was stopped: {full}; {kept}", **full.facts) from full
    layouts = layouts.union(*outcome.results)
    layout = agreed(layouts, label_of(spec.function))
    if layout is None:
        return None
    gone = frozenset.intersection(*(it.gone for it in layouts if it is not None))  # by every batch
    parts += [part for finished in outcome.finished for part in finished]
    written = _written(parts, layout)
    if lost := sorted(layout.gone - gone - {*written, *spec.remove_columns}):
        raise BadResult(f"the function returned {', '.join(lost)} for some batches only", columns=lost)
    note = layout.note(view, written, said)
    if not parts:
        return Entry(Memory(pa.table({})), note)
    one_file = isinstance(executor, Inline)
    complete = partial(_completed, view, gone)
    entry = options.cache.publish(
        name, parts, note, complete, one_file=one_file, compression=options.compression
    )
    tidy(options.cache.root)
    return entry


def _written(parts: Sequence[Part], layout: Layout) -> list[str]:
    """The columns of all parts, in order: of whole tables that of the widest, which lacks none."""
    if not layout.whole:
        return list(dict.fromkeys(name for part in parts for name in part.schema.names))
    widest = sorted(parts, key=lambda part: -len(part.schema.names))
    known = {name for part in parts for name in part.schema.names}
    return [
        name for name in dict.fromkeys(n for part in widest for n in part.note["columns"]) if name in known
    ]


def _run(
    executor: Executor,
    make_worker: partial[MapWorker],
    tasks: Sequence[Task],
    report: Callable[[int], None],
) -> Outcome:
    """All tasks, in other processes if they can be: what cannot travel runs here, with a warning."""
    if not isinstance(executor, Inline):
        view, *others = make_worker.args
        try:
            return executor.run(partial(MapWorker, view.portable(), *others), tasks, report=report)
        except CannotTravel as reason:
            warn(f"this map runs in one process: {reason}")
    return Inline().run(lambda _: make_worker(None), tasks, report=report)


def _told_death(death: WorkerDied, tasks: Sequence[Task], label: str) -> WorkerDied:
    """The death of a worker, with the rows that it was at."""
    if death.task is None:
        return death
    rows = tasks[death.task].rows
    said = str(death).replace(
        f"while it did task {death.task}", f"while {label} was at rows {rows.start}..{rows.stop - 1}"
    )
    return WorkerDied(said, **{**death.facts, "function": label, "start": rows.start, "stop": rows.stop})


def _plan(missing: Sequence[Span], batch_size: int, num_proc: int) -> list[Task]:
    """Tasks of whole batches; the batches are the same whatever num_proc is."""
    batches = sum(-(-len(span) // batch_size) for span in missing)
    per_task = max(1, batches // (num_proc * TASKS_A_WORKER)) * batch_size if num_proc > 1 else None
    return [
        Task(Span(start, min(start + (per_task or len(span)), span.stop)), batch_size)
        for span in missing
        for start in range(span.start, span.stop, per_task or len(span))
    ]


def _completed(view: View, gone: frozenset[str], table: pa.Table, span: Span, schema: pa.Schema) -> pa.Table:
    """Rows of one worker with the columns that another worker changed, from the parent."""
    kept = [name for name in view.columns if name not in gone]
    missing = [name for name in schema.names if name not in table.column_names and name in kept]
    if missing:
        if len(span) != table.num_rows:
            raise BadResult(
                f"the function changes the row count and returned {', '.join(missing)} for some batches only",
                columns=missing,
            )
        parent = view.read(span, missing)
        for name in missing:
            table = table.append_column(name, parent.column(name))
    return cast_table(table, schema)
