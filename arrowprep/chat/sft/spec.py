"""What a preparation computes, and the shapes of datasets it reads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from arrowprep.chat.convention import Convention
from arrowprep.chat.mask import Straddle
from arrowprep.chat.packing import Strategy
from arrowprep.chat.train_on import TrainOn
from arrowprep.errors import BadArgument

__all__ = ["IGNORED", "SFTSpec", "Shape", "SpansFrom", "Trained", "Truncation", "shape_of"]

IGNORED = -100  # the label that loss functions skip

Shape = Literal["messages", "completion", "text", "preference"]
Trained = Literal["assistant", "last", "all"]
Truncation = Literal["drop", "keep_start", "keep_end", "split"]
SpansFrom = Literal["generation", "infer", "auto"]

_MADE_OF_LABELS = ("completion_mask", "assistant_masks")
_COLUMNS = ("input_ids", "labels", "attention_mask", "position_ids", *_MADE_OF_LABELS)
_COLUMNS_OF_PACKS = (*_COLUMNS, "seq_lengths", "cu_seqlens")


@dataclass(frozen=True)
class SFTSpec:
    """What decides the rows of a prepared dataset; each field may change one.

    max_length: tokens a row may have; None for no limit
    train_on: what gets labels: "assistant" all that the model is to write (the assistant's messages, a
        completion, or a plain text as a whole), "last" the assistant's last message alone, "all" every token.
        Messages with `train` false or `weight` 0 get none, but for "all"
    train_reasoning, train_tool_calls: whether these of the assistant's messages get labels, but for "all"
    truncation: of longer rows: "drop" the row, "keep_start" or "keep_end" of its tokens, or "split" it into
        rows. Packing by "bfd_split" and "wrapped" cuts rows itself, so nothing is truncated before
    packing: how rows are joined to sequences of max_length tokens; None leaves them as they are
    spans: where the assistant's text is known from: the template's "generation" tags, "infer", or "auto"
    stop_strings: texts that end a turn, beside the tokenizer's special tokens
    convention: which of the template's own text around an answer is trained; None is the tags as they
        stand, and where spans are inferred from the end of the header to the end of the stop token
    straddle: which tokens over an edge of what is trained are: as for `span_mask`
    sanitize: control tokens in what people wrote are encoded as plain text
    columns: of the result; () for input_ids and labels, and seq_lengths where rows are packed
    """

    max_length: int | None = 1024
    train_on: Trained = "assistant"
    train_reasoning: bool = True
    train_tool_calls: bool = True
    truncation: Truncation = "keep_start"
    packing: Strategy | None = None
    spans: SpansFrom = "generation"
    stop_strings: tuple[str, ...] = ()
    convention: Convention | None = None
    straddle: Straddle = "overlap"
    sanitize: bool = False
    columns: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _one_of("train_on", self.train_on, get_args(Trained))
        _one_of("truncation", self.truncation, get_args(Truncation))
        _one_of("packing", self.packing, (None, *get_args(Strategy)))
        _one_of("spans", self.spans, get_args(SpansFrom))
        _one_of("straddle", self.straddle, get_args(Straddle))
        for name in self.columns:
            _one_of("a column", name, _COLUMNS_OF_PACKS if self.packing else _COLUMNS)
        if self.max_length is not None and self.max_length < 1:
            raise BadArgument(f"max_length must be at least 1, not {self.max_length}")
        if self.packing and self.max_length is None:
            raise BadArgument("packing needs max_length, the length of a pack")

    @classmethod
    def of(cls, **options: Any) -> SFTSpec:
        """From any sequences of names and texts."""
        for name in {"stop_strings", "columns"} & options.keys():
            options[name] = tuple(options[name])
        return cls(**options)

    @property
    def of_turns(self) -> TrainOn:
        """Which of the assistant's messages are trained, and which of their parts."""
        turns: Literal["assistant", "last"] = "last" if self.train_on == "last" else "assistant"
        return TrainOn(turns, self.train_reasoning, self.train_tool_calls)

    @property
    def wanted(self) -> tuple[str, ...]:
        """The columns of the result."""
        return self.columns or ("input_ids", "labels", *(("seq_lengths",) if self.packing else ()))

    @property
    def encoding(self) -> SFTSpec:
        """The part that decides the rows before they are packed: equal where packing alone differs."""
        if self.packing is None:
            return self
        gathered = ("labels", *_MADE_OF_LABELS)
        columns = ("input_ids", *(name for name in self.wanted if name in gathered))
        limit = None if self.packing in ("bfd_split", "wrapped") else self.max_length
        return replace(self, packing=None, columns=columns, max_length=limit)


def _one_of(name: str, value: object, known: Iterable[object]) -> None:
    known = tuple(known)
    if value not in known:
        raise BadArgument(f"{name} is one of {', '.join(map(repr, known))}, not {value!r}")


def shape_of(columns: Sequence[str]) -> Shape:
    """What a dataset with these columns holds. Raises BadArgument, with the shapes there are."""
    if "chosen" in columns and "rejected" in columns:
        return "preference"
    if "prompt" in columns and "completion" in columns:
        return "completion"
    if "messages" in columns or "conversations" in columns:
        return "messages"
    if "text" in columns:
        return "text"
    raise BadArgument(
        "rows to prepare have `messages` (or `conversations`), `prompt` and `completion`, `text`, or "
        f"`chosen` and `rejected`; these have {', '.join(map(repr, columns)) or 'no columns'}",
        columns=list(columns),
    )
