"""Cache files may be compressed: the same rows, names and operations, in bounded memory."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from arrowprep import Dataset, concatenate_datasets, config, configured
from arrowprep.dataset.storage import ipc
from arrowprep.dataset.storage.compressed import compression_of, headers
from arrowprep.errors import BadArgument


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    monkeypatch.setattr(ipc, "BATCH_BYTES", 20_000)
    monkeypatch.setattr(ipc, "COMPRESSED_BYTES", 5_000)


@pytest.fixture
def ds():
    return Dataset.from_dict({"n": list(range(1000))})


def texts(batch):
    return {"text": [f"{n} " * 20 for n in batch["n"]], "half": [n / 2 for n in batch["n"]]}


EXPECTED = [{"n": n, "text": f"{n} " * 20, "half": n / 2} for n in range(1000)]


def new_file(dataset):
    """The first file that holds what the map made."""
    return Path(dataset.cache_files[0]["filename"])


@pytest.mark.parametrize("compression", ["lz4", "zstd"])
class TestCompressed:
    @pytest.fixture
    def out(self, ds, compression):
        return ds.map(texts, batched=True, batch_size=50, compression=compression)

    def test_it_is_smaller_and_of_many_batches(self, ds, out, compression):
        path = new_file(out)
        assert compression_of(path) == compression
        assert len(list(headers(path))) > 10
        assert sum(header.num_rows for header in headers(path)) == 1000
        size = path.stat().st_size
        plain = ds.map(texts, batched=True, batch_size=50, load_from_cache_file=False)
        assert new_file(plain) == path
        assert compression_of(path) is None
        assert size < path.stat().st_size / 2

    def test_its_name_and_rows_are_those_of_a_plain_one(self, ds, out):
        assert list(out) == EXPECTED
        assert ds.map(texts, batched=True, batch_size=50).fingerprint == out.fingerprint
        assert ds.explain_cache(texts, batched=True, batch_size=50).hit

    @pytest.mark.parametrize("rows", [[0], [999, 0, 500, 0], range(100, 900, 7), []])
    def test_any_rows_are_read(self, out, rows):
        assert list(out.select(rows)) == [EXPECTED[i] for i in rows]
        assert out[list(rows)]["text"] == [EXPECTED[i]["text"] for i in rows]

    def test_it_is_worked_on_as_others_are(self, out):
        assert out.shuffle(seed=1).sort("n")[-1] == EXPECTED[-1]
        assert out.select_columns(["half"])[3] == {"half": 1.5}
        assert out.filter(lambda row: row["half"] < 1)["n"][:] == [0, 1]
        assert out.map(lambda row: {"m": len(row["text"])}, num_proc=2)["m"][10] == 60
        assert len(concatenate_datasets([out, out.select(range(10))])) == 1010
        assert out.with_format("numpy")[:]["half"][7] == 3.5
        assert out.to_dict()["n"] == list(range(1000))


def test_files_of_different_compression_are_one_result(ds, tmp_path):
    class Stopped(Exception):
        pass

    def stopping(batch):
        if batch["n"][0] == 500 and not (tmp_path / "go").exists():
            raise Stopped
        return texts(batch)

    with pytest.raises(Exception, match="Stopped"):
        ds.map(stopping, batched=True, batch_size=50, num_proc=2, compression="zstd")
    (tmp_path / "go").touch()
    out = ds.map(stopping, batched=True, batch_size=50, num_proc=2)
    assert list(out) == EXPECTED


def test_the_setting_decides_where_the_call_does_not(ds, monkeypatch):
    with configured(cache_compression="lz4"):
        assert compression_of(new_file(ds.map(texts, batched=True, num_proc=2, batch_size=50))) == "lz4"
        plain = ds.map(texts, batched=True, batch_size=10, compression="none")
        assert compression_of(new_file(plain)) is None
    monkeypatch.setenv("ARROWPREP_CACHE_COMPRESSION", "zstd")
    assert config.Settings.from_environment().cache_compression == "zstd"
    with pytest.raises(BadArgument, match="gzip"):
        ds.map(texts, batched=True, compression="gzip")


def test_reading_decompresses_little_at_a_time(own_cache):
    """300 MB of text are read in order within 100 MB of memory beyond what the imports take."""
    script = textwrap.dedent(
        """
        import resource
        import pyarrow as pa
        from arrowprep import Dataset

        def grown():
            return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024 - before

        def long(batch):
            return {"text": [str(n) * (3000 // len(str(n))) for n in batch["n"]]}

        ds = Dataset.from_dict({"n": list(range(100_000))})
        ds.select(range(10)).map(long, batched=True)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        out = ds.map(long, batched=True, compression="lz4")
        assert sum(len(text) for batch in out.iter(1000) for text in batch["text"]) > 250e6
        assert out.map(lambda batch: {"m": [len(t) for t in batch["text"]]}, batched=True)["m"][5] == 3000
        print(grown())
        """
    )
    done = subprocess.run(
        [sys.executable, "-c", script], env=dict(os.environ), capture_output=True, text=True, check=True
    )
    assert float(done.stdout) < 100, done.stdout
