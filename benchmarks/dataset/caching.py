"""What is done already: a chain found again, in a new process and in the same; and what it takes on disk."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from benchmarks.dataset.chain import chain
from benchmarks.dataset.groups import Figure, Given, Group, Row, timed


def _hit(given: Given) -> Iterator[Figure]:
    """The same map again, of a function that holds a tokenizer, as those that tokenize do."""
    documents, tokenizer = (
        given.load(given.inputs.documents),
        given.peer.load_tokenizer(given.inputs.tokenizer),
    )
    given.peer.tokenize(documents, tokenizer, None)
    seconds, mapped = timed(lambda: given.peer.tokenize(documents, tokenizer, None))
    yield Figure("hit", seconds, len(mapped))


def _written(given: Given) -> Iterator[Figure]:
    texts = given.load(given.inputs.texts)
    before = _bytes_in(given.cache)
    mapped = chain(texts)
    yield Figure("written", (_bytes_in(given.cache) - before) / 1e6, mapped[0])


def _bytes_in(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


GROUPS = {
    "hit": Group({"hit": Row("a map that hits, same process", 20)}, _hit),
    "written": Group({"written": Row("written by five maps that add a column", 10, unit="MB")}, _written),
}
