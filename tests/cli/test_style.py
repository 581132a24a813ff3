"""How commands print."""

from __future__ import annotations

import pytest

from arrowprep.cli import style


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.delenv("NO_COLOR", raising=False)


def test_a_terminal_shows_colour(terminal: None) -> None:
    assert style.paint("yes", style.GREEN, plain=("[", "]")) == "\x1b[32myes\x1b[0m"


def test_colour_ends_with_each_line(terminal: None) -> None:
    assert style.paint("a\n\nb", style.GREEN) == "\x1b[32ma\x1b[0m\n\n\x1b[32mb\x1b[0m"


def test_no_color_is_honoured(terminal: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert style.paint("yes", style.GREEN, plain=("[", "]")) == "[yes]"


@pytest.mark.parametrize(("seconds", "shown"), [(12.345, "12.35 s"), (0.1, "0.10 s"), (0.0042, "4.2 ms")])
def test_a_duration_has_a_fitting_unit(seconds: float, shown: str) -> None:
    assert style.duration(seconds) == shown


@pytest.mark.parametrize(
    ("n_bytes", "shown"),
    [(0, "0 bytes"), (999, "999 bytes"), (1500, "1.5 kB"), (3_200_000, "3.2 MB"), (5 * 10**12, "5.0 TB")],
)
def test_a_size_has_a_fitting_unit(n_bytes: int, shown: str) -> None:
    assert style.size(n_bytes) == shown
