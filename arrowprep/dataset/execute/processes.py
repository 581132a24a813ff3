"""Work in several processes: tasks go one at a time to whoever is free."""

from __future__ import annotations

import contextlib
import dataclasses
import signal
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from multiprocess.connection import wait

from arrowprep import config
from arrowprep.dataset.execute import interpreters, template
from arrowprep.dataset.execute.base import MakeWorker, Outcome
from arrowprep.dataset.execute.clean import world
from arrowprep.dataset.execute.interpreters import Interpreter
from arrowprep.dataset.execute.travel import pack, unpack, unpack_error
from arrowprep.errors import WorkerDied

_POLL_S = 0.5  # a death that does not close the pipe (a grandchild holds it) is seen after so long
_ABANDON_S = 3.0  # for workers to clean up after a failure or Ctrl-C


class Processes:
    """`num_proc` workers in clean interpreters; see `interpreters` for what they share with this process.

    context: how they are started, of this run alone: "spawn", "forkserver" or "fork"; None for what is safe
        and soonest
    """

    def __init__(self, num_proc: int, context: str | None = None) -> None:
        self.num_proc, self.context = num_proc, context

    def run(self, make_worker: MakeWorker, tasks: Sequence[Any], *, report: Callable[[int], None]) -> Outcome:
        """As Executor. Raises CannotTravel and leaves nothing behind, WorkerDied when a process is killed."""
        count = min(self.num_proc, len(tasks))
        if self.context in (None, "forkserver"):
            interpreters.prepare(count)  # beside which a large tokenizer is packed, which takes half as long
        try:
            maker = pack(make_worker)
            packed = [pack(task) for task in tasks]
        except BaseException:
            template.retire()
            raise
        crew = [_Member(rank, it) for rank, it in enumerate(interpreters.take(count, self.context))]
        run = _Run(crew, maker, packed, report)
        try:
            outcome = run.to_the_end()
        except BaseException:
            _end(crew)
            raise
        if self.context is None:
            interpreters.give_back([member.interpreter for member in crew])
        else:
            for member in crew:
                member.interpreter.close()
        return outcome


@dataclass
class _Member:
    """A worker as its parent sees it.

    state: "starting" until the process is ready, "making" until the worker is made, then "made", "finished"
    task: the number of the one it does; None: it has none
    """

    rank: int
    interpreter: Interpreter
    state: str = "starting"
    task: int | None = None

    def send(self, *message: Any) -> None:
        # where it died, the end of its pipe is read next, and the reason found
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.interpreter.connection.send(message)


class _Run:
    def __init__(
        self, crew: list[_Member], maker: bytes, tasks: list[bytes], report: Callable[[int], None]
    ) -> None:
        self._crew = crew
        self._maker = maker
        self._tasks = tasks
        self._report = report
        self._waiting = deque(range(len(tasks)))
        self._results: dict[int, Any] = {}
        self._finished: dict[int, Any] = {}

    def to_the_end(self) -> Outcome:
        for member in self._crew:
            if not member.interpreter.fresh:
                self._begin(member)
        while not self._is_over():
            by_connection = {member.interpreter.connection: member for member in self._crew}
            ready = wait(list(by_connection), timeout=_POLL_S)
            for connection in ready:
                self._hear(by_connection[connection])
            if not ready:
                self._look_for_the_dead()
        return Outcome(
            [self._results[number] for number in range(len(self._tasks))],
            [value for _, value in sorted(self._finished.items())],
        )

    def _is_over(self) -> bool:
        """All is done; a process that was not ready before the others had done it all is not waited for."""
        return self._all_done() and all(member.state in ("starting", "finished") for member in self._crew)

    def _all_done(self) -> bool:
        return len(self._results) == len(self._tasks)

    def _hear(self, member: _Member) -> None:
        try:
            kind, *rest = member.interpreter.connection.recv()
        except (EOFError, OSError):
            self._died(member)
            return
        if kind == "ready":
            member.interpreter.fresh = False
            if self._waiting:
                self._begin(member)
        elif kind == "begun":
            member.state = "made"
            self._give_task(member)
        elif kind == "progress":
            self._report(rest[0])
        elif kind == "result":
            self._take_result(member, *rest)
        elif kind == "finished":
            data, member.interpreter.files = rest
            self._finished[member.rank] = unpack(data)
            member.state = "finished"
        elif kind == "failed":
            raise unpack_error(rest[1])

    def _begin(self, member: _Member) -> None:
        settings = config.settings()
        values = {it.name: getattr(settings, it.name) for it in dataclasses.fields(settings)}
        values |= {"threads": 1, "progress_bars": False}
        member.state = "making"
        member.send("begin", values, world(), member.rank, self._maker)

    def _take_result(self, member: _Member, number: int, data: bytes, rows: int) -> None:
        self._results[number] = unpack(data)
        member.task = None
        if rows:
            self._report(rows)
        if self._all_done():
            for other in self._crew:
                if other.state == "made":
                    other.send("finish")
        else:
            self._give_task(member)

    def _give_task(self, member: _Member) -> None:
        if self._waiting:
            member.task = self._waiting.popleft()
            member.send("task", member.task, self._tasks[member.task])
        elif self._all_done():
            member.send("finish")

    def _look_for_the_dead(self) -> None:
        for member in self._crew:
            if member.interpreter.process.poll() is not None and not member.interpreter.connection.poll():
                self._died(member)

    def _died(self, member: _Member) -> None:
        """Say how it ended. The one place to decide otherwise: its task is known and could be given again."""
        code = member.interpreter.exit_code()
        if code == 0 and member.state in ("starting", "making") and not member.interpreter.fresh:
            # it had been idle for too long at the very moment when it was taken
            member.interpreter, member.state = interpreters.start(), "starting"
            return
        name = _signal_name(-code) if code < 0 else None
        how = f"was killed by {name}" if name else f"exited with code {code}"
        if code == template.LOST:
            how = "was lost with the process that it was forked from, which was killed,"
        what = "before its first task" if member.task is None else f"while it did task {member.task}"
        hint = "; often memory ran out: use fewer processes" if name == "SIGKILL" else ""
        raise WorkerDied(
            f"worker {member.rank} {how} {what}{hint}",
            exitcode=None if code == template.LOST else code,
            signal=name,
            rank=member.rank,
            task=member.task,
        )


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # a real-time signal
        return f"signal {number}"


def _end(crew: list[_Member]) -> None:
    """Cancel what runs, let workers clean up for a while, and leave no process behind."""
    try:
        for member in crew:
            member.send("cancel")
        deadline = time.monotonic() + _ABANDON_S
        left = {member.interpreter.connection: member for member in crew}
        while left and (remaining := deadline - time.monotonic()) > 0:
            for connection in wait(list(left), timeout=remaining):
                try:
                    connection.recv()  # nobody wants it any more
                except (EOFError, OSError):
                    del left[connection]
    finally:
        for member in crew:
            member.interpreter.kill()
        template.retire()
