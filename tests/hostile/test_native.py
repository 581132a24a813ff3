"""Texts, processes and threads that break kernels."""

from __future__ import annotations

import os
import random
import resource
import threading
import time

import pyarrow as pa
import pytest

from arrowprep import data
from arrowprep.config import configured
from arrowprep.tokenize import Tokenizer
from arrowprep.tokenize.native import NativeEngine, compile_pipeline
from arrowprep.tokenize.native_library import load

library = load()
pytestmark = pytest.mark.skipif(isinstance(library, str), reason=str(library))


@pytest.fixture(scope="module")
def engine() -> NativeEngine:
    tok = Tokenizer.from_file(data.GPT2 / "tokenizer.json.gz")
    native, why = compile_pipeline(tok._engine.pipeline, 4 << 20)
    assert native is not None, why
    return native


def letters(size: int) -> str:
    return "".join(random.Random(0).choices("abcdefghijklmnopqrstuvwxyz", k=size))


@pytest.mark.parametrize(
    "make",
    [
        lambda n: "a" * n,
        letters,
        lambda n: " " * n,
        lambda n: "12" * (n // 2),
        lambda n: "中" * (n // 3),
        lambda n: "=-" * (n // 2),
        lambda n: "\n" * n,
        lambda n: "👩‍👩‍👧" * (n // 18),
    ],
    ids=["a", "letters", "spaces", "digits", "han", "symbols", "newlines", "emoji"],
)
def test_a_piece_of_megabytes_takes_linear_time(engine: NativeEngine, make: object) -> None:
    short, long = (pa.array([make(size)]) for size in (1 << 20, 1 << 22))  # type: ignore[operator]

    def seconds(text: pa.Array) -> float:
        start = time.process_time()
        ids = engine.encode(text).ids
        taken = time.process_time() - start
        assert engine.decode(ids).equals(text)
        return taken

    # a page fault, of which there are thousands, takes ten times as long on a busy machine: then once more
    assert any(seconds(long) < 12 * max(seconds(short), 0.01) for _ in range(3))


def test_memory_is_bounded_whatever_is_encoded(engine: NativeEngine) -> None:
    source = random.Random(0)
    texts = pa.array([" ".join(f"{source.getrandbits(60):x}" for _ in range(3000)) for _ in range(40)])
    engine.encode(texts)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for shift in range(4):
        engine.encode(pa.compute.utf8_slice_codeunits(texts, shift + 1, None))
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 30_000  # KB


def in_child(work: object) -> int:
    """The exit status of `work` in a forked process; 9 when it hangs."""
    child = os.fork()
    if not child:
        try:
            work()  # type: ignore[operator]
            os._exit(0)
        except BaseException:
            os._exit(1)
    for _ in range(300):
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.1)
    os.kill(child, 9)
    os.waitpid(child, 0)
    return 9


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_goes_on_even_in_the_middle_of_the_parents_work(engine: NativeEngine) -> None:
    texts = pa.array(["the quick brown fox, 1234 times\n" * 300] * 60)
    expected = engine.encode(texts).ids
    stop = threading.Event()

    def keep_busy() -> None:
        while not stop.is_set():
            engine.encode(texts)

    def work() -> None:
        with configured(threads=2):
            assert engine.encode(texts).ids == expected

    workers = [threading.Thread(target=keep_busy) for _ in range(3)]
    for worker in workers:
        worker.start()
    try:
        assert [in_child(work) for _ in range(5)] == [0] * 5
    finally:
        stop.set()
        for worker in workers:
            worker.join()


def test_buffers_end_where_their_text_ends(engine: NativeEngine) -> None:
    # Arrow recommends padding and does not demand it: nothing beyond the last byte is there to be read
    for size in range(1, 140):
        text = ("word's 12 " * 20)[:size]
        exact = pa.py_buffer(bytearray(text.encode()))
        offsets = pa.array([0, size], pa.int32()).buffers()[1]
        texts = pa.Array.from_buffers(pa.string(), 1, [None, offsets, exact])
        assert engine.encode(texts).ids == engine.encode(pa.array([text])).ids
