"""The pipeline in a file of any format: which file of a folder counts, and which reader it needs."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from arrowprep.errors import MissingFile, UnknownFileType

PACKED = ("", ".gz", ".zst")
# of several files in a folder the first that matches counts
PATTERNS = (
    "tokenizer.json",
    "tekken*.json",
    "tokenizer.model",
    "spiece.model",
    "*.model",
    "*.tiktoken",
    "vocab.json",
    "vocab.txt",
)
OPTIONS = ("pattern", "special_tokens")  # arguments of a reader, which the settings do not keep

Read = Callable[[Path], bytes]


def find(folder: Path, patterns: Sequence[str] = PATTERNS) -> Path | None:
    """The file of a folder that holds its pipeline; None where there is none.

    Raises UnknownFileType where several could be meant.
    """
    for pattern in patterns:
        found = [
            file for suffix in PACKED for file in sorted(folder.glob(pattern + suffix)) if file.is_file()
        ]
        plain = {_plain_name(file) for file in found}
        if len(plain) > 1:
            raise UnknownFileType(
                f"{folder} has several vocabularies, {', '.join(sorted(plain))}: give the path of one",
                path=str(folder),
                found=sorted(plain),
            )
        if found:
            return found[0]
    return None


def read(file: Path, unpack: Read, options: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    """The Tokenizer of a file, and the settings that its format knows: roles of special tokens, and
    whether special tokens in a text are text.

    unpack: reads a file and decompresses it
    options: settings and arguments; each reader says which it looks at
    """
    from arrowprep.tokenize.tokenizer import Tokenizer

    name, content = _plain_name(file), unpack(file)
    if name.startswith("tekken") and name.endswith(".json"):
        from arrowprep.tokenize.files import tekken

        tokenizer = tekken.read_tekken(content, name)
        return tokenizer, {**_known(tekken.ROLES, tokenizer), "split_special_tokens": True}
    if name.endswith(".tiktoken") or (name.endswith(".model") and _is_tiktoken(content)):
        from arrowprep.tokenize.files.tiktoken import read_tiktoken

        known = {key: options[key] for key in OPTIONS if key in options}
        return read_tiktoken(content, name, **known), {}
    if name.endswith(".model"):
        from arrowprep.tokenize.files.sentencepiece import read_sentencepiece

        tokenizer, roles = read_sentencepiece(content, name)
        return tokenizer, {**roles, "split_special_tokens": True}
    if name == "vocab.json":
        from arrowprep.tokenize.files.vocabulary_files import read_vocab_and_merges

        return read_vocab_and_merges(content, unpack(_beside(file, "merges.txt")), options), {}
    if name.endswith(".txt"):
        from arrowprep.tokenize.files.vocabulary_files import BERT_ROLES, read_vocab_txt

        tokenizer = read_vocab_txt(content, options)
        return tokenizer, _known(BERT_ROLES, tokenizer)
    return Tokenizer.from_buffer(content), {}


def _known(roles: Mapping[str, str], tokenizer: Any) -> dict[str, Any]:
    return {role: token for role, token in roles.items() if tokenizer.token_to_id(token) is not None}


def _plain_name(file: Path) -> str:
    return file.name.removesuffix(".gz").removesuffix(".zst")


def _beside(file: Path, name: str) -> Path:
    for suffix in PACKED:
        if (other := file.with_name(name + suffix)).is_file():
            return other
    raise MissingFile(f"{file} needs a {name} beside it, which is missing", path=str(file.with_name(name)))


def _is_tiktoken(content: bytes) -> bool:
    """Llama 3 calls its .tiktoken file tokenizer.model."""
    return re.match(rb"[A-Za-z0-9+/]+={0,2} \d+\r?\n", content) is not None
