"""What a template may use up: one budget for its steps, its calls and the text it makes.

A chat template comes with a model file, written by nobody we know. The sandbox
keeps it from reaching objects, and this budget from working without end: every
turn of a loop, call, and operation whose cost depends on its operands pays
here, before it runs. So no single operation is large, and all together are
bounded, without a clock: the same template and data always end the same way.

One unit is about 50 ns of work, or 4 bytes of text or list made.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import Any
from weakref import WeakKeyDictionary

from jinja2.utils import Namespace

from arrowprep.errors import TemplateForbidden

__all__ = ["Meter", "measure", "too_large"]

# A megabyte of chat gets 22 million: about a second, and less than 90 MB. Real templates use
# 2,000 to 60,000 units on chats of a few messages.
BASE_WORK = 7_000_000
WORK_PER_CHARACTER = 12
MAX_DEPTH = 60  # calls of macros and loops inside one another; each takes about seven Python frames
MAX_INT_BITS = 4096
_HASH_MODULUS = sys.hash_info.modulus  # a number below it is its own hash

_SMALL = frozenset({int, float, bool, type(None)})
_VIEWS: tuple[type, ...] = (type({}.keys()), type({}.values()), type({}.items()))
_CONTAINERS = (
    dict,
    list,
    tuple,
    set,
    frozenset,
    *_VIEWS,
    Namespace,
)  # no ABC: asking them takes a microsecond


class Meter:
    """The budget of one rendering.

    data: what the template is given; where the base is used up, its size is found and adds to the budget
    """

    __slots__ = ("_chains", "_data", "_granted", "depth", "left")

    def __init__(self, data: Any) -> None:
        self.left = self._granted = BASE_WORK
        self.depth = 0
        self._data = data
        self._chains: WeakKeyDictionary[Any, int] | None = None

    @property
    def spent(self) -> int:
        """Units so far."""
        return self._granted - self.left

    def spend(self, units: int) -> None:
        """Raises TemplateForbidden (kind "limit") when the budget does not last."""
        self.left -= units
        if self.left < 0:
            self._overdrawn()

    def _overdrawn(self) -> None:
        if self._data is not None:
            more = WORK_PER_CHARACTER * measure(self._data)
            self.left, self._granted = self.left + more, self._granted + more
            self._data = None
            if self.left >= 0:
                return
        raise TemplateForbidden(
            "the template does far more work than a chat of this size needs, and was stopped", kind="limit"
        )

    def made(self, value: Any) -> Any:
        """value, paid for by its size; nested parts are not counted again."""
        kind = type(value)
        if kind is str:
            self.spend(value.__sizeof__() >> 2)
        elif kind is int:
            if value.bit_length() > MAX_INT_BITS:
                raise too_large()
        elif isinstance(value, str):
            self.spend(2 * len(value))
        elif kind is list or kind is tuple or kind is dict or kind is set:
            self.spend(24 * len(value))
        return value

    def looked_at(self, value: Any) -> None:
        """Pays for an operation that goes through all of value: its parts, theirs, and so on."""
        kind = type(value)
        if kind in _SMALL:
            return
        if isinstance(value, str):
            self.spend(len(value) >> 3)
        elif isinstance(value, _CONTAINERS):
            self.spend(measure(value))
        elif kind is range:
            self.spend(2 * len(value))

    def searched(self, text: Any, wanted: Any) -> None:
        """Pays for looking for wanted in text; where both repeat themselves, every place takes its length."""
        length = len(wanted) if isinstance(wanted, (str, bytes)) else 1
        self.spend((len(text) * min(length, 128) >> 6) + length)

    def scanned(self, text: str) -> bool:
        """Pays for a method that reads text once and returns at most a copy. True, for use in a test."""
        self.left -= 12 + (len(text) >> 2)
        if self.left < 0:
            self._overdrawn()
        return True

    def counted(self, items: Iterable[Any], units: int = 10) -> Iterator[Any]:
        """items, each paid for when it is taken."""
        for item in items:
            self.spend(units)
            yield item

    def chained(self, made: Any, given: Any) -> Any:
        """made, which reads the iterator given while it is read; long chains would break Python's stack."""
        if not hasattr(given, "__next__"):
            return made
        self._chains = WeakKeyDictionary() if self._chains is None else self._chains
        self._chains[made] = length = self._chains.get(given, 0) + 1
        if length > MAX_DEPTH:
            raise TemplateForbidden(
                f"the template chains more than {MAX_DEPTH} filters that read one another", kind="limit"
            )
        return made

    def hashed(self, items: Any) -> None:
        """Pays for items that become keys: of large numbers many may have one hash, which is squared work."""
        if isinstance(items, (list, tuple, range)):
            large = sum(type(item) in (int, float) and abs(item) >= _HASH_MODULUS for item in items)
            self.spend(large * large >> 3)

    def enter(self) -> None:
        """One call deeper; the caller takes it back from `depth`."""
        self.depth += 1
        self.spend(110)
        if self.depth > MAX_DEPTH:
            raise TemplateForbidden(
                f"macros or loops of the template call one another more than {MAX_DEPTH} deep", kind="limit"
            )


def too_large() -> TemplateForbidden:
    """The error for a number with more digits than a template may work with."""
    return TemplateForbidden(f"the template makes a number of more than {MAX_INT_BITS} bits", kind="limit")


def measure(value: Any, _seen: dict[int, int] | None = None) -> int:
    """Characters that value would take written out, about; a part counts as often as it occurs.

    Linear in the distinct parts, though lists of shared lists write out to
    sizes exponential in their depth.
    """
    if isinstance(value, str):
        return len(value) + 4
    if type(value) in _SMALL or not isinstance(value, _CONTAINERS):
        return 16
    seen = {} if _seen is None else _seen
    known = seen.get(id(value))
    if known is None:
        known = 16 + sum(measure(part, seen) for part in _parts(value))
        seen[id(value)] = known
    return known


def _parts(value: Any) -> Iterable[Any]:
    if isinstance(value, Namespace):
        value = object.__getattribute__(value, "_Namespace__attrs")
    if isinstance(value, dict):
        return [*value.keys(), *value.values()]
    parts: Iterable[Any] = value
    return parts


def mixed(texts: Iterable[str]) -> int:
    """Units that joining texts takes: a wide character anywhere widens all others, up to four times."""
    size, narrow, wide = 0, False, False
    for text in texts:
        size += len(text)
        if text.isascii():
            narrow = True
        else:
            wide = True
            size += text.__sizeof__() - len(text)
    return size if narrow and wide else size >> 2
