"""The folder that `datasets.load_from_disk` reads: Arrow streams, state.json, dataset_info.json.

Shards are written under temporary names and renamed, then state.json is
replaced: it names the shards, so a reader sees the old save or the new one.
Shards that only the old one named are removed last.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pyarrow as pa

from arrowprep.dataset.features import Features, file_schema
from arrowprep.dataset.storage.ipc import aside_of, in_batches
from arrowprep.dataset.widen import cast_table
from arrowprep.errors import BadArgument

_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_UNITS |= {"KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}


def save_hf_disk(
    batches: Iterable[pa.RecordBatch | pa.Table],
    folder: str | os.PathLike[str],
    *,
    features: Features,
    fingerprint: str,
    num_rows: int,
    max_shard_size: str | int | None = None,
    num_shards: int | None = None,
    split: str | None = None,
    format: Mapping[str, Any] | None = None,
    info: Mapping[str, Any] | None = None,
    sources: Collection[Path] = (),
) -> list[Path]:
    """Write rows to a folder; returns its shards.

    num_rows: how many there are, which num_shards divides
    max_shard_size: of a shard in bytes, or as "500MB" (the default); not beside num_shards
    format: type, columns, format_kwargs and output_all_columns to be restored
    sources: files that the rows come from; a save that would remove them is a BadArgument
    info: further facts for dataset_info.json: description, citation, homepage, license, ...
    """
    if num_shards is not None and max_shard_size is not None:
        raise BadArgument("give max_shard_size or num_shards, not both")
    if num_shards is not None and num_shards < 1:
        raise BadArgument(f"num_shards={num_shards} is less than 1", num_shards=num_shards)
    target = Path(folder).expanduser()
    target.mkdir(parents=True, exist_ok=True)
    old = _named_shards(target)
    if any(path.resolve().parent == target.resolve() and path.name in old for path in sources):
        raise BadArgument(f"{target} holds this dataset's own files; save it to another folder", path=target)
    schema = file_schema(features.arrow_schema)
    whole = in_batches(_as_table(batch, schema) for batch in batches)
    tables = (pa.Table.from_batches([batch]) for batch in whole)
    pieces = (
        _by_size(tables, size_in_bytes(max_shard_size or "500MB"))
        if num_shards is None
        else _by_rows(tables, num_rows, num_shards)
    )
    with _Shards(target, schema) as shards:
        for number, table in pieces:
            shards.write(number, table)
        paths = shards.publish(at_least=num_shards or 1, taken=old)
    _write_json(target / "dataset_info.json", _info(features, info))
    _write_json(target / "state.json", _state(paths, fingerprint, split, format or {}))
    for name in old - {path.name for path in paths}:
        (target / name).unlink(missing_ok=True)
    return paths


def save_splits(folder: str | os.PathLike[str], splits: Iterable[str]) -> None:
    """Write dataset_dict.json, which names the folders of splits."""
    target = Path(folder).expanduser()
    target.mkdir(parents=True, exist_ok=True)
    _write_json(target / "dataset_dict.json", {"splits": list(splits)})


def size_in_bytes(size: str | int) -> int:
    """Bytes of "500MB", "1.5GiB" or a number.

    >>> size_in_bytes("2KB"), size_in_bytes("1KiB")
    (2000, 1024)
    """
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*", str(size))
    if not found or found[2].upper() not in _UNITS or float(found[1]) <= 0:
        raise BadArgument(f'{size!r} is no size; write bytes, or "500MB"', size=size)
    return max(1, int(float(found[1]) * _UNITS[found[2].upper()]))


def _as_table(batch: pa.RecordBatch | pa.Table, schema: pa.Schema) -> pa.Table:
    return cast_table(batch if isinstance(batch, pa.Table) else pa.Table.from_batches([batch]), schema)


def _by_size(tables: Iterable[pa.Table], limit: int) -> Iterator[tuple[int, pa.Table]]:
    """Tables with the number of the shard each goes to: a new one where the limit would be passed."""
    shard, filled = 0, 0
    for table in tables:
        pieces = max(1, -(-table.nbytes // limit))
        rows = max(1, -(-table.num_rows // pieces))
        for start in range(0, table.num_rows, rows):
            piece = table.slice(start, rows)
            if filled and filled + piece.nbytes > limit:
                shard, filled = shard + 1, 0
            filled += piece.nbytes
            yield shard, piece


def _by_rows(tables: Iterable[pa.Table], num_rows: int, count: int) -> Iterator[tuple[int, pa.Table]]:
    """Tables with the number of the shard each goes to: all of one size, the first ones a row larger."""
    least, larger = divmod(num_rows, count)
    sizes = iter(enumerate([least + (shard < larger) for shard in range(count)]))
    shard, left = next(sizes)
    for table in tables:
        start = 0
        while start < table.num_rows:
            while not left:
                shard, left = next(sizes)
            take = min(left, table.num_rows - start)
            yield shard, table.slice(start, take)
            start, left = start + take, left - take


class _Shards:
    """Arrow streams under temporary names, renamed together."""

    def __init__(self, folder: Path, schema: pa.Schema) -> None:
        self._folder, self._schema = folder, schema
        self._asides: list[Path] = []
        self._pending: list[pa.Table] = []
        self._open = ExitStack()

    def __enter__(self) -> _Shards:
        return self

    def __exit__(self, *failure: object) -> None:
        self._open.close()
        for aside in self._asides:
            with contextlib.suppress(OSError):
                aside.unlink()

    def write(self, shard: int, table: pa.Table) -> None:
        while len(self._asides) <= shard:
            self._begin()
        self._writer.write_table(table)

    def _begin(self) -> None:
        self._open.close()
        aside = aside_of(self._folder / f"data-{len(self._asides):05d}.arrow")
        self._asides.append(aside)  # first: what is begun is removed, wherever Ctrl-C comes
        sink = self._open.enter_context(pa.OSFile(str(aside), "wb"))
        self._writer = self._open.enter_context(pa.ipc.new_stream(sink, self._schema))

    def publish(self, at_least: int, taken: set[str]) -> list[Path]:
        """Rename the shards to names that no file of the old save has."""
        while len(self._asides) < at_least:
            self._begin()
        self._open.close()
        total = len(self._asides)
        names = [f"data-{number:05d}-of-{total:05d}.arrow" for number in range(total)]
        if taken & set(names):
            mark = secrets.token_hex(4)
            names = [name.replace("data-", f"data-{mark}-") for name in names]
        paths = [self._folder / name for name in names]
        for aside, path in zip(self._asides, paths, strict=True):
            os.replace(aside, path)
        return paths


def _named_shards(folder: Path) -> set[str]:
    """The shards of the save that is there."""
    try:
        state = json.loads((folder / "state.json").read_text())
        return {file["filename"] for file in state["_data_files"]}
    except (OSError, ValueError, KeyError, TypeError):
        return set()


def _info(features: Features, info: Mapping[str, Any] | None) -> dict[str, Any]:
    plain = {"citation": "", "description": "", "homepage": "", "license": ""}
    return {**plain, **(info or {}), "features": features.to_dict()}


def _state(
    paths: list[Path], fingerprint: str, split: str | None, format: Mapping[str, Any]
) -> dict[str, Any]:
    """The seven keys that readers require."""
    return {
        "_data_files": [{"filename": path.name} for path in paths],
        "_fingerprint": fingerprint,
        "_format_columns": format.get("columns"),
        "_format_kwargs": dict(format.get("format_kwargs") or {}),
        "_format_type": format.get("type"),
        "_output_all_columns": bool(format.get("output_all_columns", False)),
        "_split": split,
    }


def _write_json(path: Path, value: Any) -> None:
    aside = aside_of(path)
    try:
        aside.write_text(json.dumps(value, indent=2), encoding="utf-8")
        os.replace(aside, path)
    finally:
        with contextlib.suppress(OSError):
            aside.unlink()
