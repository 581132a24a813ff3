"""Collators give transformers' arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from arrowprep.chat.collate import DataCollatorWithFlattening, DataCollatorWithPadding

peer = pytest.importorskip("transformers", reason="transformers is the reference of collators")
tokenizers = pytest.importorskip("tokenizers", reason="a tokenizer of transformers needs it")

RNG = np.random.default_rng(0)
ROWS = [{"input_ids": RNG.integers(0, 99, length).tolist()} for length in (5, 1, 8, 3)]


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    model = tokenizers.models.WordLevel({"<pad>": 0}, unk_token="<pad>")
    return peer.PreTrainedTokenizerFast(tokenizer_object=tokenizers.Tokenizer(model), pad_token="<pad>")


def same(left: Any, right: Any) -> None:
    assert set(left) == set(right)
    for name, array in dict(left).items():
        np.testing.assert_array_equal(array, right[name])
        if hasattr(array, "dtype"):
            assert array.dtype == right[name].dtype


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize(
    "options",
    [{}, {"pad_to_multiple_of": 16}, {"padding": "max_length", "max_length": 11}, {"padding": "longest"}],
)
def test_padding_is_the_references(tokenizer: Any, side: str, options: dict[str, Any]) -> None:
    tokenizer.padding_side = side
    rows = [{**row, "label": number} for number, row in enumerate(ROWS)]
    wanted = peer.DataCollatorWithPadding(tokenizer, return_tensors="np", **options)(rows)
    wanted.pop("token_type_ids", None)
    same(DataCollatorWithPadding(tokenizer, return_tensors="np", **options)(rows), wanted)


@pytest.mark.parametrize("labels", [True, False])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"return_position_ids": False},
        {"return_flash_attn_kwargs": True, "return_seq_idx": True, "separator_id": 7},
    ],
)
def test_flattening_is_the_references(labels: bool, options: dict[str, Any]) -> None:
    rows = [{**row, "labels": row["input_ids"][::-1]} for row in ROWS] if labels else ROWS
    wanted = peer.DataCollatorWithFlattening(return_tensors="np", **options)(rows)
    same(DataCollatorWithFlattening(return_tensors="np", **options)(rows), wanted)
