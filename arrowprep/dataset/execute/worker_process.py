"""The other end: what a worker process runs.

Messages come over one pipe, read by a thread of its own, so that the end of the parent is noticed in the
middle of a long task: this process then ends at once. A cancellation arrives the same way and interrupts
the task. Ctrl-C in a terminal reaches every process of the group; here it is left to the parent.

    from the parent   ("begin", settings, world, rank, maker) ("task", number, data) ("finish",) ("cancel",)
    to the parent     ("ready",) ("begun",) ("progress", rows) ("result", number, data, rows)
                      ("finished", data, files) ("failed", number or None, error)
"""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import sys
import threading
import time
from dataclasses import dataclass
from types import FrameType
from typing import Any

from multiprocess.connection import Connection

from arrowprep import config
from arrowprep.dataset.execute import base
from arrowprep.dataset.execute.travel import pack, pack_error, unpack
from arrowprep.dataset.fingerprint.modules import is_own

IDLE_S = 60.0  # an idle process ends itself after so long
PROGRESS_S = 0.05  # between two messages about progress


@dataclass(frozen=True)
class World:
    """What a worker takes from its parent at the beginning of each run."""

    environment: dict[str, str]
    path: list[str]
    folder: str
    umask: int | None = None


def umask() -> int | None:
    """Of this process, read without setting it, which other threads would notice; None where unknown."""
    try:
        with open("/proc/self/status", encoding="utf-8") as status:
            return next((int(line.split()[1], 8) for line in status if line.startswith("Umask:")), None)
    except OSError:
        return None


class Cancelled(BaseException):
    """Raised in the middle of a task when the parent cancels the run."""


def _unless_cancelled(told: Any) -> None:
    """Print what was raised where nobody can catch it, as Python does; a cancellation is heard once more."""
    if told.exc_type is not Cancelled:
        sys.__unraisablehook__(told)


class _Session:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._inbox: queue.SimpleQueue[tuple[Any, ...]] = queue.SimpleQueue()
        self._busy = False  # inside of the user's code
        self._cancelled = False
        self._worker: base.Worker | None = None
        self._rows = 0
        self._told = 0.0

    def serve(self) -> None:
        """Answer until the parent goes or says so."""
        signal.signal(signal.SIGINT, self._interrupt)
        sys.unraisablehook = _unless_cancelled
        if hasattr(signal, "pthread_sigmask"):  # blocked while this process was started
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        threading.Thread(target=self._listen, daemon=True).start()
        with contextlib.suppress(BrokenPipeError):  # the parent may have done all work without this process
            self._connection.send(("ready",))
        while True:
            try:
                message = self._inbox.get(timeout=None if self._worker else IDLE_S)
            except queue.Empty:
                return
            if message[0] == "gone":
                return
            if message[0] == "cancel":
                self._abandon()
                return
            self._answer(message)

    def _listen(self) -> None:
        while True:
            try:
                message = self._connection.recv()
            except (EOFError, OSError):
                if self._busy:
                    os._exit(1)  # nobody waits for the result any more
                self._inbox.put(("gone",))
                return
            if message[0] == "cancel":
                self._cancelled = True
                if self._busy:
                    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
            self._inbox.put(message)

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        if not base.is_undisturbed():
            self._stop_if_cancelled()

    def _stop_if_cancelled(self) -> None:
        if self._cancelled and self._busy:
            self._busy = False
            raise Cancelled

    def _answer(self, message: tuple[Any, ...]) -> None:
        kind, *rest = message
        number = rest[0] if kind == "task" else None
        try:
            self._busy = True
            self._stop_if_cancelled()
            reply = getattr(self, f"_{kind}")(*rest)
            self._busy = False
            self._connection.send(reply)
        except Cancelled:
            pass  # the message itself comes next
        except BaseException as error:
            self._busy = False
            self._connection.send(("failed", number, pack_error(error)))
        finally:
            self._busy = False
            for stream in (sys.stdout, sys.stderr):
                with contextlib.suppress(OSError, ValueError):
                    stream.flush()

    def _begin(self, settings: dict[str, Any], world: World, rank: int, maker: bytes) -> tuple[Any, ...]:
        # as the parent has it now, whatever it was at the start, and whatever the last run's function did
        if dict(os.environ) != world.environment:
            os.environ.clear()
            os.environ.update(world.environment)
        sys.path[:] = world.path
        os.chdir(world.folder)
        if world.umask is not None:
            os.umask(world.umask)
        config.configure(**settings)
        make_worker: base.MakeWorker = unpack(maker)
        with base.undisturbed():  # no worker is left half made
            self._worker = make_worker(rank)
        self._stop_if_cancelled()
        return ("begun",)

    def _task(self, number: int, data: bytes) -> tuple[Any, ...]:
        assert self._worker is not None
        result = self._worker.work(unpack(data), self._report)
        rows, self._rows = self._rows, 0
        return ("result", number, pack(result), rows)

    def _finish(self) -> tuple[Any, ...]:
        assert self._worker is not None
        value = self._worker.finish()
        self._worker = None
        return ("finished", pack(value), own_files())

    def _report(self, rows: int) -> None:
        self._rows += rows
        if time.monotonic() - self._told > PROGRESS_S:
            self._told = time.monotonic()
            with base.undisturbed():  # no message is left half in the pipe
                self._connection.send(("progress", self._rows))
            self._rows = 0
        self._stop_if_cancelled()

    def _abandon(self) -> None:
        if self._worker is not None:
            self._worker.abandon()


def own_files() -> dict[str, tuple[int, int] | None]:
    """{file: (mtime in ns, size)} of the imported modules that the user may edit."""
    files = {}
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if file and name != "__main__" and is_own(name):
            files[file] = stamp(file)
    return files


def stamp(file: str) -> tuple[int, int] | None:
    """What changes when the file is written; None where there is none."""
    try:
        found = os.stat(file)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


def main(fd: int) -> None:
    """Serve the parent at the other end of this pipe."""
    base.enter_worker()
    os.set_inheritable(fd, False)  # what the user's function starts may not hold the pipe open
    _Session(Connection(fd)).serve()
