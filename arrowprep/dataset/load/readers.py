"""The formats: which suffix is read by what. The table at the end is the place to add one.

A format's module has `read(path, spec)`, which yields tables of the rows in order, each with the types of
what it holds, and OPTIONS; it is loaded when a file is read. `rules` says how the types widen.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from arrowprep.dataset.load.spec import ReadSpec
from arrowprep.dataset.load.suffixes import is_compressed, kind_of
from arrowprep.errors import BadArgument, UnknownFileType

if TYPE_CHECKING:
    import pyarrow as pa

    from arrowprep.dataset.load.ranges import Ranges
    from arrowprep.dataset.load.segments import Rules


class Reader(NamedTuple):
    """One format.

    module: beside this one, that reads it
    suffixes: of its files, compression left out
    typed: whether files say the types of what they hold
    compressed: whether files may be compressed as a whole
    defaults: options that differ from the format's usual ones
    in_ranges: the module by which several processes read one file; None: one does
    """

    name: str
    module: str
    suffixes: tuple[str, ...]
    typed: bool = False
    compressed: bool = True
    defaults: Mapping[str, Any] | None = None
    in_ranges: str | None = None

    def read(self, path: Path, spec: ReadSpec) -> Iterator[pa.Table]:
        """Tables of the rows, in order."""
        tables: Iterator[pa.Table] = _beside(self.module).read(path, spec)
        return tables

    @property
    def options(self) -> Collection[str]:
        """Names of what it can be told."""
        names: Collection[str] = _beside(self.module).OPTIONS
        return names

    @property
    def rules(self) -> Rules:
        """How the types of its tables widen."""
        from arrowprep.dataset.load.segments import NATURAL, TYPED

        return TYPED if self.typed else NATURAL

    @property
    def ranges(self) -> Ranges | None:
        """How several processes read one file."""
        if self.in_ranges is None:
            return None
        from arrowprep.dataset.load.ranges import Ranges

        module = _beside(self.in_ranges)
        return Ranges(module.cuts, module.read_range)

    def check(self, options: Mapping[str, Any]) -> Mapping[str, Any]:
        """The options with defaults; BadArgument for one that this format does not have."""
        if options and (unknown := sorted(set(options) - set(self.options))):
            raise BadArgument(
                f"the {self.name} reader has no option {', '.join(map(repr, unknown))}; "
                f"its options are {', '.join(sorted(self.options)) or 'none'}",
                options=unknown,
            )
        return {**(self.defaults or {}), **options}


def _beside(module: str) -> Any:
    return import_module(f"arrowprep.dataset.load.{module}")


READERS = {
    reader.name: reader
    for reader in (
        Reader("json", "json", (".jsonl", ".json", ".ndjson"), in_ranges="json"),
        Reader("csv", "csv", (".csv",), in_ranges="csv_ranges"),
        Reader("tsv", "csv", (".tsv", ".tab"), defaults={"sep": "\t"}, in_ranges="csv_ranges"),
        Reader("parquet", "parquet", (".parquet", ".pq"), typed=True, compressed=False),
        Reader("arrow", "ipc", (".arrow", ".feather", ".ipc"), typed=True, compressed=False),
        Reader("text", "text", (".txt", ".text")),
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
        f"{path} ({suffix}) is of no known type; known are {known}, most also with .gz .zst .bz2 .xz .lz4; "
        'where it is one of these under another name, say which: reader="json"',
        path=path,
    )
