"""`arrowprep tokenizer`: what it shows of a tokenizer, and of a text."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from arrowprep.cli import style
from arrowprep.cli.main import main
from tests.tokenize.small import pipeline, write_folder


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["tokenizer", *arguments]) == 0
    return capsys.readouterr().out


def numbers(shown: str) -> dict[str, str]:
    """The sizes by their names."""
    found = re.findall(
        r"^  (vocab_size|len\(tokenizer\)|highest id \+ 1|config\.json) +([\d,]+)", shown, re.M
    )
    return dict(found)


class TestShow:
    def test_every_part_of_the_pipeline_is_shown(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        split = {"type": "Split", "pattern": {"Regex": r"\d{1,3}|" + "x" * 90}, "behavior": "Isolated"}
        parts = [{**split, "invert": False}, pipeline()["pre_tokenizer"]]
        folder = write_folder(tmp_path, pre_tokenizer={"type": "Sequence", "pretokenizers": parts})
        shown = printed(capsys, "show", str(folder))
        assert re.search(r"normalizer\n  none\n", shown)
        assert re.search(r"Sequence of 2\n    Split\(.*\n      \\d\{1,3\}\|x{90}\n    ByteLevel", shown)
        assert "268 tokens, 12 merges" in shown
        assert re.search(r"one text +<bos>:0 \$A:0 <eos>:0\n", shown)
        assert re.search(r"270  '<pad>' +special\n", shown)
        assert re.search(r"bos_token +<bos>\n", shown)

    def test_the_sizes_are_told_apart(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        folder = write_folder(tmp_path)
        (folder / "config.json").write_text(json.dumps({"text_config": {"vocab_size": 300}}))
        shown = printed(capsys, "show", str(folder))
        assert numbers(shown) == {
            "vocab_size": "268",
            "len(tokenizer)": "272",
            "highest id + 1": "272",
            "config.json": "300",
        }
        assert "28 rows are spare" in shown

    def test_ids_that_outgrow_the_embedding_are_said(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        folder = write_folder(tmp_path)
        (folder / "config.json").write_text('{"vocab_size": 270}')
        assert "2 have no row; resize it to 272" in printed(capsys, "show", str(folder))

    def test_without_a_config_nothing_is_claimed(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert "is not known" in printed(capsys, "show", str(write_folder(tmp_path) / "tokenizer.json"))

    def test_what_is_wrong_is_said_where_asked(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert "nothing is wrong" in printed(capsys, "show", "--check", str(write_folder(tmp_path / "right")))
        model = pipeline()["model"]
        lacking = {**model, "merges": [merge for merge in model["merges"] if merge != ["1", "2"]]}
        shown = printed(capsys, "show", "--check", str(write_folder(tmp_path / "lacking", model=lacking)))
        assert re.search(r"check\n  .*'12'", shown)

    def test_a_file_that_cannot_be_read_is_one_line(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert main(["tokenizer", "show", str(tmp_path)]) == 1
        assert capsys.readouterr().err.count("\n") == 1


class TestTry:
    def test_each_token_has_its_id_and_its_place(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        shown = printed(capsys, "try", str(write_folder(tmp_path)), "hello world!")
        assert "[hello][ world][!]\n" in shown
        assert re.search(r" 2 +\d+  5\.\.11 +Ġworld +world\n", shown)
        assert re.search(r" 0 +268  0\.\.0 +<bos>\n", shown)
        assert "5 tokens of 12 characters" in shown

    def test_special_tokens_can_be_left_out(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        shown = printed(capsys, "try", "--no-special", str(write_folder(tmp_path)), "hello")
        assert "<bos>" not in shown

    def test_nothing_in_a_text_can_move_the_cursor(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert "\x1b" not in printed(capsys, "try", str(write_folder(tmp_path)), "a\x1b[2Jb\r")

    def test_a_terminal_shows_tokens_in_colours(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(style, "coloured", lambda: True)
        shown = printed(capsys, "try", str(write_folder(tmp_path)), "hello")
        assert "\x1b[33mhello\x1b[0m" in shown
