"""Choosing, naming and adding columns."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from arrowprep.dataset import verbs
from arrowprep.dataset.feature_kinds import ClassLabel
from arrowprep.dataset.features import Features
from arrowprep.dataset.fingerprint import combine, fingerprint_of
from arrowprep.dataset.formatted import FormatSpec
from arrowprep.dataset.skin.held import Held
from arrowprep.dataset.storage.backing import Memory
from arrowprep.dataset.verbs.spec import names_of
from arrowprep.dataset.view import View
from arrowprep.errors import BadArgument, LengthMismatch

if TYPE_CHECKING:
    from typing_extensions import Self


class ChangesColumns(Held):
    """Verbs on columns; data that is there is not copied."""

    def remove_columns(self, column_names: str | Sequence[str], new_fingerprint: str | None = None) -> Self:
        """Without these columns."""
        gone = self._view.check(names_of(column_names) or ())
        return self.select_columns([n for n in self._view.column_names if n not in gone], new_fingerprint)

    def select_columns(self, column_names: str | Sequence[str], new_fingerprint: str | None = None) -> Self:
        """Only these columns, in this order."""
        names = self._view.check(names_of(column_names) or ())
        view = self._view.keep(names, combine("select_columns", self._view.fingerprint, tuple(names)))
        covered = self._format.columns
        kept = None if covered is None else tuple(name for name in covered if name in names)
        return self._with(view, replace(self._format, columns=kept))._called(new_fingerprint)

    def rename_column(
        self, original_column_name: str, new_column_name: str, new_fingerprint: str | None = None
    ) -> Self:
        """One column under another name, in its place."""
        return self.rename_columns({original_column_name: new_column_name}, new_fingerprint)

    def rename_columns(self, column_mapping: Mapping[str, str], new_fingerprint: str | None = None) -> Self:
        """Columns under other names, in their places."""
        self._view.check(column_mapping)
        names = [column_mapping.get(name, name) for name in self._view.column_names]
        if not all(names):
            raise BadArgument("a column needs a name that is not empty")
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise BadArgument(f"renaming would make more than one column {', '.join(map(repr, twice))}")
        view = self._view.rename(
            column_mapping, combine("rename_columns", self._view.fingerprint, dict(column_mapping))
        )
        covered = self._format.columns
        kept = None if covered is None else tuple(column_mapping.get(name, name) for name in covered)
        return self._with(view, replace(self._format, columns=kept))._called(new_fingerprint)

    def add_column(
        self, name: str, column: Any, new_fingerprint: str | None = None, feature: Any = None
    ) -> Self:
        """One more column: one value a row, or a pyarrow expression over the others.

        `ds.add_column("length", pc.utf8_length(pc.field("text")))` is evaluated by Arrow, and cached.
        """
        if name in self._view.columns:
            raise BadArgument(f"there is a column {name!r} already; remove or rename it first", column=name)
        if verbs.expressions.is_expression(column):
            features = None if feature is None else {name: feature}
            return self._evaluated({name: column}, features)._called(new_fingerprint)
        from arrowprep.dataset.construct import table_of_columns

        table = table_of_columns({name: column}, None if feature is None else Features({name: feature}))
        if table.num_rows != self._view.num_rows:
            raise LengthMismatch(
                f"column {name!r} has {table.num_rows} values for {self._view.num_rows} rows"
            )
        new = combine("add_column", self._view.fingerprint, name, fingerprint_of(table))
        return self._with(self._view.beside(View.over(Memory(table), new), new))._called(new_fingerprint)

    def with_columns(self, columns: Mapping[str, Any] | None = None, /, **more: Any) -> Self:
        """New columns, or others in the place of those of the same name, out of pyarrow expressions.

        `ds.with_columns(size=pc.utf8_length(pc.field("text")))` is evaluated by Arrow, row by row, cached.
        """
        wanted = {**(columns or {}), **more}
        for name, expression in wanted.items():
            if not verbs.expressions.is_expression(expression):
                raise BadArgument(
                    f"with_columns takes pyarrow expressions, and {name!r} is a {type(expression).__name__}; "
                    "a column of values goes into add_column",
                    column=name,
                )
        return self._evaluated(wanted, None) if wanted else self._with()

    def _evaluated(self, columns: Mapping[str, Any], features: Mapping[str, Any] | None) -> Self:
        plain = self._with(format=FormatSpec())
        made = plain.map(verbs.expressions.Evaluated(columns), batched=True, features=features)  # type: ignore[attr-defined]
        return self._with(made._view, self._format_of(made._view))  # type: ignore[attr-defined]

    def cast(
        self,
        features: Features | Mapping[str, Any],
        batch_size: int | None = 1000,
        keep_in_memory: bool = False,
        load_from_cache_file: bool | None = None,
        cache_file_name: str | os.PathLike[str] | None = None,
        writer_batch_size: int | None = 1000,
        num_proc: int | None = None,
    ) -> Self:
        """The columns as other types; `features` names them all. Raises where a value does not fit.

        The other arguments are those of `map`.
        """
        how = {
            "batch_size": batch_size,
            "keep_in_memory": keep_in_memory,
            "load_from_cache_file": load_from_cache_file,
            "cache_file_name": cache_file_name,
            "num_proc": num_proc,
        }
        wanted = Features(features)
        verbs.retype.only_known(list(wanted), self._view.column_names)
        changed = {n: f for n, f in wanted.items() if f != self._view.features[n]}
        cast = (
            self._retyped(verbs.retype.Cast(Features(changed)), wanted, "Casting", **how)
            if changed
            else self._with()
        )
        return cast.select_columns(list(wanted)) if list(wanted) != self._view.column_names else cast

    def cast_column(self, column: str, feature: Any, new_fingerprint: str | None = None) -> Self:
        """One column as another type."""
        self._view.check([column])
        return self.cast({**self._view.features, column: feature})._called(new_fingerprint)

    def class_encode_column(self, column: str, include_nulls: bool = False) -> Self:
        """A column of values as a ClassLabel of their sorted texts; null is a class only on request."""
        self._view.check([column])
        feature = self._view.features[column]
        label = verbs.retype.label_feature(
            verbs.rows.unique(self._view, column), include_nulls, feature, column
        )
        encode = verbs.retype.Labels(column, tuple(label.names or ()), include_nulls)
        return self._retyped(encode, {**self._view.features, column: label}, "Encoding labels")

    def align_labels_with_mapping(self, label2id: Mapping[str, int], label_column: str) -> Self:
        """A ClassLabel column with the numbers that a model uses for its names."""
        self._view.check([label_column])
        feature = self._view.features[label_column]
        if not isinstance(feature, ClassLabel):
            raise BadArgument(f"column {label_column!r} holds {feature!r}, not a ClassLabel")
        label, numbers = verbs.retype.renumbering(feature, label2id)
        renumber = verbs.retype.Renumbered(label_column, numbers)
        return self._retyped(renumber, {**self._view.features, label_column: label}, "Aligning labels")

    def flatten(self, new_fingerprint: str | None = None, max_depth: int = 16) -> Self:
        """Struct columns as one column a field, named `parent.child`; no data is copied."""
        name = combine("flatten", self._view.fingerprint, max_depth)
        flat = self._with(self._view.flattened(max_depth, name), replace(self._format, columns=None))
        return flat._called(new_fingerprint)

    def _retyped(self, function: Any, features: Mapping[str, Any], desc: str, **how: Any) -> Self:
        made = self.map(function, batched=True, features=features, desc=desc, **how)  # type: ignore[attr-defined]
        return self._with(made._view)
