"""What an IterableDataset holds: a stage, a format, and its place in the pass that is going on."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from multiprocessing.context import get_spawning_popen
from multiprocessing.sharedctypes import RawValue
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from arrowprep.dataset.features import Features
from arrowprep.dataset.formatted import FormatSpec
from arrowprep.dataset.info import DatasetInfo, NamedSplit, Told
from arrowprep.dataset.stream.base import Cursor, Run, Stage, State
from arrowprep.dataset.stream.places import decode, encode
from arrowprep.errors import BadArgument

if TYPE_CHECKING:
    from typing_extensions import Self


class Streams(Told):
    """Iterating, and keeping the place. The stage never changes; format, epoch and place may."""

    def __init__(
        self,
        stage: Stage,
        *,
        format: FormatSpec | None = None,
        split: str | None = None,
        epoch: int = 0,
        info: DatasetInfo | None = None,
        threads: int = 1,
    ) -> None:
        self._threads = threads  # that decode
        self._stage, self._format, self._split = stage, format or FormatSpec(), split
        self._info = DatasetInfo() if info is None else info.copy()
        self._epoch: Any = RawValue("q", epoch)  # shared, so that workers that live on see `set_epoch`
        self._cursor: Cursor | None = None
        self._start: dict[str, Any] | None = None  # what was loaded, until it is used
        _register_with_torch(type(self))

    def _with(
        self, stage: Stage | None = None, format: FormatSpec | None = None, threads: int | None = None
    ) -> Self:
        return type(self)(
            stage or self._stage,
            format=format or self._format,
            split=self._split,
            epoch=self.epoch,
            info=self._info,
            threads=threads or self._threads,
        )

    def __getstate__(self) -> dict[str, Any]:
        starting = get_spawning_popen() is not None
        epoch = self._epoch if starting else self.epoch
        return {**self.__dict__, "_cursor": None, "_epoch": epoch, "_start": self._begun()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if isinstance(self._epoch, int):
            self._epoch = RawValue("q", self._epoch)

    # -- what it is -------------------------------------------------------------------------------

    @property
    def features(self) -> Features | None:
        """Column names and what they hold; None where only reading would tell."""
        known = self._stage.features
        return None if known is None else known.copy()

    @property
    def column_names(self) -> list[str] | None:
        """The columns, in order; None where only reading would tell."""
        return None if self._stage.features is None else list(self._stage.features)

    @property
    def num_columns(self) -> int | None:
        """How many columns there are; None where only reading would tell."""
        return None if self._stage.features is None else len(self._stage.features)

    @property
    def info(self) -> DatasetInfo:
        """What is known beside the rows."""
        self._info.features = self.features
        return self._info

    @property
    def dataset_size(self) -> int | None:
        """What was written down about it: a stream is not measured."""
        return self._info.dataset_size

    @property
    def num_shards(self) -> int:
        """How many parts can be read at the same time."""
        return self._stage.num_shards

    n_shards = num_shards

    @property
    def split(self) -> NamedSplit | None:
        return None if self._split is None else NamedSplit(self._split)

    @property
    def epoch(self) -> int:
        return int(self._epoch.value)

    def set_epoch(self, epoch: int) -> None:
        """Another epoch is another order of what is shuffled or drawn; also in workers that run already."""
        self._epoch.value = epoch

    def __repr__(self) -> str:
        known = self._stage.features
        shards = f"{self.num_shards} shard" + ("s" if self.num_shards > 1 else "")
        head = f"IterableDataset({self._split + ': ' if self._split else ''}{shards}"
        if known is None:
            return head + ")"
        return "\n".join([f"{head}:", *(f"    {name}  {feature!r}" for name, feature in known.items())]) + ")"

    # -- read -------------------------------------------------------------------------------------

    def __iter__(self) -> Iterator[Any]:
        cursor = self._begin()
        while cursor.has_row():
            assert cursor.block is not None
            table, features = self._shown(cursor.block)
            for row in islice(self._rows(table, features), cursor.given, None):
                cursor.given += 1
                yield row

    def _rows(self, table: pa.Table, features: Features) -> Iterator[Any]:
        """The rows as the format shows them; several threads take neighbouring ones."""
        if self._threads == 1 or table.num_rows < 2:
            return self._format.rows(table, features)
        from concurrent.futures import ThreadPoolExecutor

        size = -(-table.num_rows // self._threads)
        parts = [table.slice(start, size) for start in range(0, table.num_rows, size)]
        with ThreadPoolExecutor(self._threads) as threads:
            shown = threads.map(lambda part: list(self._format.rows(part, features)), parts)
            return chain.from_iterable(shown)

    def iter(self, batch_size: int, drop_last_batch: bool = False) -> Iterator[Any]:
        """Batches of rows, as the format shows them."""
        if batch_size < 1:
            raise BadArgument(f"batch_size must be at least 1, not {batch_size}", batch_size=batch_size)
        cursor = self._begin()
        while (table := cursor.take(batch_size)) is not None:
            if drop_last_batch and table.num_rows < batch_size:
                return
            yield self._format.batch(*self._shown(table))

    def _shown(self, table: pa.Table) -> tuple[pa.Table, Features]:
        table = table.select(self._format.covered(table.column_names))
        return table, self._stage.features or Features.from_arrow_schema(table.schema)

    def _begin(self) -> Cursor:
        """A pass over this process's share, from where the loaded place is or the beginning."""
        worker, shards = self._share()
        cursor = Cursor(self._stage.open(Run(self.epoch, worker, f"epoch {self.epoch}"), shards))
        start, self._start = self._start, None
        if start is not None and start["epoch"] == self.epoch and start["place"] is not None:
            if start["shards"] != shards:
                raise BadArgument(
                    f"the state is of a reader of shards {start['shards']}, and this one reads {shards}; "
                    "resume with as many workers as there were"
                )
            cursor.load(start["place"])
        self._cursor = cursor
        return cursor

    def _share(self) -> tuple[int | None, list[int]]:
        """The number of this data loading process, if it is one, and the shards it reads."""
        torch = sys.modules.get("torch.utils.data")
        info = None if torch is None else torch.get_worker_info()
        if info is None:
            return None, list(range(self.num_shards))
        return info.id, list(range(info.id, self.num_shards, info.num_workers))

    # -- its place --------------------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """The place after the row that was given last, as JSON values; exact, whatever the stages are.

        A shuffle buffer puts up to half its rows into it.
        """
        begun = self._begun()
        place: State = begun or {"epoch": self.epoch, "shards": self._share()[1], "place": None}
        return {**place, "place": encode(place["place"])}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Begin the next pass at a place; a pass of another epoch, or after it, begins at the beginning."""
        self._start, self._cursor = {**state_dict, "place": decode(state_dict["place"])}, None

    def _begun(self) -> dict[str, Any] | None:
        if self._cursor is None:
            return self._start
        return {"epoch": self.epoch, "shards": self._share()[1], "place": self._cursor.state()}


class IterableColumn:
    """What `stream["name"]` gives: the values of one column, or of a field within it."""

    def __init__(self, stream: Streams, path: Sequence[str]) -> None:
        self._stream, self._path = stream, tuple(path)

    def __getitem__(self, name: str) -> IterableColumn:
        return IterableColumn(self._stream, (*self._path, name))

    def __iter__(self) -> Iterator[Any]:
        for row in self._stream:
            for name in self._path:
                row = None if row is None else row[name]
            yield row


def _register_with_torch(stream: type) -> None:
    """Tell PyTorch, where it is there, that this is a dataset to be iterated."""
    torch = sys.modules.get("torch.utils.data")
    if torch is not None and not issubclass(stream, torch.IterableDataset):
        torch.IterableDataset.register(stream)
