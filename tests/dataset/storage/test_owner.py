"""Who made a temporary file, and whether that process may still write it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from arrowprep.dataset.storage import owner
from tests.waiting import until


def name_of(process: subprocess.Popen[bytes]) -> str:
    return owner.mark().replace(f"-{os.getpid()}-", f"-{process.pid}-")


def test_a_running_process_is_there_and_this_one_too() -> None:
    assert owner.is_gone(owner.mark()) is False
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    assert owner.is_gone(name_of(process)) is False
    process.communicate(b"\n")
    assert owner.is_gone(name_of(process)) is True


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="nothing says that a process has ended")
def test_one_that_ended_is_gone_before_its_parent_has_looked() -> None:
    process = subprocess.Popen([sys.executable, "-c", ""])
    until(lambda: owner.is_gone(name_of(process)))
    assert process.wait() == 0  # it was there to be waited for


def test_of_another_machine_nothing_is_known() -> None:
    assert owner.is_gone("a.00000000-1-00000000.tmp") is None
    assert owner.is_gone("a.tmp") is None
