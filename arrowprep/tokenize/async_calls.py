"""Calls for an event loop: the work is done in its threads, on what was given when the call was made."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import asyncio

T = TypeVar("T")


def in_thread(call: Callable[..., T], *args: Any) -> asyncio.Future[T]:
    """What `call` will give; begun at once in a thread of the running loop, which goes on meanwhile.

    Raises RuntimeError where no loop runs.
    """
    import asyncio  # with ssl it takes a tenth of the time that pyarrow does, and few calls are awaited

    return asyncio.get_running_loop().run_in_executor(None, partial(call, *args))


def taken(value: Any) -> Any:
    """Texts, ids, or lists and tuples of them, as they are now, whatever becomes of the lists."""
    if isinstance(value, (list, tuple)):
        return type(value)(map(taken, value)) if type(value) in (list, tuple) else list(map(taken, value))
    return value.tolist() if hasattr(value, "tolist") else value
