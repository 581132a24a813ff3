"""How a dataset shows its rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from arrowprep.dataset.formats import canonical_name
from arrowprep.dataset.formatted import TRANSFORM, FormatSpec
from arrowprep.dataset.skin.held import Held
from arrowprep.dataset.verbs.spec import names_of

if TYPE_CHECKING:
    from typing_extensions import Self


class Formats(Held):
    """`set_` methods act in place, `with_` methods give a new dataset; neither copies data."""

    def set_format(
        self,
        type: str | None = None,
        columns: Sequence[str] | None = None,
        output_all_columns: bool = False,
        **format_kwargs: Any,
    ) -> None:
        """Set how rows come out, in place.

        type: None or "python", "numpy", "arrow", "pandas", "polars", "torch", "jax", "tensorflow"
        columns: the only ones to come out; with output_all_columns the others do as Python objects
        format_kwargs: of the format, such as dtype
        """
        covered = None if columns is None else tuple(self._view.check(names_of(columns) or ()))
        options = {**format_kwargs.pop("format_kwargs", {}), **format_kwargs}  # as ds.format has them
        if type == TRANSFORM:
            return self.set_transform(options.get("transform"), columns, output_all_columns)
        name = canonical_name(type)
        self._format = FormatSpec(name, covered, output_all_columns, options)
        self._format.format  # noqa: B018  unknown options are refused here, not at the first read
        return None

    def with_format(
        self,
        type: str | None = None,
        columns: Sequence[str] | None = None,
        output_all_columns: bool = False,
        **format_kwargs: Any,
    ) -> Self:
        """The same dataset, shown in another format; nothing is copied."""
        dataset = self._with()
        dataset.set_format(type, columns, output_all_columns, **format_kwargs)
        return dataset

    def reset_format(self) -> None:
        """Show Python objects again."""
        self.set_format()

    @contextmanager
    def formatted_as(
        self,
        type: str | None = None,
        columns: Sequence[str] | None = None,
        output_all_columns: bool = False,
        **format_kwargs: Any,
    ) -> Iterator[None]:
        """`set_format` for the length of a with block."""
        before = self._format
        try:
            self.set_format(type, columns, output_all_columns, **format_kwargs)
            yield
        finally:
            self._format = before

    def set_transform(
        self,
        transform: Callable[[dict[str, Any]], Mapping[str, Any]] | None,
        columns: Sequence[str] | None = None,
        output_all_columns: bool = False,
    ) -> None:
        """Set a function from batch dict to batch dict that rows pass as they are read, in place."""
        if transform is None:
            return self.reset_format()
        covered = None if columns is None else tuple(self._view.check(names_of(columns) or ()))
        self._format = FormatSpec(TRANSFORM, covered, output_all_columns, transform=transform)
        return None

    def with_transform(
        self,
        transform: Callable[[dict[str, Any]], Mapping[str, Any]] | None,
        columns: Sequence[str] | None = None,
        output_all_columns: bool = False,
    ) -> Self:
        """The same dataset, whose rows pass a function as they are read."""
        dataset = self._with()
        dataset.set_transform(transform, columns, output_all_columns)
        return dataset
