"""The commands, run as a user runs them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import arrowprep


def run(tmp_path: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """`arrowprep ...` with a cache of its own, away from this folder."""
    return subprocess.run(
        [sys.executable, "-m", "arrowprep.cli.main", *arguments],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "ARROWPREP_CACHE": str(tmp_path / "cache"), **environment},
        timeout=120,
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("demo")


@pytest.fixture(scope="module")
def demo(folder: Path) -> str:
    """What `arrowprep demo` printed; once, for it tokenizes three megabytes."""
    done = run(folder, "demo", "--cache-dir", str(folder / "kept"), ARROWPREP_ENGINE="reference")
    assert done.returncode == 0, done.stderr
    return done.stdout


class TestDemo:
    def test_tells_how_much_was_loaded(self, demo: str) -> None:
        assert "2,240 documents" in demo

    def test_the_second_map_is_far_faster_than_the_first(self, demo: str) -> None:
        [times] = re.findall(r"([\d,]+) times faster", demo)
        assert int(times.replace(",", "")) >= 10

    def test_shows_dtypes_and_shapes(self, demo: str) -> None:
        assert re.search(r"input_ids\s+int32\s+\(8, 256\)", demo)

    def test_marks_the_assistant_without_colour_where_there_is_no_terminal(self, demo: str) -> None:
        assert "\x1b" not in demo
        assert re.search(r"<\|im_start\|>assistant\n\[.+<\|im_end\|>\]", demo, re.DOTALL)

    def test_names_the_engine(self, demo: str) -> None:
        assert "reference engine (the settings ask for it)" in demo

    def test_keeps_the_cache_where_it_is_told(self, demo: str, folder: Path) -> None:
        assert list((folder / "kept").rglob("cache-*.arrow"))
        assert not (folder / "cache").exists()


class TestEnv:
    def test_names_versions_engine_threads_and_cache(self, tmp_path: Path) -> None:
        (tmp_path / "cache").mkdir()
        (tmp_path / "cache" / "some").write_bytes(b"x" * 2500)
        lines = run(tmp_path, "env", ARROWPREP_ENGINE="reference").stdout.splitlines()
        facts = dict(line.split(maxsplit=1) for line in lines)
        assert facts["arrowprep"] == arrowprep.__version__
        assert facts["engine"] == "reference (the settings ask for it)"
        assert facts["cache"] == f"{tmp_path / 'cache'} (2.5 kB)"

    def test_follows_the_settings(self, tmp_path: Path) -> None:
        done = run(tmp_path, "env", ARROWPREP_THREADS="3")
        assert re.search(r"^threads +3$", done.stdout, re.MULTILINE)

    def test_a_bad_setting_is_one_line_not_a_traceback(self, tmp_path: Path) -> None:
        done = run(tmp_path, "env", ARROWPREP_ENGINE="steam")
        assert done.returncode == 1
        assert "steam" in done.stderr
        assert "Traceback" not in done.stderr


def test_an_unknown_command_lists_the_known_ones(tmp_path: Path) -> None:
    done = run(tmp_path, "dance")
    assert done.returncode == 2
    assert "demo" in done.stderr
    assert "env" in done.stderr


def test_says_its_version(tmp_path: Path) -> None:
    assert run(tmp_path, "--version").stdout.strip() == f"arrowprep {arrowprep.__version__}"
