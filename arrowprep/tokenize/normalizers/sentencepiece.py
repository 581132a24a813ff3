"""SentencePieceNormalizer: how a SentencePiece model prepares text before it looks for pieces."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any

from arrowprep.tokenize.aligned import Aligned
from arrowprep.tokenize.component import Spec
from arrowprep.tokenize.models.sentencepiece import longest_first
from arrowprep.tokenize.normalizers.base import Normalizer
from arrowprep.tokenize.normalizers.edits import Prepend, Replace, Strip
from arrowprep.tokenize.normalizers.precompiled import CharacterMap, Precompiled
from arrowprep.tokenize.patterns import Regex

SPACE = "\u2581"
# a text as it comes out, and text[start:stop] that it stands for; as a whole unless it is unchanged
Unit = tuple[str, int, int, bool]


class SentencePieceNormalizer(Normalizer):
    """Replaces by a character map, tidies spaces and makes them visible.

    An inserted space stands for no character, a changed character for all that it was
    made of: the offsets are SentencePiece's. User-defined pieces are left as they are.

    charsmap: of the longest entries; empty changes nothing
    add_dummy_prefix: a space in front, or behind where spaces are suffixes
    remove_extra_whitespaces: none at the ends, one where there are several
    escape_whitespaces: a space becomes U+2581
    """

    kind = "SentencePieceNormalizer"
    legacy = ("arrowprep",)

    def __init__(
        self,
        charsmap: bytes = b"",
        add_dummy_prefix: bool = True,
        remove_extra_whitespaces: bool = True,
        escape_whitespaces: bool = True,
        treat_whitespace_as_suffix: bool = False,
        user_defined: Iterable[str] = (),
    ) -> None:
        self.charsmap = bytes(charsmap)
        self.add_dummy_prefix = add_dummy_prefix
        self.remove_extra_whitespaces = remove_extra_whitespaces
        self.escape_whitespaces = escape_whitespaces
        self.treat_whitespace_as_suffix = treat_whitespace_as_suffix
        self.user_defined = tuple(user_defined)
        self._map  # noqa: B018 - a broken map is an error here

    @classmethod
    def from_json(cls, spec: Spec) -> SentencePieceNormalizer:
        charsmap = b""
        for part in spec.objects("normalizers"):
            if part.text("type") == Precompiled.kind:
                charsmap = Precompiled.from_json(part).precompiled_charsmap
        flags = {name: spec.flag(name) for name in _FLAGS}
        user_defined = spec.get("user_defined", list)
        if not all(isinstance(text, str) for text in user_defined):
            raise spec.bad("'user_defined' is no list of texts")
        return cls(charsmap, user_defined=user_defined, **flags)

    def to_json(self) -> dict[str, Any]:
        """Also a sequence that other libraries read, with the nearest meaning that they have."""
        return {
            "type": "Sequence",
            "normalizers": [part.to_json() for part in self._nearest()],
            "arrowprep": self.kind,
            **{name: getattr(self, name) for name in _FLAGS},
            "user_defined": list(self.user_defined),
        }

    def _nearest(self) -> Iterator[Normalizer]:
        if self.charsmap:
            yield Precompiled(self.charsmap)
        if self.remove_extra_whitespaces:
            yield Strip(left=True, right=True)
            yield Replace(Regex(" {2,}"), " ")
        if self.add_dummy_prefix and not self.treat_whitespace_as_suffix:
            yield Prepend(" ")
        if self.escape_whitespaces:
            yield Replace(" ", SPACE)

    @cached_property
    def _map(self) -> CharacterMap | None:
        return CharacterMap(self.charsmap) if self.charsmap else None

    @cached_property
    def _user_defined(self) -> re.Pattern[str] | None:
        return longest_first(self.user_defined)

    def normalize_str(self, sequence: str) -> str:
        return self._normalized(sequence)[0]

    def apply(self, text: Aligned) -> Aligned:
        normalized, places = self._normalized(text.text)
        before, after = text.spans()
        # a place is where a character begins; the end of the text is where its last one ends
        at = [*before, after[-1] if len(after) else text.start]
        places = [at[place] for place in places]
        return Aligned(normalized, places[0], places[:-1], places[1:])

    def _normalized(self, text: str) -> tuple[str, list[int]]:
        """The text, and for each of its characters, and its end, where in the original it begins."""
        units = list(self._units(text))
        if self.remove_extra_whitespaces:
            while units and units[0][0] == " ":
                units.pop(0)
        start = units[0][1] if units else len(text)
        if not units:
            return "", [start]
        space = SPACE if self.escape_whitespaces else " "
        out: list[str] = []
        places: list[int] = []
        if self.add_dummy_prefix and not self.treat_whitespace_as_suffix:
            out.append(space)
            places.append(start)
        after_space = self.remove_extra_whitespaces
        for new, start, _, unchanged in units:
            if after_space:
                kept = new.lstrip(" ")
                start += (len(new) - len(kept)) * unchanged
                new = kept
            if new:
                out.append(new)
                places.extend(range(start, start + len(new)) if unchanged else [start] * len(new))
                after_space = self.remove_extra_whitespaces and new.endswith(" ")
        return self._ended("".join(out), places, units[-1][2])

    def _ended(self, text: str, places: list[int], end: int) -> tuple[str, list[int]]:
        if self.escape_whitespaces:
            text = text.replace(" ", SPACE)
        space = SPACE if self.escape_whitespaces else " "
        if self.remove_extra_whitespaces:
            kept = len(text.rstrip(space))
            if kept < len(text):
                end = places[kept]
                text, places = text[:kept], places[:kept]
        if self.add_dummy_prefix and self.treat_whitespace_as_suffix:
            text += space
            places.append(end)
        return text, [*places, end]

    def _units(self, text: str) -> Iterator[Unit]:
        """The text part by part: each space, each replaced stretch, and what is between them."""
        last = 0
        at = 0
        search = self._beginnings(text)
        while match := search.search(text, at):
            start = match.start()
            found = self._unit_at(text, start)
            if found is None:
                at = start + 1
                continue
            if last < start:
                yield text[last:start], last, start, True
            yield found
            last = at = found[2]
        if last < len(text):
            yield text[last:], last, len(text), True

    def _beginnings(self, text: str) -> re.Pattern[str]:
        """Finds the characters of this text at which something may have to be done."""
        found = {" ", *(content[0] for content in self.user_defined)}
        if self._map is not None:
            found.update(filter(self._map.begins, set(text)))
        return re.compile("[" + "".join(map(re.escape, sorted(found))) + "]")

    def _unit_at(self, text: str, start: int) -> Unit | None:
        if self._user_defined is not None and (match := self._user_defined.match(text, start)):
            # as a whole: all its characters begin where it does
            return match.group(), start, match.end(), False
        longest = self._map.longest(text, start) if self._map is not None else None
        if longest is not None:
            stop, new = longest
            return new, start, stop, False
        return (" ", start, start + 1, True) if text[start] == " " else None


_FLAGS = (
    "add_dummy_prefix",
    "remove_extra_whitespaces",
    "escape_whitespaces",
    "treat_whitespace_as_suffix",
)
