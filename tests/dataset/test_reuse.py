"""Work is not done again where nothing changed, and no old result is served where something did.

Each run is a process of its own, with another seed for the hashes of strings, in another folder.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from arrowprep import Dataset, concatenate_datasets
from arrowprep.dataset.storage import shelf
from arrowprep.errors import ArrowprepWarning

ROOT = Path(__file__).parents[2]

SCRIPT = """
import sys
import numpy as np

import cleaning
from arrowprep import load_local, load_tokenizer
from arrowprep.data import GPT2

STOP = {"the", "a", "an", "of"}
WEIGHTS = np.arange(4.0)
tok = load_tokenizer(GPT2)

def noted(name):
    with open(FILE, "a") as file:
        file.write(name + " ")

def clean(row):
    noted("clean")
    kept = [w for w in cleaning.split(row["text"]) if w not in STOP and w not in {"x", "y"}]
    return {"text": " ".join(kept), "weight": float(WEIGHTS[len(kept) % 4])}

def encode(batch):
    noted("encode")
    return tok(batch["text"])

class Longer:
    def __init__(self, least):
        self.least = least
    def __call__(self, row):
        noted("longer")
        return len(row["text"]) > self.least

tok(["called once before"], truncation=True, max_length=2)
ds = load_local(sys.argv[1]).map(clean).filter(Longer(3)).shuffle(seed=1).map(encode, batched=True)
print([row["input_ids"] for row in ds], ds.fingerprint)
"""
CLEANING = """
import re
LIMIT = 100

def split(text):
    return cut(text).split()

def cut(text):
    return re.sub("[.!]", " ", text)[:LIMIT]
