"""Work that will not fit on the disk is refused with figures, before it has filled it."""

import errno
import json
import os

import pytest

from arrowprep import Dataset, configured, load_local
from arrowprep.dataset.storage import ipc, room
from arrowprep.errors import CacheError, DiskFull


@pytest.fixture
def disk(monkeypatch):
    """A disk with as many bytes left as is said."""

    class Disk:
        free = 10**12

    real = os.statvfs

    def statvfs(path):
        found = list(real(path))
        found[1], found[2], found[4] = 1, max(found[2], 1), Disk.free  # f_frsize, f_blocks, f_bavail
        return os.statvfs_result(found)

    monkeypatch.setattr(os, "statvfs", statvfs)
    return Disk


@pytest.fixture
def ds():
    return Dataset.from_dict({"n": list(range(100))})


@pytest.fixture(autouse=True)
def every_batch_is_written(monkeypatch):
    monkeypatch.setattr(ipc, "BATCH_BYTES", 1)


def long(batch):
    return {"text": [f"{n:04}" * 1000 for n in batch["n"]]}


def test_what_all_rows_will_take_is_told_by_the_first(ds, disk, own_cache):
    disk.free = 100_000
    with pytest.raises(
        DiskFull, match=r"long was stopped: no room in .*the rest of the result needs"
    ) as caught:
        ds.map(long, batched=True, batch_size=5)
    assert caught.value.path == own_cache / "results"
    assert 370_000 < caught.value.needed < 420_000  # 95 rows of 4 kB
    assert caught.value.free == 100_000
    assert "what was whole is kept" in str(caught.value)
    assert "ARROWPREP_CACHE or cache_dir=" in str(caught.value)


def test_what_was_whole_is_kept_for_when_there_is_room(ds, disk, tmp_path):
    def noted(batch):
        with (tmp_path / "calls").open("a") as file:
            file.write(f"{batch['n'][0]} ")
        return long(batch)

    disk.free = 100_000
    for _ in range(3):
        with pytest.raises(DiskFull):
            ds.map(noted, batched=True, batch_size=5)
    disk.free = 10**12
    assert ds.map(noted, batched=True, batch_size=5)["text"][99] == "0099" * 1000
    assert (tmp_path / "calls").read_text().split() == [str(n) for n in range(0, 100, 5)]


def test_guessing_can_be_switched_off_and_then_only_what_is_written_counts(ds, disk):
    disk.free = 100_000
    with configured(check_room=False):
        assert len(ds.map(long, batched=True, batch_size=5)) == 100
        disk.free = 10_000
        with pytest.raises(DiskFull, match="the next batch needs 20") as caught:
            ds.map(long, batched=True, batch_size=5, load_from_cache_file=False)
    assert caught.value.needed > 20_000


def test_what_other_workers_have_written_is_not_needed_again(tmp_path, disk):
    outlook = room.Outlook(tmp_path / "cache-x", 100)
    (tmp_path / "cache-x-0-0.arrow").write_bytes(bytes(400))
    (tmp_path / ".cache-x-1-0.arrow.tmp").write_bytes(bytes(400))
    disk.free = 200
    outlook.check(50, 500)  # 1000 in all, of which 800 are there
    disk.free = 199
    with pytest.raises(DiskFull, match="needs 200 bytes, and 199 bytes are free"):
        outlook.check(50, 500)


def test_a_file_that_cannot_fit_is_not_begun(tmp_path, disk, own_cache):
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps({"n": n}) + "\n" for n in range(1000)))
    disk.free = path.stat().st_size // 2 - 1
    with pytest.raises(DiskFull, match=r"rows\.jsonl as Arrow needs at least"):
        load_local(path)
    assert list(own_cache.rglob("*.arrow")) == []
    disk.free = 7  # a row is a batch here
    with configured(check_room=False), pytest.raises(DiskFull, match="the next batch needs"):
        load_local(path)
    disk.free = 10**12
    assert len(load_local(path)) == 1000


def test_a_folder_of_unknown_room_is_written(ds, monkeypatch):
    def unknown(path):
        raise OSError(errno.ENOSYS, "not here")

    monkeypatch.setattr(os, "statvfs", unknown)
    assert len(ds.map(long, batched=True)) == 100


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG])
def test_a_full_disk_is_an_error_of_its_own(tmp_path, code):
    with (
        pytest.raises(DiskFull, match=r"cannot write 1\.0 kB in .*are free"),
        room.telling_folder(tmp_path, 1000),
    ):
        raise OSError(code, os.strerror(code))
    with pytest.raises(CacheError, match="cannot write in") as caught, room.telling_folder(tmp_path):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))
    assert not isinstance(caught.value, DiskFull)
