"""bos and eos around texts, where a tokenizer is asked to put them."""

from __future__ import annotations

from arrowprep.errors import BadArgument
from arrowprep.tokenize.shell.vocabulary import Vocabulary
from arrowprep.tokenize.special_tokens import frame_of


class Frames(Vocabulary):
    """Two switches that make the post-processor anew."""

    _add_bos_token = False
    _add_eos_token = False

    @property
    def add_bos_token(self) -> bool:
        """Whether calls put bos first; setting it rebuilds the post-processor from bos and eos alone."""
        return self._add_bos_token

    @add_bos_token.setter
    def add_bos_token(self, value: bool) -> None:
        self._frame(value, self._add_eos_token)

    @property
    def add_eos_token(self) -> bool:
        """Whether calls put eos last; setting it rebuilds the post-processor from bos and eos alone."""
        return self._add_eos_token

    @add_eos_token.setter
    def add_eos_token(self, value: bool) -> None:
        self._frame(self._add_bos_token, value)

    def update_post_processor(self) -> None:
        """Make the post-processor anew, after bos or eos became another token."""
        self._frame(self._add_bos_token, self._add_eos_token)

    def _frame(self, bos: bool, eos: bool) -> None:
        self.backend_tokenizer.post_processor = frame_of(
            self._needed("bos_token") if bos else None, self._needed("eos_token") if eos else None
        )
        self._add_bos_token, self._add_eos_token = bos, eos

    def _needed(self, role: str) -> tuple[str, int]:
        token = self.special_tokens.of(role)
        index = None if token is None else self.backend_tokenizer.token_to_id(token)
        if token is None or index is None:
            raise BadArgument(
                f"add_{role} needs a {role} that is in the vocabulary; it is {token!r}", role=role
            )
        return token, index
