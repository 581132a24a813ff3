"""Component: a part of a pipeline; its options are attributes, and it knows its JSON."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, ClassVar, TypeVar

from arrowprep.errors import BadTokenizerFile, UnsupportedComponent
from arrowprep.tokenize.options import checked

C = TypeVar("C", bound="Component")
T = TypeVar("T")
_REQUIRED: Any = object()
_stamps = itertools.count(1)
_latest = [0]


def latest_stamp() -> int:
    """The same as long as no component, of whatever tokenizer, has been set."""
    return _latest[0]


def _new_stamp() -> int:
    stamp = _latest[0] = next(_stamps)
    return stamp


class Component:
    """Options in public attributes, which may be set at any time.

    Each change gives the component a new stamp: whoever has derived something from
    it (a compiled pattern, an engine, a fingerprint) compares stamps to see whether
    that still holds. `cached_property` values of the component itself are dropped.
    """

    kind: ClassVar[str]
    legacy: ClassVar[tuple[str, ...]] = ()  # options of old files that have no effect
    _derived: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        names = {name for base in cls.__mro__ for name, value in vars(base).items() if _is_cached(value)}
        cls._derived = tuple(sorted(names))

    def __setattr__(self, name: str, value: Any) -> None:
        value = checked(self, name, value)
        state = self.__dict__
        for derived in self._derived:
            state.pop(derived, None)
        state[name] = value
        state["_stamp"] = _new_stamp()

    def __bool__(self) -> bool:
        return True  # also a sequence of no parts is there

    @property
    def parts(self) -> tuple[Component, ...]:
        """What this component is made of; empty but for sequences."""
        return ()

    def stamps(self) -> tuple[int, ...]:
        """Of this component and of all its parts: equal as long as nothing was set."""
        own: int = self.__dict__.get("_stamp", 0)
        return (own, *(stamp for part in self.parts for stamp in part.stamps()))

    def snapshot(self: C) -> C:
        """A copy that later changes of this one do not reach."""
        twin = object.__new__(type(self))
        twin.__setstate__(self.__getstate__())
        return twin

    @classmethod
    def from_json(cls: type[C], spec: Spec) -> C:
        """Build one from its part of a tokenizer.json."""
        raise NotImplementedError

    def to_json(self) -> dict[str, Any]:
        """Its part of a tokenizer.json, in the order of keys that is usual there."""
        return {"type": self.kind}

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in self.__dict__.items() if k not in self._derived and k != "_stamp"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__dict__["_stamp"] = _new_stamp()

    def __repr__(self) -> str:
        options = ((k, v) for k, v in self.__getstate__().items() if not k.startswith("_"))
        return f"{type(self).__name__}({', '.join(f'{k}={_short(v)}' for k, v in options)})"


def _is_cached(value: object) -> bool:
    return isinstance(value, cached_property)


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:76]}...{text[-1]}"


class Spec:
    """A JSON object of a tokenizer file, read key by key.

    place: where in the file it stands, for messages: `pre_tokenizer.pretokenizers[0]`
    """

    def __init__(self, value: object, place: str) -> None:
        if not isinstance(value, dict):
            raise BadTokenizerFile(f"{place} is {_json_name(value)}, not an object", place=place)
        self.value: dict[str, Any] = value
        self.place = place
        self._read = {"type"}

    def bad(self, problem: str) -> BadTokenizerFile:
        """The error that says what is wrong here."""
        return BadTokenizerFile(f"{self.place}: {problem}", place=self.place)

    def get(self, key: str, kinds: type | tuple[type, ...], default: Any = _REQUIRED) -> Any:
        """The value of `key`, which must be of one of `kinds`; None in the file is None in `kinds`."""
        self._read.add(key)
        if key not in self.value:
            if default is _REQUIRED:
                raise self.bad(f"{key!r} is missing")
            return default
        value = self.value[key]
        wanted = kinds if isinstance(kinds, tuple) else (kinds,)
        if not isinstance(value, wanted) or (isinstance(value, bool) and bool not in wanted):
            names = " or ".join(_TYPE_NAMES.get(kind, kind.__name__) for kind in wanted)
            raise BadTokenizerFile(
                f"{self.place}.{key} is {_json_name(value)}, not {names}", place=f"{self.place}.{key}"
            )
        return value

    def flag(self, key: str, default: Any = _REQUIRED) -> bool:
        value: bool = self.get(key, bool, default)
        return value

    def text(self, key: str, default: Any = _REQUIRED) -> str:
        value: str = self.get(key, str, default)
        try:
            (value or "").encode()
        except UnicodeEncodeError as error:
            raise self.bad(f"{key!r} has half of a surrogate pair") from error
        return value

    def count(self, key: str, default: Any = _REQUIRED) -> int:
        """A number that is not negative."""
        value: int = self.get(key, int, default)
        if value < 0:
            raise self.bad(f"{key!r} is negative: {value}")
        return value

    def choice(self, key: str, known: dict[str, T], default: Any = _REQUIRED) -> T:
        """What `known` has for the text at `key`."""
        name = self.text(key, default)
        if name not in known:
            raise self.bad(f"{key!r} is {name!r}, which is none of {', '.join(known)}")
        return known[name]

    def objects(self, key: str) -> list[Spec]:
        """The objects in the list at `key`."""
        items = self.get(key, list)
        return [Spec(item, f"{self.place}.{key}[{i}]") for i, item in enumerate(items)]

    def child(self, key: str) -> Spec:
        self._read.add(key)
        return Spec(self.value.get(key), f"{self.place}.{key}")

    def finish(self, ignored: Sequence[str] = ()) -> None:
        """Refuse what nobody asked for: an option that is not understood must not be ignored."""
        unknown = set(self.value) - self._read - set(ignored)
        if unknown:
            name = min(unknown)
            raise UnsupportedComponent(
                f"{self.place} has an option {name!r}, which is not supported",
                component=name,
                place=self.place,
            )


_TYPE_NAMES: dict[type, str] = {
    dict: "an object",
    list: "a list",
    str: "a text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    type(None): "null",
}


def _json_name(value: object) -> str:
    if isinstance(value, (bool, int, float)):
        return repr(value).lower()
    return _TYPE_NAMES.get(type(value), type(value).__name__)


def reader(family: str, base: type[C], classes: Sequence[type[C]]) -> Callable[[Spec], C]:
    """A function that builds whichever of `classes`, all of them a `base`, an object's "type" names.

    It raises UnsupportedComponent for a name that is not among them.
    """
    by_kind = {cls.kind: cls for cls in classes}

    def read(spec: Spec) -> C:
        # "type" is what other libraries read; "arrowprep" a class of ours that they do not have
        kind = spec.text("arrowprep", None) or spec.text("type")
        if kind not in by_kind:
            raise UnsupportedComponent(
                f"{spec.place} is a {family} {kind!r}, which is unsupported; there are {', '.join(by_kind)}",
                component=kind,
                place=spec.place,
            )
        component = by_kind[kind].from_json(spec)
        spec.finish(by_kind[kind].legacy)
        return component

    return read
