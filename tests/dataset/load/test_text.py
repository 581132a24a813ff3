"""Text files are lines, paragraphs or whole documents."""

from __future__ import annotations

from pathlib import Path

import pytest

from arrowprep.errors import BadArgument, UnreadableFile
from tests.dataset.load import load, rows

BLOCKS = [1, 3, 10_000]


def texts(tmp_path: Path, content: str, **options) -> list[str]:
    path = tmp_path / "a.txt"
    path.write_bytes(content.encode())
    return [row["text"] for row in rows(load(path, tmp_path / "cache", **options))]


@pytest.mark.parametrize("block_bytes", BLOCKS)
@pytest.mark.parametrize("content", ["a\nb", "a\n\nb\n", "\n", "é\n猫\n", "x" * 50 + "\ny\n"])
def test_a_row_is_a_line(tmp_path: Path, content: str, block_bytes: int) -> None:
    assert texts(tmp_path, content, block_bytes=block_bytes) == content.splitlines()
    kept = texts(tmp_path, content, block_bytes=block_bytes, keep_linebreaks=True)
    assert kept == content.splitlines(keepends=True)


def test_other_line_ends_are_line_ends_and_other_spaces_are_not(tmp_path: Path) -> None:
    assert texts(tmp_path, "a\r\nb\rc\u2028d\fe\n") == ["a", "b", "c\u2028d\fe"]


@pytest.mark.parametrize("block_bytes", BLOCKS)
def test_paragraphs_are_parted_by_empty_lines(tmp_path: Path, block_bytes: int) -> None:
    content = "a\nb\n\nc\n\n\n\nd\n"
    assert texts(tmp_path, content, sample_by="paragraph", block_bytes=block_bytes) == ["a\nb", "c", "d\n"]


@pytest.mark.parametrize("block_bytes", BLOCKS)
def test_a_document_is_the_whole_file(tmp_path: Path, block_bytes: int) -> None:
    assert texts(tmp_path, "a\n\nb\n", sample_by="document", block_bytes=block_bytes) == ["a\n\nb\n"]


def test_what_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile, match="is empty"):
        texts(tmp_path, "")
    with pytest.raises(BadArgument, match="sample_by='word'"):
        texts(tmp_path, "a", sample_by="word")
    (tmp_path / "b.txt").write_bytes(b"a\nb\xff\n")
    with pytest.raises(UnreadableFile, match="line 2 is not UTF-8"):
        load(tmp_path / "b.txt", tmp_path / "cache")
