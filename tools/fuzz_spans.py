"""Infer the spans of generated chats in templates whose tags were removed, and hold them against the tags.

    python -m tools.fuzz_spans FOLDER ... [--count 100000] [--seed 0] [--processes 2] [--show 5]

FOLDER has templates: each NAME.jinja with generation tags is tried. Prints the outcomes by template and ends
with status 1 if a span is wrong. The same count and seed give the same chats in any number of processes.
"""

from __future__ import annotations

import argparse
import csv
import json
import re
import time
from collections import Counter
from datetime import datetime
from itertools import islice
from multiprocessing import get_context
from pathlib import Path

from arrowprep.chat import ChatTemplate
from tests.chat.random_chats import cases, check, without_tags

KINDS = ("exact", "white space", "convention", "refused", "not rendered", "wrong")
NOW = datetime(2025, 3, 14, 9, 26, 53)


def _now() -> datetime:
    return NOW


def tagged_templates(folders: list[Path]) -> dict[str, ChatTemplate]:
    """By name; of two with the same text the first."""
    found: dict[str, ChatTemplate] = {}
    seen: set[str] = set()
    for folder in folders:
        tokens = _special_tokens(folder / "MANIFEST.tsv")
        for path in sorted(folder.glob("*.jinja")):
            source = path.read_bytes().decode()
            if not re.search(r"\{%[-+]?\s*generation\b", source) or source in seen:
                continue
            seen.add(source)
            name = path.stem if path.stem not in found else f"{folder.name}/{path.stem}"
            found[name] = ChatTemplate(source, special_tokens=tokens.get(path.stem, {}), clock=_now)
    return found


def _special_tokens(manifest: Path) -> dict[str, dict[str, str]]:
    """bos_token and eos_token by template, where a table names them."""
    if not manifest.exists():
        return {}
    with manifest.open() as rows:
        return {
            row["name"]: {k: row[k] for k in ("bos_token", "eos_token") if row[k] not in ("-", "")}
            for row in csv.DictReader(rows, delimiter="\t", quoting=csv.QUOTE_NONE)
        }


def run(folders: list[Path], seed: int, count: int, first: int, step: int) -> tuple[Counter, list[str]]:
    """Every step-th chat from first on: (template, kind) -> how many, and the wrong and refused ones."""
    tagged = tagged_templates(folders)
    bare = {name: without_tags(template) for name, template in tagged.items()}
    counts: Counter = Counter()
    told = []
    for case in islice(cases(tagged, seed, count), first, None, step):
        outcome = check(case, tagged[case.name], bare[case.name])
        counts[case.name, outcome.kind] += 1
        counts["owned"] += outcome.owned
        if outcome.kind in ("wrong", "refused"):
            chat = json.dumps([case.chat, case.options], ensure_ascii=False)
            told.append(f"{outcome.kind}\t{case.name}\t{outcome.detail}\t{chat}")
    return counts, told


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--show", type=int, default=5, help="wrong and refused chats of a template to print")
    given = parser.parse_args()
    started = time.time()
    parts = [
        (given.folders, given.seed, given.count, first, given.processes) for first in range(given.processes)
    ]
    with get_context("spawn").Pool(given.processes) as pool:
        results = pool.starmap(run, parts)
    counts = sum((counts for counts, _ in results), Counter())
    told = [line for _, lines in results for line in lines]
    shown: Counter = Counter()
    for line in sorted(told):
        kind, name, *_ = line.split("\t")
        shown[kind, name] += 1
        if shown[kind, name] <= (given.show if kind == "wrong" else given.show // 3):
            print(line)
    names = sorted({key[0] for key in counts if isinstance(key, tuple)})
    print(f"{'':30}" + "".join(f"{kind:>14}" for kind in KINDS))
    for name in [*names, "all"]:
        of = [counts[name, k] if name != "all" else sum(counts[n, k] for n in names) for k in KINDS]
        print(f"{name[-30:]:30}" + "".join(f"{n:14,}" for n in of))
    print(f"whose each character is was known of {counts['owned']:,}; {time.time() - started:.0f} s")
    raise SystemExit(any(counts[name, "wrong"] for name in names))


if __name__ == "__main__":
    main()
