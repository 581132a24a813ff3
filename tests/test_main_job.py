"""The main job: files → dataset → map with the tokenizer → cached → NumPy; and chats → ids and masks."""

import datetime
import subprocess
import sys
from importlib import resources

import numpy as np
import pytest

from arrowprep import Dataset, load_local, load_tokenizer
from arrowprep.errors import MapError
from arrowprep.tokenize.native_library import load

DATA = resources.files("arrowprep") / "data"
CHATML = (resources.files("arrowprep") / "chat" / "templates" / "chatml.jinja").read_text()


@pytest.fixture
def tok():
    tokenizer = load_tokenizer(DATA / "gpt2")
    tokenizer.chat_template = CHATML
    tokenizer.model_max_length = 10**6
    return tokenizer


@pytest.fixture
def documents():
    return load_local(DATA / "documents.jsonl.gz", split="train[:120]")


@pytest.fixture
def chats():
    return load_local(DATA / "conversations.jsonl", split="train[:30]")


def test_documents_become_numpy_batches(documents, tok):
    def tokenize(batch):
        return tok(batch["text"])

    ds = documents.map(tokenize, batched=True, batch_size=20, num_proc=2)
    assert ds.column_names == [*documents.column_names, "input_ids", "attention_mask"]
    assert documents.map(tokenize, batched=True, batch_size=20).fingerprint == ds.fingerprint
    seen = 0
    for batch in ds.with_format("numpy", columns=["input_ids"]).iter(batch_size=32):
        for ids in batch["input_ids"]:
            assert ids.dtype == np.int32
            assert tok.decode(ids.tolist()) == documents[seen]["text"]
            seen += 1
    assert seen == 120


def test_a_tokenizers_columns_are_written_without_becoming_lists(documents, tok, monkeypatch):
    from arrowprep.tokenize.batch_encoding import BatchEncoding

    monkeypatch.setattr(BatchEncoding, "__getitem__", lambda *_: pytest.fail("a column was looked at"))
    ds = documents.map(lambda b: tok(b["text"]), batched=True)
    assert str(ds._view.schema.field("input_ids").type) == "list<item: int32>"


def test_columns_added_to_an_encoding_are_kept(documents, tok):
    def with_labels(batch):
        enc = tok(batch["text"])
        enc["labels"] = [ids[:1] for ids in enc["input_ids"]]
        return enc

    ds = documents.map(with_labels, batched=True)
    assert ds[3]["labels"] == ds[3]["input_ids"][:1]


def test_chats_become_ids_and_masks(chats, tok):
    ds = chats.map(
        lambda b: tok.apply_chat_template(b["messages"], return_dict=True, return_assistant_tokens_mask=True),
        batched=True,
    )
    for row in ds:
        trained = tok.decode([i for i, m in zip(row["input_ids"], row["assistant_masks"], strict=True) if m])
        for message in row["messages"]:
            assert (message["content"] in trained) == (message["role"] == "assistant")
    again = chats.map(
        lambda b: tok.apply_chat_template(b["messages"], return_dict=True, return_assistant_tokens_mask=True),
        batched=True,
    )
    assert again.fingerprint == ds.fingerprint


def test_chats_are_counted_row_by_row_in_processes(chats, tok):
    ds = chats.map(
        lambda ex: {"n_tok": len(tok.apply_chat_template(ex["messages"], tokenize=True))}, num_proc=2
    )
    assert ds["n_tok"][:] == [len(tok.apply_chat_template(m)) for m in chats["messages"]]


def test_a_mask_that_the_template_cannot_give_stops_the_map(chats, tok):
    tok.chat_template = "{% for m in messages %}{{ m.content }}{% endfor %}"
    with pytest.raises(MapError, match="generation"):
        chats.map(
            lambda b: tok.apply_chat_template(
                b["messages"], return_dict=True, return_assistant_tokens_mask=True
            ),
            batched=True,
        )


CHANGES = {
    "chat template": lambda tok: setattr(tok, "chat_template", CHATML + " "),
    "eos token": lambda tok: setattr(tok, "eos_token", "!"),
    "pad token": lambda tok: setattr(tok, "pad_token", "!"),
    "padding side": lambda tok: setattr(tok, "padding_side", "left"),
    "truncation side": lambda tok: setattr(tok, "truncation_side", "left"),
    "model_max_length": lambda tok: setattr(tok, "model_max_length", 10**7),
    "added token": lambda tok: tok.add_tokens(["<new>"]),
    "special token": lambda tok: tok.add_special_tokens({"extra_special_tokens": ["<extra>"]}),
    "attribute of a component": lambda tok: setattr(
        tok.backend_tokenizer.pre_tokenizer, "add_prefix_space", True
    ),
    "component": lambda tok: setattr(tok.backend_tokenizer, "post_processor", None),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_tokenizer_is_another_name_at_once(documents, tok, change):
    def tokenize(batch):
        return tok(batch["text"])

    before = documents.map(tokenize, batched=True).fingerprint
    assert documents.map(tokenize, batched=True).fingerprint == before
    CHANGES[change](tok)
    assert documents.map(tokenize, batched=True).fingerprint != before


def test_a_template_that_prints_the_date_puts_it_into_the_name(chats, tok):
    tok.chat_template = "{{ strftime_now('%d') }}" + CHATML
    today = datetime.datetime(2026, 1, 2, 3, 4)
    tok.clock = lambda: today

    def count(row):
        return {"n": len(tok.apply_chat_template(row["messages"]))}

    first = chats.map(count).fingerprint
    today = datetime.datetime(2026, 1, 2, 23, 59)
    assert chats.map(count).fingerprint == first
    today = datetime.datetime(2026, 1, 3)
    assert chats.map(count).fingerprint != first


def test_the_dataset_the_tokenizer_made_is_the_same_from_memory(documents, tok):
    in_memory = Dataset.from_list(documents.to_list())
    assert (
        in_memory.map(lambda b: tok(b["text"]), batched=True)[5]
        == documents.map(lambda b: tok(b["text"]), batched=True)[5]
    )


@pytest.mark.skipif(
    isinstance(load(), str), reason="without the kernel, texts become lists, which pyarrow looks at"
)
def test_tokenizing_a_column_does_not_load_pandas() -> None:
    pytest.importorskip("pandas", reason="pandas is not installed, so nothing could load it")
    script = (
        "import sys; from arrowprep import data, load_local, load_tokenizer\n"
        "documents, tokenizer = load_local(data.DOCUMENTS, split='train[:50]'), load_tokenizer(data.GPT2)\n"
        "documents.map(lambda batch: tokenizer(batch['text']), batched=True)\n"
        "print('pandas' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    assert run.stdout.strip() == "False"
