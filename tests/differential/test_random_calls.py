"""Random calls of the shell beside transformers', over pipelines as models have them.

`python -m tests.differential.test_random_calls SEED...` draws others.
"""

from __future__ import annotations

import copy
import json
import pickle
import random
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import arrowprep.tokenize as ours
from tests.differential.presets import peer, text, trained
from tests.differential.test_random_tokenizers import outcome

transformers: Any = pytest.importorskip(
    "transformers", reason="transformers is what results are compared with"
)
transformers.logging.set_verbosity_error()

pytestmark = pytest.mark.filterwarnings("ignore")  # what either says is not compared
Ask = Callable[[Any], Any]

ROLES = {
    "bos_token": "<s>",
    "eos_token": "</s>",
    "pad_token": "<pad>",
    "cls_token": "[CLS]",
    "sep_token": "[SEP]",
}
SETTINGS: dict[str, list[Any]] = {
    "padding_side": ["left", "right"],
    "truncation_side": ["left", "right"],
    "model_max_length": [6, 10, 40],
    "model_input_names": [["input_ids", "token_type_ids", "attention_mask"]],
    "clean_up_tokenization_spaces": [True, False],
    "split_special_tokens": [True, False],
    "extra_special_tokens": [["<x>", "hello"], ["<|im_end|>"]],
}
OPTIONS: dict[str, list[Any]] = {
    "add_special_tokens": [False, True, True],
    "padding": [True, "max_length", "longest", False],
    "truncation": [True, "only_first", "only_second", "longest_first", False, None],
    "max_length": [8, 9, 12, 16],
    "stride": [1, 2],
    "pad_to_multiple_of": [4, 3],
    "padding_side": ["left", "right"],
    "return_tensors": ["np"],
    "return_token_type_ids": [True, False],
    "return_attention_mask": [True, False],
    "return_overflowing_tokens": [True],
    "return_special_tokens_mask": [True],
    "return_offsets_mapping": [True],
    "return_length": [True],
}
ATTRIBUTES = (
    *("vocab_size", "special_tokens_map", "all_special_tokens", "all_special_ids", "extra_special_tokens"),
    *("bos_token_id", "pad_token_id", "model_max_length", "max_len_single_sentence", "padding_side"),
    *("truncation_side", "model_input_names", "added_tokens_encoder", "pad_token_type_id", "is_fast"),
)


def plain(value: Any) -> Any:
    """Lists and dicts of what can be compared; an array with its type, unless it holds arrays."""
    if isinstance(value, np.ndarray):
        # the type of an empty row differs, docs/migrating.md says how
        return (
            [plain(row)[-1] for row in value] if value.dtype == object else [str(value.dtype), value.tolist()]
        )
    if hasattr(value, "keys"):
        return {key: plain(value[key]) for key in value.keys()}  # noqa: SIM118 - iterating may give other things
    return [plain(item) for item in value] if isinstance(value, (list, tuple)) else value


def chosen(draw: random.Random, options: dict[str, list[Any]], share: float) -> dict[str, Any]:
    return {name: draw.choice(values) for name, values in options.items() if draw.random() < share}


def both(draw: random.Random, file: str) -> list[Any]:
    roles = {role: token for role, token in ROLES.items() if draw.random() < 0.8}
    settings = {**roles, **chosen(draw, SETTINGS, 0.3)}
    flags = {"lstrip": draw.random() < 0.5, "rstrip": draw.random() < 0.3}
    return [
        shell(
            tokenizer_object=library.Tokenizer.from_str(file),
            mask_token=library.AddedToken("[MASK]", **flags),
            **copy.deepcopy(settings),
        )
        for library, shell in (
            (ours, ours.PreTrainedTokenizerFast),
            (peer, transformers.PreTrainedTokenizerFast),
        )
    ]


def arguments(draw: random.Random) -> tuple[list[Any], dict[str, Any]]:
    words = draw.random() < 0.2

    def one() -> Any:
        return [text(draw) or "a" for _ in range(draw.randrange(1, 4))] if words else text(draw)

    count = draw.randrange(1, 4)
    many = [one() for _ in range(count)]
    given = draw.choice([[one()], [one(), one()], [many], [many, [one() for _ in many]], [[(one(), one())]]])
    options = chosen(draw, OPTIONS, 0.3)
    return given, {**options, "is_split_into_words": True} if words else options


def looked_up(encoded: Any) -> list[Any]:
    """Every query of a batch, at its first places."""
    rows = range(len(encoded.encodings))
    whole = [[getattr(encoded, name)(row) for row in rows] for name in ("tokens", "word_ids", "sequence_ids")]
    places = ("char_to_token", "token_to_chars", "word_to_tokens", "char_to_word", "token_to_word")
    found = [
        outcome(lambda n=name, r=row, a=at: plain(getattr(encoded, n)(r, a)))  # type: ignore[misc]
        for name in places
        for row in rows
        for at in range(4)
    ]
    return [*whole, found, encoded.n_sequences, encoded.is_fast]


