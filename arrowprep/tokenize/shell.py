"""PreTrainedTokenizer: what users call; a pipeline with special tokens, lengths, sides, a chat template."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

from arrowprep.errors import BadArgument, TokenizerError
from arrowprep.tokenize import chat_calls, decoding
from arrowprep.tokenize.added_tokens import AddedToken
from arrowprep.tokenize.batch_encoding import BatchEncoding
from arrowprep.tokenize.call import encode
from arrowprep.tokenize.files import huggingface, huggingface_save, pipelines
from arrowprep.tokenize.identity import fingerprint_of
from arrowprep.tokenize.inputs import read_inputs
from arrowprep.tokenize.pad_columns import pad
from arrowprep.tokenize.request import Request, check_side, read_request
from arrowprep.tokenize.settings import NO_LIMIT, input_names, max_length_of, settings_of, templates_by_name
from arrowprep.tokenize.special_tokens import frame_of, take_from
from arrowprep.tokenize.tokenizer import Tokenizer
from arrowprep.tokenize.vocabulary import Vocabulary

if TYPE_CHECKING:
    from arrowprep.chat.convention import Convention

Self = TypeVar("Self", bound="PreTrainedTokenizer")

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


class PreTrainedTokenizer(Vocabulary):
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
        self.clock: Callable[[], datetime] | None = settings.get("clock")
        self.listed_tokens = dict(added_tokens_decoder or {})  # of its files; a new training keeps them
        self._add_missing(self.listed_tokens)
        self._add_bos_token = self._add_eos_token = False
        if "add_bos_token" in settings or "add_eos_token" in settings:
            self._frame(bool(settings.get("add_bos_token")), bool(settings.get("add_eos_token")))

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

    # --- calling ---

    def __call__(
        self,
        text: Any = None,
        text_pair: Any = None,
        text_target: Any = None,
        text_pair_target: Any = None,
        add_special_tokens: bool = True,
        padding: bool | str = False,
        truncation: bool | str | None = None,
        max_length: int | None = None,
        stride: int = 0,
        is_split_into_words: bool = False,
        pad_to_multiple_of: int | None = None,
        padding_side: str | None = None,
        return_tensors: str | None = None,
        return_token_type_ids: bool | None = None,
        return_attention_mask: bool | None = None,
        return_overflowing_tokens: bool = False,
        return_special_tokens_mask: bool = False,
        return_offsets_mapping: bool = False,
        return_length: bool = False,
        verbose: bool = True,
        split_special_tokens: bool | None = None,
        max_target_length: int | None = None,
        tokenizer_kwargs: Mapping[str, Any] | None = None,
        **unknown: Any,
    ) -> BatchEncoding:
        """Encode one text, a list of them, or an Arrow column; `text_target` gives `labels` beside it.

        padding: True or "longest", "max_length", False; to which side, and to a multiple of what
        truncation: True or "longest_first", "only_first", "only_second", False; `max_length` alone means True
        stride, return_overflowing_tokens: what is cut off becomes further rows, which share `stride` tokens
        is_split_into_words: a text is a list of words; offsets and word ids are those of the words
        return_tensors: "np", "pt", "tf" or "jax"
        tokenizer_kwargs: more of these arguments, as a dict; they win

        Raises NotText, and BadArgument for values that make no sense or contradict each other.
        """
        if text is None and text_target is None:
            raise BadArgument("a call needs text or text_target")
        options: dict[str, Any] = {
            "add_special_tokens": add_special_tokens,
            "padding": padding,
            "truncation": truncation,
            "max_length": max_length,
            "stride": stride,
            "is_split_into_words": is_split_into_words,
            "pad_to_multiple_of": pad_to_multiple_of,
            "padding_side": padding_side,
            "return_tensors": return_tensors,
            "return_token_type_ids": return_token_type_ids,
            "return_attention_mask": return_attention_mask,
            "return_overflowing_tokens": return_overflowing_tokens,
            "return_special_tokens_mask": return_special_tokens_mask,
            "return_offsets_mapping": return_offsets_mapping,
            "return_length": return_length,
            "verbose": verbose,
            "split_special_tokens": split_special_tokens,
            **(tokenizer_kwargs or {}),
            **unknown,
        }
        if text_target is None:
            return self._encode(text, text_pair, read_request(self, **options))
        target_length = options["max_length"] if max_target_length is None else max_target_length
        target_request = read_request(self, **{**options, "max_length": target_length})
        target = self._encode(text_target, text_pair_target, target_request)
        if text is None:
            return target
        encoded = self._encode(text, text_pair, read_request(self, **options))
        encoded["labels"] = target.column("input_ids")
        return encoded

    def _encode(self, text: Any, pair: Any, request: Request) -> BatchEncoding:
        return encode(self.backend_tokenizer, read_inputs(text, pair, words=request.words), request)

    @overload
    def encode(
        self, text: str, text_pair: str | None = None, add_special_tokens: bool = True
    ) -> list[int]: ...
    @overload
    def encode(
        self, text: Any, text_pair: Any = None, add_special_tokens: bool = True, **options: Any
    ) -> Any: ...
    def encode(
        self, text: Any, text_pair: Any = None, add_special_tokens: bool = True, **options: Any
    ) -> Any:
        """The ids alone, of one text or of a batch; options are those of a call."""
        return self(text, text_pair, add_special_tokens=add_special_tokens, **options)["input_ids"]

    def tokenize(
        self, text: str, pair: str | None = None, add_special_tokens: bool = False, **options: Any
    ) -> list[str]:
        """The tokens of one text as strings."""
        return self(text, pair, add_special_tokens=add_special_tokens, **options).tokens()

    def pad(
        self,
        encoded_inputs: Any,
        padding: bool | str = True,
        max_length: int | None = None,
        pad_to_multiple_of: int | None = None,
        padding_side: str | None = None,
        return_attention_mask: bool | None = None,
        return_tensors: str | None = None,
        verbose: bool = True,
        *,
        pad_also: Mapping[str, int] | None = None,
    ) -> BatchEncoding:
        """Pad what is already encoded: a mapping of columns, or a list of encodings (so it can collate).

        Ids and the columns that go with them are padded; an attention_mask is made
        where there is none. `pad_also={"labels": -100}` pads further columns. Rows are
        never shortened. Tensors that come in are tensors when they go out.
        """
        return pad(
            self,
            encoded_inputs,
            padding=padding,
            max_length=max_length,
            pad_to_multiple_of=pad_to_multiple_of,
            padding_side=padding_side,
            return_attention_mask=return_attention_mask,
            return_tensors=return_tensors,
            pad_also=pad_also or {},
        )

    @overload
    def decode(
        self,
        token_ids: int | list[int],
        skip_special_tokens: bool = False,
        clean_up_tokenization_spaces: bool | None = None,
    ) -> str: ...
    @overload
    def decode(
        self,
        token_ids: Any,
        skip_special_tokens: bool = False,
        clean_up_tokenization_spaces: bool | None = None,
        **unknown: Any,
    ) -> Any: ...
    def decode(
        self,
        token_ids: Any,
        skip_special_tokens: bool = False,
        clean_up_tokenization_spaces: bool | None = None,
        **unknown: Any,
    ) -> Any:
        """The text of a list of ids, or the texts of a list of lists; ids without a token give nothing."""
        clean_up = decoding.may_clean_up(
            self.backend_tokenizer, clean_up_tokenization_spaces, self.clean_up_tokenization_spaces
        )
        return decoding.decode(
            self.backend_tokenizer, token_ids, skip_special_tokens=skip_special_tokens, clean_up=clean_up
        )

    def batch_decode(
        self,
        sequences: Any,
        skip_special_tokens: bool = False,
        clean_up_tokenization_spaces: bool | None = None,
        **unknown: Any,
    ) -> list[str]:
        """The text of each list of ids."""
        rows = decoding.plain(sequences)
        if not len(rows):
            return []
        texts = self.decode(rows, skip_special_tokens, clean_up_tokenization_spaces)
        return [texts] if isinstance(texts, str) else texts

    # --- chats ---

    def get_chat_template(self, chat_template: str | None = None, tools: Any = None) -> str:
        """The text of the template to render with: by name, as given, or the tokenizer's own."""
        return chat_calls.pick_template(self, chat_template, tools)

    def apply_chat_template(
        self,
        conversation: Any,
        tools: Any = None,
        documents: Any = None,
        chat_template: str | None = None,
        add_generation_prompt: bool = False,
        continue_final_message: bool | str = False,
        tokenize: bool = True,
        padding: bool | str = False,
        truncation: bool | str = False,
        max_length: int | None = None,
        return_tensors: str | None = None,
        return_dict: bool | None = None,
        return_assistant_tokens_mask: bool = False,
        tokenizer_kwargs: Mapping[str, Any] | None = None,
        *,
        spans: Literal["generation", "infer", "auto"] = "generation",
        stop_strings: Sequence[str] = (),
        convention: Convention | None = None,
        straddle: Literal["overlap", "inside", "start"] = "overlap",
        continuation: Literal["exact", "transformers"] = "exact",
        sanitize_control_tokens: bool = False,
        **variables: Any,
    ) -> Any:
        """Render one conversation, or a batch of them, and encode it.

        conversation: a list of messages; a batch is a list, a dataset column or an Arrow array of such lists
        tokenize: False gives the text (of a batch: a list of texts)
        return_dict: False, the default, gives ids; True a `BatchEncoding`
        return_assistant_tokens_mask: gives a `BatchEncoding` with `assistant_masks`, 1 for every
            token of what is the assistant's
        spans: where that is known from: the template's "generation" tags; "infer", which compares
            renderings and refuses what it cannot prove; "auto", tags where there are any
        stop_strings: for "infer", texts that end a turn and do not look like control tokens
        convention: what of the template's own text around an answer is marked: `chat.Convention`
        straddle: which tokens over the edge of that are marked: as for `chat.span_mask`
        continuation: of an empty last message, where a template trims: "transformers" loses the white space
            that ends the header, as it does
        sanitize_control_tokens: encode control tokens in messages, tools, documents and variables, but for
            keys, as plain text: special tokens, and added ones that the template writes
        variables: what else the template reads; they win over the special tokens

        No special tokens are added: the template writes those it wants. Raises
        ChatError when there is no template, and MaskUnavailable, never a mask of
        zeros, when what the assistant wrote cannot be known.
        """
        chats = chat_calls.render(
            self,
            conversation,
            chat_template=chat_template,
            tools=tools,
            documents=documents,
            add_generation_prompt=add_generation_prompt,
            continue_final_message=continue_final_message,
            continuation=continuation,
            spans=spans if tokenize and return_assistant_tokens_mask else None,
            stop_strings=stop_strings,
            convention=convention,
            sanitize=sanitize_control_tokens,
            variables=variables,
        )
        if not tokenize:
            if sanitize_control_tokens:
                raise BadArgument(
                    "text does not say which control tokens are plain: leave out tokenize=False"
                )
            return chats.as_given
        options = {
            "padding": padding,
            "truncation": truncation,
            "max_length": max_length,
            "return_tensors": return_tensors,
            "add_special_tokens": False,
            "split_special_tokens": False,  # what a template writes as a special token is one
            **(tokenizer_kwargs or {}),
        }
        mask = straddle if return_assistant_tokens_mask else None
        encoded = chat_calls.encode(self, chats, options, mask=mask)
        return encoded if return_dict or return_assistant_tokens_mask else encoded["input_ids"]

    # --- identity ---

    @property
    def fingerprint(self) -> str:
        """A name for all that decides results: equal content has an equal one in any process, on any day.

        It covers the pipeline, special tokens, sides, lengths, the chat template and,
        where the template reads the clock, the day. Nothing is kept but the pipeline's
        part, so any change shows at once.
        """
        return fingerprint_of(self)

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

    # --- files ---

    @property
    def is_fast(self) -> bool:
        """Whether tokens can be traced back to the text: always."""
        return True

    @classmethod
    def from_pretrained(
        cls: type[Self], path: str | Path, *, revision: str = "main", **overrides: Any
    ) -> Self:
        """Load a folder with a tokenizer.json, or that file; keyword arguments win over its configs.

        Where there is none, the first of tekken.json, *.model (SentencePiece), *.tiktoken,
        vocab.json with merges.txt, and vocab.txt. A .tiktoken file does not say how text is
        cut: `pattern=` and `special_tokens=` do, where it is no well-known one.

        "org/name" is looked for where the hub's own tools keep what they downloaded
        (at `revision`); what those tools alone understand, such as `token`, is ignored.

        Raises MissingFile, UnknownFileType or BadTokenizerFile, which say what was looked for.
        """
        folder = huggingface.read(path, revision)
        overrides = {name: value for name, value in overrides.items() if name not in HUB_ARGUMENTS}
        try:
            pipeline, known = pipelines.read(
                folder.file, huggingface.unpack, {**folder.settings, **overrides}
            )
        except TokenizerError as error:
            raise type(error)(
                f"{folder.file}: {error}", **{**error.facts, "path": str(folder.file)}
            ) from error
        settings = {**known, **folder.settings, "name_or_path": str(path), **overrides}
        for name in pipelines.OPTIONS:
            settings.pop(name, None)
        return cls(tokenizer_object=pipeline, added_tokens_decoder=folder.added, **settings)

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

    def save_pretrained(
        self, save_directory: str | Path, filename_prefix: str | None = None, save_jinja_files: bool = True
    ) -> tuple[str, ...]:
        """Write tokenizer.json, tokenizer_config.json and the chat templates; returns the paths.

        save_jinja_files: False puts the templates into the config, as older versions did
        """
        folder = Path(save_directory)
        folder.mkdir(parents=True, exist_ok=True)
        prefix = f"{filename_prefix}-" if filename_prefix else ""
        return tuple(map(str, huggingface_save.save(self, folder, prefix, save_jinja_files)))


PreTrainedTokenizerFast = PreTrainedTokenizer
TokenizersBackend = PreTrainedTokenizer
