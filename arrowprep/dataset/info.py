"""What is known of a dataset beside its rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from arrowprep.dataset.features import Features


class NamedSplit(str):
    """The name of a split: a text, under the name that scripts know it by."""

    __slots__ = ()


class Split(NamedSplit):
    """Names that most splits have."""

    __slots__ = ()

    TRAIN = NamedSplit("train")
    VALIDATION = NamedSplit("validation")
    TEST = NamedSplit("test")
    ALL = NamedSplit("all")


@dataclass(frozen=True)
class DatasetInfo:
    """What `ds.info` tells. Only the texts are kept; the rest is taken from the dataset when asked.

    dataset_size: bytes of the Arrow files, or of the rows where they are in memory
    """

    description: str = ""
    citation: str = ""
    homepage: str = ""
    license: str = ""
    features: Features | None = None
    builder_name: str | None = None
    dataset_name: str | None = None
    config_name: str | None = None
    version: str | None = None
    splits: Mapping[str, Any] | None = None
    download_checksums: Mapping[str, Any] | None = None
    download_size: int | None = None
    dataset_size: int | None = None
    size_in_bytes: int | None = None
    num_rows: int | None = None
    split: str | None = None

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> DatasetInfo:
        """Of the facts in a saved folder, or a schema's metadata; unknown ones are left out."""
        known = {item.name for item in fields(cls)}
        told = {name: value for name, value in facts.items() if name in known and value is not None}
        if isinstance(written := told.get("features"), dict):
            told["features"] = Features.from_dict(written)
        return cls(**told)

    def told(self) -> dict[str, Any]:
        """What somebody wrote, for a saved folder: no features, no counts."""
        counted = {"features", "num_rows", "split", "dataset_size", "size_in_bytes"}
        facts = {item.name: getattr(self, item.name) for item in fields(self) if item.name not in counted}
        return {name: value for name, value in facts.items() if value not in (None, "")}


def merged(infos: Iterable[DatasetInfo]) -> DatasetInfo:
    """Of datasets put together: each different text once, as paragraphs."""
    found = list(infos)

    def together(name: str) -> str:
        return "\n\n".join(dict.fromkeys(text for info in found if (text := getattr(info, name).strip())))

    return DatasetInfo(
        together("description"), together("citation"), together("homepage"), together("license")
    )
