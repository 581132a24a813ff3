"""The walk that names any object: by what it holds and what it reads, never by where it lives.

A name is a hash of the names of parts. Plain data are hashed in bulk, known kinds by a rule from the
tables of the sibling modules, and everything else by what its own `__reduce_ex__` says of it. An object
that is met again inside of itself is named by how far up it stands.
"""

from __future__ import annotations

import copyreg
import sys
from collections.abc import Callable, Iterable
from typing import Any

from arrowprep.dataset.fingerprint.digest import (
    digest,
    digest_bytes,
    digest_plain,
    digest_plain_set,
    is_plain,
)
from arrowprep.dataset.fingerprint.modules import library_version, root_of
from arrowprep.errors import Unnameable

Rule = Callable[["Namer", Any, str], bytes]
_SHORT = 80  # characters of a value that are shown instead of its hash

_RULES: dict[type, Rule] = {}
_LATE_RULES: list[Callable[[type], Rule | None]] = []
_found: dict[type, Rule] = {}


def rule(*kinds: type) -> Callable[[Rule], Rule]:
    """Name objects of these types, and of types derived from them, by the decorated function."""

    def register(function: Rule) -> Rule:
        _RULES.update(dict.fromkeys(kinds, function))
        return function

    return register


def late_rules(find: Callable[[type], Rule | None]) -> None:
    """Ask `find` for types without a rule: for libraries that may not be imported to look at a type."""
    _LATE_RULES.append(find)


def _rule_for(kind: type) -> Rule:
    if kind not in _found:
        _found[kind] = _look_up(kind)
    return _found[kind]


def _look_up(kind: type) -> Rule:
    for find in _LATE_RULES:
        if late := find(kind):
            return late
    for base in kind.__mro__:
        if base in _RULES:
            # a subclass of list may hold more than its items, and its __reduce_ex__ knows
            return _name_by_reduction if base in _CONTAINERS and base is not kind else _RULES[base]
    return _name_by_reduction


class Namer:
    """One walk. `parts`, where given, collects what the name is made of: {place: hash or short repr}."""

    def __init__(self, parts: dict[str, str] | None = None) -> None:
        self._parts = parts
        self._names: dict[int, bytes] = {}
        self._kept: list[Any] = []  # keeps alive what `_names` knows by id
        self._composed: set[bytes] = set()  # names whose parts are written down already
        self._open: dict[int, int] = {}  # id -> depth, of what is being named

    def name(self, value: Any, place: str) -> bytes:
        """16 bytes that are this value's name; `place` says how it was reached. Raises Unnameable."""
        if is_plain(value):
            return digest_plain(value)
        key = id(value)
        if key in self._names:
            return self._names[key]
        if key in self._open:
            found = digest_plain(("again", len(self._open) - self._open[key]))
            self._composed.add(found)
            return found
        self._open[key] = len(self._open)
        try:
            found = self._given_name(value, place) or _rule_for(type(value))(self, value, place)
        except RecursionError:
            raise unnameable(value, place, "it is nested too deeply") from None
        finally:
            del self._open[key]
        self._names[key] = found
        self._kept.append(value)
        return found

    def part(self, value: Any, place: str) -> bytes:
        """Name a part that a person would speak of, and write it down unless smaller ones were."""
        if self._parts is None:
            return self.name(value, place)
        before = len(self._parts)
        found = self.name(value, place)
        if len(self._parts) > before:
            self._composed.add(found)
        if found not in self._composed:
            self.note(place, found, value)
        return found

    def note(self, place: str, found: bytes, value: Any = None) -> None:
        """Write down one part; a place that is taken by something else gets a number."""
        if self._parts is None:
            return
        text = _short(value) or found.hex()
        label, count = place, 1
        while self._parts.get(label, text) != text:
            count += 1
            label = f"{place} ({count})"
        self._parts[label] = text

    def all(self, values: Iterable[Any], place: str) -> list[bytes]:
        """Names of values in order."""
        return [self.name(value, f"{place}, item {at}") for at, value in enumerate(values)]

    def apart(self, value: Any, place: str) -> bytes:
        """A name that no sibling influences: for members of a set, which come in any order."""
        kept = len(self._kept)
        found = self.name(value, place)
        for other in self._kept[kept:]:
            del self._names[id(other)]
        del self._kept[kept:]
        return found

    def mapping(self, items: Iterable[tuple[Any, Any]], place: str) -> list[bytes]:
        """Names of keys and values in turn."""
        found = []
        for key, value in items:
            found.append(self.name(key, f"{place}, a key"))
            found.append(self.name(value, f"{place}, key {key!r}" if is_plain(key) else f"{place}, a value"))
        return found

    def _given_name(self, value: Any, place: str) -> bytes | None:
        """By its `fingerprint` attribute; classes, and data that may hold a field of that name, have none.

        What that is made of, a mapping `fingerprint_parts` may tell.
        """
        kind = type(value)
        if kind in _NEVER_GIVEN or isinstance(value, (type, tuple, list, dict, type(sys))):
            return None
        if root_of(kind) in ("numpy", "pandas", "pyarrow", "torch", "polars"):
            return None
        try:
            given = getattr(value, "fingerprint", None)
        except Exception:  # a property or __getattr__ of the user's; it has no name to give
            return None
        if type(given) is not str:
            return None
        if self._parts is not None:
            for name, part in (getattr(value, "fingerprint_parts", None) or {}).items():
                said = repr(part)
                said = said if len(said) <= _SHORT else digest_plain(said).hex()
                self._parts[f"`{name}` of {place}"] = said
        return digest_plain(("given", kind.__module__, kind.__qualname__, given))


