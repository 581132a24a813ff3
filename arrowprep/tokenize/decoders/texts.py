"""Decoders of tokens that are text with marks in it."""

from __future__ import annotations

from itertools import groupby
from typing import Any

from arrowprep.errors import BadArgument, TokenizerError
from arrowprep.tokenize.component import Spec
from arrowprep.tokenize.decoders.base import Decoder
from arrowprep.tokenize.oniguruma import Pattern
from arrowprep.tokenize.patterns import as_pattern, pattern_to_json, read_pattern
from arrowprep.tokenize.pre_tokenizers.metaspace import MetaspaceOptions

# in this order
CONTRACTIONS = {
    " .": ".",
    " ?": "?",
    " !": "!",
    " ,": ",",
    " ' ": "'",
    " n't": "n't",
    " 'm": "'m",
    " do not": " don't",
    " 's": "'s",
    " 've": "'ve",
    " 're": "'re",
}


def clean_up(text: str) -> str:
    """Take the spaces before English punctuation and endings away."""
    for spaced, joined in CONTRACTIONS.items():
        text = text.replace(spaced, joined)
    return text


class WordPiece(Decoder):
    """Takes the prefix off tokens that go on, and puts a space before the others.

    cleanup: takes the spaces before punctuation and English endings away, in each token
    """

    kind = "WordPiece"

    def __init__(self, prefix: str = "##", cleanup: bool = True) -> None:
        self.prefix = prefix
        self.cleanup = cleanup

    @classmethod
    def from_json(cls, spec: Spec) -> WordPiece:
        return cls(spec.text("prefix"), spec.flag("cleanup"))

    def to_json(self) -> dict[str, Any]:
        return {"type": self.kind, "prefix": self.prefix, "cleanup": self.cleanup}

    def decode_chain(self, tokens: list[str]) -> list[str]:
        out = tokens[:1]
        for token in tokens[1:]:
            goes_on = token.startswith(self.prefix)
            out.append(token[len(self.prefix) :] if goes_on else f" {token}")
        return [clean_up(token) for token in out] if self.cleanup else out


class Metaspace(MetaspaceOptions, Decoder):
    """Makes the replacement a space again.

    Every one of the first token is dropped, not only the leading one, unless the scheme is "never".
    """

    def decode_chain(self, tokens: list[str]) -> list[str]:
        first = " " if self.prepend_scheme == "never" else ""
        return [token.replace(self.replacement, " " if i else first) for i, token in enumerate(tokens)]


class Fuse(Decoder):
    """All tokens as one, for decoders after it that look at the ends."""

    kind = "Fuse"

    @classmethod
    def from_json(cls, spec: Spec) -> Fuse:
        return cls()

    def decode_chain(self, tokens: list[str]) -> list[str]:
        return ["".join(tokens)]


class Strip(Decoder):
    """Takes up to `left` and `right` times a character off the ends of each token.

    Raises TokenizerError for a token with too few characters to take off both ends.
    """

    kind = "Strip"

    def __init__(self, content: str = " ", left: int = 0, right: int = 0) -> None:
        if len(content) != 1:
            raise BadArgument(f"what is stripped is one character, not {content!r}", content=content)
        self.content = content
        self.left = left
        self.right = right

    @classmethod
    def from_json(cls, spec: Spec) -> Strip:
        try:
            return cls(spec.text("content"), spec.count("start"), spec.count("stop"))
        except BadArgument as error:
            raise spec.bad(str(error)) from error

    @property
    def start(self) -> int:
        """`left`, under its name in files."""
        return self.left

    @start.setter
    def start(self, count: int) -> None:
        self.left = count

    @property
    def stop(self) -> int:
        """`right`, under its name in files."""
        return self.right

    @stop.setter
    def stop(self, count: int) -> None:
        self.right = count

    def to_json(self) -> dict[str, Any]:
        return {"type": self.kind, "content": self.content, "start": self.left, "stop": self.right}

    def decode_chain(self, tokens: list[str]) -> list[str]:
        return [self._stripped(token) for token in tokens]

    def _stripped(self, token: str) -> str:
        start = min(self.left, len(token) - len(token.lstrip(self.content)))
        trailing = len(token) - len(token.rstrip(self.content))
        stop = len(token) - min(self.right, trailing)
        if start > stop or trailing == len(token) < self.right:
            raise TokenizerError(f"token {token!r} is shorter than what is stripped off it", token=token)
        return token[start:stop]


class Replace(Decoder):
    """Every match of a pattern, in each token, by a content."""

    kind = "Replace"

    def __init__(self, pattern: str | Pattern, content: str) -> None:
        self.pattern = as_pattern(pattern)
        self.content = content

    @classmethod
    def from_json(cls, spec: Spec) -> Replace:
        return cls(read_pattern(spec), spec.text("content"))

    def to_json(self) -> dict[str, Any]:
        return {"type": self.kind, "pattern": pattern_to_json(self.pattern), "content": self.content}

    def decode_chain(self, tokens: list[str]) -> list[str]:
        return [self._replaced(token) for token in tokens]

    def _replaced(self, token: str) -> str:
        out, last = [], 0
        for start, stop in self.pattern.find(token):
            out += [token[last:start], self.content]
            last = stop
        return "".join([*out, token[last:]])


class BPEDecoder(Decoder):
    """Makes the suffix at the end of words a space, and takes that of the last token away."""

    kind = "BPEDecoder"

    def __init__(self, suffix: str = "</w>") -> None:
        self.suffix = suffix

    @classmethod
    def from_json(cls, spec: Spec) -> BPEDecoder:
        return cls(spec.text("suffix"))

    def to_json(self) -> dict[str, Any]:
        return {"type": self.kind, "suffix": self.suffix}

    def decode_chain(self, tokens: list[str]) -> list[str]:
        last = len(tokens) - 1
        return [token.replace(self.suffix, "" if i == last else " ") for i, token in enumerate(tokens)]


class CTC(Decoder):
    """Of equal neighbours one stays, padding goes, delimiters become spaces.

    cleanup: takes the spaces before punctuation away; delimiters become spaces only with it
    """

    kind = "CTC"

    def __init__(
        self, pad_token: str = "<pad>", word_delimiter_token: str = "|", cleanup: bool = True
    ) -> None:
        self.pad_token = pad_token
        self.word_delimiter_token = word_delimiter_token
        self.cleanup = cleanup

    @classmethod
    def from_json(cls, spec: Spec) -> CTC:
        return cls(spec.text("pad_token"), spec.text("word_delimiter_token"), spec.flag("cleanup"))

    def to_json(self) -> dict[str, Any]:
        return {
            "type": self.kind,
            "pad_token": self.pad_token,
            "word_delimiter_token": self.word_delimiter_token,
            "cleanup": self.cleanup,
        }

    def decode_chain(self, tokens: list[str]) -> list[str]:
        once = (token.replace(self.pad_token, "") for token, _ in groupby(tokens))
        if self.cleanup:
            once = (clean_up(token).replace(self.word_delimiter_token, " ") for token in once)
        return [token for token in once if token]
