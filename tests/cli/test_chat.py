"""`arrowprep chat` shows what is trained, and reports what is lost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from arrowprep import data
from arrowprep.cli.main import main

CHATS = [
    [{"role": "user", "content": "2 + 2?"}, {"role": "assistant", "content": "Four."}],
    [{"role": "user", "content": "nobody answers \x1b[31m"}],
]


@pytest.fixture
def given(tmp_path: Path) -> list[str]:
    path = tmp_path / "chats.jsonl"
    path.write_text("\n".join(json.dumps({"messages": chat}) for chat in CHATS))
    return [str(path), "--tokenizer", str(data.GPT2), "--template", str(data.CHATML)]


def test_shows_a_conversation_with_what_is_trained_marked(given: Any, capsys: Any) -> None:
    assert main(["chat", "show", *given]) == 0
    assert capsys.readouterr().out == (
        "<|im_start|>user\n2 + 2?<|im_end|>\n<|im_start|>assistant\n[Four.<|im_end|>]\n"
        "--- 8 of 40 tokens are trained\n"  # Four, a full stop, and six of <|im_end|>
    )


def test_in_a_terminal_it_is_coloured(given: Any, capsys: Any, monkeypatch: Any) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    main(["chat", "show", *given])
    assert "\x1b[32mFour.<|im_end|>\x1b[0m" in capsys.readouterr().out


def test_shows_where_tokens_begin(given: Any, capsys: Any) -> None:
    main(["chat", "show", *given, "--boundaries"])
    assert "│2│ +│ 2│?│<" in capsys.readouterr().out


def test_control_characters_of_a_text_do_not_reach_the_terminal(given: Any, capsys: Any) -> None:
    main(["chat", "show", *given, "--row", "1", "--train-on", "all"])
    shown = capsys.readouterr().out
    assert "\\x1b[31m" in shown
    assert "\x1b" not in shown


def test_shows_what_is_trained_without_reasoning(tmp_path: Path, capsys: Any) -> None:
    thinking = "{% generation %}{{ '<think>' + message.reasoning_content + '</think>' + message.content"
    template = data.CHATML.read_text().replace(
        "{%- generation %}{{ message.content", thinking.replace("{%", "{%-", 1)
    )
    (tmp_path / "thinks.jinja").write_text(template)
    answer = {"role": "assistant", "content": "Four.", "reasoning_content": "Easy."}
    (tmp_path / "chats.jsonl").write_text(json.dumps({"messages": [CHATS[0][0], answer]}))
    given = [str(tmp_path / "chats.jsonl"), "--tokenizer", str(data.GPT2)]
    main(["chat", "show", *given, "--template", str(tmp_path / "thinks.jinja"), "--without", "reasoning"])
    assert "<think>Easy.</think>[Four.<|im_end|>]" in capsys.readouterr().out


def test_a_convention_names_the_parts_that_are_trained(given: Any, capsys: Any) -> None:
    main(["chat", "show", *given, "--convention", "header,trailing-newline", "--straddle", "inside"])
    shown = capsys.readouterr().out
    assert "[<|im_start|>assistant\nFour].<|im_end|>[\n]" in shown  # GPT-2 has a token ".<"
    main(["chat", "show", *given, "--convention", "none", "--spans", "infer", "--straddle", "start"])
    assert "assistant\n[Four.<]|im_end|>" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["chat", "show", *given, "--convention", "headers"])
    assert "no part headers; they are header, empty_reasoning" in capsys.readouterr().err


def test_says_how_much_is_cut_off(given: Any, capsys: Any) -> None:
    main(["chat", "show", *given, "--max-length", "36"])
    assert capsys.readouterr().out.endswith("--- 5 of 40 tokens are trained, 4 are cut off\n")


@pytest.mark.parametrize(
    ("options", "said"), [(["--row", "2"], "the rows are 0 to 1"), (["--template", "no.jinja"], "no.jinja")]
)
def test_what_is_not_there_is_one_line(given: Any, capsys: Any, options: list[str], said: str) -> None:
    assert main(["chat", "show", *given, *options]) == 1
    assert said in capsys.readouterr().err


def test_reports_rows_tokens_and_why_rows_are_dropped(given: Any, capsys: Any) -> None:
    assert main(["chat", "report", *given]) == 0
    shown = capsys.readouterr().out
    assert "2 in, 1 out" in shown
    assert "1 row: nothing to train (row 1: nobody answers \\x1b[31m)" in shown


def test_the_report_as_json(given: Any, capsys: Any) -> None:
    main(["chat", "report", *given, "--json", "--packing", "bfd", "--max-length", "64"])
    read = json.loads(capsys.readouterr().out)
    assert (read["rows_in"], read["rows_out"], read["packing"]["packs"]) == (2, 1, 1)


def test_writes_a_page_with_the_rows_that_something_is_wrong_with(
    given: Any, capsys: Any, tmp_path: Path
) -> None:
    out = tmp_path / "page.html"
    main(["chat", "report", *given, "--html", str(out), "--rows", "1"])
    page = out.read_text(encoding="utf-8")
    assert '<article id="row-1">' in page
    assert '<li class="problem">nothing to train</li>' in page
    assert '<article id="row-0">' not in page
    assert str(out) in capsys.readouterr().out
