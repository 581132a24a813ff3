"""Workers that write down what happens to them, for the promises of executors."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from arrowprep.dataset.execute import undisturbed


class Diary:
    """Doubles numbers; other tasks do what they say. An event is a file `event-rank-count` in the folder."""

    def __init__(self, folder: Path, rank: int) -> None:
        self.folder, self.rank, self.count = folder, rank, 0
        self.note("made")

    def note(self, event: str) -> None:
        self.count += 1
        (self.folder / f"{event}-{self.rank}-{self.count}").write_text(str(os.getpid()))

    def work(self, task: Any, report: Callable[[int], None]) -> Any:
        if task == "fail":
            try:
                raise KeyError("inner")
            except KeyError as error:
                raise ValueError("no such text") from error
        if task == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        if task == "exit":
            os._exit(7)
        if task == "sleep":
            self.note("asleep")
            time.sleep(60)
        if task == "write":
            with undisturbed():
                self.note("writing")
                time.sleep(0.3)
                self.note("written")
            report(1)
            self.note("went on")
        if isinstance(task, str) and task.startswith("wait for "):
            while not events(self.folder, task.removeprefix("wait for ")):
                time.sleep(0.01)
            raise ValueError("no such text")
        if task == "busy":
            self.note("busy")
            while True:
                report(1)
        if task == "odd":
            raise OddError("a", 3)
        self.note("worked")
        report(task)
        return task * 2

    def finish(self) -> Any:
        self.note("finished")
        return self.rank, os.getpid()

    def abandon(self) -> None:
        self.note("abandoned")


class OddError(Exception):
    """Cannot be made again from its arguments, so it does not survive pickling."""

    def __init__(self, one: str, two: int) -> None:
        super().__init__(f"{one} and {two}")


def events(folder: Path, event: str) -> list[str]:
    """Names of the files of this event, `event-rank-count`."""
    return sorted(path.name for path in folder.glob(f"{event}-*"))
