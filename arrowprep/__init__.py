"""Arrow-native preparation of text and chat datasets for model training.

    ds = load_local("corpus.jsonl").map(tokenize, batched=True, num_proc=4)
    for batch in ds.with_format("numpy").iter(batch_size=32): ...

Importing this package is cheap: each name below is loaded when first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from arrowprep.chat.template import ChatTemplate
    from arrowprep.config import (
        Settings,
        configure,
        configured,
        disable_caching,
        enable_caching,
        is_caching_enabled,
        set_caching_enabled,
        settings,
    )
    from arrowprep.dataset.by_name import (
        get_dataset_config_names,
        get_dataset_default_config_name,
        get_dataset_split_names,
        load_dataset,
    )
    from arrowprep.dataset.column import Column
    from arrowprep.dataset.dataset import (
        Dataset,
        concatenate_datasets,
        explain_cache,
        interleave_datasets,
        split_dataset_by_node,
    )
    from arrowprep.dataset.features import (
        Array2D,
        Array3D,
        Array4D,
        Array5D,
        ClassLabel,
        Features,
        Image,
        Json,
        LargeList,
        List,
        Sequence,
        Translation,
        TranslationVariableLanguages,
        Value,
    )
    from arrowprep.dataset.fingerprint import (
        Hasher,
        fingerprint_transform,
        generate_fingerprint,
        update_fingerprint,
    )
    from arrowprep.dataset.info import DatasetInfo, NamedSplit, Split
    from arrowprep.dataset.load.read_instruction import ReadInstruction
    from arrowprep.dataset.loading import load_local
    from arrowprep.dataset.saved import load_from_disk
    from arrowprep.dataset.splits import DatasetDict
    from arrowprep.dataset.stream.held import IterableColumn
    from arrowprep.dataset.stream.iterable import IterableDataset
    from arrowprep.dataset.stream.splits import IterableDatasetDict
    from arrowprep.progress import (
        are_progress_bars_disabled,
        disable_progress_bar,
        disable_progress_bars,
        enable_progress_bar,
        enable_progress_bars,
        is_progress_bar_enabled,
    )
    from arrowprep.tokenize.added_tokens import AddedToken
    from arrowprep.tokenize.auto import AutoTokenizer, load_tokenizer
    from arrowprep.tokenize.batch_encoding import BatchEncoding
    from arrowprep.tokenize.encoding import Encoding
    from arrowprep.tokenize.shell import PreTrainedTokenizer, PreTrainedTokenizerFast, TokenizersBackend
    from arrowprep.tokenize.tokenizer import Tokenizer

_HOME = {
    "ChatTemplate": "chat.template",
    "Settings": "config",
    "settings": "config",
    "configure": "config",
    "configured": "config",
    "enable_caching": "config",
    "disable_caching": "config",
    "is_caching_enabled": "config",
    "set_caching_enabled": "config",
    "enable_progress_bars": "progress",
    "disable_progress_bars": "progress",
    "are_progress_bars_disabled": "progress",
    "enable_progress_bar": "progress",
    "disable_progress_bar": "progress",
    "is_progress_bar_enabled": "progress",
    "BatchEncoding": "tokenize.batch_encoding",
    "AutoTokenizer": "tokenize.auto",
    "PreTrainedTokenizer": "tokenize.shell",
    "PreTrainedTokenizerFast": "tokenize.shell",
    "TokenizersBackend": "tokenize.shell",
    "load_tokenizer": "tokenize.auto",
    "Dataset": "dataset.dataset",
    "concatenate_datasets": "dataset.dataset",
    "interleave_datasets": "dataset.dataset",
    "explain_cache": "dataset.dataset",
    "split_dataset_by_node": "dataset.dataset",
    "DatasetDict": "dataset.splits",
    "IterableDatasetDict": "dataset.stream.splits",
    "IterableDataset": "dataset.stream.iterable",
    "Features": "dataset.features",
    "Array2D": "dataset.features",
    "Array3D": "dataset.features",
    "Array4D": "dataset.features",
    "Array5D": "dataset.features",
    "Image": "dataset.features",
    "Translation": "dataset.features",
    "TranslationVariableLanguages": "dataset.features",
    "Value": "dataset.features",
    "List": "dataset.features",
    "LargeList": "dataset.features",
    "Sequence": "dataset.features",
    "ClassLabel": "dataset.features",
    "Json": "dataset.features",
    "Tokenizer": "tokenize.tokenizer",
    "AddedToken": "tokenize.added_tokens",
    "Encoding": "tokenize.encoding",
    "Hasher": "dataset.fingerprint",
    "fingerprint_transform": "dataset.fingerprint",
    "generate_fingerprint": "dataset.fingerprint",
    "update_fingerprint": "dataset.fingerprint",
    "DatasetInfo": "dataset.info",
    "NamedSplit": "dataset.info",
    "Split": "dataset.info",
    "get_dataset_config_names": "dataset.by_name",
    "get_dataset_default_config_name": "dataset.by_name",
    "get_dataset_split_names": "dataset.by_name",
    "Column": "dataset.column",
    "IterableColumn": "dataset.stream.held",
    "ReadInstruction": "dataset.load.read_instruction",
    "load_dataset": "dataset.by_name",
    "load_local": "dataset.loading",
    "load_from_disk": "dataset.saved",
}

_MODULES = {"chat", "data", "logging", "tokenize"}

__all__ = [
    "AddedToken",
    "Array2D",
    "Array3D",
    "Array4D",
    "Array5D",
    "AutoTokenizer",
    "BatchEncoding",
    "ChatTemplate",
    "ClassLabel",
    "Column",
    "Dataset",
    "DatasetDict",
    "DatasetInfo",
    "Encoding",
    "Features",
    "Hasher",
    "Image",
    "IterableColumn",
    "IterableDataset",
    "IterableDatasetDict",
    "Json",
    "LargeList",
    "List",
    "NamedSplit",
    "PreTrainedTokenizer",
    "PreTrainedTokenizerFast",
    "ReadInstruction",
    "Sequence",
    "Settings",
    "Split",
    "Tokenizer",
    "TokenizersBackend",
    "Translation",
    "TranslationVariableLanguages",
    "Value",
    "are_progress_bars_disabled",
    "concatenate_datasets",
    "configure",
    "configured",
    "disable_caching",
    "disable_progress_bar",
    "disable_progress_bars",
    "enable_caching",
    "enable_progress_bar",
    "enable_progress_bars",
    "explain_cache",
    "fingerprint_transform",
    "generate_fingerprint",
    "get_dataset_config_names",
    "get_dataset_default_config_name",
    "get_dataset_split_names",
    "interleave_datasets",
    "is_caching_enabled",
    "is_progress_bar_enabled",
    "load_dataset",
    "load_from_disk",
    "load_local",
    "load_tokenizer",
    "set_caching_enabled",
    "settings",
    "split_dataset_by_node",
    "update_fingerprint",
]


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in _MODULES:
        return import_module(f"arrowprep.{name}")
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'arrowprep' has no attribute {name!r}")
    value = getattr(import_module(f"arrowprep.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
