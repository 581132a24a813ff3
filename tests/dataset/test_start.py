"""What a short script pays for: the first rows come without the slow imports."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HEAVY = ("pandas", "pyarrow.compute", "pyarrow.fs", "pyarrow.dataset", "dill", "jinja2")
SCRIPT = f"""
import sys
from arrowprep import Dataset, configure, load_local
configure(cache_dir=sys.argv[1])
made = Dataset.from_dict({{"text": ["a", "bc"], "n": [1, 2], "flag": [True, False], "ids": [[1], []]}})
assert made.map(lambda row: {{"length": len(row["text"])}})[1]["length"] == 2
loaded = load_local(sys.argv[2])
for _ in range(2):
    mapped = loaded.map(lambda batch: {{"length": [len(t) for t in batch["text"]]}}, batched=True)
    assert mapped[0]["length"] == 1
assert mapped.filter(lambda row: row["length"] == 1).num_rows == 1
print(*(name for name in {HEAVY!r} if name in sys.modules))
"""


def test_the_first_rows_load_no_slow_library(tmp_path: Path) -> None:
    source = tmp_path / "rows.jsonl"
    source.write_text('{"text": "a"}\n{"text": "bc"}\n')
    command = [sys.executable, "-c", SCRIPT, str(tmp_path / "cache"), str(source)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == []


MAKING = ("verbs.map_run", "verbs.batches", "storage.parts", "storage.shelf", "load.json", "formats.numpy")
LATE = (*(f"arrowprep.dataset.{name}" for name in MAKING), "logging", "hashlib", "shutil", "multiprocessing")
FOUND_AGAIN = f"""
import sys, pyarrow
before = set(sys.modules)
from arrowprep import configure, load_local
configure(cache_dir=sys.argv[1])
mapped = load_local(sys.argv[2]).map(lambda row: {{"length": len(row["text"])}})
assert mapped[1] == {{"text": "bc", "length": 2}}
print(*({{*{LATE!r}}} & sys.modules.keys() - before))
"""


def test_what_is_found_again_loads_nothing_that_makes_it(tmp_path: Path) -> None:
    source = tmp_path / "rows.jsonl"
    source.write_text('{"text": "a"}\n{"text": "bc"}\n')
    command = [sys.executable, "-c", FOUND_AGAIN, str(tmp_path / "cache"), str(source)]
    first, again = (subprocess.run(command, capture_output=True, text=True, check=True) for _ in range(2))
    assert "verbs.batches" in first.stdout
    assert again.stdout.split() == []
