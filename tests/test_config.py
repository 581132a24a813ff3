"""Settings come from the environment once, and each can be given in code."""

from pathlib import Path

import pytest

import arrowprep
from arrowprep.config import Settings
from arrowprep.errors import BadArgument


def test_the_environment_is_read(monkeypatch):
    monkeypatch.setenv("ARROWPREP_CACHE", "/somewhere")
    monkeypatch.setenv("ARROWPREP_ENGINE", "reference")
    monkeypatch.setenv("ARROWPREP_THREADS", "3")
    found = Settings.from_environment()
    assert (found.cache_dir, found.engine, found.threads) == (Path("/somewhere"), "reference", 3)


def test_the_cache_is_under_the_users_cache_folder(monkeypatch):
    monkeypatch.delenv("ARROWPREP_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "/caches")
    assert Settings.from_environment().cache_dir == Path("/caches/arrowprep")


@pytest.mark.parametrize(("name", "value"), [("ARROWPREP_THREADS", "many"), ("ARROWPREP_ENGINE", "fast")])
def test_a_value_that_means_nothing_is_refused(monkeypatch, name, value):
    monkeypatch.setenv(name, value)
    with pytest.raises(BadArgument, match=value):
        Settings.from_environment()


def test_settings_change_in_code_for_good_or_for_a_block():
    arrowprep.configure(threads=2)
    with arrowprep.configured(threads=5, cache_dir="~/x"):
        assert arrowprep.settings().threads == 5
        assert arrowprep.settings().cache_dir == Path.home() / "x"
    assert arrowprep.settings().threads == 2
    with pytest.raises(BadArgument, match="cache_dir"):
        arrowprep.configure(cachedir="x")


def test_caching_is_switched():
    arrowprep.disable_caching()
    assert not arrowprep.is_caching_enabled()
    arrowprep.enable_caching()
    assert arrowprep.is_caching_enabled()
