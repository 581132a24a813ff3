"""Trainer: counts the words of a corpus, and makes a vocabulary of the counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Sized
from typing import Any, ClassVar, Generic, TypeVar

import pyarrow as pa

from arrowprep.errors import BadArgument, NotText, warn
from arrowprep.progress import Silent, bar
from arrowprep.tokenize.added_tokens import AddedToken
from arrowprep.tokenize.aligned import Aligned
from arrowprep.tokenize.models import Model
from arrowprep.tokenize.normalizers import Normalizer
from arrowprep.tokenize.pre_tokenizers import PreTokenizer
from arrowprep.tokenize.pre_tokenizers.base import cut_all

M = TypeVar("M", bound=Model)
ROWS_AT_ONCE = 1000
MANY, LONG = 10_000, 50  # pieces, and characters of one, that are no longer words


class Trainer(Generic[M]):
    """Options of a training; `train` puts the result into a model.

    special_tokens: get the first ids. They are not cut out of the corpus, so their
        parts can be learnt too
    show_progress: whether long work shows a bar
    """

    model_type: ClassVar[type[Model]]

    def __init__(self, special_tokens: Sequence[str | AddedToken] = (), show_progress: bool = True) -> None:
        self.special_tokens = [
            token if isinstance(token, AddedToken) else AddedToken(token, special=True)
            for token in special_tokens
        ]
        self.show_progress = show_progress

    def train(self, words: Counter[str], model: M) -> None:
        """Replace the vocabulary of `model` by one for these words, how often each comes."""
        raise NotImplementedError

    def check(self, model: Model) -> None:
        """Raises BadArgument when this cannot train `model`."""
        if not isinstance(model, self.model_type):
            raise BadArgument(
                f"a {type(self).__name__} trains {self.model_type.__name__}, not {type(model).__name__}",
                trainer=type(self).__name__,
                model=type(model).__name__,
            )

    def __repr__(self) -> str:
        options = (f"{name}={value!r}" for name, value in vars(self).items() if name[0] != "_")
        return f"{type(self).__name__}({', '.join(options)})"


def texts_of(batches: Iterable[Any], length: int | None = None, show: bool = False) -> Iterator[str]:
    """The texts of an iterable of texts, or of lists of texts; Arrow's texts too, without its nulls.

    length: how many elements there are, where the iterable does not know
    show: a bar of how many were read

    Raises NotText, which names the element, for anything else.
    """
    total = len(batches) if length is None and isinstance(batches, Sized) else length
    if isinstance(batches, pa.Array | pa.ChunkedArray):
        batches = _texts_in_arrow(batches)
    with bar(total, "read texts", unit=" texts") if show else Silent() as progress:
        for row, batch in enumerate(batches):
            if isinstance(batch, str):
                yield batch
            else:
                yield from _texts_in(batch, row)
            progress.advance(1)


def _texts_in(batch: Any, row: int) -> Iterator[str]:
    if isinstance(batch, pa.Array | pa.ChunkedArray):
        batch = _texts_in_arrow(batch)
    if isinstance(batch, bytes) or not isinstance(batch, Iterable):
        raise NotText(f"a trainer reads texts or lists of texts; {_said(row, batch)}", row=row)
    for text in batch:
        if not isinstance(text, str):
            raise NotText(f"a trainer reads texts or lists of texts; {_said(row, text)}", row=row)
        yield text


def _texts_in_arrow(column: pa.Array | pa.ChunkedArray) -> Iterator[Any]:
    for start in range(0, len(column), ROWS_AT_ONCE):
        yield from column.slice(start, ROWS_AT_ONCE).drop_null().to_pylist()


def _said(row: int, value: object) -> str:
    return f"element {row} has {type(value).__name__} {str(value)[:40]!r}"


def count_words(
    texts: Iterable[str], normalizer: Normalizer | None, pre_tokenizer: PreTokenizer | None
) -> Counter[str]:
    """How often each piece of the pre-tokenizer comes, in the order in which they first came.

    What the first pre-tokenizer cuts is counted; what the later ones make of it is
    worked out once for each. Kept in memory: every distinct piece.
    """
    leaves = pre_tokenizer.leaves if pre_tokenizer else ()
    normalize = normalizer.normalize_str if normalizer else str
    if any(leaf.knows_start for leaf in leaves):
        return _noticed(
            Counter(
                piece.text
                for text in texts
                for piece in cut_all(leaves, [Aligned(normalize(text))])
                if piece.text
            )
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
    return _noticed(words)


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