def features(draw: random.Random) -> list[dict[str, Any]]:
    rows = [[draw.randrange(9) for _ in range(draw.randrange(1, 6))] for _ in range(2)]
    return [{"input_ids": row, "attention_mask": [1] * len(row), "label": len(row)} for row in rows]


def questions(draw: random.Random) -> list[tuple[str, Ask]]:
    given, options = arguments(draw)
    target = {name: value for name, value in options.items() if name != "return_tensors"}
    one, two = text(draw), text(draw)
    ids = [draw.randrange(300) for _ in range(draw.randrange(8))]
    skip, rows, padding = draw.random() < 0.5, features(draw), chosen(draw, OPTIONS, 0.4)
    padding = {
        name: padding[name] for name in ("padding", "pad_to_multiple_of", "padding_side") if name in padding
    }
    said = f"{given!r}, {options}, {one!r}, {two!r}, {ids}, {skip}, {rows}, {padding}"
    asked: dict[str, Ask] = {
        "call": lambda tok: tok(*given, **options),
        "queries": lambda tok: looked_up(tok(*given, **options)),
        "target": lambda tok: tok(given[0], text_target=given[0], **target),
        "encode": lambda tok: (
            tok.encode(one),
            tok.tokenize(one),
            tok.tokenize(one, two, add_special_tokens=True),
        ),
        "decode": lambda tok: (
            tok.decode(ids, skip),
            tok.batch_decode([ids, ids[:2]], skip),
            tok.decode(ids),
        ),
        "tokens": lambda tok: (
            tok.convert_ids_to_tokens(ids, skip),
            tok.convert_tokens_to_ids(["nope", "<s>"]),
        ),
        "text of tokens": lambda tok: tok.convert_tokens_to_string(tok.tokenize(one)),
        "mask": lambda tok: tok.get_special_tokens_mask(ids, already_has_special_tokens=True),
        "pad": lambda tok: tok.pad(copy.deepcopy(rows), **padding),
        "pad one": lambda tok: tok.pad(copy.deepcopy(rows[0]), **padding),
    }
    return [(f"{name} of {said}", ask) for name, ask in asked.items()]


def changes(draw: random.Random) -> list[tuple[str, Ask]]:
    """What changes a tokenizer; each says how many tokens were new."""
    every: list[tuple[str, Ask]] = [
        ("add_tokens", lambda tok: tok.add_tokens(["<new>", "hello"])),
        ("add one", lambda tok: tok.add_tokens("lo w", special_tokens=True)),
        ("add extra", lambda tok: tok.add_special_tokens({"extra_special_tokens": ["<e1>", "<e2>"]})),
        ("add roles", lambda tok: tok.add_special_tokens({"pad_token": "<np>", "mask_token": "<m>"})),
        ("set a role", lambda tok: setattr(tok, "eos_token", "</s>")),
    ]
    return draw.sample(every, 3)


def saved(tok: Any) -> Any:
    """The files of a tokenizer, without what names its library, and what is read of them again."""
    with tempfile.TemporaryDirectory() as folder:
        tok.save_pretrained(folder)
        config = json.loads(Path(folder, "tokenizer_config.json").read_text())
        again = type(tok).from_pretrained(folder)
        shown = again.special_tokens_map, again.all_special_tokens, len(again), again.padding_side
        return (
            Path(folder, "tokenizer.json").read_text(),
            config,
            shown,
            again("hello <new><e1>")["input_ids"],
        )


def differences(seed: int) -> tuple[int, list[str]]:
    """How many questions were asked, and those with different answers."""
    drawn = trained(seed)
    if drawn is None:
        return 0, []
    draw, file = drawn
    toks = both(draw, file)
    asked: list[tuple[str, Ask]] = [(name, lambda tok, n=name: getattr(tok, n)) for name in ATTRIBUTES]  # type: ignore[misc]
    asked.append(("file", lambda tok: tok.backend_tokenizer.to_str()))
    for _ in range(4):
        asked += questions(draw)
    for change in changes(draw):
        asked += [change, *asked[:5], *questions(draw)[:4]]
    asked += [
        ("saved", saved),
        ("pickled", lambda tok: pickle.loads(pickle.dumps(tok))("hello <new>")["input_ids"]),
    ]
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, ask in asked:
            here, there = (outcome(lambda a=ask, t=tok: plain(a(t))) for tok in toks)  # type: ignore[misc]
            if here != there and there != "refused":
                found.append(f"seed {seed}: {name}\n  here  {here}\n  there {there}")
    return len(asked), found


@pytest.mark.parametrize("seeds", [range(100, 112), range(112, 124)])
def test_calls_give_the_same_here_and_there(seeds: range) -> None:
    asked, found = 0, []
    for seed in seeds:
        count, different = differences(seed)
        asked += count
        found += different
    assert asked > 700
    assert not found, "\n".join(found[:3])


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        print(*differences(int(argument)), sep="\n")
