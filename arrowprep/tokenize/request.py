"""What a call's arguments mean: one frozen request, which travels with the call and changes no tokenizer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from arrowprep.errors import BadArgument, warn
from arrowprep.tokenize.encoding import Padding, Truncation
from arrowprep.tokenize.tensors import check_kind

PADDING = ("longest", "max_length", "do_not_pad")
TRUNCATION = ("longest_first", "only_first", "only_second", "do_not_truncate")
SIDES = ("right", "left")
# the arguments that `resolve` turns into a truncation and a padding
RESOLVED = ("padding", "truncation", "max_length", "stride", "pad_to_multiple_of", "padding_side", "verbose")
UNLIMITED = 10**20  # a model_max_length above it means that the model has no limit


class Defaults(Protocol):
    """What a tokenizer says where a call says nothing."""

    model_max_length: int
    padding_side: str
    truncation_side: str
    model_input_names: list[str]
    pad_token: Any
    pad_token_id: Any
    pad_token_type_id: int
    split_special_tokens: bool
    bos_token_id: Any


def padding_strategy(padding: bool | str) -> str:
    """`True` pads to the longest row, `False` not at all."""
    if padding is True:
        return "longest"
    return "do_not_pad" if padding is False else _one_of("padding", padding, PADDING)


def truncation_strategy(truncation: bool | str | None) -> str:
    """`True` takes from the longest text first, `False` and None take nothing."""
    if truncation is True:
        return "longest_first"
    if truncation is False or truncation is None:
        return "do_not_truncate"
    return _one_of("truncation", truncation, TRUNCATION)


def resolve(
    tokenizer: Defaults,
    *,
    padding: bool | str = False,
    truncation: bool | str | None = None,
    max_length: int | None = None,
    stride: int = 0,
    pad_to_multiple_of: int | None = None,
    padding_side: str | None = None,
    verbose: bool = True,
) -> tuple[Truncation | None, Padding | None]:
    """How to truncate and how to pad; None where not at all.

    `max_length` alone truncates. "max_length" and truncation without a number
    take the model's, and do nothing when that is unlimited. Raises BadArgument
    for a value that is none, for padding without a pad token, and for a
    truncation to a length that padding to a multiple would change.
    """
    if max_length is not None and padding is False and truncation is None:
        truncation = True
    pad, cut = padding_strategy(padding), truncation_strategy(truncation)
    if verbose and padding is True and max_length is not None and cut == "do_not_truncate":
        warn("max_length does nothing with padding=True and no truncation; padding='max_length' pads to it")
    length = model_limit(tokenizer) if max_length is None else max_length
    if length is None:  # nothing to cut or to pad to
        cut, pad = "do_not_truncate", "do_not_pad" if pad == "max_length" else pad
    truncate = None
    if length is not None and cut != "do_not_truncate":
        side = check_side("truncation_side", tokenizer.truncation_side)
        truncate = Truncation(max_length=length, stride=stride, strategy=cut, direction=side)
    if pad == "do_not_pad":
        return truncate, None
    if truncate and pad_to_multiple_of:
        _check_multiple(truncate.max_length, pad_to_multiple_of)
    fixed = length if pad == "max_length" else None
    return truncate, pad_settings(tokenizer, fixed, pad_to_multiple_of, padding_side)


def _check_multiple(length: int, multiple: int) -> None:
    if length % multiple:
        raise BadArgument(
            f"truncating to {length} and padding to a multiple of {multiple} contradict each other;"
            " give a max_length that is a multiple",
            max_length=length,
            pad_to_multiple_of=multiple,
        )


def pad_settings(
    tokenizer: Defaults, length: int | None, pad_to_multiple_of: int | None, side: str | None
) -> Padding:
    """Padding with the tokenizer's pad token. Raises BadArgument, which says the fix, when it has none."""
    if tokenizer.pad_token is None or tokenizer.pad_token_id is None:
        raise BadArgument(
            "the tokenizer has no pad token to pad with; choose one that it knows"
            " (tokenizer.pad_token = tokenizer.eos_token) or add one"
            " (tokenizer.add_special_tokens({'pad_token': '[PAD]'}))",
            pad_token=tokenizer.pad_token,
        )
    return Padding(
        direction=check_side("padding_side", tokenizer.padding_side if side is None else side),
        pad_id=tokenizer.pad_token_id,
        pad_type_id=tokenizer.pad_token_type_id,
        pad_token=tokenizer.pad_token,
        length=length,
        pad_to_multiple_of=pad_to_multiple_of,
    )


