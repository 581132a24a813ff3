"""prepare_sft: find the shape, encode, refuse what must not pass, keep, pack."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeVar, cast

import pyarrow as pa

from arrowprep.chat.packing import Packing, Strategy, pack
from arrowprep.chat.sft.encode import EncodeRows
from arrowprep.chat.sft.examples import COLUMNS, Reader
from arrowprep.chat.sft.facts import FACTS, Facts
from arrowprep.chat.sft.pack import GatherPacks, plan_table
from arrowprep.chat.sft.spec import SFTSpec, Shape, SpansFrom, TrainOn, Truncation, shape_of
from arrowprep.chat.sft.tokenizer import reader_of
from arrowprep.chat.sft.traces import FindTraces
from arrowprep.chat.template import ChatTemplate
from arrowprep.errors import BadArgument, ChatError

__all__ = ["Encoded", "RunOptions", "SFTDataset", "encode_sft", "encoder_of", "find_problems", "prepare_sft"]

_TOKENS_A_BATCH = 1 << 20  # of packs that are gathered together


class SFTDataset(Protocol):
    """What a preparation asks of a dataset."""

    @property
    def column_names(self) -> list[str]: ...

    def __len__(self) -> int: ...
    def __getitem__(self, key: Any) -> Any: ...
    def map(self, function: Callable[..., Any], **options: Any) -> Any: ...
    def select(self, indices: Any) -> Any: ...
    def select_columns(self, column_names: Any) -> Any: ...
    def with_format(self, type: str | None = None) -> Any: ...


DatasetT = TypeVar("DatasetT", bound=SFTDataset)


@dataclass(frozen=True)
class RunOptions:
    """How a preparation runs; nothing here changes a row."""

    num_proc: int | None = None
    batch_size: int = 1000
    load_from_cache_file: bool | None = None

    def of_map(self) -> dict[str, Any]:
        """The arguments of a map."""
        reuse = self.load_from_cache_file
        return {"batched": True, "num_proc": self.num_proc, "load_from_cache_file": reuse}


@dataclass(frozen=True)
class Encoded:
    """All rows as tokens: those that were dropped are there too, without tokens, with what became of them."""

    function: EncodeRows
    dataset: Any
    facts: Facts

    @property
    def spec(self) -> SFTSpec:
        """What was computed."""
        return self.function.spec

    @property
    def reader(self) -> Reader:
        """How rows were read."""
        return self.function.reader

    def plan(self) -> Packing | None:
        """How the kept rows are packed; None where they are not."""
        spec = self.spec
        if spec.packing is None or spec.max_length is None:
            return None
        return pack(self.facts.lengths[self.facts.kept], spec.max_length, spec.packing)

    def kept(self) -> Any:
        """The rows that were kept, with their tokens alone."""
        kept = self.facts.kept
        rows = self.dataset if kept.all() else self.dataset.select(kept.nonzero()[0])
        return rows.select_columns([name for name in rows.column_names if name not in FACTS])


def prepare_sft(
    ds: DatasetT,
    tokenizer: Any,
    *,
    max_length: int | None = 1024,
    template: str | ChatTemplate | None = None,
    train_on: TrainOn = "assistant",
    truncation: Truncation = "keep_start",
    packing: Strategy | None = None,
    spans: SpansFrom = "generation",
    stop_strings: Sequence[str] = (),
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
        `chosen_completion_mask`, and the same of `rejected`
    template: another chat template than the tokenizer's: its text, or the name of one of several
    columns: of the result: input_ids, labels, attention_mask, position_ids, completion_mask, assistant_masks,
        and of packs seq_lengths and cu_seqlens
    errors: "raise" at rows that cannot be rendered or told apart; "drop" leaves them out
    strict: raise also where a message or a field of the data never reaches the text, or where a control
        token stands in it; `report_sft` counts such rows
    num_proc, batch_size, load_from_cache_file: how it runs; no row depends on it
    others: see SFTSpec

    Raises ChatError, with the row, for a prompt that is no prefix, two bos tokens, what a template refuses;
    and where no row has anything to train, or none trains a stop token. Rows without anything to train are
    left out; `report_sft` counts them.
    """
    spec = SFTSpec.of(
        max_length=max_length,
        train_on=train_on,
        truncation=truncation,
        packing=packing,
        spans=spans,
        stop_strings=stop_strings,
        columns=columns,
    )
    if errors not in ("raise", "drop"):
        raise BadArgument(f'errors is "raise" or "drop", not {errors!r}')
    options = RunOptions(num_proc, batch_size, load_from_cache_file)
    encoded = encode_sft(ds, tokenizer, spec, template, options)
    encoded.facts.check(refuse=errors == "raise")
    if strict:
        for row, problems in find_problems(ds, tokenizer, encoded.reader, options):
            if problems:
                raise ChatError(f"row {row}: {'; '.join(problems)}", row=row, problems=problems)
    plan = encoded.plan()
    if plan is None:
        return cast(DatasetT, encoded.kept())
    return cast(DatasetT, _packed(encoded, plan, type(ds), options))


def encode_sft(
    ds: SFTDataset,
    tokenizer: Any,
    spec: SFTSpec,
    template: str | ChatTemplate | None = None,
    options: RunOptions | None = None,
) -> Encoded:
    """Every row as tokens and facts, by one cached map."""
    options = options or RunOptions()
    function = encoder_of(ds, tokenizer, spec, template)
    encoded = ds.map(
        function,
        with_indices=True,
        batch_size=options.batch_size,
        remove_columns=ds.column_names,
        desc="Tokenizing",
        **options.of_map(),
    )
    facts = Facts.of(encoded.select_columns(list(FACTS)).with_format("arrow")[:])
    return Encoded(function, encoded, facts)


def encoder_of(
    ds: SFTDataset, tokenizer: Any, spec: SFTSpec, template: str | ChatTemplate | None = None
) -> EncodeRows:
    """The function that makes tokens of this dataset's rows."""
    shape = shape_of(ds.column_names)
    if shape == "preference" and (spec.packing or spec.truncation == "split" or spec.columns):
        raise BadArgument("the two sides of a preference are not packed, split, or given other columns")
    if not len(ds):
        raise ChatError("the dataset has no rows")
    reader = reader_of(tokenizer, spec, shape, is_chat=not _holds_texts(ds, shape), template=template)
    return EncodeRows(spec, reader, tokenizer, add_special_tokens=reader.template is None)


def find_problems(
    ds: SFTDataset, tokenizer: Any, reader: Reader, options: RunOptions
) -> Iterator[tuple[int, list[str]]]:
    """(row, what of it never reached its text and which control tokens stand in it), for every chat."""
    if reader.template is None:
        return
    found = ds.map(
        FindTraces(reader, tuple(tokenizer.all_special_tokens)),
        with_indices=True,
        batch_size=options.batch_size,
        remove_columns=ds.column_names,
        desc="Looking for traces",
        **options.of_map(),
    )
    for batch in found.with_format("arrow").iter(10_000):
        yield from zip(batch["row"].to_pylist(), batch["problems"].to_pylist(), strict=True)


def _holds_texts(ds: SFTDataset, shape: Shape) -> bool:
    """Whether the columns are plain texts; messages may be JSON text, and are chats all the same."""
    schema = ds.with_format("arrow")[:1].schema
    types = [schema.field(name).type for name in COLUMNS[shape] if name in schema.names]
    return shape != "messages" and any(pa.types.is_string(t) or pa.types.is_large_string(t) for t in types)


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
