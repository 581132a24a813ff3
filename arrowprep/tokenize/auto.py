"""load_tokenizer, and AutoTokenizer for code that loads its tokenizers so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from arrowprep.errors import BadArgument
from arrowprep.tokenize.files import huggingface, pipelines
from arrowprep.tokenize.shell import PreTrainedTokenizer
from arrowprep.tokenize.shell.families import FAMILIES

_registered: dict[str, type[PreTrainedTokenizer]] = {}  # by class name and by the type of a model


def load_tokenizer(path: str | Path, **overrides: Any) -> PreTrainedTokenizer:
    """The tokenizer in a folder with a tokenizer.json and its configs, or in that file (.gz, .zst) alone.

    Other formats are read where there is no tokenizer.json: tekken.json, SentencePiece's
    *.model, *.tiktoken, vocab.json with merges.txt, vocab.txt; each can be saved as one.

    tokenizer.json is followed as it is; a config adds special tokens, lengths, sides
    and chat templates, and keyword arguments win over it. A class that the config names
    is taken where `AutoTokenizer.register` knows it.

    Raises MissingFile, UnknownFileType, BadTokenizerFile, or UnsupportedComponent for
    a part of the pipeline that is not implemented.
    """
    return _class_for(path, overrides).from_pretrained(path, **overrides)


def _class_for(path: str | Path, overrides: dict[str, Any]) -> type[PreTrainedTokenizer]:
    place = huggingface.place_of(path, overrides.get("revision", "main"), overrides.get("subfolder", ""))
    if not place.is_dir():
        return PreTrainedTokenizer
    # a vocab.json alone says nothing of how texts are cut, the class that it was made for does
    families = FAMILIES if pipelines.find(place) == place / "vocab.json" else {}
    for name in huggingface.classes_of(place) if _registered or families else ():
        for known in (_registered, families):
            if found := known.get(name) or known.get(name.removesuffix("Fast")):
                return found
    return PreTrainedTokenizer


class AutoTokenizer:
    """`AutoTokenizer.from_pretrained(folder)` is `load_tokenizer(folder)`."""

    @staticmethod
    def from_pretrained(
        pretrained_model_name_or_path: str | Path, *inputs: Any, **overrides: Any
    ) -> PreTrainedTokenizer:
        """As `load_tokenizer`."""
        cls = _class_for(pretrained_model_name_or_path, overrides)
        return cls.from_pretrained(pretrained_model_name_or_path, *inputs, **overrides)

    @staticmethod
    def register(
        config_class: Any,
        tokenizer_class: type[PreTrainedTokenizer] | None = None,
        slow_tokenizer_class: type[PreTrainedTokenizer] | None = None,
        fast_tokenizer_class: type[PreTrainedTokenizer] | None = None,
        exist_ok: bool = False,
    ) -> None:
        """Load folders with this class whose config names it, or whose config.json has the model's type.

        config_class: a class with a `model_type`, or the type itself; None goes by the class's name alone
        slow_tokenizer_class, fast_tokenizer_class: older names of tokenizer_class
        exist_ok: a model's type may be known already
        """
        chosen = tokenizer_class or fast_tokenizer_class or slow_tokenizer_class
        if chosen is None:
            raise BadArgument("register needs a tokenizer_class")
        kind = config_class if isinstance(config_class, str) else getattr(config_class, "model_type", None)
        if kind and kind in _registered and not exist_ok:
            raise BadArgument(
                f"{kind!r} has {_registered[kind].__name__} already: pass exist_ok=True to replace it",
                model=kind,
            )
        for candidate in (slow_tokenizer_class, fast_tokenizer_class, chosen):
            if candidate is not None:
                _registered[candidate.__name__] = candidate
        if kind:
            _registered[kind] = chosen
