"""PreTrainedTokenizer: what users call; a pipeline with special tokens, lengths, sides, a chat template."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from arrowprep.errors import TokenizerError
from arrowprep.tokenize.added_tokens import AddedToken
from arrowprep.tokenize.identity import fingerprint_of, parts_of
from arrowprep.tokenize.request import check_side
from arrowprep.tokenize.settings import (
    NO_LIMIT,
    control_tokens_of,
    input_names,
    max_length_of,
    settings_of,
    templates_by_name,
)
from arrowprep.tokenize.shell.calls import Calls
from arrowprep.tokenize.shell.chats import Chats
from arrowprep.tokenize.shell.decodes import Decodes
from arrowprep.tokenize.shell.frames import Frames
from arrowprep.tokenize.shell.stores import Stores
from arrowprep.tokenize.special_tokens import take_from
from arrowprep.tokenize.tokenizer import Tokenizer

Self = TypeVar("Self", bound="PreTrainedTokenizer")


class PreTrainedTokenizer(Calls, Decodes, Chats, Frames, Stores):
    """A tokenizer to call: `tok("text")`, `tok(texts, padding=True, return_tensors="np")`.

    Made by `load_tokenizer`, or of a pipeline: `PreTrainedTokenizer(tokenizer_object=pipeline)`.
    Every setting is read anew by every call and no call changes one: the same
    tokenizer may be used from several threads, and its fingerprint is that of its content.

    tokenizer_object: a `Tokenizer`; copied, so tokens that are added here are not added there
    tokenizer_file: a tokenizer.json to read one from
    settings: special tokens (`bos_token=`, ..., `extra_special_tokens=`), `model_max_length`,
        `padding_side`, `truncation_side`, `model_input_names`, `chat_template`,
        `clean_up_tokenization_spaces`, `split_special_tokens`, `add_bos_token`,
        `add_eos_token`; others are kept and saved

    Special tokens that the pipeline does not have are added to it.
    """

    padding_side: str = "right"
    truncation_side: str = "right"
    model_input_names: list[str] = ["input_ids", "attention_mask"]  # noqa: RUF012 - a default that subclasses set
    backend = "tokenizers"

    def __init__(
        self,
        *,
        tokenizer_object: Tokenizer | None = None,
        tokenizer_file: str | Path | None = None,
        added_tokens_decoder: Mapping[int, AddedToken] | None = None,
        **settings: Any,
    ) -> None:
        if tokenizer_object is not None:
            self._tokenizer = copy.deepcopy(tokenizer_object)  # cheap: copies share the vocabulary
        elif tokenizer_file is not None:
            self._tokenizer = Tokenizer.from_file(str(tokenizer_file))
        elif self._tokenizer is None:
            raise TokenizerError(
                f"{type(self).__name__} needs a pipeline: tokenizer_object=, tokenizer_file=,"
                " or load_tokenizer(folder)"
            )
        settings = {**settings_of(self.backend_tokenizer), **settings}
        self.init_kwargs = dict(settings)
        self.special_tokens = take_from(settings)
        self.name_or_path = str(settings.get("name_or_path", ""))
        self.verbose = bool(settings.get("verbose", False))
        self.model_max_length = max_length_of(settings.get("model_max_length"))
        self.padding_side = check_side("padding_side", settings.get("padding_side", self.padding_side))
        self.truncation_side = check_side(
            "truncation_side", settings.get("truncation_side", self.truncation_side)
        )
        self.model_input_names = input_names(settings.get("model_input_names", self.model_input_names))
        self.pad_token_type_id: int = settings.get("pad_token_type_id") or 0
        self.clean_up_tokenization_spaces = bool(settings.get("clean_up_tokenization_spaces"))
        self.split_special_tokens = bool(settings.get("split_special_tokens"))
        self.chat_template = templates_by_name(settings.get("chat_template"))
        if control := control_tokens_of(settings.get("chat_control_tokens")):
            self.chat_control_tokens = control
        self.response_template = settings.get("response_template")
        self.add_prefix_space = bool(settings.get("add_prefix_space"))
        self.deprecation_warnings: dict[str, bool] = {}  # read by nothing here, and set by many scripts
        self.clock: Callable[[], datetime] | None = settings.get("clock")
        self.listed_tokens = dict(added_tokens_decoder or {})  # of its files; a new training keeps them
        self._add_missing(self.listed_tokens)
        self._add_bos_token = self._add_eos_token = False
        if self.backend_tokenizer.post_processor is None:
            self._frame(False, False)  # adds nothing, and says which tokens are whose: padding is nobody's
        if "add_bos_token" in settings or "add_eos_token" in settings:
            self._frame(bool(settings.get("add_bos_token")), bool(settings.get("add_eos_token")))

    @classmethod
    def over(
        cls: type[Self],
        pipeline: Tokenizer,
        added_tokens: Mapping[int, AddedToken] | None = None,
        settings: Mapping[str, Any] | None = None,
    ) -> Self:
        """One over a pipeline that there is already, also of a class that makes its own.

        A subclass whose initializer takes no further settings is initialized with those
        that it takes, and then made one over the pipeline with all of them.
        """
        given = {"tokenizer_object": pipeline, "added_tokens_decoder": added_tokens, **(settings or {})}
        taken = inspect.signature(cls).parameters
        if any(parameter.kind is parameter.VAR_KEYWORD for parameter in taken.values()):
            return cls(**given)
        tokenizer = cls(**{name: value for name, value in given.items() if name in taken})
        PreTrainedTokenizer.__init__(tokenizer, **given)
        return tokenizer

    def _add_missing(self, listed: Mapping[int, AddedToken]) -> None:
        """Add listed tokens that the pipeline has not, or with other flags, and special ones it has not."""
        there = set(self.added_tokens_decoder.values())
        new = [token for _, token in sorted(listed.items()) if token not in there]
        known = {token.content for token in [*there, *new]}
        for token in self.special_tokens:
            if str(token) not in known:
                known.add(str(token))
                new.append(AddedToken(token, special=True) if isinstance(token, str) else token)
        self.add_tokens(new)

    @property
    def is_fast(self) -> bool:
        """Whether tokens can be traced back to the text: always."""
        return True

    @property
    def fingerprint(self) -> str:
        """A name for all that decides results: equal content has an equal one in any process, on any day.

        It covers the pipeline, special tokens, sides, lengths, the chat template and,
        where the template reads the clock, the day. Nothing is kept but the pipeline's
        part, so any change shows at once.
        """
        return fingerprint_of(self)

    @property
    def fingerprint_parts(self) -> dict[str, Any]:
        """What the fingerprint is made of, by name; told when a result is not found."""
        return parts_of(self)

    def __copy__(self: Self) -> Self:
        # a copy that shared its special tokens would change with the original
        return copy.deepcopy(self)

    def __repr__(self) -> str:
        settings = {
            "vocab_size": self.vocab_size,
            "added_tokens": len(self.added_tokens_decoder),
            "model_max_length": self.model_max_length if self.model_max_length < NO_LIMIT else None,
            "padding_side": self.padding_side,
            "truncation_side": self.truncation_side,
            "special_tokens": self.special_tokens_map,
            "backend_tokenizer": self.backend_tokenizer,
        }
        said = ", ".join(f"{name}={value!r}" for name, value in settings.items())
        return f"{type(self).__name__}({self.name_or_path!r}, {said})"
