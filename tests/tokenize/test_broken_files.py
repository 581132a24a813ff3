"""Files in which one thing is wrong: an error that names the file or the place, or a tokenizer that works."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from arrowprep import PreTrainedTokenizer, load_tokenizer
from arrowprep.errors import ArrowprepError, BadArgument, BadTokenizerFile
from arrowprep.tokenize import Tokenizer, models

WRONG: list[Any] = [None, True, -1, 0, 1.5, 2**40, 2**70, "", "x", "\ud800", [], {}, [[]], {"a": 1}, [None]]
VOCAB = {"<unk>": 0, "a": 1, "b": 2, "ab": 3, "<s>": 4}
TOKEN = {"lstrip": False, "rstrip": False, "normalized": False, "single_word": False, "special": True}
MODELS: dict[str, Any] = {
    "BPE": {"type": "BPE", "dropout": None, "unk_token": "<unk>", "fuse_unk": False, "vocab": VOCAB}
    | {"merges": [["a", "b"]], "byte_fallback": False, "ignore_merges": False},
    "WordPiece": {"type": "WordPiece", "unk_token": "<unk>", "continuing_subword_prefix": "##"}
    | {"max_input_chars_per_word": 100, "vocab": VOCAB},
    "WordLevel": {"type": "WordLevel", "vocab": VOCAB, "unk_token": "<unk>"},
    "Unigram": {
        "type": "Unigram",
        "unk_id": 0,
        "vocab": [["<unk>", 0.0], ["a", -1.0]],
        "byte_fallback": False,
    },
}
SPACES = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first", "split": True}
BYTES = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}
SPLIT = {"type": "Split", "pattern": {"Regex": r"\d"}, "behavior": "Isolated", "invert": False}
FRAME = {
    "type": "TemplateProcessing",
    "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
    "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
    "special_tokens": {"<s>": {"id": "<s>", "ids": [4], "tokens": ["<s>"]}},
}
FILE: dict[str, Any] = {
    "version": "1.0",
    "truncation": {"direction": "Right", "max_length": 9, "strategy": "LongestFirst", "stride": 0},
    "padding": {"strategy": {"Fixed": 3}, "direction": "Left", "pad_to_multiple_of": 2}
    | {"pad_id": 0, "pad_type_id": 0, "pad_token": "<unk>"},
    "added_tokens": [{"id": 4, "content": "<s>", **TOKEN}, {"id": 5, "content": "<x>", **TOKEN}],
    "normalizer": {
        "type": "Sequence",
        "normalizers": [
            {"type": "Replace", "pattern": {"String": "x"}, "content": "y"},
            {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True}
            | {"strip_accents": None, "lowercase": True},
            {"type": "Strip", "strip_left": True, "strip_right": True},
        ],
    },
    "pre_tokenizer": {"type": "Sequence", "pretokenizers": [SPLIT, SPACES, BYTES]},
    "post_processor": {"type": "Sequence", "processors": [BYTES, FRAME]},
    "decoder": {
        "type": "Sequence",
        "decoders": [SPACES, {"type": "Strip", "content": " ", "start": 1, "stop": 0}, {"type": "Fuse"}],
    },
    "model": MODELS["BPE"],
}
CONFIG: dict[str, Any] = {
    "bos_token": "<s>",
    "eos_token": {"__type": "AddedToken", "content": "</s>", **TOKEN},
    "model_max_length": 512,
    "padding_side": "left",
    "truncation_side": "right",
    "model_input_names": ["input_ids"],
    "chat_template": "{{ messages }}",
    "chat_control_tokens": ["<x>"],
    "added_tokens_decoder": {"5": {"content": "<x>", **TOKEN}},
    "extra_special_tokens": {"image_token": "<image>"},
    "split_special_tokens": False,
    "pad_token_type_id": 0,
}


def places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield place
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from places(inner, (*place, key))


def changed(value: Any, place: tuple[Any, ...], new: Any) -> Any:
    """A copy with another value in one place; Ellipsis takes it away."""
    if not place:
        return {} if new is ... else new
    twin = dict(value) if isinstance(value, dict) else dict(enumerate(value))
    twin[place[0]] = changed(value[place[0]], place[1:], new)
    if new is ... and len(place) == 1:
        del twin[place[0]]
    return twin if isinstance(value, dict) else list(twin.values())


def refusal(ask: Callable[[], object]) -> ArrowprepError | None:
    """The error where there is one; any other than ours fails the test."""
    try:
        ask()
    except ArrowprepError as error:
        return error
    return None


def use(tok: Tokenizer) -> None:
    """Ask for all that a broken part could fail in."""
    if tok.truncation and not tok.truncation["max_length"]:
        tok.no_truncation()  # less than the special tokens is told when it is used
    for ask in (
        lambda: tok.encode("ab 12 <s>x").ids,
        lambda: tok.encode("a", "b"),
        lambda: tok.encode_batch(["a", "", "b<x>"]),
        lambda: tok.decode([0, 1, 2, 3, 99]),
        lambda: (tok.fingerprint, repr(tok), tok.get_vocab(), tok.get_added_tokens_decoder()),
    ):
        refusal(ask)


@pytest.mark.parametrize("kind", MODELS)
def test_a_wrong_value_anywhere_in_a_tokenizer_json(kind: str) -> None:
    file = {**FILE, "model": MODELS[kind]}
    assert Tokenizer.from_str(json.dumps(file)).encode("a").ids
    parts = places(file) if kind == "BPE" else (("model", *place) for place in places(MODELS[kind]))
    refused = 0
    for place in parts:
        for new in [..., *WRONG]:
            text = json.dumps(changed(file, place, new))
            error = refusal(lambda text=text: use(Tokenizer.from_str(text)))  # type: ignore[misc]
            refused += error is not None
            # broken from the start, it names the place; broken where it is used, what is wrong
            broken = isinstance(error, BadTokenizerFile) and place
            assert not broken or any(str(step) in str(error) for step in place), (place, new, error)
    assert refused > 50


def test_a_tokenizer_json_that_ends_anywhere() -> None:
    text = json.dumps(FILE)
    for end in range(len(text)):
        with pytest.raises(BadTokenizerFile):
            Tokenizer.from_str(text[:end])


def look_at(tok: PreTrainedTokenizer) -> object:
    return tok.all_special_ids, tok.fingerprint, repr(tok)


@pytest.mark.parametrize("name", ["tokenizer_config.json", "special_tokens_map.json"])
def test_a_wrong_value_anywhere_in_the_configs(name: str, tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text(json.dumps({**FILE, "post_processor": None}))
    for place in places(CONFIG):
        for new in [..., *WRONG[::2]]:
            (tmp_path / name).write_text(json.dumps(changed(CONFIG, place, new)))
            refusal(lambda: look_at(load_tokenizer(tmp_path)))
    (tmp_path / name).write_text('{"a": ')
    with pytest.raises(ArrowprepError, match=name):
        load_tokenizer(tmp_path)


@pytest.mark.parametrize(
    "record", [{"content": "x", "flag": 1}, {"content": "x", "lstrip": "y"}, {"content": 1, "special": True}]
)
def test_a_token_with_other_flags_than_there_are(record: dict[str, Any], tmp_path: Path) -> None:
    Tokenizer(models.WordLevel(VOCAB)).save(tmp_path / "tokenizer.json")
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"eos_token": record}))
    with pytest.raises(ValueError, match="not a token"):
        load_tokenizer(tmp_path)


@pytest.mark.parametrize("setting", ["length", "pad_to_multiple_of"])
def test_padding_to_more_than_there_is_memory(setting: str) -> None:
    with pytest.raises(BadArgument, match=setting):
        Tokenizer(models.WordLevel(VOCAB)).enable_padding(**{setting: 1 << 40})
