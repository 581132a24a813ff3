"""Every public name of tokenizers and of transformers' tokenizers is here, or the guide says why not."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import arrowprep.tokenize as ours

peer: Any = pytest.importorskip("tokenizers", reason="tokenizers is not installed: nothing to compare with")
transformers: Any = pytest.importorskip("transformers", reason="transformers is not installed: nor to these")

GUIDE = Path(__file__).parents[2] / "docs" / "migrating.md"
HEADING = "### Names that are not here"
MODULES = (
    *("models", "normalizers", "pre_tokenizers", "processors", "decoders", "trainers"),
    *("implementations", "tools"),
)
SHELL = ("PreTrainedTokenizerFast", "BatchEncoding", "AutoTokenizer", "PythonBackend")


def left_out() -> set[str]:
    """The names in the first column of the guide's table."""
    section = GUIDE.read_text(encoding="utf-8").split(HEADING)[1].split("\n#")[0]
    rows = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    return {name for row in rows for name in re.findall(r"`([^`]+)`", row)}


def public(thing: Any) -> list[str]:
    return [
        name for name in dir(thing) if name[0] != "_" and not inspect.ismodule(getattr(thing, name, None))
    ]


def has(thing: Any, name: str) -> bool:
    """Also of what only an object of the class has: an attribute that its initializer sets."""
    if hasattr(thing, name):
        return True
    sources = [vars(cls).get("__init__") for cls in getattr(thing, "__mro__", ())]
    return any(
        source and f"self.{name}" in inspect.getsource(source)
        for source in sources
        if inspect.isfunction(source)
    )


def places() -> Iterator[tuple[str, Any, Any]]:
    """A name for each place, and it there and here; None for a class that is not here."""
    yield "", peer, ours
    for module in MODULES:
        theirs = importlib.import_module(f"tokenizers.{module}")
        here = getattr(ours, module, None)
        yield module, theirs, here
        for name in public(theirs):
            if inspect.isclass(getattr(theirs, name)):
                yield f"{module}.{name}", getattr(theirs, name), getattr(here, name, None)
    for name in (
        "AddedToken",
        "Encoding",
        "NormalizedString",
        "PreTokenizedString",
        "Regex",
        "Token",
        "Tokenizer",
    ):
        yield name, getattr(peer, name), getattr(ours, name)
    for name in SHELL:
        theirs = (
            getattr(transformers, name, None)
            or importlib.import_module("transformers.tokenization_python").PythonBackend
        )
        yield name, theirs, getattr(ours, name)


def missing() -> set[str]:
    """Every name that is there and not here, with its place; of a class that is not here the class alone."""
    found = set()
    for place, theirs, here in places():
        if here is None:
            if "." not in place:
                found.add(place)
            continue
        if isinstance(here, type) and issubclass(here, ours.implementations.BaseTokenizer):
            here = here(*([ours.Tokenizer(ours.models.BPE())] if place.endswith("BaseTokenizer") else []))
        if here is ours.Tokenizer:
            here = here(ours.models.BPE())
        found |= {f"{place}.{name}".lstrip(".") for name in public(theirs) if not has(here, name)}
    return found


def test_the_guide_lists_the_names_that_are_not_here() -> None:
    assert missing() == left_out()


def methods() -> Iterator[tuple[str, Any, Any]]:
    """Each method of the shell's classes, there and here."""
    for place, theirs, here in places():
        if place in SHELL:
            for name in ("__call__", *public(theirs)):
                pair = getattr(theirs, name, None), getattr(here, name, None)
                if all(map(inspect.isroutine, pair)):
                    yield f"{place}.{name}", *pair


METHODS = {place: (theirs, here) for place, theirs, here in methods()}


@pytest.mark.parametrize("place", METHODS)
def test_what_can_be_given_by_place_stands_in_the_same_place(place: str) -> None:
    theirs, here = (inspect.signature(method).parameters.values() for method in METHODS[place])
    there = [p.name for p in theirs if p.kind is p.POSITIONAL_OR_KEYWORD]
    # what we have more comes behind
    assert [p.name for p in here if p.kind is p.POSITIONAL_OR_KEYWORD][: len(there)] == there


@pytest.mark.parametrize("place", METHODS)
def test_what_is_not_given_is_the_same(place: str) -> None:
    there, here = (inspect.signature(method).parameters for method in METHODS[place])
    defaults = {name: p.default for name, p in there.items() if name in here and p.default is not p.empty}
    assert {name: here[name].default for name in defaults} == defaults | OTHERWISE.get(place, {})


# docs/migrating.md says why
OTHERWISE: dict[str, dict[str, Any]] = {
    f"{name}.apply_chat_template": {"return_dict": None}
    for name in ("PreTrainedTokenizerFast", "PythonBackend")
}


@pytest.mark.parametrize(
    "name", [name for name in public(peer.implementations) if name.endswith("Tokenizer") and name[0] != "_"]
)
def test_trainings_of_ready_made_pipelines_take_the_same(name: str) -> None:
    there = (
        inspect.signature(getattr(peer.implementations, name).train_from_iterator).parameters
        if (name != "BaseTokenizer")
        else {}
    )
    wanted = {name: p.default for name, p in there.items() if name not in ("self", "iterator", "length")}
    assert list(getattr(ours.implementations, name).training.items()) == list(wanted.items())
