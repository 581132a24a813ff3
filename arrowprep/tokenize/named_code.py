"""What an object of a user's own class does, as JSON: its code, and the values that its code reads."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from types import (
    BuiltinFunctionType,
    CodeType,
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    ModuleType,
)
from typing import Any

from arrowprep.errors import Unnameable

_PLAIN = (type(None), bool, int, float, complex, str, bytes, type(Ellipsis))
_SLOTS = (GetSetDescriptorType, MemberDescriptorType)


def class_name(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"


def content_of(value: Any) -> Any:
    """Lists and texts that are equal, in any process of the same Python, where `value` means the same.

    By an object's `fingerprint`, a text, where it has one; else by what pickle would
    keep of it and by the code of its class, with what that code reads of its module.
    A class is named by its code alone. Modules, and what libraries define that the
    code reads, are taken by their names.

    Raises Unnameable for what can be neither read nor pickled.
    """
    if isinstance(value, type):
        return _Reader().whole_class(value, "it")
    return _Reader().read(value, "it")


class _Reader:
    """Reads values; where one that can hold itself comes again, its number stands for it."""

    def __init__(self) -> None:
        self._seen: dict[int, int] = {}
        self._kept: list[Any] = []  # an id is an object's own only as long as the object lives

    def read(self, value: Any, place: str) -> Any:
        if isinstance(value, _PLAIN):
            return repr(value)
        if isinstance(value, (tuple, frozenset)) and type(value) in (tuple, frozenset):
            # equal constants may be one object or two, as the compiler likes: never by number
            items = [self.read(item, f"an item of {place}") for item in value]
            return ["tuple", items] if isinstance(value, tuple) else ["set", sorted(map(repr, items))]
        if isinstance(value, re.Pattern):
            return ["re", repr(value.pattern), value.flags]
        if isinstance(value, ModuleType):
            return ["module", value.__name__]
        if id(value) in self._seen:
            return ["seen", self._seen[id(value)]]
        self._seen[id(value)] = len(self._seen)
        self._kept.append(value)
        return self._read_once(value, place)

    def _read_once(self, value: Any, place: str) -> Any:
        if type(value) is list:
            return ["list", [self.read(item, f"{place}[{i}]") for i, item in enumerate(value)]]
        if type(value) is set:
            return ["set", sorted(repr(self.read(item, f"an item of {place}")) for item in value)]
        if type(value) is dict:
            return ["dict", self._pairs(value, place)]
        if isinstance(value, (type, FunctionType, BuiltinFunctionType)) and _in_library(value.__module__):
            return ["name", value.__module__, value.__qualname__]
        if isinstance(value, type):
            return self.whole_class(value, place)
        if isinstance(value, FunctionType):
            return self._function(value, place)
        if hasattr(value, "__func__"):  # a method: bound, of the class, or static
            return [self.read(value.__func__, place), self.read(getattr(value, "__self__", None), place)]
        return self._object(value, place)

    def _pairs(self, value: Mapping[Any, Any], place: str) -> list[Any]:
        return [[self.read(key, place), self.read(one, f"{place}[{key!r}]")] for key, one in value.items()]

    def _object(self, value: Any, place: str) -> Any:
        cls = type(value)
        given = getattr(value, "fingerprint", None)
        if isinstance(given, str):
            return [class_name(cls), given]
        try:
            reduced = value.__reduce_ex__(4)
        except Exception as error:
            raise Unnameable(
                f"{place} is a {class_name(cls)}, which cannot be named by its content: {error};"
                " give its object a `fingerprint` attribute, a str that names it",
                path=place,
                object_type=class_name(cls),
            ) from error
        if isinstance(reduced, str):
            return ["name", reduced]
        made_by, args, state, items, pairs = (*reduced, None, None, None)[:5]
        if isinstance(state, dict):
            state = dict(sorted(state.items(), key=repr))
        parts = [made_by, args, state, list(items or ()), dict(pairs or ())]
        code = self.whole_class(cls, place) if place == "it" else self.read(cls, place)
        return [code, *(self.read(part, place) for part in parts)]

    def whole_class(self, cls: type, place: str) -> Any:
        """A class by its name, and by what it and those that it inherits from define, but for ours."""
        content: list[Any] = [class_name(cls)]
        for base in cls.__mro__:
            if _is_standard(base.__module__):
                continue
            for name, member in sorted(vars(base).items()):
                member = getattr(member, "fget", None) or getattr(member, "func", None) or member
                is_method = isinstance(member, FunctionType) or hasattr(member, "__func__")
                if is_method or not (name.startswith(("__", "_abc_")) or isinstance(member, _SLOTS)):
                    content.append([name, self.read(member, f"{place}.{name}")])
        return content

    def _function(self, function: FunctionType, place: str) -> Any:
        captured = [cell.cell_contents for cell in function.__closure__ or ()]
        given = [captured, function.__defaults__, function.__kwdefaults__]
        names = sorted(_names(function.__code__) & function.__globals__.keys())
        read = [
            [name, self.read(function.__globals__[name], f"{name}, which {function.__qualname__} reads")]
            for name in names
            if not name.startswith("__")
        ]
        return [self._code(function.__code__), [self.read(one, place) for one in given], read]

    def _code(self, code: CodeType) -> Any:
        constants = [
            self._code(one) if isinstance(one, CodeType) else self.read(one, "a constant")
            for one in code.co_consts
        ]
        return [code.co_code.hex(), code.co_names, constants]


def _names(code: CodeType) -> set[str]:
    """The names that code, and code within it, may read from its module."""
    inner = (one for one in code.co_consts if isinstance(one, CodeType))
    return {*code.co_names, *(name for one in inner for name in _names(one))}


def _is_standard(module: str | None) -> bool:
    root = (module or "builtins").partition(".")[0]
    return root == "arrowprep" or root in sys.stdlib_module_names


def _in_library(module: str | None) -> bool:
    root = (module or "builtins").partition(".")[0]
    file = getattr(sys.modules.get(root), "__file__", None) or ""
    return _is_standard(module) or "site-packages" in file or "dist-packages" in file
