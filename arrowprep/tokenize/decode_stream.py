"""DecodeStream: text as ids arrive, each character as soon as it is whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from arrowprep.errors import TokenizerError

UNFINISHED = "\ufffd"  # what bytes that are no whole character yet decode to


class Decodes(Protocol):
    """A tokenizer, as far as this needs one."""

    def decode(self, ids: Sequence[int], skip_special_tokens: bool = True) -> str: ...


class DecodeStream:
    """Decodes ids one after the other.

    Keeps the ids since the last text that was given out, for what a token means
    may depend on the ones before.
    """

    def __init__(self, ids: Sequence[int] | None = None, skip_special_tokens: bool = False) -> None:
        self._ids = list(ids or ())
        self._skip = skip_special_tokens
        self._prefix = ""
        self._given = 0  # how many of the ids `_prefix` is the text of

    def step(self, tokenizer: Decodes, id: int | Sequence[int]) -> str | None:
        """The text that `id` adds; None while it ends within a character.

        Raises TokenizerError when the decoder takes back text that was given out.
        """
        if not self._prefix and self._ids:
            text = tokenizer.decode(self._ids, self._skip)
            if not text.endswith(UNFINISHED):
                self._prefix, self._given = text, len(self._ids)
        self._ids = [*self._ids, id] if isinstance(id, int) else [*self._ids, *id]  # a copy has the old ones
        text = tokenizer.decode(self._ids, self._skip)
        if len(text.encode()) <= len(self._prefix.encode()) or text.endswith(UNFINISHED):
            return None
        if not text.startswith(self._prefix):
            raise TokenizerError(
                f"the decoder changed text that was given out: {self._prefix!r} became {text!r}", text=text
            )
        new = text[len(self._prefix) :]
        self._ids, self._given = self._ids[self._given :], len(self._ids) - self._given
        self._prefix = tokenizer.decode(self._ids, self._skip)
        return new
