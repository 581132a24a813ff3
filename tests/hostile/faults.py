"""What may befall a cache, in a process of its own: `python -m tests.hostile.faults SCENARIO FOLDER SEED`.

A scenario forks children that map and are killed, and ends with an assertion
about the rows. Forking starts a child in some milliseconds, so that there can
be many; pytest itself has threads, and is not what is forked.
"""

from __future__ import annotations

import itertools
import os
import random
import signal
import sys
import time
import warnings
from collections.abc import Callable
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pyarrow as pa

from arrowprep import Dataset, configured, load_local
from arrowprep.dataset.execute import Inline, Outcome
from arrowprep.dataset.storage import cache, ipc, parts, seal, shelf
from arrowprep.dataset.verbs import map_run
from arrowprep.errors import ArrowprepWarning
from tests.waiting import group_of, until

RIGHT, WRONG = 0, 3


def in_child(job: Callable[[], bool], kill_after_s: float | None = None) -> int:
    """How a child ended that did the job: RIGHT, WRONG, or minus the signal."""
    return ended(started(job), kill_after_s)


def started(job: Callable[[], bool]) -> int:
    pid = os.fork()
    if pid:
        return pid
    try:
        os._exit(RIGHT if job() else WRONG)
    except BaseException as error:
        print("child:", repr(error), file=sys.stderr, flush=True)
        os._exit(1)


