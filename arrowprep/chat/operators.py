"""The operators of a template, each of which pays for its result before it makes it.

The compiled template calls these by their short names; see `compiler`.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from typing import Any

from jinja2.runtime import markup_join
from markupsafe import Markup, escape

from arrowprep.chat.meter import MAX_INT_BITS, Meter, measure, mixed, too_large
from arrowprep.errors import TemplateForbidden

__all__ = ["Operators"]

_COMPARE = {
    "eq": operator.eq,
    "ne": operator.ne,
    "gt": operator.gt,
    "gteq": operator.ge,
    "lt": operator.lt,
    "lteq": operator.le,
}
_SMALL_TEXT = 65_536  # characters that may be made first and paid for then
_SHOWN_AS_IS = frozenset({int, float, bool, type(None)})


class Operators(Meter):
    """Operators over one rendering's budget, with Python's results and errors."""

    __slots__ = ()

    def text(self, value: Any) -> str:
        """What `{{ value }}` writes."""
        kind = type(value)
        if kind is str:
            return value  # type: ignore[no-any-return]
        if kind in _SHOWN_AS_IS:
            self.spend(16)
        else:
            self.looked_at(value)
        return str(value)

    def markup(self, value: Any) -> Markup:
        """What `{{ value }}` writes under autoescape."""
        self.spend(2 * measure(value))
        return escape(value)

    def joined(self, parts: Iterable[str]) -> str:
        """Pieces of output as one text: what a macro, a set block or the template itself returns."""
        pieces = parts if isinstance(parts, list) else list(parts)
        if len(pieces) == 1 and type(pieces[0]) is str:
            return pieces[0]
        return self._join(pieces, sum(map(len, pieces)))

    def _join(self, parts: Sequence[str], size: int) -> str:
        if size > _SMALL_TEXT:
            self.spend(mixed(parts))
            return "".join(parts)
        text = "".join(parts)
        self.left -= text.__sizeof__() >> 2
        if self.left < 0:
            self._overdrawn()
        return text

    def glued(self, values: Sequence[Any]) -> str:
        """The `~` operator."""
        return self.joined(map(self.text, values))

    def glued_markup(self, values: Sequence[Any]) -> str:
        """The `~` operator where autoescape is, or may be, on."""
        self.spend(6 * sum(map(measure, values)))
        return markup_join(values)

    def add(self, *parts: Any) -> Any:
        """`a + b + c`: texts are joined at once, anything else is added from the left."""
        size = 0
        for part in parts:
            if type(part) is not str:
                return self._sum(parts)
            size += len(part)
        return self._join(parts, size)

    def _sum(self, parts: tuple[Any, ...]) -> Any:
        total = parts[0]
        for part in parts[1:]:
            if type(total) is str and type(part) is str:
                total = self.add(total, part)
            else:
                if type(total) is not int:
                    self.spend(2 * _length(total) + 2 * _length(part))
                total = self._counted(total + part)
        return total

    def subtract(self, left: Any, right: Any) -> Any:
        if type(left) is not int:
            self.looked_at(left)
            self.looked_at(right)
        return self._counted(left - right)

    def _counted(self, number: Any) -> Any:
        """The same; doubled in a loop, a number would soon take long to add."""
        if type(number) is int:
            self._check_bits(number.bit_length())
        return number

    def multiply(self, left: Any, right: Any) -> Any:
        if isinstance(left, int) and isinstance(right, int):
            self._check_bits(left.bit_length() + right.bit_length())
        elif isinstance(left, int) or isinstance(right, int):
            times, repeated = (left, right) if isinstance(left, int) else (right, left)
            self.spend(8 * max(0, times) * _length(repeated))
        return left * right

    def power(self, left: Any, right: Any) -> Any:
        if isinstance(left, int) and isinstance(right, int) and right > 0:
            self._check_bits(left.bit_length() * right)
        return left**right

    def _check_bits(self, bits: int) -> None:
        if bits > MAX_INT_BITS:
            raise too_large()

    def modulo(self, left: Any, right: Any) -> Any:
        if isinstance(left, (str, bytes)):
            self.check_format(str(left), "%")
            self.spend(len(left) * 2 + (1 + str(left).count("%")) * measure(right))
        return left % right

    def check_format(self, pattern: str, sign: str) -> None:
        """A format may not ask for a width of more than four digits, nor take it from its data."""
        for field in pattern.split(sign)[1:]:
            head = field.partition("}")[0] if sign == "{" else field[:80]
            spec = head if sign == "%" else head.partition(":")[2]
            width = 0
            for char in spec:
                if sign == "%" and char.isalpha():
                    break
                width = width + 1 if char.isdigit() else 0
                if width > 4 or (sign == "%" and char == "*"):
                    raise TemplateForbidden("the template formats to a width without bounds", kind="limit")
        if sign == "{" and _nested(pattern):
            raise TemplateForbidden("the template takes a format's width from its data", kind="limit")

    def compare(self, left: Any, *rest: Any) -> Any:
        """`left op right [op right ...]`; rest holds ops and operands in turn."""
        result: Any = True
        for op, right in zip(rest[::2], rest[1::2], strict=True):
            if op == "in" or op == "notin":
                result = self.within(left, right) is (op == "in")
            else:
                self.looked_at(left)
                self.looked_at(right)
                result = _COMPARE[op](left, right)
            if not result:
                return result
            left = right
        return result

    def within(self, item: Any, container: Any) -> bool:
        """`item in container`."""
        if type(container) is str and type(item) is str:
            self.left -= (len(container) * min(len(item), 128) >> 6) + 4
            if self.left < 0:
                self._overdrawn()
        elif type(container) is dict:
            self.key(item)
        elif isinstance(item, (list, tuple, dict)):
            self.spend(measure(item) * (1 + _length(container)))
            self.looked_at(container)
        else:
            if isinstance(item, str) and isinstance(container, (list, tuple)):
                self.spend(len(item) * len(container) >> 5)  # for texts that differ in their end
            container = self._countable(container)
        return item in container

    def _countable(self, container: Any) -> Any:
        length = _length(container)
        if length or not hasattr(container, "__next__"):
            self.spend(2 * length)
            return container
        return self.counted(container)

    def key(self, value: Any) -> Any:
        """value as a key of a dict; a tuple of tuples could take for ever to hash."""
        if isinstance(value, tuple) and any(isinstance(part, tuple) for part in value):
            raise TemplateForbidden("the template uses a nested tuple as a key", kind="security")
        return value

    def cut(self, value: Any, part: slice) -> Any:
        """`value[start:stop:step]`."""
        if isinstance(value, (str, bytes, list, tuple)):
            kept = len(range(*part.indices(len(value)))) if _whole(part) else 0
            self.spend(kept if isinstance(value, (str, bytes)) else 2 * kept)
        return value[part]


def _length(value: Any) -> int:
    return len(value) if isinstance(value, (str, bytes, list, tuple, dict, range)) else 0


def _whole(part: slice) -> bool:
    return (
        all(isinstance(edge, int) or edge is None for edge in (part.start, part.stop, part.step))
        and part.step != 0
    )


def _nested(pattern: str) -> bool:
    """Whether a replacement field stands inside another, as in "{:{}}"."""
    depth = 0
    for char in pattern.replace("{{", "").replace("}}", ""):
        if char == "{":
            depth += 1
            if depth > 1:
                return True
        elif char == "}":
            depth = 0
    return False
