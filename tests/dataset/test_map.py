"""map and filter: what a function sees, what becomes of its result, and what is kept for the next run."""

import os
import random

import numpy as np
import pyarrow as pa
import pytest

from arrowprep.config import configured
from arrowprep.dataset.dataset import Dataset
from arrowprep.dataset.features import ClassLabel, Features, Value
from arrowprep.errors import (
    ArrowprepWarning,
    BadArgument,
    BadResult,
    ColumnNotFound,
    LengthMismatch,
    MapError,
)

TEXTS = ["a", "bb", "ccc", "dddd", "eeeee", "ffffff", "ggggggg"]


@pytest.fixture
def ds():
    return Dataset.from_dict({"text": TEXTS, "n": list(range(7))})


@pytest.fixture
def calls():
    return []


def _plus_one(row):
    return {"m": row["n"] + 1}


def entries(folder):
    return sorted(path.name for path in (folder / "results").glob("*"))


class TestRows:
    def test_what_a_function_returns_is_added(self, ds):
        out = ds.map(lambda row: {"length": len(row["text"])})
        assert out.column_names == ["text", "n", "length"]
        assert out["length"][:] == [1, 2, 3, 4, 5, 6, 7]

    def test_a_returned_column_replaces_that_of_its_name_in_its_place(self, ds):
        out = ds.map(lambda row: {"text": row["text"].upper()})
        assert out.column_names == ["text", "n"]
        assert out["text"][:3] == ["A", "BB", "CCC"]

    def test_a_row_may_be_edited_and_returned(self, ds):
        def edit(row):
            row["m"] = row.pop("n") + 1
            return row

        out = ds.map(edit)
        assert out.column_names == ["text", "m"]
        assert out[0] == {"text": "a", "m": 1}

    def test_a_list_edited_in_place_is_kept(self):
        ds = Dataset.from_dict({"l": [[1], [2]], "k": [0, 0]})

        def edit(row):
            row["l"].append(9)
            return row

        assert ds.map(edit)["l"][:] == [[1, 9], [2, 9]]

    def test_reading_a_column_does_not_change_it(self):
        numbers = pa.array([float("nan"), 1.5], pa.float32())
        ds = Dataset(pa.table({"x": numbers, "l": pa.array([[1.0], None])}))

        def look(row):
            row["m"] = bool(row["l"]) and row["x"] > 1
            return row

        out = ds.map(look)
        assert out.features["x"] == Value("float32")
        assert pa.ipc.open_file(out.cache_files[0]["filename"]).read_all().column_names == ["m"]

    def test_an_edit_that_compares_equal_is_an_edit(self):
        def edit(batch):
            batch["n"][0] = True
            batch["n"][1] = False
            return batch

        ds = Dataset.from_dict({"n": [1, 0]})
        assert ds.map(edit, batched=True)["n"][:] == [True, False]
        assert ds.map(edit, batched=True).features["n"] == Value("bool")

    def test_rows_that_return_fewer_keys_keep_their_values(self, ds):
        out = ds.map(lambda row: {"text": "X"} if row["n"] == 3 else {})
        assert out["text"][:] == ["a", "bb", "ccc", "X", *TEXTS[4:]]
        partly = ds.map(lambda row: {"odd": True} if row["n"] % 2 else {})
        assert partly["odd"][:3] == [None, True, None]

    def test_a_change_in_a_late_batch_keeps_the_early_rows(self, ds, monkeypatch):
        monkeypatch.setattr("arrowprep.dataset.verbs.spec.ROWS_AT_ONCE", 2)
        monkeypatch.setattr("arrowprep.dataset.storage.ipc.BATCH_BYTES", 1)
        out = ds.map(lambda row: {"text": "late", "n": row["n"]} if row["n"] > 4 else {"m": row["n"]})
        assert out[:] == {
            "text": [*TEXTS[:5], "late", "late"],
            "n": list(range(7)),
            "m": [0, 1, 2, 3, 4, None, None],
        }

    def test_removed_columns_go_before_the_result_is_added(self, ds):
        assert ds.map(lambda row: {"n": "new"}, remove_columns=["n", "text"])[0] == {"n": "new"}

    def test_indices_inputs_and_keywords_are_passed_in_order(self, ds):
        out = ds.map(
            lambda text, n, i, rank, *, k: {"all": f"{text}{n}{i}{rank}{k}"},
            input_columns=["text", "n"],
            with_indices=True,
            with_rank=True,
            fn_kwargs={"k": "!"},
        )
        assert out["all"][:2] == ["a00None!", "bb11None!"]

    def test_nothing_returned_is_called_for_what_it_does(self, ds, calls):
        same = ds.map(lambda row: calls.append(row["n"]))
        assert calls == list(range(7))
        assert same[:] == ds[:]
        assert same is not ds

    def test_no_function_is_the_identity(self, ds):
        assert ds.map()[:] == ds[:]
        assert ds.map(batched=True)[:] == ds[:]

    def test_more_rows_than_are_shown_at_once(self):
        ds = Dataset.from_dict({"n": list(range(2500))})
        assert ds.map(lambda row, i: {"same": row["n"] == i}, with_indices=True).unique("same") == [True]


