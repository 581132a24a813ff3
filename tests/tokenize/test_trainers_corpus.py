"""What trainers read: texts, columns and files, in blocks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from arrowprep.errors import NotText
from arrowprep.tokenize.trainers import blocks_of, corpus, lines_of
from arrowprep.tokenize.trainers.words import Words


def read(blocks: Any) -> list[str]:
    return [text for block in blocks for text in (block if isinstance(block, list) else block.to_pylist())]


class TestFiles:
    @given(st.text("aé\n\r ", max_size=40), st.integers(1, 9))
    @settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
    def test_lines_are_those_of_python_wherever_blocks_end(
        self, tmp_path: Path, text: str, size: int
    ) -> None:
        path = tmp_path / "lines.txt"
        path.write_bytes(text.encode())
        with pytest.MonkeyPatch.context() as patch, path.open(encoding="utf-8", newline="") as lines:
            patch.setattr(corpus, "BLOCK_BYTES", size)
            assert read(lines_of([path, path])) == [*lines, *text.splitlines(keepends=True)]

    def test_a_line_that_is_no_utf8_is_named(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(corpus, "BLOCK_BYTES", 4)
        path = tmp_path / "broken.txt"
        path.write_bytes(b"one\ntwo\nth\xffree\n")
        with pytest.raises(NotText, match=r"broken\.txt, line 3: "):
            read(lines_of([path]))


class TestBlocks:
    @pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()])
    def test_columns_are_cut_by_bytes(self, kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(corpus, "BLOCK_BYTES", 10)
        texts = ["", "seven77", "four", None, "x" * 30, "a", "b"]
        column = pa.chunked_array([pa.array(["off", *texts], kind)[1:], pa.array(texts, kind)])
        blocks = list(blocks_of(column))
        assert read(blocks) == texts * 2
        sizes = [len("".join(read([block.drop_null()]))) for block in blocks]
        assert all(size <= 10 or len(block) == 1 for size, block in zip(sizes, blocks, strict=True))
        assert len(blocks) == 8

    def test_what_is_mixed_keeps_its_order(self) -> None:
        given = ["a", "b", ["c", "d"], pa.array(["e"]), "f", ("g",), []]
        assert read(blocks_of(given)) == list("abcdefg")
        with pytest.raises(NotText, match="element 1 has int"):
            read(blocks_of(iter(["a", 1])))


@given(st.dictionaries(st.text("ab\U0001f600\ud800", max_size=4), st.integers(1, 1 << 62)))
def test_words_are_a_mapping_with_the_order_that_was_given(counts: dict[str, int]) -> None:
    words = Words.of(counts)
    assert list(words.items()) == list(counts.items())
    assert words.total() == sum(counts.values())
    assert words.characters == sorted(set("".join(counts)))
    assert words.lengths.tolist() == list(map(len, counts))
