"""What a Dataset holds: a view, a format, and where its results go."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from arrowprep import config
from arrowprep.dataset.formatted import FormatSpec
from arrowprep.dataset.indices import Rows, Span
from arrowprep.dataset.info import DatasetInfo
from arrowprep.dataset.storage.cache import Cache
from arrowprep.dataset.storage.ipc import write_aside
from arrowprep.dataset.storage.scratch import cache_root
from arrowprep.dataset.view import View

if TYPE_CHECKING:
    from typing_extensions import Self


class Held:
    """The state that all methods stand on; the view is never changed, the format may be."""

    _view: View
    _format: FormatSpec
    _split: str | None
    _cache_dir: Path | None
    _info: DatasetInfo

    def _set(
        self,
        view: View,
        format: FormatSpec,
        split: str | None,
        cache_dir: Path | None,
        info: DatasetInfo | None = None,
    ) -> None:
        self._view, self._format, self._split, self._cache_dir = view, format, split, cache_dir
        self._info = DatasetInfo() if info is None else info.copy()  # texts may be set there

    @classmethod
    def _over(
        cls,
        view: View,
        *,
        split: str | None = None,
        cache_dir: Path | None = None,
        info: DatasetInfo | None = None,
    ) -> Self:
        dataset = cls.__new__(cls)
        dataset._set(view, FormatSpec(), None if split is None else str(split), cache_dir, info)
        return dataset

    def _with(self, view: View | None = None, format: FormatSpec | None = None) -> Self:
        """This dataset with another view or format."""
        dataset = type(self).__new__(type(self))
        dataset._set(view or self._view, format or self._format, self._split, self._cache_dir, self._info)
        return dataset

    def _called(self, new_fingerprint: str | None) -> Self:
        """This dataset under a name that the caller gives it, or under its own."""
        if new_fingerprint is None:
            return self
        self._cache.path(new_fingerprint)  # refuses what no file can be called
        return self._with(replace(self._view, fingerprint=new_fingerprint))

    def _numbered(self, path: str | os.PathLike[str] | None) -> Self:
        """This dataset, its row numbers also written to a file, where one is asked for and there are some."""
        numbers = None if path is None else self._indices  # type: ignore[attr-defined]
        if path is not None and numbers is not None:
            with write_aside(Path(path), numbers.schema) as writer:
                writer.write_table(numbers)
        return self

    @property
    def dataset_size(self) -> int:
        """Bytes of the Arrow files, or of the rows where they are in memory."""
        files, everything = self._view.files, Span(0, self._view.num_rows)
        return (
            sum(path.stat().st_size for path in files) if files else int(self._view.read(everything).nbytes)
        )

    def __getstate__(self) -> dict[str, Any]:
        """To a process being started go names of files, never rows, so that a DataLoader copies none."""
        processes = sys.modules.get("multiprocessing.context")  # not loaded: nobody starts one
        if processes is None or processes.get_spawning_popen() is None:
            return self.__dict__
        return {**self.__dict__, "_view": self._view.portable()}

    def _read(self, rows: Rows) -> pa.Table:
        return self._view.read(rows, self._format.covered(self._view.column_names))

    @property
    def _cache(self) -> Cache:
        return Cache(cache_root(self._cache_dir))

    def _reuse(self, load_from_cache_file: bool | None) -> bool:
        return config.settings().caching if load_from_cache_file is None else load_from_cache_file
