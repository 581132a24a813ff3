"""The shell beside transformers' on the same tokenizer.json: a grid of calls, errors where it has them."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from arrowprep import PreTrainedTokenizer, load_tokenizer
from arrowprep.errors import ArrowprepWarning
from tests.tokenize.small import CONFIG, TEMPLATE, write_folder

transformers = pytest.importorskip("transformers", reason="transformers is what results are compared with")

pytestmark = pytest.mark.filterwarnings(f"ignore::{ArrowprepWarning.__module__}.{ArrowprepWarning.__name__}")

TEXTS: dict[str, tuple[Any, ...]] = {
    "one": ("hello world hello <pad> 12",),
    "empty": ("",),
    "batch": (["hello world", "", "naïve 猫 <sep>hello"],),
    "pair": ("hello world", "Hi hello world world"),
    "pairs": (["hello", "hello world hello hello"], ["world hello", "Hi"]),
    "pairs in elements": ([("hello", "Hi"), ("Hi", "hello world")],),
    "pairs and texts": (["Hi", ("hello", "Hi"), "hello world"],),
    "empty pair": ("hello", ""),
}
PADDING: list[dict[str, Any]] = [
    {},
    {"padding": True},
    {"padding": "longest", "padding_side": "left"},
    {"padding": "max_length"},
    {"padding": True, "pad_to_multiple_of": 4},
]
TRUNCATION: list[dict[str, Any]] = [
    {},
    {"truncation": True},
    {"max_length": 7},
    {"truncation": True, "max_length": 8},
    {"truncation": "only_first", "max_length": 8},
    {"truncation": "only_second", "max_length": 8},
    {"truncation": False, "max_length": 6},
    {"truncation": True, "max_length": 8, "stride": 2, "return_overflowing_tokens": True},
]
RETURNED: list[dict[str, Any]] = [
    {},
    {"return_offsets_mapping": True, "return_special_tokens_mask": True, "return_length": True},
    {"return_token_type_ids": True, "return_attention_mask": False},
    {"add_special_tokens": False, "split_special_tokens": True},
    {"return_tensors": "np"},
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    config = {**CONFIG, "tokenizer_class": "PreTrainedTokenizerFast", "chat_template": TEMPLATE}
    return write_folder(tmp_path_factory.mktemp("small"), config)


@pytest.fixture(scope="module")
def both(folder: Path) -> tuple[PreTrainedTokenizer, Any]:
    return load_tokenizer(folder), transformers.PreTrainedTokenizerFast.from_pretrained(folder)


def grid() -> Iterator[tuple[tuple[Any, ...], dict[str, Any]]]:
    for args, pad, cut, returned in itertools.product(TEXTS.values(), PADDING, TRUNCATION, RETURNED):
        yield args, {**pad, **cut, **returned}


def outcome(call: Callable[..., Any], *args: Any, **options: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return plain(call(*args, **options))
        except BaseException as error:  # the peer may panic
            if isinstance(error, KeyboardInterrupt):
                raise
            return "an error"


def plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return [str(value.dtype), value.shape, plain(value.tolist())]
    if hasattr(value, "items"):
        return {key: plain(inner) for key, inner in value.items()}
    return [plain(inner) for inner in value] if isinstance(value, (list, tuple)) else value


@pytest.mark.parametrize("sides", ["right", "left"])
def test_calls_agree(both: tuple[PreTrainedTokenizer, Any], sides: str) -> None:
    different, errors = [], 0
    for tokenizer in both:
        tokenizer.truncation_side = tokenizer.padding_side = sides
    for args, options in grid():
        ours, theirs = (outcome(tokenizer, *args, **options) for tokenizer in both)
        if ours != theirs:
            different.append((args, options, ours, theirs))
        errors += theirs == "an error"
    assert errors < 200, "most of the grid compares results"
    assert not different, f"{len(different)} differ; the first: {different[0]}"


def test_what_is_shown_of_tokens_agrees(both: tuple[PreTrainedTokenizer, Any]) -> None:
    for args in TEXTS.values():
        ours, theirs = (tokenizer(*args, padding=True) for tokenizer in both)
        for row in range(len(theirs.encodings)):
            for name in ("tokens", "word_ids", "sequence_ids"):
                assert getattr(ours, name)(row) == getattr(theirs, name)(row), (args, name)
            for char in range(30):
                for text in range(theirs.n_sequences):
                    assert ours.char_to_token(row, char, text) == theirs.char_to_token(row, char, text)


@pytest.mark.parametrize(
    "batch",
    [
        [["hello", "Hi"], ["Hi", "hello", "12"]],
        [(["hello", "Hi"], ["12"]), ["Hi", "hello"]],
        [["Hi"], (["hello"], ["12", "Hi"])],
    ],
)
def test_batches_of_words_agree(both: tuple[PreTrainedTokenizer, Any], batch: Any) -> None:
    for options in ({}, {"truncation": True, "max_length": 5, "padding": True}):
        ours, theirs = (outcome(tok, batch, is_split_into_words=True, **options) for tok in both)
        assert ours == theirs
        assert ours != "an error"


def test_decoding_agrees(both: tuple[PreTrainedTokenizer, Any]) -> None:
    ids = [268, 259, 264, 270, 9999, 195, 169, 269]
    for options in ({}, {"skip_special_tokens": True}):
        ours, theirs = (tokenizer.decode(ids, **options) for tokenizer in both)
        assert ours == theirs
        ours, theirs = (tokenizer.batch_decode([ids, ids[:2], []], **options) for tokenizer in both)
        assert ours == theirs


def test_padding_what_is_encoded_agrees(both: tuple[PreTrainedTokenizer, Any]) -> None:
    rows = [
        {"input_ids": [1, 2, 3], "special_tokens_mask": [1, 0, 1]},
        {"input_ids": [4], "special_tokens_mask": [0]},
    ]
    for options in (
        {},
        {"padding": "max_length", "max_length": 5, "padding_side": "left"},
        {"pad_to_multiple_of": 8, "return_tensors": "np"},
        {"padding": False},
        {"return_attention_mask": False},
    ):
        ours, theirs = (outcome(t.pad, [dict(row) for row in rows], **options) for t in both)
        assert ours == theirs, options


def test_chats_agree(both: tuple[PreTrainedTokenizer, Any]) -> None:
    chat = [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "hello world"},
        {"role": "user", "content": "12"},
        {"role": "assistant", "content": " hello"},
    ]
    for sides, length, batch in itertools.product(("right", "left"), (3, 9, 14, 40), (False, True)):
        for tokenizer in both:
            tokenizer.truncation_side = tokenizer.padding_side = sides
        given = [chat, chat[:2]] if batch else chat
        options = {"truncation": True, "max_length": length, "padding": batch}
        ours, theirs = (
            plain(
                tokenizer.apply_chat_template(
                    given, return_dict=True, return_assistant_tokens_mask=True, **options
                )
            )
            for tokenizer in both
        )
        assert ours == theirs, (sides, length, batch)


def test_control_tokens_of_the_data_are_the_same_text(both: tuple[PreTrainedTokenizer, Any]) -> None:
    if not hasattr(transformers.PreTrainedTokenizerBase, "_mark_chat_inputs"):
        pytest.skip("this transformers does not sanitize control tokens")
    hostile = [
        {"role": "user", "content": "Hi<eos><bos> hello <pad>\n<eos> world<eo<eos>s>"},
        {"role": "assistant", "content": "<eos>hello world 12<sep>"},
    ]
    for chats in (hostile, [hostile, hostile[:1]], [[{"role": "user", "content": "<eos>"}], hostile]):
        for options in ({}, {"truncation": True, "max_length": 9}):
            ours, theirs = (
                tokenizer.apply_chat_template(
                    chats, sanitize_control_tokens=True, return_dict=True, **options
                )["input_ids"]
                for tokenizer in both
            )
            assert ours == theirs


def test_transformers_reads_what_is_saved(
    both: tuple[PreTrainedTokenizer, Any], tmp_path: Path, folder: Path
) -> None:
    tokenizer = load_tokenizer(folder)
    tokenizer.add_special_tokens({"mask_token": "<mask>", "extra_special_tokens": ["<a>"]})
    tokenizer.padding_side, tokenizer.model_max_length = "left", 64
    tokenizer.save_pretrained(tmp_path)
    theirs = transformers.AutoTokenizer.from_pretrained(tmp_path)
    assert theirs.special_tokens_map == tokenizer.special_tokens_map
    assert theirs.extra_special_tokens == ["<a>"]
    assert (theirs.padding_side, theirs.model_max_length, theirs.chat_template) == ("left", 64, TEMPLATE)
    text = "hello <mask> world<a>"
    assert theirs(text)["input_ids"] == tokenizer(text)["input_ids"]


def test_what_transformers_saves_is_read(
    both: tuple[PreTrainedTokenizer, Any], tmp_path: Path, folder: Path
) -> None:
    theirs = transformers.PreTrainedTokenizerFast.from_pretrained(folder)
    theirs.add_special_tokens({"mask_token": "<mask>", "extra_special_tokens": ["<a>"]})
    theirs.save_pretrained(tmp_path)
    ours = load_tokenizer(tmp_path)
    assert ours.special_tokens_map == theirs.special_tokens_map
    assert ours.all_special_ids == theirs.all_special_ids
    assert (len(ours), ours.vocab_size, ours.get_vocab()) == (
        len(theirs),
        theirs.vocab_size,
        theirs.get_vocab(),
    )
    assert ours.chat_template == theirs.chat_template
