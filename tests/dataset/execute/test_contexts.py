"""How workers are started is a choice, and changes no row."""

from __future__ import annotations

import os
import signal
from typing import Any

import pytest

from arrowprep import Dataset
from arrowprep.dataset.execute import CONTEXTS, Executor
from arrowprep.dataset.execute.processes import Processes
from arrowprep.errors import ArrowprepWarning, BadArgument, WorkerDied
from tests.dataset.execute.contract import ExecutorContract


class TestFork(ExecutorContract):
    @pytest.fixture
    def executor(self) -> Executor:
        return Processes(2, "fork")


@pytest.mark.parametrize("context", CONTEXTS)
def test_rows_are_the_same_however_workers_are_started(context: str) -> None:
    ds = Dataset.from_dict({"n": list(range(500))})
    options = {"num_proc": 2, "mp_context": context, "load_from_cache_file": False}
    assert ds.map(lambda row: {"m": row["n"] + 1}, **options)["m"].to_list() == list(range(1, 501))


def test_a_fork_is_a_child_of_this_process() -> None:
    ds = Dataset.from_dict({"n": list(range(500))})
    options = {"num_proc": 2, "mp_context": "fork", "load_from_cache_file": False}
    assert ds.map(lambda row: {"parent": os.getppid()}, **options).unique("parent") == [os.getpid()]
    assert len(ds.filter(lambda row: row["n"] % 2 == 0, **options)) == 250


def test_a_fork_that_is_killed_is_named() -> None:
    here = os.getpid()

    def crash(row: Any) -> None:
        assert os.getpid() != here, "it ran in no worker"
        os.kill(os.getpid(), signal.SIGKILL)

    ds = Dataset.from_dict({"n": list(range(500))})
    with pytest.warns(ArrowprepWarning, match="once more"), pytest.raises(WorkerDied, match="SIGKILL"):
        ds.map(crash, num_proc=2, mp_context="fork")


def test_other_contexts_are_refused() -> None:
    with pytest.raises(BadArgument, match="none of spawn, forkserver, fork"):
        Dataset.from_dict({"n": list(range(500))}).map(lambda row: row, num_proc=2, mp_context="thread")