def ended(pid: int, kill_after_s: float | None = None) -> int:
    if kill_after_s is not None:
        time.sleep(kill_after_s)
        os.kill(pid, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


# -- what is done -----------------------------------------------------------------------------------------

ROWS = 60
NUMBERS = list(range(ROWS))


def rest(pause: float) -> None:
    if pause:
        time.sleep(pause)


def each_doubled(batch: Any, key: int, pause: float) -> Any:
    rest(pause)
    return {"m": [n * 2 for n in batch["n"]]}


def some_rows(batch: Any, key: int, pause: float) -> Any:
    rest(pause)
    return {"m": [n for n in batch["n"] for _ in range(n % 3)]}


def wider_later(batch: Any, key: int, pause: float) -> Any:
    rest(pause)
    return {"m": [n + 0.5 if n > 30 else n for n in batch["n"]]}


def odd(batch: Any, key: int, pause: float) -> Any:
    rest(pause)
    return [n % 2 == 1 for n in batch["n"]]


EXPECTED = {
    each_doubled: [n * 2 for n in NUMBERS],
    some_rows: [n for n in NUMBERS for _ in range(n % 3)],
    wider_later: [n + 0.5 if n > 30 else float(n) for n in NUMBERS],
    odd: [n for n in NUMBERS if n % 2],
}


def work(function: Any, key: int, pause: float = 0.0, **options: Any) -> bool:
    """A map or filter of its own name for each key; whether its rows are right."""
    ds = Dataset.from_dict({"n": NUMBERS})
    options = {
        "batched": True,
        "batch_size": 5,
        "fn_kwargs": {"key": key, "pause": pause},
        **options,
    }
    if function is odd:
        options.pop("compression", None)
        return ds.filter(odd, **options)["n"][:] == EXPECTED[odd]
    removed = ["n"] if function is some_rows else None
    return ds.map(function, remove_columns=removed, **options)["m"][:] == EXPECTED[function]


def only_entries(root: Path) -> None:
    """Nothing is left, once it is swept, but whole entries and their files."""
    shelf.sweep(root, older_than_s=0)
    entries = shelf.entries(root)
    files = {file for entry in entries for file in entry.files}
    left = sorted(path.name for path in (root / "results").iterdir() if path not in files)
    assert left == [], left
    assert [entry for entry in entries if entry.damaged()] == []


# -- what befalls it --------------------------------------------------------------------------------------


def killed_at_random_moments(root: Path, seed: int) -> None:
    """Whatever it does when it is killed, a later run gives all rows, and takes over what was whole."""
    rng = random.Random(seed)
    kills = 0
    for key in itertools.count():
        function = rng.choice(list(EXPECTED))
        options = {"compression": rng.choice([None, "lz4", "zstd"])}
        while True:
            pid = started(lambda: work(function, key, 0.001, **options))  # noqa: B023
            if ended(pid, rng.uniform(0, 0.06)) == RIGHT:
                break
            kills += 1
            options["compression"] = rng.choice([None, "lz4"])
            if rng.random() < 0.3:
                assert work(function, key, **options)
                break
        if kills >= 30:
            break
    only_entries(root)


def workers_killed(root: Path, seed: int) -> None:
    """The same with workers, of which one is killed, or what they come from, and then their parent."""
    warnings.simplefilter("ignore", ArrowprepWarning)  # that a worker died, and is replaced
    rng = random.Random(seed)
    for key, function in enumerate([each_doubled, some_rows, wider_later]):

        def job(key: int = key, function: Any = function) -> bool:
            os.setpgrp()
            parts.FLUSH_S = 0.0
            return work(function, key, 0.02, num_proc=2)

        parent = started(job)
        until(lambda: len(group_of(parent)) > 1)  # noqa: B023
        time.sleep(rng.uniform(0, 1))
        others = [pid for pid in group_of(parent) if pid != parent]
        if others:
            with suppress(ProcessLookupError):  # it has ended by itself
                os.kill(rng.choice(others), signal.SIGKILL)
        time.sleep(rng.uniform(0, 0.5))
        ended(parent, 0.0)
        until(lambda: group_of(parent) == [])  # noqa: B023  # the last may be in the middle of a task
        assert work(function, key, num_proc=1)
    only_entries(root)


class TwoWorkers:
    """An executor of two workers in this process, whose parts are published as those of processes are."""

    def run(self, make_worker: Any, tasks: Any, *, report: Any) -> Outcome:
        crew = [make_worker(rank) for rank in (0, 1)]
        results = [crew[number % 2].work(task, report) for number, task in enumerate(tasks)]
        return Outcome(results, [worker.finish() for worker in crew])


@contextmanager
def killed_at_step(step: int) -> Any:
    """SIGKILL just before the step-th write, rename or removal of a file."""
    done = [0]

    def counted(act: Any) -> Any:
        def act_or_die(*args: Any, **kwargs: Any) -> Any:
            done[0] += 1
            if done[0] == step:
                os.kill(os.getpid(), signal.SIGKILL)
            return act(*args, **kwargs)

        return act_or_die

    for home, name in [(os, "replace"), (Path, "unlink"), (seal.SealedFile, "_put"), (os, "utime")]:
        setattr(home, name, counted(getattr(home, name)))
    yield


def killed_at_each_step(root: Path, seed: int) -> None:
    """Between any two steps that change the folder, publishing among them, nothing is lost or left."""
    key = 0
    for function, executor in [(some_rows, Inline), (wider_later, TwoWorkers), (odd, Inline)]:
        map_run.choose_executor = lambda *_, **__: executor()  # type: ignore[assignment]  # noqa: B023
        how = None
        for step in itertools.count(1):
            key += 1

            def job(step: int = step, key: int = key, function: Any = function) -> bool:
                with killed_at_step(step):
                    return work(function, key, batch_size=30, num_proc=2)

            how = in_child(job)
            assert work(function, key, batch_size=30, num_proc=2)
            if how == RIGHT:  # it has fewer steps
                break
            assert how == -signal.SIGKILL, how
        assert step > 8, step
    only_entries(root)


def computed_once(root: Path, seed: int) -> None:
    """Eight processes that want the same result call the function once for each batch."""
    calls = root / "calls"

    def counted(batch: Any) -> Any:
        with calls.open("a") as file:
            file.write(f"{batch['n'][0]}\n")
        time.sleep(0.01)
        return {"m": batch["n"]}

    def job() -> bool:
        ds = Dataset.from_dict({"n": NUMBERS})
        return ds.map(counted, batched=True, batch_size=5, new_fingerprint="once")["m"][:] == NUMBERS

    pids = [started(job) for _ in range(8)]
    assert [ended(pid) for pid in pids] == [RIGHT] * 8
    assert sorted(map(int, calls.read_text().split())) == NUMBERS[::5]


def loaded_once(root: Path, seed: int) -> None:
    """The same of a file and of a generator."""
    path, calls = root / "rows.jsonl", root / "calls"
    path.write_text("".join(f'{{"n": {n}}}\n' for n in range(5_000)))

    def rows() -> Any:
        with calls.open("a") as file:
            file.write("x")
        yield from ({"n": n} for n in NUMBERS)

    def job() -> bool:
        made = Dataset.from_generator(rows, fingerprint="once")
        return made["n"][:] == NUMBERS and load_local(path)["n"][:] == list(range(5_000))

    pids = [started(job) for _ in range(6)]
    assert [ended(pid) for pid in pids] == [RIGHT] * 6
    assert calls.read_text() == "x"
    assert len(list((root / "files" / "converted").iterdir())) == 2


def two_writers_without_locks(root: Path, seed: int) -> None:
    """Where the file system cannot lock, both compute, and both are right."""

    @contextmanager
    def unlocked(path: Path) -> Any:
        yield False

    cache.only_one = unlocked
    for key, function in enumerate(EXPECTED):
        pids = [started(lambda: work(function, key, 0.001)) for _ in range(3)]  # noqa: B023
        assert [ended(pid) for pid in pids] == [RIGHT] * 3
    assert [entry for entry in shelf.entries(root) if entry.damaged()] == []


def truncated(root: Path, seed: int) -> None:
    """A file that was cut off anywhere is found out when it is opened, and what it held is made again."""
    rng = random.Random(seed)
    map_run.choose_executor = lambda *_, **__: TwoWorkers()  # type: ignore[assignment]
    for key, function in enumerate((each_doubled, some_rows, wider_later, odd) * 3):
        assert work(function, key, num_proc=2)
        path = rng.choice(list((root / "results").glob("cache-*.arrow")))
        os.truncate(path, rng.randrange(max(1, path.stat().st_size)))
        assert work(function, key, num_proc=2)
    for path in (root / "results").glob("cache-*"):
        os.truncate(path, rng.randrange(max(1, path.stat().st_size)))
    for key, function in enumerate((each_doubled, some_rows, wider_later, odd) * 3):
        assert work(function, key, num_proc=2)
    assert all(work(function, -1) for function in EXPECTED)
    only_entries(root)


def flipped(root: Path, seed: int) -> None:
    """A byte that changed on the disk is found by reading: `verify=True` makes anew what it was in."""
    warnings.simplefilter("ignore", ArrowprepWarning)
    rng = random.Random(seed)
    path = root / "rows.jsonl"
    path.write_text("".join(f'{{"n": {n}}}\n' for n in NUMBERS))
    for key in range(20):
        function = rng.choice(list(EXPECTED))
        assert work(function, key % 2)
        assert load_local(path)["n"][:] == NUMBERS
        file = rng.choice([f for entry in shelf.entries(root) for f in entry.sealed])
        with file.open("r+b") as opened:
            at = rng.randrange(file.stat().st_size)
            opened.seek(at)
            byte = opened.read(1)[0]
            opened.seek(at)
            opened.write(bytes([byte ^ (1 << rng.randrange(8))]))
        damaged = [f for entry in shelf.entries(root) for f in entry.damaged()]
        assert damaged == [file], (damaged, file, at)
        for again in EXPECTED:
            for number in (-1, 0, 1):
                assert work(again, number, verify=True)
        assert load_local(path, verify=True)["n"][:] == NUMBERS
    assert [entry for entry in shelf.entries(root) if entry.damaged()] == []


def main() -> None:
    scenario, folder, seed = sys.argv[1:]
    root = Path(folder)
    ipc.BATCH_BYTES = 1  # every batch is written
    parts.FLUSH_S = 0.0
    pa.set_cpu_count(1)
    with configured(cache_dir=root, progress_bars=False):
        assert all(
            work(function, -1) for function in EXPECTED
        )  # what is imported at first use is, from now on
        globals()[scenario](root, int(seed))
    print("right")


if __name__ == "__main__":
    main()
