"""Typed tables as datasets hold them: no dictionary columns, no metadata of others."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.types as pat

from arrowprep.dataset import widen
from arrowprep.dataset.features import METADATA_KEY


def plain(table: pa.Table) -> pa.Table:
    """The table with dictionary columns as their values, and only the metadata that tells features."""
    schema = plain_schema(table.schema)
    return table if table.schema.equals(schema, check_metadata=True) else widen.cast_table(table, schema)


def plain_schema(schema: pa.Schema) -> pa.Schema:
    """The schema that `plain` gives."""
    told = (schema.metadata or {}).get(METADATA_KEY)
    fields = [pa.field(field.name, plain_type(field.type)) for field in schema]
    return pa.schema(fields, metadata=None if told is None else {METADATA_KEY: told})


def plain_type(kind: pa.DataType) -> pa.DataType:
    """The type without dictionary encoding, at any depth."""
    if pat.is_dictionary(kind):
        return plain_type(kind.value_type)
    if pat.is_struct(kind):
        return pa.struct([pa.field(field.name, plain_type(field.type)) for field in kind])
    if pat.is_fixed_size_list(kind):
        return pa.list_(plain_type(kind.value_type), kind.list_size)
    if pat.is_large_list(kind):
        return pa.large_list(plain_type(kind.value_type))
    if pat.is_list(kind):
        return pa.list_(plain_type(kind.value_type))
    return kind