def unnameable(value: Any, place: str, why: str) -> Unnameable:
    """The error for what has no name; says which object, reached how, and what to do."""
    kind = f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")
    if len(place) > 3 * _SHORT:
        place = f"{place[:_SHORT]} ... {place[-_SHORT:]}"
    remedy = (
        "create it inside of the function, give its object a `fingerprint` attribute (a str that names its "
        "content), or pass new_fingerprint="
    )
    return Unnameable(
        f"{place} is a {kind}, which cannot be named by its content: {why}; {remedy}",
        path=place,
        object_type=kind,
        remedy=remedy,
    )


def library_name(module: str, path: str) -> bytes:
    """The name of something in a library: where it is, and the version that provides it."""
    return digest_plain(("library", module, path, library_version(module.partition(".")[0])))


def _short(value: Any) -> str | None:
    if value is None or not is_plain(value):
        return None
    if isinstance(value, (str, bytes, list, tuple, dict)) and len(value) > _SHORT:
        return None
    text = repr(value)
    return text if len(text) <= _SHORT else None


def _name_by_reduction(namer: Namer, value: Any, place: str) -> bytes:
    """As pickle would write it: how it is built, from what, and its state."""
    kind = type(value)
    try:
        reduce = copyreg.dispatch_table.get(kind)
        reduced = reduce(value) if reduce else value.__reduce_ex__(2)
    except Exception as error:  # whatever the object raises means that it does not want to be written
        raise unnameable(value, place, str(error) or type(error).__name__) from error
    if isinstance(reduced, str):
        # a global; its class says where
        module = getattr(value, "__module__", None) or kind.__module__
        return library_name(module, reduced)
    build, arguments, *rest = reduced
    state, items, pairs = ([*rest, None, None, None])[:3]
    found = [namer.name(build, place), *namer.all(arguments, place), _state(namer, state, place)]
    found += namer.all(items, place) if items is not None else ()
    found.append(digest_plain(len(found)))
    found += namer.mapping(pairs, place) if pairs is not None else ()
    return digest("reduced", found)


def _state(namer: Namer, state: Any, place: str) -> bytes:
    if type(state) is tuple and len(state) == 2 and all(type(it) in (dict, type(None)) for it in state):
        return digest("slots", [_state(namer, half, place) for half in state])
    if type(state) is not dict or not all(type(key) is str for key in state):
        return namer.name(state, place)
    # the order in which attributes were set says nothing
    found = []
    for key in sorted(state):
        found += [digest_plain(key), namer.part(state[key], f"attribute `{key}` of {place}")]
    return digest("attributes", found)


@rule(list, tuple)
def _name_sequence(namer: Namer, value: Any, place: str) -> bytes:
    return digest(type(value).__name__, namer.all(value, place))


@rule(dict)
def _name_dict(namer: Namer, value: Any, place: str) -> bytes:
    return digest("dict", namer.mapping(value.items(), place))


@rule(set, frozenset)
def _name_set(namer: Namer, value: Any, place: str) -> bytes:
    members = list(value)
    if is_plain(members):
        return digest(type(value).__name__, [digest_plain_set(members)])
    return digest(
        type(value).__name__, sorted(namer.apart(member, f"a member of {place}") for member in members)
    )


@rule(memoryview, bytearray)
def _name_buffer(namer: Namer, value: Any, place: str) -> bytes:
    view = memoryview(value)
    shape = (type(value).__name__, view.format, view.shape)
    return digest("buffer", [digest_plain(shape), digest_bytes("buffer", view.tobytes())])


_CONTAINERS = {list, tuple, dict, set, frozenset, bytearray}
_NEVER_GIVEN = {list, tuple, dict, set, frozenset, bytearray, memoryview}