class TestBatches:
    @pytest.mark.parametrize("batch_size", [1, 2, 3, 7, 100, None, 0])
    def test_the_batch_size_does_not_change_a_rowwise_result(self, ds, batch_size):
        out = ds.map(lambda b: {"length": [len(t) for t in b["text"]]}, batched=True, batch_size=batch_size)
        assert out["length"][:] == [1, 2, 3, 4, 5, 6, 7]

    def test_the_row_count_may_change_when_no_column_is_kept(self, ds):
        out = ds.map(
            lambda b: {"c": [c for t in b["text"] for c in t]},
            batched=True,
            batch_size=2,
            remove_columns=["text", "n"],
        )
        assert "".join(out["c"]) == "".join(TEXTS)
        gone = ds.map(lambda b: {"c": []}, batched=True, remove_columns=["text", "n"])
        assert len(gone) == 0

    def test_a_changed_row_count_beside_kept_columns_says_what_to_do(self, ds):
        with pytest.raises(
            LengthMismatch, match=r"returned 1 rows \('c'\) for rows 0..6.*remove_columns=\['text', 'n'\]"
        ):
            ds.map(lambda b: {"c": [1]}, batched=True)

    def test_columns_of_unequal_length_are_named(self, ds):
        with pytest.raises(LengthMismatch, match="'a' has 1, 'b' has 2"):
            ds.map(lambda b: {"a": [1], "b": [1, 2]}, batched=True, remove_columns=["text", "n"])

    def test_a_batch_edited_in_place_is_kept(self, ds):
        def edit(batch):
            batch["text"][0] = "!"
            batch["m"] = batch["n"]
            del batch["n"]
            return batch

        assert ds.map(edit, batched=True, batch_size=4)[:] == {
            "text": ["!", "bb", "ccc", "dddd", "!", "ffffff", "ggggggg"],
            "m": list(range(7)),
        }

    def test_an_edit_in_place_is_seen_at_any_depth_and_by_type(self):
        def edit(batch):
            batch["lists"][0].append(9)
            batch["flags"][:] = [1, 0]
            batch["kept"][0]  # looked at, and not edited
            return batch

        columns = {"lists": [[1], [2]], "flags": [True, False], "kept": [float("nan"), 1.0]}
        out = Dataset.from_dict(columns).map(edit, batched=True)
        assert (out["lists"][:], out["flags"][:]) == ([[1, 9], [2]], [1, 0])
        assert out.features["flags"] == Value("int64")
        assert out._view.sources[out._view.columns["kept"].source] != out._view.sources[-1]  # not written

    def test_a_table_stands_for_all_columns(self, ds):
        out = ds.map(lambda b: pa.table({"x": [1.5, 2.5]}), batched=True, batch_size=4)
        assert out[:] == {"x": [1.5, 2.5, 1.5, 2.5]}

    def test_a_data_frame_stands_for_all_columns(self, ds):
        pd = pytest.importorskip("pandas")
        out = ds.map(lambda b: pd.DataFrame({"x": b["n"]}), batched=True)
        assert out[:] == {"x": list(range(7))}

    def test_arrays_are_stored_with_their_types(self, ds):
        out = ds.map(
            lambda b: {
                "f": np.asarray(b["n"], dtype=np.float32),
                "m": np.ones((len(b["n"]), 2), dtype=np.int16),
                "a": pa.array(b["n"], pa.uint8()),
            },
            batched=True,
        )
        assert out.features["f"] == Value("float32")
        assert out._view.schema.field("m").type == pa.list_(pa.int16())
        assert out.features["a"] == Value("uint8")

    def test_a_function_that_wants_arrow_gets_the_columns_untouched(self, ds):
        def doubled(table):
            assert isinstance(table, pa.Table)
            return {"d": pa.compute.multiply(table["n"], 2)}

        doubled.input_format = "arrow"
        assert ds.map(doubled, batched=True)["d"][:3] == [0, 2, 4]

    def test_a_function_sees_the_format_that_is_set(self, ds):
        seen = []

        def look(batch):
            seen.append(type(batch["n"]))
            return {"m": batch["n"] + 1}

        out = ds.with_format("numpy").map(look, batched=True)
        assert seen == [np.ndarray]
        assert out.format["type"] == "numpy"
        assert out[:]["m"].tolist() == [1, 2, 3, 4, 5, 6, 7]

    def test_the_last_short_batch_may_be_dropped(self, ds):
        out = ds.map(lambda b: b, batched=True, batch_size=3, drop_last_batch=True)
        assert out["n"][:] == [0, 1, 2, 3, 4, 5]


