"""Methods of text, lists and dicts, each paid for before it runs.

Most are as cheap as their owner is long. Those here can make a large result
of little, and say beforehand how large.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from arrowprep.chat.meter import measure
from arrowprep.chat.operators import Operators
from arrowprep.errors import TemplateForbidden

__all__ = ["FORMATS", "call_method", "line_ends"]

FORMATS = frozenset({"format", "format_map"})
_ENCODINGS = frozenset({"utf-8", "utf8", "utf_8", "ascii", "latin-1", "latin1", "iso-8859-1"})

Price = Callable[[Operators, Any, tuple[Any, ...], dict[str, Any]], None]


def call_method(meter: Operators, method: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """method(*args, **kwargs), where method is bound to text or plain data."""
    owner = method.__self__
    if method.__name__ == "join" and args and hasattr(args[0], "__next__"):
        args = (list(meter.counted(args[0])), *args[1:])
    price = _PRICES.get(method.__name__)
    if owner is None or isinstance(owner, type):  # fromkeys, fromhex, maketrans
        for arg in args:
            meter.looked_at(arg)
            meter.hashed(arg)
            meter.spend(len(arg) if isinstance(arg, (str, bytes)) else 0)
    elif price is not None:
        price(meter, owner, args, kwargs)
    elif hasattr(owner, "__len__"):
        meter.spend(len(owner) >> 4)
    for arg in args:
        if isinstance(arg, (list, tuple, dict)):
            meter.looked_at(arg)
            if method.__name__ in ("index", "count"):
                meter.spend(measure(owner) + measure(arg) * (1 + len(owner)))
        elif isinstance(arg, str) and isinstance(owner, (list, tuple)):
            meter.spend(len(arg) * len(owner) >> 5)
    result = method(*args, **kwargs)
    return result if result is owner else meter.made(result)


def _number(args: tuple[Any, ...], place: int = 0, default: int = 0) -> int:
    value = args[place] if len(args) > place else default
    return value if isinstance(value, int) else default


def _width(meter: Operators, owner: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    meter.spend(len(owner) + max(0, _number(args)))


def _expandtabs(meter: Operators, owner: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    size = kwargs.get("tabsize", _number(args, 0, 8))
    meter.spend(len(owner) + owner.count(type(owner)("\t")) * max(0, size if isinstance(size, int) else 0))


def _replace(meter: Operators, owner: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    if len(args) >= 2 and isinstance(args[0], (str, bytes)) and isinstance(args[1], (str, bytes)):
        meter.searched(owner, args[0])
        # escaping may lengthen what goes into Markup
        longest = len(args[1]) if type(owner) is str else 6 * len(args[1]) + 6
        found = owner.count(args[0])
        meter.spend((len(owner) >> 2) + found * longest)


def _join(meter: Operators, owner: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    if not args:
        return
    parts = args[0]
    if isinstance(parts, (list, tuple, dict, str)):
        total = sum(len(part) for part in parts if isinstance(part, (str, bytes)))
        meter.spend((total + len(owner) * len(parts)) * (1 if type(owner) is str else 6))


def _translate(meter: Operators, owner: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    table = args[0] if args else None
    longest = 1
    if isinstance(table, dict):
        longest = max((len(to) for to in table.values() if isinstance(to, str)), default=1)
    elif isinstance(table, (list, tuple)):
        longest = max((len(to) for to in table if isinstance(to, str)), default=1)
    meter.spend(len(owner) * max(1, longest))


def _split(meter: Operators, owner: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    by = kwargs.get("sep", args[0] if args else None)
    if isinstance(by, str) and by:
        _searching_backwards(meter, owner, (by,), kwargs)
        pieces = owner.count(by) + 1
    else:
        pieces = len(owner) // 2 + 1
    limit = kwargs.get("maxsplit", _number(args, 1, -1))
    if isinstance(limit, int) and limit >= 0:
        pieces = min(pieces, limit + 1)
    meter.spend((len(owner) >> 2) + 16 * pieces)


def _splitlines(meter: Operators, owner: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    meter.spend(16 * len(owner) if len(owner) < 1024 else (len(owner) >> 2) + 16 * line_ends(owner))


def line_ends(owner: Any) -> int:
    """At most how many lines splitlines makes."""
    return sum(int(owner.count(end)) for end in "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029") + 1


def _format(meter: Operators, owner: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    meter.check_format(str(owner), "{")
    largest = max(map(measure, [*args, *kwargs.values()]), default=0)
    steps = owner.count(".") + owner.count("[")  # each looks an attribute or an item up, as the sandbox does
    meter.spend(2 * len(owner) + owner.count("{") * largest + 60 * steps)


def _encode(meter: Operators, owner: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    encoding = kwargs.get("encoding", args[0] if args else "utf-8")
    if str(encoding).lower() not in _ENCODINGS:
        raise TemplateForbidden(
            f"a template may encode to UTF-8, ASCII or Latin-1, not {encoding}", kind="security"
        )
    if kwargs.get("errors", args[1] if len(args) > 1 else "strict") not in ("strict", "ignore", "replace"):
        raise TemplateForbidden(
            "a template may encode with errors strict, ignore or replace", kind="security"
        )
    meter.spend(len(owner))


def _searching(meter: Operators, owner: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    if isinstance(owner, (str, bytes)):
        meter.searched(owner, args[0] if args else "")
    else:
        meter.spend(2 * len(owner))


def _searching_backwards(meter: Operators, owner: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Backwards Python tries every place, whatever the length."""
    length = len(args[0]) if args and isinstance(args[0], (str, bytes)) else 1
    meter.spend(len(owner) * (length + 3) >> 6)


def _stripping(meter: Operators, owner: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    _searching_backwards(meter, owner, args, kwargs)
    meter.spend(len(owner) >> 2)


def _to_bytes(meter: Operators, owner: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    length = kwargs.get("length", _number(args, 0, 1))
    meter.spend(max(0, length if isinstance(length, int) else 0))


def _squared(meter: Operators, owner: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    meter.spend(len(owner) + len(owner) ** 2 // 64)


def _copied(meter: Operators, owner: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    meter.spend(len(owner) >> 2)


_PRICES: dict[str, Price] = {
    "center": _width,
    "ljust": _width,
    "rjust": _width,
    "zfill": _width,
    "expandtabs": _expandtabs,
    "replace": _replace,
    "join": _join,
    "translate": _translate,
    "split": _split,
    "rsplit": _split,
    "splitlines": _splitlines,
    "find": _searching,
    "index": _searching,
    "count": _searching,
    "partition": _searching,
    "rfind": _searching_backwards,
    "rindex": _searching_backwards,
    "rpartition": _searching_backwards,
    "strip": _stripping,
    "lstrip": _stripping,
    "rstrip": _stripping,
    "format": _format,
    "format_map": _format,
    "encode": _encode,
    "decode": _encode,
    "to_bytes": _to_bytes,
    "striptags": _squared,
    "unescape": _squared,
    # case may widen or lengthen each character
    "casefold": _copied,
    "lower": _copied,
    "swapcase": _copied,
    "title": _copied,
    "upper": _copied,
}
