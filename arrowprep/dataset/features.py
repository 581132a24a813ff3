"""The schema with meaning: what a column holds beyond its Arrow type.

    Features({"text": Value("string"), "label": ClassLabel(names=["no", "yes"])})

Names, JSON and schema metadata are those of Hugging Face `datasets`, so each
library reads what the other wrote.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, cast

import pyarrow as pa

from arrowprep.dataset.feature_kinds import (
    ClassLabel,
    Json,
    LargeList,
    List,
    Sequence,
    Value,
    as_feature,
    decode,
    encode,
    feature_from_dict,
    feature_of,
    feature_to_dict,
    feature_type,
    needs_decoding,
)
from arrowprep.dataset.image import Image
from arrowprep.dataset.shaped import Array2D, Array3D, Array4D, Array5D, ShapedArray, of_extension
from arrowprep.dataset.translation import Translation, TranslationVariableLanguages
from arrowprep.errors import BadArgument, ColumnNotFound

__all__ = [
    "Array2D",
    "Array3D",
    "Array4D",
    "Array5D",
    "ClassLabel",
    "Features",
    "Image",
    "Json",
    "LargeList",
    "List",
    "Sequence",
    "Translation",
    "TranslationVariableLanguages",
    "Value",
    "children_of",
    "file_schema",
    "with_metadata",
]

METADATA_KEY = b"huggingface"


class Features(dict[str, Any]):
    """Column names and their features, in order."""

    def __init__(*args: Any, **kwargs: Any) -> None:
        self, *given = args  # a column may be named self
        dict.__init__(self)
        Features.update(self, *given, **kwargs)

    def __setitem__(self, name: str, feature: Any) -> None:
        super().__setitem__(name, as_feature(feature))

    def update(*args: Any, **kwargs: Any) -> None:
        self, *given = args
        for name, feature in dict(*given, **kwargs).items():
            self[name] = feature

    def setdefault(self, key: str, default: Any = None) -> Any:
        if key not in self:
            self[key] = default
        return self[key]

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (dict(self),)

    def copy(self) -> Features:
        return Features(self)

    @property
    def type(self) -> pa.DataType:
        """One struct of all columns."""
        return feature_type(dict(self))

    @property
    def arrow_schema(self) -> pa.Schema:
        """The schema, with metadata that says what Arrow types cannot."""
        return with_metadata(pa.schema([pa.field(name, feature_type(f)) for name, f in self.items()]), self)

    @classmethod
    def from_arrow_schema(cls, pa_schema: pa.Schema) -> Features:
        """From a schema; its metadata is believed where it agrees with the Arrow type."""
        written = _written_features(pa_schema)
        features = cls()
        for column in pa_schema:
            told = _believed(written.get(column.name), column.type)
            features[column.name] = told or _named_by(column) or feature_of(column.type)
        return features

    def to_dict(self) -> dict[str, Any]:
        """As JSON-able values: `{"text": {"dtype": "string", "_type": "Value"}}`."""
        return {name: feature_to_dict(feature) for name, feature in self.items()}

    @classmethod
    def from_dict(cls, dic: Mapping[str, Any]) -> Features:
        """The reverse of `to_dict`."""
        return cls({name: feature_from_dict(feature) for name, feature in dic.items()})

    def encode_example(self, example: Mapping[str, Any]) -> dict[str, Any]:
        """One row as it is stored; absent columns are None."""
        return {name: encode(feature, example.get(name)) for name, feature in self.items()}

    def encode_batch(self, batch: Mapping[str, Iterable[Any]]) -> dict[str, list[Any]]:
        """A dict of columns as it is stored; its columns must be these."""
        if set(batch) != set(self):
            raise BadArgument(f"the batch has columns {sorted(batch)}, the features {sorted(self)}")
        return {name: [encode(self[name], value) for value in column] for name, column in batch.items()}

    def encode_column(self, column: Iterable[Any], column_name: str) -> list[Any]:
        return [encode(self._of(column_name), value) for value in column]

    def decode_example(self, example: Mapping[str, Any]) -> dict[str, Any]:
        """One stored row as it is shown."""
        return {name: decode(self[name], value) if name in self else value for name, value in example.items()}

    def decode_batch(self, batch: Mapping[str, list[Any]]) -> dict[str, list[Any]]:
        """A dict of stored columns as it is shown."""
        return {
            name: self.decode_column(column, name) if name in self else column
            for name, column in batch.items()
        }

    def decode_column(self, column: list[Any], column_name: str) -> list[Any]:
        feature = self._of(column_name)
        return [decode(feature, value) for value in column] if needs_decoding(feature) else column

    def flatten(self, max_depth: int = 16) -> Features:
        """Struct fields as columns of their own, named `parent.child`."""
        flat = self
        for _ in range(max_depth - 1):
            if not any(map(children_of, flat.values())):
                break
            deeper = Features()
            for name, feature in flat.items():
                inside = {f"{name}.{child}": inner for child, inner in children_of(feature).items()}
                deeper.update(inside or {name: feature})
            flat = deeper
        return flat

    def reorder_fields_as(self, other: Features) -> Features:
        """The same features in the order of `other`, inside structs too."""
        return Features(_reordered(dict(self), dict(other), "the features"))

    def _of(self, name: str) -> Any:
        if name not in self:
            raise ColumnNotFound(name, list(self))
        return self[name]


def children_of(feature: Any) -> Mapping[str, Any]:
    """The fields of what is shown as a struct: a picture that is not decoded is; none of other features."""
    is_struct = isinstance(feature, (Translation, TranslationVariableLanguages))
    if is_struct or (isinstance(feature, Image) and not feature.decode):
        return cast(Mapping[str, Any], feature_of(feature.pa_type))
    return feature if isinstance(feature, dict) else {}


def with_metadata(schema: pa.Schema, features: Features) -> pa.Schema:
    """The schema with `features` written into its metadata, other metadata kept."""
    written = json.dumps({"info": {"features": features.to_dict()}})
    return schema.with_metadata({**(schema.metadata or {}), METADATA_KEY: written.encode()})


def _named_by(column: pa.Field) -> ShapedArray | None:
    """The feature that a field's own metadata tells, where its extension is not registered here."""
    known = column.metadata or {}
    name = known.get(b"ARROW:extension:name", b"").decode()
    return of_extension(name, known.get(b"ARROW:extension:metadata"))


