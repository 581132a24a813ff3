"""Texts that are one piece, and texts of new words only: eight times as much takes eight times as long."""

from __future__ import annotations

import copy
import gc
import json
import mmap
import os
import random
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pytest

from arrowprep.config import configured
from arrowprep.tokenize import Tokenizer, models, normalizers, pre_tokenizers, trainers
from arrowprep.tokenize.files.sentencepiece import read_sentencepiece
from arrowprep.tokenize.files.tiktoken import read_tiktoken
from arrowprep.tokenize.models.sentencepiece import NORMAL
from arrowprep.tokenize.native_library import load
from tests.tokenize.build import byte_bpe
from tests.tokenize.test_files_sentencepiece import SPECIAL, model_file
from tests.tokenize.test_files_tiktoken import tiktoken_lines

LETTERS = "abcdefghijklmnopqrstuvwxyz"
MERGES = [("a", "a"), ("aa", "aa"), ("aaaa", "aaaa"), ("a", "b"), ("ab", "ab"), ("▁", "a")]
MORE, TIMES = 8, 24  # as much again, and how much longer that may take: a square would be 64


def byte_level() -> Tokenizer:
    tok = Tokenizer(byte_bpe(["a a", "aa aa", "aaaa aaaa", "a b", "ab ab", "Ġ a"]))
    tok.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    return tok


def characters() -> Tokenizer:
    tokens = ["<unk>", "▁", *LETTERS[:20], *(left + right for left, right in MERGES)]
    vocab = {token: id for id, token in enumerate(tokens)}
    tok = Tokenizer(models.BPE(vocab, MERGES, unk_token="<unk>", fuse_unk=True))
    tok.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    return tok


def unigram() -> Tokenizer:
    pieces = [
        ("<unk>", 0.0),
        ("▁", -2.0),
        *((letter, -3.0) for letter in LETTERS[:20]),
        ("aa", -3.5),
        ("ab", -3.6),
    ]
    tok = Tokenizer(models.Unigram(pieces, 0))
    tok.pre_tokenizer = pre_tokenizers.Metaspace()
    return tok


def word_piece() -> Tokenizer:
    tokens = ["[UNK]", *LETTERS, *(f"##{letter}" for letter in LETTERS), "##aa", "##ab"]
    vocab = {token: id for id, token in enumerate(tokens)}
    tok = Tokenizer(models.WordPiece(vocab, max_input_chars_per_word=10**9))
    tok.pre_tokenizer = pre_tokenizers.Whitespace()
    return tok


def word_level() -> Tokenizer:
    tok = Tokenizer(models.WordLevel({"[UNK]": 0, "a": 1}, unk_token="[UNK]"))
    tok.pre_tokenizer = pre_tokenizers.Whitespace()
    return tok


