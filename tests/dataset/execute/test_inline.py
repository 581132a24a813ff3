"""Work in this process."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

import pytest

from arrowprep.dataset.execute import Executor, Inline, choose_executor
from arrowprep.dataset.execute import base as execute_base
from arrowprep.errors import BadArgument
from tests.dataset.execute.contract import ExecutorContract, silent
from tests.dataset.execute.workers import Diary


class TestInline(ExecutorContract):
    @pytest.fixture
    def executor(self) -> Executor:
        return Inline()


def test_it_is_this_process(tmp_path: Path) -> None:
    outcome = Inline().run(partial(Diary, tmp_path), [1], report=silent)
    assert outcome.finished == [(0, os.getpid())]


@pytest.mark.parametrize(("num_proc", "tasks"), [(None, 5), (0, 5), (1, 5), (4, 1), (4, 0)])
def test_little_work_runs_here(num_proc: int | None, tasks: int) -> None:
    assert isinstance(choose_executor(num_proc, range(tasks)), Inline)


@pytest.mark.parametrize(
    ("num_proc", "tasks", "here"), [(4, 1, False), (4, 0, True), (1, 5, True), (None, 1, True)]
)
def test_one_task_that_may_kill_runs_elsewhere(num_proc: int | None, tasks: int, here: bool) -> None:
    assert isinstance(choose_executor(num_proc, range(tasks), away=True), Inline) is here


def test_no_more_processes_than_tasks() -> None:
    executor = choose_executor(8, range(3))
    assert getattr(executor, "num_proc", None) == 3


def test_a_worker_starts_no_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(execute_base, "_in_worker", True)
    assert isinstance(choose_executor(4, range(9)), Inline)


def test_a_negative_number_of_processes_is_refused() -> None:
    with pytest.raises(BadArgument, match="num_proc=-1"):
        choose_executor(-1, range(9))
