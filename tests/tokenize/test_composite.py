"""Sequences of components read and change like sequences, whatever family they are of."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

from arrowprep.tokenize import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

SEQUENCES: list[tuple[Any, list[Any], Any]] = [
    (normalizers, [normalizers.NFD(), normalizers.Lowercase()], normalizers.Strip()),
    (pre_tokenizers, [pre_tokenizers.Whitespace(), pre_tokenizers.Digits()], pre_tokenizers.Punctuation()),
    (
        processors,
        [processors.ByteLevel(), processors.BertProcessing(("x", 1), ("y", 2))],
        processors.ByteLevel(),
    ),
    (decoders, [decoders.Fuse(), decoders.ByteFallback()], decoders.ByteLevel()),
]


@pytest.mark.parametrize(
    ("family", "parts", "other"), SEQUENCES, ids=lambda value: getattr(value, "__name__", "")
)
def test_a_sequence_reads_like_one(family: Any, parts: list[Any], other: Any) -> None:
    sequence = family.Sequence(iter(parts))
    assert len(sequence) == 2
    assert list(sequence) == parts
    assert sequence[1] is parts[1]
    with pytest.raises(IndexError):
        sequence[2]


@pytest.mark.parametrize(
    ("family", "parts", "other"), SEQUENCES, ids=lambda value: getattr(value, "__name__", "")
)
def test_a_part_that_is_set_is_saved_copied_and_pickled(family: Any, parts: list[Any], other: Any) -> None:
    sequence = family.Sequence(parts)
    before = copy.deepcopy(sequence)
    sequence[0] = other
    wanted = family.Sequence([other, parts[1]]).to_json()
    assert sequence.to_json() == wanted
    assert pickle.loads(pickle.dumps(sequence)).to_json() == wanted
    assert before.to_json() == family.Sequence(parts).to_json()
    with pytest.raises(IndexError):
        sequence[2] = other


def test_a_part_that_is_set_acts_at_once() -> None:
    tokenizer = Tokenizer(models.WordLevel({"a": 0, "A": 1}, unk_token="a"))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Strip(), normalizers.Strip()])
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    assert tokenizer.encode("A").ids == [1]
    tokenizer.normalizer[0] = normalizers.Lowercase()
    assert tokenizer.encode("A").ids == [0]
