"""A split into train and test that keeps the share of each class."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from arrowprep.dataset.feature_kinds import ClassLabel
from arrowprep.dataset.indices import RowArray, Rows, Span, simplest
from arrowprep.dataset.view import View
from arrowprep.errors import BadArgument


def stratified_rows(
    view: View, column: str, train: int, test: int, generator: np.random.Generator | None
) -> tuple[Rows, Rows]:
    """Rows of the train and the test split, with the same share of each class of a ClassLabel in both."""
    view.check([column])
    if not isinstance(view.features[column], ClassLabel):
        raise BadArgument(
            f"stratify_by_column needs a ClassLabel, and {column!r} holds {view.features[column]!r}; "
            "class_encode_column makes one",
            column=column,
        )
    if generator is None:
        raise BadArgument("a split that keeps the order (shuffle=False) cannot be stratified")
    labels = view.read(Span(0, view.num_rows), [column]).column(column)
    if labels.null_count:
        raise BadArgument(f"column {column!r} has rows without a class; filter them first", column=column)
    trained, tested = drawn_by_class(labels.to_numpy(), train, test, generator)
    return simplest(trained), simplest(tested)


def drawn_by_class(
    labels: RowArray, train: int, test: int, generator: np.random.Generator
) -> tuple[RowArray, RowArray]:
    """Rows of the train and the test split, each class in both as nearly as whole rows allow.

    labels: (n,) the class of each row
    The generator is drawn from as scikit-learn's StratifiedShuffleSplit does, so seeds mean what they mean
    there and in `datasets`.
    """
    classes, numbers = np.unique(labels, return_inverse=True)
    counts = np.bincount(numbers)
    if counts.min() < 2:
        lonely = classes[counts.argmin()]
        raise BadArgument(
            f"class {lonely} has one row only, which cannot be in both splits", label=int(lonely)
        )
    for split, rows in (("train", train), ("test", test)):
        if rows < len(classes):
            raise BadArgument(f"{split} has {rows} rows for {len(classes)} classes, which is too few")
    in_train = shares(counts, train, generator)
    in_test = shares(counts - in_train, test, generator)
    by_class = np.split(np.argsort(numbers, kind="stable"), np.cumsum(counts)[:-1])
    trained, tested = [], []
    for rows_of_class, first, second in zip(by_class, in_train, in_test, strict=True):
        drawn = rows_of_class[generator.permutation(len(rows_of_class))]
        trained.append(drawn[:first])
        tested.append(drawn[first : first + second])
    return generator.permutation(np.concatenate(trained)), generator.permutation(np.concatenate(tested))


def shares(counts: RowArray, total: int, generator: np.random.Generator) -> RowArray:
    """How many of `total` draws fall to each class: the most likely outcome, ties broken by chance.

    Rounds down, then gives what is left to the largest remainders.
    """
    exact: npt.NDArray[np.float64] = total * counts / counts.sum()
    found = np.floor(exact)
    missing = int(total - found.sum())
    for remainder in np.sort(np.unique(exact - found))[::-1]:
        if missing <= 0:
            break
        tied = np.flatnonzero(exact - np.floor(exact) == remainder)
        chosen = generator.choice(tied, size=min(len(tied), missing), replace=False)
        found[chosen] += 1
        missing -= len(chosen)
    return found.astype(np.int64)
