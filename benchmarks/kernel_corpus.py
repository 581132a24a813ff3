"""Real text for the kernel's benchmark: docstrings for English, sources for code, of what is installed."""

from __future__ import annotations

import ast
import itertools
import random
import sysconfig
import warnings
from collections.abc import Iterator
from pathlib import Path

CORPORA = ("english", "code")
SHORTEST = 150  # characters of a docstring that is worth taking


def documents(corpus: str, size: int, part: int, parts: int) -> list[list[str]]:
    """`parts` lists of texts of about `size` bytes, each list of about `part` bytes; the same every time."""
    texts = _cut(_english() if corpus == "english" else _code(), size)
    out: list[list[str]] = []
    for _ in range(parts):
        taken, total = [], 0
        for text in texts:
            taken.append(text)
            total += len(text.encode())
            if total >= part:
                break
        out.append(taken)
    return out


def _cut(sources: Iterator[str], size: int) -> Iterator[str]:
    """Text cut behind lines, in pieces of `size` characters or a little more."""
    kept = ""
    for source in sources:
        kept += source + "\n\n"
        while len(kept) > size:
            stop = kept.find("\n", size) + 1 or len(kept)
            yield kept[:stop]
            kept = kept[stop:]


def _files() -> list[Path]:
    paths = sorted(Path(sysconfig.get_path("stdlib")).rglob("*.py"))
    random.Random(0).shuffle(paths)
    return paths


def _code() -> Iterator[str]:
    for path in _files():
        try:
            yield path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            continue


def _english() -> Iterator[str]:
    seen: set[str] = set()
    for source in _code():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                tree = ast.parse(source)
            except (SyntaxError, ValueError):
                continue
        for node in ast.walk(tree):
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
                text = ast.get_docstring(node) or ""
                if len(text) >= SHORTEST and ">>>" not in text and text[:80] not in seen:
                    seen.add(text[:80])
                    yield text


if __name__ == "__main__":
    for name in CORPORA:
        sizes = [sum(len(text.encode()) for text in part) for part in documents(name, 2000, 1_300_000, 5)]
        print(name, sizes, next(itertools.chain(*documents(name, 2000, 1000, 1)))[:300])
