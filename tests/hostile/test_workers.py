"""Scripts as people write them, and processes that are killed: right results, and nothing left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.waiting import group_of, until

ROOT = str(Path(__file__).parents[2])

UNGUARDED = """
    import os, sys
    from dataclasses import dataclass
    from arrowprep.dataset.execute import choose_executor

    print("top", flush=True)
    FACTOR = 3

    class TooBig(Exception):
        pass

    @dataclass
    class Scale:
        by: int
        def apply(self, x):
            return times(x) + self.by

    def times(x):
        if x > 90:
            raise TooBig(x)
        return x * FACTOR

    class Worker:
        def __init__(self, rank):
            self.scale = Scale(1)
        def work(self, task, report):
            return self.scale.apply(task)
        def finish(self):
            return os.getpid()
        def abandon(self):
            pass

    tasks = list(range(10))
    for _ in range(2):
        outcome = choose_executor(2, tasks).run(Worker, tasks, report=lambda rows: None)
        print(outcome.results, os.getpid() in outcome.finished, flush=True)
    try:
        choose_executor(2, tasks).run(Worker, [1, 99], report=lambda rows: None)
    except TooBig as error:
        print("caught", error, flush=True)
"""

SLEEPY = """
    import os, signal, sys, time
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where the tests run in the background
    from arrowprep.dataset.execute import choose_executor

    class Worker:
        def __init__(self, rank):
            self.rank = rank
        def work(self, task, report):
            open(f"{task}.pid", "w").write(str(os.getpid()))
            {sleep}
        def finish(self):
            pass
        def abandon(self):
            open(f"{self.rank}.abandoned", "w").close()

    choose_executor(2, range(2)).run(Worker, [0, 1], report=lambda rows: None)
"""
DEAF = """while True:
                try:
                    time.sleep(60)
                except BaseException:
                    pass"""
SLEEPS = {"asleep": "time.sleep(60)", "deaf to everything": DEAF}


def start(folder: Path, source: str) -> subprocess.Popen[str]:
    script = folder / "job.py"
    script.write_text(textwrap.dedent(source))
    return subprocess.Popen(
        [sys.executable, str(script)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": ROOT},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def is_alive(pid: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


def working(folder: Path) -> list[int]:
    """Pids of the two workers once both are in their task."""

    def both() -> bool:
        return all(
            (folder / f"{task}.pid").exists() and (folder / f"{task}.pid").read_text() for task in (0, 1)
        )

    until(both)
    return [int((folder / f"{task}.pid").read_text()) for task in (0, 1)]


def test_a_script_without_a_main_guard_runs_once(tmp_path: Path) -> None:
    job = start(tmp_path, UNGUARDED)
    out, err = job.communicate(timeout=60)
    assert err == ""
    expected = str([x * 3 + 1 for x in range(10)])
    assert out.splitlines() == ["top", f"{expected} False", f"{expected} False", "caught 99"]
    assert group_of(job.pid) == []


def test_a_module_may_start_work_while_it_is_imported(tmp_path: Path) -> None:
    pipeline = textwrap.dedent(UNGUARDED)
    (tmp_path / "pipeline.py").write_text(pipeline)
    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").write_text("from package import inner\n")
    (package / "inner.py").write_text("from package import helpers\n" + pipeline + "\nhelpers\n")
    (package / "helpers.py").write_text("X = 1\n")
    job = start(tmp_path, "import pipeline\nimport package\nprint('end')")
    out, err = job.communicate(timeout=60)
    assert err == ""
    assert out.count("top") == 2
    assert out.count("False") == 4
    assert out.splitlines()[-1] == "end"


@pytest.mark.parametrize("sleep", SLEEPS)
def test_ctrl_c_leaves_no_process(tmp_path: Path, sleep: str) -> None:
    job = start(tmp_path, textwrap.dedent(SLEEPY).replace("{sleep}", SLEEPS[sleep]))
    pids = working(tmp_path)
    os.killpg(job.pid, signal.SIGINT)  # as a terminal does
    _, err = job.communicate(timeout=20)
    assert err.strip().endswith("KeyboardInterrupt")
    assert err.count("Traceback") == 1  # the parent's alone
    assert not any(map(is_alive, pids))
    assert group_of(job.pid) == []
    if sleep == "asleep":
        assert len(list(tmp_path.glob("*.abandoned"))) == 2


@pytest.mark.parametrize("sleep", SLEEPS)
def test_workers_do_not_outlive_a_parent_that_is_killed(tmp_path: Path, sleep: str) -> None:
    job = start(tmp_path, textwrap.dedent(SLEEPY).replace("{sleep}", SLEEPS[sleep]))
    pids = working(tmp_path)
    job.kill()
    job.communicate(timeout=20)
    until(lambda: group_of(job.pid) == [])
    assert not any(map(is_alive, pids))


def test_idle_workers_do_not_outlive_a_parent_that_is_killed(tmp_path: Path) -> None:
    source = (
        textwrap.dedent(UNGUARDED).partition("try:")[0]
        + "import time\nopen('done', 'w').close()\ntime.sleep(60)\n"
    )
    job = start(tmp_path, source)
    until((tmp_path / "done").exists)
    idle = 3 if sys.platform == "linux" else 2  # two are kept warm, and what they were forked from
    assert len(group_of(job.pid)) == 1 + idle
    job.kill()
    job.communicate(timeout=20)
    until(lambda: group_of(job.pid) == [])
