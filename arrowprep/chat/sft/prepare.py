"""prepare_sft: encode, refuse what must not pass, keep the rest, pack."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeVar, cast

import pyarrow as pa

from arrowprep.chat.convention import Convention
from arrowprep.chat.mask import Straddle
from arrowprep.chat.packing import Packing, Strategy
from arrowprep.chat.sft.encoded import Encoded, RunOptions, SFTDataset, encode_sft, find_problems
from arrowprep.chat.sft.pack import GatherPacks, plan_table
from arrowprep.chat.sft.spec import SFTSpec, SpansFrom, Trained, Truncation
from arrowprep.chat.template import ChatTemplate
from arrowprep.errors import BadArgument, ChatError

__all__ = ["prepare_sft"]

_TOKENS_A_BATCH = 1 << 20  # of packs that are gathered together

DatasetT = TypeVar("DatasetT")


def prepare_sft(
    ds: DatasetT,
    tokenizer: Any,
    *,
    max_length: int | None = 1024,
    template: str | ChatTemplate | None = None,
    train_on: Trained = "assistant",
    train_reasoning: bool = True,
    train_tool_calls: bool = True,
    truncation: Truncation = "keep_start",
    packing: Strategy | None = None,
    spans: SpansFrom = "generation",
    stop_strings: Sequence[str] = (),
    convention: Convention | None = None,
    straddle: Straddle = "overlap",
    sanitize: bool = False,
    columns: Sequence[str] = (),
    errors: Literal["raise", "drop"] = "raise",
    strict: bool = False,
    num_proc: int | None = None,
    batch_size: int = 1000,
    load_from_cache_file: bool | None = None,
) -> DatasetT:
    """A dataset of `input_ids` and `labels`, and of `seq_lengths` where rows are packed.

    ds: rows of `messages` (or `conversations`, also as from/value), of `prompt` and `completion` (texts or
        messages), of `text`, or of `chosen` and `rejected` with or without `prompt`; `tools`, `documents` and
        `chat_template_kwargs` are given to the template. Preferences give `chosen_input_ids`,
        `chosen_completion_mask`, and the same of `rejected`. A dict of datasets gives such a dict
    template: another chat template than the tokenizer's: its text, or the name of one of several
    columns: of the result: input_ids, labels, attention_mask, position_ids, completion_mask, assistant_masks,
        and of packs seq_lengths and cu_seqlens
    errors: "raise" at rows that cannot be rendered or told apart; "drop" leaves them out
    strict: raise also where a message or a field of the data never reaches the text, or where a control
        token stands in it that `sanitize` does not make text; `report_sft` counts such rows
    num_proc, batch_size, load_from_cache_file: how it runs; no row depends on it
    others: see SFTSpec

    Raises ChatError, with the row, for a prompt that is no prefix, two bos tokens, what a template refuses;
    and where no row has anything to train, or none trains a stop token. Rows without anything to train are
    left out; `report_sft` counts them.
    """
    spec = SFTSpec.of(
        max_length=max_length,
        train_on=train_on,
        train_reasoning=train_reasoning,
        train_tool_calls=train_tool_calls,
        truncation=truncation,
        packing=packing,
        spans=spans,
        stop_strings=stop_strings,
        convention=convention,
        straddle=straddle,
        sanitize=sanitize,
        columns=columns,
    )
    if errors not in ("raise", "drop"):
        raise BadArgument(f'errors is "raise" or "drop", not {errors!r}')
    options = RunOptions(num_proc, batch_size, load_from_cache_file)

    def prepared(one: SFTDataset) -> Any:
        encoded = encode_sft(one, tokenizer, spec, template, options)
        encoded.facts.check(refuse=errors == "raise")
        if strict:
            _refuse_problems(one, tokenizer, encoded, options)
        plan = encoded.plan()
        return encoded.kept() if plan is None else _packed(encoded, plan, type(one), options)

    many: Any = ds
    if isinstance(many, dict):
        many = type(many)({name: prepared(one) for name, one in many.items()})
        return cast(DatasetT, many)
    return cast(DatasetT, prepared(many))


def _refuse_problems(ds: SFTDataset, tokenizer: Any, encoded: Encoded, options: RunOptions) -> None:
    for row, problems, _ in find_problems(ds, tokenizer, encoded.reader, options):
        if problems:
            raise ChatError(f"row {row}: {'; '.join(problems)}", row=row, problems=problems)


def _packed(encoded: Encoded, plan: Packing, make: Callable[[pa.Table], Any], options: RunOptions) -> Any:
    """The packs of a plan over the kept rows, about a million tokens a batch.

    make: a dataset of a table
    """
    return make(plan_table(plan)).map(
        GatherPacks(encoded.kept().with_format("arrow"), encoded.spec.wanted),
        batch_size=max(1, _TOKENS_A_BATCH // plan.seq_length),
        remove_columns=["rows", "starts", "lengths"],
        desc="Packing",
        **options.of_map(),
    )
