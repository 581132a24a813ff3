"""Precompiled: SentencePiece's character map."""

from __future__ import annotations

import base64
import binascii
import re
import struct
import sys
from array import array
from functools import cache, cached_property
from itertools import accumulate
from typing import Any

from arrowprep.errors import BadTokenizerFile
from arrowprep.tokenize.aligned import Aligned
from arrowprep.tokenize.component import Spec
from arrowprep.tokenize.normalizers.base import Normalizer
from arrowprep.tokenize.oniguruma import as_unicode_16
from arrowprep.tokenize.unicode_normal import charset, parse_ranges

# graphemes are those of Unicode 17, whatever version `regex` knows: what 17 added to 16 that joins
_MARKS_OF_17 = re.compile(
    f"[{charset(parse_ranges('1ACF-1ADD 1AE0-1AEB 10EFA-10EFB 11B60-11B67 1E6E3 1E6E6 1E6EE-1E6EF 1E6F5'))}]"
)
LONGEST_GRAPHEME = 6  # bytes: from here on a grapheme is looked up character by character


@cache
def _grapheme() -> Any:
    import regex

    return regex.compile(r"\X", regex.V1)


class Precompiled(Normalizer):
    """Replaces graphemes, or the characters of long ones, by a map.

    A lookup takes the shortest entry that the text begins with, and replaces all of
    the grapheme by it. SentencePiece itself looks for the longest byte by byte, so
    decomposed text can come out in another way there.

    precompiled_charsmap: the bytes of SentencePiece's normalizer_spec: a double-array
        trie over UTF-8, and the replacements, each ended by a zero byte
    """

    kind = "Precompiled"

    def __init__(self, precompiled_charsmap: bytes) -> None:
        self.precompiled_charsmap = bytes(precompiled_charsmap)
        self._map  # noqa: B018 - a broken map is an error here

    @classmethod
    def from_json(cls, spec: Spec) -> Precompiled:
        try:
            if isinstance(spec.value.get("precompiled_charsmap"), bytes):  # the kernel has read it
                return cls(spec.get("precompiled_charsmap", bytes))
            return cls(base64.b64decode(spec.text("precompiled_charsmap"), validate=True))
        except (binascii.Error, BadTokenizerFile) as error:
            raise spec.bad(f"the character map cannot be read: {error}") from error

    def to_json(self) -> dict[str, Any]:
        return {
            "type": self.kind,
            "precompiled_charsmap": base64.b64encode(self.precompiled_charsmap).decode(),
        }

    @cached_property
    def _map(self) -> CharacterMap:
        return CharacterMap(self.precompiled_charsmap)

    def _changes(self, text: str) -> list[tuple[str, int]] | None:
        """Characters with their changes (see Aligned.changed); None when nothing is replaced."""
        changes: list[tuple[str, int]] = []
        found = self._map.find
        modified = False
        for grapheme in _graphemes(text):
            new = found(grapheme) if len(grapheme.encode()) < LONGEST_GRAPHEME else None
            parts = [(grapheme, new)] if new is not None else [(c, found(c)) for c in grapheme]
            for old, replacement in parts:
                if replacement is None:
                    changes.append((old, 0))
                    continue
                modified = True
                _replace(changes, old, replacement)
        return changes if modified else None

    def apply(self, text: Aligned) -> Aligned:
        changes = self._changes(text.text)
        return text if changes is None else text.changed(changes)

    def normalize_str(self, sequence: str) -> str:
        changes = self._changes(sequence)
        return sequence if changes is None else "".join(c for c, _ in changes)


def _graphemes(text: str) -> list[str]:
    seen = text if text.isascii() else as_unicode_16(_MARKS_OF_17.sub("\u0301", text))
    found: list[str] = _grapheme().findall(seen)
    if seen == text:
        return found
    return [
        text[stop - len(part) : stop] for part, stop in zip(found, accumulate(map(len, found)), strict=True)
    ]


def _replace(changes: list[tuple[str, int]], old: str, new: str) -> None:
    more = len(new) - len(old)
    changes.extend((c, int(i >= len(new) - more)) for i, c in enumerate(new))
    if more < 0 and changes:
        character, change = changes[-1]
        changes[-1] = (character, change + more)


class CharacterMap:
    """A double-array trie and the texts that its leaves point at.

    Source: darts-clone, as SentencePiece uses it.
    """

    def __init__(self, data: bytes) -> None:
        if len(data) < 4:
            raise BadTokenizerFile("the character map is cut short")
        (size,) = struct.unpack_from("<I", data)
        if size % 4 or size + 4 > len(data) or not size:
            raise BadTokenizerFile("the character map is cut short")
        # where they are, and no copy: of 60,000 numbers few are ever looked at
        self._units: memoryview | array[int] = memoryview(data)[4 : 4 + size].cast("I")
        if sys.byteorder == "big":  # pragma: no cover - the file is little-endian
            self._units = array("I", self._units)
            self._units.byteswap()
        self._texts = data[4 + size :]
        self._found: dict[str, str | None] = {}
        self._begin: dict[str, bool] = {}

    def find(self, text: str) -> str | None:
        """What the shortest entry that `text` begins with is replaced by."""
        if text not in self._found:
            if len(self._found) > 100_000:
                self._found.clear()
            self._found[text] = self._find(text.encode())
        return self._found[text]

    def _find(self, key: bytes) -> str | None:
        units = self._units
        at = _offset(units[0])
        for byte in key:
            at ^= byte
            if not byte or at >= len(units) or units[at] & 0x800000FF != byte:
                return None
            unit = units[at]
            at ^= _offset(unit)
            if unit >> 8 & 1 and at < len(units):
                return self._text(units[at] & 0x7FFFFFFF)
        return None

    def begins(self, character: str) -> bool:
        """Whether an entry begins with this character."""
        if character not in self._begin:
            self._begin[character] = self._walk(_offset(self._units[0]), character.encode()) is not None
        return self._begin[character]

    def longest(self, text: str, start: int) -> tuple[int, str] | None:
        """Where the longest entry at `start` ends, and what it is replaced by."""
        units = self._units
        at = _offset(units[0])
        found = None
        for stop in range(start, len(text)):
            node = self._walk(at, text[stop].encode())
            if node is None:
                break
            at, has_leaf = node >> 1, node & 1
            if has_leaf and at < len(units):
                found = stop + 1, units[at] & 0x7FFFFFFF
        return found and (found[0], self._text(found[1]))

    def _walk(self, at: int, key: bytes) -> int | None:
        """From a node to the one that `key` leads to: twice its place, and 1 where an entry ends."""
        units = self._units
        has_leaf = 0
        for byte in key:
            at ^= byte
            if not byte or at >= len(units) or units[at] & 0x800000FF != byte:
                return None
            unit = units[at]
            at ^= _offset(unit)
            has_leaf = unit >> 8 & 1
        return at << 1 | has_leaf

    def _text(self, start: int) -> str:
        return self._texts[start : self._texts.find(b"\0", start)].decode("utf-8", "replace")


def _offset(unit: int) -> int:
    return (unit >> 10) << ((unit & 0x200) >> 6)
