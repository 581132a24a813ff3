"""The kinds of features: plain values, labels, lists, structs, JSON, pictures, arrays, translations.

A dict is a struct, `[x]` is a list. A kind has `pa_type` (how it is stored) and
`to_dict()` (how it is written down).
"""

from __future__ import annotations

import json
from collections import abc
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.types as pat

from arrowprep.dataset import dtypes
from arrowprep.dataset.image import Image
from arrowprep.dataset.shaped import KINDS as ARRAYS
from arrowprep.dataset.shaped import ShapedArray, of_extension
from arrowprep.dataset.translation import Translation, TranslationVariableLanguages
from arrowprep.errors import BadArgument, TypeConflict, WrongType


@dataclass(frozen=True, repr=False)
class Value:
    """A plain value; `dtype` is a name such as "string", "int64", "timestamp[us, tz=UTC]"."""

    dtype: str
    id: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "dtype", dtypes.canonical(self.dtype))
        dtypes.arrow_type(self.dtype)

    @property
    def pa_type(self) -> pa.DataType:
        return dtypes.arrow_type(self.dtype)

    def __call__(self) -> pa.DataType:
        return self.pa_type

    def __repr__(self) -> str:
        return f"Value({self.dtype!r})"

    def to_dict(self) -> dict[str, Any]:
        return {"dtype": self.dtype, "_type": "Value"}

    def encode_example(self, value: Any) -> Any:
        """A Python value of this type: "5" for an int64 is 5."""
        if value is None:
            return None
        if isinstance(value, np.generic):
            value = value.item()
        kind = self.pa_type
        for belongs, make in _ENCODERS:
            if belongs(kind):
                return make(value)
        return value


_ENCODERS: tuple[tuple[Callable[[pa.DataType], bool], Callable[[Any], Any]], ...] = (
    (pat.is_boolean, bool),
    (pat.is_integer, int),
    (pat.is_floating, float),
    (lambda kind: pat.is_string(kind) or pat.is_large_string(kind) or pat.is_string_view(kind), str),
)


class ClassLabel:
    """A number that stands for a name; stored as int64, -1 means unknown.

    Give one of: names, num_classes (the names are "0", "1", ...), names_file (one name a line).
    """

    def __init__(
        self,
        num_classes: int | None = None,
        names: list[str] | None = None,
        names_file: str | Path | None = None,
        id: str | None = None,
    ) -> None:
        self.names = _class_names(num_classes, names, names_file)
        self.num_classes = len(self.names)
        self.id = id
        self._numbers = {name: number for number, name in enumerate(self.names)}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ClassLabel) and self.names == other.names

    dtype = "int64"
    pa_type = pa.int64()

    def __call__(self) -> pa.DataType:
        return self.pa_type

    def __hash__(self) -> int:
        return hash(tuple(self.names))

    def __repr__(self) -> str:
        return f"ClassLabel(names={self.names!r})"

    def to_dict(self) -> dict[str, Any]:
        return {"names": self.names, "_type": "ClassLabel"}

    def str2int(self, values: Any) -> Any:
        """The number of a name, or a list of numbers; a text of digits that is no name is a number."""
        if not isinstance(values, str):
            return [self._number(value) for value in _several(values, "a name or names")]
        return self._number(values)

    def int2str(self, values: Any) -> Any:
        """The name of a number, or a list of names."""
        if isinstance(values, (int, np.integer)):
            return self._name(values)
        return [self._name(value) for value in _several(values, "a number or numbers")]

    def encode_example(self, example_data: Any) -> int | None:
        """The number of a name or number. Raises BadArgument for one outside the classes."""
        if example_data is None:
            return None
        number = self._number(example_data) if isinstance(example_data, str) else int(example_data)
        if not -1 <= number < self.num_classes:
            raise BadArgument(f"class label {number} is not in -1..{self.num_classes - 1}", label=number)
        return number

    def cast_storage(self, storage: pa.Array) -> pa.Array:
        """A column of names, numbers or nulls as int64. Raises BadArgument for one outside the classes."""
        if pat.is_string(storage.type) or pat.is_large_string(storage.type):
            numbers = [None if name is None else self._number(name) for name in storage.to_pylist()]
            return pa.array(numbers, pa.int64())
        found = storage.cast(pa.int64())
        largest = max((number for number in found.to_pylist() if number is not None), default=-1)
        if largest >= self.num_classes:
            raise BadArgument(f"class label {largest} is not in -1..{self.num_classes - 1}", label=largest)
        return found

    def _number(self, name: str) -> int:
        for known in (name, name.strip()):
            if known in self._numbers:
                return self._numbers[known]
        try:
            number = int(name)
        except ValueError:
            number = -2
        if not -1 <= number < self.num_classes:
            raise BadArgument(f"{name!r} is none of the classes {', '.join(self.names)}", label=name)
        return number

    def _name(self, number: Any) -> str:
        if not 0 <= number < self.num_classes:
            raise BadArgument(f"class label {number} is not in 0..{self.num_classes - 1}", label=number)
        return self.names[int(number)]


