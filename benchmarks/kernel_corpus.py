"""Real text for the kernel's benchmark, of what is installed.

Docstrings for English, sources for code, and the translations of programs' messages for
Chinese, Japanese and Korean ("cjk") and for many scripts ("multilingual"). Two that are made: an
agent's transcripts, one after each turn, so that each has all of those before it ("transcripts"); and
random bytes, which no cache helps ("base64").
"""

from __future__ import annotations

import ast
import base64
import gettext
import itertools
import random
import sys
import sysconfig
import warnings
from collections.abc import Iterator
from pathlib import Path

CORPORA = ("english", "code", "cjk", "multilingual", "transcripts", "base64")
CJK = ("ja", "zh_CN", "zh_TW", "ko")
SCRIPTS = (*CJK, "ru", "uk", "el", "ar", "he", "hi", "th", "ka", "ta", "de", "fr", "tr", "vi", "pl")
SHORTEST = 150  # characters of a docstring that is worth taking


def documents(corpus: str, size: int, part: int, parts: int) -> list[list[str]]:
    """`parts` lists of texts of about `size` bytes, each list of about `part` bytes; the same every time."""
    sources = {
        "english": _english,
        "code": _code,
        "cjk": lambda: _messages(CJK),
        "multilingual": lambda: _messages(SCRIPTS),
        "base64": _base64,
    }
    if corpus in ("cjk", "multilingual"):  # there is less of it
        part = min(part, sum(len(text.encode()) for text in sources[corpus]()) // (parts + 1))
    texts = _transcripts(size) if corpus == "transcripts" else _cut(sources[corpus](), size)
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


def _transcripts(longest: int) -> Iterator[str]:
    """Conversations as they stand after each turn, up to `longest` characters and a turn."""
    tools = _cut(_code(), longest // 8)
    instructions = "You are an agent. " + "\n".join(itertools.islice(_english(), 3))[: longest // 4]
    conversation = instructions
    for question, result in zip(_english(), tools, strict=False):
        conversation += f"\n\nuser: {question[: longest // 8]}\n\ntool: {result}"
        yield conversation
        if len(conversation) > longest:
            conversation = instructions


def _base64() -> Iterator[str]:
    source = random.Random(0)
    while True:
        yield base64.encodebytes(source.randbytes(57 * 1000)).decode()  # in lines of 76 characters


def _messages(languages: tuple[str, ...]) -> Iterator[str]:
    """Translated messages that are sentences, of each catalog some from every language in turn."""
    roots = {Path("/usr/share/locale"), Path(sys.prefix, "share/locale")}
    names = sorted({path.name for root in roots for path in root.glob("*/LC_MESSAGES/*.mo")})
    random.Random(0).shuffle(names)
    for name, language, root in itertools.product(names, languages, sorted(roots)):
        path = root / language / "LC_MESSAGES" / name
        try:
            with path.open("rb") as file:
                catalog = gettext.GNUTranslations(file)._catalog  # type: ignore[attr-defined]
        except (OSError, UnicodeDecodeError, ValueError):
            continue
        texts = [text for key, text in sorted(catalog.items(), key=str) if key and len(text.encode()) > 60]
        if texts:
            yield "\n".join(texts)


if __name__ == "__main__":
    for name in CORPORA:
        sizes = [sum(len(text.encode()) for text in part) for part in documents(name, 2000, 1_300_000, 5)]
        print(name, sizes, next(itertools.chain(*documents(name, 2000, 1000, 1)))[:300])
