"""Tokenizers from files, into files, and of another corpus."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from arrowprep.errors import BadArgument, TokenizerError
from arrowprep.tokenize.added_tokens import AddedToken
from arrowprep.tokenize.files import huggingface, huggingface_save, pipelines
from arrowprep.tokenize.settings import put_spaces_in_front
from arrowprep.tokenize.shell.vocabulary import Vocabulary

if TYPE_CHECKING:
    from arrowprep.tokenize.tokenizer import Tokenizer

Self = TypeVar("Self", bound="Stores")

# arguments about downloading and about running a repository's code: neither happens here
HUB_ARGUMENTS = {
    "cache_dir",
    "force_download",
    "local_files_only",
    "proxies",
    "token",
    "trust_remote_code",
    "use_auth_token",
    "use_fast",
}


class Stores(Vocabulary):
    """Loading, saving, and learning a new vocabulary."""

    vocab_file: str | None = None  # what it was loaded from
    vocab_files_names: ClassVar[Mapping[str, str]] = {
        "vocab_file": "tokenizer.model",
        "tokenizer_file": "tokenizer.json",
    }
    model: ClassVar[Any] = None  # a class of models, for subclasses that make their own pipeline
    _patterns: ClassVar[tuple[str, ...]] = pipelines.PATTERNS  # names of the files that it is loaded from

    if TYPE_CHECKING:  # the whole class says how it is made

        @classmethod
        def over(
            cls: type[Self],
            pipeline: Tokenizer,
            added_tokens: Mapping[int, AddedToken] | None = None,
            settings: Mapping[str, Any] | None = None,
        ) -> Self: ...

    @classmethod
    def from_pretrained(
        cls: type[Self],
        pretrained_model_name_or_path: str | Path,
        *init_inputs: Any,
        revision: str = "main",
        subfolder: str = "",
        **overrides: Any,
    ) -> Self:
        """Load a folder with a tokenizer.json, or that file; keyword arguments win over its configs.

        Where there is none, the first of tekken.json, *.model (SentencePiece), *.tiktoken,
        vocab.json with merges.txt, and vocab.txt. A .tiktoken file does not say how text is
        cut: `pattern=` and `special_tokens=` do, where it is no well-known one.
        `add_prefix_space=` changes whether the pipeline puts a space before a text.

        "org/name" is looked for where the hub's own tools keep what they downloaded
        (at `revision`); what those tools alone understand, such as `token`, is ignored.

        subfolder: of the folder, the one to read

        Raises MissingFile, UnknownFileType or BadTokenizerFile, which say what was looked for.
        """
        path = pretrained_model_name_or_path
        if init_inputs:
            raise BadArgument(f"settings are given by name; {init_inputs[0]!r} has none", given=init_inputs)
        folder = huggingface.read(path, revision, cls._patterns, subfolder)
        overrides = {name: value for name, value in overrides.items() if name not in HUB_ARGUMENTS}
        try:
            pipeline, known = pipelines.read(
                folder.file, huggingface.unpack, {**folder.settings, **overrides}
            )
        except TokenizerError as error:
            raise type(error)(
                f"{folder.file}: {error}", **{**error.facts, "path": str(folder.file)}
            ) from error
        if overrides.get("add_prefix_space") is not None:
            put_spaces_in_front(pipeline.pre_tokenizer, bool(overrides["add_prefix_space"]))
        settings = {**known, **folder.settings, "name_or_path": str(path), **overrides}
        for name in pipelines.OPTIONS:
            settings.pop(name, None)
        tokenizer = cls.over(pipeline, folder.added, settings)
        tokenizer.vocab_file = str(folder.file)
        return tokenizer

    def train_new_from_iterator(
        self: Self,
        text_iterator: Iterable[Any],
        vocab_size: int,
        length: int | None = None,
        new_special_tokens: Sequence[str | AddedToken] | None = None,
        special_tokens_map: Mapping[str, str] | None = None,
        **options: Any,
    ) -> Self:
        """A tokenizer like this one with a vocabulary that is learnt from texts, or from lists of texts.

        Normalizer, pre-tokenizer, decoder, special tokens and settings are kept. Added
        tokens that are not special are too where the config lists them, or the model is Unigram.

        length: of the iterator, for a progress bar
        new_special_tokens: further ones
        special_tokens_map: old special tokens to new ones
        options: those of the model's trainer

        Raises BadArgument where the post-processor needs a token that is no more.
        """
        from arrowprep.tokenize.retraining import train_new

        new, renamed = list(new_special_tokens or ()), dict(special_tokens_map or {})
        return train_new(self, text_iterator, vocab_size, length, new, renamed, options)

    def push_to_hub(self, repo_id: str | None = None, **options: Any) -> None:
        """Nothing here opens a connection: this says what to do instead."""
        raise BadArgument(
            "arrowprep uploads nothing: write the files with save_pretrained, and give the folder to"
            " huggingface_hub.upload_folder"
        )

    def save_vocabulary(
        self, save_directory: str | Path, filename_prefix: str | None = None
    ) -> tuple[str, ...]:
        """Write the model's own files (vocab.json and merges.txt, vocab.txt, ...); returns the paths."""
        Path(save_directory).mkdir(parents=True, exist_ok=True)
        return tuple(self.backend_tokenizer.model.save(save_directory, filename_prefix))

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
        """Write tokenizer.json, tokenizer_config.json and the chat templates; returns the paths.

        save_jinja_files: False puts the templates into the config, as older versions did
        save_format: None or "hf"; nothing is written as a tekken.json
        legacy_format: changes nothing

        Raises BadArgument.
        """
        if save_format not in (None, "hf"):
            raise BadArgument(
                f"save_format={save_format!r} cannot be written, 'hf' can", argument="save_format"
            )
        if push_to_hub:
            self.push_to_hub()
        folder = Path(save_directory)
        folder.mkdir(parents=True, exist_ok=True)
        prefix = f"{filename_prefix}-" if filename_prefix else ""
        return tuple(map(str, huggingface_save.save(self, folder, prefix, save_jinja_files)))
