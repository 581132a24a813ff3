"""JSON Lines row by row in Python: right for every input, and the way to name a bad line.

Arrow's reader is tried first, being twenty times faster. What it refuses or would
alter comes here: mixed types, integers beyond 64 bits, repeated keys, and errors.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.types as pat

from arrowprep.dataset import as_json
from arrowprep.dataset.load import natural
from arrowprep.dataset.load.sources import Block
from arrowprep.errors import TypeConflict, UnreadableFile

_SPACE = " \t\r\v\f"
_DEEPEST = 60  # levels of nesting; Arrow files end at 64
_KINDS = {
    type(None): "null",
    bool: "true or false",
    int: "integers",
    float: "fractions",
    str: "text",
    list: "lists",
    dict: "objects",
}


def read_block(
    block: Block, path: Path, known: pa.Schema, floor: pa.Schema
) -> tuple[pa.Table, dict[str, str]]:
    """A table of the block's rows, no column narrower than in `known`; and what mixed columns hold.

    floor: columns that are text or JSON here stay so, whatever they hold

    Raises UnreadableFile with the line, or TypeConflict with what the column holds.
    """
    rows, lines = parse(block, path)
    if not rows:
        return pa.table({}), {}
    names = dict.fromkeys([*known.names, *(name for row in rows for name in row)])
    values = {name: [row.get(name) for row in rows] for name in names}
    asked = {field.name: field.type for field in floor if takes_any(field.type)}
    types = {name: asked.get(name) or _least(name, known) for name in names}
    columns = {
        name: _column(name, values[name], lines, block, path, types[name], name in asked) for name in names
    }
    mixed = {
        name: kinds_in(values[name], lines, block.counted)
        for name, column in columns.items()
        if pat.is_string(column.type)
        and column.type != types[name]
        and any(value is not None and not isinstance(value, str) for value in values[name])
    }
    return pa.table(columns), mixed


def parse(block: Block, path: Path) -> tuple[list[dict[str, Any]], list[int]]:
    """The objects of a block and the line number of each; blank lines are none."""
    rows, lines = [], []
    for number, line in enumerate(str(block.data, "utf-8").split("\n"), block.first_line):
        if line.strip(_SPACE):
            rows.append(_object(line, number, block, path))
            lines.append(number)
    return rows, lines


def _object(line: str, number: int, block: Block, path: Path) -> dict[str, Any]:
    place = f"{path}: {block.counted} {number}"
    try:
        value = json.loads(line)
    except RecursionError as error:
        raise UnreadableFile(f"{place} is nested too deeply", path=path, line=number) from error
    except json.JSONDecodeError as error:
        raise UnreadableFile(
            f"{place} is not JSON: {error.msg} at column {error.colno}: {_excerpt(error.doc, error.pos)}",
            path=path,
            line=number,
            column=error.colno,
        ) from error
    if not isinstance(value, dict):
        raise UnreadableFile(
            f"{place} holds {kind_of(value)}, where a row must be an object", path=path, line=number
        )
    return value


def _excerpt(text: str, at: int) -> str:
    start = max(0, at - 20)
    return repr(("..." if start else "") + text[start : at + 20])


def kind_of(value: Any) -> str:
    """The kind of a JSON value in the words of messages."""
    return _KINDS[type(value)]


def kinds_in(values: list[Any], lines: list[int], counted: str = "line") -> str:
    """What a column holds: 'integers (2 rows, first at line 1), text (1 row, first at line 3)'."""
    seen: dict[str, list[int]] = {}
    for value, line in zip(values, lines, strict=True):
        if value is not None:
            seen.setdefault(kind_of(value), []).append(line)
    return ", ".join(
        f"{kind} ({len(at)} row{'s' * (len(at) != 1)}, first at {counted} {at[0]})"
        for kind, at in seen.items()
    )


def _least(name: str, known: pa.Schema) -> pa.DataType:
    """The type that a column must have at the least; what is text elsewhere may be otherwise here."""
    kind = known.field(name).type if name in known.names else pa.null()
    return pa.null() if pat.is_string(kind) else kind


def _column(
    name: str,
    values: list[Any],
    lines: list[int],
    block: Block,
    path: Path,
    least: pa.DataType,
    asked: bool,
) -> pa.Array:
    """asked: the column takes whatever there is, as `least`."""
    try:
        kind = least if asked else natural.wider(least, natural.type_of_all(values, least))
        if is_deep(kind):
            raise RecursionError
        return to_array(values, kind)
    except RecursionError as error:
        deep = (line for value, line in zip(values, lines, strict=True) if _is_deep_value(value))
        line = next(deep, lines[0])
        raise UnreadableFile(
            f"{path}: {block.counted} {line}: column {name!r} is nested deeper than {_DEEPEST} levels, "
            f"more than Arrow files take; to keep its JSON text, pass features with {name!r}: Json()",
            path=path,
            line=line,
        ) from error
    except TypeConflict as error:
        before = "" if pat.is_null(least) else f"; rows before are {least}"
        raise TypeConflict(
            f"{path}: column {name!r} mixes {kinds_in(values, lines, block.counted)}{before} ({error}); "
            f"to keep each value as its JSON text, pass features with {name!r}: Json()",
            path=path,
            column=name,
            line=lines[0],
        ) from error
    except UnicodeEncodeError as error:
        raise _surrogate(values, lines, name, block, path) from error


def is_deep(kind: pa.DataType, levels: int = _DEEPEST) -> bool:
    """Whether a type is nested deeper than can be stored."""
    if not pat.is_nested(kind):
        return False
    return levels == 0 or any(is_deep(kind.field(child).type, levels - 1) for child in range(kind.num_fields))


def _is_deep_value(value: Any) -> bool:
    level = [value]
    for _ in range(_DEEPEST):
        level = [
            inner
            for outer in level
            if isinstance(outer, list | dict)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
    return any(isinstance(value, list | dict) for value in level)


def takes_any(kind: pa.DataType) -> bool:
    """Whether a column of this type can hold whatever JSON can: text and arrow.json."""
    return bool(pat.is_string(kind) or as_json.is_json(kind))


def to_array(values: list[Any], kind: pa.DataType) -> pa.Array:
    """The values of one column in a type that is wide enough for them, a negative one beside uint64 aside."""
    try:
        return _built(values, kind)
    except (OverflowError, pa.ArrowInvalid):
        return _built(values, natural.beyond(kind))


def _built(values: list[Any], kind: pa.DataType) -> pa.Array:
    return as_json.built(list(map(_fitting(kind), values)), kind)


def _fitting(kind: pa.DataType) -> Callable[[Any], Any]:
    """What makes a value of the json module one of this type."""
    if as_json.is_json(kind):
        return lambda value: None if value is None else as_json.text_of(value)
    if pat.is_string(kind):
        return _text
    if pat.is_floating(kind):
        return lambda value: None if value is None else float(value)
    if pat.is_decimal(kind):
        return lambda value: None if value is None else Decimal(value)
    if pat.is_list(kind):
        item = _fitting(kind.value_type)
        return lambda value: None if value is None else list(map(item, value))
    if pat.is_struct(kind):
        fields = [(field.name, _fitting(field.type)) for field in kind]
        return lambda value: None if value is None else {name: fit(value.get(name)) for name, fit in fields}
    return lambda value: value


def _text(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _surrogate(values: list[Any], lines: list[int], name: str, block: Block, path: Path) -> UnreadableFile:
    line = next(line for value, line in zip(values, lines, strict=True) if _has_surrogate(value))
    return UnreadableFile(
        f"{path}: {block.counted} {line}: column {name!r} holds half of a surrogate pair (such as \\ud83d), "
        "which is no character",
        path=path,
        line=line,
    )


def _has_surrogate(value: Any) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    return False
