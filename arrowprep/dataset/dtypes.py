"""Names of Arrow types as users write them: `int64`, `timestamp[us, tz=UTC]`, `decimal128(10, 2)`."""

from __future__ import annotations

import re

import pyarrow as pa

from arrowprep.errors import BadArgument

_PLAIN: dict[str, pa.DataType] = {
    "null": pa.null(),
    "bool": pa.bool_(),
    **{
        f"{sign}int{bits}": getattr(pa, f"{sign}int{bits}")()
        for sign in ("", "u")
        for bits in (8, 16, 32, 64)
    },
    "float16": pa.float16(),
    "float32": pa.float32(),
    "float64": pa.float64(),
    "date32": pa.date32(),
    "date64": pa.date64(),
    "string": pa.string(),
    "large_string": pa.large_string(),
    "string_view": pa.string_view(),
    "binary": pa.binary(),
    "large_binary": pa.large_binary(),
    "binary_view": pa.binary_view(),
}
# other spellings that the ecosystem accepts, with the one that is kept
_ALIASES = {
    "bool_": "bool",
    "float": "float32",
    "double": "float64",
    "halffloat": "float16",
    "utf8": "string",
    "large_utf8": "large_string",
    "date32[day]": "date32",
    "date64[ms]": "date64",
}
_TIME = r"(time32|time64|duration|timestamp)\[(s|ms|us|ns)(?:, ?tz=([^\]]+))?\]"
_DECIMAL = r"(decimal128|decimal256)\((\d+), ?(-?\d+)\)"
_FIXED_BINARY = r"fixed_size_binary\[(\d+)\]"


def canonical(name: str) -> str:
    """The one spelling of a type name: `double` is `float64`."""
    return _ALIASES.get(name, name)


def arrow_type(name: str) -> pa.DataType:
    """The Arrow type of a name. Raises BadArgument for one that names none."""
    name = canonical(name)
    if name in _PLAIN:
        return _PLAIN[name]
    try:
        if found := re.fullmatch(_TIME, name):
            kind, unit, zone = found.groups()
            if kind == "timestamp":
                return pa.timestamp(unit, tz=zone)
            if zone is None:
                return getattr(pa, kind)(unit)
        elif found := re.fullmatch(_DECIMAL, name):
            return getattr(pa, found[1])(int(found[2]), int(found[3]))
        elif found := re.fullmatch(_FIXED_BINARY, name):
            return pa.binary(int(found[1]))
    except (ValueError, pa.ArrowInvalid) as error:
        raise BadArgument(f"dtype {name!r}: {error}", dtype=name) from error
    raise BadArgument(
        f"dtype {name!r} names no type; names are {', '.join(_PLAIN)}, time32[s|ms], time64[us|ns], "
        "timestamp[unit], timestamp[unit, tz=zone], duration[unit], decimal128(precision, scale), "
        "decimal256(precision, scale), fixed_size_binary[width]",
        dtype=name,
    )


def dtype_name(kind: pa.DataType) -> str:
    """The name of an Arrow type that has no children. Raises BadArgument for one without a name."""
    name = canonical(str(kind))
    arrow_type(name)
    return name