class TestTypes:
    def test_the_type_of_a_column_widens_over_its_batches(self, ds):
        values = [None, 1, 2.5, None, 3, 4, 5]
        out = ds.map(lambda row: {"v": values[row["n"]]})
        assert out["v"][:] == [None, 1.0, 2.5, None, 3.0, 4.0, 5.0]
        by_one = ds.map(lambda b: {"v": [values[n] for n in b["n"]]}, batched=True, batch_size=1)
        assert by_one["v"][:] == out["v"][:]
        assert by_one.features["v"] == Value("float64")

    def test_the_returned_type_wins(self, ds):
        assert ds.map(lambda row: {"n": str(row["n"])})["n"][:2] == ["0", "1"]
        assert ds.map(lambda row: {"n": row["n"] + 0.5})["n"][:2] == [0.5, 1.5]

    def test_a_value_of_the_same_kind_keeps_the_stored_type(self):
        ds = Dataset(
            pa.table({"i": pa.array([1, 2], pa.int16()), "s": pa.array(["a", "b"], pa.large_string())})
        )
        out = ds.map(lambda row: {"i": row["i"] + 1, "s": row["s"] * 2})
        assert out.features == {"i": Value("int16"), "s": Value("large_string")}

    def test_what_fits_no_type_names_function_rows_and_column(self, ds):
        def mixed(row):
            return {"v": "x" if row["n"] == 3 else row["n"]}

        with pytest.raises(BadResult, match=r"mixed returned values that do not fit.*column 'v'.*row 3"):
            ds.map(mixed)
        with pytest.raises(
            BadResult, match=r"column 'v'.*int \(first at 0\), str \(first at 3\).*rows 0\.\.6"
        ):
            ds.map(lambda b: {"v": ["x" if n == 3 else n for n in b["n"]]}, batched=True)

    def test_features_fix_the_types_of_the_result(self, ds):
        features = Features(
            {"text": Value("string"), "n": Value("int8"), "label": ClassLabel(names=["even", "odd"])}
        )
        out = ds.map(lambda row: {"label": "odd" if row["n"] % 2 else "even"}, features=features)
        assert out.features == features
        assert out["label"][:3] == [0, 1, 0]
        assert out.data.schema.field("n").type == pa.int8()

    def test_a_label_that_is_kept_or_renumbered_stays_a_label(self):
        features = Features({"label": ClassLabel(names=["no", "yes"])})
        ds = Dataset.from_dict({"label": [0, 1]}, features=features)
        assert ds.map(lambda row: {"label": 1 - row["label"]}).features == features

    def test_token_columns_are_narrow_until_a_value_does_not_fit(self, ds):
        out = ds.map(lambda row: {"input_ids": [row["n"]], "attention_mask": [1]})
        assert out._view.schema.field("input_ids").type == pa.list_(pa.int32())
        assert out._view.schema.field("attention_mask").type == pa.list_(pa.int8())
        wide = ds.map(lambda row: {"input_ids": [row["n"] + (1 << 40)]})
        assert wide._view.schema.field("input_ids").type == pa.list_(pa.int64())

    def test_an_empty_dataset_gets_the_columns_that_features_name(self, ds):
        empty = ds.select([])
        out = empty.map(lambda row: {"m": 1}, features={**ds.features, "m": Value("int8")})
        assert out.column_names == ["text", "n", "m"]
        assert empty.map(lambda row: {"n": "a"}, features={"n": Value("string")}).features["n"] == Value(
            "string"
        )
        assert len(empty.map(lambda row: 1 / 0)) == 0


