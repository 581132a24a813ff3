"""Patterns of tokenizer files, which are written for Oniguruma (Ruby syntax), run by the `regex` package.

Oniguruma knows the characters of Unicode 16, an installed `regex` may know more.
A character that came later has no properties there, so a stand-in that never has
any takes its place while the pattern runs: the spans are those of the text.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator
from functools import cache, cached_property
from itertools import starmap
from operator import eq
from typing import Any

from arrowprep.errors import BadTokenizerFile
from arrowprep.tokenize import unicode_tables
from arrowprep.tokenize.ascii_patterns import ascii_twin
from arrowprep.tokenize.oniguruma_syntax import ignores_case, translate
from arrowprep.tokenize.unicode_normal import charset, parse_ranges

Span = tuple[int, int]

ASCII_WORTH_A_TWIN = 20_000  # characters; making the twin takes as long as these, some 3 ms
# of normalizers in many files: no need to compile them, half a millisecond each, to see that they can be
SURE = frozenset({" {2,}", r"\s+"})
_SIMPLE = frozenset("(){}").isdisjoint
STAND_IN = "\ufdd0"  # a noncharacter: no version of Unicode gives it a property
# U+0295 was Ll in Unicode 16 and is Lo since 17; U+0138 is Ll, without case, in all
RECLASSIFIED = {0x295: 0x138}
# to `regex` İ and ı are other cases of i, to Oniguruma of nothing, as Ĭ and ĭ are, which take their place
_TURKISH = re.compile("[İı]")
_NEIGHBOURS = str.maketrans("İı", "Ĭĭ")


def _is_sure(source: str) -> bool:
    """Whether a pattern can be compiled, as far as that is sooner known than done."""
    if source in SURE:
        return True
    if not _SIMPLE(source):
        return False
    from arrowprep.tokenize.sure_patterns import is_sure

    return is_sure(source)


class Pattern:
    """An Oniguruma pattern.

    source: as the tokenizer file has it, or for a literal its text
    literal: whether it stands for itself
    sure: whether it is known to be a pattern, and is compiled when it is first used
    """

    def __init__(self, source: str, *, literal: bool = False, sure: bool = False) -> None:
        self.source = source
        self.literal = literal
        self._ascii_seen = 0
        if not (literal or sure or _is_sure(source)):
            self.compiled  # noqa: B018 - a broken pattern is an error here

    @cached_property
    def compiled(self) -> Any:
        """What runs it."""
        import regex  # here and elsewhere: it takes 10 ms, and what the kernel knows is cut without it

        source = regex.escape(self.source) if self.literal else translate(self.source)
        try:
            return regex.compile(source, regex.V1)
        except regex.error as error:
            raise BadTokenizerFile(
                f"the pattern {self.source!r} cannot be used: {error}", pattern=self.source
            ) from error

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Pattern) and (self.source, self.literal) == (other.source, other.literal)

    def __hash__(self) -> int:
        return hash((self.source, self.literal))

    def __repr__(self) -> str:
        return repr(self.source) if self.literal else f"Regex({self.source!r})"

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (self.source, self.literal)

    @cached_property
    def _has_groups(self) -> bool:
        return bool(self.compiled.groups)

    def _for_ascii(self, text: str) -> Any:
        """What finds the same in texts of ASCII; sooner, where such a thing is known and worth making."""
        if self._ascii_seen < ASCII_WORTH_A_TWIN:
            self._ascii_seen += len(text)
            return self.compiled
        return self._ascii_twin or self.compiled

    @cached_property
    def _ascii_twin(self) -> Any:
        return None if self.literal else ascii_twin(translate(self.source))

    @cached_property
    def ignores_case(self) -> bool:
        """Whether some of it does, and it does not ask for the two letters that Turkish has beside i."""
        return ignores_case(self.source) and not _TURKISH.search(self.source)

    def pieces(self, text: str) -> list[str] | None:
        """The matches, when they are the whole text one after the other; else None."""
        found = self.matches(text)
        return found if found is not None and sum(map(len, found)) == len(text) else None

    def matches(self, text: str) -> list[str] | None:
        """The matches, when none is empty; None where that is not soon known."""
        if self._has_groups or not settled(text) or (self.ignores_case and _TURKISH.search(text)):
            return None
        compiled = self._for_ascii(text) if text.isascii() else self.compiled
        found: list[str] = compiled.findall(text)
        return None if "" in found else found

    def find(self, text: str) -> list[Span]:
        """The span of each match, as Oniguruma's loop over a text finds them; none in an empty text."""
        if not text:
            return []
        text = as_unicode_16(text)
        compiled = self.compiled
        if text.isascii():
            compiled = self._for_ascii(text)
        elif self.ignores_case:
            text = without_turkish(text)
        spans = [match.span() for match in compiled.finditer(text)]
        if any(starmap(eq, spans)):
            return list(self._find_with_empty(text))
        return spans

    def _find_with_empty(self, text: str) -> Iterator[Span]:
        """An empty match right after another is none; the search goes on one character later."""
        at, last_stop = 0, -1
        while at <= len(text):
            match = self.compiled.search(text, at)
            if match is None:
                return
            start, stop = match.span()
            if start == stop == last_stop:
                at += 1
                continue
            at = last_stop = stop
            yield start, stop


def without_turkish(text: str) -> str:
    """`text` as patterns that ignore case get to see it."""
    return text.translate(_NEIGHBOURS)


def _rebuild(source: str, literal: bool) -> Pattern:
    return Pattern(source, literal=literal)


# ---------------------------------------------------------------------- Unicode 16


_BEYOND = re.compile("[\U00010000-\U0010ffff]")


@cache
def _first_plane() -> re.Pattern[str]:
    """What Unicode 16 has no character for, or another category than later versions, below U+10000."""
    ranges = [r for r in parse_ranges(unicode_tables.UNASSIGNED) if r[0] < 0x10000]
    return re.compile(f"[{charset(ranges)}{''.join(map(chr, RECLASSIFIED))}]")


@cache
def _unassigned_ends() -> tuple[list[int], list[int]]:
    ranges = list(parse_ranges(unicode_tables.UNASSIGNED))
    return [r[0] for r in ranges], [r[-1] for r in ranges]


def _unknown(text: str) -> set[int]:
    """The characters of `text` that Unicode 16 sees in another way than its successors."""
    codes = set(map(ord, _first_plane().findall(text)))
    starts, ends = _unassigned_ends()
    for code in map(ord, set(_BEYOND.findall(text))):
        i = bisect.bisect_right(starts, code) - 1
        if code <= ends[i]:
            codes.add(code)
    return codes


def settled(text: str) -> bool:
    """Whether every version of Unicode since 16 sees the same in `text`."""
    return text.isascii() or not _unknown(text)


def as_unicode_16(text: str) -> str:
    """`text`, of the same length, with stand-ins for what Unicode 16 does not know."""
    if text.isascii() or not (unknown := _unknown(text)):
        return text
    return text.translate({code: RECLASSIFIED.get(code, ord(STAND_IN)) for code in unknown})
