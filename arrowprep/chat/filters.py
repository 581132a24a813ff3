"""Filters and tests of chat templates: jinja's, each paid for by the size of what it works on."""

from __future__ import annotations

import json
import operator
from collections.abc import Callable
from typing import Any

from jinja2.filters import FILTERS as JINJA_FILTERS
from jinja2.runtime import Context
from jinja2.tests import TESTS as JINJA_TESTS
from jinja2.utils import pass_context

from arrowprep.chat.meter import measure
from arrowprep.chat.methods import line_ends
from arrowprep.chat.operators import Operators
from arrowprep.errors import TemplateForbidden

__all__ = ["FILTERS", "TESTS"]

# filters whose result works while it is read, and may hold another such result
_LAZY = frozenset({"map", "select", "reject", "selectattr", "rejectattr", "batch", "slice", "unique"})
# pays, and returns what the filter is to be given as its value
Price = Callable[[Operators, Any, tuple[Any, ...], dict[str, Any]], Any]


def _paid(name: str, price: Price) -> Callable[..., Any]:
    """jinja's filter of this name, which calls price first and pays for its result."""
    is_lazy = name in _LAZY
    function = JINJA_FILTERS[name]
    wants = getattr(getattr(function, "jinja_pass_arg", None), "name", None)

    @pass_context
    def paid(context: Context, value: Any, *args: Any, **kwargs: Any) -> Any:
        meter: Operators = context.meter  # type: ignore[attr-defined]
        given, value = value, price(meter, value, args, kwargs)
        if wants is None:
            made = meter.made(function(value, *args, **kwargs))
            return meter.chained(made, given) if is_lazy else made
        first = {"context": context, "eval_context": context.eval_ctx, "environment": context.environment}[
            wants
        ]
        made = meter.made(function(first, value, *args, **kwargs))
        return meter.chained(made, given) if is_lazy else made

    return paid


def _argument(args: tuple[Any, ...], kwargs: dict[str, Any], place: int, name: str, default: Any) -> Any:
    return args[place] if len(args) > place else kwargs.get(name, default)


def _size(value: Any) -> int:
    return len(value) if isinstance(value, str) else measure(value)


