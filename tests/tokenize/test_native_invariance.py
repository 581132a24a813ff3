"""What ids do not depend on, whatever the model and cuts: threads, batches, slices, buffers, the cache."""

from __future__ import annotations

import itertools
import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from arrowprep.config import configured
from arrowprep.tokenize import AddedToken, Tokenizer, models, normalizers, pre_tokenizers
from arrowprep.tokenize.engine import choose_engine
from arrowprep.tokenize.native import NativeEngine, compile_pipeline
from arrowprep.tokenize.native_library import CPU, load
from arrowprep.tokenize.patterns import Regex
from arrowprep.tokenize.reference import ReferenceEngine
from tests.tokenize.build import byte_tokenizer, split_tokenizer
from tests.tokenize.test_native_characters import SPACE, llama_like
from tests.tokenize.test_native_words import bert, levels, word_piece

library = load()
pytestmark = pytest.mark.skipif(isinstance(library, str), reason=str(library))


def unigram() -> Tokenizer:
    tokens = [SPACE, *"ab1é", f"{SPACE}a", "ab", "aa", "bé"]
    tok = Tokenizer(models.Unigram([("<unk>", 0.0), *((t, -1.0 - i % 4) for i, t in enumerate(tokens))], 0))
    tok.normalizer = normalizers.Sequence([normalizers.Strip(), normalizers.Replace(Regex(" {2,}"), " ")])
    tok.pre_tokenizer = pre_tokenizers.Metaspace()
    return tok


def pieces() -> Tokenizer:
    tok = Tokenizer(word_piece(["a", "##b", "##ab", "é", "1"]))
    tok.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Digits()])
    return tok


CHANGED = normalizers.Sequence(
    [normalizers.NFKD(), normalizers.Lowercase(), normalizers.Replace(Regex("[bé]+|$"), "h")]
)
KINDS: dict[str, Callable[[], Tokenizer]] = {
    "bytes": byte_tokenizer,
    "bytes, NFC, a space in front": lambda: byte_tokenizer(prefix=True, normalizer=normalizers.NFC()),
    "bytes by a program": lambda: split_tokenizer(Regex(r"\s+|[a\d]+|."), "isolated"),
    "bytes, decomposed, a pattern replaced": lambda: byte_tokenizer(normalizer=CHANGED),
    "characters": llama_like,
    "Unigram": unigram,
    "WordPiece": pieces,
    "WordPiece as BERT": lambda: bert(word_piece()),
    "WordLevel": levels,
}
ALPHABET = [
    "a",
    "b",
    "ab",
    "hello",
    " ",
    "  ",
    "é",
    "e\u0301",
    "1",
    "\n",
    "<m>",
    "中",
    "!",
    "a" * 14,
    "b" * 17,
]


def engines(kind: str, cache_bytes: int | None = None) -> tuple[NativeEngine, ReferenceEngine]:
    tok = KINDS[kind]()
    tok.add_tokens([AddedToken("<m>", normalized=False)])
    pipeline = tok._engine.pipeline
    native, why = compile_pipeline(pipeline, cache_bytes)
    assert native is not None, why
    return native, ReferenceEngine(pipeline)


def texts(count: int, seed: int = 0) -> list[str | None]:
    source = random.Random(seed)
    return [
        None if i % 17 == 5 else "".join(source.choices(ALPHABET, k=source.randrange(12)))
        for i in range(count)
    ]


