"""What transformers' PythonBackend does with ids made elsewhere, and with texts before they are cut."""

from __future__ import annotations

import itertools
import logging
from typing import Any

import pytest

import arrowprep.tokenize as ours

peer: Any = pytest.importorskip("transformers.tokenization_python", reason="transformers is not installed")
logging.getLogger("transformers").setLevel(logging.ERROR)


def letters(base: Any, **settings: Any) -> Any:
    """A tokenizer whose tokens are the letters of a text, made of capitals first."""

    class Letters(base):  # type: ignore[misc]
        @property
        def vocab_size(self) -> int:
            return 26

        def get_vocab(self) -> dict[str, int]:
            return {**{chr(97 + i): i for i in range(26)}, **self.added_tokens_encoder}

        def _tokenize(self, text: str, **_: Any) -> list[str]:
            return [letter for letter in text if letter.islower()]

        def _convert_token_to_id(self, token: str) -> int | None:
            return ord(token) - 97 if len(token) == 1 else None

        def _convert_id_to_token(self, index: int) -> str:
            return chr(97 + index)

        def prepare_for_tokenization(
            self, text: str, is_split_into_words: bool = False, **options: Any
        ) -> tuple[str, dict[str, Any]]:
            return text.lower() + "z", options

    special = {"cls_token": "[CLS]", "sep_token": "[SEP]", "pad_token": "[PAD]", "model_max_length": 9}
    return Letters(**special, special_tokens_pattern="cls_sep", **settings)


def outcome(ask: Any) -> Any:
    try:
        given = ask()
    except ValueError:
        return "refused"
    return {name: value if isinstance(value, int) else list(value) for name, value in dict(given).items()}


@pytest.mark.parametrize("side", ["right", "left"])
def test_ids_are_cut_framed_and_padded_alike(side: str) -> None:
    here, there = (letters(base, truncation_side=side) for base in (ours.PythonBackend, peer.PythonBackend))
    every: dict[str, list[Any]] = {
        "pair_ids": [None, [1, 2], [1, 2, 3, 4, 5, 6, 7]],
        "add_special_tokens": [True, False],
        "truncation": [False, True, "only_first", "only_second"],
        "padding": [False, "max_length"],
        "max_length": [None, 7],
        "stride": [0, 1],
        "return_overflowing_tokens": [False, True],
    }
    shown = {"return_token_type_ids": True, "return_special_tokens_mask": True, "return_length": True}
    for values in itertools.product(*every.values()):
        options = {**dict(zip(every, values, strict=True)), **shown, "verbose": False}
        found = [
            outcome(lambda t=t, o=options: t.prepare_for_model([9, 8, 7, 6, 5, 4], **o))
            for t in (here, there)
        ]
        assert found[0] == found[1], options


@pytest.mark.parametrize("strategy", ["longest_first", "only_first", "only_second"])
@pytest.mark.parametrize("side", ["right", "left"])
def test_sequences_are_truncated_alike(strategy: str, side: str) -> None:
    here, there = (letters(base, truncation_side=side) for base in (ours.PythonBackend, peer.PythonBackend))
    for pair, count, stride in itertools.product((None, [7, 8], [6, 7, 8, 9]), range(5), range(3)):
        cut = [t.truncate_sequences([1, 2, 3], pair, count, strategy, stride) for t in (here, there)]
        assert cut[0] == cut[1], (pair, count, stride)


def test_texts_are_prepared_before_they_are_cut() -> None:
    here, there = (letters(base) for base in (ours.PythonBackend, peer.PythonBackend))
    for tok in (here, there):
        assert tok("AB")["input_ids"] == tok("ab")["input_ids"]
    for ask in (
        lambda tok: tok("AB")["input_ids"],
        lambda tok: tok(["AB", "[SEP]c"])["input_ids"],
        lambda tok: tok("AB", "C")["input_ids"],
        lambda tok: tok(["AB", "c"], is_split_into_words=True)["input_ids"],
    ):
        assert ask(here) == ask(there)
