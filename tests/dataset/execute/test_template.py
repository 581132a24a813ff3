"""Workers forked from a clean process are what new processes would be, and end with what they come from."""

from __future__ import annotations

import atexit
import gc
import os
import random
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import numpy as np
import pytest

from arrowprep.dataset.execute import Executor, interpreters, template
from arrowprep.dataset.execute.processes import Processes
from arrowprep.dataset.load import convert
from arrowprep.errors import WorkerDied
from tests.dataset.execute.contract import ExecutorContract
from tests.dataset.execute.test_processes import children, in_processes
from tests.waiting import until, until_processes

forked = pytest.mark.skipif(sys.platform != "linux", reason="workers are forked on Linux only")


@pytest.fixture(autouse=True, scope="class")
def _nothing_before_and_after() -> Iterator[None]:
    interpreters.shut_down()
    yield
    interpreters.shut_down()
    assert children() == []


class TestWhereWorkersCannotBeForked(ExecutorContract):
    @pytest.fixture
    def executor(self, monkeypatch: pytest.MonkeyPatch) -> Executor:
        monkeypatch.setattr(template, "_possible", False)
        return Processes(2)

    def test_they_are_children_of_this_process(self, executor: Executor) -> None:
        assert set(in_processes(lambda _: os.getppid(), [1, 2])) == {os.getpid()}


