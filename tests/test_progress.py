"""Long work shows that it goes on; short work, log files and those who said so see nothing."""

import pytest

import arrowprep
from arrowprep import progress


@pytest.fixture
def terminal(monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    monkeypatch.delenv("ARROWPREP_DISABLE_PROGRESS_BARS")
    arrowprep.enable_progress_bars()


def test_long_work_shows_all_that_was_done(capsys, monkeypatch):
    monkeypatch.setattr(progress, "SILENT_FOR_S", 0.0)
    with progress.bar(10, "Map", show=True) as bar:
        bar.advance(4)
        bar.advance(6)
    assert "10/10" in capsys.readouterr().err


def test_short_work_shows_nothing(capsys):
    with progress.bar(10, "Map", show=True) as bar:
        bar.advance(10)
    assert capsys.readouterr().err == ""


def test_bars_need_somebody_to_see_them(terminal, monkeypatch):
    assert isinstance(progress.bar(10, "Map"), progress.Bar)
    monkeypatch.setattr("sys.stderr.isatty", lambda: False, raising=False)
    assert isinstance(progress.bar(10, "Map"), progress.Silent)
    assert isinstance(progress.bar(10, "Map", show=True), progress.Bar)


def test_bars_are_switched_off_in_code_and_by_the_environment(terminal, monkeypatch):
    arrowprep.disable_progress_bars()
    assert arrowprep.are_progress_bars_disabled()
    assert isinstance(progress.bar(10, "Map"), progress.Silent)
    monkeypatch.setenv("ARROWPREP_DISABLE_PROGRESS_BARS", "1")
    assert not arrowprep.Settings.from_environment().progress_bars
    monkeypatch.setenv("ARROWPREP_DISABLE_PROGRESS_BARS", "0")
    assert arrowprep.Settings.from_environment().progress_bars


def test_a_call_can_show_or_hide_its_own_bar(capsys, monkeypatch):
    monkeypatch.setattr(progress, "SILENT_FOR_S", 0.0)
    ds = arrowprep.Dataset.from_dict({"n": [1, 2, 3]})
    ds.map(lambda row: {"m": row["n"]}, progress=False)
    ds.filter(lambda row: row["n"] > 1)
    assert capsys.readouterr().err == ""
    ds.map(lambda row: {"m": -row["n"]}, progress=True, desc="Turn")
    ds.filter(lambda row: row["n"] > 2, progress=True, desc="Choose")
    shown = capsys.readouterr().err
    assert "Turn" in shown
    assert "Choose" in shown
    assert "3/3" in shown
