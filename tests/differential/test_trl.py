"""The same rows, labels and packs as TRL's own preparation gives, for each shape of dataset."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from arrowprep import Dataset, data, load_local, load_tokenizer
from arrowprep.chat import prepare_sft

pytest.importorskip("torch", reason="torch, which TRL needs, is not installed")
trl = pytest.importorskip("trl", reason="TRL is not installed: its preparation cannot be compared")
peer_datasets = pytest.importorskip("datasets", reason="datasets, which TRL needs, is not installed")
transformers = pytest.importorskip("transformers", reason="transformers, which TRL needs, is not installed")

NEW = ["<|im_start|>", "<|im_end|>"]
ROWS = 120  # fewer than TRL packs in one batch, for it packs each batch of 1,000 alone


@pytest.fixture(scope="module")
def ours() -> Any:
    tokenizer = load_tokenizer(data.GPT2)
    tokenizer.add_special_tokens({"extra_special_tokens": NEW})
    tokenizer.chat_template = data.CHATML.read_text()
    return tokenizer


@pytest.fixture(scope="module")
def theirs(ours: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("tokenizer")
    ours.save_pretrained(folder)
    return transformers.PreTrainedTokenizerFast.from_pretrained(str(folder))


@pytest.fixture(scope="module")
def chats() -> list[Any]:
    return load_local(str(data.CONVERSATIONS), split="train").select(range(ROWS))["messages"][:]


def of_trl(columns: dict[str, Any], tokenizer: Any, **options: Any) -> list[dict[str, Any]]:
    """What SFTTrainer makes of these columns; the trainer itself would need a model."""
    completion_only = "completion" in columns
    arguments = SimpleNamespace(
        dataset_num_proc=None,
        dataset_text_field="text",
        shuffle_dataset=False,
        truncation_mode=options.get("truncation", "keep_start"),
        packing_strategy=options.get("packing"),
        max_length=options.get("max_length", 1024),
        assistant_only_loss=options.get("assistant_only_loss", False),
    )
    trainer = SimpleNamespace(_tokenizer=tokenizer, completion_only_loss=completion_only, chat_template=None)
    rows = peer_datasets.Dataset.from_dict(columns)
    packing = arguments.packing_strategy is not None
    prepared = trl.SFTTrainer._prepare_dataset(trainer, rows, tokenizer, arguments, packing, None, "train")
    # wrapped packs have no seq_lengths there
    names = [name for name in ("input_ids", "labels", "seq_lengths") if name in prepared.column_names]
    return [{name: list(row[name]) for name in names} for row in prepared]


class TestMessages:
    @pytest.mark.parametrize("truncation", ["keep_start", "keep_end"])
    @pytest.mark.parametrize("max_length", [1024, 60])
    def test_of_the_assistant(
        self, chats: Any, ours: Any, theirs: Any, truncation: Any, max_length: int
    ) -> None:
        options = {"max_length": max_length, "truncation": truncation}
        expected = of_trl({"messages": chats}, theirs, assistant_only_loss=True, **options)
        assert list(prepare_sft(Dataset.from_dict({"messages": chats}), ours, **options)) == expected

    def test_of_every_token(self, chats: Any, ours: Any, theirs: Any) -> None:
        expected = of_trl({"messages": chats}, theirs)
        assert list(prepare_sft(Dataset.from_dict({"messages": chats}), ours, train_on="all")) == expected

    def test_in_the_form_of_from_and_value(self, chats: Any, ours: Any, theirs: Any) -> None:
        old = [[{"from": m["role"], "value": m["content"]} for m in chat] for chat in chats]
        expected = of_trl({"conversations": old}, theirs, assistant_only_loss=True)
        assert list(prepare_sft(Dataset.from_dict({"conversations": old}), ours)) == expected

    @pytest.mark.parametrize("packing", ["bfd", "bfd_split", "wrapped"])
    @pytest.mark.parametrize("max_length", [512, 100])
    def test_packed(self, chats: Any, ours: Any, theirs: Any, packing: Any, max_length: int) -> None:
        options: dict[str, Any] = {"packing": packing, "max_length": max_length}
        expected = of_trl({"messages": chats}, theirs, **options)
        prepared = prepare_sft(Dataset.from_dict({"messages": chats}), ours, train_on="all", **options)
        assert [{name: row[name] for name in expected[0]} for row in prepared] == expected


class TestCompletions:
    def test_of_texts(self, chats: Any, ours: Any, theirs: Any) -> None:
        columns = {
            "prompt": [chat[0]["content"] for chat in chats],
            "completion": [" " + chat[1]["content"] for chat in chats],
        }
        assert list(prepare_sft(Dataset.from_dict(columns), ours)) == of_trl(columns, theirs)

    def test_whose_tokens_lie_over_the_edge(self, ours: Any, theirs: Any) -> None:
        columns = {"prompt": ["unbeliev", "two ", "no"], "completion": ["able", "words", "thing at all"]}
        assert list(prepare_sft(Dataset.from_dict(columns), ours)) == of_trl(columns, theirs)

    def test_of_chats(self, chats: Any, ours: Any, theirs: Any) -> None:
        columns = {"prompt": [chat[:-1] for chat in chats], "completion": [chat[-1:] for chat in chats]}
        assert list(prepare_sft(Dataset.from_dict(columns), ours)) == of_trl(columns, theirs)

    @pytest.mark.parametrize("packing", ["bfd", "bfd_split"])
    def test_packed(self, chats: Any, ours: Any, theirs: Any, packing: Any) -> None:
        columns = {"prompt": [chat[:1] for chat in chats], "completion": [chat[1:2] for chat in chats]}
        options: dict[str, Any] = {"packing": packing, "max_length": 300}
        expected = of_trl(columns, theirs, **options)
        assert list(prepare_sft(Dataset.from_dict(columns), ours, **options)) == expected


class TestTexts:
    @pytest.mark.parametrize("packing", [None, "bfd", "bfd_split"])
    def test_of_documents(self, chats: Any, ours: Any, theirs: Any, packing: Any) -> None:
        columns = {"text": [chat[1]["content"] for chat in chats]}
        options: dict[str, Any] = {"packing": packing, "max_length": 200}
        assert list(prepare_sft(Dataset.from_dict(columns), ours, **options)) == of_trl(
            columns, theirs, **options
        )


class TestPreferences:
    def test_of_chats_and_of_texts(self, chats: Any, ours: Any, theirs: Any) -> None:
        several = [chat for chat in chats if chat[1]["content"] != chats[0][1]["content"]]
        of_chats = {
            "prompt": [chat[:1] for chat in several],
            "chosen": [chat[1:2] for chat in several],
            "rejected": [chats[0][1:2]] * len(several),
        }
        of_texts = {
            name: [messages[0]["content"] for messages in column] for name, column in of_chats.items()
        }
        for columns in (of_chats, of_texts):
            arguments = SimpleNamespace(dataset_num_proc=None, max_length=None, truncation_mode="keep_start")
            trainer = SimpleNamespace(_tokenizer=theirs)
            rows = peer_datasets.Dataset.from_dict(columns)
            expected = trl.DPOTrainer._prepare_dataset(trainer, rows, theirs, arguments, "train")
            prepared = prepare_sft(Dataset.from_dict(columns), ours, max_length=None)
            for row, wanted in zip(prepared, expected, strict=True):
                for side in ("chosen", "rejected"):
                    prompt, completion = wanted["prompt_ids"], wanted[f"{side}_ids"]
                    assert row[f"{side}_input_ids"] == prompt + completion
                    assert row[f"{side}_completion_mask"] == [0] * len(prompt) + [1] * len(completion)
