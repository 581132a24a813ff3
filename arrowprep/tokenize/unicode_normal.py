"""The normalization forms NFC, NFD, NFKC and NFKD by the tables of Unicode 9.0.

Tokenizers were defined with those: `unicodedata` follows the running Python, and
forms of characters that came later would differ with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from itertools import pairwise

from arrowprep.tokenize import unicode_tables as tables

# Hangul syllables: arithmetic of the Unicode Standard, section 3.12
S_BASE, L_BASE, V_BASE, T_BASE = 0xAC00, 0x1100, 0x1161, 0x11A7
L_COUNT, V_COUNT, T_COUNT = 19, 21, 28
S_COUNT = L_COUNT * V_COUNT * T_COUNT
BEYOND = 0x10000  # the first code beyond the first plane

Change = tuple[str, int]  # a character, and how it relates to the source: see Aligned.changed


def parse_ranges(text: str, separator: str | None = None) -> Iterator[range]:
    """The ranges of `41-5A AA`."""
    for item in text.split(separator):
        first, _, last = item.partition("-")
        yield range(int(first, 16), int(last or first, 16) + 1)


def charset(ranges: Iterable[range]) -> str:
    """The inside of a character class."""
    return "".join(f"{re.escape(chr(r[0]))}-{re.escape(chr(r[-1]))}" for r in ranges)


@cache
def combining_classes() -> dict[str, int]:
    """The class of every character whose class is not 0."""
    classes: dict[str, int] = {}
    for entry in tables.COMBINING_CLASSES.split():
        ccc, _, codes = entry.partition(":")
        classes.update((chr(code), int(ccc)) for r in parse_ranges(codes, ",") for code in r)
    return classes


@cache
def _decomposition_steps() -> tuple[dict[str, str], dict[str, str]]:
    """One step each: canonical, and compatibility."""
    canonical: dict[str, str] = {}
    compatible: dict[str, str] = {}
    for entry in tables.DECOMPOSITIONS.split():
        code, _, mapping = entry.partition("=")
        into = compatible if mapping.startswith("~") else canonical
        into[chr(int(code, 16))] = "".join(chr(int(c, 16)) for c in mapping.lstrip("~").split(","))
    return canonical, compatible


@cache
def _compositions() -> dict[tuple[str, str], str]:
    """Pairs that compose, with what they become."""
    canonical, _ = _decomposition_steps()
    excluded = {chr(code) for r in parse_ranges(tables.COMPOSITION_EXCLUSIONS) for code in r}
    return {
        (pair[0], pair[1]): whole
        for whole, pair in canonical.items()
        if len(pair) == 2 and whole not in excluded
    }


class NormalForm:
    """One of the four forms.

    compose: whether decomposed characters are put together again
    compatible: whether compatibility characters (ligatures, widths, circles) are decomposed
    """

    def __init__(self, *, compose: bool, compatible: bool) -> None:
        canonical, for_compatibility = _decomposition_steps()
        self.compose = compose
        self.steps = {**canonical, **for_compatibility} if compatible else canonical
        self.full = lru_cache(maxsize=4096)(self._full)
        self.suspect, self.affected = self._patterns()
        # pieces of text repeat: the normal form of a cluster is worked out once
        self._cluster = lru_cache(maxsize=16384)(lambda text: "".join(c for c, _ in self.changes(text)))

    def normalize(self, text: str) -> str:
        """The normal form of `text`; `text` itself where it is one already."""
        if text.isascii() or not self.suspect.search(text):
            return text
        return self.affected.sub(lambda match: self._cluster(match.group()), text)

    def changes(self, text: str) -> list[Change]:
        """The characters of the normal form, each with its relation to the source."""
        decomposed = self._decompose(text)
        return _compose(decomposed) if self.compose else decomposed

    def text_changes(self, text: str) -> list[Change]:
        """As `changes`, of a long text: only what is affected is worked on."""
        changes: list[Change] = []
        last = 0
        for match in self.affected.finditer(text):
            changes.extend((c, 0) for c in text[last : match.start()])
            changes.extend(self.changes(match.group()))
            last = match.end()
        changes.extend((c, 0) for c in text[last:])
        return changes

    def _full(self, character: str) -> str:
        """A character decomposed as far as it goes."""
        if "가" <= character <= "힣":
            return _hangul(character)
        step = self.steps.get(character)
        return character if step is None else "".join(map(self.full, step))

    def _decompose(self, text: str) -> list[Change]:
        classes = combining_classes()
        out: list[Change] = []
        pending: list[Change] = []  # marks since the last starter, to be put in order
        for character in text:
            for i, part in enumerate(self.full(character)):
                if part in classes:
                    pending.append((part, min(i, 1)))
                    continue
                pending.sort(key=lambda change: classes[change[0]])
                out += pending
                pending.clear()
                out.append((part, min(i, 1)))
        pending.sort(key=lambda change: classes[change[0]])
        return out + pending

    def _patterns(self) -> tuple[re.Pattern[str], re.Pattern[str]]:
        """What may be in no normal form, or is beyond the first plane; and all that changes with it."""
        joining = set(combining_classes())
        changing = set(self.steps)
        if self.compose:
            joining |= {second for _, second in _compositions()}
            joining |= set(map(chr, (*range(V_BASE, V_BASE + V_COUNT), *range(T_BASE + 1, T_BASE + T_COUNT))))
            changing = {c for c in changing if "".join(x for x, _ in self.changes(c)) != c}
        else:
            changing |= set(map(chr, range(S_BASE, S_BASE + S_COUNT)))
        # some that are no marks begin with one when decomposed
        joining |= {c for c in self.steps if self.full(c)[0] in joining}
        joins, changes = one_of(map(ord, joining)), one_of(map(ord, changing - joining))
        first_plane = [code for code in map(ord, joining | changing) if code < BEYOND]
        return (
            re.compile(f"[{charset(runs(first_plane))}{chr(BEYOND)}-\U0010ffff]"),
            re.compile(f"(?s:{changes}{joins}*|(?:(?!{joins}).)?{joins}+)"),
        )


def one_of(codes: Iterable[int]) -> str:
    """A pattern of one character of these.

    To `re` a set that has characters beyond the first plane is that many comparisons a character; so they
    are looked for where there is one of these alone.
    """
    ordered = sorted(codes)
    first, beyond = (runs(c for c in ordered if (c < BEYOND) == low) for low in (True, False))
    return f"(?:[{charset(first)}]|(?![\\0-\uffff])[{charset(beyond)}])" if beyond else f"[{charset(first)}]"


def runs(codes: Iterable[int]) -> list[range]:
    """Code points as the fewest ranges."""
    ordered = sorted(codes)
    begins = [i for i, code in enumerate(ordered) if not i or ordered[i - 1] != code - 1]
    return [range(ordered[i], ordered[j - 1] + 1) for i, j in pairwise([*begins, len(ordered)])]


def _hangul(syllable: str) -> str:
    index = ord(syllable) - S_BASE
    lead, vowel = chr(L_BASE + index // (V_COUNT * T_COUNT)), chr(V_BASE + index // T_COUNT % V_COUNT)
    tail = index % T_COUNT
    return lead + vowel + (chr(T_BASE + tail) if tail else "")


def _compose_pair(first: str, second: str) -> str | None:
    a, b = ord(first) - L_BASE, ord(second) - V_BASE
    if 0 <= a < L_COUNT and 0 <= b < V_COUNT:
        return chr(S_BASE + (a * V_COUNT + b) * T_COUNT)
    syllable, tail = ord(first) - S_BASE, ord(second) - T_BASE
    if 0 <= syllable < S_COUNT and syllable % T_COUNT == 0 and 0 < tail < T_COUNT:
        return chr(ord(first) + tail)
    return _compositions().get((first, second))


def _compose(decomposed: list[Change]) -> list[Change]:
    """Put starters and what follows them together; the algorithm of the Unicode Standard, D117."""
    classes = combining_classes()
    out: list[Change] = []
    starter = -1  # where in `out` the last starter is
    blocked = 0  # highest class between the starter and here; -1: nothing between
    for character, change in decomposed:
        ccc = classes.get(character, 0)
        if starter >= 0 and (blocked < ccc or blocked == -1):
            whole = _compose_pair(out[starter][0], character)
            if whole is not None:
                out[starter] = (whole, out[starter][1] + change - 1)
                continue
        if ccc == 0:
            starter, blocked = len(out), -1
        else:
            blocked = ccc
        out.append((character, change))
    return out


@cache
def normal_form(name: str) -> NormalForm:
    """NFC, NFD, NFKC or NFKD."""
    return NormalForm(compose="C" in name[2:], compatible="K" in name)
