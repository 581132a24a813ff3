"""How fast another Python thread goes while the kernel works: a loop that counts, on one of two cores.

    python -m benchmarks.pace [--megabytes 10] [--repeats 3]        a minute

The kernel has one thread here. Pace is what the loop counts a second beside the work, to what it counts
beside a process that burns a core and has a lock of its own, in turn, so that a machine with fewer idle cores
than two slows down both; and to what it counts alone, which needs a quiet machine. Medians of the repeats;
80 % is wanted. Held is what no machine blurs: how much of the processor time of the working thread is outside
of the kernel's functions, where it may hold Python's lock. The pace falls short of the control's by at most
so much.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa

from arrowprep import configure, data
from arrowprep.tokenize import Tokenizer, models, native_library, pre_tokenizers, trainers
from benchmarks.kernel_corpus import documents

WANTED = 0.8
BURNT_S = 0.3
Work = Callable[[], Any]


class Pace:
    """A thread that counts as fast as it can."""

    def __init__(self) -> None:
        self._turns, self._ends = 0, False
        self._thread = threading.Thread(target=self._count, daemon=True)
        self._thread.start()

    def _count(self) -> None:
        while not self._ends:
            for _ in range(1000):
                pass
            self._turns += 1

    def beside(self, work: Work) -> float:
        """Turns a second while `work` is done."""
        turns, start = self._turns, time.perf_counter()
        work()
        return (self._turns - turns) / (time.perf_counter() - start)

    def end(self) -> None:
        self._ends = True
        self._thread.join()


class Kernel:
    """The processor time of this thread in the kernel's functions, seen by wrapping them."""

    def __init__(self) -> None:
        self.seconds = 0.0
        library = native_library.load()
        assert not isinstance(library, str), library
        for name in native_library.SIGNATURES:
            setattr(library, name, self._timed(getattr(library, name)))

    def _timed(self, function: Any) -> Any:
        def call(*arguments: Any) -> Any:
            start = time.thread_time()
            result = function(*arguments)
            self.seconds += time.thread_time() - start
            return result

        return call

    def held_by(self, work: Work) -> float:
        """The share of the thread's time outside of them."""
        before, start = self.seconds, time.thread_time()
        work()
        return 1 - (self.seconds - before) / (time.thread_time() - start)


@contextmanager
def burning() -> Iterator[None]:
    """A core taken by a process of its own."""
    process = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        time.sleep(0.1)  # until it burns
        yield
    finally:
        process.kill()
        process.wait()


def waited() -> None:
    time.sleep(BURNT_S)


def trained(model: Any, trainer: Any, cutter: Any, given: Any, **options: Any) -> Work:
    def train() -> None:
        tokenizer = Tokenizer(model())
        tokenizer.pre_tokenizer = cutter
        made = trainer(show_progress=False, **options)
        if isinstance(given, Path):
            tokenizer.train([given], made)
        else:
            tokenizer.train_from_iterator(given, made)

    return train


def counted(cutter: Any, column: pa.Array) -> Work:
    return lambda: trainers.count_words(trainers.blocks_of(column), None, cutter)


def works(folder: Path, megabytes: float) -> dict[str, Work]:
    [texts] = documents("code", 2000, int(megabytes * 1e6), 1)
    column = pa.array(texts, pa.large_string())
    lines = folder / "lines.txt"
    lines.write_text("".join(texts), encoding="utf-8")
    engine = Tokenizer.from_file(data.GPT2 / "tokenizer.json.gz").engine.engine
    ids = engine.encode(column).ids
    times = max(int(40 // megabytes), 1)  # half a second or so
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe = {"vocab_size": 32_000, "initial_alphabet": pre_tokenizers.ByteLevel.alphabet()}
    return {
        "encode": lambda: [engine.encode(column) for _ in range(times)],
        "encode, places and words": lambda: engine.encode(column, offsets=True, words=True),
        "decode": lambda: [engine.decode(ids) for _ in range(times)],
        "train BPE, column": trained(models.BPE, trainers.BpeTrainer, byte_level, column, **bpe),
        "train BPE, file": trained(models.BPE, trainers.BpeTrainer, byte_level, lines, **bpe),
        "train BPE, list": trained(models.BPE, trainers.BpeTrainer, byte_level, texts, **bpe),
        "train WordPiece, column": trained(
            models.WordPiece,
            trainers.WordPieceTrainer,
            pre_tokenizers.BertPreTokenizer(),
            column,
            vocab_size=32_000,
        ),
        "count Unigram's words": counted(pre_tokenizers.Metaspace(), column),
        "count WordPiece's words": counted(pre_tokenizers.BertPreTokenizer(), column),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--megabytes", type=float, default=10)
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    configure(threads=1)
    with tempfile.TemporaryDirectory() as folder:
        named = works(Path(folder), arguments.megabytes)
        kernel, pace = Kernel(), Pace()
        print(f"{'':26}{'held':>8}{'to control':>12}{'to alone':>10}   wanted {WANTED:.0%}")
        for name, work in named.items():
            work()  # what is imported and made once
            shares, ratios, alones = [], [], []
            for _ in range(arguments.repeats):
                alone = pace.beside(waited)
                with burning():
                    control = pace.beside(waited)
                found = pace.beside(lambda work=work, shares=shares: shares.append(kernel.held_by(work)))
                ratios.append(found / control)
                alones.append(found / alone)
            medians = map(statistics.median, (shares, ratios, alones))
            print(f"{name:26}" + "{:8.0%}{:12.0%}{:10.0%}".format(*medians), flush=True)
        pace.end()


if __name__ == "__main__":
    main()
