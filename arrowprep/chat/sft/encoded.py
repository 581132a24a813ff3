"""All rows of a dataset as tokens and facts, by one cached map; and what of them never reached the text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import pyarrow as pa

from arrowprep.chat.packing import Packing, pack
from arrowprep.chat.sft.encode import EncodeRows
from arrowprep.chat.sft.examples import COLUMNS, Reader
from arrowprep.chat.sft.facts import FACTS, Facts
from arrowprep.chat.sft.spec import SFTSpec, Shape, shape_of
from arrowprep.chat.sft.tokenizer import controls_of, reader_of
from arrowprep.chat.sft.traces import FindTraces
from arrowprep.chat.template import ChatTemplate
from arrowprep.errors import BadArgument, ChatError

__all__ = ["Encoded", "RunOptions", "SFTDataset", "encode_sft", "encoder_of", "find_problems"]


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

    spec: SFTSpec
    function: EncodeRows
    dataset: Any
    facts: Facts

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
    return Encoded(spec, function, encoded, facts)


def encoder_of(
    ds: SFTDataset, tokenizer: Any, spec: SFTSpec, template: str | ChatTemplate | None = None
) -> EncodeRows:
    """The function that makes tokens of this dataset's rows."""
    shape = shape_of(ds.column_names)
    if shape == "preference" and (spec.packing or spec.truncation == "split" or spec.columns):
        raise BadArgument("the two sides of a preference are not packed, split, or given other columns")
    if not len(ds):
        raise ChatError("the dataset has no rows")
    spec = spec.encoding
    reader = reader_of(tokenizer, spec, shape, is_chat=not _holds_texts(ds, shape), template=template)
    return EncodeRows(
        spec,
        reader,
        tokenizer,
        add_special_tokens=reader.template is None,
        expects_bos=_puts_bos_first(tokenizer),
    )


def _puts_bos_first(tokenizer: Any) -> bool:
    first = tokenizer("a", verbose=False)["input_ids"][:1]
    return tokenizer.bos_token_id is not None and first == [tokenizer.bos_token_id]


def find_problems(
    ds: SFTDataset, tokenizer: Any, reader: Reader, options: RunOptions
) -> Iterator[tuple[int, list[str], list[str]]]:
    """(row, what never reached its text and control tokens in it, what the template adds), for every chat."""
    if reader.template is None:
        return
    controls = None if reader.controls else controls_of(tokenizer, reader.template)
    found = ds.map(
        FindTraces(reader, controls),
        with_indices=True,
        batch_size=options.batch_size,
        remove_columns=ds.column_names,
        desc="Looking for traces",
        **options.of_map(),
    )
    for batch in found.with_format("arrow").iter(10_000):
        yield from zip(*(batch[name].to_pylist() for name in ("row", "problems", "added")), strict=True)


def _holds_texts(ds: SFTDataset, shape: Shape) -> bool:
    """Whether the columns are plain texts; messages may be JSON text, and are chats all the same."""
    schema = ds.with_format("arrow")[:1].schema
    types = [schema.field(name).type for name in COLUMNS[shape] if name in schema.names]
    return shape != "messages" and any(pa.types.is_string(t) or pa.types.is_large_string(t) for t in types)
