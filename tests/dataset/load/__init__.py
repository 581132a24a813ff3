"""What the loader tests share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa

from arrowprep.dataset.features import Features
from arrowprep.dataset.load.convert import Loaded, convert
from arrowprep.dataset.storage.ipc import open_mapped


def load(path: Path | list[Path], cache: Path, **options: Any) -> Loaded:
    """Convert one path or several; keywords that are not of `convert` are reader options."""
    known = {
        name: options.pop(name) for name in ("features", "columns", "reader", "num_proc") if name in options
    }
    paths = path if isinstance(path, list) else [path]
    return convert(paths, cache_dir=cache, options=options, **known)


def table(loaded: Loaded) -> pa.Table:
    return pa.concat_tables([open_mapped(part) for part in loaded.parts])


def rows(loaded: Loaded) -> list[dict[str, Any]]:
    return table(loaded).to_pylist()


def shown(loaded: Loaded) -> list[dict[str, Any]]:
    """The rows as a dataset shows them: JSON as what was written."""
    features = Features.from_arrow_schema(loaded.schema)
    return [features.decode_example(row) for row in rows(loaded)]


def types(loaded: Loaded) -> dict[str, str]:
    return {field.name: str(field.type) for field in loaded.schema}
