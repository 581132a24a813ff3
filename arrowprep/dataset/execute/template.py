"""The process that workers are forked from, as their parent sees it: started when needed, asked, replaced.

A worker costs 4 ms and 15 MB then; as a process of its own, 0.3 s and 40 MB (`benchmarks.dataset memory`).
There is one where it can be forked safely, which it finds out itself: on Linux, with one thread.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import cached_property

from multiprocess.connection import Connection, Pipe

from arrowprep.dataset.execute.clean import start_clean
from arrowprep.dataset.execute.template_process import ANSWER

_RETIRE_S = 0.2
# what most workers begin with importing, by what of it their parent has by then
_NEEDED_FIRST = {
    "arrowprep.dataset": ["arrowprep.dataset.verbs.map_worker", "arrowprep.dataset.formats.python"],
    "arrowprep.tokenize": ["arrowprep.tokenize.native"],
    "numpy": ["numpy.random"],  # which is seeded for every batch
}
LOST = 1000  # of a worker whose end nobody was left to see; no exit code is so large


class Forked:
    """A worker, as Popen shows a child: the template waits for it, and tells how it ended."""

    def __init__(self, pid: int, end: Connection) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._end = end

    def poll(self) -> int | None:
        """Its exit code, negative for a signal; None while it runs."""
        if self.returncode is None and self._end.poll():
            self._read()
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """The same, once it has ended. Raises subprocess.TimeoutExpired."""
        if self.returncode is None:
            if not self._end.poll(timeout):
                raise subprocess.TimeoutExpired(f"worker {self.pid}", timeout or 0)
            self._read()
        assert self.returncode is not None
        return self.returncode

    def kill(self) -> None:
        """End it now. Its number is given to nobody else before its end was told."""
        if self.poll() in (None, LOST):
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)

    def _read(self) -> None:
        try:
            self.returncode = self._end.recv()
        except (EOFError, OSError):
            self.returncode = LOST
        self._end.close()


class _Template:
    """Started, and not waited for: 0.3 s of imports, beside which its parent may do something else.

    is_parent: it was asked for a worker
    """

    def __init__(self) -> None:
        self.is_parent = False
        self.executable = sys.executable
        self.control, theirs = socket.socketpair()
        call = f"arrowprep.dataset.execute.template_process.main({theirs.fileno()})"
        with theirs:
            self.process = start_clean(call, theirs.fileno(), {"JE_ARROW_MALLOC_CONF": _no_threads()})
        with contextlib.suppress(ConnectionError):  # it ended, as is seen when it is asked for a worker
            self.control.sendall("\n".join(_shared()).encode() + b"\0")

    @cached_property
    def works(self) -> bool:
        """Whether it can be forked, once it knows; if not, it ends by itself."""
        try:
            return self._answer() == 1
        except (EOFError, ConnectionError):  # it said why
            return False

    def fork(self, pipe: int) -> Forked:
        """A worker at the other end of this pipe. Raises EOFError where this is gone, or OSError."""
        self.is_parent = True
        told, end = Pipe(duplex=False)
        with end, _standard(1) as out, _standard(2) as err:
            socket.send_fds(self.control, [b"+"], [pipe, end.fileno(), out, err])
            pid = self._answer()
        if pid < 0:
            raise OSError(-pid, os.strerror(-pid))
        return Forked(pid, told)

    def _answer(self) -> int:
        data = self.control.recv(ANSWER.size, socket.MSG_WAITALL)
        if len(data) < ANSWER.size:
            raise EOFError
        number: int = ANSWER.unpack(data)[0]
        return number


def _shared() -> list[str]:
    """The modules that workers need not import, nor have a copy of."""
    imported = [name for name in list(sys.modules) if name.partition(".")[0] in ("arrowprep", "pyarrow")]
    return imported + [name for of, names in _NEEDED_FIRST.items() if of in sys.modules for name in names]


def _no_threads() -> str:
    """The settings of Arrow's second allocator, which starts a thread where it is not told otherwise."""
    return ",".join(filter(None, [os.environ.get("JE_ARROW_MALLOC_CONF"), "background_thread:false"]))


@contextlib.contextmanager
def _standard(fd: int) -> Iterator[int]:
    """A copy of standard output or error; of nowhere where it is closed."""
    try:
        copy = os.dup(fd)
    except OSError:
        copy = os.open(os.devnull, os.O_WRONLY)
    try:
        yield copy
    finally:
        os.close(copy)


_possible = sys.platform == "linux"  # the libraries of macOS have threads and state that a fork breaks
_current: _Template | None = None
_retired: list[subprocess.Popen[bytes]] = []  # they end with their last worker
_lock = threading.Lock()


def prepare() -> None:
    """Begin to start it, if there is to be one: workers will be asked for soon."""
    with _lock:
        _started()


def fork(pipe: int) -> Forked | None:
    """A worker at the other end of this pipe; None where workers cannot be forked."""
    global _possible
    with _lock:
        for _ in range(2):  # it may have been idle for too long, or was killed
            if (template := _started()) is None:
                break
            try:
                if template.works:
                    return template.fork(pipe)
                _possible = False
            except (EOFError, OSError):
                _retire()
            except BaseException:  # what it would answer is of no use to the next
                _retire()
                raise
        _retire()
        return None


def _started() -> _Template | None:
    """The one there is, or a new one; None where there is none to be."""
    global _current
    if _current is not None and _current.executable != sys.executable:
        _retire()
    if _possible and _current is None:
        _current = _Template()
    return _current if _possible else None


def retire() -> None:
    """Let it end: at once, or with the last of its workers."""
    with _lock:
        _retire()


def _retire() -> None:
    global _current
    template, _current = _current, None
    if template is not None:
        template.control.close()
        if not template.is_parent:
            template.process.kill()  # it would notice when it has imported all
        _retired.append(template.process)
    for process in _retired:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_RETIRE_S)
    _retired[:] = [process for process in _retired if process.poll() is None]


def _forget() -> None:
    """In a forked child: it is the parent's."""
    global _lock, _current
    _lock = threading.Lock()
    for process in [*_retired, *([_current.process] if _current else [])]:
        process.returncode = 0  # no child of this process: nothing to wait for
    if _current is not None:
        _current.control.close()
    _current = None
    _retired.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
