"""Every public name of `datasets` that we share is here: the same names, order and defaults of arguments.

What differs has its reason below; a reason that is no longer needed is an error too.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import MISSING
from typing import Any

import pytest

import arrowprep
import arrowprep.logging

peer = pytest.importorskip("datasets", reason="datasets is not installed: nothing to compare with")

CLASSES = [
    "Array2D",
    "ClassLabel",
    "Dataset",
    "DatasetDict",
    "DatasetInfo",
    "Features",
    "Image",
    "IterableDataset",
    "IterableDatasetDict",
    "Json",
    "LargeList",
    "List",
    "NamedSplit",
    "ReadInstruction",
    "Split",
    "Translation",
    "TranslationVariableLanguages",
    "Value",
]

_SEARCH = [
    *("add_elasticsearch_index", "add_faiss_index", "add_faiss_index_from_external_arrays", "drop_index"),
    *("get_index", "get_nearest_examples", "get_nearest_examples_batch", "is_index_initialized"),
    *("list_indexes", "load_elasticsearch_index", "load_faiss_index", "save_faiss_index"),
    *("search", "search_batch"),
]
_HUB = "no connection is opened here: the call says what to do instead"
_SPARK = "needs a cluster"
_TOKENS = "nothing is fetched while rows are decoded"
_STORAGE = "columns are cast by `cast_column` and by giving features"
_OPAQUE = "how a stream is made of its parts is private in both"

MISSING_ON_PURPOSE = {
    **{f"Dataset.{name}": "indexes for search are not part of preparing data" for name in _SEARCH},
    "Dataset.from_spark": _SPARK,
    "IterableDataset.from_spark": _SPARK,
    "Dataset.to_tf_dataset": "with_format('tensorflow') and tf.data.Dataset.from_generator do it",
    "Image.cast_storage": _STORAGE,
    "Image.embed_storage": _STORAGE,
    "Json.cast_storage": _STORAGE,
    "Image.flatten": "Features.flatten opens it",
    "Translation.flatten": "Features.flatten opens it",
    "TranslationVariableLanguages.flatten": "Features.flatten opens it",
    "Image.dtype": "it is stored as a struct, which has no one dtype",
    "ClassLabel.names_file": "the names that were read are kept, not their file",
    "NamedSplit.get_read_instruction": "ReadInstruction(name)",
    "NamedSplit.subsplit": "of builders; ReadInstruction names parts of a split",
}

SIGNATURES_ON_PURPOSE = {
    "Dataset.map": "on_mixed_types: a column becomes JSON on request only (docs/migrating.md)",
    "Dataset.push_to_hub": _HUB,
    "DatasetDict.push_to_hub": _HUB,
    "IterableDataset.push_to_hub": _HUB,
    "IterableDatasetDict.push_to_hub": _HUB,
    "IterableDataset.__init__": _OPAQUE,
    "NamedSplit.__init__": "it is a text, which gets its name before",
    "Features.decode_batch": _TOKENS,
    "Features.decode_column": _TOKENS,
    "Features.decode_example": _TOKENS,
    "Image.decode_example": _TOKENS,
    "Json.decode_example": _TOKENS,
    "TranslationVariableLanguages.encode_example": "positional: features call it",
    "get_dataset_config_names": "its other arguments are of a hub",
    "get_dataset_default_config_name": "its other arguments are of a hub",
    "get_dataset_split_names": "its other arguments are of a hub",
}

NAMES_ON_PURPOSE = {
    **dict.fromkeys(
        ["Audio", "BioSequence", "BioStructure", "Mesh", "Nifti", "Pdf", "Video"],
        "files of media and science other than pictures are read as bytes and paths",
    ),
    **dict.fromkeys(
        [
            "ArrowBasedBuilder",
            "BuilderConfig",
            "DatasetBuilder",
            "DownloadConfig",
            "DownloadManager",
            "DownloadMode",
            "GeneratorBasedBuilder",
            "NamedSplitAll",
            "SplitBase",
            "SplitDict",
            "SplitGenerator",
            "SplitInfo",
            "StreamingDownloadManager",
            "SubSplitInfo",
            "VerificationMode",
            "Version",
            "get_dataset_config_info",
            "get_dataset_infos",
            "load_dataset_builder",
            "percent",
        ],
        "builders, and what is told of a dataset before it is loaded: files are read as they are",
    ),
    "experimental": "a decorator of its own code",
    "tqdm": "arrowprep.progress.bar",
}


@pytest.mark.parametrize("name", CLASSES)
def test_a_class_has_the_methods_and_their_arguments(name: str) -> None:
    theirs, ours = getattr(peer, name), getattr(arrowprep, name)
    found = {f"{name}.{method}" for method in _public(theirs) if not _has(ours, method)}
    assert found == {known for known in MISSING_ON_PURPOSE if known.startswith(f"{name}.")}
    differing = {
        f"{name}.{method}"
        for method in ["__init__", *_public(theirs)]
        if _has(ours, method) and _differs(getattr(theirs, method, None), getattr(ours, method, None))
    }
    assert differing == {known for known in SIGNATURES_ON_PURPOSE if known.startswith(f"{name}.")}


def test_functions_have_the_same_arguments() -> None:
    shared = [name for name in _public(peer) if inspect.isfunction(getattr(peer, name))]
    differing = {
        name
        for name in shared
        if name in arrowprep.__all__ and _differs(getattr(peer, name), getattr(arrowprep, name))
    }
    assert differing == {known for known in SIGNATURES_ON_PURPOSE if "." not in known}


def test_public_names_are_here() -> None:
    wanted = {name for name in _public(peer) if not inspect.ismodule(getattr(peer, name))}
    assert {name for name in wanted if name not in arrowprep.__all__} == set(NAMES_ON_PURPOSE)


def test_logging_has_the_same_functions() -> None:
    from datasets.utils import logging

    wanted = {name for name in _public(logging) if inspect.isfunction(getattr(logging, name))}
    of_bars = {"disable_progress_bar", "enable_progress_bar", "is_progress_bar_enabled"}
    assert {name for name in wanted if not hasattr(arrowprep.logging, name)} == of_bars
    assert of_bars <= set(arrowprep.__all__)


def _public(owner: Any) -> list[str]:
    return [name for name in dir(owner) if not name.startswith("_")]


def _has(owner: type, name: str) -> bool:
    """As an attribute of the class, or one that its initializer sets."""
    return hasattr(owner, name) or (owner is arrowprep.ClassLabel and hasattr(owner(1), name))


def _differs(theirs: Any, ours: Any) -> bool:
    """Whether arguments have other names, order or defaults; optional ones may follow in ours."""
    if not (inspect.isroutine(theirs) and inspect.isroutine(ours)):
        return False
    try:
        wanted, found = list(_arguments(theirs)), list(_arguments(ours))
    except ValueError:
        return False  # of Python's own dict and str
    required = [name for name, default in found[len(wanted) :] if default is inspect.Parameter.empty]
    return found[: len(wanted)] != wanted or bool(required)


def _arguments(function: Any) -> Iterator[tuple[str, Any]]:
    """Names and defaults; what collects further keywords may have any name."""
    for name, parameter in inspect.signature(function).parameters.items():
        if name in ("self", "cls") or parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
            continue
        default = parameter.default
        if type(default).__name__ == "_HAS_DEFAULT_FACTORY_CLASS":
            default = ""  # of the texts of an info
        yield name, default if default in (parameter.empty, MISSING) else str(default)
