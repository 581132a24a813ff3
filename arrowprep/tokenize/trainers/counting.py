"""The words of a corpus, and how often each comes: by the components, or by the kernel if it cuts alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

import pyarrow as pa

from arrowprep.config import settings
from arrowprep.errors import warn
from arrowprep.tokenize.aligned import Aligned
from arrowprep.tokenize.bulk import utf8_one_by_one
from arrowprep.tokenize.native_library import load
from arrowprep.tokenize.normalizers import Normalizer
from arrowprep.tokenize.pre_tokenizers import PreTokenizer
from arrowprep.tokenize.pre_tokenizers.base import cut_all
from arrowprep.tokenize.trainers.corpus import Block
from arrowprep.tokenize.trainers.words import Words

if TYPE_CHECKING:
    from arrowprep.tokenize.native_training import WordCounter

MANY, LONG = 10_000, 50  # pieces, and characters of one, that are no longer words


def count_words(
    blocks: Iterable[Block], normalizer: Normalizer | None, pre_tokenizer: PreTokenizer | None
) -> Words:
    """How often each piece of the pre-tokenizer comes, in the order in which they first came.

    Kept in memory: every distinct piece; the texts are not.
    """
    counter = _kernel(normalizer, pre_tokenizer)
    if counter is None:
        texts = (text for block in blocks for text in _strings(block))
        return _noticed(Words.of(_counted_here(texts, normalizer, pre_tokenizer)))
    left = _Left()
    for block in blocks:
        column = _column(block) if isinstance(block, list) else block
        for row in counter.feed(column):
            left.add(row, _counted_here([column[row].as_py()], normalizer, pre_tokenizer))
        left.before += len(column)
        del block, column  # or two of them would be there at once
    words, firsts = counter.counted()
    return _noticed(left.among(words, firsts.tolist()) if left.words else words)


def _column(texts: list[str]) -> pa.LargeStringArray:
    """Not by pa.array, which imports pandas before it looks at a list."""
    data, offsets = utf8_one_by_one(texts)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.large_string(), len(texts), buffers)


class _Left:
    """Words of texts that the kernel leaves: how often each comes, and where it came first.

    before: texts before those whose rows are given
    """

    def __init__(self) -> None:
        self.before = 0
        self.words: dict[str, tuple[int, tuple[int, int]]] = {}

    def add(self, row: int, words: Counter[str]) -> None:
        for place, (word, count) in enumerate(words.items()):
            before, first = self.words.get(word, (0, (self.before + row, place)))
            self.words[word] = (before + count, first)

    def among(self, others: Words, firsts: list[int]) -> Words:
        """With words of other texts in their order. firsts: in which text each of those came first"""
        found = {
            word: (count, (text, place))
            for place, ((word, count), text) in enumerate(zip(others.items(), firsts, strict=True))
        }
        for word, (count, first) in self.words.items():
            other, other_first = found.get(word, (0, first))
            found[word] = (count + other, min(first, other_first))
        ordered = sorted(found.items(), key=lambda item: item[1][1])
        return Words.of({word: count for word, (count, _) in ordered})


def _strings(block: Block) -> list[str]:
    return block if isinstance(block, list) else block.drop_null().to_pylist()


def _kernel(normalizer: Normalizer | None, pre_tokenizer: PreTokenizer | None) -> WordCounter | None:
    """What counts pieces in the kernel; None where the settings want none, or it does not cut the same."""
    library = load()
    if settings().engine == "reference" or isinstance(library, str):
        return None
    from arrowprep.tokenize.native_training import counter_of

    return counter_of(library, normalizer, pre_tokenizer.leaves if pre_tokenizer else ())


def _counted_here(
    texts: Iterable[str], normalizer: Normalizer | None, pre_tokenizer: PreTokenizer | None
) -> Counter[str]:
    """The same by the components: pieces of the first pre-tokenizer, then what later ones make of each."""
    leaves = pre_tokenizer.leaves if pre_tokenizer else ()
    normalize = normalizer.normalize_str if normalizer else str
    if any(leaf.knows_start for leaf in leaves):
        return Counter(
            piece.text
            for text in texts
            for piece in cut_all(leaves, [Aligned(normalize(text))])
            if piece.text
        )
    first, later = (leaves[0], leaves[1:]) if leaves else (PreTokenizer(), ())
    counts: Counter[str] = Counter()
    for text in texts:
        prepared = first.prepare_str(normalize(text))
        pieces = first.pieces(prepared)
        if pieces is None:
            pieces = [prepared[start:stop] for start, stop in first.spans(prepared)]
        counts.update(pieces)
    words: Counter[str] = Counter()
    for piece, count in counts.items():
        for word in cut_all(later, [first.finish(Aligned(piece))]):
            if word.text:
                words[word.text] += count
    return words


def _noticed(words: Words) -> Words:
    """The words as they are, with a warning where they are whole lines and not words."""
    if len(words) > MANY and words.total() < 2 * len(words):
        length = len(words.codes) // len(words)
        if length > LONG:
            warn(
                f"most of the {len(words):,} pieces of the corpus come once, and they have {length:,}"
                " characters on average: training will take much time and memory."
                " Set a pre_tokenizer that cuts words"
            )
    return words
