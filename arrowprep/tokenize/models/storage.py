"""The files of models alone: vocab.json and merges.txt, vocab.txt, unigram.json."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from arrowprep.errors import BadTokenizerFile, MissingFile
from arrowprep.tokenize.component import Spec

PathLike = str | Path


def read_text(path: PathLike) -> str:
    """A file of text. Raises MissingFile, or BadTokenizerFile for one that is not UTF-8."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except (FileNotFoundError, IsADirectoryError) as error:
        raise MissingFile(f"no vocabulary file at {path}", path=str(path)) from error
    except UnicodeDecodeError as error:
        raise BadTokenizerFile(f"{path} is not UTF-8: byte {error.start}", path=str(path)) from error


def read_vocab_json(path: PathLike) -> Spec:
    """The object of a vocab.json, at "vocab"."""
    try:
        return Spec({"vocab": json.loads(read_text(path))}, str(path))
    except json.JSONDecodeError as error:
        raise BadTokenizerFile(f"{path} is not JSON: {error}", path=str(path)) from error


def read_merges_txt(path: PathLike) -> list[tuple[str, str]]:
    """The pairs of a merges.txt: one a line, after a line with the version that may be there.

    Raises BadTokenizerFile with the line.
    """
    merges: list[tuple[str, str]] = []
    # splitlines would also cut at characters that tokens have
    for number, line in enumerate(read_text(path).split("\n"), 1):
        line = line.removesuffix("\r")
        if line.startswith("#version") or not line:
            continue
        pair = line.split(" ")
        if len(pair) != 2:
            raise BadTokenizerFile(f"{path}, line {number}: {line!r} is no pair", path=str(path), line=number)
        merges.append((pair[0], pair[1]))
    return merges


def read_vocab_txt(path: PathLike) -> dict[str, int]:
    """The tokens of a vocab.txt, whose line numbers are their ids."""
    lines = read_text(path).removesuffix("\n").split("\n")
    return {line.removesuffix("\r"): id for id, line in enumerate(lines)}


def write(folder: PathLike, prefix: str | None, name: str, text: str) -> str:
    """Write `folder/prefix-name`; returns its path."""
    path = Path(folder) / (f"{prefix}-{name}" if prefix else name)
    path.write_text(text, encoding="utf-8")
    return str(path)


def compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
