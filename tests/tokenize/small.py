"""A tokenizer small enough to see: bytes, a few merges of English, four special tokens."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa

MERGES = ["h e", "l l", "he ll", "hell o", "Ġ w", "o r", "Ġw or", "l d", "Ġwor ld", "Ġ hello", "1 2", "H i"]
SPECIAL = ["<bos>", "<eos>", "<pad>", "<sep>"]
TEMPLATE = (
    "{% for m in messages %}<{{ m.role }}>{% if m.role == 'assistant' %}"
    "{% generation %}{{ m.content }}<eos>{% endgeneration %}"
    "{% else %}{{ m.content }}{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)


def alphabet() -> list[str]:
    """The 256 characters that stand for bytes: printable Latin-1 for itself, the rest from U+0100 on."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = iter(range(256, 512))
    return [chr(byte) if byte in printable else chr(next(others)) for byte in range(256)]


def pipeline(**changes: Any) -> dict[str, Any]:
    """A tokenizer.json as an object: byte-level BPE; around a text <bos> and <eos>, after its pair <eos>."""
    vocab = {
        token: index
        for index, token in enumerate([*alphabet(), *(merge.replace(" ", "") for merge in MERGES)])
    }
    start = len(vocab)
    ids = {token: start + number for number, token in enumerate(SPECIAL)}
    special = {token: {"id": token, "ids": [ids[token]], "tokens": [token]} for token in ("<bos>", "<eos>")}

    def piece(name: str, type_id: int) -> dict[str, Any]:
        kind = "SpecialToken" if name.startswith("<") else "Sequence"
        return {kind: {"id": name, "type_id": type_id}}

    single = [piece("<bos>", 0), piece("A", 0), piece("<eos>", 0)]
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [{"id": index, "content": token, **flags} for token, index in ids.items()],
        "normalizer": None,
        "pre_tokenizer": {
            "type": "ByteLevel",
            "add_prefix_space": False,
            "trim_offsets": True,
            "use_regex": True,
        },
        "post_processor": {
            "type": "TemplateProcessing",
            "single": single,
            "pair": [*single, piece("B", 1), piece("<eos>", 1)],
            "special_tokens": special,
        },
        "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": False,
            "vocab": vocab,
            "merges": [merge.split(" ") for merge in MERGES],
        },
        **changes,
    }


CONFIG = {
    "tokenizer_class": "SomeoneElsesTokenizer",
    "bos_token": "<bos>",
    "eos_token": "<eos>",
    "pad_token": "<pad>",
    "model_max_length": 32,
}


def write_folder(folder: Path, config: dict[str, Any] | None = None, **changes: Any) -> Path:
    """A folder as Hugging Face lays it out."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tokenizer.json").write_text(json.dumps(pipeline(**changes)), encoding="utf-8")
    (folder / "tokenizer_config.json").write_text(
        json.dumps(CONFIG if config is None else config), encoding="utf-8"
    )
    return folder


class Capsules:
    """Something that only has the Arrow method."""

    def __init__(self, array: pa.Array) -> None:
        self.array = array

    def __arrow_c_array__(self, requested_schema: Any = None) -> Any:
        return self.array.__arrow_c_array__(requested_schema)
