"""Rows of a database: a query or a whole table, through pandas."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import pyarrow as pa

from arrowprep.dataset.construct import table_of_frame
from arrowprep.dataset.features import Features

_SQLITE = "sqlite:///"


def read_sql(sql: Any, con: Any, features: Features | None = None, **options: Any) -> pa.Table:
    """The rows of a query, or of the table of that name. options: of pandas.read_sql"""
    import pandas as pd

    if isinstance(sql, str) and not sql.split(maxsplit=1)[1:]:
        sql = f'SELECT * FROM "{sql}"'
    with connected(con) as connection:
        return table_of_frame(pd.read_sql(sql, connection, **options), features)


@contextmanager
def connected(con: Any) -> Iterator[Any]:
    """A connection that pandas takes: SQLite files by Python's own module, others as they are given."""
    if not (isinstance(con, str) and con.startswith(_SQLITE)):
        yield con
        return
    with closing(sqlite3.connect(con.removeprefix(_SQLITE))) as connection, connection:
        yield connection