def _class_names(count: int | None, names: list[str] | None, names_file: str | Path | None) -> list[str]:
    if names is not None and names_file is not None:
        raise BadArgument("ClassLabel takes names or names_file, not both")
    given: Any = names
    if names is not None and (isinstance(given, str) or not isinstance(given, abc.Sequence)):
        raise WrongType(f"ClassLabel takes a list of names, not the {type(names).__name__} {names!r}")
    if names_file is not None:
        lines = Path(names_file).read_text(encoding="utf-8").splitlines()
        names = [name.strip() for name in lines if name.strip()]
    if names is None:
        if count is None:
            raise BadArgument("ClassLabel needs names, num_classes or names_file")
        return [str(number) for number in range(count)]
    names = [str(name) for name in names]
    if count is not None and count != len(names):
        raise BadArgument(f"ClassLabel was given {len(names)} names and num_classes={count}")
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise BadArgument(f"ClassLabel names repeat: {', '.join(twice)}", names=twice)
    return names


def _several(values: Any, what: str) -> Iterable[Any]:
    if not isinstance(values, Iterable):
        raise BadArgument(f"expected {what}, not {values!r}")
    return values


@dataclass(frozen=True, repr=False)
class List:
    """A list of `feature`; `length` other than -1 fixes how many."""

    feature: Any
    length: int = -1
    id: str | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "feature", as_feature(self.feature))

    @property
    def pa_type(self) -> pa.DataType:
        return pa.list_(feature_type(self.feature), self.length)

    def __repr__(self) -> str:
        length = f", length={self.length}" if self.length != -1 else ""
        return f"{type(self).__name__}({self.feature!r}{length})"

    def to_dict(self) -> dict[str, Any]:
        length = {"length": self.length} if self.length != -1 else {}
        return {"feature": feature_to_dict(self.feature), **length, "_type": type(self).__name__}


@dataclass(frozen=True, repr=False)
class LargeList:
    """A list of `feature` with 64-bit offsets: more than 2**31 elements in one batch."""

    feature: Any
    id: str | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "feature", as_feature(self.feature))

    @property
    def pa_type(self) -> pa.DataType:
        return pa.large_list(feature_type(self.feature))

    def __repr__(self) -> str:
        return f"LargeList({self.feature!r})"

    def to_dict(self) -> dict[str, Any]:
        return {"feature": feature_to_dict(self.feature), "_type": "LargeList"}


def Sequence(feature: Any, length: int = -1, id: str | None = None) -> Any:
    """The old name of List; of a dict it makes a dict of lists, not a list of dicts."""
    if isinstance(feature, dict):
        return {name: List(inner, length) for name, inner in feature.items()}
    return List(feature, length, id)


@dataclass(frozen=True)
class Json:
    """Any value, kept as the JSON text that was written; shown as the value, unless decode=False."""

    decode: bool = True
    id: str | None = field(default=None, repr=False, compare=False)

    @property
    def pa_type(self) -> pa.DataType:
        # arrow.json came with pyarrow 19; before that the text alone is stored, and the metadata names it
        return pa.json_(pa.string()) if hasattr(pa, "json_") else pa.string()

    def __call__(self) -> pa.DataType:
        return self.pa_type

    def to_dict(self) -> dict[str, Any]:
        return {"_type": "Json"} if self.decode else {"decode": False, "_type": "Json"}

    def encode_example(self, example_data: Any) -> str | None:
        return None if example_data is None else json.dumps(example_data, separators=(",", ":"))

    def decode_example(self, example_data: str | None) -> Any:
        return example_data if example_data is None or not self.decode else json.loads(example_data)


_BY_NAME: dict[str, Callable[..., Any]] = {
    "Value": Value,
    "ClassLabel": ClassLabel,
    "List": List,
    "LargeList": LargeList,
    "Sequence": Sequence,
    "Json": Json,
    "Image": Image,
    "Translation": Translation,
    "TranslationVariableLanguages": TranslationVariableLanguages,
    **ARRAYS,
}
_ENCODED = (ClassLabel, Json, Image, ShapedArray, Translation, TranslationVariableLanguages)
_KINDS = (Value, List, LargeList, *_ENCODED)
_DECODED = (Json, Image, ShapedArray)  # shown otherwise than they are stored, unless decode is False


def as_feature(given: Any) -> Any:
    """A feature from how users write one: `[x]` is List(x), a dict is a struct."""
    if isinstance(given, _KINDS):
        return given
    if isinstance(given, Mapping):
        return {str(name): as_feature(inner) for name, inner in given.items()}
    if isinstance(given, (list, tuple)) and len(given) == 1:
        return List(given[0])
    raise BadArgument(
        f"{given!r} is no feature; write Value(...), ClassLabel(...), List(...), a dict, or [feature]",
        given=given,
    )


def feature_type(feature: Any) -> pa.DataType:
    """The Arrow type that a feature is stored in."""
    if isinstance(feature, dict):
        return pa.struct([pa.field(name, feature_type(inner)) for name, inner in feature.items()])
    return feature.pa_type


