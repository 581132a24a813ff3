"""What a column means survives every way it is written down."""

from __future__ import annotations

import copy
import datetime
import json
import pickle
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from arrowprep.dataset.features import ClassLabel, Features, Json, LargeList, List, Sequence, Value
from arrowprep.errors import BadArgument, TypeConflict

# fmt: off
DTYPES = [
    "null", "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16",
    "float32", "float64", "date32", "date64", "string", "large_string", "string_view", "binary",
    "large_binary", "binary_view", "time32[s]", "time32[ms]", "time64[us]", "time64[ns]",
    "timestamp[s]", "timestamp[us]", "duration[ms]", "duration[ns]", "fixed_size_binary[5]",
    "timestamp[ns, tz=UTC]", "timestamp[us, tz=Europe/Paris]", "decimal128(10, 2)", "decimal256(60, -3)",
]
# fmt: on

EVERYTHING = Features(
    {
        "text": Value("string"),
        "label": ClassLabel(names=["no", "yes"]),
        "spans": [{"start": Value("int32"), "tags": List(Value("string"))}],
        "box": List(Value("float32"), length=4),
        "long": LargeList(Value("int8")),
        "meta": {"when": Value("timestamp[us, tz=UTC]"), "deep": {"x": Value("null")}},
        "free": Json(),
    }
)


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype_names_its_arrow_type_both_ways(dtype: str) -> None:
    schema = pa.schema([("a", Value(dtype).pa_type)])
    assert Features.from_arrow_schema(schema) == {"a": Value(dtype)}


def test_other_spellings_of_a_dtype_are_one_type() -> None:
    assert Value("double") == Value("float64")
    assert Value("bool_").dtype == "bool"


@pytest.mark.parametrize(
    "dtype", ["str", "timestamp", "time32[us]", "decimal128(99, 0)", "duration[s, tz=UTC]"]
)
def test_a_dtype_that_names_no_type_is_refused_by_name(dtype: str) -> None:
    with pytest.raises(BadArgument, match=r"dtype") as caught:
        Value(dtype)
    assert caught.value.dtype == dtype


def test_features_come_back_from_their_schema_dict_json_and_pickle() -> None:
    assert Features.from_arrow_schema(EVERYTHING.arrow_schema) == EVERYTHING
    assert Features.from_dict(json.loads(json.dumps(EVERYTHING.to_dict()))) == EVERYTHING
    assert pickle.loads(pickle.dumps(EVERYTHING)) == EVERYTHING
    assert copy.deepcopy(EVERYTHING) == EVERYTHING.copy() == EVERYTHING
    assert list(Features.from_arrow_schema(EVERYTHING.arrow_schema)) == list(EVERYTHING)


def test_without_metadata_a_schema_tells_types_but_no_labels() -> None:
    bare = Features.from_arrow_schema(EVERYTHING.arrow_schema.remove_metadata())
    assert bare == {**EVERYTHING, "label": Value("int64")}


def test_metadata_that_contradicts_the_type_is_not_believed() -> None:
    schema = EVERYTHING.arrow_schema
    place = schema.get_field_index("label")
    assert Features.from_arrow_schema(schema.set(place, pa.field("label", pa.string())))["label"] == Value(
        "string"
    )


def test_a_kind_of_feature_from_elsewhere_falls_back_to_its_arrow_type() -> None:
    schema = pa.schema(
        [("i", pa.struct([("bytes", pa.binary()), ("path", pa.string())]))],
        metadata={b"huggingface": json.dumps({"info": {"features": {"i": {"_type": "Audio"}}}})},
    )
    assert Features.from_arrow_schema(schema) == {"i": {"bytes": Value("binary"), "path": Value("string")}}


def test_broken_metadata_is_as_good_as_none() -> None:
    for text in (b"{", b"[]", b'{"info": null}', b'{"info": {"features": 3}}'):
        schema = pa.schema([("a", pa.int8())], metadata={b"huggingface": text})
        assert Features.from_arrow_schema(schema) == {"a": Value("int8")}


def test_a_dictionary_column_is_what_its_values_are() -> None:
    schema = pa.schema([("a", pa.dictionary(pa.int32(), pa.string()))])
    assert Features.from_arrow_schema(schema) == {"a": Value("string")}


def test_short_forms_and_the_old_sequence_are_lists() -> None:
    assert Features({"a": [Value("int8")]}) == Features({"a": List(Value("int8"))})
    assert Sequence(Value("int8"), length=2) == List(Value("int8"), length=2)
    assert Sequence({"x": Value("int8")}) == {"x": List(Value("int8"))}


def test_what_is_no_feature_is_refused() -> None:
    for wrong in (5, "int64", [Value("int8"), Value("int8")], None):
        with pytest.raises(BadArgument, match="is no feature"):
            Features({"a": wrong})