class TestBadResults:
    def test_an_exception_names_function_and_row(self, ds):
        def fail(row):
            return {"x": 1 / (row["n"] - 3)}

        with pytest.raises(MapError, match="fail failed on row 3: ZeroDivisionError") as caught:
            ds.map(fail)
        assert (caught.value.start, caught.value.stop) == (3, 4)
        assert isinstance(caught.value.__cause__, ZeroDivisionError)
        with pytest.raises(MapError, match=r"rows 2\.\.3"):
            ds.map(lambda b: {"x": [1 / (n - 3) for n in b["n"]]}, batched=True, batch_size=2)

    def test_a_missing_column_names_those_there_are(self, ds):
        with pytest.raises(MapError, match="no column 'txt'; the columns are 'text', 'n'") as caught:
            ds.map(lambda row: {"x": row["txt"]})
        assert isinstance(caught.value.__cause__, ColumnNotFound)
        assert caught.value.column == "txt"

    @pytest.mark.parametrize("batched", [False, True])
    def test_what_is_no_row_is_a_type_error_that_says_what_is(self, ds, batched):
        with pytest.raises(TypeError, match="returned an int"):
            ds.map(lambda row: 5, batched=batched)
        with pytest.raises(BadResult, match=r"values for row 0 but None for row 2"):
            ds.map(lambda row: None if row["n"] == 2 else {"a": 1})

    def test_a_batch_column_must_have_one_value_a_row(self, ds):
        with pytest.raises(BadResult, match="returned a str for column 'x' of a batch"):
            ds.map(lambda b: {"x": "abc"}, batched=True)

    def test_nothing_is_left_behind_by_a_failure(self, ds, own_cache):
        with pytest.raises(MapError):
            ds.map(lambda b: {"x": [1 / (n - 6) for n in b["n"]]}, batched=True, batch_size=1)
        assert [name for name in entries(own_cache) if not name.startswith("cache-")] == []
        assert ds.map(lambda b: {"x": b["n"]}, batched=True)["x"][:] == list(range(7))

    def test_wrong_arguments_are_refused(self, ds):
        with pytest.raises(BadArgument):
            ds.map(5)
        with pytest.raises(ColumnNotFound):
            ds.map(lambda row: {}, remove_columns="nope")
        with pytest.raises(ColumnNotFound):
            ds.map(lambda x: {}, input_columns="nope")
        with pytest.raises(BadArgument, match="num_proc"):
            ds.map(lambda row: {}, num_proc=-1)
        with pytest.raises(BadArgument, match="fingerprint"):
            ds.map(lambda row: {}, new_fingerprint="../x")


class TestGoingOnAfterErrors:
    def test_the_calls_go_on_behind_each_row_that_fails(self, ds):
        def fails_at_odd_ones(row):
            if row["n"] % 2:
                raise StopIteration if row["n"] == 3 else ValueError
            return {"m": row["n"]}

        with pytest.warns(ArrowprepWarning, match="failed on 3 rows"):
            out = ds.map(fails_at_odd_ones, on_error="null")
        assert out["m"][:] == [0, None, 2, None, 4, None, 6]

    def test_an_iteration_that_stops_is_an_error_like_others(self, ds):
        with pytest.raises(MapError, match="row 2: StopIteration"):
            ds.map(lambda row: {"m": next(iter([0] * (2 - row["n"])))})

    def fails_at_three(self, row):
        if row["n"] == 3:
            raise ValueError("three")
        return {"m": row["n"], "text": row["text"].upper()}

    @pytest.mark.parametrize("num_proc", [None, 2])
    def test_rows_that_fail_are_left_out_and_told(self, ds, num_proc):
        with pytest.warns(
            ArrowprepWarning, match="failed on 1 rows, which are left out: row 3: ValueError: three"
        ):
            out = ds.map(self.fails_at_three, on_error="skip", num_proc=num_proc)
        assert out[:] == {
            "text": [t.upper() for t in TEXTS if t != "dddd"],
            "n": [0, 1, 2, 4, 5, 6],
            "m": [0, 1, 2, 4, 5, 6],
        }
        with pytest.warns(ArrowprepWarning, match="row 3"):  # found in the cache, and told again
            ds.map(self.fails_at_three, on_error="skip")

    def test_rows_that_fail_keep_what_they_had(self, ds):
        with pytest.warns(ArrowprepWarning, match="have nulls"):
            out = ds.map(self.fails_at_three, on_error="null")
        assert out["m"][:] == [0, 1, 2, None, 4, 5, 6]
        assert out[3]["text"] == "dddd"
        assert out.column_names == ["text", "n", "m"]

    def test_a_batch_fails_as_a_whole(self, ds):
        def grow(batch):
            if 3 in batch["n"]:
                raise ValueError("three")
            return {"m": [n for n in batch["n"] for _ in range(2)]}

        with pytest.warns(ArrowprepWarning, match="failed on 2 rows"):
            out = ds.map(grow, batched=True, batch_size=2, remove_columns=["text", "n"], on_error="skip")
        assert out["m"][:] == [0, 0, 1, 1, 4, 4, 5, 5, 6, 6]

    def test_nothing_is_told_where_nothing_failed(self, ds):
        assert ds.map(lambda row: {"m": 1}, on_error="skip").column_names == ["text", "n", "m"]

    def test_what_to_do_must_be_known(self, ds):
        with pytest.raises(BadArgument, match="ignore"):
            ds.map(lambda row: {}, on_error="ignore")


