"""What a tokenizer is called with, and what pads what was encoded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, overload

from arrowprep.errors import BadArgument
from arrowprep.tokenize.batch_encoding import BatchEncoding
from arrowprep.tokenize.call import encode
from arrowprep.tokenize.inputs import read_inputs
from arrowprep.tokenize.pad_columns import pad
from arrowprep.tokenize.request import Request, pad_settings, read_request
from arrowprep.tokenize.request import padding_strategy as padding_strategy_of
from arrowprep.tokenize.request import truncation_strategy as truncation_strategy_of
from arrowprep.tokenize.shell.vocabulary import Vocabulary


class Calls(Vocabulary):
    """From texts to ids; every setting is read anew by every call, and no call changes one."""

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
        return_offsets_mapping: bool | str = False,
        return_length: bool = False,
        verbose: bool = True,
        tokenizer_kwargs: Mapping[str, Any] | None = None,
        split_special_tokens: bool | None = None,
        max_target_length: int | None = None,
        **unknown: Any,
    ) -> BatchEncoding:
        """Encode one text, a list of them, or an Arrow column; `text_target` gives `labels` beside it.

        padding: True or "longest", "max_length", False; to which side, and to a multiple of what
        truncation: True or "longest_first", "only_first", "only_second", False; `max_length` alone means True
        stride, return_overflowing_tokens: what is cut off becomes further rows, which share `stride` tokens
        is_split_into_words: a text is a list of words; offsets and word ids are those of the words
        return_offsets_mapping: True, or "full" for the whole span of a character that was composed of several
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
        self,
        text: Any,
        text_pair: Any = None,
        add_special_tokens: bool = True,
        padding: bool | str = False,
        truncation: bool | str | None = None,
        max_length: int | None = None,
        stride: int = 0,
        padding_side: str | None = None,
        return_tensors: str | None = None,
        **options: Any,
    ) -> Any:
        """The ids alone, of one text or of a batch; options are those of a call."""
        encoded = self(
            text,
            text_pair,
            add_special_tokens=add_special_tokens,
            padding=padding,
            truncation=truncation,
            max_length=max_length,
            stride=stride,
            padding_side=padding_side,
            return_tensors=return_tensors,
            **options,
        )
        return encoded["input_ids"]

    def tokenize(
        self, text: str, pair: str | None = None, add_special_tokens: bool = False, **options: Any
    ) -> list[str]:
        """The tokens of one text as strings."""
        return self(text, pair, add_special_tokens=add_special_tokens, **options).tokens()

    def set_truncation_and_padding(
        self,
        padding_strategy: str,
        truncation_strategy: str,
        max_length: int,
        stride: int,
        pad_to_multiple_of: int | None,
        padding_side: str | None,
    ) -> None:
        """Set them on the pipeline, for its own `encode`; a call has its own, and does not look there."""
        backend = self.backend_tokenizer
        pad, cut = padding_strategy_of(padding_strategy), truncation_strategy_of(truncation_strategy)
        backend.no_truncation()
        backend.no_padding()
        if cut != "do_not_truncate":
            backend.enable_truncation(max_length, stride, cut, self.truncation_side)
        if pad != "do_not_pad":
            length = max_length if pad == "max_length" else None
            settings = pad_settings(self, length, pad_to_multiple_of, padding_side)
            backend.enable_padding(**settings.as_dict())

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
