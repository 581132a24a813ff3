"""map: find the result, or have it computed; and the view of both."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from arrowprep.dataset import verbs
from arrowprep.dataset.feature_kinds import Json
from arrowprep.dataset.features import Features
from arrowprep.dataset.indices import Span, simplest
from arrowprep.dataset.storage.backing import Backing, Memory, own_copy
from arrowprep.dataset.storage.cache import Cache, Entry, copy_at
from arrowprep.dataset.storage.scratch import scratch_folder
from arrowprep.dataset.verbs.spec import MapSpec, RunOptions, label_of
from arrowprep.dataset.view import View
from arrowprep.dataset.widen import empty_table
from arrowprep.errors import BadResult, TypeConflict, warn

_COPIED_ROWS = 10_000
_TOLD = 5  # failed rows that a warning names


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
            entry = entry or verbs.map_run.computed(view, spec, name, options, locked)
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
    asked = spec.features or Features({})
    kept = {n: asked.get(n, view.features[n]) for n in view.columns if n not in spec.remove_columns}
    features = Features({**kept, **asked})
    return View.over(Memory(empty_table(features.arrow_schema)), name, features, origin=view.origin)


def _without_errors(result: View, spec: MapSpec) -> View:
    """The result without the column of errors, which are told, and perhaps without their rows."""
    from arrowprep.dataset.verbs.returned import ERRORS

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
