"""PythonBackend: a tokenizer whose tokens a subclass makes in Python."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from arrowprep.errors import BadArgument
from arrowprep.tokenize.added_tokens import AddedToken
from arrowprep.tokenize.files import huggingface, huggingface_save
from arrowprep.tokenize.python_parts import PythonPipeline
from arrowprep.tokenize.shell.given_ids import GivenIds
from arrowprep.tokenize.shell.stores import HUB_ARGUMENTS

Self = TypeVar("Self", bound="PythonBackend")

# what stands around a text, and around a pair: roles, A and B
PATTERNS = {
    "cls_sep": ("cls A sep", "cls A sep B sep"),
    "cls_double_sep": ("cls A sep", "cls A sep sep B sep"),
    "bos": ("bos A", "bos A bos B"),
    "eos": ("A eos", "A eos B eos"),
    "bos_eos": ("bos A eos", "bos A eos B eos"),
    "none": ("A", "A B"),
}


class PythonBackend(GivenIds):
    """Added tokens are cut out of a text, `_tokenize` makes tokens of the rest.

    A subclass defines `_tokenize(text)`, `_convert_token_to_id(token)`,
    `_convert_id_to_token(id)`, `vocab_size` and `get_vocab()`, sets what these need and
    then calls `super().__init__`; it may define `convert_tokens_to_string(tokens)`,
    `prepare_for_tokenization(text)`, `build_inputs_with_special_tokens(ids, pair_ids)` and
    `save_vocabulary(folder, prefix)`.

    vocab_files_names: argument of the initializer to the name of the file in a folder
    special_tokens_pattern: which special tokens stand around texts, one of PATTERNS, or
        "prefix_suffix" for the ids in `prefix_tokens` and `suffix_tokens`; None is none
    token_type_ids_pattern: "bert_style" gives a pair's second text the type 1, "all_zeros" does not
    """

    vocab_files_names: ClassVar[Mapping[str, str]] = {}
    backend = "custom"
    vocab: Any = None  # subclasses keep theirs under this name
    _added_tokens_decoder: Mapping[int, AddedToken | str] | None = None  # set before, these ids are theirs

    def __init__(
        self, added_tokens_decoder: Mapping[int, AddedToken | str] | None = None, **settings: Any
    ) -> None:
        self.token_type_ids_pattern = settings.pop("token_type_ids_pattern", "bert_style")
        self.token_type_ids_include_special_tokens = settings.pop(
            "token_type_ids_include_special_tokens", True
        )
        self.special_tokens_pattern: str | None = settings.pop("special_tokens_pattern", None)
        self._tokenizer = PythonPipeline(self)
        listed = {**(self._added_tokens_decoder or {}), **(added_tokens_decoder or {})}
        self._tokenizer.keep({int(id): _as_token(token) for id, token in listed.items()})
        super().__init__(**settings)

    @property
    def is_fast(self) -> bool:
        """Whether tokens can be traced back to the text: never."""
        return False

    # --- what a subclass defines ---

    def _tokenize(self, text: str) -> list[str]:
        raise NotImplementedError

    def _convert_token_to_id(self, token: str) -> int | None:
        raise NotImplementedError

    def _convert_id_to_token(self, index: int) -> str | None:
        raise NotImplementedError

    @property
    def vocab_size(self) -> int:
        """How many tokens there are without added ones."""
        raise NotImplementedError

    def get_vocab(self) -> dict[str, int]:
        """Every token, added ones too, and its id."""
        raise NotImplementedError

    def convert_tokens_to_string(self, tokens: Sequence[str]) -> str:
        """The text that tokens make; joined by spaces unless a subclass says otherwise."""
        return " ".join(tokens)

    def build_inputs_with_special_tokens(
        self, token_ids_0: list[int], token_ids_1: list[int] | None = None
    ) -> list[int]:
        """The ids of a text, or of a pair, between their special tokens."""
        second = token_ids_1 or []
        if self.special_tokens_pattern == "prefix_suffix":
            before, after = (getattr(self, name, []) for name in ("prefix_tokens", "suffix_tokens"))
            return [*before, *token_ids_0, *second, *after]
        pattern = PATTERNS.get(self.special_tokens_pattern or "none", PATTERNS["none"])
        ids: list[int] = []
        for part in pattern[token_ids_1 is not None].split():
            ids += token_ids_0 if part == "A" else second if part == "B" else [self._id_of(part)]
        return ids

    def _id_of(self, role: str) -> int:
        id: int | None = getattr(self, f"{role}_token_id")
        if id is None:
            raise BadArgument(
                f"special_tokens_pattern={self.special_tokens_pattern!r} needs a {role}_token", role=role
            )
        return id

    def create_token_type_ids_from_sequences(
        self, token_ids_0: list[int], token_ids_1: list[int] | None = None
    ) -> list[int]:
        """The type of each id of a text or of a pair."""
        framed = self.token_type_ids_include_special_tokens
        build = self.build_inputs_with_special_tokens if framed else _side_by_side
        if token_ids_1 is None:
            return [0] * len(build(token_ids_0))
        first, both = len(build(token_ids_0)), len(build(token_ids_0, token_ids_1))
        typed = self.token_type_ids_pattern == "bert_style" and self.special_tokens_pattern != "prefix_suffix"
        return [0] * first + [int(typed)] * (both - first)

    def prepare_for_tokenization(
        self, text: str, is_split_into_words: bool = False, **options: Any
    ) -> tuple[str, dict[str, Any]]:
        """The text as it is to be cut, and the options that were not used: a subclass may change it.

        is_split_into_words: it is one of the words that were given
        """
        return text, options

    # --- what follows from it ---

    def convert_tokens_to_ids(self, tokens: Any) -> Any:
        """The id of a token, or of each in a list, as the subclass has it."""
        if tokens is None:
            return None
        if not isinstance(tokens, str):
            return [self.convert_tokens_to_ids(token) for token in tokens]
        id = self.backend_tokenizer._added.ids.get(tokens)
        return self._convert_token_to_id(tokens) if id is None else id

    def add_tokens(
        self, new_tokens: str | AddedToken | Iterable[str | AddedToken], special_tokens: bool = False
    ) -> int:
        """Add tokens that match before all else; returns how many the vocabulary did not have."""
        before = len(self)
        super().add_tokens(new_tokens, special_tokens)
        return len(self) - before

    def get_special_tokens_mask(
        self, token_ids_0: Any, token_ids_1: Any = None, already_has_special_tokens: bool = False
    ) -> list[int]:
        """1 for each id that is a special token's, of rows with their special tokens or without."""
        if already_has_special_tokens:
            return super().get_special_tokens_mask(token_ids_0, token_ids_1, True)
        texts = [[-1] * len(ids) for ids in (token_ids_0, token_ids_1) if ids is not None]
        return [int(id >= 0) for id in self.build_inputs_with_special_tokens(*texts)]

    # --- copies and files ---

    def __getstate__(self) -> dict[str, Any]:
        # the pipeline asks this very object, so a copy makes its own
        kept = {name: value for name, value in vars(self).items() if name != "_tokenizer"}
        return {"attributes": kept, "added": self.added_tokens_decoder}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state["attributes"])
        self._tokenizer = PythonPipeline(self)
        self._tokenizer.keep(state["added"])

    @classmethod
    def from_pretrained(
        cls: type[Self],
        pretrained_model_name_or_path: str | Path,
        *init_inputs: Any,
        revision: str = "main",
        subfolder: str = "",
        **overrides: Any,
    ) -> Self:
        """Load a folder that `save_pretrained` wrote: its configs, and the files of `vocab_files_names`."""
        place = huggingface.place_of(pretrained_model_name_or_path, revision, subfolder)
        folder = huggingface.read_settings(place, from_tokenizer_json=False)
        names = {argument: place / name for argument, name in cls.vocab_files_names.items()}
        # a config is a stranger's: which files are read is not for it to say
        said = {name: value for name, value in folder.settings.items() if name not in names}
        settings = {
            **said,
            "name_or_path": str(pretrained_model_name_or_path),
            "added_tokens_decoder": folder.added,
            **{argument: str(file) for argument, file in names.items() if file.is_file()},
            **{name: value for name, value in overrides.items() if name not in HUB_ARGUMENTS},
        }
        taken = inspect.signature(cls).parameters
        if not any(parameter.kind is parameter.VAR_KEYWORD for parameter in taken.values()):
            settings = {name: value for name, value in settings.items() if name in taken}
        return cls(*init_inputs, **settings)

    def save_pretrained(
        self,
        save_directory: str | Path,
        legacy_format: bool | None = None,
        filename_prefix: str | None = None,
        push_to_hub: bool = False,
        save_format: str | None = None,
        save_jinja_files: bool = True,
        **ignored: Any,
    ) -> tuple[str, ...]:
        """Write the config, the chat templates and the files of `save_vocabulary`; returns the paths."""
        if push_to_hub:
            self.push_to_hub()
        folder = Path(save_directory)
        folder.mkdir(parents=True, exist_ok=True)
        prefix = f"{filename_prefix}-" if filename_prefix else ""
        config = {
            **huggingface_save.config_of(self),
            "backend": self.init_kwargs.get("backend", self.backend),
            "added_tokens_decoder": {
                str(id): token.__getstate__() for id, token in self.added_tokens_decoder.items()
            },
        }
        for argument in self.vocab_files_names:
            config.pop(argument, None)
        files = huggingface_save.save_settings(self, config, folder, prefix, save_jinja_files)
        new = {token: id for token, id in self.added_tokens_encoder.items() if id >= self.vocab_size}
        if new:  # the config has them too: for older readers
            files.append(folder / f"{prefix}{huggingface.ADDED}")
            huggingface_save.write_config(files[-1], new)
        return (*map(str, files), *self.save_vocabulary(str(folder), filename_prefix))

    def save_vocabulary(
        self, save_directory: str | Path, filename_prefix: str | None = None
    ) -> tuple[str, ...]:
        """Write the vocabulary's files; a subclass that has some says how."""
        raise NotImplementedError


def _side_by_side(first: list[int], second: list[int] | None = None) -> list[int]:
    return [*first, *(second or ())]


def _as_token(token: AddedToken | str) -> AddedToken:
    return token if isinstance(token, AddedToken) else AddedToken(str(token))
