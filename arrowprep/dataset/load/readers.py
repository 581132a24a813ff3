"""The formats: which suffix is read by what. The table at the end is the place to add one.

A reader is a function `read(path, spec)` that yields tables of the rows in
order; each has the types of what it holds. `rules` says how they widen.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from arrowprep.dataset.load import csv, csv_ranges, ipc, json, parquet, text
from arrowprep.dataset.load.ranges import Ranges
from arrowprep.dataset.load.segments import NATURAL, TYPED, Rules
from arrowprep.dataset.load.sources import is_compressed, kind_of
from arrowprep.dataset.load.spec import ReadSpec
from arrowprep.errors import BadArgument, UnknownFileType


@dataclass(frozen=True)
class Reader:
    """One format.

    suffixes: of its files, compression left out
    options: names of what it can be told
    compressed: whether files may be compressed as a whole
    defaults: options that differ from the format's usual ones
    ranges: how several processes read one file; None: one does
    """

    name: str
    read: Callable[[Path, ReadSpec], Iterator[pa.Table]]
    suffixes: tuple[str, ...]
    options: Collection[str]
    rules: Rules
    compressed: bool = True
    defaults: Mapping[str, Any] | None = None
    ranges: Ranges | None = None

    def check(self, options: Mapping[str, Any]) -> Mapping[str, Any]:
        """The options with defaults; BadArgument for one that this format does not have."""
        if unknown := sorted(set(options) - set(self.options)):
            raise BadArgument(
                f"the {self.name} reader has no option {', '.join(map(repr, unknown))}; "
                f"its options are {', '.join(sorted(self.options)) or 'none'}",
                options=unknown,
            )
        return {**(self.defaults or {}), **options}


_OF_JSON = Ranges(json.cuts, json.read_range)
_OF_CSV = Ranges(csv_ranges.cuts, csv_ranges.read_range)
_TABS = {"sep": "\t"}
READERS = {
    reader.name: reader
    for reader in (
        Reader("json", json.read, (".jsonl", ".json", ".ndjson"), json.OPTIONS, NATURAL, ranges=_OF_JSON),
        Reader("csv", csv.read, (".csv",), csv.OPTIONS, NATURAL, ranges=_OF_CSV),
        Reader(
            "tsv", csv.read, (".tsv", ".tab"), csv.OPTIONS, NATURAL, defaults={"sep": "\t"}, ranges=_OF_CSV
        ),
        Reader("parquet", parquet.read, (".parquet", ".pq"), parquet.OPTIONS, TYPED, compressed=False),
        Reader("arrow", ipc.read, (".arrow", ".feather", ".ipc"), ipc.OPTIONS, TYPED, compressed=False),
        Reader("text", text.read, (".txt", ".text"), text.OPTIONS, NATURAL),
    )
}
_BY_SUFFIX = {suffix: reader for reader in READERS.values() for suffix in reader.suffixes}


def reader_for(path: Path) -> Reader | None:
    """The reader that the suffix tells; None where it tells none."""
    reader = _BY_SUFFIX.get(kind_of(path))
    if reader is not None and is_compressed(path) and not reader.compressed:
        return None
    return reader


def named_reader(name: str) -> Reader:
    """The reader of a format name; BadArgument lists the formats."""
    reader = {**READERS, "jsonl": READERS["json"], "ndjson": READERS["json"]}.get(name)
    if reader is None:
        raise BadArgument(f"no reader is named {name!r}; the readers are {', '.join(READERS)}", reader=name)
    return reader


def unknown_type(path: Path) -> UnknownFileType:
    """The error for a file whose suffix tells no format."""
    suffix = "".join(path.suffixes) or "no suffix"
    known = ", ".join(_BY_SUFFIX)
    return UnknownFileType(
        f"{path} ({suffix}) is of no known type; known are {known}, most also with .gz .zst .bz2 .xz; "
        'where it is one of these under another name, say which: reader="json"',
        path=path,
    )