@pytest.mark.parametrize("kind", KINDS)
class TestInvariance:
    def test_small_worlds_are_those_of_the_reference(self, kind: str) -> None:
        worlds = ["".join(world) for n in range(5) for world in itertools.product("ab é1", repeat=n)]
        # a piece has a key up to 15 bytes
        column = pa.array([filler + world for filler in ("", "a" * 12, "ab" * 8) for world in worlds])
        native, reference = engines(kind)
        expected = reference.encode(column, offsets=True, words=True)
        assert native.encode(column, offsets=True, words=True) == expected
        assert native.encode(column).ids == expected.ids

    def test_threads_give_the_same(self, kind: str) -> None:
        column = pa.array(texts(300) * 80)  # enough that threads are worth it
        assert column.nbytes > 300_000
        native = engines(kind)[0]
        with configured(threads=1):
            alone = native.encode(column).ids
        for threads in (2, 3):
            with configured(threads=threads):
                assert native.encode(column).ids == alone

    def test_a_text_is_the_same_in_any_batch_and_order(self, kind: str) -> None:
        native, rows = engines(kind)[0], texts(120)
        expected = native.encode(pa.array(rows)).ids.to_pylist()
        order = random.Random(1).sample(range(len(rows)), len(rows))
        assert native.encode(pa.array(rows).take(order)).ids.to_pylist() == [expected[i] for i in order]
        single = [native.encode(pa.array([row], pa.string())).ids.to_pylist()[0] for row in rows]
        assert single == expected

    def test_a_slice_is_read_as_a_slice_wherever_it_begins(self, kind: str) -> None:
        native, rows = engines(kind)[0], texts(40)
        expected = native.encode(pa.array(rows)).ids.to_pylist()
        for type in (pa.string(), pa.large_string(), pa.string_view()):
            column = pa.array(rows, type)
            for start in range(len(rows)):
                found = native.encode(column.slice(start, 9), words=True).ids.to_pylist()
                assert found == expected[start : start + 9]

    def test_buffers_may_end_with_the_text(self, kind: str) -> None:
        native, rows = engines(kind)[0], texts(40)
        for row in rows:
            data = (row or "").encode()
            offsets = pa.py_buffer(pa.array([0, len(data)], pa.int32()).buffers()[1].to_pybytes()[:8])
            exact = pa.Array.from_buffers(pa.string(), 1, [None, offsets, pa.py_buffer(data)])
            assert native.encode(exact).ids == native.encode(pa.array([row or ""])).ids

    def test_neither_size_nor_state_of_the_cache_matters(self, kind: str) -> None:
        column, others = pa.array(texts(200)), pa.array(texts(200, seed=1))
        expected = engines(kind)[1].encode(column).ids
        for cache_bytes in (0, 300, 3000, 1 << 20):
            native = engines(kind, cache_bytes)[0]
            for before in (None, column, others):  # cold, warm, after other texts
                if before is not None:
                    native.encode(before)
                assert native.encode(column).ids == expected


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="nothing says which threads there are")
def test_threads_are_started_for_large_columns_alone() -> None:
    native = choose_engine(byte_tokenizer()._engine.pipeline, wanted="native").engine
    small, large = (pa.array(["hello world " * 50] * count) for count in (16, 8000))

    def most(column: pa.Array, seconds: float) -> int:
        """The most threads seen at once while it is encoded again and again."""
        found, end = 0, time.monotonic() + seconds

        def look() -> None:
            nonlocal found
            while time.monotonic() < end:
                found = max(found, len(os.listdir("/proc/self/task")))

        looking = threading.Thread(target=look)
        looking.start()
        while looking.is_alive():
            native.encode(column)
        return found

    with configured(threads=4):
        assert most(small, 0.2) < most(large, 0.4)


def test_every_path_of_the_cpu_gives_the_same() -> None:
    program = (
        "from arrowprep.tokenize.native_library import cpu\n"
        "from tests.tokenize.test_native_invariance import *\n"
        "for kind in KINDS:\n"
        "    TestInvariance().test_small_worlds_are_those_of_the_reference(kind)\n"
        "print(cpu(library))"
    )

    def path(most: str) -> int:
        """Which of CPU runs where it may be no better than that."""
        done = subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "ARROWPREP_KERNEL_CPU": most},
            cwd=Path(__file__).parents[2],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return CPU.index(done.stdout.strip())

    best = path("")
    assert [path("portable"), path("avx2")] == [0, min(1, best)]
