"""What the kernel promises about itself: places, threads, cache and decoding, each beside the plain way.

    python -m benchmarks.kernel_ratios [--repeats 5] TOKENIZER.json ...

A row is a ratio of two times on the same text, measured in turn, each the smallest of its repeats: CPU time,
for threads wall time, which needs two idle cores. Both sides have to give the same. Decoding is compared
with `tokenizers` where it is installed. The first line is the library's size and the CPU's path.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa

from arrowprep import configure, kernel
from arrowprep.tokenize import Tokenizer, native_library
from arrowprep.tokenize.engine import choose_engine
from benchmarks.kernel_corpus import documents

SIZE = 4_500_000  # bytes of text
Work = Callable[[], Any]


@cache
def column(corpus: str) -> pa.Array:
    return pa.array(documents(corpus, 2000, SIZE, 1)[0], pa.large_string())


def ratio(one: Work, other: Work, repeats: int, clock: Callable[[], float]) -> float:
    """The time of `one` by that of `other`."""
    best = [float("inf"), float("inf")]
    for _ in range(repeats):
        for number, work in enumerate((one, other)):
            start = clock()
            work()
            best[number] = min(best[number], clock() - start)
    return best[0] / best[1]


def places(engine: Any, repeats: int) -> float:
    """Ids with offsets and words, to ids alone."""
    texts = column("english")
    assert engine.encode(texts, offsets=True, words=True).ids == engine.encode(texts).ids
    return ratio(
        lambda: engine.encode(texts, offsets=True, words=True),
        lambda: engine.encode(texts),
        repeats,
        time.process_time,
    )


def threads(engine: Any, repeats: int) -> float:
    """One thread to two, by the clock on the wall."""
    texts = column("english")

    def with_threads(count: int) -> Any:
        configure(threads=count)
        return engine.encode(texts).ids

    assert with_threads(1) == with_threads(2)
    found = ratio(lambda: with_threads(1), lambda: with_threads(2), repeats, time.perf_counter)
    configure(threads=1)
    return found


def caching(tokenizer: Tokenizer, repeats: int) -> float:
    """Text that is never seen again, with a cache to without one."""
    texts = column("base64")
    pipeline = tokenizer.engine.engine.pipeline
    rows = len(texts) // (repeats + 1)
    parts = iter([texts[i * rows : (i + 1) * rows] for i in range(repeats + 1)])
    kept, bare = (choose_engine(pipeline, wanted="native", cache_bytes=size).engine for size in (None, 0))
    first = next(parts)
    assert kept.encode(first).ids == bare.encode(first).ids
    best = [float("inf"), float("inf")]
    for part in parts:
        for number, engine in enumerate((kept, bare)):
            start = time.process_time()
            engine.encode(part)
            best[number] = min(best[number], time.process_time() - start)
    return best[0] / best[1]


def decoding(path: str, tokenizer: Tokenizer, repeats: int) -> float | None:
    """`tokenizers` to ours; None where it is not installed."""
    try:
        import tokenizers
    except ImportError:
        return None
    peer = tokenizers.Tokenizer.from_file(path)
    engine = tokenizer.engine.engine
    ids = engine.encode(column("english")[:500]).ids
    lists = ids.to_pylist()
    decode = lambda: peer.decode_batch(lists, skip_special_tokens=False)  # noqa: E731
    assert engine.decode(ids).to_pylist() == decode()
    return ratio(decode, lambda: engine.decode(ids), repeats, time.process_time)


def rows(path: str, repeats: int) -> list[tuple[str, float | None, str]]:
    """What is measured, and what is wanted."""
    configure(threads=1)
    tokenizer = Tokenizer.from_file(path)
    engine = tokenizer.engine.engine
    return [
        ("offsets and words / ids", places(engine, repeats), "<= 1.5"),
        ("one thread / two, 4.5 MB, wall", threads(engine, repeats), ">= 1.7"),
        ("base64, cache / none", caching(tokenizer, repeats), "<= 1.1"),
        ("decode, tokenizers / ours", decoding(path, tokenizer, repeats), ">= 10"),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tokenizers", nargs="+", help="tokenizer.json files, not compressed")
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    library = native_library.load()
    if isinstance(library, str):
        raise SystemExit(library)
    size = Path(kernel.__file__).with_name(kernel.NAME).stat().st_size
    print(f"library {size / 1e6:.2f} MB, {native_library.cpu(library)}")
    for path in arguments.tokenizers:
        print(f"\n{Path(path).stem}")
        for name, figure, wanted in rows(path, arguments.repeats):
            print(f"  {name:32}" + ("not installed" if figure is None else f"{figure:6.2f}   {wanted}"))


if __name__ == "__main__":
    main()