def _as_text(meter: Operators, value: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    meter.spend(_size(value) >> 1)
    return value


def _reading_number(meter: Operators, value: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    meter.spend(30 + (_size(value) >> 1))  # what is no number raises twice
    return value


def _formatting(meter: Operators, value: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    meter.spend(400)
    return value


def _word_by_word(meter: Operators, value: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    meter.spend(6 * _size(value))
    return value


def _escaping(meter: Operators, value: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    meter.spend(6 * _size(value))
    return value


def _squared(meter: Operators, value: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    size = _size(value)
    added = sum(map(_size, (*args, *kwargs.values())))  # such as what urlize writes into every link
    meter.spend(8 * size + size * size // 64 + size * added // 8)
    return value


def _items(meter: Operators, value: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """For filters that take items one at a time. What has no length is paid for as it is taken."""
    if isinstance(value, (str, list, tuple, dict, range)):
        meter.spend(16 * len(value))
        return value
    return meter.counted(value, 16) if hasattr(value, "__next__") else value


def _counted(meter: Operators, value: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """For filters that return at once and work while their result is read."""
    for arg in args:
        meter.key(arg)
    return meter.counted(value, 120 + _path(meter, args, kwargs)) if value else value


def _path(meter: Operators, args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
    """Units an item that following an attribute takes, such as "function.name"."""
    parts = [part for part in (*args, *kwargs.values()) if isinstance(part, str)]
    meter.spend(sum(map(len, parts)) >> 5)  # looked through twice
    return 60 * sum(part.count(".") + part.count(",") for part in parts)


def _compared(meter: Operators, value: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """For filters that compare or hash items with one another."""
    value = list(_items(meter, value, args, kwargs)) if hasattr(value, "__next__") else value
    meter.looked_at(value)
    meter.hashed(value)
    if isinstance(value, (str, list, tuple, dict, range)):
        meter.spend((48 + _path(meter, args, kwargs)) * len(value))
        for item in value if isinstance(value, (list, tuple)) else ():
            meter.key(item)
    return value


def _summed(meter: Operators, value: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    value = list(meter.counted(value, 10 + _path(meter, args, kwargs)))
    if any(isinstance(item, (list, tuple, dict)) for item in value):
        meter.spend(len(value) * measure(value))  # each sum of lists copies all before it
    return value


def _joined(meter: Operators, value: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    value = list(meter.counted(value, 10 + _path(meter, (), kwargs)))
    separator = _argument(args, kwargs, 0, "d", "")
    meter.spend(measure(value) + _size(separator) * len(value))
    return value


def _width(meter: Operators, value: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    width = _argument(args, kwargs, 0, "width", 80)
    meter.spend(_size(value) + (width if isinstance(width, int) and width > 0 else 0))
    return value


def _indent(meter: Operators, value: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    width = _argument(args, kwargs, 0, "width", 4)
    wide = len(width) if isinstance(width, str) else width if isinstance(width, int) else 0
    lines = line_ends(value) if isinstance(value, str) else _size(value)
    meter.spend(2 * _size(value) + max(0, wide) * lines + 16 * lines)
    return value


def _wordwrap(meter: Operators, value: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    size, width = _size(value), _argument(args, kwargs, 0, "width", 79)
    wrap = _argument(args, kwargs, 2, "wrapstring", None)
    meter.spend(size * (16 + (len(wrap) if isinstance(wrap, str) else 1)))
    # a long word is cut from the front, and what is left of it copied each time
    meter.spend(size * size // (16 * max(1, width if isinstance(width, int) else 1)))
    return value


def _replace(meter: Operators, value: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    old, new = _argument(args, kwargs, 0, "old", ""), _argument(args, kwargs, 1, "new", "")
    text = value if isinstance(value, str) else str(meter.text(value))
    meter.searched(text, old)
    found = text.count(old) if isinstance(old, str) else len(text)
    meter.spend((len(text) >> 2) + found * 6 * _size(new) if text else 0)
    return value


def _format(meter: Operators, value: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    pattern = meter.text(value)
    meter.check_format(pattern, "%")
    meter.spend(100 + 2 * len(pattern) + pattern.count("%") * sum(map(measure, [*args, *kwargs.values()])))
    return value


def _rows(meter: Operators, value: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    count = _argument(args, kwargs, 0, "linecount", kwargs.get("slices", 0))
    meter.spend(32 * max(0, count if isinstance(count, int) else 0))
    return meter.counted(value, 24)


def _precision(meter: Operators, value: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    precision = _argument(args, kwargs, 0, "precision", 0)
    if isinstance(precision, int) and abs(precision) > 400:
        raise TemplateForbidden("the template rounds to more than 400 digits", kind="limit")
    return value


def _by(price: Price, *names: str) -> dict[str, Callable[..., Any]]:
    return {name: _paid(name, price) for name in names}


@pass_context
def trim(context: Context, value: Any, chars: str | None = None) -> Any:
    """jinja's trim, without the detour for text, which almost every template trims."""
    meter: Operators = context.meter  # type: ignore[attr-defined]
    if type(value) is str and chars is None and meter.scanned(value):
        return value.strip()
    return _soft_trim(context, value, chars)


def _trimming(meter: Operators, value: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    chars = _argument(args, kwargs, 0, "chars", None)
    meter.spend(_size(value) * (4 + (len(chars) if isinstance(chars, str) else 0)) >> 3)
    return value


def _named(meter: Operators, value: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    for name in args:
        meter.looked_at(name)
    return value


_soft_trim = _paid("trim", _trimming)


@pass_context
def tojson(
    context: Context,
    value: Any,
    ensure_ascii: bool = False,
    indent: Any = None,
    separators: Any = None,
    sort_keys: bool = False,
) -> str:
    """JSON without jinja's escapes for HTML, and with json.dumps' layout."""
    meter: Operators = context.meter  # type: ignore[attr-defined]
    meter.spend(2 * measure(value))
    if indent is None and not separators:
        return json.dumps(value, ensure_ascii=ensure_ascii, separators=separators, sort_keys=sort_keys)
    for part in (indent, *(separators or ())):
        if (isinstance(part, str) and len(part) > 64) or (isinstance(part, int) and part > 64):
            raise TemplateForbidden("tojson's indent and separators are at most 64 characters", kind="limit")
    encoder = json.JSONEncoder(
        ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys
    )
    pieces = []
    for piece in encoder.iterencode(value):
        meter.spend(2 + len(piece))
        pieces.append(piece)
    return "".join(pieces)


# constant work, or work that the loop reading their result pays for
_UNPRICED = (
    *("abs", "count", "d", "default"),
    *("first", "items", "length", "random"),
)

FILTERS: dict[str, Callable[..., Any]] = {
    **{name: JINJA_FILTERS[name] for name in _UNPRICED},
    **_by(_formatting, "filesizeformat"),
    **_by(_reading_number, "float", "int"),
    **_by(_as_text, "capitalize", "lower", "string", "truncate", "upper"),
    **_by(_word_by_word, "title", "wordcount"),
    **_by(_escaping, "e", "escape", "forceescape", "safe", "urlencode"),
    **_by(_squared, "pprint", "striptags", "urlize", "xmlattr"),
    **_by(_named, "attr"),
    **_by(_items, "last", "list", "reverse"),
    **_by(_counted, "map", "reject", "rejectattr", "select", "selectattr"),
    **_by(_compared, "dictsort", "groupby", "max", "min", "sort", "unique"),
    **_by(_summed, "sum"),
    **_by(_joined, "join"),
    **_by(_width, "center"),
    **_by(_indent, "indent"),
    **_by(_wordwrap, "wordwrap"),
    **_by(_replace, "replace"),
    **_by(_format, "format"),
    **_by(_rows, "batch", "slice"),
    **_by(_precision, "round"),
    "tojson": tojson,
    "trim": trim,
}


def _comparison(op: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    @pass_context
    def test(context: Context, left: Any, right: Any) -> Any:
        meter: Operators = context.meter  # type: ignore[attr-defined]
        meter.looked_at(left)
        meter.looked_at(right)
        return op(left, right)

    return test


def _of_case(name: str) -> Callable[..., Any]:
    plain: Any = JINJA_TESTS[name]

    @pass_context
    def test(context: Context, value: Any) -> Any:
        context.meter.looked_at(value)  # type: ignore[attr-defined]
        return plain(value)

    return test


@pass_context
def _in(context: Context, value: Any, container: Any) -> bool:
    return context.meter.within(value, container)  # type: ignore[attr-defined, no-any-return]


TESTS: dict[str, Any] = {
    **JINJA_TESTS,
    **{
        name: _comparison(op)
        for op, names in {
            operator.eq: ("==", "eq", "equalto"),
            operator.ne: ("!=", "ne"),
            operator.gt: (">", "gt", "greaterthan"),
            operator.ge: (">=", "ge"),
            operator.lt: ("<", "lt", "lessthan"),
            operator.le: ("<=", "le"),
        }.items()
        for name in names
    },
    "in": _in,
    "lower": _of_case("lower"),
    "upper": _of_case("upper"),
}
