"""How long work shows that it goes on: a terminal bar, or silence."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Any, Protocol

from arrowprep import config

SILENT_FOR_S = 2.0  # work that ends sooner shows no bar
REFRESH_S = 0.1


class Progress(Protocol):
    """A context manager that is told how much more was done."""

    def advance(self, amount: int) -> None: ...
    def __enter__(self) -> Progress: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class Silent:
    """No bar; used where bars are switched off."""

    def advance(self, amount: int) -> None:
        pass

    def __enter__(self) -> Silent:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass


class Bar:
    """A tqdm bar that appears only when the work lasts longer than SILENT_FOR_S."""

    def __init__(self, total: int | None, desc: str, unit: str) -> None:
        self._options = {"total": total, "desc": desc, "unit": unit, "unit_scale": unit == "B"}
        self._began = time.monotonic()
        self._done = 0
        self._shown = 0
        self._bar: Any = None

    def advance(self, amount: int) -> None:
        self._done += amount
        if self._bar is None and time.monotonic() - self._began > SILENT_FOR_S:
            self._bar = _tqdm(self._options)
            self._bar.start_t -= SILENT_FOR_S  # the rate counts the silent start too
        if self._bar is not None:
            self._bar.update(self._done - self._shown)
            self._shown = self._done

    def __enter__(self) -> Bar:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.close()


def _is_seen() -> bool:
    """Whether output goes to a terminal or a notebook; in a log file bars are noise."""
    return sys.stderr.isatty() or "ipykernel" in sys.modules


def _tqdm(options: dict[str, Any]) -> Any:
    from tqdm.auto import tqdm

    return tqdm(**options, mininterval=REFRESH_S, dynamic_ncols=True, smoothing=0)


def bar(total: int | None, desc: str, *, unit: str = " rows", show: bool | None = None) -> Progress:
    """A bar over `total` units of work; `show=None` follows the settings, and needs somebody to see it."""
    visible = config.settings().progress_bars and _is_seen() if show is None else show
    return Bar(total, desc, unit) if visible else Silent()


def enable_progress_bars() -> None:
    """Show bars on long work (the default)."""
    config.configure(progress_bars=True)


def disable_progress_bars() -> None:
    """Show no bars."""
    config.configure(progress_bars=False)


enable_progress_bar = enable_progress_bars  # the names of older scripts
disable_progress_bar = disable_progress_bars


def are_progress_bars_disabled() -> bool:
    """Whether bars are switched off."""
    return not config.settings().progress_bars


def is_progress_bar_enabled() -> bool:
    """Whether bars show on long work."""
    return config.settings().progress_bars
