"""Other Python threads go on while the kernel works: with more texts and words Python has not more to do."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pyarrow as pa
import pytest

from arrowprep.config import configured
from arrowprep.tokenize import Tokenizer, models, pre_tokenizers, trainers
from arrowprep.tokenize.native_library import load
from tests.tokenize.build import byte_tokenizer

pytestmark = pytest.mark.skipif(isinstance(load(), str), reason="the native kernel is not built")


def effort(work: Callable[[], Any]) -> tuple[int, int]:
    """Lines of Python that `work` runs, and how many more objects there are at the most when a function ends.

    A loop in Python shows in the lines, one in C that makes something of each element in the objects.
    """
    lines = most = 0
    before = sys.getallocatedblocks()

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal lines, most
        lines += event == "line"
        if event == "return":  # to count objects takes long
            most = max(most, sys.getallocatedblocks() - before)
        return trace

    traced = sys.gettrace()
    sys.settrace(trace)
    try:
        made = work()
        most = max(most, sys.getallocatedblocks() - before)
    finally:
        sys.settrace(traced)
    del made
    return lines, most


def texts_of(rows: int) -> pa.Array:
    """Each with words of its own."""
    return pa.array([f"row {n:x} of {n * 7919:x}, it's {n * n:x}\n" for n in range(rows)], pa.large_string())


def train(given: Any, cutter: Any, trainer: Any, model: Any) -> Tokenizer:
    tokenizer = Tokenizer(model)
    tokenizer.pre_tokenizer = cutter
    tokenizer.train([given], trainer) if isinstance(given, Path) else tokenizer.train_from_iterator(
        given, trainer
    )
    return tokenizer


def train_bpe(given: Any) -> Tokenizer:
    trainer = trainers.BpeTrainer(vocab_size=60, show_progress=False)
    return train(given, pre_tokenizers.ByteLevel(add_prefix_space=False), trainer, models.BPE())


def train_word_piece(texts: pa.Array) -> Tokenizer:
    trainer = trainers.WordPieceTrainer(vocab_size=60, show_progress=False)
    return train(texts, pre_tokenizers.BertPreTokenizer(), trainer, models.WordPiece())


def count_for_unigram(texts: pa.Array) -> Any:
    return trainers.count_words(trainers.blocks_of(texts), None, pre_tokenizers.Metaspace())


ENGINE: Any = byte_tokenizer().engine.engine
WORKS: dict[str, Callable[[pa.Array], Any]] = {
    "encode": ENGINE.encode,
    "encode with places": lambda texts: ENGINE.encode(texts, offsets=True, words=True),
    "decode": lambda texts: ENGINE.decode(ENGINE.encode(texts).ids),
    "train BPE": train_bpe,
    "train WordPiece": train_word_piece,
    "count for Unigram": count_for_unigram,
}


@pytest.mark.parametrize("name", WORKS)
def test_eight_times_the_texts_take_python_no_more(name: str) -> None:
    few, many = texts_of(150), texts_of(1200)
    with configured(engine="native", threads=1):
        for _ in range(2):
            WORKS[name](few)  # what is imported and made once
        (lines, objects), (more_lines, more_objects) = (
            effort(lambda texts=texts: WORKS[name](texts)) for texts in (few, many)
        )
    assert more_lines < lines + 20
    assert more_objects < objects + 100


def test_nor_do_eight_times_the_lines_of_a_file(tmp_path: Path) -> None:
    few, many = tmp_path / "few", tmp_path / "many"
    for path, rows in ((few, 150), (many, 1200)):
        path.write_text("".join(texts_of(rows).to_pylist()))
    with configured(engine="native", threads=1):
        train_bpe(few)
        (lines, objects), (more_lines, more_objects) = (
            effort(lambda path=path: train_bpe(path)) for path in (few, many)
        )
    assert more_lines < lines + 20
    assert more_objects < objects + 100
