"""A stream tells what is known about it."""

from __future__ import annotations

import pytest

from arrowprep import (
    Dataset,
    DatasetInfo,
    Features,
    IterableDataset,
    Split,
    Value,
    concatenate_datasets,
    interleave_datasets,
)
from arrowprep.errors import BadArgument

MIT = DatasetInfo(description="Rows.", license="MIT", download_size=3)


def test_what_is_told_of_a_dataset_is_told_of_its_stream_and_what_is_made_of_it() -> None:
    stream = Dataset.from_dict({"n": [1]}, info=MIT, split=Split.TRAIN).to_iterable_dataset()
    for made in (stream, stream.map(lambda row: {"m": 1}), stream.shuffle(seed=1).take(1)):
        assert (made.description, made.license, made.download_size) == ("Rows.", "MIT", 3)
        assert made.split == "train"
    assert stream.info.features == {"n": Value("int64")} == stream.features
    assert stream.map(lambda row: {"m": 1}).info.features is None


def test_features_of_a_map_are_those_of_its_info() -> None:
    wanted = Features({"m": Value("int8")})
    made = IterableDataset.from_dict({"n": [1]}).map(
        lambda row: {"m": 1}, remove_columns="n", features=wanted
    )
    assert made.info.features == wanted
    assert (made.num_columns, made.map(lambda row: row).num_columns) == (1, None)


@pytest.mark.parametrize("streamed", [True, False])
def test_datasets_put_together_are_told_of_together(streamed: bool) -> None:
    one = Dataset.from_dict({"n": [1]}, info=MIT)
    other = Dataset.from_dict({"n": [2]}, info=DatasetInfo(description="More.", license="MIT"))
    both = [one.to_iterable_dataset(), other.to_iterable_dataset()] if streamed else [one, other]
    for join in (concatenate_datasets, interleave_datasets):
        joined = join(both)
        assert (joined.description, joined.license) == ("Rows.\n\nMore.", "MIT")
        assert join(both, info=DatasetInfo(description="Both.")).description == "Both."


def test_a_text_that_is_set_stays_and_is_nobody_elses() -> None:
    for ds in (Dataset.from_dict({"n": [1]}, info=MIT), IterableDataset.from_dict({"n": [1]}, info=MIT)):
        kept = ds.take(1)
        ds.info.description = "Set."
        assert (ds.description, ds.take(1).description, kept.description) == ("Set.", "Set.", "Rows.")
    assert MIT.description == "Rows."


def test_streams_that_share_a_column_do_not_stand_side_by_side() -> None:
    stream = IterableDataset.from_dict({"n": [1]})
    with pytest.raises(BadArgument, match="share the columns 'n'"):
        concatenate_datasets([stream, stream], axis=1)


def test_polars_types_are_chosen_where_a_frame_is_made() -> None:
    polars = pytest.importorskip("polars", reason="Polars is not installed")
    ds = Dataset.from_dict({"n": [1], "m": [2]})
    for rows in (ds, ds.to_iterable_dataset()):
        frame = rows.to_polars(schema_overrides={"n": polars.Int8}, rechunk=False)
        assert frame.schema == {"n": polars.Int8, "m": polars.Int64}
