"""Train two steps of a tiny model on prepared conversations, in transformers' Trainer.

    python examples/sft_train.py                    # the packaged sample
    python examples/sft_train.py chats.jsonl --tokenizer path/to/tokenizer

Needs torch, transformers, accelerate and datasets. The loss of the first step is also worked out by hand, row
by row and without padding: what the trainer learns from is what was prepared.
"""

from __future__ import annotations

import argparse
import tempfile
from typing import Any

import torch
import transformers

from arrowprep import data, load_local, load_tokenizer
from arrowprep.chat import DataCollatorWithPadding, prepare_sft

BATCH = 4
IGNORED = -100  # the label that a loss function skips


def tiny_model(vocab_size: int, positions: int) -> Any:
    torch.manual_seed(0)
    shape = {"n_layer": 1, "n_head": 2, "n_embd": 16, "n_positions": positions, "vocab_size": vocab_size}
    return transformers.GPT2LMHeadModel(
        transformers.GPT2Config(**shape, resid_pdrop=0, embd_pdrop=0, attn_pdrop=0)
    )


def loss_by_hand(model: Any, rows: list[dict[str, Any]]) -> float:
    """Mean cross entropy of the tokens with labels."""
    total = count = 0.0
    with torch.no_grad():
        for row in rows:
            logits = model(torch.tensor([row["input_ids"]])).logits[0, :-1]
            labels = torch.tensor(row["labels"][1:])
            losses = torch.nn.functional.cross_entropy(logits, labels, reduction="sum", ignore_index=IGNORED)
            total, count = total + float(losses), count + int((labels != IGNORED).sum())
    return total / count


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="?", default=str(data.CONVERSATIONS), help="files of rows")
    parser.add_argument("--tokenizer", default=str(data.GPT2))
    parser.add_argument("--max-length", type=int, default=128)
    options = parser.parse_args()

    tokenizer = load_tokenizer(options.tokenizer)
    tokenizer.chat_template = tokenizer.chat_template or data.CHATML.read_text()
    tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token
    rows = prepare_sft(
        load_local(options.files, split="train"), tokenizer, max_length=options.max_length, spans="auto"
    )
    model = tiny_model(len(tokenizer), options.max_length)
    expected = loss_by_hand(model, [rows[i] for i in range(BATCH)])
    with tempfile.TemporaryDirectory() as folder:
        arguments = transformers.TrainingArguments(
            output_dir=folder,
            max_steps=2,
            per_device_train_batch_size=BATCH,
            logging_steps=1,
            train_sampling_strategy="sequential",
            use_cpu=True,
            report_to=[],
            save_strategy="no",
            disable_tqdm=True,
        )
        trainer = transformers.Trainer(
            model, arguments, data_collator=DataCollatorWithPadding(tokenizer), train_dataset=rows.to_hf()
        )
        trainer.train()
    first, second = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
    print(f"loss of the first step {float(first):.4f}, by hand {expected:.4f}")
    print(f"loss of the second step {float(second):.4f}")


if __name__ == "__main__":
    main()