@forked
class TestForked:
    def test_all_come_from_one_process_that_is_no_copy_of_this(self, tmp_path: Path) -> None:
        def parent_and_own(_: int) -> tuple[int, int]:
            until_processes(tmp_path, 2)
            return os.getppid(), os.getpid()

        found = in_processes(parent_and_own, [1, 2])
        (parent,) = {parent for parent, _ in found}
        assert parent != os.getpid()
        assert len({pid for _, pid in found}) == 2

    def test_it_starts_while_work_is_packed(self) -> None:
        interpreters.shut_down()
        beside: list[str] = []

        class Large:
            def __reduce__(self) -> tuple[type, tuple[()]]:
                beside.extend(children())
                return int, ()

        large = Large()
        assert in_processes(lambda task: [task, large], [1, 2]) == [[1, 0], [2, 0]]
        assert any("template_process" in command for command in beside)

    def test_each_has_a_random_state_of_its_own(self, tmp_path: Path) -> None:
        def numbers(_: int) -> tuple[float, float]:
            until_processes(tmp_path, 2)
            return random.random(), np.random.random()

        interpreters.shut_down()
        found = in_processes(numbers, [1, 2])
        assert len({number for pair in found for number in pair}) == 4

    def test_a_worker_has_the_threads_of_a_new_process(self) -> None:
        product = in_processes(lambda n: (np.ones((n, n)) @ np.ones((n, n))).sum(), [400, 500])
        assert product == [400.0**3, 500.0**3]

    def test_a_worker_has_an_environment_of_which_the_start_left_nothing(self) -> None:
        own = {"TOKENIZERS_PARALLELISM": "false", "ARROWPREP_THREADS": "1"}
        assert in_processes(lambda _: dict(os.environ), [1, 2]) == [{**os.environ, **own}] * 2

    def test_a_worker_collects_its_own_garbage_and_nothing_of_what_it_shares(self) -> None:
        assert in_processes(lambda _: gc.isenabled() and gc.get_freeze_count() > 10_000, [1, 2]) == [True] * 2

    def test_what_every_map_needs_is_imported_once_for_all_workers(self) -> None:
        names = ["arrowprep.dataset.verbs.map_worker", "numpy.random"]
        assert in_processes(lambda name: name in sys.modules, names) == [True] * 2

    def test_the_mask_of_new_files_is_the_parents_at_the_time(self, tmp_path: Path) -> None:
        def touch(name: str) -> int:
            (tmp_path / name).touch()
            return (tmp_path / name).stat().st_mode & 0o777

        assert set(in_processes(touch, ["a", "b"])) == {0o644}
        before = os.umask(0o077)
        try:
            assert set(in_processes(touch, ["c", "d"])) == {0o600}
        finally:
            os.umask(before)

    def test_what_is_printed_goes_where_the_parent_prints_now(
        self, capfd: pytest.CaptureFixture[str]
    ) -> None:
        in_processes(print, ["at first", 1])
        for worker in interpreters._idle:
            worker.close()
        capfd.readouterr()
        saved, there = os.dup(1), os.open(os.devnull, os.O_WRONLY)
        os.dup2(there, 1)
        try:
            in_processes(print, ["into nothing", 2])
        finally:
            os.dup2(saved, 1)
        assert capfd.readouterr().out == ""

    def test_a_worker_that_is_killed_says_by_what(self) -> None:
        def fail(task: int) -> None:
            if task:
                os.kill(os.getpid(), signal.SIGTERM)

        with pytest.raises(WorkerDied, match="killed by SIGTERM while it did task 1"):
            in_processes(fail, [0, 1])
        assert children() == []

    def test_the_death_of_the_template_is_a_death_of_its_workers(self) -> None:
        def kill_the_template(task: int) -> None:
            os.kill(os.getppid(), signal.SIGKILL)
            time.sleep(60)

        with pytest.raises(WorkerDied, match="was lost with the process") as caught:
            in_processes(kill_the_template, [0, 1])
        assert caught.value.exitcode is None
        assert in_processes(abs, [-1, -2]) == [1, 2]

    def test_a_template_that_was_killed_meanwhile_is_replaced(self) -> None:
        (first,) = set(in_processes(lambda _: os.getppid(), [1, 2]))
        os.kill(first, signal.SIGKILL)
        until(lambda: all(worker.process.poll() is not None for worker in interpreters._idle))
        (second,) = set(in_processes(lambda _: os.getppid(), [1, 2]))
        assert second != first

    def test_one_with_a_second_thread_is_not_forked(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        source = (
            "import threading, time\nthreading.Thread(target=time.sleep, args=(60,), daemon=True).start()\n"
        )
        (tmp_path / "sitecustomize.py").write_text(source)
        monkeypatch.setenv("PYTHONPATH", str(tmp_path))
        monkeypatch.setattr(template, "_possible", True)
        interpreters.shut_down()
        assert set(in_processes(lambda _: os.getppid(), [1, 2])) == {os.getpid()}
        assert template._possible is False

    def test_ignored_ends_of_children_do_no_harm(self, tmp_path: Path) -> None:
        script = """
            import os, signal
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)
            from arrowprep import Dataset
            rows = Dataset.from_dict({"n": list(range(100))})
            mapped = rows.map(lambda row: {"parent": os.getppid()}, num_proc=2, batch_size=10)
            print(mapped[0]["parent"] != os.getpid())
        """
        done = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(script)],
            capture_output=True,
            text=True,
            timeout=60,
            env={**os.environ, "ARROWPREP_CACHE": str(tmp_path)},
        )
        assert (done.stdout, done.stderr) == ("True\n", "")

    def test_workers_that_go_on_in_another_thread_outlive_a_failure(self, tmp_path: Path) -> None:
        def wait_for_the_failure(task: int) -> int:
            (tmp_path / f"{task}").touch()
            until((tmp_path / "failed").exists)
            return task

        interpreters.shut_down()
        results: list[list[int]] = []
        longer = threading.Thread(target=lambda: results.append(in_processes(wait_for_the_failure, [1, 2])))
        longer.start()
        until((tmp_path / "1").exists)
        with pytest.raises(ZeroDivisionError):
            in_processes(lambda n: 1 / n, [0, 0])
        (tmp_path / "failed").touch()
        longer.join()
        assert results == [[1, 2]]

    def test_what_a_worker_registered_for_its_end_is_done(self, tmp_path: Path) -> None:
        def register(task: int) -> None:
            atexit.register((tmp_path / f"{task}").touch)

        in_processes(register, [1, 2])
        interpreters.shut_down()
        assert sorted(path.name for path in tmp_path.iterdir()) == ["1", "2"]


@forked
class TestBesideALargeFile:
    """Who reads much is likely to map it, and should not wait for the process to fork workers from."""

    @pytest.fixture
    def file(self, tmp_path: Path) -> Path:
        path = tmp_path / "rows.jsonl"
        path.write_text('{"a": 1}\n' * 1000)
        return path

    def load(self, path: Path) -> None:
        assert convert.convert([path], cache_dir=path.parent / "cache").num_rows == 1000

    def test_it_is_started_while_the_file_is_read(self, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(convert, "_SOON_MAPPED_BYTES", 9000)
        self.load(file)
        assert len(children()) == 1
        interpreters.shut_down()
        self.load(file)  # found, not read
        assert children() == []

    def test_none_is_for_a_smaller_one_nor_where_none_can_be(
        self, file: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self.load(file)
        assert children() == []
        monkeypatch.setattr(convert, "_SOON_MAPPED_BYTES", 0)
        monkeypatch.setattr(template, "start_clean", mock.Mock(side_effect=BlockingIOError))
        self.load(file.rename(file.with_name("other.jsonl")))
        assert children() == []
