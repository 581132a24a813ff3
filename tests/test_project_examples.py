"""What the documents show runs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def run(script: Path, tmp_path: Path) -> str:
    """Its output; in an empty folder, with an empty cache, and without a main guard being needed."""
    environment = {**os.environ, "ARROWPREP_CACHE": str(tmp_path / "cache"), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, cwd=tmp_path, env=environment, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_readme_example_runs(tmp_path: Path) -> None:
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert blocks
    script = tmp_path / "readme.py"
    script.write_text("\n".join(blocks))
    assert "int32" in run(script, tmp_path)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("tokenize_corpus.py", r"2,240 documents -> [\d,]+ blocks of 512 ids\nint32 \(16, 512\)"),
        ("sft_prepare.py", r"349 conversations -> 3\d\d rows\n[\d,]+ of [\d,]+ tokens are learned \(\d\d%\)"),
    ],
)
def test_an_example_runs(name: str, shown: str, tmp_path: Path) -> None:
    assert re.search(shown, run(ROOT / "examples" / name, tmp_path))


def test_every_example_is_tested() -> None:
    [parameters] = [mark.args[1] for mark in test_an_example_runs.pytestmark]  # type: ignore[attr-defined]
    assert {path.name for path in (ROOT / "examples").glob("*.py")} == {name for name, _ in parameters}
