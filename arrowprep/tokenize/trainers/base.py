"""Trainer: makes a vocabulary of the words of a corpus and how often each comes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Generic, TypeVar

from arrowprep.errors import BadArgument
from arrowprep.tokenize.added_tokens import AddedToken, as_added_tokens
from arrowprep.tokenize.models import Model
from arrowprep.tokenize.options import checked

M = TypeVar("M", bound=Model)


class Trainer(Generic[M]):
    """Options of a training; `train` puts the result into a model.

    special_tokens: get the first ids. They are not cut out of the corpus, so their
        parts can be learnt too
    show_progress: whether long work shows a bar
    """

    model_type: ClassVar[type[Model]]
    special_tokens: list[AddedToken]

    def __init__(self, special_tokens: Sequence[str | AddedToken] = (), show_progress: bool = True) -> None:
        self.special_tokens = special_tokens  # type: ignore[assignment]  # a text becomes a token
        self.show_progress = show_progress

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "special_tokens":
            value = as_added_tokens(value, special=True)
        object.__setattr__(self, name, checked(self, name, value))

    def train(self, words: Mapping[str, int], model: M) -> None:
        """Replace the vocabulary of `model` by one for these words, how often each comes."""
        raise NotImplementedError

    def check(self, model: Model) -> None:
        """Raises BadArgument when this cannot train `model`."""
        if not isinstance(model, self.model_type):
            raise BadArgument(
                f"a {type(self).__name__} trains {self.model_type.__name__}, not {type(model).__name__}",
                trainer=type(self).__name__,
                model=type(model).__name__,
            )

    def __repr__(self) -> str:
        options = (f"{name}={value!r}" for name, value in vars(self).items() if name[0] != "_")
        return f"{type(self).__name__}({', '.join(options)})"
