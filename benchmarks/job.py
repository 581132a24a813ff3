"""One job of one library in a process of its own: `python -m benchmarks.job PEER JOB CORPUS CACHE`.

Prints a JSON line: seconds, and an answer that must be the same whoever computed it.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas  # noqa: F401  pyarrow loads it (0.2 s) at its first Python value; one peer has at import

from benchmarks.corpus import ROWS, Corpus, make

ACCESSES = 5_000


class Result(NamedTuple):
    seconds: float
    answer: Any


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    begun = time.perf_counter()
    value = work()
    return time.perf_counter() - begun, value


def load(peer: Any, corpus: Corpus, cache: Path) -> Result:
    seconds, dataset = timed(lambda: peer.load(corpus.rows, cache))
    return Result(seconds, [len(dataset), sorted(dataset.column_names)])


def cheap(num_proc: int) -> Callable[[Any, Corpus, Path], Result]:
    def job(peer: Any, corpus: Corpus, cache: Path) -> Result:
        dataset = peer.load(corpus.rows, cache)
        seconds, mapped = timed(lambda: peer.count_characters(dataset, num_proc))
        return Result(seconds, [len(mapped), mapped[ROWS - 1]["n"]])

    return job


def tokenize(num_proc: int) -> Callable[[Any, Corpus, Path], Result]:
    def job(peer: Any, corpus: Corpus, cache: Path) -> Result:
        dataset = peer.load(corpus.documents, cache)
        tokenizer = peer.load_tokenizer(corpus.tokenizer)
        seconds, mapped = timed(lambda: peer.tokenize(dataset, tokenizer, num_proc))
        return Result(seconds, [len(mapped), mapped[1000]["input_ids"]])

    return job


def rerun(peer: Any, corpus: Corpus, cache: Path) -> Result:
    """Load and tokenize, as the script did the last time: run it once before, with the same cache."""
    tokenizer = peer.load_tokenizer(corpus.tokenizer)

    def script() -> Any:
        return peer.tokenize(peer.load(corpus.documents, cache), tokenizer, 2)

    seconds, mapped = timed(script)
    return Result(seconds, [len(mapped), mapped[1000]["input_ids"]])


def rerun_map(peer: Any, corpus: Corpus, cache: Path) -> Result:
    """The same map again in the same process."""
    dataset, tokenizer = peer.load(corpus.documents, cache), peer.load_tokenizer(corpus.tokenizer)
    peer.tokenize(dataset, tokenizer, 2)
    seconds, mapped = timed(lambda: peer.tokenize(dataset, tokenizer, 2))
    return Result(seconds, len(mapped))


def warm(peer: Any, corpus: Corpus, cache: Path) -> Result:
    """Another map in 2 processes: the workers of the first are there, where they are kept."""
    dataset = peer.load(corpus.rows, cache)
    dataset.map(lambda batch: {"m": batch["id"]}, batched=True, num_proc=2)
    seconds, mapped = timed(lambda: peer.count_characters(dataset, 2))
    return Result(seconds, [len(mapped), mapped[ROWS - 1]["n"]])


def random_access(peer: Any, corpus: Corpus, cache: Path) -> Result:
    dataset = peer.load(corpus.rows, cache)
    numbers = np.random.default_rng(1).integers(0, ROWS, ACCESSES).tolist()
    return Result(*timed(lambda: peer.rows_at(dataset, numbers)))


def numpy_iteration(peer: Any, corpus: Corpus, cache: Path) -> Result:
    dataset = peer.load(corpus.vectors, cache)
    seconds, total = timed(lambda: peer.iterate_numpy(dataset, 1000))
    return Result(seconds, round(total, 6))


def encode(peer: Any, corpus: Corpus, cache: Path) -> Result:
    """All documents at once, with a tokenizer that has seen nothing; no dataset around it."""
    lines = corpus.documents.read_text(encoding="utf-8").split("\n")[:-1]
    texts, tokenizer = [json.loads(line)["text"] for line in lines], peer.load_tokenizer(corpus.tokenizer)
    return Result(*timed(lambda: peer.encode(tokenizer, texts)))


JOBS: dict[str, Callable[[Any, Corpus, Path], Result]] = {
    "load": load,
    "cheap_1": cheap(1),
    "cheap_2": cheap(2),
    "cheap_2_warm": warm,
    "tokenize_1": tokenize(1),
    "tokenize_2": tokenize(2),
    "rerun": rerun,
    "rerun_map": rerun_map,
    "random_access": random_access,
    "numpy_iteration": numpy_iteration,
    "encode": encode,
}


def main() -> None:
    peer, job, corpus, cache = sys.argv[1:]
    module = import_module(f"benchmarks.peers.{peer}")
    result = JOBS[job](module, make(Path(corpus)), Path(cache))
    print(json.dumps(result._asdict()))


if __name__ == "__main__":
    main()
