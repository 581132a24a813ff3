"""JSON files that are one value, an array of objects or an object that holds one, as blocks of lines."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any

from arrowprep.dataset.load.sources import Block, check_utf8
from arrowprep.errors import BadArgument, UnreadableFile


def array(stream: IO[bytes], path: Path, size: int) -> Iterator[Block]:
    """The elements of a JSON array. Its text is held whole, its objects are not."""
    return _in_blocks(_elements(_text(stream, path), path), path, size)


def field(stream: IO[bytes], path: Path, name: str, size: int) -> Iterator[Block]:
    """The elements of the list that a JSON object holds under a name; BadArgument where it holds none."""
    document = _parsed(stream, path)
    fields = document if isinstance(document, dict) else {}
    lists = {key: value for key, value in fields.items() if isinstance(value, list)}
    if name not in lists:
        known = ", ".join(map(repr, lists)) or "none"
        raise BadArgument(f"{path} has no list named field={name!r}; its lists are {known}", field=name)
    return _in_blocks(map(json.dumps, lists[name]), path, size)


def is_one_object(stream: IO[bytes], path: Path) -> UnreadableFile:
    """The error for a file that is one object over several lines: what could be meant."""
    lists = [name for name, value in _parsed(stream, path).items() if isinstance(value, list)]
    which = (
        f"its lists are {', '.join(map(repr, lists))}: choose one with field="
        if lists
        else "it holds no list"
    )
    message = f"{path} is one JSON object over several lines, not rows; {which}"
    return UnreadableFile(message, path=path, line=1)


def _text(stream: IO[bytes], path: Path) -> str:
    data = stream.read()
    check_utf8(Block.of(data, 1), path)
    return data.decode()


def _parsed(stream: IO[bytes], path: Path) -> Any:
    text = _text(stream, path)
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise _not_json(error, path) from error
    except RecursionError as error:
        raise UnreadableFile(f"{path} is nested too deeply", path=path) from error


def _elements(text: str, path: Path) -> Iterator[str]:
    """The text of each element, on one line."""
    scan = json.JSONDecoder().raw_decode
    at = _skip_space(text, text.index("[") + 1)
    while text[at : at + 1] not in ("]", ""):
        try:
            _, stop = scan(text, at)
        except json.JSONDecodeError as error:
            raise _not_json(error, path) from error
        except RecursionError as error:
            raise UnreadableFile(f"{path} is nested too deeply", path=path) from error
        # line ends between JSON tokens are only space, and none is inside a string
        yield text[at:stop].replace("\n", " ").replace("\r", " ")
        at = _skip_space(text, stop)
        if text[at : at + 1] == ",":
            at = _skip_space(text, at + 1)
        elif text[at : at + 1] != "]":
            raise _not_json(json.JSONDecodeError("Expecting ',' or ']'", text, at), path)
    if text[at:].strip() != "]":
        place = min(at + 1, len(text))
        raise _not_json(json.JSONDecodeError("Expecting one array and no more", text, place), path)


def _skip_space(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t\r\n":
        at += 1
    return at


def _in_blocks(lines: Iterable[str], path: Path, size: int) -> Iterator[Block]:
    """Lines as blocks of about `size` characters."""
    row, pending, length = 1, [], 0
    for line in lines:
        pending.append(line)
        length += len(line)
        if length >= size:
            yield Block.of("\n".join(pending).encode(), row, "row")
            row, pending, length = row + len(pending), [], 0
    if pending:
        yield Block.of("\n".join(pending).encode(), row, "row")
    elif row == 1:
        raise UnreadableFile(f"{path} is empty: its list holds no rows", path=path)


def _not_json(error: json.JSONDecodeError, path: Path) -> UnreadableFile:
    return UnreadableFile(
        f"{path}: line {error.lineno} is not JSON: {error.msg} at column {error.colno}",
        path=path,
        line=error.lineno,
        column=error.colno,
    )
