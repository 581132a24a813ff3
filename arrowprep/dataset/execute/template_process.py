"""What workers are forked from: a clean process that has imported what they need and runs one thread.

A copy of it holds no lock that nobody will release, and shares the pages of the libraries with it. It
knows nothing of the user's code, which workers import themselves.

    from the parent   once names of modules, a line each, and a null; for each worker one byte with four
                      descriptors: its pipe, the one that tells of its end, standard output and error
    to the parent     once whether it can be forked, then for each worker its pid, or minus an errno
"""

from __future__ import annotations

import atexit
import contextlib
import errno
import gc
import importlib
import os
import signal
import socket
import struct
import sys

from multiprocess.connection import Connection, wait

from arrowprep.dataset.execute import worker_process

IDLE_S = worker_process.IDLE_S
DESCRIPTORS = 4
ANSWER = struct.Struct("<q")


def main(fd: int) -> None:
    """Serve the parent at the other end of this socket."""
    gc.disable()  # what is imported stays; to go through it again and again was a twentieth of the start
    control = socket.socket(fileno=fd)
    control.set_inheritable(False)
    signal.signal(
        signal.SIGCHLD, lambda *_: None
    )  # ignored, as it may be in the parent, no end would be told
    for name in _modules(control):
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    safe = _has_one_thread()
    try:
        control.sendall(ANSWER.pack(safe))
    except ConnectionError:  # the parent is gone
        return
    if safe:
        worker_process.main(_Template(control).serve())
        _leave()


def _modules(control: socket.socket) -> list[str]:
    text = b""
    while not text.endswith(b"\0") and (more := control.recv(1 << 16)):
        text += more
    return text[:-1].decode().split("\n")


def _leave() -> None:
    """End a worker; taking apart what it shares would make all pages its own, at once in all workers."""
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, OSError, ValueError):
            stream.flush()
    os._exit(0)


def _has_one_thread() -> bool:
    """Whether nothing but this code runs here: what another thread holds, a copy would wait for.

    OpenBLAS has threads from its import to the first fork, when it ends them itself.
    """
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    try:
        return len(os.listdir("/proc/self/task")) == 1
    except OSError:
        return False


class _Template:
    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._ends: dict[int, Connection] = {}  # {pid: where its end is told}
        self._deaths, self._waker = socket.socketpair()
        for end in (self._deaths, self._waker):
            end.setblocking(False)

    def serve(self) -> int:
        """Returns in each worker, with the descriptor of its pipe, and nowhere else."""
        signal.set_wakeup_fd(self._waker.fileno())
        gc.freeze()  # or the first collection in a worker would make all pages its own
        gc.enable()
        listening = True
        while listening or self._ends:
            heard = [self._control, self._deaths] if listening else [self._deaths]
            ready = wait(heard, timeout=None if self._ends else IDLE_S)
            if self._deaths in ready:
                self._tell_ends()
            if self._control in ready:
                _, fds, _, _ = socket.recv_fds(self._control, 1, DESCRIPTORS)
                listening = len(fds) == DESCRIPTORS
                if listening and (pipe := self._fork(*fds)) is not None:
                    return pipe
            listening = listening and bool(ready)
        os._exit(0)  # there is nothing to clean up, and a worker's exit handlers are the worker's

    def _fork(self, pipe: int, end: int, out: int, err: int) -> int | None:
        """The pipe, in the worker."""
        try:
            pid = os.fork()
        except OSError as error:
            pid = -(error.errno or errno.EAGAIN)
        if pid == 0:
            self._become_a_worker(end, out, err)
            return pipe
        for fd in (pipe, out, err):
            os.close(fd)
        if pid > 0:
            self._ends[pid] = Connection(end, readable=False)
        else:
            os.close(end)
        with contextlib.suppress(OSError):  # the parent may be gone
            self._control.sendall(ANSWER.pack(pid))
        return None

    def _become_a_worker(self, end: int, out: int, err: int) -> None:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for held in (self._control, self._deaths, self._waker, *self._ends.values()):
            held.close()
        for fd, place in ((out, 1), (err, 2)):
            os.dup2(fd, place)
            os.close(fd)
        os.close(end)
        if "numpy.random" in sys.modules:  # as `random` does by itself: no two workers draw the same
            sys.modules["numpy.random"].seed()

    def _tell_ends(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while self._deaths.recv(4096):
                pass
        while self._ends:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return
            end = self._ends.pop(pid)
            with contextlib.suppress(OSError):
                end.send(os.waitstatus_to_exitcode(status))
            end.close()
