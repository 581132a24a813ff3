"""A Dataset shows, selects and combines rows as Python's own containers would."""

import pickle

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arrowprep.dataset.dataset import Dataset, concatenate_datasets
from arrowprep.dataset.features import ClassLabel, Features, Value
from arrowprep.dataset.indices import Picks
from arrowprep.dataset.splits import DatasetDict
from arrowprep.errors import (
    BadArgument,
    BadSelection,
    ColumnNotFound,
    LengthMismatch,
    RowOutOfRange,
    TypeConflict,
)

ROWS = [{"text": t, "n": i} for i, t in enumerate(["zero", "one", None, "three", "four"])]


@pytest.fixture
def ds():
    return Dataset.from_list(ROWS)


def shuffled_rows(ds):
    """The same rows in another order, three of them twice, over several chunks."""
    return concatenate_datasets([ds.shuffle(seed=1), ds.select([3, 1, 4])])


class TestLooking:
    def test_it_has_the_length_names_and_shape_of_its_rows(self, ds):
        assert len(ds) == ds.num_rows == 5
        assert ds.column_names == ["text", "n"]
        assert ds.shape == (5, 2)
        assert ds.features == {"text": Value("string"), "n": Value("int64")}
        assert ds.cache_files == []

    def test_its_repr_names_rows_columns_and_types(self, ds):
        assert "5 rows" in repr(ds)
        assert "text" in repr(ds)
        assert "string" in repr(ds)

    def test_a_row_is_a_dict(self, ds):
        assert ds[0] == ROWS[0]
        assert ds[-1] == ROWS[-1]
        assert ds[np.int32(2)] == ROWS[2]

    def test_it_iterates_over_rows(self, ds):
        assert list(ds) == ROWS
        assert list(shuffled_rows(ds).select([])) == []

    @pytest.mark.parametrize(
        ("key", "numbers"),
        [
            (slice(1, 4), [1, 2, 3]),
            (slice(None, None, -2), [4, 2, 0]),
            (range(3), [0, 1, 2]),
            ([4, 0, 4], [4, 0, 4]),
            (np.array([1, 3]), [1, 3]),
            (pa.array([2]), [2]),
            ([True, False, True, False, False], [0, 2]),
            (np.array([False] * 5), []),
        ],
        ids=lambda key: " ".join(str(key).split()),  # of an Arrow array, repr has its address
    )
    def test_rows_together_are_a_dict_of_columns(self, ds, key, numbers):
        assert ds[key] == {
            "text": [ROWS[i]["text"] for i in numbers],
            "n": [ROWS[i]["n"] for i in numbers],
        }

    def test_batches_cover_every_row(self, ds):
        assert [b["n"] for b in ds.iter(2)] == [[0, 1], [2, 3], [4]]
        assert [b["n"] for b in ds.iter(2, drop_last_batch=True)] == [[0, 1], [2, 3]]

    def test_a_data_loader_gets_rows_by_number(self, ds):
        assert ds.__getitems__([3, 1]) == [ROWS[3], ROWS[1]]

    def test_it_is_an_arrow_stream(self, ds):
        assert pa.table(ds.shuffle(seed=1)).num_rows == 5

    def test_it_survives_pickling(self, ds):
        again = pickle.loads(pickle.dumps(ds.select([2, 0])))
        assert again[:] == ds[[2, 0]]
        assert again.fingerprint == ds.select([2, 0]).fingerprint


class TestWrongKeys:
    def test_an_unknown_column_lists_the_known_ones(self, ds):
        with pytest.raises(ColumnNotFound, match="'text', 'n'"):
            ds["txt"]
        with pytest.raises(KeyError):
            ds.remove_columns("txt")

    def test_a_row_out_of_range_is_an_index_error(self, ds):
        with pytest.raises(RowOutOfRange, match=r"row 5 is out of range; the rows are 0\.\.4"):
            ds[5]
        with pytest.raises(IndexError):
            ds[[0, -6]]

    @pytest.mark.parametrize("key", [True, 1.5, None, [0.5], [True, False]], ids=repr)
    def test_what_selects_no_row_is_refused(self, ds, key):
        with pytest.raises(BadSelection):
            ds[key]


