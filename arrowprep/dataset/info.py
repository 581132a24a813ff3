"""What is known of a dataset beside its rows."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arrowprep.dataset.features import Features
from arrowprep.errors import MissingFile, UnreadableFile

if TYPE_CHECKING:
    from typing_extensions import Self


class NamedSplit(str):
    """The name of a split: a text, under the name that scripts know it by."""

    __slots__ = ()

    def __new__(cls, name: str) -> Self:
        return super().__new__(cls, name)


class Split(NamedSplit):
    """Names that most splits have."""

    __slots__ = ()

    TRAIN = NamedSplit("train")
    VALIDATION = NamedSplit("validation")
    TEST = NamedSplit("test")
    ALL = NamedSplit("all")


@dataclass
class DatasetInfo:
    """What `ds.info` tells; a text that is set there stays with the dataset, and with what is made of it.

    features: Features, or None where they are not known
    supervised_keys, post_processed, post_processing_size, download_checksums: kept for files that have them
    dataset_size: bytes of the Arrow files, or of the rows where they are in memory
    """

    description: str = ""
    citation: str = ""
    homepage: str = ""
    license: str = ""
    features: Any = None
    post_processed: Any = None
    supervised_keys: Any = None
    builder_name: str | None = None
    dataset_name: str | None = None
    config_name: str | None = None
    version: str | None = None
    splits: Any = None
    download_checksums: Mapping[str, Any] | None = None
    download_size: int | None = None
    post_processing_size: int | None = None
    dataset_size: int | None = None
    size_in_bytes: int | None = None
    num_rows: int | None = None
    split: str | None = None

    def __post_init__(self) -> None:
        if self.features is not None and not isinstance(self.features, Features):
            self.features = Features.from_dict(self.features)

    @classmethod
    def from_dict(cls, dataset_info_dict: Mapping[str, Any]) -> DatasetInfo:
        """Of the facts in a saved folder, or a schema's metadata; unknown ones are left out."""
        known = {item.name for item in fields(cls)}
        return cls(**{n: v for n, v in dataset_info_dict.items() if n in known and v is not None})

    @classmethod
    def from_directory(
        cls, dataset_info_dir: str | os.PathLike[str], storage_options: Mapping[str, Any] | None = None
    ) -> DatasetInfo:
        """Of the folder's dataset_info.json. Raises MissingFile and UnreadableFile."""
        from arrowprep.dataset.load.remote import file_system, is_remote

        path = f"{os.fspath(dataset_info_dir)}/{_FILE}"
        try:
            if is_remote(path):
                system, there = file_system(path, storage_options or {})
                text = system.cat_file(there)
            else:
                text = Path(path).expanduser().read_bytes()
            return cls.from_dict(json.loads(text))
        except OSError as error:
            raise MissingFile(f"{path} cannot be read: {error}", path=path) from error
        except (ValueError, AttributeError) as error:
            raise UnreadableFile(f"{path} holds no JSON object: {error}", path=path) from error

    @classmethod
    def from_merge(cls, dataset_infos: Iterable[DatasetInfo | None]) -> DatasetInfo:
        """Of datasets put together: theirs where they agree, else each different text once, as paragraphs."""
        found = [info for info in dataset_infos if info is not None]
        if found and all(info == found[0] for info in found):
            return found[0].copy()

        def together(name: str) -> str:
            return "\n\n".join(dict.fromkeys(text for info in found if (text := getattr(info, name).strip())))

        texts = ("description", "citation", "homepage", "license")
        return cls(**{name: together(name) for name in texts})  # type: ignore[arg-type]

    def write_to_directory(
        self,
        dataset_info_dir: str | os.PathLike[str],
        pretty_print: bool = False,
        storage_options: Mapping[str, Any] | None = None,
    ) -> None:
        """Write dataset_info.json, and the license as a file of its own; a folder or a URL for fsspec."""
        from arrowprep.dataset.save.remote import local_folder

        facts = {item.name: getattr(self, item.name) for item in fields(self)}
        told = {name: fact for name, fact in facts.items() if fact is not None}
        if self.features is not None:
            told["features"] = self.features.to_dict()
        text = json.dumps(told, indent=4 if pretty_print else None)
        with local_folder(dataset_info_dir, storage_options) as folder:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / _FILE).write_text(text, encoding="utf-8")
            if self.license:
                (folder / "LICENSE").write_text(self.license, encoding="utf-8")

    def update(self, other_dataset_info: DatasetInfo, ignore_none: bool = True) -> None:
        """Take what the other knows; with ignore_none=False also that it knows nothing."""
        for name, fact in vars(other_dataset_info.copy()).items():
            if fact is not None or not ignore_none:
                setattr(self, name, fact)

    def copy(self) -> DatasetInfo:
        """The same facts, to be changed without a trace here."""
        return replace(self, features=None if self.features is None else self.features.copy())

    def told(self) -> dict[str, Any]:
        """What somebody wrote, for a saved folder: no features, no counts."""
        counted = {"features", "num_rows", "split", "dataset_size", "size_in_bytes"}
        facts = {item.name: getattr(self, item.name) for item in fields(self) if item.name not in counted}
        return {name: value for name, value in facts.items() if value not in (None, "")}


_FILE = "dataset_info.json"


class Told:
    """The facts of `info` as properties, for what has one."""

    _info: DatasetInfo

    @property
    def description(self) -> str:
        return self._info.description

    @property
    def citation(self) -> str:
        return self._info.citation

    @property
    def homepage(self) -> str:
        return self._info.homepage

    @property
    def license(self) -> str:
        return self._info.license

    @property
    def builder_name(self) -> str | None:
        return self._info.builder_name

    @property
    def config_name(self) -> str | None:
        return self._info.config_name

    @property
    def version(self) -> str | None:
        return self._info.version

    @property
    def supervised_keys(self) -> Any:
        return self._info.supervised_keys

    @property
    def download_checksums(self) -> Mapping[str, Any] | None:
        return self._info.download_checksums

    @property
    def download_size(self) -> int | None:
        return self._info.download_size

    @property
    def size_in_bytes(self) -> int | None:
        return self._info.size_in_bytes
