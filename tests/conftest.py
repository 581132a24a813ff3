"""What every test stands on: a cache of its own, no bars, steady property tests."""

import gc

import pytest
from hypothesis import settings

from arrowprep import config

# wall-clock deadlines fail on a busy machine; the same examples each run, so that a failure can be repeated
settings.register_profile("steady", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("steady")


def pytest_collection_finish():
    """Collections of garbage need not look through what importing all libraries and tests made, which stays.

    There are millions of such objects: a full collection took half a second, and a tenth of all tests' time.
    """
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch):
    """Each test has an empty cache folder, also in the processes it starts."""
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("ARROWPREP_CACHE", str(folder))
    monkeypatch.setenv("ARROWPREP_DISABLE_PROGRESS_BARS", "1")
    monkeypatch.setattr(config, "_current", None)
    return folder
