"""Where work runs: in this process, or in clean worker processes. Knows nothing of Arrow."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any

from arrowprep.dataset.execute.base import Executor, Outcome, Worker, in_worker, undisturbed
from arrowprep.dataset.execute.inline import Inline
from arrowprep.errors import BadArgument

__all__ = ["Executor", "Inline", "Outcome", "Worker", "choose_executor", "in_worker", "undisturbed"]


CONTEXTS = ("spawn", "forkserver", "fork")


def choose_executor(
    num_proc: int | None, tasks: Sequence[Any], context: str | None = None, *, away: bool = False
) -> Executor:
    """Where to run these tasks: None, 0 and 1 mean this process, and so does one task, and any worker.

    context: one of CONTEXTS, how other processes are started
    away: one task too goes to another process, where there may be any: it may be what killed a worker
    """
    if context not in (None, *CONTEXTS):
        raise BadArgument(f"mp_context {context!r} is none of {', '.join(CONTEXTS)}", mp_context=context)
    if num_proc is not None and num_proc < 0:
        raise BadArgument(f"num_proc={num_proc} is not a number of processes", num_proc=num_proc)
    count = min(num_proc or 1, len(tasks))
    alone = not tasks or (num_proc or 1) == 1 or (count == 1 and not away)
    if alone or in_worker() or not sys.executable or os.name != "posix":
        return Inline()
    # here, for a program that runs everything in one process needs neither dill nor multiprocess
    from arrowprep.dataset.execute.processes import Processes

    return Processes(count, context)