class TestColumn:
    def test_it_is_a_lazy_sequence(self, ds):
        column = ds["text"]
        assert len(column) == 5
        assert column[1] == "one"
        assert column[-1] == "four"
        assert column[1:3] == ["one", None]
        assert list(column) == column.to_list() == [row["text"] for row in ROWS]
        assert column == [row["text"] for row in ROWS]
        assert "three" in column
        assert column.index("one") == 1

    def test_it_is_an_array_for_numpy_and_arrow(self, ds):
        assert np.asarray(ds["n"]).tolist() == [0, 1, 2, 3, 4]
        assert ds["n"].to_numpy().dtype == np.int64
        assert pa.chunked_array(ds["n"]).to_pylist() == [0, 1, 2, 3, 4]

    def test_a_field_of_a_struct_is_a_column(self):
        ds = Dataset.from_dict({"s": [{"a": 1, "b": {"c": "x"}}, None, {"a": 2, "b": {"c": "y"}}]})
        assert ds["s"]["a"] == [1, None, 2]
        assert ds["s"]["b"]["c"][2] == "y"

    def test_it_follows_the_selection(self, ds):
        assert ds.select([4, 2])["n"][:] == [4, 2]


class TestSelecting:
    @given(st.lists(st.integers(-5, 4)), st.data())
    def test_selections_of_selections_are_those_of_lists(self, picks, data):
        again = data.draw(st.lists(st.integers(0, len(picks) - 1))) if picks else []
        ds = Dataset.from_list(ROWS)
        numbers = [list(range(5))[i] for i in picks]
        assert ds.select(picks).select(again)["n"][:] == [numbers[i] for i in again]

    def test_a_contiguous_selection_is_a_slice_and_another_an_indices_table(self, ds):
        assert not isinstance(ds.select([1, 2, 3])._view.sources[0].rows, Picks)
        assert isinstance(ds.select([1, 3])._view.sources[0].rows, Picks)

    def test_skip_and_take_clamp(self, ds):
        assert ds.skip(3)["n"][:] == [3, 4]
        assert ds.take(2)["n"][:] == [0, 1]
        assert len(ds.skip(9)) == 0
        assert len(ds.take(9)) == 5

    def test_shards_are_a_partition(self, ds):
        assert [ds.shard(2, i)["n"][:] for i in range(2)] == [[0, 1, 2], [3, 4]]
        assert [ds.shard(2, i, contiguous=False)["n"][:] for i in range(2)] == [[0, 2, 4], [1, 3]]

    def test_a_shuffle_is_that_of_numpy_with_the_seed(self, ds):
        assert ds.shuffle(seed=7)["n"][:] == np.random.default_rng(7).permutation(5).tolist()
        assert (
            ds.shuffle(seed=7).fingerprint == ds.shuffle(seed=7).fingerprint != ds.shuffle(seed=8).fingerprint
        )

    def test_shuffling_without_a_seed_follows_numpys_global_state(self, ds):
        np.random.seed(3)
        first = ds.shuffle()["n"][:]
        np.random.seed(3)
        assert ds.shuffle()["n"][:] == first

    def test_many_row_numbers_are_mapped_from_a_file(self, ds, monkeypatch):
        monkeypatch.setattr("arrowprep.dataset.verbs.rows.LARGE_ROWS", 3)
        large = ds.shuffle(seed=1)
        assert large._view.sources[0].rows.path.exists()
        assert sorted(large["n"][:]) == [0, 1, 2, 3, 4]
        assert pickle.loads(pickle.dumps(large))["n"][:] == large["n"][:]
        assert b"uint64" not in pickle.dumps(large._view.sources[0].rows)  # a name, not numbers

    def test_sorting_is_stable_by_several_columns_with_nulls_where_asked(self, ds):
        ds = Dataset.from_dict({"a": [2, 1, None, 1], "b": ["x", "z", "y", "w"]})
        assert ds.sort("a")["b"][:] == ["z", "w", "x", "y"]
        assert ds.sort(["a", "b"])["b"][:] == ["w", "z", "x", "y"]
        assert ds.sort(["a", "b"], reverse=[True, False])["b"][:] == ["x", "w", "z", "y"]
        assert ds.sort("a", null_placement="at_start")["b"][:] == ["y", "z", "w", "x"]

    def test_distinct_values_are_those_of_the_selected_rows(self, ds):
        assert ds.select([1, 1, 3, 1]).unique("text") == ["one", "three"]

    def test_a_split_is_a_partition_of_the_asked_for_sizes(self, ds):
        splits = ds.train_test_split(test_size=0.3, seed=0)
        assert {name: len(d) for name, d in splits.items()} == {"train": 3, "test": 2}
        assert sorted([*splits["train"]["n"], *splits["test"]["n"]]) == [0, 1, 2, 3, 4]
        in_order = ds.train_test_split(test_size=2, shuffle=False)
        assert (in_order["train"]["n"][:], in_order["test"]["n"][:]) == ([0, 1, 2], [3, 4])

    def test_a_split_of_nothing_is_nothing(self, ds):
        splits = ds.select([]).train_test_split(test_size=0.3)
        assert {name: (len(d), d.features) for name, d in splits.items()} == {
            "train": (0, ds.features),
            "test": (0, ds.features),
        }

    @pytest.mark.parametrize(
        "sizes", [{"test_size": 6}, {"test_size": 1.5}, {"test_size": 3, "train_size": 3}, {"test_size": 0}]
    )
    def test_a_split_of_impossible_sizes_is_refused(self, ds, sizes):
        with pytest.raises(BadArgument):
            ds.train_test_split(**sizes)

    def test_keywords_that_only_say_how_are_taken_and_others_refused(self, ds):
        assert (
            ds.shuffle(seed=1, keep_in_memory=True, writer_batch_size=5)["n"][:] == ds.shuffle(seed=1)["n"][:]
        )
        assert ds.select([1], indices_cache_file_name="x")["n"][:] == [1]
        with pytest.raises(TypeError, match=r"sort.*'revrse'"):
            ds.sort("n", revrse=True)

    def test_flattened_rows_are_contiguous_and_the_same(self, ds):
        picked = ds.select([4, 1, 1])
        flat = picked.flatten_indices()
        assert flat[:] == picked[:]
        assert not isinstance(flat._view.sources[0].rows, Picks)


