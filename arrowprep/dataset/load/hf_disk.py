"""Folders that `save_to_disk` wrote, ours or that of `datasets`: mapped where they are."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from arrowprep.dataset.features import Features
from arrowprep.dataset.storage.ipc import open_mapped, schema_of
from arrowprep.errors import BadArgument, MissingFile, UnreadableFile

_END_OF_STREAM = b"\xff\xff\xff\xff\x00\x00\x00\x00"


@dataclass(frozen=True)
class Saved:
    """What a saved folder holds.

    parts: Arrow streams of one schema
    format: type, columns, format_kwargs and output_all_columns, as they were set
    info: dataset_info.json without its features
    """

    parts: tuple[Path, ...]
    schema: pa.Schema
    features: Features
    fingerprint: str
    num_rows: int
    split: str | None
    format: Mapping[str, Any]
    info: Mapping[str, Any]


def read_hf_disk(folder: str | os.PathLike[str]) -> Saved:
    """One saved dataset. Raises MissingFile or UnreadableFile, which say what is amiss."""
    target = Path(folder).expanduser()
    state = _read(target, "state.json")
    info = _read(target, "dataset_info.json")
    try:
        parts = tuple(target / file["filename"] for file in state["_data_files"])
        fingerprint = str(state["_fingerprint"])
    except (KeyError, TypeError) as error:
        raise UnreadableFile(f"{target / 'state.json'} lacks {error}", path=target / "state.json") from error
    for part in parts:
        _check_end(part)
    schema = schema_of(parts[0]) if parts else pa.schema([])
    return Saved(
        parts=parts,
        schema=schema,
        features=_features(info, schema),
        fingerprint=fingerprint,
        num_rows=sum(open_mapped(part).num_rows for part in parts),
        split=state.get("_split"),
        format={
            "type": state.get("_format_type"),
            "columns": state.get("_format_columns"),
            "format_kwargs": state.get("_format_kwargs") or {},
            "output_all_columns": bool(state.get("_output_all_columns")),
        },
        info={name: value for name, value in info.items() if name != "features"},
    )


def saved_splits(folder: str | os.PathLike[str]) -> dict[str, Path] | None:
    """The folders of the splits, where several were saved; None for a single dataset's folder."""
    target = Path(folder).expanduser()
    if not (target / "dataset_dict.json").is_file():
        return None
    return {split: target / split for split in _read(target, "dataset_dict.json")["splits"]}


def _read(folder: Path, name: str) -> dict[str, Any]:
    path = folder / name
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise MissingFile(f"{folder} was not written by save_to_disk: it has no {name}", path=path) from error
    except ValueError as error:
        raise UnreadableFile(f"{path} is not JSON: {error}", path=path) from error
    if not isinstance(found, dict):
        raise UnreadableFile(f"{path} holds no JSON object", path=path)
    return found


def _check_end(part: Path) -> None:
    """A stream that lacks its end was cut, perhaps between two batches, where nothing else would tell."""
    try:
        with part.open("rb") as file:
            file.seek(-min(len(_END_OF_STREAM), part.stat().st_size), os.SEEK_END)
            end = file.read()
    except OSError as error:
        raise MissingFile(f"{part} does not exist, though state.json names it", path=part) from error
    if end != _END_OF_STREAM:
        raise UnreadableFile(f"{part} is truncated: it has no end of stream", path=part)


def _features(info: Mapping[str, Any], schema: pa.Schema) -> Features:
    """Of dataset_info.json where they agree with the schema, else of the schema."""
    try:
        features = Features.from_dict(info["features"])
    except (KeyError, TypeError, AttributeError, BadArgument):
        return Features.from_arrow_schema(schema)
    return features if features.arrow_schema.equals(schema) else Features.from_arrow_schema(schema)
