"""Ctrl-C at any place: what was written is kept, nothing is half there or twice, and no lock stays held."""

from __future__ import annotations

import sys
from itertools import count
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from arrowprep.dataset.indices import Span
from arrowprep.dataset.storage import ipc, locks, parts, seal
from arrowprep.dataset.storage.leftovers import leftovers
from arrowprep.dataset.storage.parts import Part, PartPlan, PartWriter

FILES = {module.__file__ for module in (ipc, locks, parts, seal)}
# the second and the third are put together where a batch may be that large; then the note changes
APPENDED = [(Span(0, 10), "a"), (Span(20, 30), "a"), (Span(30, 40), "a"), (Span(50, 60), "b")]


class Interrupted:
    """A block that Ctrl-C ends at the n-th line that is run in these files.

    What is collected at that place may swallow it, as it does Ctrl-C; `came` says whether it came at all.
    """

    def __init__(self, at: int) -> None:
        self._left = at

    @property
    def came(self) -> bool:
        return self._left <= 0

    def __enter__(self) -> Interrupted:
        self._before = sys.gettrace()
        sys.settrace(self._trace)
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> bool:
        sys.settrace(self._before)
        return kind is KeyboardInterrupt

    def _trace(self, frame: FrameType, event: str, arg: Any) -> Any:
        if frame.f_code.co_filename not in FILES:
            return None
        if event == "line":
            self._left -= 1
            if self._left == 0:
                raise KeyboardInterrupt
        return self._trace


def rows_of(span: Span) -> list[int]:
    """What input rows become: each is there as often as its number says."""
    return [n for n in range(span.start, span.stop) for _ in range(n % 3)]


def write(writer: PartWriter, done: list[Span]) -> None:
    """Append everything, and note what was appended."""
    for span, said in APPENDED:
        writer.append(pa.table({"n": np.array(rows_of(span))}), span, {"version": 1, "said": said})
        done.append(span)


def check(found: list[Part], done: list[Span]) -> None:
    covered = [n for part in found for span in part.spans for n in range(span.start, span.stop)]
    assert len(covered) == len(set(covered))
    assert {n for span in done for n in range(span.start, span.stop)} <= set(covered)
    for part in found:
        expected = [n for span in part.spans for n in rows_of(span)]
        assert ipc.open_mapped(part.path)["n"].to_pylist() == expected
        assert seal.intact(part.path)


@pytest.mark.parametrize("batch_bytes", [1, 1 << 20])
def test_what_was_appended_is_found_whole_and_once(tmp_path: Path, batch_bytes: int, monkeypatch) -> None:
    monkeypatch.setattr(ipc, "BATCH_BYTES", batch_bytes)
    for at in count(1):
        folder = tmp_path / str(at)
        folder.mkdir()
        writer = PartWriter(PartPlan(folder / "part", 60), 0)
        done: list[Span] = []
        with Interrupted(at) as interrupt:
            write(writer, done)
        writer.abandon()
        check(leftovers(folder, "part", 60, version=1), done)
        if not interrupt.came:
            break
    assert at > 100
    assert len(done) == len(APPENDED)


def test_a_lock_is_held_by_nobody(tmp_path: Path) -> None:
    path = tmp_path / "it.lock"
    for at in count(1):
        with Interrupted(at) as interrupt, locks.only_one(path):
            pass
        assert not locks.is_held(path), at
        if not interrupt.came:
            break
    assert at > 10
