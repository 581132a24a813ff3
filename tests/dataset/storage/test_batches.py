"""What is small is put together in a file, what is large is written as it is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from arrowprep.dataset.indices import Span
from arrowprep.dataset.load.segments import NATURAL, Segments
from arrowprep.dataset.storage import ipc
from arrowprep.dataset.storage.parts import PartPlan, PartWriter

LARGE = ipc.ALONE_BYTES // 8  # rows of a number


def tables(rows: int) -> list[pa.Table]:
    numbers = np.arange(5 * rows)
    return [pa.table({"n": numbers[at : at + rows]}) for at in range(0, len(numbers), rows)]


def as_part(folder: Path, given: list[pa.Table]) -> list[pa.RecordBatch]:
    writer = PartWriter(PartPlan(folder / "part", sum(map(len, given))), 0)
    at = 0
    for table in given:
        writer.append(table, Span(at, at := at + len(table)), {})
    [part] = writer.close()
    assert sum(map(len, part.spans)) == at
    return ipc.open_mapped(part.path).to_batches()


def as_segments(folder: Path, given: list[pa.Table]) -> list[pa.RecordBatch]:
    with Segments(folder, pa.schema([]), NATURAL) as segments:
        for table in given:
            segments.add(table)
        [path] = segments.finish()
    return ipc.open_mapped(path).to_batches()


@pytest.mark.parametrize("written", [as_part, as_segments])
@pytest.mark.parametrize(
    ("rows", "count"), [(10, 1), (ipc.ALONE_BYTES // 8 - 1, 1), (ipc.ALONE_BYTES // 8, 5)]
)
def test_tables_are_put_together_unless_they_are_large(tmp_path, written, rows, count):
    given = tables(rows)
    batches = written(tmp_path, given)
    assert len(batches) == count
    assert pa.Table.from_batches(batches) == pa.concat_tables(given)
