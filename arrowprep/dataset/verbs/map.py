"""map: find the result, or plan, run and publish it."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from arrowprep import progress
from arrowprep.dataset.execute import Executor, Inline, Outcome, choose_executor
from arrowprep.dataset.feature_kinds import Json
from arrowprep.dataset.features import Features
from arrowprep.dataset.indices import Span, simplest
from arrowprep.dataset.storage.backing import Backing, Memory, own_copy
from arrowprep.dataset.storage.cache import Cache, Entry, copy_at
from arrowprep.dataset.storage.leftovers import gaps
from arrowprep.dataset.storage.parts import Part, PartPlan
from arrowprep.dataset.storage.scratch import scratch_folder
from arrowprep.dataset.storage.shelf import tidy
from arrowprep.dataset.verbs.layout import Layout, agreed
from arrowprep.dataset.verbs.map_worker import MapWorker, Task
from arrowprep.dataset.verbs.naming import VERSION, name_parts
from arrowprep.dataset.verbs.returned import ERRORS
from arrowprep.dataset.verbs.spec import MapSpec, label_of
from arrowprep.dataset.view import View
from arrowprep.dataset.widen import cast_table, empty_table
from arrowprep.errors import BadResult, CannotTravel, DiskFull, TypeConflict, Unnameable, WorkerDied, warn

TASKS_A_WORKER = 8
_COPIED_ROWS = 10_000
_TOLD = 5  # failed rows that a warning names


@dataclass(frozen=True)
class RunOptions:
    """How a map runs; nothing here changes a row, and nothing is part of a name.

    operation: whose result it is, "map" or "filter"
    compression: of the files it writes; those there are may have others
    verify: read what is found, and make anew what is not as it was written
    """

    cache: Cache
    operation: str = "map"
    num_proc: int | None = None
    reuse: bool = True
    keep_in_memory: bool = False
    desc: str = "Map"
    show_progress: bool | None = None
    compression: str | None = None
    verify: bool = False


def map_view(view: View, spec: MapSpec, name: str, options: RunOptions) -> View:
    """The view that the function makes of this one; computed only where no entry of this name is."""
    view.check(spec.remove_columns)
    view.check(spec.input_columns or ())
    if spec.batched and spec.drop_last_batch:
        whole = view.num_rows - view.num_rows % spec.rows_a_call(view.num_rows)
        view = view.select(Span(0, whole), view.fingerprint)
    if view.num_rows == 0:
        return _of_nothing(view, spec, name)
    entry = options.cache.find(name, verify=options.verify) if options.reuse else None
    if entry is None:
        with options.cache.only_one(name) as locked:
            entry = options.cache.find(name) if options.reuse else None
            entry = entry or _compute(view, spec, name, options, locked)
    if entry is None:  # the function returned nothing, it was called for what it does
        return view
    backing: Backing = _own(entry.backing) if options.keep_in_memory else entry.backing
    result = _result(view, spec, backing, entry, name)
    return result if spec.on_error == "raise" else _without_errors(result, spec)


def map_any_types(view: View, spec: MapSpec, name: str, options: RunOptions) -> View:
    """As `map_view`; with on_mixed_types="use_json" a column that no one type holds becomes JSON.

    Which ones do is known once their values are seen, perhaps late: all is then computed again.
    """
    while True:
        try:
            return map_view(view, spec, name, options)
        except (BadResult, TypeConflict) as error:
            known, column = spec.features or Features({}), error.facts.get("column")
            if spec.on_mixed_types is None or column is None or column in known:
                raise
            spec = replace(spec, features=Features({**known, column: Json()}))
            options = replace(options, reuse=False)


def map_to_file(view: View, spec: MapSpec, name: str, options: RunOptions, path: Path) -> View:
    """The same with all columns in one file of the user's choice; found there again by its name."""
    found = copy_at(path, name) if options.reuse else None
    if found is None:
        aside = replace(options, cache=Cache(scratch_folder()), reuse=False)
        result = map_any_types(view, spec, name, aside)
        tables = result.batches(_COPIED_ROWS)
        found = options.cache.publish_copy(path, name, tables, result.schema)
    return View.over(found, name, origin=view.origin)


def _compute(
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
    executor = choose_executor(options.num_proc, tasks)
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
            return _compute(view, spec, name, replace(options, reuse=True), locked, retry=False)
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


def about(view: View, spec: MapSpec, operation: str) -> dict[str, Any]:
    """What an entry tells whoever lists the cache, or asks why another one was missed."""
    said: dict[str, Any] = {"operation": operation, "function": label_of(spec.function), "made": time.time()}
    said["parents"] = view.entries
    with contextlib.suppress(Unnameable):
        said["key"] = name_parts(view, spec, operation)
    return said


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


def _result(view: View, spec: MapSpec, backing: Backing, entry: Entry, name: str) -> View:
    """Kept columns of the parent and new ones of the entry, in the entry's order."""
    new = View.over(backing, name, _features(view, spec, backing.schema))
    both = view.keep(entry.note["kept"], name).beside(new, name).keep(entry.note["columns"], name)
    if spec.features is None:
        return both
    return both.retyped({n: f for n, f in spec.features.items() if n in both.columns})


def _features(view: View, spec: MapSpec, schema: pa.Schema) -> Features:
    """Of the new columns: as asked for, or as they were where the stored type is the same."""
    found = Features.from_arrow_schema(schema.remove_metadata())
    known = view.schema
    for name in schema.names:
        if spec.features is not None and name in spec.features:
            found[name] = spec.features[name]
        elif name in view.columns and known.field(name).type == schema.field(name).type:
            found[name] = view.features[name]
    return found


def _of_nothing(view: View, spec: MapSpec, name: str) -> View:
    """A dataset without rows: the function is not called, but asked-for columns exist."""
    kept = [n for n in view.columns if n not in spec.remove_columns]
    new = {n: f for n, f in (spec.features or {}).items() if n not in kept}
    empty = View.over(Memory(empty_table(Features(new).arrow_schema)), name, Features(new))
    result = view.keep(kept, name)
    return result.beside(empty, name) if new else result


def _without_errors(result: View, spec: MapSpec) -> View:
    """The result without the column of errors, which are told, and perhaps without their rows."""
    texts = result.read(Span(0, result.num_rows), [ERRORS]).column(ERRORS)
    failed = np.flatnonzero(texts.is_valid().to_numpy())
    result = result.keep([name for name in result.columns if name != ERRORS], result.fingerprint)
    if not len(failed):
        return result
    first = "; ".join(f"row {row}: {texts[row].as_py()}" for row in failed[:_TOLD].tolist())
    more = f"; and {len(failed) - _TOLD:,} more" if len(failed) > _TOLD else ""
    what = "are left out" if spec.on_error == "skip" else "have nulls"
    warn(f"{label_of(spec.function)} failed on {len(failed):,} rows, which {what}: {first}{more}")
    if spec.on_error == "null":
        return result
    return result.select(simplest(np.flatnonzero(texts.is_null().to_numpy())), result.fingerprint)


def _own(backing: Backing) -> Memory:
    return Memory(own_copy(backing.read(Span(0, backing.num_rows), backing.schema.names)))
