"""Work in this process, one task after another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from arrowprep.dataset.execute.base import MakeWorker, Outcome


class Inline:
    """One worker, here; errors arrive as they are."""

    def run(self, make_worker: MakeWorker, tasks: Sequence[Any], *, report: Callable[[int], None]) -> Outcome:
        worker = make_worker(0)
        try:
            results = [worker.work(task, report) for task in tasks]
        except BaseException:
            worker.abandon()
            raise
        return Outcome(results, [worker.finish()])
