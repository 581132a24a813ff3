"""What the documents show runs."""

from __future__ import annotations

import gzip
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from arrowprep import data

ROOT = Path(__file__).parent.parent


def run(tmp_path: Path, script: Path, *arguments: object) -> str:
    """Its output; in a folder of its own, with an empty cache."""
    environment = {**os.environ, "ARROWPREP_CACHE": str(tmp_path / "cache"), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, script, *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=environment,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_readme_example_runs(tmp_path: Path) -> None:
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert blocks
    script = tmp_path / "readme.py"
    script.write_text("\n".join(blocks))
    assert "int32" in run(tmp_path, script)


@pytest.fixture
def few_documents(tmp_path: Path) -> Path:
    lines = gzip.decompress(data.DOCUMENTS.read_bytes()).splitlines(keepends=True)
    (tmp_path / "few.jsonl").write_bytes(b"".join(lines[:100]))
    return tmp_path / "few.jsonl"


def test_a_corpus_becomes_blocks_of_one_length(tmp_path: Path, few_documents: Path) -> None:
    shown = run(tmp_path, ROOT / "examples" / "tokenize_corpus.py", few_documents)
    assert re.search(r"^100 documents -> [\d,]+ blocks of 512 ids\nint32 \(16, 512\)", shown)


def test_conversations_become_labels_for_the_assistants_words(tmp_path: Path) -> None:
    shown = run(tmp_path, ROOT / "examples" / "sft_prepare.py")
    rows, learned, total, percent = re.search(
        r"^349 conversations -> (\d+) rows\n([\d,]+) of ([\d,]+) tokens are learned \((\d+)%\)", shown
    ).groups()
    assert 300 < int(rows) <= 349
    assert int(learned.replace(",", "")) < int(total.replace(",", ""))
    assert 50 < int(percent) < 95  # most of the text is answers


def test_a_trainers_loss_is_that_by_hand(tmp_path: Path) -> None:
    for name in ("torch", "transformers", "accelerate", "datasets"):
        pytest.importorskip(name, reason=f"{name}, which the example trains with, is not installed")
    shown = run(tmp_path, ROOT / "examples" / "sft_train.py")
    first, by_hand, second = map(float, re.findall(r"\d+\.\d+", shown.partition("loss of the first")[2]))
    assert first == pytest.approx(by_hand, abs=2e-4)
    assert 0 < second < 2 * first


def test_every_example_is_tested() -> None:
    tests = Path(__file__).read_text()
    assert [path.name for path in (ROOT / "examples").glob("*.py") if f'"{path.name}"' not in tests] == []
