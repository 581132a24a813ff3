"""Columns change their type, structs their shape, and labels their numbers; what does not fit is named."""

import pyarrow as pa
import pytest

from arrowprep import ClassLabel, Dataset, Features, Image, Value, interleave_datasets
from arrowprep.errors import BadArgument, ColumnNotFound, MapError


@pytest.fixture
def ds():
    return Dataset.from_dict({"n": [1, 2, 300], "t": ["b", None, "a"]})


class TestCast:
    def test_only_changed_columns_are_written(self, ds):
        out = ds.cast_column("n", Value("float32"))
        assert out.features == {"n": Value("float32"), "t": Value("string")}
        written = pa.ipc.open_file(out.cache_files[0]["filename"]).read_all()
        assert written.column_names == ["n"]

    def test_a_value_that_does_not_fit_names_the_column(self, ds):
        with pytest.raises(MapError, match=r"column 'n'.*int8"):
            ds.cast_column("n", Value("int8"))

    def test_the_columns_must_be_the_same(self, ds):
        with pytest.raises(BadArgument, match="'n'"):
            ds.cast(Features({"n": Value("int8")}))
        with pytest.raises(ColumnNotFound):
            ds.cast_column("m", Value("int8"))

    def test_text_becomes_a_label_by_its_names(self, ds):
        label = ClassLabel(names=["a", "b"])
        assert ds.cast_column("t", label)["t"][:] == [1, None, 0]
        with pytest.raises(MapError, match=r"column 't'.*'b' is none"):
            ds.cast_column("t", ClassLabel(names=["a"]))


class TestLabels:
    def test_names_are_the_sorted_texts(self, ds):
        out = ds.class_encode_column("t")
        assert out.features["t"] == ClassLabel(names=["a", "b"])
        assert out["t"][:] == [1, None, 0]

    def test_values_are_named_as_python_prints_them(self):
        values = [2.0, 1.5, None, float("nan"), 2.0]
        out = Dataset.from_dict({"x": values}).class_encode_column("x", include_nulls=True)
        assert out.features["x"].names == sorted({str(value) for value in values})
        assert out.features["x"].int2str(out["x"][:]) == [str(value) for value in values]

    def test_bytes_cannot_become_labels(self):
        with pytest.raises(BadArgument, match="binary"):
            Dataset.from_dict({"x": [b"\xff"]}).class_encode_column("x")

    def test_lists_cannot_become_labels(self):
        with pytest.raises(BadArgument, match="distinct"):
            Dataset.from_dict({"l": [[1]]}).class_encode_column("l")

    def test_numbers_follow_a_models_mapping(self, ds):
        out = ds.class_encode_column("t").align_labels_with_mapping({"B": 0, "A": 1}, "t")
        assert out["t"][:] == [0, None, 1]
        with pytest.raises(BadArgument, match="lacks"):
            ds.class_encode_column("t").align_labels_with_mapping({"b": 0}, "t")
        with pytest.raises(BadArgument, match="not a ClassLabel"):
            ds.align_labels_with_mapping({"b": 0}, "t")


class TestFlatten:
    def test_fields_are_columns_over_the_same_data(self):
        ds = Dataset.from_dict({"s": [{"a": 1, "b": {"c": "x"}}, None], "k": [1, 2]})
        flat = ds.flatten()
        assert flat.column_names == ["s.a", "s.b.c", "k"]
        assert flat[:] == {"s.a": [1, None], "s.b.c": ["x", None], "k": [1, 2]}
        assert ds.flatten(max_depth=2).column_names == ["s.a", "s.b", "k"]
        assert flat.select([1])["s.a"][:] == [None]


class TestInterleave:
    def test_what_makes_no_sense_is_refused(self, ds):
        with pytest.raises(BadArgument, match="empty"):
            interleave_datasets([ds, ds.take(0)])
        with pytest.raises(BadArgument, match="stopping_strategy"):
            interleave_datasets([ds], stopping_strategy="never")
        with pytest.raises(BadArgument, match="1 probabilities for 2"):
            interleave_datasets([ds, ds], probabilities=[1.0])
        with pytest.raises(BadArgument, match="probability 0"):
            interleave_datasets([ds, ds], probabilities=[1.0, 0.0], stopping_strategy="all_exhausted")
        with pytest.raises(BadArgument, match="no datasets"):
            interleave_datasets([])


def test_a_picture_is_opened_only_where_it_is_shown_as_it_is_stored() -> None:
    rows = [{"p": {"bytes": b"x", "path": None}}]
    stored = Dataset.from_list(rows, features=Features({"p": Image(decode=False)}))
    assert stored.flatten().to_list() == [{"p.bytes": b"x", "p.path": None}]
    assert stored.features.flatten() == stored.flatten().features
    assert stored.cast_column("p", Image()).flatten().column_names == ["p"]