class TestColumns:
    def test_columns_are_removed_selected_and_renamed_in_place(self, ds):
        assert ds.remove_columns("n").column_names == ["text"]
        assert ds.select_columns(["n", "text"]).column_names == ["n", "text"]
        assert ds.rename_column("text", "body").column_names == ["body", "n"]
        assert ds.rename_columns({"text": "n", "n": "text"})[1] == {"n": "one", "text": 1}

    def test_names_must_stay_distinct(self, ds):
        with pytest.raises(BadArgument, match="'n'"):
            ds.rename_column("text", "n")
        with pytest.raises(BadArgument, match="already"):
            ds.add_column("n", [0] * 5)

    def test_a_column_is_added_beside_a_shuffled_view(self, ds):
        more = ds.shuffle(seed=1).add_column("x", np.arange(5.0))
        assert more["x"][:] == [0.0, 1.0, 2.0, 3.0, 4.0]
        assert more.shuffle(seed=2)["n"][:] == ds.shuffle(seed=1).shuffle(seed=2)["n"][:]
        with pytest.raises(LengthMismatch, match="4 values for 5 rows"):
            ds.add_column("x", [1, 2, 3, 4])

    def test_rows_remain_without_columns(self, ds):
        assert len(ds.remove_columns(["text", "n"])) == 5


class TestCombining:
    def test_datasets_end_to_end_read_as_one(self, ds):
        both = concatenate_datasets([ds, ds.select([4, 0])])
        assert both["n"][:] == [0, 1, 2, 3, 4, 4, 0]
        assert both[[6, 0, 5, 2]]["n"] == [0, 0, 4, 2]
        assert both[4:6]["n"] == [4, 4]
        assert both.select([5, 1]).select([1, 0])["n"][:] == [1, 4]

    def test_an_all_null_column_takes_the_others_type(self):
        nothing = Dataset.from_dict({"t": [None, None]})
        both = concatenate_datasets([nothing, Dataset.from_dict({"t": ["a"]})])
        assert both["t"][:] == [None, None, "a"]
        assert both.features["t"] == Value("string")

    def test_columns_that_do_not_agree_are_all_named(self, ds):
        with pytest.raises(TypeConflict, match=r"'n'.*'text'|'text'.*'n'"):
            concatenate_datasets([ds, Dataset.from_dict({"text": [1], "n": ["x"]})])

    def test_a_column_that_one_lacks_is_null_there(self, ds):
        more = Dataset.from_dict({"m": [True], "text": ["x"]})
        both = concatenate_datasets([ds, more])
        assert both.column_names == ["text", "n", "m"]
        assert both[-1] == {"text": "x", "n": None, "m": True}
        assert both["m"].to_list() == [None] * len(ds) + [True]
        assert both.features["n"] == ds.features["n"]

    def test_datasets_side_by_side(self, ds):
        other = Dataset.from_dict({"x": [9, 8, 7, 6, 5]})
        assert concatenate_datasets([ds, other.shuffle(seed=3)], axis=1).column_names == ["text", "n", "x"]
        with pytest.raises(LengthMismatch):
            concatenate_datasets([ds, other.take(2)], axis=1)
        with pytest.raises(BadArgument, match="more than one"):
            concatenate_datasets([ds, ds], axis=1)


