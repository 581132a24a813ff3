"""Coroutine functions: many rows wait at the same time, on one event loop, and results keep their order.

asyncio is imported when there is such a function: 30 ms that no other map should pay.
"""

from __future__ import annotations

import inspect
import weakref
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any

from arrowprep.dataset.verbs.stateful import class_of

AT_ONCE = 1000


def is_async(function: Callable[..., Any]) -> bool:
    """Whether calling it gives something to be awaited; a wrapper of ours, or a class, is what it calls."""
    function = getattr(function, "function", function)
    if kind := class_of(function):
        return inspect.iscoroutinefunction(kind.__call__)
    while isinstance(function, partial):
        function = function.func
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)


class Loop:
    """An event loop that lasts as long as this object, so that sessions opened in it can be used again."""

    def __init__(self) -> None:
        import asyncio

        self._loop = asyncio.new_event_loop()
        weakref.finalize(self, self._loop.close)

    def outcomes(self, awaitables: Sequence[Awaitable[Any]], stop_at_error: bool) -> list[Any]:
        """What each gave, in order: its result, or the exception.

        stop_at_error: the first exception cancels all that have not ended; their outcome is CancelledError
        """
        work = _all(awaitables, stop_at_error)
        if _is_running():  # as in a notebook: a thread can have two loops, but not run both
            from concurrent.futures import ThreadPoolExecutor

            with ThreadPoolExecutor(1) as pool:
                return pool.submit(self._loop.run_until_complete, work).result()
        return self._loop.run_until_complete(work)


async def _all(awaitables: Sequence[Awaitable[Any]], stop_at_error: bool) -> list[Any]:
    import asyncio

    gate = asyncio.Semaphore(AT_ONCE)

    async def one(awaitable: Awaitable[Any]) -> Any:
        async with gate:
            return await awaitable

    tasks = [asyncio.ensure_future(one(awaitable)) for awaitable in awaitables]
    await asyncio.wait(tasks, return_when="FIRST_EXCEPTION" if stop_at_error else "ALL_COMPLETED")
    for task in tasks:
        task.cancel()  # nothing where it has ended
    found = await asyncio.gather(*tasks, return_exceptions=True)
    for awaitable in awaitables:
        if inspect.iscoroutine(awaitable):
            awaitable.close()  # one that never began would warn
    return found


def _is_running() -> bool:
    import asyncio

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