def feature_to_dict(feature: Any) -> Any:
    """A feature as JSON-able values, `_type` naming the kind."""
    if isinstance(feature, dict):
        return {name: feature_to_dict(inner) for name, inner in feature.items()}
    known = None if isinstance(feature, (List, LargeList)) else feature.id
    return feature.to_dict() if known is None else {"id": known, **feature.to_dict()}


def feature_from_dict(written: Any) -> Any:
    """The reverse of `feature_to_dict`; raises BadArgument for a kind that does not exist here."""
    if isinstance(written, list):
        return List(feature_from_dict(written[0]))
    kind = written.get("_type")
    if not isinstance(kind, str):  # a struct, which may well have a field named _type
        return {name: feature_from_dict(inner) for name, inner in written.items()}
    if kind not in _BY_NAME:
        raise BadArgument(f"feature type {kind!r} is none of {', '.join(_BY_NAME)}", type=kind)
    facts = {name: value for name, value in written.items() if name != "_type"}
    if "feature" in facts:
        facts["feature"] = feature_from_dict(facts["feature"])
    return _BY_NAME[kind](**facts)


def feature_of(kind: pa.DataType) -> Any:
    """The feature that an Arrow type alone tells; labels and the like need the metadata."""
    if isinstance(kind, pa.BaseExtensionType):
        return _extended(kind)
    if pat.is_dictionary(kind):
        return feature_of(kind.value_type)
    if pat.is_struct(kind):
        return {inner.name: feature_of(inner.type) for inner in kind}
    if pat.is_fixed_size_list(kind):
        return List(feature_of(kind.value_type), length=kind.list_size)
    if pat.is_large_list(kind) or getattr(pat, "is_large_list_view", lambda _: False)(kind):
        return LargeList(feature_of(kind.value_type))
    if pat.is_list(kind) or getattr(pat, "is_list_view", lambda _: False)(kind):
        return List(feature_of(kind.value_type))
    if pat.is_map(kind):
        return List({"key": feature_of(kind.key_type), "value": feature_of(kind.item_type)})
    return Value(dtypes.dtype_name(kind))


def _extended(kind: pa.BaseExtensionType) -> Any:
    if kind.extension_name == "arrow.json":
        return Json()
    written = kind.__arrow_ext_serialize__() if isinstance(kind, pa.ExtensionType) else None
    return of_extension(kind.extension_name, written) or feature_of(kind.storage_type)


def encode(feature: Any, value: Any) -> Any:
    """A value as it is stored: labels as numbers, Json as text, nested ones inside out."""
    if value is None:
        return None
    if isinstance(feature, dict):
        if not isinstance(value, Mapping):
            raise TypeConflict(
                f"expected a dict with {', '.join(feature)}, not {type(value).__name__}", value=value
            )
        return {name: encode(inner, value.get(name)) for name, inner in feature.items()}
    if isinstance(feature, (List, LargeList)):
        if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable):
            raise TypeConflict(f"expected a list, not {type(value).__name__}", value=value)
        return [encode(feature.feature, inner) for inner in value]
    return feature.encode_example(value)


def decode(feature: Any, value: Any) -> Any:
    """A stored value as it is shown: Json text as the value that was written, a picture as a picture."""
    if value is None:
        return None
    if isinstance(feature, dict):
        return {name: decode(inner, value.get(name)) for name, inner in feature.items()}
    if isinstance(feature, (List, LargeList)):
        return [decode(feature.feature, inner) for inner in value]
    return feature.decode_example(value) if isinstance(feature, _DECODED) else value


def needs_decoding(feature: Any) -> bool:
    """Whether some part of a feature is shown otherwise than it is stored."""
    if type(feature) is Value:  # as most are, and every value of a row is asked
        return False
    if isinstance(feature, dict):
        return any(map(needs_decoding, feature.values()))
    if isinstance(feature, (List, LargeList)):
        return needs_decoding(feature.feature)
    return isinstance(feature, _DECODED) and feature.decode


def with_decoding(feature: Any, decode: bool) -> Any:
    """The same feature, which shows Json and pictures as they are, or as they are stored; also arrays."""
    if isinstance(feature, (Json, Image)):
        return replace(feature, decode=decode)
    if isinstance(feature, ShapedArray):
        return feature if decode else listed(feature)
    if isinstance(feature, dict):
        return {name: with_decoding(inner, decode) for name, inner in feature.items()}
    if isinstance(feature, (List, LargeList)):
        return replace(feature, feature=with_decoding(feature.feature, decode))
    return feature


def listed(feature: Any) -> Any:
    """The same feature with arrays as lists in lists, as plain objects have them."""
    if isinstance(feature, ShapedArray):
        return feature_of(feature.pa_type)
    if isinstance(feature, dict):
        return {name: listed(inner) for name, inner in feature.items()}
    if isinstance(feature, (List, LargeList)):
        return replace(feature, feature=listed(feature.feature))
    return feature


def needs_encoding(feature: Any) -> bool:
    """Whether some part of a feature is stored otherwise than it is given."""
    if isinstance(feature, dict):
        return any(map(needs_encoding, feature.values()))
    if isinstance(feature, (List, LargeList)):
        return needs_encoding(feature.feature)
    return isinstance(feature, _ENCODED)
