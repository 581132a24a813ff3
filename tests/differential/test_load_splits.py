"""Split expressions name the same rows as in `datasets`."""

from __future__ import annotations

import pytest

from arrowprep.dataset.load.split_expressions import rows_of_expression

datasets = pytest.importorskip(
    "datasets", reason="compares with the datasets library, which is not installed"
)


@pytest.mark.parametrize("rows", [0, 1, 7, 95, 1234])
def test_every_percentage_is_rounded_alike(rows: int) -> None:
    for start in (*range(-98, 101, 7), ""):
        for stop in (*range(-100, 101, 5), ""):
            if (start, stop) == ("", ""):
                continue
            spec = f"train[{start}{'%' * (start != '')}:{stop}{'%' * (stop != '')}]"
            [theirs] = datasets.ReadInstruction.from_spec(spec).to_absolute({"train": rows})
            [(_, first, last)] = rows_of_expression(spec, {"train": rows})
            assert range(first, last) == range(theirs.from_, theirs.to), spec
