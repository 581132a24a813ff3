"""Chat templates against golden renderings, refusals, spans and tool schemas."""

from __future__ import annotations

import csv
import json
import os
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from arrowprep.chat import ChatTemplate
from arrowprep.chat.tools import function_schema
from arrowprep.errors import ChatError, TemplateError, ToolSchemaError

HOME = os.environ.get("ARROWPREP_CONFORMANCE")
pytestmark = [
    pytest.mark.conformance,
    pytest.mark.skipif(HOME is None, reason="ARROWPREP_CONFORMANCE does not name the golden data"),
]
FOLDER = Path(HOME or ".") / "chat_templates"
NOW = datetime(2025, 3, 14, 9, 26, 53)


def lines(name: str) -> list[dict[str, Any]]:
    return [row for row in map(json.loads, (FOLDER / name).open()) if "header" not in row]


class Golden:
    """The golden calls, and a template for each name."""

    def __init__(self) -> None:
        data = json.loads((FOLDER / "conversations.json").read_text())
        self.named = {"tools": data["tools"], "documents": data["documents"]}
        self.conversations = {c["id"]: c for c in data["conversations"]}
        with (FOLDER / "MANIFEST.tsv").open() as rows:
            self.templates = {
                row["name"]: ChatTemplate(
                    (FOLDER / f"{row['name']}.jinja").read_bytes().decode(),
                    special_tokens={k: row[k] for k in ("bos_token", "eos_token") if row[k] not in ("-", "")},
                    clock=lambda: NOW,
                )
                for row in csv.DictReader(rows, delimiter="\t", quoting=csv.QUOTE_NONE)
            }
        # where the reference is wrong, the right text
        self.right = {
            (row["t"], row["c"], row["o"]): row["right"] for row in lines("known_faults.jsonl") if "t" in row
        }

    def render(self, line: dict[str, Any]) -> Any:
        conversation = self.conversations[line["c"]]
        options = dict(conversation["options"][line["o"]])
        for kind in ("tools", "documents"):
            if kind in conversation:
                options[kind] = self.named[kind][conversation[kind]]
        return self.templates[line["t"]].render(conversation["messages"], **options)


@pytest.fixture(scope="module")
def golden() -> Golden:
    return Golden()


def test_renderings_refusals_and_spans_are_the_references(golden: Golden, capsys: Any) -> None:
    wrong, counts = [], dict.fromkeys(("renderings", "refusals", "kinds", "spans"), 0)
    wanted = dict(counts)
    for line in lines("golden.jsonl"):
        place = (line["t"], line["c"], line["o"])
        try:
            rendered, error = golden.render(line), None
        except ChatError as refusal:
            rendered, error = None, refusal
        if line["ok"]:
            checks = {"renderings": rendered and rendered.text == golden.right.get(place, line["text"])}
            if "spans" in line and place not in golden.right:
                checks["spans"] = rendered and [list(span) for span in rendered.spans] == line["spans"]
        else:
            checks = {
                "refusals": error is not None,
                "kinds": error and error.facts.get("kind") == line["kind"],
            }
        for name, right in checks.items():
            wanted[name] += 1
            counts[name] += bool(right)
            if not right:
                wrong.append((name, *place, str(error)))
    said = ", ".join(f"{name} {count}/{wanted[name]}" for name, count in counts.items())
    with capsys.disabled():
        print(f"\nchat: {said}")
    assert not wrong
    assert wanted["renderings"] > 2000


# what the reference makes wrong parameters of, or refuses though it could be read
PUT_RIGHT = {"star_args": "refused", "numpy_docstring": "read", "sphinx_docstring": "read"}


def test_tool_schemas_are_the_references(capsys: Any) -> None:
    cases, right = lines("schema_cases.jsonl"), 0
    for case in cases:
        names: dict[str, Any] = {}
        exec("from typing import *\nfrom enum import Enum\n" + case["source"], names)
        try:
            got = function_schema(names["f"])
        except ToolSchemaError as error:
            got = error.kind
        put_right = PUT_RIGHT.get(case["id"])
        if put_right == "refused":
            assert got == "type_hint", case["id"]
        elif put_right == "read":
            assert got["function"]["parameters"]["properties"]["a"] == {"type": "integer", "description": "A"}
        else:
            assert got == case.get("schema", case.get("kind")), case["id"]
        right += 1
    with capsys.disabled():
        print(f"\nchat: schemas {right}/{len(cases)}")
    assert len(cases) > 30


def test_every_refusal_is_a_template_error(golden: Golden) -> None:
    for line in lines("golden.jsonl"):
        if not line["ok"]:
            with pytest.raises(TemplateError):
                golden.render(line)
