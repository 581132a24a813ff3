"""Added tokens: texts that are taken whole, before the pipeline sees them."""

from __future__ import annotations

import copy
import itertools
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

from arrowprep.errors import BadTokenizerFile, NotText
from arrowprep.tokenize.character_classes import WHITESPACE, is_word
from arrowprep.tokenize.component import Spec
from arrowprep.tokenize.models.base import Model

Normalize = Callable[[str], str]
_stamps = itertools.count(1)


class AddedToken:
    """A text that becomes one token wherever it stands.

    content: the text
    single_word: only where no word character touches it
    lstrip, rstrip: takes the white space beside it too; the offsets and the token's
        text in an encoding then include that
    normalized: looked for in the normalized text, itself normalized; else in the raw text. Where it is
        not said, what is not special is
    special: skipped by decoding where asked, and treated as text under `encode_special_tokens`

    Equal by all of these, hashed by the content alone.
    """

    __slots__ = ("_normalized", "content", "lstrip", "rstrip", "single_word", "special")

    def __init__(
        self,
        content: str | None = None,
        *,
        single_word: bool = False,
        lstrip: bool = False,
        rstrip: bool = False,
        normalized: bool | None = None,
        special: bool = False,
    ) -> None:
        if content is not None and not isinstance(content, str):
            raise NotText(f"a token is a text, not {type(content).__name__}", given=type(content).__name__)
        self.content = content or ""
        self.single_word = single_word
        self.lstrip = lstrip
        self.rstrip = rstrip
        self._normalized = normalized
        self.special = special

    @property
    def normalized(self) -> bool:
        return not self.special if self._normalized is None else self._normalized

    @normalized.setter
    def normalized(self, value: bool) -> None:
        self._normalized = value

    def as_special(self) -> AddedToken:
        """The same, special: it, if it is."""
        if self.special:
            return self
        flags = {name: getattr(self, name) for name in ("single_word", "lstrip", "rstrip")}
        return AddedToken(self.content, **flags, normalized=self._normalized, special=True)

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in _FIELDS}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            setattr(self, name, value)

    def __copy__(self) -> AddedToken:
        twin = AddedToken.__new__(AddedToken)
        twin.content, twin.single_word, twin.lstrip = self.content, self.single_word, self.lstrip
        twin.rstrip, twin._normalized, twin.special = self.rstrip, self.normalized, self.special
        return twin

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AddedToken) and self.__getstate__() == other.__getstate__()

    def __hash__(self) -> int:
        return hash(self.content)

    def __str__(self) -> str:
        return self.content

    def __repr__(self) -> str:
        flags = ", ".join(f"{name}={getattr(self, name)}" for name in _SHOWN)
        return f'AddedToken("{self.content}", {flags})'

    def to_json(self, id: int) -> dict[str, Any]:
        return {"id": id, **self.__getstate__()}

    @classmethod
    def usual(cls, entry: Any) -> tuple[int, AddedToken] | None:
        """`from_json` of an entry that says all there is, as most do, in a tenth of the time; else None."""
        try:
            values = _VALUES(entry)
        except (KeyError, TypeError):
            return None
        if len(entry) != len(values) or tuple(map(type, values)) != _TYPES or not 0 <= values[0] < _IDS:
            return None
        token = cls.__new__(cls)
        token.content, token.single_word, token.lstrip, token.rstrip = values[1:5]
        token._normalized, token.special = values[5:]
        return values[0], token

    @classmethod
    def from_json(cls, spec: Spec) -> tuple[int, AddedToken]:
        """The id that the file gives it, and the token."""
        id = spec.count("id")
        if id >= _IDS:
            raise spec.bad(f"the id {id} of an added token is out of range")
        special = spec.flag("special", False)
        flags = {name: spec.flag(name, False) for name in ("single_word", "lstrip", "rstrip")}
        normalized = spec.flag("normalized", not special)
        token = cls(spec.text("content"), special=special, normalized=normalized, **flags)
        spec.finish()
        return id, token


_IDS = 2**31  # more than columns of ids can hold
_FIELDS = ("content", "single_word", "lstrip", "rstrip", "normalized", "special")
_SHOWN = ("rstrip", "lstrip", "single_word", "normalized", "special")
_VALUES = itemgetter("id", *_FIELDS)
_TYPES = (int, str, bool, bool, bool, bool, bool)


def as_added_tokens(tokens: Iterable[str | AddedToken], *, special: bool) -> list[AddedToken]:
    """Tokens as they are given to a tokenizer, each as an AddedToken; all of them special if `special`."""
    if isinstance(tokens, (str, AddedToken)):
        raise NotText("tokens are given as a list, not one alone", given=type(tokens).__name__)
    return [_as_added(token, special) for token in tokens]


def _as_added(token: str | AddedToken, special: bool) -> AddedToken:
    if isinstance(token, str):
        return AddedToken(token, special=special)
    if not isinstance(token, AddedToken):
        raise NotText(
            f"a token is a str or an AddedToken, not {type(token).__name__}", given=type(token).__name__
        )
    return token.as_special() if special else token


