"""Work in clean interpreters: what travels, what ends them, what stays behind."""

from __future__ import annotations

import importlib
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from arrowprep import config
from arrowprep.dataset.execute import Executor, interpreters
from arrowprep.dataset.execute.processes import Processes
from arrowprep.dataset.execute.travel import WorkerTraceback
from arrowprep.errors import CannotTravel, MapError, WorkerDied
from tests.dataset.execute.contract import ExecutorContract, silent
from tests.dataset.execute.workers import Diary, events


@pytest.fixture(autouse=True, scope="module")
def _nothing_stays() -> Iterator[None]:
    yield
    interpreters.shut_down()
    assert children() == []


def children(of: int | None = None) -> list[str]:
    """Command lines of the live children of this process, and of theirs."""
    found = []
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            text = status.read_text()
            command = status.with_name("cmdline").read_text()
        except OSError:
            continue  # it ended meanwhile
        if f"\nPPid:\t{of or os.getpid()}\n" in text and "\nState:\tZ" not in text:
            found += [command, *children(int(status.parent.name))]
    return found


class Call:
    """A worker that calls a function of one task."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.function = function

    def work(self, task: Any, report: Callable[[int], None]) -> Any:
        return self.function(task)

    def finish(self) -> Any:
        return os.getpid()

    def abandon(self) -> None:
        pass


def in_processes(function: Callable[[Any], Any], tasks: list[Any]) -> list[Any]:
    return Processes(2).run(lambda rank: Call(function), tasks, report=silent).results


class TestProcesses(ExecutorContract):
    @pytest.fixture
    def executor(self) -> Executor:
        return Processes(2)

    def test_the_first_failure_stops_work_in_the_middle(self, executor: Executor, tmp_path: Path) -> None:
        began = time.monotonic()
        with pytest.raises(ValueError, match="no such text"):
            self.run(executor, tmp_path, ["wait for asleep", "sleep"])
        assert time.monotonic() - began < 40  # and not the minute of the sleeper
        assert len(events(tmp_path, "abandoned")) == 2

    def test_a_failure_lets_a_worker_end_what_must_not_stop_halfway(
        self, executor: Executor, tmp_path: Path
    ) -> None:
        with pytest.raises(ValueError, match="no such text"):
            self.run(executor, tmp_path, ["wait for writing", "write"])
        assert len(events(tmp_path, "written")) == 1
        assert events(tmp_path, "went on") == []
        assert len(events(tmp_path, "abandoned")) == 2

    def test_a_failure_stops_a_worker_that_reports_all_the_time(
        self, executor: Executor, tmp_path: Path
    ) -> None:
        def fail_when_busy(rows: int) -> None:
            if events(tmp_path, "busy"):
                raise InterruptedError

        with pytest.raises(InterruptedError):
            executor.run(partial(Diary, tmp_path), ["busy", 1], report=fail_when_busy)
        assert children() == []

    def test_a_failure_brings_the_workers_traceback(self, executor: Executor, tmp_path: Path) -> None:
        with pytest.raises(ValueError, match="no such text") as caught:
            self.run(executor, tmp_path, ["fail", 1])
        cause = caught.value.__cause__
        assert cause is not None
        assert isinstance(cause.__cause__, WorkerTraceback)
        assert "raise ValueError" in str(cause.__cause__)
        assert "in work" in str(cause.__cause__)

    def test_an_error_that_does_not_travel_is_told(self, executor: Executor, tmp_path: Path) -> None:
        with pytest.raises(MapError, match="OddError: a and 3"):
            self.run(executor, tmp_path, ["odd", 1])

    @pytest.mark.parametrize(("task", "how"), [("die", "killed by SIGKILL"), ("exit", "exited with code 7")])
    def test_a_death_is_noticed_at_once(
        self, executor: Executor, tmp_path: Path, task: str, how: str
    ) -> None:
        began = time.monotonic()
        with pytest.raises(WorkerDied, match=f"{how} while it did task 1") as caught:
            self.run(executor, tmp_path, ["sleep", task])
        assert time.monotonic() - began < 40  # and not the minute of the sleeper
        assert caught.value.task == 1
        assert caught.value.signal == ("SIGKILL" if task == "die" else None)

    def test_a_second_run_uses_the_same_processes(self, executor: Executor, tmp_path: Path) -> None:
        pids = [{pid for _, pid in self.run(executor, tmp_path, list(range(20))).finished} for _ in range(2)]
        assert pids[0] & pids[1]
        assert os.getpid() not in pids[0] | pids[1]

    def test_nothing_is_left_when_it_failed(self, executor: Executor, tmp_path: Path) -> None:
        interpreters.shut_down()
        with pytest.raises(ValueError, match="no such text"):
            self.run(executor, tmp_path, ["fail", "sleep"])
        assert children() == []


def test_the_environment_is_as_it_was_and_workers_use_one_thread() -> None:
    before = dict(os.environ)
    names = ["TOKENIZERS_PARALLELISM", "ARROWPREP_THREADS"]
    assert in_processes(lambda name: os.environ.get(name), names) == ["false", "1"]
    assert dict(os.environ) == before


def test_settings_given_in_code_hold_in_workers(tmp_path: Path) -> None:
    with config.configured(cache_dir=tmp_path, engine="reference"):
        found = in_processes(
            lambda name: getattr(config.settings(), name), ["cache_dir", "engine", "threads"]
        )
    assert found == [tmp_path, "reference", 1]


def test_a_changed_environment_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    assert in_processes(lambda name: os.environ.get(name), ["MY_SWITCH", "HOME"])[0] is None
    monkeypatch.setenv("MY_SWITCH", "on")
    assert in_processes(lambda name: os.environ.get(name), ["MY_SWITCH", "HOME"])[0] == "on"


def test_what_a_function_did_to_its_process_is_undone(tmp_path: Path) -> None:
    def spoil(task: Any) -> None:
        os.environ["SPOILED"] = "yes"
        os.chdir(tmp_path)
        sys.path.clear()

    in_processes(spoil, [1, 2])
    look = [lambda: os.environ.get("SPOILED"), os.getcwd, lambda: list(sys.path)]
    assert in_processes(lambda at: look[at](), [0, 1, 2]) == [None, os.getcwd(), list(sys.path)]


def test_a_helper_module_that_changed_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    for name, text in [("one", "VALUE = 'one'\n"), ("another", "VALUE = 'another'\n")]:
        (tmp_path / "helper_of_workers.py").write_text(text)
        importlib.invalidate_caches()
        sys.modules.pop("helper_of_workers", None)
        helper = importlib.import_module("helper_of_workers")
        assert in_processes(lambda task, helper=helper: helper.VALUE, [1, 2]) == [name, name]
    sys.modules.pop("helper_of_workers", None)


def test_a_module_that_nobody_can_import_travels_by_value() -> None:
    import types

    module = sys.modules["made_by_hand"] = types.ModuleType("made_by_hand")
    exec(
        "LIMIT = 3\nclass A:\n    def m(self): return LIMIT\ndef f(x):\n    return x * A().m()", vars(module)
    )
    try:
        assert in_processes(module.f, [1, 2]) == [3, 6]
        assert module.f.__module__ == module.A.__module__ == "made_by_hand"
    finally:
        del sys.modules["made_by_hand"]


def test_what_cannot_travel_is_named_before_anything_starts() -> None:
    interpreters.shut_down()
    stream = (x for x in "abc")

    def use(task: Any) -> Any:
        return next(stream)

    with pytest.raises(CannotTravel, match=r"closure variable `stream` of `use`.* is a generator") as caught:
        in_processes(use, [1, 2])
    assert caught.value.object_type == "generator"
    assert "num_proc=None" in caught.value.remedy
    assert children() == []


def test_two_threads_may_run_at_once(tmp_path: Path) -> None:
    results: dict[int, list[int]] = {}

    def run(number: int) -> None:
        results[number] = in_processes(lambda task: task + number, [1, 2, 3])

    threads = [threading.Thread(target=run, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {0: [1, 2, 3], 1: [2, 3, 4]}


def test_a_forked_child_leaves_the_parents_processes_alone() -> None:
    in_processes(abs, [1, 2])
    pid = os.fork()
    if pid == 0:
        fine = interpreters._idle == []
        os._exit(0 if fine else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert in_processes(abs, [-1, -2]) == [1, 2]


def test_a_second_run_takes_the_warm_processes_of_the_first() -> None:
    in_processes(abs, [1, 2])
    warm = {it.process.pid for it in interpreters._idle}
    assert set(in_processes(lambda _: os.getpid(), list(range(50)))) <= warm
