"""Clean interpreters: started once, kept warm between runs.

A worker is a new Python, or a fork of one (`template`), not of the user's process (which may hold locks
that nobody in the copy will release), and not a process that imports the user's `__main__` again (which would
start the same work anew in an unguarded script). It takes the parent's import path, folder and environment,
and nothing else.

After a run that went well it stays for the next, for at most a minute. What the last function left in it is
what it would have left in one process: imported modules and their state. It takes the import path,
folder and environment of the parent anew. It is not used again when a module of the user's that it imported
changed on disk.
"""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
import threading
from dataclasses import dataclass, field

from multiprocess.connection import Connection, Pipe

from arrowprep.dataset.execute import template
from arrowprep.dataset.execute.clean import start_clean
from arrowprep.dataset.execute.forked_here import ForkedHere
from arrowprep.dataset.execute.worker_process import stamp

_CLOSE_S = 2.0


@dataclass
class Interpreter:
    """One process and the pipe to it.

    fresh: it did not say yet that it is ready for the first time
    files: the user's modules that it imported, as they were
    """

    process: subprocess.Popen[bytes] | template.Forked | ForkedHere
    connection: Connection
    executable: str
    fresh: bool = True
    files: dict[str, tuple[int, int] | None] = field(default_factory=dict)

    def is_usable(self) -> bool:
        """Whether a new process would be no different."""
        return (
            self.process.poll() is None
            and self.executable == sys.executable
            and all(stamp(file) == known for file, known in self.files.items())
        )

    def close(self, wait_s: float = _CLOSE_S) -> None:
        """Let it end by itself, as it does when the pipe closes; kill it when it does not."""
        self.connection.close()
        try:
            self.process.wait(wait_s)
        except subprocess.TimeoutExpired:
            self.kill()

    def exit_code(self) -> int:
        """How it ended, negative for a signal; one that closed its pipe and goes on is killed."""
        try:
            return self.process.wait(_CLOSE_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()

    def kill(self) -> None:
        """End it now."""
        self.process.kill()
        self.process.wait()
        self.connection.close()


_idle: list[Interpreter] = []
_lock = threading.Lock()


def prepare(count: int) -> None:
    """Begin to start what `take` will need beside those that are idle, without waiting for it."""
    with _lock:
        lacking = count > len(_idle)
    if lacking:
        template.prepare()


def take(count: int, context: str | None = None) -> list[Interpreter]:
    """This many interpreters, warm ones first; with a context new ones, which are not kept."""
    with _lock:
        candidates, _idle[:] = ([], _idle[:]) if context else (list(_idle), [])
    usable = [it for it in candidates if it.is_usable()]
    for stale in (it for it in candidates if it not in usable):
        stale.close()
    with _lock:
        _idle.extend(usable[count:])
    taken = usable[:count]
    try:
        while len(taken) < count:
            taken.append(start(context))
    except BaseException:
        give_back(taken)
        raise
    return taken


def give_back(interpreters: list[Interpreter]) -> None:
    """Keep these, which ended their run well, for the next."""
    with _lock:
        _idle.extend(interpreters)


def start(context: str | None = None) -> Interpreter:
    """A new process; it will say ("ready",)."""
    ours, theirs = Pipe(duplex=True)
    with theirs:
        fd = theirs.fileno()
        if context == "fork":
            return Interpreter(ForkedHere(fd, ours.fileno()), ours, sys.executable)
        forked = None if context == "spawn" else template.fork(fd)
        process = forked or start_clean(f"arrowprep.dataset.execute.worker_process.main({fd})", fd)
    return Interpreter(process, ours, sys.executable)


def shut_down() -> None:
    """End all idle processes; called at exit."""
    with _lock:
        closing, _idle[:] = list(_idle), []
    for interpreter in closing:
        interpreter.connection.close()  # all at once, then wait
    for interpreter in closing:
        interpreter.close()
    template.retire()


def _forget() -> None:
    """In a forked child: they are the parent's."""
    global _lock
    _lock = threading.Lock()
    for interpreter in _idle:
        interpreter.process.returncode = 0  # no child of this process: nothing to wait for
        interpreter.connection.close()
    _idle.clear()


atexit.register(shut_down)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
