"""Options: a value that is set on a component or a trainer is of the type that its initializer says."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from operator import index
from typing import Any

from arrowprep.errors import BadArgument, WrongType

# by how they are written in signatures; what is written otherwise is checked where it is used
TYPES: Mapping[str, type] = {"bool": bool, "str": str, "int": int, "float": float, "None": type(None)}
ALSO: Mapping[type, tuple[type, ...]] = {float: (int,)}


@cache
def option_types(cls: type) -> dict[str, tuple[type, ...]]:
    """The options of a class that take texts, numbers or switches, and which of these."""
    found = {}
    # not by inspect.signature, which takes as long as all else of a small tokenizer's load
    for name, annotation in getattr(cls.__init__, "__annotations__", {}).items():  # type: ignore[misc]
        if name != "return" and (kinds := _kinds(str(annotation))):
            found[name] = kinds
    return found


@cache
def _kinds(written: str) -> tuple[type, ...]:
    """What an annotation names; nothing where it names more than texts, numbers and switches."""
    names = written.split(" | ")
    if not TYPES.keys() >= set(names):
        return ()
    return tuple(kind for name in names for kind in (TYPES[name], *ALSO.get(TYPES[name], ())))


def checked(owner: object, name: str, value: Any) -> Any:
    """A value for an option; whole numbers of other libraries become Python's.

    Raises WrongType for one of another type, and BadArgument for a negative whole
    number: all of them are counts or ids.
    """
    kinds = option_types(type(owner)).get(name)  # type: ignore[arg-type]
    if kinds is None:
        return value
    if int in kinds and not isinstance(value, (int, float)) and hasattr(value, "__index__"):
        value = index(value)
    if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
        said = " or ".join("None" if kind is type(None) else kind.__name__ for kind in kinds)
        raise WrongType(
            f"{type(owner).__name__}: {name} takes {said}, not {type(value).__name__} {value!r}",
            argument=name,
            given=type(value).__name__,
        )
    if float not in kinds and isinstance(value, int) and value < 0:
        raise BadArgument(f"{type(owner).__name__}: {name} cannot be negative: {value}", argument=name)
    return value
