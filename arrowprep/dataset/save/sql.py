"""Rows into a table of a database, batch by batch, through pandas."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyarrow as pa

from arrowprep.dataset import formats
from arrowprep.dataset.features import Features
from arrowprep.dataset.load.sql import connected


def write_sql(
    tables: Iterable[pa.Table],
    name: str,
    con: Any,
    features: Features,
    *,
    if_exists: str = "fail",
    index: bool = False,
    **options: Any,
) -> int:
    """Write all rows to a table; returns how many. if_exists, options: of pandas.DataFrame.to_sql"""
    pandas = formats.make("pandas")
    written = 0
    with connected(con) as connection:
        for table in tables:
            frame = pandas.batch(table, features)
            frame.to_sql(name, connection, index=index, if_exists=if_exists, **options)
            written, if_exists = written + table.num_rows, "append"
    return written
