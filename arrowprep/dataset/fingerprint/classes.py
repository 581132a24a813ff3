"""Names of classes, enumerations, modules, and of kinds that say too much or too little of themselves."""

from __future__ import annotations

import collections
import dataclasses
import enum
import pathlib
import re
import types
import weakref
from typing import Any

from arrowprep.dataset.fingerprint.digest import digest, digest_plain
from arrowprep.dataset.fingerprint.functions import is_found_at, shown_name
from arrowprep.dataset.fingerprint.modules import is_own
from arrowprep.dataset.fingerprint.namer import Namer, Rule, late_rules, library_name, rule

# what Python puts into every class: text for people, positions in a file, or its own bookkeeping
_NOT_CONTENT = {
    "__dict__",
    "__weakref__",
    "__doc__",
    "__module__",
    "__qualname__",
    "__annotations__",
    "__annotations_cache__",
    "__annotate__",
    "__annotate_func__",
    "__firstlineno__",
    "__static_attributes__",
    "__orig_bases__",
    "__parameters__",
    "__abstractmethods__",
    "_abc_impl",
    "__dataclass_params__",
}


@rule(type)
def _name_class(namer: Namer, kind: type, place: str) -> bytes:
    if not is_own(kind.__module__) and (_is_static(kind) or is_found_at(kind)):
        return library_name(kind.__module__, kind.__qualname__)
    if issubclass(kind, enum.Enum):
        return _name_enumeration(namer, kind, place)
    shown = shown_name(kind)
    found = [
        namer.name(type(kind), place),
        *(namer.name(base, f"base `{shown_name(base)}` of `{shown}`") for base in kind.__bases__),
        *_attributes(namer, kind, shown, _NOT_CONTENT),
    ]
    return digest("class", found)


def _is_static(kind: type) -> bool:
    """Whether this is part of a compiled module, where its name is all there is to know."""
    heap_type = 1 << 9  # Py_TPFLAGS_HEAPTYPE
    return not kind.__flags__ & heap_type


def _attributes(namer: Namer, kind: type, shown: str, skip: set[str]) -> list[bytes]:
    found = []
    for key in sorted(kind.__dict__):
        if key in skip:
            continue
        value = kind.__dict__[key]
        place = f"method `{key}` of `{shown}`" if callable(value) else f"attribute `{key}` of `{shown}`"
        # a method notes its own code; the line for the method would only repeat it
        name = namer.name if isinstance(value, types.FunctionType) else namer.part
        found += [digest_plain(key), name(value, place)]
    return found


def _name_enumeration(namer: Namer, kind: type[enum.Enum], place: str) -> bytes:
    shown = shown_name(kind)
    found = [*(namer.name(base, place) for base in kind.__bases__)]
    for key, member in kind.__members__.items():  # aliases too
        found += [digest_plain(key), namer.part(member.value, f"member `{key}` of `{shown}`")]
    methods = {
        key: value
        for key, value in kind.__dict__.items()
        if isinstance(value, (types.FunctionType, property))
    }
    for key in sorted(methods):
        if not key.startswith("_"):
            found += [digest_plain(key), namer.name(methods[key], f"method `{key}` of `{shown}`")]
    return digest("enumeration", found)


@rule(enum.Enum)
def _name_member(namer: Namer, member: enum.Enum, place: str) -> bytes:
    return digest("member", [namer.name(type(member), place), digest_plain(member.name)])


@rule(types.ModuleType)
def _name_module(namer: Namer, module: types.ModuleType, place: str) -> bytes:
    """A library is its version; a module of the user's, given as a value, is everything in it."""
    if not is_own(module.__name__):
        return library_name(module.__name__, "")
    found = []
    for key in sorted(vars(module)):
        if not (key.startswith("__") and key.endswith("__")):
            found += [
                digest_plain(key),
                namer.part(vars(module)[key], f"`{key}` of module `{module.__name__}`"),
            ]
    return digest("module", found)


@rule(types.MappingProxyType, weakref.WeakKeyDictionary, weakref.WeakValueDictionary)
def _name_mapping(namer: Namer, mapping: Any, place: str) -> bytes:
    return digest("mapping", namer.mapping(mapping.items(), place))


@rule(collections.ChainMap)
def _name_chain(namer: Namer, chain: Any, place: str) -> bytes:
    return digest("chain of mappings", namer.all(chain.maps, place))


@rule(dataclasses.Field)
def _name_field(namer: Namer, field: Any, place: str) -> bytes:
    # without its type, which is an annotation
    facts = (field.name, field.init, bool(field.repr), field.hash, field.compare, field.kw_only)
    values = (field.default, field.default_factory, dict(field.metadata))
    return digest("field", [digest_plain(facts), *namer.all(values, place)])


@rule(pathlib.PurePath)
def _name_path(namer: Namer, path: pathlib.PurePath, place: str) -> bytes:
    return digest_plain(("path", str(path)))


@rule(re.Pattern)
def _name_pattern(namer: Namer, pattern: Any, place: str) -> bytes:
    return digest_plain(("pattern", pattern.pattern, pattern.flags))


def _name_regex_pattern(namer: Namer, pattern: Any, place: str) -> bytes:
    lists = {key: sorted(values) for key, values in sorted(pattern.named_lists.items())}
    return digest_plain(("regex pattern", pattern.pattern, pattern.flags, lists))


@late_rules
def _find_regex(kind: type) -> Rule | None:
    is_pattern = kind.__name__ == "Pattern" and kind.__module__ in ("_regex", "regex._regex")
    return _name_regex_pattern if is_pattern else None