def file_schema(schema: pa.Schema) -> pa.Schema:
    """The schema as files have it, where fields of arrays say so to who knows the extension.

    In memory they do not: Polars would take them for a type of its own.
    """
    features = Features.from_arrow_schema(schema)
    fields = [_file_field(field, features[field.name]) for field in schema]
    return pa.schema(fields, schema.metadata)


def _file_field(field: pa.Field, feature: Any) -> pa.Field:
    """The field with the names of extensions, at every depth."""
    if isinstance(feature, ShapedArray):
        return field.with_metadata(feature.field_metadata)
    if not _holds_arrays(feature):
        return field
    kind = field.type
    if isinstance(feature, dict):
        return field.with_type(pa.struct([_file_field(inner, feature[inner.name]) for inner in kind]))
    item = _file_field(kind.value_field, feature.feature)
    large = isinstance(feature, LargeList)
    return field.with_type(pa.large_list(item) if large else pa.list_(item, feature.length))


def _holds_arrays(feature: Any) -> bool:
    if isinstance(feature, dict):
        return any(map(_holds_arrays, feature.values()))
    return isinstance(feature, ShapedArray) or (
        isinstance(feature, (List, LargeList)) and _holds_arrays(feature.feature)
    )


def _written_features(schema: pa.Schema) -> dict[str, Any]:
    """What the metadata says of each column; nothing where it is absent or not understood."""
    text = (schema.metadata or {}).get(METADATA_KEY)
    try:
        written = json.loads(text)["info"]["features"] if text else {}
    except (ValueError, KeyError, TypeError):
        return {}
    return written if isinstance(written, dict) else {}


def _believed(written: Any, kind: pa.DataType) -> Any:
    """The written feature, or None where it is unknown here or contradicts the Arrow type."""
    if written is None:
        return None
    try:
        feature = feature_from_dict(written)
    except (BadArgument, TypeError, AttributeError):
        return None  # a kind of feature from another library: the Arrow type says how it is stored
    stored = feature_type(feature)
    return feature if stored.equals(kind) or stored.equals(feature_type(feature_of(kind))) else None


def _reordered(feature: Any, like: Any, place: str) -> Any:
    if isinstance(feature, dict) and isinstance(like, dict):
        if set(feature) != set(like):
            raise BadArgument(f"{place} have fields {sorted(feature)}, the others {sorted(like)}")
        return {name: _reordered(feature[name], like[name], name) for name in like}
    if isinstance(feature, (List, LargeList)) and type(feature) is type(like):
        inner = _reordered(feature.feature, like.feature, place)
        return List(inner, feature.length) if isinstance(feature, List) else LargeList(inner)
    return feature