class TestCaching:
    def test_a_rerun_does_not_call_the_function(self, ds, tmp_path):
        seen = tmp_path / "seen"

        def count(row):
            with open(seen, "a") as file:
                file.write(".")
            return {"m": row["n"]}

        assert ds.map(count)[:] == ds.map(count)[:]
        assert len(seen.read_text()) == 7
        ds.map(count, load_from_cache_file=False)
        assert len(seen.read_text()) == 14

    def test_one_process_leaves_one_file_named_by_the_fingerprint(self, ds, own_cache):
        out = ds.map(lambda row: {"m": row["n"]})
        assert entries(own_cache) == [f"cache-{out.fingerprint}.arrow"]
        assert out.cache_files == [
            {"filename": str(own_cache / "results" / f"cache-{out.fingerprint}.arrow")}
        ]

    def test_only_new_columns_are_written(self, ds):
        out = ds.shuffle(seed=1).map(lambda row: {"m": row["n"] * 10})
        written = pa.ipc.open_file(out.cache_files[0]["filename"]).read_all()
        assert written.column_names == ["m"]
        assert out["m"][:] == [n * 10 for n in out["n"]]

    def test_what_a_function_reads_is_part_of_the_name(self, ds):
        factor = 2

        def scaled(row):
            return {"m": row["n"] * factor}

        first = ds.map(scaled)
        factor = 3
        assert ds.map(scaled)["m"][1] == 3
        assert first["m"][1] == 2

    def test_how_a_map_runs_is_not_part_of_the_name(self, ds):
        def f(b):
            return {"m": b["n"]}

        name = ds.map(f, batched=True).fingerprint
        assert ds.map(f, batched=True, keep_in_memory=True, desc="x", num_proc=2).fingerprint == name
        assert ds.map(f, batched=True, batch_size=2).fingerprint != name
        row_name = ds.map(lambda row: {"m": 1}).fingerprint
        assert ds.map(lambda row: {"m": 1}, batch_size=2).fingerprint == row_name

    def test_a_truncated_entry_is_computed_again(self, ds):
        out = ds.map(lambda row: {"m": row["n"]})
        path = out.cache_files[0]["filename"]
        del out
        os.truncate(path, os.path.getsize(path) - 20)
        assert ds.map(lambda row: {"m": row["n"]})["m"][:] == list(range(7))
        with open(path, "wb") as file:
            file.write(b"something else")
        assert ds.map(lambda row: {"m": row["n"]})["m"][:] == list(range(7))

    def test_a_function_that_cannot_be_named_runs_with_one_warning_that_says_why(self, ds):
        import threading

        lock = threading.Lock()

        def locked(row):
            with lock:
                return {"m": row["n"]}

        with pytest.warns(ArrowprepWarning, match=r"lock.*new_fingerprint") as caught:
            out = ds.map(locked)
        assert len(caught) == 1
        assert out["m"][:] == list(range(7))
        assert ds.map(locked, new_fingerprint="mine").fingerprint == "mine"

    def test_without_caching_nothing_lasts(self, ds, own_cache):
        with configured(caching=False):
            out = ds.map(lambda row: {"m": row["n"]}).filter(lambda row: row["m"] > 2)
        assert out["m"][:] == [3, 4, 5, 6]
        assert not (own_cache / "results").exists()

    def test_a_result_may_stay_in_memory(self, ds):
        out = ds.map(lambda row: {"m": row["n"]}, keep_in_memory=True)
        assert out.cache_files == []
        assert out["m"][:] == list(range(7))

    def test_a_file_of_ones_own_holds_all_columns_and_is_found_again(self, ds, tmp_path, own_cache):
        seen = tmp_path / "seen"

        def count(row):
            seen.touch()
            return {"m": row["n"]}

        path = tmp_path / "mine.arrow"
        out = ds.map(count, cache_file_name=path)
        assert out[:] == {"text": TEXTS, "n": list(range(7)), "m": list(range(7))}
        assert out.cache_files == [{"filename": str(path)}]
        assert pa.ipc.open_file(str(path)).read_all().column_names == ["text", "n", "m"]
        seen.unlink()
        assert ds.map(count, cache_file_name=path)[:] == out[:]
        assert not seen.exists()
        other = ds.map(lambda row: {"m": 0}, cache_file_name=path)
        assert other["m"][:] == [0] * 7  # not what is there: written anew
        assert not (own_cache / "results").exists()
        with pytest.raises(BadArgument, match="exclude"):
            ds.map(count, cache_file_name=path, keep_in_memory=True)

    def test_the_arguments_of_the_peer_are_taken_in_its_order(self, ds):
        name = ds.map(_plus_one).fingerprint
        out = ds.map(
            _plus_one, False, False, None, False, 1000, False, None, False, None, None, 10, None, False, None,
            None, "_{rank:05d}_of_{num_proc:05d}", None, "Adding",
        )  # fmt: skip
        assert out.fingerprint == name

    def test_the_old_type_is_not_tried_where_it_should_not(self):
        ds = Dataset(pa.table({"i": pa.array([1, 2], pa.int16())}))
        out = ds.map(lambda row: {"i": row["i"] + 1}, try_original_type=False)
        assert out.features["i"] == Value("int64")

    def test_a_cache_folder_that_cannot_be_written_is_named(self, ds, tmp_path):
        (tmp_path / "file").write_text("not a folder")
        with configured(cache_dir=tmp_path / "file"), pytest.raises(OSError, match=r"file.*ARROWPREP_CACHE"):
            ds.map(lambda row: {"m": row["n"]})


