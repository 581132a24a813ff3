"""The name of a result, and the parts it is made of, so that a miss can be explained."""

from __future__ import annotations

import contextlib
import time
from typing import Any

from arrowprep.dataset.fingerprint import Unnameable, combine, describe, fingerprint_of
from arrowprep.dataset.verbs.spec import MapSpec, label_of
from arrowprep.dataset.view import View

VERSION = 1  # of the meaning of map and filter: another number is another name for every result


def result_name(view: View, spec: MapSpec, operation: str) -> str:
    """The name of a map's or filter's result. Raises Unnameable for a function that cannot be named."""
    return combine(
        operation,
        VERSION,
        view.fingerprint,
        fingerprint_of(spec.function),
        fingerprint_of(dict(spec.fn_kwargs)),
        tuple(_arguments(spec).values()),
        None if spec.features is None else fingerprint_of(spec.features.to_dict()),
        fingerprint_of(spec.format.identity),
    )


def name_parts(view: View, spec: MapSpec, operation: str) -> dict[str, str]:
    """What a result's name is made of, as somebody who reads it would say."""
    parts = {"operation": operation, "data": view.fingerprint}
    parts |= {f"file {path}": content for path, content in view.origin.items()}
    parts |= describe(spec.function)
    parts |= {f"fn_kwargs {name!r}": _whole(describe(value)) for name, value in spec.fn_kwargs.items()}
    parts |= {f"argument {name}": repr(value) for name, value in _arguments(spec).items()}
    parts["argument features"] = repr(spec.features)
    parts["format of the dataset"] = repr(spec.format.saved() or fingerprint_of(spec.format.identity))
    return parts


def about(view: View, spec: MapSpec, operation: str) -> dict[str, Any]:
    """What an entry tells whoever lists the cache, or asks why another one was missed."""
    said: dict[str, Any] = {"operation": operation, "function": label_of(spec.function), "made": time.time()}
    said["parents"] = view.entries
    with contextlib.suppress(Unnameable):
        said["key"] = name_parts(view, spec, operation)
    return said


def _arguments(spec: MapSpec) -> dict[str, Any]:
    later = {} if spec.on_mixed_types is None else {"on_mixed_types": spec.on_mixed_types}
    return {
        "batched": spec.batched,
        "batch_size": spec.batch_size if spec.batched else None,
        "drop_last_batch": spec.batched and spec.drop_last_batch,
        "with_indices": spec.with_indices,
        "with_rank": spec.with_rank,
        "input_columns": spec.input_columns,
        "remove_columns": spec.remove_columns,
        "on_error": spec.on_error,
        "try_original_type": spec.try_original_type,
        **later,  # only where it is given: without it, names are as they were before it was there
    }


def _whole(parts: dict[str, str]) -> str:
    """The parts of one value as one."""
    return next(iter(parts.values())) if len(parts) == 1 else combine(*parts.items())
