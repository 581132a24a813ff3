"""NormalizedString: a text that can be changed in place, and that knows what it was."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from arrowprep.errors import BadArgument, NotText
from arrowprep.tokenize.aligned import NOWHERE, Aligned
from arrowprep.tokenize.normalizers.edits import Lowercase, Strip
from arrowprep.tokenize.normalizers.unicode_forms import NFC, NFD, NFKC, NFKD
from arrowprep.tokenize.oniguruma import Pattern
from arrowprep.tokenize.patterns import as_pattern
from arrowprep.tokenize.pre_tokenizers.split import BEHAVIORS, split_spans
from arrowprep.tokenize.truncation import check_choice

Range: TypeAlias = "int | tuple[int, int] | slice"


class NormalizedString:
    """A text as it was and as it is, changed in place by what its methods are named after.

    original: the text as it was; for a part of another one, what of it the part stands for
    normalized: the text as it is; read only, so that it never loses its alignment
    aligned: the text as it is, with the span of the original under each character

    Places are characters of the text as it is.
    """

    __slots__ = ("_source", "_span", "aligned")

    def __init__(self, sequence: str) -> None:
        if not isinstance(sequence, str):
            raise NotText(f"a text is a str, not {type(sequence).__name__}", given=type(sequence).__name__)
        self.aligned = Aligned(sequence)
        self._source = sequence  # what the spans of `aligned` count in; shared by all parts
        self._span = (0, len(sequence))

    @property
    def original(self) -> str:
        return self._source[self._span[0] : self._span[1]]

    @property
    def original_span(self) -> tuple[int, int]:
        """Where `original` stands in the text that all of it began as."""
        return self._span

    @property
    def normalized(self) -> str:
        return self.aligned.text

    def __str__(self) -> str:
        return self.normalized

    def __repr__(self) -> str:
        return f'NormalizedString(original="{self.original}", normalized="{self.normalized}")'

    # ------------------------------------------------------------------ parts

    def slice(self, range: Range) -> NormalizedString | None:
        """The part at a place, (start, stop) or slice; None for a place that is not there."""
        n = len(self.normalized)
        if isinstance(range, int):
            start = range + n if range < 0 else range
            return self._part(start, start + 1) if 0 <= start < n else None
        wanted = range if isinstance(range, slice) else slice(*range)
        if wanted.step not in (None, 1):
            raise BadArgument(f"a part has all characters from start to stop: no step {wanted.step}")
        if wanted.start is not None and wanted.start > n:
            return None
        start, stop, _ = wanted.indices(n)
        return self._part(start, max(start, stop))

    __getitem__ = slice

    def __iter__(self) -> Iterator[NormalizedString]:
        return (self._part(i, i + 1) for i in range(len(self.normalized)))

    def split(self, pattern: str | Pattern, behavior: str) -> list[NormalizedString]:
        """The parts that matches of a pattern cut it into.

        behavior: what becomes of a match: removed, isolated, merged_with_previous,
            merged_with_next or contiguous
        """
        check_choice("behavior", behavior, BEHAVIORS)
        spans = split_spans(self._find(pattern), len(self.normalized), behavior)
        return [self._part(*span) for span in spans]

    def part(self, aligned: Aligned) -> NormalizedString:
        """What was cut out of `aligned`, and perhaps changed, as a part of this text."""
        return self._standing_for(aligned, aligned.span(0, len(aligned.text)) if aligned.text else self._span)

    def _part(self, start: int, stop: int) -> NormalizedString:
        span = self.aligned.span(start, stop) if self.aligned.text else self._span
        return self._standing_for(self.aligned.slice(start, stop), span)

    def _standing_for(self, aligned: Aligned, span: tuple[int, int]) -> NormalizedString:
        part = NormalizedString.__new__(NormalizedString)
        part.aligned, part._source, part._span = aligned, self._source, span
        return part

    # ------------------------------------------------------------------ changes in place

    def nfc(self) -> None:
        self.aligned = NFC().apply(self.aligned)

    def nfd(self) -> None:
        self.aligned = NFD().apply(self.aligned)

    def nfkc(self) -> None:
        self.aligned = NFKC().apply(self.aligned)

    def nfkd(self) -> None:
        self.aligned = NFKD().apply(self.aligned)

    def lowercase(self) -> None:
        self.aligned = Lowercase().apply(self.aligned)

    def uppercase(self) -> None:
        """Character by character, as Python's own tables have it: ß becomes SS."""
        self.aligned = self.aligned.mapped([character.upper() for character in self.normalized])

    def lstrip(self) -> None:
        self.aligned = Strip(right=False).apply(self.aligned)

    def rstrip(self) -> None:
        self.aligned = Strip(left=False).apply(self.aligned)

    def strip(self) -> None:
        self.aligned = Strip().apply(self.aligned)

    def prepend(self, s: str) -> None:
        """Put a text in front, which stands for the first character; nothing in front of an empty text."""
        self.aligned = self.aligned.prepended(s)

    def append(self, s: str) -> None:
        """Put a text behind, which stands for the last character; behind an empty text, for nothing."""
        n = len(self.normalized)
        sources = [*range(n), *[n - 1 if n else NOWHERE] * len(s)]
        self.aligned = self.aligned.rebuilt(self.normalized + s, sources)

    def clear(self) -> None:
        self.aligned = self.aligned.slice(0, 0)

    def replace(self, pattern: str | Pattern, content: str) -> None:
        """Put a content, taken literally, in place of every match."""
        self.aligned = self.aligned.replaced(self._find(pattern), content)

    def _find(self, pattern: str | Pattern) -> list[tuple[int, int]]:
        # unlike the expression, the empty literal matches nowhere
        return as_pattern(pattern).find(self.normalized) if pattern != "" else []

    def filter(self, func: Callable[[str], bool]) -> None:
        """Keep the characters for which `func` is true."""
        self.aligned = self.aligned.mapped([c if func(c) else "" for c in self.normalized])

    def map(self, func: Callable[[str], str]) -> None:
        """Put what `func` gives, one character, in place of each."""
        mapped = [func(character) for character in self.normalized]
        for character, new in zip(self.normalized, mapped, strict=True):
            if not isinstance(new, str) or len(new) != 1:
                raise NotText(f"the function gave {new!r} for {character!r}, not one character")
        self.aligned = self.aligned.respelled("".join(mapped))

    def for_each(self, func: Callable[[str], object]) -> None:
        """Show `func` each character."""
        for character in self.normalized:
            func(character)
