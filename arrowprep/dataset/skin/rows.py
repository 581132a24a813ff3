"""Choosing and ordering rows; no data is copied."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from arrowprep.dataset import verbs
from arrowprep.dataset.fingerprint import combine, fingerprint_of
from arrowprep.dataset.skin.held import Held
from arrowprep.dataset.verbs.spec import names_of
from arrowprep.errors import BadArgument

if TYPE_CHECKING:
    from typing_extensions import Self

    from arrowprep.dataset.dataset import Dataset
    from arrowprep.dataset.splits import DatasetDict


class ChoosesRows(Held):
    """Verbs that select or reorder."""

    def select(
        self,
        indices: Any,
        keep_in_memory: bool = False,
        indices_cache_file_name: str | os.PathLike[str] | None = None,
        writer_batch_size: int | None = 1000,
        new_fingerprint: str | None = None,
    ) -> Self:
        """The rows of a slice, range, mask or collection of row numbers; negative ones from the end.

        indices_cache_file_name: a file for the row numbers, as `from_file` reads it; here and of other verbs
        keep_in_memory, writer_batch_size: taken, and change nothing; here and of other verbs
        """
        selected = self._with(verbs.rows.select(self._view, indices, self._cache))._called(new_fingerprint)
        return selected._numbered(indices_cache_file_name)

    def skip(self, n: int) -> Self:
        """All rows but the first n."""
        return self.select(range(min(n, self._view.num_rows), self._view.num_rows))

    def take(self, n: int) -> Self:
        """The first n rows, or all when there are fewer."""
        return self.select(range(min(n, self._view.num_rows)))

    def repeat(self, num_times: int) -> Self:
        """All rows, num_times over; none for 0 and below."""
        if num_times is None:
            raise BadArgument("only a stream can be repeated for ever; num_times must be a number")
        if num_times <= 0:
            return self.select([])
        return self._with(verbs.combine.stack([self._view] * num_times)) if num_times > 1 else self._with()

    def add_item(self, item: Mapping[str, Any], new_fingerprint: str | None = None) -> Self:
        """One row more at the end, in memory; columns that either side lacks are null there.

        A value takes the type of its column where it can without loss; else the column is widened.
        """
        from arrowprep.dataset.construct import row_like

        row = row_like(self._view.features, item)
        return self._with(verbs.combine.appended(self._view, row))._called(new_fingerprint)

    def shard(
        self,
        num_shards: int,
        index: int,
        contiguous: bool = True,
        keep_in_memory: bool = False,
        indices_cache_file_name: str | os.PathLike[str] | None = None,
        writer_batch_size: int | None = 1000,
    ) -> Self:
        """Shard `index` of `num_shards`: neighbouring rows, or every num_shards-th row."""
        shard = self._with(verbs.rows.select_shard(self._view, num_shards, index, contiguous))
        return shard._numbered(indices_cache_file_name)

    def shuffle(
        self,
        seed: int | None = None,
        generator: np.random.Generator | None = None,
        keep_in_memory: bool = False,
        load_from_cache_file: bool | None = None,
        indices_cache_file_name: str | os.PathLike[str] | None = None,
        writer_batch_size: int | None = 1000,
        new_fingerprint: str | None = None,
    ) -> Self:
        """All rows in an order drawn by NumPy's default generator; equal seeds give equal orders."""
        drawn = verbs.rows.generator_of(seed, generator)
        shuffled = verbs.rows.shuffle(self._view, drawn, self._cache, self._reuse(load_from_cache_file))
        named = self._with(shuffled)._called(new_fingerprint)
        return named._numbered(indices_cache_file_name)

    def sort(
        self,
        column_names: str | Sequence[str],
        reverse: bool | Sequence[bool] = False,
        null_placement: str = "at_end",
        keep_in_memory: bool = False,
        load_from_cache_file: bool | None = None,
        indices_cache_file_name: str | os.PathLike[str] | None = None,
        writer_batch_size: int | None = 1000,
        new_fingerprint: str | None = None,
    ) -> Self:
        """Rows ordered by one or more columns; equal rows keep their order."""
        columns = list(names_of(column_names) or ())
        down = [reverse] * len(columns) if isinstance(reverse, bool) else list(reverse)
        if len(down) != len(columns):
            raise BadArgument(f"reverse has {len(down)} entries for {len(columns)} columns")
        places = {"at_end": False, "last": False, "at_start": True, "first": True}
        if null_placement not in places:
            raise BadArgument(f"null_placement {null_placement!r} is none of {', '.join(places)}")
        rows = verbs.rows.sort(self._view, columns, down, places[null_placement], self._cache)
        return self._with(rows)._called(new_fingerprint)._numbered(indices_cache_file_name)

    def train_test_split(
        self,
        test_size: float | int | None = None,
        train_size: float | int | None = None,
        shuffle: bool = True,
        stratify_by_column: str | None = None,
        seed: int | None = None,
        generator: np.random.Generator | None = None,
        keep_in_memory: bool = False,
        load_from_cache_file: bool | None = None,
        train_indices_cache_file_name: str | os.PathLike[str] | None = None,
        test_indices_cache_file_name: str | os.PathLike[str] | None = None,
        writer_batch_size: int | None = 1000,
        train_new_fingerprint: str | None = None,
        test_new_fingerprint: str | None = None,
    ) -> DatasetDict:
        """Two datasets, "train" and "test", of rows drawn without replacement; a quarter is the test.

        stratify_by_column: a ClassLabel whose classes have the same share in both
        """
        from arrowprep.dataset.splits import DatasetDict

        train, test = verbs.rows.split_sizes(self._view.num_rows, test_size, train_size)
        drawn = verbs.rows.generator_of(seed, generator) if shuffle else None
        drawn_name = None if drawn is None else fingerprint_of(drawn)
        if stratify_by_column is None:
            drawn_rows = verbs.rows.split_rows(self._view.num_rows, train, test, drawn)
        else:
            drawn_rows = verbs.stratify.stratified_rows(self._view, stratify_by_column, train, test, drawn)
        chosen = dict(zip(("train", "test"), drawn_rows, strict=True))
        note = {"operation": "train_test_split", "parent": self._view.fingerprint}
        files = {"train": train_indices_cache_file_name, "test": test_indices_cache_file_name}
        splits = DatasetDict()
        for split, rows in chosen.items():
            by = () if stratify_by_column is None else (stratify_by_column,)
            name = combine("train_test_split", self._view.fingerprint, split, train, test, drawn_name, *by)
            part = self._with(self._view.select(verbs.rows.stored(rows, name, self._cache, note), name))
            given = train_new_fingerprint if split == "train" else test_new_fingerprint
            part._numbered(files[split])
            splits[split] = cast("Dataset", part._called(given))
        return splits

    def unique(self, column: str) -> list[Any]:
        """The distinct values of a column."""
        return list(verbs.rows.unique(self._view, column).to_pylist())

    def value_counts(self, column: str) -> dict[Any, int]:
        """How many rows hold each value of a column, the most frequent first; null is None."""
        return verbs.rows.value_counts(self._view, column)
