"""What is far larger than memory opens at once."""

import mmap
import os
import subprocess
import sys
import textwrap

import pyarrow as pa
import pytest

ROWS = 1 << 27  # of each record batch: a GiB
BATCHES = 100


class _Sparse:
    """A file that leaves a hole where a whole record batch of zeros is written."""

    closed = False

    def __init__(self, path):
        self._file = open(path, "wb")  # noqa: SIM115

    def write(self, data):
        if len(data) >= ROWS:
            self._file.seek(len(data), os.SEEK_CUR)
        else:
            self._file.write(data)
        return len(data)

    def tell(self):
        return self._file.tell()

    def flush(self):
        self._file.flush()

    def close(self):
        self._file.truncate(self._file.tell())
        self._file.close()
        self.closed = True

    def writable(self):
        return True

    def readable(self):
        return False

    def seekable(self):
        return False


@pytest.fixture
def hundred_gigabytes(tmp_path):
    path = tmp_path / "huge.arrow"
    zeros = pa.Array.from_buffers(pa.int64(), ROWS, [None, pa.py_buffer(mmap.mmap(-1, ROWS * 8))])
    batch = pa.record_batch([zeros], names=["n"])
    sink = _Sparse(path)
    with pa.ipc.new_file(pa.PythonFile(sink, "w"), batch.schema) as writer:
        for _ in range(BATCHES):
            writer.write_batch(batch)
    sink.close()
    assert path.stat().st_size > 100e9
    if path.stat().st_blocks * 512 > 1e9:
        pytest.skip("this file system has no sparse files")
    return path


SCRIPT = """
    import resource, sys, time
    import arrowprep
    from arrowprep import load_local  # imports everything before the clock starts
    import arrowprep.dataset.load.convert

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    ds = load_local(sys.argv[1])
    first, last, length = ds[0]["n"], ds[-1]["n"], len(ds)
    batch = next(ds.with_format("numpy").shard(1000, 500).iter(32))
    seconds = time.process_time() - start
    megabytes = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    print(first, last, length, batch["n"].sum(), seconds, megabytes)
"""


def test_a_hundred_gigabytes_open_without_being_read(hundred_gigabytes):
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(SCRIPT), str(hundred_gigabytes)],
        check=True,
        capture_output=True,
        text=True,
    )
    first, last, length, total, seconds, megabytes = run.stdout.split()
    assert (int(first), int(last), int(length), int(total)) == (0, 0, ROWS * BATCHES, 0)
    assert float(seconds) < 5  # 20 ms and late imports here; reading it would take half a minute
    assert float(megabytes) < 100
