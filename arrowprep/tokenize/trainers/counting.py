"""The words of a corpus, and how often each comes: by the components, or by the kernel if it cuts alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sized
from typing import TYPE_CHECKING, Any, TypeAlias

import pyarrow as pa

from arrowprep.config import settings
from arrowprep.errors import NotText, warn
from arrowprep.progress import Silent, bar
from arrowprep.tokenize.aligned import Aligned
from arrowprep.tokenize.native_library import load
from arrowprep.tokenize.normalizers import Normalizer
from arrowprep.tokenize.pre_tokenizers import PreTokenizer
from arrowprep.tokenize.pre_tokenizers.base import cut_all
from arrowprep.tokenize.reference import TEXT_TYPES

if TYPE_CHECKING:
    from arrowprep.tokenize.native_training import WordCounter

ROWS_AT_ONCE = 1000
MANY, LONG = 10_000, 50  # pieces, and characters of one, that are no longer words

Block: TypeAlias = "list[str] | pa.Array"


def blocks_of(batches: Iterable[Any], length: int | None = None, show: bool = False) -> Iterator[Block]:
    """The texts of an iterable of texts, or of lists or columns of texts; what is Arrow stays Arrow.

    length: how many elements there are, where the iterable does not know
    show: a bar of how many were read

    Raises NotText, which names the element, for anything else; what the iterable raises comes through.
    """
    total = len(batches) if length is None and isinstance(batches, Sized) else length
    with bar(total, "read texts", unit=" texts") if show else Silent() as progress:
        if (column := _as_arrow(batches)) is not None:
            for start in range(0, len(column), ROWS_AT_ONCE):
                yield column.slice(start, ROWS_AT_ONCE)
                progress.advance(min(ROWS_AT_ONCE, len(column) - start))
            return
        waiting: list[str] = []
        for row, batch in enumerate(batches):
            if isinstance(batch, str):
                waiting.append(batch)
            elif (column := _as_arrow(batch)) is not None:
                yield waiting
                waiting = []
                yield column
            else:
                waiting += _texts_in(batch, row)
            if len(waiting) >= ROWS_AT_ONCE:
                yield waiting
                waiting = []
            progress.advance(1)
        yield waiting


def _as_arrow(texts: Any) -> pa.Array | None:
    """A column of texts as one array; None for what is none."""
    if hasattr(texts, "__arrow_c_stream__") and not isinstance(texts, pa.ChunkedArray):
        texts = pa.chunked_array(texts)
    if not isinstance(texts, pa.Array | pa.ChunkedArray):
        return None
    if not any(is_text(texts.type) for is_text in TEXT_TYPES):
        raise NotText(f"a trainer reads texts, and this column holds {texts.type}")
    wide = texts.cast(pa.large_string())
    return wide.combine_chunks() if isinstance(wide, pa.ChunkedArray) else wide


def _texts_in(batch: Any, row: int) -> Iterator[str]:
    if isinstance(batch, bytes) or not isinstance(batch, Iterable):
        raise NotText(f"a trainer reads texts or lists of texts; {_said(row, batch)}", row=row)
    for text in batch:
        if not isinstance(text, str):
            raise NotText(f"a trainer reads texts or lists of texts; {_said(row, text)}", row=row)
        yield text


def _said(row: int, value: object) -> str:
    return f"element {row} has {type(value).__name__} {str(value)[:40]!r}"


def count_words(
    blocks: Iterable[Block], normalizer: Normalizer | None, pre_tokenizer: PreTokenizer | None
) -> Counter[str]:
    """How often each piece of the pre-tokenizer comes, in the order in which they first came.

    Kept in memory: every distinct piece; the texts are not.
    """
    counter = _kernel(normalizer, pre_tokenizer)
    if counter is None:
        texts = (text for block in blocks for text in _strings(block))
        return _noticed(_counted_here(texts, normalizer, pre_tokenizer))
    left = _Left()
    for block in blocks:
        column = pa.array(block, pa.large_string()) if isinstance(block, list) else block
        for row in counter.feed(column):
            left.add(row, _counted_here([column[row].as_py()], normalizer, pre_tokenizer))
        left.before += len(column)
    words, counts, firsts = counter.counted()
    if left.words:
        return _noticed(left.among(zip(words, counts, firsts, strict=True)))
    return _noticed(Counter(dict(zip(words, counts, strict=True))))


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

    def among(self, others: Iterable[tuple[str, int, int]]) -> Counter[str]:
        """With words of other texts in their order, how often each comes, and in which text first."""
        found = {word: (count, (text, place)) for place, (word, count, text) in enumerate(others)}
        for word, (count, first) in self.words.items():
            other, other_first = found.get(word, (0, first))
            found[word] = (count + other, min(first, other_first))
        ordered = sorted(found.items(), key=lambda item: item[1][1])
        return Counter({word: count for word, (count, _) in ordered})


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


def _noticed(words: Counter[str]) -> Counter[str]:
    """The words as they are, with a warning where they are whole lines and not words."""
    if len(words) > MANY and words.total() < 2 * len(words):
        length = sum(map(len, words)) // len(words)
        if length > LONG:
            warn(
                f"most of the {len(words):,} pieces of the corpus come once, and they have {length:,}"
                " characters on average: training will take much time and memory."
                " Set a pre_tokenizer that cuts words"
            )
    return words
