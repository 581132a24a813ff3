"""A map gives the same rows, the same name and the same errors whatever the number of processes."""

import os
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

from arrowprep.dataset.dataset import Dataset, concatenate_datasets
from arrowprep.errors import ArrowprepWarning, BadResult, MapError, WorkerDied


@pytest.fixture
def ds():
    return Dataset.from_dict({"n": list(range(100)), "text": [str(i) * (i % 5) for i in range(100)]})


def both(ds, function, **options):
    """The same map in this process and in two, each computed."""
    one = ds.map(function, load_from_cache_file=False, **options)
    two = ds.map(function, load_from_cache_file=False, num_proc=2, **options)
    assert one.fingerprint == two.fingerprint
    return one, two


def test_rows_and_columns_are_those_of_one_process(ds, own_cache):
    one, two = both(ds, lambda row: {"m": row["n"] * 2}, batch_size=10)
    assert two[:] == one[:]
    one, two = both(ds, lambda b: {"m": [len(t) for t in b["text"]]}, batched=True, batch_size=7)
    assert two[:] == one[:]
    names = {os.path.basename(f["filename"]) for f in two.cache_files}
    assert names
    assert all(name.startswith(f"cache-{two.fingerprint}") for name in names)


def test_a_result_of_several_processes_is_found_again(ds, tmp_path):
    def count(b):
        (tmp_path / f"{b['n'][0]}").touch()
        return {"m": b["n"]}

    first = ds.map(count, batched=True, batch_size=10, num_proc=2)
    for file in tmp_path.iterdir():
        file.unlink()
    assert ds.map(count, batched=True, batch_size=10)[:] == first[:]
    assert list(tmp_path.iterdir()) == []


def test_selected_stacked_and_filtered_data_reach_the_workers(ds):
    mixed = concatenate_datasets([ds.shuffle(seed=1), ds.select([3, 1, 2])]).filter(lambda row: row["n"] != 7)
    one, two = both(mixed, lambda b: {"m": np.asarray(b["n"]) + 1}, batched=True, batch_size=5)
    assert two[:] == one[:]
    assert two["m"][:] == [n + 1 for n in mixed["n"]]
    kept = mixed.filter(lambda row: row["n"] % 3 == 0, num_proc=2, load_from_cache_file=False)
    assert kept["n"][:] == [n for n in mixed["n"] if n % 3 == 0]


def test_batches_that_change_the_row_count_stay_in_order(ds):
    one, two = both(
        ds,
        lambda b: {"c": [n for n in b["n"] for _ in range(n % 3)]},
        batched=True,
        batch_size=9,
        remove_columns=ds.column_names,
    )
    assert two["c"][:] == one["c"][:] == [n for n in range(100) for _ in range(n % 3)]


def test_types_and_columns_are_agreed_between_workers(ds):
    def late(b):
        if b["n"][0] < 50:
            return {"v": [None] * len(b["n"])}
        return {"v": [n + 0.5 for n in b["n"]], "text": ["late"] * len(b["n"]), "w": b["n"]}

    one, two = both(ds, late, batched=True, batch_size=10)
    assert two[:] == one[:]
    assert two.features == one.features
    assert two[49] == {"n": 49, "text": ds[49]["text"], "v": None, "w": None}
    assert two[50] == {"n": 50, "text": "late", "v": 50.5, "w": 50}


def test_random_draws_are_those_of_one_process(ds):
    one, two = both(ds, lambda b: {"r": np.random.rand(len(b["n"]))}, batched=True, batch_size=10)
    assert two["r"][:] == one["r"][:]
    assert len(set(two["r"])) == 100


def test_an_error_names_the_rows_and_carries_the_workers_traceback(ds, own_cache):
    def fail_at_73(row):
        return {"x": 1 / (row["n"] - 73)}

    with pytest.raises(MapError, match="fail_at_73 failed on row 73: ZeroDivisionError") as caught:
        ds.map(fail_at_73, num_proc=2)
    assert caught.value.start == 73
    link = caught.value
    while link.__cause__ is not None:
        link = link.__cause__
    assert "in fail_at_73" in str(link)
    assert list((own_cache / "results").glob("*.tmp")) == []
    assert list((own_cache / "results").glob(".*")) == []


