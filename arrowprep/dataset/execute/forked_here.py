"""A worker that is a fork of the user's own process: only for those who ask for it.

It has all that this process has, without a copy; also locks that other threads held, and that nobody
will release.
"""

from __future__ import annotations

import os
import signal
import subprocess

import multiprocess

from arrowprep.dataset.execute import worker_process


class ForkedHere:
    """A worker, as Popen shows a child."""

    def __init__(self, pipe: int, ours: int) -> None:
        held = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # until it is ready to ignore it
        try:
            fork = multiprocess.get_context("fork")
            self._process = fork.Process(target=_serve, args=(pipe, ours), daemon=True)
            self._process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, held)
        self.pid: int = self._process.pid
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Its exit code, negative for a signal; None while it runs."""
        if self.returncode is None:
            self.returncode = self._process.exitcode
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """The same, once it has ended. Raises subprocess.TimeoutExpired."""
        self._process.join(timeout)
        code = self.poll()
        if code is None:
            raise subprocess.TimeoutExpired(f"worker {self.pid}", timeout or 0)
        return code

    def kill(self) -> None:
        """End it now."""
        if self.poll() is None:
            self._process.kill()


def _serve(pipe: int, ours: int) -> None:
    os.close(ours)  # or it would never see that its parent is gone
    worker_process.main(os.dup(pipe))