"""


class Runs:
    """Runs the script; `calls` are the functions that were really called."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.data, self.seed = folder, folder / "data" / "rows.jsonl", 0
        self.calls_file = folder / "calls"
        self.data.parent.mkdir()
        self.data.write_text('{"text": "The cat of a house."}\n{"text": "x y z!"}\n{"text": "Dogs"}\n')

    def __call__(self, script: str = SCRIPT, cleaning: str = CLEANING, data: Path | None = None) -> str:
        self.seed += 1
        place = self.folder / f"run-{self.seed}"
        place.mkdir()
        # what notes the calls has a name of its own, for all else that a function reads is part of its name
        told = f'\nimport os\nFILE = "{self.calls_file}"\n'
        (place / "job.py").write_text(script.replace("\ndef noted", told + "\ndef noted", 1))
        (place / "cleaning.py").write_text(cleaning)
        environment = {**os.environ, "PYTHONHASHSEED": str(self.seed), "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-B", "job.py", str(data or self.data)]
        self.calls_file.write_text("")
        done = subprocess.run(
            command, cwd=place, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    @property
    def calls(self) -> set[str]:
        return set(self.calls_file.read_text().split())


ALL = {"clean", "longer", "encode"}


def edited(text: str, old: str, new: str) -> str:
    assert text.count(old) >= 1
    return text.replace(old, new, 1)


def test_only_what_changed_is_done_again(tmp_path: Path) -> None:
    run = Runs(tmp_path)
    first = run()
    assert run.calls == ALL
    # nothing that computes: place, comments, annotations, the order of a set, the path of the data
    moved = edited(SCRIPT, "def clean(row):", 'def clean(row: dict) -> dict:\n    "Words of it."')
    moved = "# a comment\n\n" + edited(moved, '{"the", "a", "an", "of"}', '{"of", "an", "the", "a"}')
    commented = edited(CLEANING, "return cut", "# first cut\n    return cut")
    elsewhere = Path(shutil.copytree(run.data.parent, tmp_path / "mounted" / "elsewhere")) / run.data.name
    assert run(moved, commented, elsewhere) == first
    assert run.calls == set()
    # a helper of a helper, in another module
    run(cleaning=edited(CLEANING, '"[.!]"', '"[.]"'))
    assert "clean" in run.calls
    # one step, and those that stand on it
    run(edited(SCRIPT, "Longer(3)", "Longer(4)"))
    assert run.calls == {"longer", "encode"}
    run(edited(SCRIPT, "tok = load_tokenizer(GPT2)", "tok = load_tokenizer(GPT2); tok.add_tokens(['cat'])"))
    assert run.calls == {"encode"}
    # the data, with the size and times that it had
    before = run.data.stat()
    run.data.write_text(run.data.read_text().replace("Dogs", "Cats"))
    os.utime(run.data, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert run() != first
    assert {"clean", "longer"} <= run.calls
    # and back
    run.data.write_text(run.data.read_text().replace("Cats", "Dogs"))
    assert run() == first
    assert run.calls == set()


@pytest.fixture
def calls(tmp_path: Path) -> Path:
    return tmp_path / "calls"


@pytest.fixture
def ds() -> Dataset:
    return Dataset.from_dict({"n": list(range(100))})


def test_every_selection_has_a_result_of_its_own(ds: Dataset) -> None:
    def doubled(row):
        return {"m": row["n"] * 2}

    for chosen in (range(10), range(20), [3, 1], [1, 3], range(10, 20)):
        assert ds.select(chosen).map(doubled)["m"][:] == [n * 2 for n in chosen]
    assert ds.shuffle(seed=1).map(doubled)["m"][:] != ds.shuffle(seed=2).map(doubled)["m"][:]
    assert len({ds.take(n).map(doubled).fingerprint for n in range(1, 9)}) == 8


def test_in_memory_data_in_any_chunks_is_found_by_content(calls: Path) -> None:
    def noted(row):
        calls.open("a").write("x")
        return {"m": row["n"]}

    frame = pd.DataFrame({"n": np.arange(6)})
    Dataset.from_pandas(frame).map(noted)
    Dataset.from_pandas(frame.copy()).map(noted)
    Dataset.from_dict({"n": np.arange(6)}).map(noted)
    table = concatenate_datasets([Dataset.from_dict({"n": [i]}) for i in range(6)]).with_format("arrow")[:]
    assert table.column("n").num_chunks > 1
    Dataset(table).map(noted)
    assert calls.read_text() == "x" * 6


def test_what_cannot_be_named_is_never_found_again_whatever_is_seeded(ds: Dataset) -> None:
    names = set()
    for _ in range(3):
        np.random.seed(0)
        secret = (i for i in range(10))
        with pytest.warns(ArrowprepWarning, match="`secret`"):
            out = ds.map(lambda row: {"m": row["n"], "s": secret is None})  # noqa: B023
        names.add(out.fingerprint)
    assert len(names) == 3


def test_a_missing_parent_is_made_again_and_its_child_found(
    ds: Dataset, calls: Path, own_cache: Path
) -> None:
    def first(row):
        calls.open("a").write("1")
        return {"a": row["n"]}

    def second(row):
        calls.open("a").write("2")
        return {"b": row["a"]}

    child = ds.map(first).map(second)
    [parent] = [entry for entry in shelf.entries(own_cache) if entry.function.endswith("first")]
    del child
    assert parent.remove()
    calls.write_text("")
    assert ds.map(first).map(second)[5] == {"n": 5, "a": 5, "b": 5}
    assert calls.read_text() == "1" * 100


@pytest.mark.parametrize("shuffled", [False, True])
def test_a_chain_of_small_columns_adds_little_to_the_text(own_cache: Path, shuffled: bool) -> None:
    text = ["A page of text. " * 125] * 4000  # of 2 kB
    ds = Dataset.from_dict({"text": text, "n": list(range(4000))})
    if shuffled:
        ds = ds.shuffle(seed=1)
    ds = ds.map(lambda row: {"length": len(row["text"])})
    ds = ds.map(lambda row: {"words": row["text"].count(" ")})
    ds = ds.map(lambda batch: {"even": [n % 2 == 0 for n in batch["n"]]}, batched=True)
    ds = ds.map(lambda row: {"ratio": row["words"] / row["length"]})
    ds = ds.map(lambda row: {"n2": row["n"] + 1})
    assert ds[17]["n2"] == ds[17]["n"] + 1
    written = sum(path.stat().st_size for path in own_cache.rglob("*") if path.is_file())
    assert written < 0.03 * 4000 * 2000