class TestRandomState:
    def test_draws_do_not_depend_on_the_callers_state_and_leave_it_as_it_was(self, ds):
        def draw(row):
            return {"p": random.random(), "q": np.random.rand()}

        random.seed(1)
        np.random.seed(1)
        first = ds.map(draw)
        after = (random.random(), np.random.rand())
        random.seed(1)
        np.random.seed(1)
        assert after == (random.random(), np.random.rand())
        random.seed(99)
        assert ds.map(draw, load_from_cache_file=False)[:] == first[:]
        assert len(set(first["p"])) == 7


class TestFilter:
    def test_rows_for_which_the_function_is_true_stay(self, ds):
        assert ds.filter(lambda row: row["n"] % 2)["n"][:] == [1, 3, 5]
        assert ds.filter(lambda b: [n > 4 for n in b["n"]], batched=True)["n"][:] == [5, 6]
        assert ds.filter(lambda b: np.asarray(b["n"]) > 4, batched=True, batch_size=2)["n"][:] == [5, 6]
        assert len(ds.filter(lambda row: False)) == 0
        assert ds.filter(lambda n, i: n == i == 2, input_columns="n", with_indices=True)["text"][:] == ["ccc"]

    def test_it_filters_a_selection_and_keeps_its_order(self, ds):
        assert ds.select([6, 1, 3, 1]).filter(lambda row: row["n"] != 3)["n"][:] == [6, 1, 1]

    def test_only_row_numbers_are_written(self, ds, own_cache):
        out = ds.filter(lambda row: row["n"] > 2)
        assert entries(own_cache) == [f"cache-{out.fingerprint}.arrow"]
        assert out.cache_files == []

    def test_a_rerun_does_not_call_the_function(self, ds, tmp_path):
        seen = tmp_path / "seen"

        def keep(row):
            with open(seen, "a") as file:
                file.write(".")
            return row["n"] > 2

        ds.filter(keep)
        assert ds.filter(keep)["n"][:] == [3, 4, 5, 6]
        assert len(seen.read_text()) == 7

    def test_a_mask_of_another_length_is_refused(self, ds):
        with pytest.raises(ValueError, match=r"returned 1 booleans for rows 0\.\.6, which are 7 rows"):
            ds.filter(lambda b: [True], batched=True)
        with pytest.raises(TypeError, match="one boolean a row"):
            ds.filter(lambda b: True, batched=True)

    def test_the_message_names_the_users_function(self, ds):
        def keep(row):
            raise RuntimeError("no")

        with pytest.raises(MapError, match="keep failed on row 0"):
            ds.filter(keep)