def test_a_struct_may_have_a_field_named_type() -> None:
    features = Features({"a": {"_type": Value("string"), "x": Value("int8")}})
    assert Features.from_dict(features.to_dict()) == features


def test_labels_are_numbers_and_names() -> None:
    label = ClassLabel(names=["no", "yes"])
    assert label.num_classes == 2
    assert label.str2int("yes") == 1
    assert label.str2int(["yes", "no"]) == [1, 0]
    assert label.str2int("1") == 1
    assert label.int2str(np.int64(0)) == "no"
    assert label.int2str(np.array([1, 0])) == ["yes", "no"]
    assert ClassLabel(num_classes=2).names == ["0", "1"]


@pytest.mark.parametrize("wrong", ["maybe", "2", 2, -2])
def test_a_label_outside_the_classes_is_refused(wrong: object) -> None:
    with pytest.raises(BadArgument):
        ClassLabel(names=["no", "yes"]).encode_example(wrong)


def test_minus_one_is_the_unknown_label() -> None:
    assert ClassLabel(names=["no", "yes"]).encode_example(-1) == -1


def test_labels_from_a_file(tmp_path) -> None:
    (tmp_path / "names.txt").write_text("no\nyes\n\n")
    assert ClassLabel(names_file=tmp_path / "names.txt") == ClassLabel(names=["no", "yes"])


@pytest.mark.parametrize("wrong", [{}, {"names": ["a", "a"]}, {"names": ["a"], "num_classes": 2}])
def test_classes_that_contradict_themselves_are_refused(wrong: dict) -> None:
    with pytest.raises(BadArgument):
        ClassLabel(**wrong)


def test_a_row_encoded_is_stored_and_decoded_as_it_was() -> None:
    when = datetime.datetime(2020, 1, 2, tzinfo=datetime.timezone.utc)
    row = {
        "text": "t",
        "label": 1,
        "spans": [{"start": 1, "tags": ["x"]}, None],
        "box": [0.5, 1.0, 1.5, 2.0],
        "long": None,
        "meta": {"when": when, "deep": {"x": None}},
        "free": {"any": [1, "a", None], "é": "猫"},
    }
    stored = pa.Table.from_pylist([EVERYTHING.encode_example({**row, "label": "yes"})], schema=_storage())
    assert EVERYTHING.decode_example(stored.to_pylist()[0]) == row
    assert EVERYTHING.decode_batch(stored.to_pydict()) == {name: [value] for name, value in row.items()}


def _storage() -> pa.Schema:
    place = EVERYTHING.arrow_schema.get_field_index("free")
    return EVERYTHING.arrow_schema.set(place, pa.field("free", pa.string()))


def test_json_kept_as_text_is_shown_as_text() -> None:
    assert Features({"a": Json(decode=False)}).decode_column(["[1]"], "a") == ["[1]"]


def test_encoding_makes_the_declared_type() -> None:
    features = Features(
        {"n": Value("int32"), "f": Value("float32"), "s": Value("string"), "b": Value("bool")}
    )
    assert features.encode_example({"n": "7", "f": np.int64(1), "s": 5, "b": 1}) == {
        "n": 7,
        "f": 1.0,
        "s": "5",
        "b": True,
    }
    with pytest.raises(BadArgument, match="columns"):
        features.encode_batch({"n": [1]})


@pytest.mark.parametrize(("feature", "wrong"), [([Value("string")], "text"), ({"x": Value("int8")}, [1])])
def test_a_value_of_another_shape_is_a_type_conflict(feature: object, wrong: object) -> None:
    with pytest.raises(TypeConflict, match="expected a"):
        Features({"a": feature}).encode_example({"a": wrong})


def test_flatten_names_children_by_their_parents() -> None:
    assert list(EVERYTHING.flatten())[5:7] == ["meta.when", "meta.deep.x"]
    assert list(EVERYTHING.flatten(max_depth=2))[5:7] == ["meta.when", "meta.deep"]


def test_reorder_follows_the_other_inside_structs() -> None:
    ours = Features({"a": Value("int8"), "s": [{"x": Value("int8"), "y": Value("int8")}]})
    other = Features({"s": [{"y": Value("int8"), "x": Value("int8")}], "a": Value("int8")})
    assert str(ours.reorder_fields_as(other)) == str(other)
    with pytest.raises(BadArgument):
        ours.reorder_fields_as(Features({"a": Value("int8")}))


def test_a_repr_can_be_read_and_evaluated() -> None:
    assert eval(repr(EVERYTHING)) == EVERYTHING


def test_names_of_classes_are_given_once_and_as_a_list(tmp_path: Path) -> None:
    (tmp_path / "names.txt").write_text("no\nyes")
    with pytest.raises(ValueError, match="not both"):
        ClassLabel(names=["no", "yes"], names_file=tmp_path / "names.txt")
    with pytest.raises(TypeError, match="list"):
        ClassLabel(names="yes")
