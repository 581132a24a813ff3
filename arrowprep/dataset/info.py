"""What is known of a dataset beside its rows."""

from __future__ import annotations

from dataclasses import dataclass

from arrowprep.dataset.features import Features


@dataclass(frozen=True)
class DatasetInfo:
    """What `ds.info` tells.

    dataset_size: bytes of the Arrow files, or of the rows where they are in memory
    """

    features: Features
    num_rows: int
    dataset_size: int
    split: str | None = None
