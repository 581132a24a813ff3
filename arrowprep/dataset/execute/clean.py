"""A new Python that has nothing of this process but its import path, folder and environment."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping

from arrowprep.dataset.execute.worker_process import World, umask

_ENVIRONMENT = {"TOKENIZERS_PARALLELISM": "false", "ARROWPREP_THREADS": "1"}
# the threads that NumPy's OpenBLAS starts when it is imported are to sleep until there is work: they spin for
# 0.1 s first, a quarter of what such a process computes until it is ready
_AT_START = {"OPENBLAS_THREAD_TIMEOUT": "4"}


def world() -> World:
    """What a worker takes from this process."""
    return World({**os.environ, **_ENVIRONMENT}, list(sys.path), os.getcwd(), umask())


def start_clean(call: str, fd: int, environment: Mapping[str, str] | None = None) -> subprocess.Popen[bytes]:
    """A process that imports the module of this call, "package.module.function(...)", and makes it.

    fd: the one descriptor that it inherits, besides standard output and error
    environment: variables that it has besides those of a worker
    """
    taken = world()
    module = call.partition("(")[0].rpartition(".")[0]
    # the path is set before anything of ours is imported; -c has put the current folder into it
    command = f"import sys; sys.path[:] = {taken.path!r}; import {module}; {call}"
    flags = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]  # as multiprocessing does
    # Ctrl-C is held back until the process is ready to leave it to us
    held = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        return subprocess.Popen(
            [sys.executable, *flags, "-c", command],
            stdin=subprocess.DEVNULL,
            pass_fds=(fd,),
            env={**_AT_START, **taken.environment, **(environment or {})},
        )
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, held)
