"""What is told: warnings by default, on request what the cache found, or nothing."""

from __future__ import annotations

import logging as std_logging
import logging.handlers as handlers
import os
import subprocess
import sys
import warnings

import pytest

import arrowprep
from arrowprep import logging
from arrowprep.errors import warn


@pytest.fixture(autouse=True)
def as_before():
    before = logging.get_verbosity()
    yield
    logging.set_verbosity(before)
    logging.disable_propagation()


def test_what_the_cache_found_is_told_on_request(capsys):
    ds = arrowprep.Dataset.from_dict({"n": [1, 2]})
    made = ds.map(lambda row: {"m": row["n"]})
    ds.map(lambda row: {"m": row["n"]})
    assert capsys.readouterr().err == ""
    logging.set_verbosity_info()
    ds.map(lambda row: {"m": row["n"]})
    assert capsys.readouterr().err == f"found {made.cache_files[0]['filename']}\n"


def test_messages_go_to_the_program_that_wants_them(capsys):
    heard = handlers.BufferingHandler(100)
    std_logging.getLogger().addHandler(heard)
    try:
        logging.set_verbosity_info()
        logging.get_logger("arrowprep.somewhere").info("shown here")
        logging.enable_propagation()
        logging.get_logger("arrowprep.somewhere").info("handed on")
    finally:
        std_logging.getLogger().removeHandler(heard)
    assert [record.getMessage() for record in heard.buffer] == ["handed on"]
    assert capsys.readouterr().err == "shown here\n"


def test_warnings_can_be_switched_off():
    with pytest.warns(UserWarning, match="odd"):
        warn("something odd")
    logging.set_verbosity_error()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn("something odd")


@pytest.mark.parametrize(("level", "expected"), [("", 30), ("debug", 10), ("INFO", 20), ("error", 40)])
def test_the_environment_sets_the_level(level, expected, monkeypatch):
    if level:
        monkeypatch.setenv("ARROWPREP_VERBOSITY", level)
    code = "import arrowprep; print(arrowprep.logging.get_verbosity())"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout == f"{expected}\n"


@pytest.mark.parametrize("first", ["arrowprep.logging", "logging"])
def test_a_level_that_python_s_own_logging_was_given_holds(first, tmp_path):
    code = (
        f"import {first}; import logging\n"
        "logging.getLogger('arrowprep').setLevel(logging.INFO)\n"
        "from arrowprep import Dataset\n"
        "for _ in range(2): Dataset.from_dict({'n': [1]}).map(lambda row: {'m': 1})"
    )
    environment = {**os.environ, "ARROWPREP_CACHE": str(tmp_path)}
    told = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
    )
    assert "found " in told.stderr
