"""Plain text: one column `text`, a row a line, a paragraph or a document."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from arrowprep.dataset.compute import pc
from arrowprep.dataset.load.sources import BLOCK_BYTES, Block, blocks, check_utf8, opened
from arrowprep.dataset.load.spec import ReadSpec
from arrowprep.errors import BadArgument

OPTIONS = {"sample_by", "keep_linebreaks", "encoding", "encoding_errors", "block_bytes", "chunksize"}
_SAMPLES = ("line", "paragraph", "document")


def read(path: Path, spec: ReadSpec) -> Iterator[pa.Table]:
    """Tables of one text column; line ends are \\n, whatever the file has.

    options: sample_by ("line", "paragraph": parted by empty lines, or "document": the
    whole file), keep_linebreaks (of lines), encoding, encoding_errors.
    """
    options = spec.options
    sample_by = options.get("sample_by", "line")
    if sample_by not in _SAMPLES:
        raise BadArgument(f"sample_by={sample_by!r} is none of {', '.join(_SAMPLES)}", sample_by=sample_by)
    keep = bool(options.get("keep_linebreaks", False))
    with opened(path, options.get("encoding", "utf-8"), options.get("encoding_errors", "strict")) as stream:
        size = options.get("block_bytes", BLOCK_BYTES)
        if sample_by == "document":
            document = b"".join(block.data for block in blocks(stream, path, size))
            yield _table([_unix(Block.of(document, 1), path)])
        elif sample_by == "line":
            for block in blocks(stream, path, size):
                yield _lines(_unix(block, path), keep)
        else:
            yield from _paragraphs(blocks(stream, path, size), path)


def _unix(block: Block, path: Path) -> bytes:
    check_utf8(block, path)
    data = bytes(block.data)
    return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in data else data


def _lines(data: bytes, keep: bool) -> pa.Table:
    ended = data.endswith(b"\n")
    pieces = pc.split_pattern(pa.array([data], pa.large_binary()).cast(pa.large_string()), "\n").flatten()
    if ended:
        pieces = pieces[:-1]
    texts = pieces.cast(pa.string())
    if keep:
        ends = pa.array(["\n"] * (len(texts) - 1) + ["\n" if ended else ""], pa.string())
        texts = pc.binary_join_element_wise(texts, ends, "")
    return pa.table({"text": texts})


def _paragraphs(source: Iterator[Block], path: Path) -> Iterator[pa.Table]:
    rest = b""
    for block in source:
        *whole, rest = (rest + _unix(block, path)).split(b"\n\n")
        yield _table([piece for piece in whole if piece])
    if rest.strip(b"\n"):
        yield _table([rest])


def _table(pieces: list[bytes]) -> pa.Table:
    large = sum(map(len, pieces)) >= 1 << 31  # more than 32-bit offsets reach
    kind = (pa.large_binary(), pa.large_string()) if large else (pa.binary(), pa.string())
    return pa.table({"text": pa.array(pieces, kind[0]).cast(kind[1])})
