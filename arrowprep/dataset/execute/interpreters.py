"""Clean interpreters: started once, kept warm between runs.

A worker is a new Python, not a fork of the user's process (which may hold locks that nobody in the copy
will release), and not a process that imports the user's `__main__` again (which would start the same work
anew in an unguarded script). It takes the parent's import path, folder and environment, and nothing else.

After a run that went well it stays for the next, for at most a minute. What the last function left in it is
what it would have left in one process: imported modules and their state. It takes the import path,
folder and environment of the parent anew. It is not used again when a module of the user's that it imported
changed on disk.
"""

from __future__ import annotations

import atexit
import os
import signal
import subprocess
import sys
import threading
from dataclasses import dataclass, field

from multiprocess.connection import Connection, Pipe

from arrowprep.dataset.execute.worker_process import World, stamp

_CLOSE_S = 2.0
_ENVIRONMENT = {"TOKENIZERS_PARALLELISM": "false", "ARROWPREP_THREADS": "1"}


@dataclass
class Interpreter:
    """One process and the pipe to it.

    fresh: it did not say yet that it is ready for the first time
    files: the user's modules that it imported, as they were
    """

    process: subprocess.Popen[bytes]
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


def take(count: int) -> list[Interpreter]:
    """This many interpreters, warm ones first."""
    with _lock:
        candidates, _idle[:] = list(_idle), []
    usable = [it for it in candidates if it.is_usable()]
    for stale in (it for it in candidates if it not in usable):
        stale.close()
    with _lock:
        _idle.extend(usable[count:])
    taken = usable[:count]
    try:
        taken += [start() for _ in range(count - len(taken))]
    except BaseException:
        give_back(taken)
        raise
    return taken


def give_back(interpreters: list[Interpreter]) -> None:
    """Keep these, which ended their run well, for the next."""
    with _lock:
        _idle.extend(interpreters)


def start() -> Interpreter:
    """A new process; it will say ("ready",)."""
    taken = world()
    ours, theirs = Pipe(duplex=True)
    # the path is set before anything of ours is imported; -c has put the current folder into it
    command = (
        f"import sys; sys.path[:] = {taken.path!r}; "
        f"from arrowprep.dataset.execute.worker_process import main; main({theirs.fileno()})"
    )
    flags = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]  # as multiprocessing does
    # Ctrl-C is held back until the process is ready to leave it to us
    held = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        process = subprocess.Popen(
            [sys.executable, *flags, "-c", command],
            stdin=subprocess.DEVNULL,
            pass_fds=(theirs.fileno(),),
            env=taken.environment,
        )
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, held)
        theirs.close()
    return Interpreter(process, ours, sys.executable)


def world() -> World:
    """What a worker takes from this process."""
    return World({**os.environ, **_ENVIRONMENT}, list(sys.path), os.getcwd())


def shut_down() -> None:
    """End all idle processes; called at exit."""
    with _lock:
        closing, _idle[:] = list(_idle), []
    for interpreter in closing:
        interpreter.connection.close()  # all at once, then wait
    for interpreter in closing:
        interpreter.close()


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
