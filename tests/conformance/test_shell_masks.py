"""Assistant masks under truncation and padding, for the tagged templates, with qwen3's tokenizer."""

from __future__ import annotations

import csv
import json
import os
from collections import defaultdict
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from arrowprep import PreTrainedTokenizer, load_tokenizer

ROOT = os.environ.get("ARROWPREP_CONFORMANCE")

pytestmark = [
    pytest.mark.conformance,
    pytest.mark.skipif(ROOT is None, reason="ARROWPREP_CONFORMANCE is not set"),
]


def test_every_case_has_the_recorded_mask() -> None:
    assert ROOT
    folder = Path(ROOT) / "chat_templates"
    tokenizer = load_tokenizer(
        Path(ROOT) / "tokenizers" / "qwen3", clock=lambda: datetime(2025, 3, 14, 9, 26, 53)
    )
    chats = json.loads((folder / "conversations.json").read_text(encoding="utf-8"))
    by_template = defaultdict(list)
    for line in (folder / "mask_cases.jsonl").read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        by_template[case["t"]].append(case)
    tokens = special_tokens(folder / "MANIFEST.tsv")
    wrong = []
    for template, cases in by_template.items():
        tokenizer.chat_template = (folder / f"{template}.jinja").read_bytes().decode()
        tokenizer.bos_token, tokenizer.eos_token = tokens[template]
        wrong += [case for case in cases if not agrees(tokenizer, case, chats)]
    assert not wrong, f"{len(wrong)} differ; the first: {wrong[0]}"
    assert sum(map(len, by_template.values())) == 450


def special_tokens(manifest: Path) -> dict[str, tuple[str | None, str | None]]:
    with manifest.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
    return {
        row["name"]: tuple(None if row[k] == "-" else row[k] for k in ("bos_token", "eos_token"))
        for row in rows
    }  # type: ignore[misc]


def agrees(tokenizer: PreTrainedTokenizer, case: dict[str, Any], chats: dict[str, Any]) -> bool:
    (chat,) = (chat for chat in chats["conversations"] if chat["id"] == case["c"])
    named = {name: chats[name][chat[name]] for name in ("tools", "documents") if chat.get(name)}
    options = {**named, **chat["options"][case["o"]]}
    for side in ("truncation_side", "padding_side"):
        if side in case:
            setattr(tokenizer, side, case[side])
            how = {"truncation": True} if side == "truncation_side" else {"padding": "max_length"}
    encoded = tokenizer.apply_chat_template(
        chat["messages"],
        return_assistant_tokens_mask=True,
        max_length=case["max_length"],
        **how,
        **options,
    )
    mask = [0] * case["n_tokens"]
    for start, stop in case["mask"]:
        mask[start:stop] = [1] * (stop - start)
    return bool(encoded["assistant_masks"] == mask and len(encoded["input_ids"]) == case["n_tokens"])