class TestMaking:
    def test_rows_with_other_keys_give_the_union(self):
        ds = Dataset.from_list([{"a": 1}, {"a": 2, "b": "x"}])
        assert ds[:] == {"a": [1, 2], "b": [None, "x"]}

    def test_equal_content_has_an_equal_fingerprint(self):
        one = Dataset.from_dict({"a": [1, 2, 3]})
        chunked = Dataset(pa.table({"a": pa.chunked_array([[1], [2, 3]])}))
        assert one.fingerprint == chunked.fingerprint
        assert one.fingerprint != Dataset.from_dict({"a": [1, 2, 4]}).fingerprint

    def test_features_fix_the_types(self):
        features = Features({"label": ClassLabel(names=["no", "yes"]), "x": Value("float32")})
        ds = Dataset.from_dict({"x": [1, 2], "label": ["yes", 0]}, features=features)
        assert ds.features == features
        assert ds[0] == {"label": 1, "x": 1.0}

    def test_columns_of_unequal_length_are_refused(self):
        with pytest.raises(LengthMismatch, match="'a' has 2, 'b' has 1"):
            Dataset.from_dict({"a": [1, 2], "b": [1]})

    def test_values_of_two_kinds_name_the_column(self):
        with pytest.raises(TypeConflict, match=r"column 'a'.*int \(first at 0\), str \(first at 1\)"):
            Dataset.from_dict({"a": [1, "x"]})

    def test_a_data_frame_keeps_a_named_index(self):
        frame = pd.DataFrame({"a": [1, 2]}, index=pd.Index([7, 8], name="key"))
        assert Dataset.from_pandas(frame).column_names == ["a", "key"]
        assert Dataset.from_pandas(frame, preserve_index=False).column_names == ["a"]
        assert Dataset.from_pandas(pd.DataFrame({"a": [1]})).column_names == ["a"]


class TestFormats:
    def test_a_format_is_set_for_some_columns_and_the_rest_may_come_out_too(self, ds):
        shown = ds.with_format("numpy", columns=["n"])
        assert list(shown[0]) == ["n"]
        assert isinstance(shown[:2]["n"], np.ndarray)
        both = ds.with_format("numpy", columns=["n"], output_all_columns=True)
        assert both[:2]["text"] == ["zero", "one"]

    def test_a_format_changes_neither_data_nor_fingerprint(self, ds):
        assert ds.with_format("numpy").fingerprint == ds.fingerprint
        assert isinstance(ds[0]["n"], int)

    def test_set_format_is_in_place_and_reset(self, ds):
        ds.set_format("numpy")
        assert isinstance(ds[:]["n"], np.ndarray)
        with ds.formatted_as("arrow"):
            assert isinstance(ds[:], pa.Table)
        ds.reset_format()
        assert isinstance(ds[:]["n"], list)

    def test_a_transform_sees_batches_and_makes_rows(self, ds):
        shown = ds.with_transform(lambda batch: {"double": [2 * n for n in batch["n"]]})
        assert shown[1] == {"double": 2}
        assert shown[1:3] == {"double": [2, 4]}
        assert [row["double"] for row in shown] == [0, 2, 4, 6, 8]

    def test_unknown_formats_and_columns_are_refused(self, ds):
        with pytest.raises(ValueError, match="numpy"):
            ds.with_format("nunpy")
        with pytest.raises(ColumnNotFound):
            ds.with_format("numpy", columns=["m"])


class TestDatasetDict:
    def test_a_verb_applies_to_every_split(self, ds):
        splits = DatasetDict({"train": ds, "test": ds.take(2)})
        assert splits.num_rows == {"train": 5, "test": 2}
        assert splits.map(lambda row: {"m": row["n"] + 1})["test"]["m"][:] == [1, 2]
        assert splits.filter(lambda row: row["n"] > 0).num_rows == {"train": 4, "test": 1}
        assert splits.remove_columns("text").column_names == {"train": ["n"], "test": ["n"]}
        assert splits.with_format("numpy")["train"].format["type"] == "numpy"

    def test_a_missing_split_says_which_there_are(self, ds):
        with pytest.raises(
            KeyError, match=r"no split 'text'; the splits are 'train'.*ds\['train'\]\['text'\]"
        ):
            DatasetDict({"train": ds})["text"]
