"""UnicodeScripts: cuts where the script of the text changes."""

from __future__ import annotations

import bisect
from functools import cache
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from arrowprep.tokenize import unicode_tables as tables
from arrowprep.tokenize.component import Spec
from arrowprep.tokenize.pre_tokenizers.base import PreTokenizer, Span
from arrowprep.tokenize.unicode_normal import parse_ranges

ANY = ""  # of a space, and of what has no script in Unicode 9.0: joins what is before it
# written together in Japanese
_AS_ONE = {"Hiragana": "Han", "Katakana": "Han"}


@cache
def _table() -> tuple[list[int], list[int], list[str]]:
    """Starts, ends and scripts of all ranges, in order."""
    rows = []
    for entry in tables.SCRIPTS.split():
        name, _, codes = entry.partition(":")
        rows += [(r[0], r[-1], _AS_ONE.get(name, name)) for r in parse_ranges(codes, ",")]
    rows.sort()
    return [row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows]


@cache
def script_of(character: str) -> str:
    """Its script; Common is one too, and the long vowel mark ー counts as Han."""
    if character == " ":
        return ANY
    if character == "ー":
        return "Han"
    starts, ends, scripts = _table()
    i = bisect.bisect_right(starts, ord(character)) - 1
    return scripts[i] if i >= 0 and ord(character) <= ends[i] else ANY


def script_numbers() -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32]]:
    """The first character of each run of one script, and a number for that; 0 is none."""
    starts, ends, _ = _table()
    edges = {0, *starts, *(end + 1 for end in ends), *map(ord, "ー ")}
    firsts = sorted(edge for edge in edges | {ord(c) + 1 for c in "ー "} if edge < 0x110000)
    scripts = [script_of(chr(first)) for first in firsts]
    numbers = {script: number for number, script in enumerate(sorted({ANY, *scripts}))}
    return np.array(firsts, np.uint32), np.array([numbers[script] for script in scripts], np.uint32)


class UnicodeScripts(PreTokenizer):
    """Cuts where the script changes, by Unicode 9.0.

    Han, Hiragana and Katakana are one script. What has none, a space above all,
    joins what is before it; where nothing is before it, it is dropped.
    """

    kind = "UnicodeScripts"

    @classmethod
    def from_json(cls, spec: Spec) -> UnicodeScripts:
        return cls()

    def spans(self, text: str) -> list[Span]:
        cuts: list[int] = []
        last = None
        for i, character in enumerate(text):
            script = script_of(character)
            if script not in (ANY, last):
                cuts.append(i)
                last = script
        return list(pairwise([*cuts, len(text)]))
