"""A ReadInstruction is a split expression that was put together."""

from __future__ import annotations

from pathlib import Path

import pytest

from arrowprep import ReadInstruction, load_dataset
from arrowprep.errors import BadArgument

ROWS = {"train": 95, "test": 7}


@pytest.mark.parametrize(
    ("given", "spec"),
    [
        ({}, "train"),
        ({"to": 10, "unit": "%"}, "train[:10%]"),
        ({"from_": -5, "unit": "abs"}, "train[-5:]"),
        ({"from_": 10, "to": 20}, "train[10:20]"),
        ({"rounding": "closest", "to": 33, "unit": "%"}, "train[:33%]"),
        (
            {"rounding": "pct1_dropremainder", "from_": 5, "to": 7, "unit": "%"},
            "train[5%:7%](pct1_dropremainder)",
        ),
    ],
)
def test_it_says_what_the_expression_says(given: dict, spec: str) -> None:
    instruction = ReadInstruction("train", **given)
    assert instruction.to_spec() == str(instruction) == spec
    assert ReadInstruction.from_spec(spec).to_absolute({"train": 1000}) == instruction.to_absolute(
        {"train": 1000}
    )


def test_it_is_added_up_and_told_as_rows() -> None:
    both = ReadInstruction("train", to=10, unit="%") + ReadInstruction("test", from_=-2)
    first, second = both.to_absolute(ROWS)
    assert (first.splitname, first.from_, first.to) == ("train", 0, 10)
    assert second == ("test", 5, 7)


@pytest.mark.parametrize(
    "given", [{"to": 101, "unit": "%"}, {"to": 1, "unit": "rows"}, {"to": 1, "rounding": "closest"}]
)
def test_what_has_no_meaning_is_refused(given: dict) -> None:
    with pytest.raises(BadArgument):
        ReadInstruction("train", **given)
    with pytest.raises(BadArgument, match="no split expression"):
        ReadInstruction.from_spec("train[")


def test_it_picks_rows_where_an_expression_does(tmp_path: Path) -> None:
    file = tmp_path / "train.txt"
    file.write_text("".join(f"{n}\n" for n in range(20)))
    halves = ReadInstruction("train", to=10, unit="%") + ReadInstruction("train", from_=-1)
    assert load_dataset("text", data_files=str(file), split=halves)["text"].to_list() == ["0", "1", "19"]
    first, last = load_dataset("text", data_files=str(file), split=["train[:1]", "train[-1:]"])
    assert (first[0], last[0]) == ({"text": "0"}, {"text": "19"})
