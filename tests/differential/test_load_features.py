"""`datasets` reads our schema metadata, and we read theirs."""

from __future__ import annotations

import pytest

from arrowprep.dataset import features as ours

theirs = pytest.importorskip("datasets", reason="compares with the datasets library, which is not installed")


def _features(lib):
    return lib.Features(
        {
            "text": lib.Value("string"),
            "label": lib.ClassLabel(names=["no", "yes"]),
            "spans": [{"start": lib.Value("int32"), "tags": lib.List(lib.Value("string"))}],
            "box": lib.List(lib.Value("float32"), length=4),
            "long": lib.LargeList(lib.Value("int8")),
            "old": lib.Sequence({"x": lib.Value("int8")}),
            "meta": {"when": lib.Value("timestamp[us, tz=UTC]"), "deep": {"x": lib.Value("null")}},
            "free": lib.Json(),
        }
    )


def test_the_schemas_are_equal_with_their_metadata() -> None:
    assert _features(ours).arrow_schema.equals(_features(theirs).arrow_schema, check_metadata=True)


def test_each_reads_the_others_metadata() -> None:
    assert theirs.Features.from_arrow_schema(_features(ours).arrow_schema) == _features(theirs)
    assert ours.Features.from_arrow_schema(_features(theirs).arrow_schema) == _features(ours)


def test_the_written_form_and_the_repr_are_the_same() -> None:
    assert _features(ours).to_dict() == _features(theirs).to_dict()
    assert repr(_features(ours)) == repr(_features(theirs))


def test_sequence_as_older_releases_wrote_it_is_read() -> None:
    written = {
        "x": {"feature": {"dtype": "int64", "_type": "Value"}, "length": -1, "_type": "Sequence"},
        "y": [{"dtype": "int64", "_type": "Value"}],
        "z": {"feature": {"q": {"dtype": "int64", "_type": "Value"}}, "_type": "Sequence"},
    }
    assert ours.Features.from_dict(written).to_dict() == theirs.Features.from_dict(written).to_dict()


def test_rows_are_encoded_the_same() -> None:
    row = {
        "text": 5,
        "label": "yes",
        "spans": [{"start": "1", "tags": None}],
        "old": {"x": [1]},
        "free": {"é": [1, "a"]},
    }
    row |= {"box": [1, 2, 3, 4], "long": None, "meta": None}
    assert _features(ours).encode_example(row) == _features(theirs).encode_example(row)