def test_nothing_returned_by_some_batches_only_is_refused(ds):
    with pytest.raises(BadResult, match="None"):
        ds.map(lambda b: {"m": b["n"]} if b["n"][0] else None, batched=True, batch_size=10, num_proc=2)


def test_a_killed_worker_is_named_with_its_signal(ds):
    here = os.getpid()

    def kill(b):
        if 50 in b["n"]:
            assert os.getpid() != here, "it ran in no worker"
            os.kill(os.getpid(), signal.SIGKILL)
        return {"m": b["n"]}

    with (
        pytest.warns(ArrowprepWarning, match="once more"),
        pytest.raises(WorkerDied, match=r"SIGKILL while .*kill was at rows 50\.\.59") as caught,
    ):
        ds.map(kill, batched=True, batch_size=10, num_proc=2)
    assert (caught.value.start, caught.value.stop) == (50, 60)


def test_what_kills_never_runs_here_even_where_it_is_all_that_is_left(ds):
    here = os.getpid()

    def kill_last(b):
        if 90 in b["n"]:
            assert os.getpid() != here, "it ran in no worker"
            time.sleep(0.3)  # the other worker ends all that is left meanwhile
            os.kill(os.getpid(), signal.SIGKILL)
        return {"m": b["n"]}

    for _ in range(2):  # the second call begins with one task
        with (
            pytest.warns(ArrowprepWarning, match="once more"),
            pytest.raises(WorkerDied, match=r"SIGKILL while .*kill_last was at rows 90\.\.99"),
        ):
            ds.map(kill_last, batched=True, batch_size=10, num_proc=2)


def test_what_a_killed_worker_was_at_is_tried_once_more(ds, tmp_path):
    here = os.getpid()

    def kill_once(b):
        if 50 in b["n"] and not (tmp_path / "killed").exists():
            assert os.getpid() != here, "it ran in no worker"
            (tmp_path / "killed").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return {"m": [n for n in b["n"] for _ in range(n % 2)]}

    with pytest.warns(ArrowprepWarning, match=r"SIGKILL while .*kill_once was at rows 50\.\.59.*once more"):
        out = ds.map(kill_once, batched=True, batch_size=10, num_proc=2, remove_columns=ds.column_names)
    assert out["m"][:] == [n for n in range(100) if n % 2]


def test_what_cannot_travel_runs_here_with_a_warning(ds):
    generator = (i for i in range(1000))

    with pytest.warns(ArrowprepWarning, match="one process"):
        out = ds.map(lambda row: {"g": next(generator)}, num_proc=2, new_fingerprint="g")
    assert out["g"][:] == list(range(100))


def test_the_parents_environment_is_as_it_was(ds):
    before = dict(os.environ)
    ds.map(lambda row: {"m": 1}, num_proc=2)
    assert dict(os.environ) == before


def test_workers_run_the_code_that_the_name_says_even_where_its_file_was_edited_since(tmp_path):
    (tmp_path / "cleaning.py").write_text(
        "FACTOR = 2\n\ndef clean(row):\n    return {'m': row['n'] * FACTOR}\n"
    )
    script = textwrap.dedent(
        """
        import sys
        sys.path.insert(0, sys.argv[1])
        from arrowprep import Dataset
        import cleaning

        with open(cleaning.__file__, "w") as file:
            file.write("def clean(row):\\n    return {'m': 'edited'}\\n")
        ds = Dataset.from_dict({"n": list(range(8))})
        print(ds.map(cleaning.clean, num_proc=2)["m"][:])
        print(ds.map(lambda row: cleaning.clean(row), num_proc=2)["m"][:])
        """
    )
    run = subprocess.run(
        [sys.executable, "-B", "-c", script, str(tmp_path)], check=True, capture_output=True, text=True
    )
    expected = str([2 * n for n in range(8)])
    assert run.stdout.splitlines() == [expected, expected]