KINDS = [byte_level, characters, unigram, word_piece, word_level]
TEXTS: dict[str, Callable[[int], str]] = {
    "one letter": lambda size: "a" * size,
    "no space": lambda size: "".join(random.Random(0).choices(LETTERS, k=size)),
    "new words": lambda size: " ".join(f"{number:05x}".translate(NO_DIGITS) for number in range(size // 6)),
}
NO_DIGITS = str.maketrans("0123456789", "ghijklmnop")


@pytest.fixture(params=["reference", "native"])
def engine(request: pytest.FixtureRequest) -> Iterator[str]:
    if request.param == "native" and isinstance(load(), str):
        pytest.skip(f"no kernel: {load()}")
    with configured(engine=request.param):
        yield request.param


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("kind", KINDS)
def test_work_grows_as_the_text_does(kind: Callable[[], Tokenizer], text: str, engine: str) -> None:
    size = 10_000 if engine == "native" else 500
    short, long = (TEXTS[text](length) for length in (size, size * MORE))
    encode = kind().engine.engine.encode
    encode(pa.array([short[:500]]), offsets=True)  # which makes tables

    def seconds(text: str) -> float:
        column, start = pa.array([text]), time.process_time()
        encode(column)
        encode(column, offsets=True)
        return time.process_time() - start

    with shallow():
        # a fixed part, which short work is not told from; twice, for another program may have had the caches
        assert min(seconds(long), seconds(long)) < TIMES * max(seconds(short), seconds(short), 0.002)


@contextmanager
def shallow() -> Iterator[None]:
    """So little room for calls within calls that none may follow the length of a text."""
    limit, depth = sys.getrecursionlimit(), 0
    frame = sys._getframe()
    while frame := frame.f_back:  # type: ignore[assignment]
        depth += 1
    sys.setrecursionlimit(depth + 120)
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_kept_of_words_is_bounded_and_goes_with_the_tokenizer(kind: Callable[[], Tokenizer]) -> None:
    texts = [TEXTS["new words"](n)[-1800:] for n in range(6_000, 12_000, 600)]

    def working() -> Tokenizer:
        tok = kind()
        tok.cache_bytes = 40_000
        work(tok, "x")
        return tok

    with configured(engine="reference"):
        first = working()
        for text in texts:  # what is made once for all tokenizers is not theirs
            work(first, text)
        tok = working()
        gc.collect()
        tracemalloc.start()
        try:
            for text in texts:
                work(tok, text)
            kept = held()
            del tok
            left = held()
        finally:
            tracemalloc.stop()
    assert kept < 150_000
    assert left < 30_000


def work(tok: Tokenizer, text: str) -> None:
    """Each cache of the engine is used."""
    for offsets in (False, True):
        tok.engine.engine.encode(pa.array([text, "x" * 300]), offsets=offsets)
    tok.encode(text)


def held() -> int:
    gc.collect()
    return tracemalloc.get_traced_memory()[0]


def growth_by_copies() -> int:
    """Bytes that a process takes more after twelve copies that encoded and were dropped than after three."""
    column = pa.array([TEXTS["new words"](60_000)])
    tok = byte_level()

    def copies(count: int) -> int:
        for _ in range(count):
            copy.deepcopy(tok).engine.engine.encode(column)
        gc.collect()
        return int(Path("/proc/self/statm").read_text().split()[1]) * mmap.PAGESIZE

    before = copies(3)
    return copies(12) - before


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="nothing says how much memory is held")
def test_copies_that_are_dropped_leave_nothing(engine: str) -> None:
    # in a process of its own: in one of a gigabyte what other tests left comes and goes as well
    code = "from tests.tokenize.test_scale import growth_by_copies; print(growth_by_copies())"
    environment = os.environ | {"ARROWPREP_ENGINE": engine}
    run = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert int(run.stdout) < 8 << 20  # what is known of 10,000 words takes two each


def test_added_tokens_cost_no_time_where_they_are_not(engine: str) -> None:
    few, many = characters(), characters()
    few.add_tokens(["<0>"])
    many.add_tokens([f"<{number}>" for number in range(20_000)])
    text = pa.array(["a <b a> c " * 4_000])

    def seconds(tok: Tokenizer) -> float:
        start = time.process_time()
        tok.engine.engine.encode(text)
        return time.process_time() - start

    for tok in (few, many):
        tok.engine.engine.encode(text[:0])
        tok.encode("<0>")
    assert min(seconds(many) for _ in range(3)) < 5 * max(seconds(few) for _ in range(3)) + 0.01


def joined_tokens(count: int) -> list[str]:
    """Letters, and tokens each of which is another and a letter."""
    tokens = list(LETTERS)
    for number in range(count):
        tokens.append(tokens[number] + LETTERS[number * 7 % 26])
    return list(dict.fromkeys(tokens))


def tokenizer_json(count: int) -> None:
    tokens = joined_tokens(count)
    vocab = {token: id for id, token in enumerate(tokens)}
    merges = [[token[:-1], token[-1]] for token in tokens if len(token) > 1]
    model = {"type": "BPE", "vocab": vocab, "merges": merges}
    Tokenizer.from_str(json.dumps({"version": "1.0", "added_tokens": [], "model": model}))


def tiktoken(count: int) -> None:
    longer = [token.encode() for token in joined_tokens(count) if len(token) > 1]
    read_tiktoken(tiktoken_lines([bytes([byte]) for byte in range(256)] + longer))


def sentencepiece(count: int) -> None:
    pieces = [(token, -float(id), NORMAL) for id, token in enumerate(joined_tokens(count))]
    read_sentencepiece(model_file([*SPECIAL, *pieces], 2))[0].token_to_id("abc")


@pytest.mark.parametrize("kind", [tokenizer_json, tiktoken, sentencepiece])
def test_loading_grows_as_the_vocabulary_does(kind: Callable[[int], None], engine: str) -> None:
    def seconds(count: int) -> float:
        start = time.process_time()
        kind(count)
        return time.process_time() - start

    kind(100)
    assert seconds(600 * MORE) < TIMES * max(seconds(600), seconds(600), 0.002)


TRAINERS = [
    trainers.BpeTrainer,
    trainers.WordPieceTrainer,
    trainers.WordLevelTrainer,
    trainers.UnigramTrainer,
]


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("kind", TRAINERS)
def test_learning_grows_as_the_corpus_does(kind: type[trainers.Trainer], text: str) -> None:
    is_slow = kind is trainers.UnigramTrainer  # by a hundred times, and prunes as often as its size wants
    trainer = kind(vocab_size=1000 if is_slow else 60, show_progress=False)  # type: ignore[call-arg]

    def seconds(size: int) -> float:
        tok = Tokenizer(trainer.model_type())
        tok.pre_tokenizer = pre_tokenizers.Whitespace()
        start = time.process_time()
        tok.train_from_iterator([TEXTS[text](size)], trainer)
        return time.process_time() - start

    size = 100 if is_slow else 1_000
    with configured(engine="reference"), shallow():
        assert seconds(size * MORE) < TIMES * max(seconds(size), seconds(size), 0.002)
