"""What a stopped run left: record batches that are whole, whether their file has an end or not."""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
from pathlib import Path
from typing import Any

import pyarrow as pa

from arrowprep.dataset.indices import Span
from arrowprep.dataset.storage import ipc
from arrowprep.dataset.storage.parts import NOTE, Part

_MAGIC_BYTES = 8  # before the stream that an Arrow file is
_OWNER = re.compile(r"\.(?P<pid>\d+)-[0-9a-f]+\.tmp$")


def leftovers(folder: Path, stem: str, num_rows: int, version: int) -> list[Part]:
    """Parts whose names begin with `stem`, as far as they are whole and do not overlap.

    The caller holds the entry's lock, so no part has a living owner. What is not
    taken is removed.
    """
    taken: list[Part] = []
    covered: list[Span] = []
    for path in sorted([*folder.glob(f"{stem}-*.arrow"), *folder.glob(f".{stem}-*.tmp")]):
        if _has_living_owner(path):
            continue
        part = _read(path, folder, stem)
        if part is None or part.note.get("version") != version or not _fits(part.spans, covered, num_rows):
            (part.path if part else path).unlink(missing_ok=True)
            continue
        taken.append(part)
        covered += part.spans
    return taken


def gaps(num_rows: int, spans: list[Span]) -> list[Span]:
    """The rows that no span covers, in order."""
    found, start = [], 0
    for span in sorted(spans, key=lambda s: (s.start, s.stop)):
        if span.start > start:
            found.append(Span(start, span.start))
        start = max(start, span.stop)
    return [*found, Span(start, num_rows)] if start < num_rows else found


def _read(path: Path, folder: Path, stem: str) -> Part | None:
    """The part of a file; one without an end is written again as far as it is whole."""
    batches = _whole_batches(path)
    if not batches:
        return None
    schema = batches[0][0].schema
    try:
        note: dict[str, Any] = json.loads((schema.metadata or {})[NOTE])
    except (KeyError, ValueError):
        return None
    if path.suffix == ".tmp":
        path = _written_again(path, batches, folder / f"{stem}-{secrets.token_hex(4)}-salvaged.arrow")
    spans = tuple(_span(metadata) for _, metadata in batches)
    return Part(path, schema.remove_metadata(), note, spans)


def _whole_batches(path: Path) -> list[tuple[pa.RecordBatch, dict[str, str]]]:
    """Record batches from the start of a file, up to where it is broken off."""
    found = []
    with (
        contextlib.suppress(pa.ArrowInvalid, OSError, StopIteration, KeyError),
        pa.memory_map(str(path)) as file,
    ):
        file.seek(_MAGIC_BYTES)
        reader = pa.ipc.open_stream(file)
        while True:
            batch, metadata = reader.read_next_batch_with_custom_metadata()
            found.append((batch, {k.decode(): v.decode() for k, v in dict(metadata or {}).items()}))
    while found and found[-1][1].get("whole") != "1":
        found.pop()
    return found


def _written_again(old: Path, batches: list[tuple[pa.RecordBatch, dict[str, str]]], new: Path) -> Path:
    with ipc.write_aside(new, batches[0][0].schema) as writer:
        for batch, metadata in batches:
            writer.write_batch(batch, metadata)
    old.unlink()
    return new


def _span(metadata: dict[str, str]) -> Span:
    start, stop = metadata["rows"].split(":")
    return Span(int(start), int(stop))


def _fits(spans: tuple[Span, ...], covered: list[Span], num_rows: int) -> bool:
    return all(
        0 <= span.start <= span.stop <= num_rows
        and not any(span.start < other.stop and other.start < span.stop for other in covered)
        for span in spans
    )


def _has_living_owner(path: Path) -> bool:
    match = _OWNER.search(path.name)
    if match is None:
        return False
    pid = int(match["pid"])
    if pid == os.getpid():
        return False  # an earlier run of ours: this one has not begun to write
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
