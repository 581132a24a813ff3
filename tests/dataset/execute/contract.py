"""What every executor promises; inherit it and give `executor`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from arrowprep.dataset.execute import Executor, Outcome
from tests.dataset.execute.workers import Diary, events


def silent(rows: int) -> None:
    """A report that nobody reads."""


class ExecutorContract:
    def run(self, executor: Executor, folder: Path, tasks: list[Any]) -> Outcome:
        return executor.run(partial(Diary, folder), tasks, report=silent)

    def test_results_come_in_the_order_of_the_tasks(self, executor: Executor, tmp_path: Path) -> None:
        tasks = list(range(20, 0, -1))
        assert self.run(executor, tmp_path, tasks).results == [task * 2 for task in tasks]
        assert len(events(tmp_path, "worked")) == 20

    def test_each_worker_is_made_once_and_finished_once(self, executor: Executor, tmp_path: Path) -> None:
        outcome = self.run(executor, tmp_path, list(range(20)))
        ranks = [rank for rank, _ in outcome.finished]
        assert ranks == sorted(ranks)
        assert [name.split("-")[1] for name in events(tmp_path, "made")] == [str(rank) for rank in ranks]
        assert len(events(tmp_path, "finished")) == len(ranks)
        assert events(tmp_path, "abandoned") == []

    def test_progress_is_told_in_full(self, executor: Executor, tmp_path: Path) -> None:
        told: list[int] = []
        executor.run(partial(Diary, tmp_path), list(range(20)), report=told.append)
        assert sum(told) == sum(range(20))

    def test_a_failure_arrives_as_it_was_with_its_cause(self, executor: Executor, tmp_path: Path) -> None:
        with pytest.raises(ValueError, match="no such text") as caught:
            self.run(executor, tmp_path, [1, "fail", 2])
        assert isinstance(caught.value.__cause__, KeyError)

    def test_after_a_failure_workers_abandon_and_none_finishes(
        self, executor: Executor, tmp_path: Path
    ) -> None:
        with pytest.raises(ValueError, match="no such text"):
            self.run(executor, tmp_path, [1, 2, "fail", 3, 4])
        assert len(events(tmp_path, "abandoned")) == len(events(tmp_path, "made")) > 0
        assert events(tmp_path, "finished") == []

    def test_a_failure_in_making_a_worker_arrives(self, executor: Executor) -> None:
        with pytest.raises(ZeroDivisionError):
            executor.run(lambda rank: 1 // 0, [1, 2], report=silent)  # type: ignore[arg-type, return-value]

    def test_a_report_that_raises_ends_the_run(self, executor: Executor, tmp_path: Path) -> None:
        def refuse(rows: int) -> None:
            raise InterruptedError("enough")

        with pytest.raises(InterruptedError, match="enough"):
            executor.run(partial(Diary, tmp_path), [1, 2, 3], report=refuse)
        assert events(tmp_path, "finished") == []

    def test_it_works_again_after_a_failure(self, executor: Executor, tmp_path: Path) -> None:
        with pytest.raises(ValueError, match="no such text"):
            self.run(executor, tmp_path, ["fail", 1])
        assert self.run(executor, tmp_path, [1, 2]).results == [2, 4]

    def test_lambdas_and_closures_are_workers_too(self, executor: Executor) -> None:
        factor = 3

        class Local:
            def work(self, task: int, report: Any) -> int:
                return task * factor

            def finish(self) -> str:
                return "done"

            def abandon(self) -> None:
                pass

        outcome = executor.run(lambda rank: Local(), [1, 2, 3], report=silent)
        assert outcome.results == [3, 6, 9]
        assert set(outcome.finished) == {"done"}