def check_side(name: str, side: str) -> Any:
    """The side itself, if it is one."""
    return _one_of(name, side, SIDES)


def _one_of(name: str, value: Any, known: tuple[str, ...]) -> str:
    for strategy in known:
        if value == strategy:  # an enum that is a str also is one of them
            return strategy
    raise BadArgument(
        f"{name}={value!r} is none of {', '.join(map(repr, known))}", argument=name, value=value
    )


def model_limit(tokenizer: Defaults) -> int | None:
    """How many tokens the model takes; None when it says no number, or one that means no limit."""
    limit = tokenizer.model_max_length
    return None if limit > UNLIMITED else int(limit)


@dataclass(frozen=True, slots=True)
class Request:
    """Everything that decides what a call gives, but for the texts.

    words: the texts are lists of words
    offsets: whether they are made; "full" makes them of whole spans
    tensors: the kind of tensors to make; None leaves Arrow columns
    warn_beyond: a row of more tokens is worth a warning; None where the caller gave a length
    bos: a row that has this id twice at its start is worth one too; None where no special tokens are added
    plain_between: two marks; a control token that stands between them is plain text, and they are none
    """

    truncation: Truncation | None
    padding: Padding | None
    add_special_tokens: bool
    words: bool
    split_special_tokens: bool
    token_type_ids: bool
    attention_mask: bool
    overflowing: bool
    special_tokens_mask: bool
    offsets: bool | str
    length: bool
    tensors: str | None
    warn_beyond: int | None
    bos: int | None
    plain_between: tuple[str, str] | None = None


def read_request(
    tokenizer: Defaults,
    *,
    add_special_tokens: bool = True,
    is_split_into_words: bool = False,
    split_special_tokens: bool | None = None,
    return_tensors: str | None = None,
    return_token_type_ids: bool | None = None,
    return_attention_mask: bool | None = None,
    return_overflowing_tokens: bool = False,
    return_special_tokens_mask: bool = False,
    return_offsets_mapping: bool | str = False,
    return_length: bool = False,
    plain_between: tuple[str, str] | None = None,
    **lengths: Any,
) -> Request:
    """The arguments of a call, checked, with the tokenizer's settings where they say nothing."""
    known = {name: lengths.pop(name) for name in RESOLVED if name in lengths}
    if lengths:
        warn(f"a call knows no argument {', '.join(lengths)}; it was ignored")
    truncation, padding = resolve(tokenizer, **known)
    names = tokenizer.model_input_names
    verbose, split = known.get("verbose", True), split_special_tokens
    return Request(
        truncation=truncation,
        padding=padding,
        add_special_tokens=add_special_tokens,
        words=is_split_into_words,
        split_special_tokens=tokenizer.split_special_tokens if split is None else split,
        token_type_ids="token_type_ids" in names if return_token_type_ids is None else return_token_type_ids,
        attention_mask="attention_mask" in names if return_attention_mask is None else return_attention_mask,
        overflowing=return_overflowing_tokens,
        special_tokens_mask=return_special_tokens_mask,
        offsets=return_offsets_mapping,
        length=return_length,
        tensors=None if return_tensors is None else check_kind(return_tensors),
        warn_beyond=model_limit(tokenizer) if verbose and known.get("max_length") is None else None,
        bos=tokenizer.bos_token_id if verbose and add_special_tokens else None,
        plain_between=plain_between,
    )
