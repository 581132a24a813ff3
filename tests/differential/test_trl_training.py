"""A prepared dataset goes into transformers' Trainer as it is; its loss is that of the rows by hand."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from arrowprep import data, load_local, load_tokenizer
from arrowprep.chat import DataCollatorWithPadding, prepare_sft

torch = pytest.importorskip("torch", reason="torch is not installed: nothing can be trained")
transformers = pytest.importorskip("transformers", reason="transformers is not installed")
pytest.importorskip("accelerate", reason="accelerate, which Trainer needs, is not installed")


@pytest.fixture
def tokenizer() -> Any:
    found = load_tokenizer(data.GPT2)
    found.chat_template = data.CHATML.read_text()
    found.pad_token = found.eos_token
    return found


@pytest.fixture
def model() -> Any:
    torch.manual_seed(0)
    config = transformers.GPT2Config(
        n_layer=1, n_head=2, n_embd=16, n_positions=128, resid_pdrop=0, embd_pdrop=0, attn_pdrop=0
    )
    return transformers.GPT2LMHeadModel(config)


def loss_by_hand(model: Any, rows: list[dict[str, Any]]) -> float:
    """Cross entropy over the tokens with labels, row by row, without padding."""
    total, count = 0.0, 0
    with torch.no_grad():
        for row in rows:
            logits = model(torch.tensor([row["input_ids"]])).logits[0, :-1]
            labels = torch.tensor(row["labels"][1:])
            total += float(
                torch.nn.functional.cross_entropy(logits, labels, reduction="sum", ignore_index=-100)
            )
            count += int((labels != -100).sum())
    return total / count


@pytest.mark.parametrize("form", ["as it is", "through to_hf"])
def test_two_steps_of_a_tiny_model(tokenizer: Any, model: Any, tmp_path: Path, form: str) -> None:
    conversations = load_local(str(data.CONVERSATIONS), split="train").select(range(8))
    rows = prepare_sft(conversations, tokenizer, max_length=100)
    expected = loss_by_hand(model, [rows[i] for i in range(4)])
    given = rows
    if form == "through to_hf":
        pytest.importorskip("datasets", reason="datasets, which to_hf gives, is not installed")
        given = rows.to_hf()
    arguments = transformers.TrainingArguments(
        output_dir=str(tmp_path),
        max_steps=2,
        per_device_train_batch_size=4,
        logging_steps=1,
        train_sampling_strategy="sequential",
        use_cpu=True,
        report_to=[],
        save_strategy="no",
    )
    trainer = transformers.Trainer(
        model, arguments, data_collator=DataCollatorWithPadding(tokenizer), train_dataset=given
    )
    trainer.train()
    first, second = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
    assert first == pytest.approx(expected, rel=1e-4)
    assert math.isfinite(second)