class AddedVocabulary:
    """The added tokens of a tokenizer and their ids; grows one by one in constant time."""

    def __init__(self) -> None:
        self.ids: dict[str, int] = {}
        self.tokens: dict[int, AddedToken] = {}
        self.special: dict[str, None] = {}  # contents, in the order they came
        self.encode_special_tokens = False
        self.stamp = 0
        self._order: dict[str, AddedToken] = {}
        self._highest = -1

    def copy(self) -> AddedVocabulary:
        twin = AddedVocabulary()
        twin.ids, twin.tokens = dict(self.ids), dict(self.tokens)
        twin.special, twin._order = dict(self.special), dict(self._order)
        twin.encode_special_tokens, twin._highest = self.encode_special_tokens, self._highest
        twin.stamp = self.stamp
        return twin

    def touch(self) -> None:
        """Note that something changed."""
        self.stamp = next(_stamps)

    def add(self, tokens: Iterable[AddedToken], model: Model) -> int:
        """Add tokens; how many of them were new, or came with other flags.

        One that is in the model's vocabulary takes its id and counts as well; the
        others take the next number above all that are in use.
        """
        added = 0
        for token in tokens:
            if not token.content:
                continue
            known = self.ids.get(token.content)
            if known is not None and self.tokens.get(known) == token:
                continue
            self.put(token, self._id_for(token.content, model))
            added += 1
        self.touch()
        return added

    def emptied(self) -> AddedVocabulary:
        """One with the same setting and no tokens."""
        twin = AddedVocabulary()
        twin.encode_special_tokens = self.encode_special_tokens
        return twin

    def load(self, entries: list[tuple[int, AddedToken]], model: Model) -> None:
        """Take tokens with the ids that a file gives them.

        An id that leaves a gap is kept. The tokens are nobody else's. Raises
        BadTokenizerFile for an id that another token has.
        """
        in_model = model.ids_of([token.content for _, token in entries], [id for id, _ in entries])
        for i, ((id, token), known) in enumerate(zip(entries, in_model, strict=True)):
            if not token.content:
                continue
            known = self.ids.get(token.content, known)
            if known is None and (owner := self._owner(id, model)) is not None:
                raise BadTokenizerFile(
                    f"added_tokens[{i}] gives {token.content!r} the id {id}, which is that of {owner!r}",
                    place=f"added_tokens[{i}]",
                )
            self._keep(token, id if known is None else known)
        self.touch()

    def _owner(self, id: int, model: Model) -> str | None:
        return self.tokens[id].content if id in self.tokens else model.id_to_token(id)

    def _id_for(self, content: str, model: Model) -> int:
        known = self.ids.get(content, model.token_to_id(content))
        return max(model.get_vocab_size(), self._highest + 1) if known is None else known

    def put(self, token: AddedToken, id: int) -> None:
        """Take a token with this id, whatever else has it."""
        self._keep(copy.copy(token), id)  # the caller's may be changed later, which nobody would notice here
        self.touch()

    def _keep(self, token: AddedToken, id: int) -> None:
        if token.special:
            self.special.setdefault(token.content)
        self.ids[token.content] = id
        self.tokens[id] = token
        self._order[token.content] = token
        self._highest = max(self._highest, id)

    def by_id(self) -> list[tuple[int, AddedToken]]:
        return sorted(self.tokens.items())

    def in_matching_order(self) -> list[AddedToken]:
        """Special ones first, each kind in the order it came: the first wins where contents agree."""
        specials = [self._order[content] for content in self.special]
        return specials + [token for content, token in self._order.items() if content not in self.special]


@dataclass(frozen=True, slots=True)
class Match:
    """text[start:stop] is an added token, white space that it takes included."""

    start: int
    stop: int
    id: int


@dataclass(slots=True)
class Matcher:
    """Finds added tokens in a text: the leftmost, the longest of those.

    Candidates are the places where a token's first character stands; there the
    text is looked up by each length that tokens with this first character have.
    """

    by_content: dict[str, tuple[int, AddedToken]] = field(default_factory=dict)
    ignored: frozenset[str] = frozenset()
    _first: re.Pattern[str] | None = None
    _lengths: dict[str, list[int]] = field(default_factory=dict)

    @classmethod
    def build(
        cls, vocabulary: AddedVocabulary, *, normalized: bool, normalize: Normalize | None = None
    ) -> Matcher | None:
        """For the tokens that are looked for in normalized text, or in raw text; None when there are none.

        Special tokens match nothing where the vocabulary says that they are text.
        """
        matcher = cls()
        lengths: dict[str, set[int]] = {}
        for token in vocabulary.in_matching_order():
            if token.normalized != normalized:
                continue
            content = normalize(token.content) if normalize else token.content
            if content:
                matcher.by_content.setdefault(content, (vocabulary.ids[token.content], token))
                lengths.setdefault(content[0], set()).add(len(content))
        if not lengths:
            return None
        matcher._lengths = {first: sorted(all, reverse=True) for first, all in lengths.items()}
        matcher._first = re.compile("[" + "".join(map(re.escape, sorted(lengths))) + "]")
        if vocabulary.encode_special_tokens:
            matcher.ignored = frozenset(vocabulary.special)
        return matcher

    def find(self, text: str) -> list[Match]:
        """The matches in order. One that is refused is not tried again from a shorter token."""
        found: list[Match] = []
        last = 0
        for start, content in self._candidates(text):
            id, token = self.by_content[content]
            stop = start + len(content)
            if token.content in self.ignored or (token.single_word and _touches_word(text, start, stop)):
                continue
            if token.lstrip:
                start = max(len(text[:start].rstrip(WHITESPACE)), last)
            if token.rstrip:
                stop = len(text) - len(text[stop:].lstrip(WHITESPACE))
            found.append(Match(start, stop, id))
            last = stop
        return found

    def _candidates(self, text: str) -> Iterator[tuple[int, str]]:
        assert self._first is not None
        search = self._first.search
        at = 0
        while match := search(text, at):
            start = match.start()
            at = start + 1
            for length in self._lengths[match.group()]:
                content = text[start : start + length]
                if content in self.by_content:
                    yield start, content
                    at = start + length
                    break


def _touches_word(text: str, start: int, stop: int) -> bool:
    return (start > 0 and is_word(text[start - 1])) or (stop < len(text) and is_word(text[stop]))
