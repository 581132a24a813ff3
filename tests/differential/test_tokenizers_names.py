"""Every public name of Hugging Face's tokenizers that is not left out on purpose."""

from __future__ import annotations

import importlib
import inspect

import pytest

peer = pytest.importorskip("tokenizers", reason="tokenizers is not installed: nothing to compare with")

# a trainer that needs parallel corpora, and what only serves the peer's own annotations
LEFT_OUT = {"ParityBpeTrainer", "NORMALIZERS", "OffsetReferential", "OffsetType", "SplitDelimiterBehavior"}


@pytest.mark.parametrize(
    "module", ["models", "normalizers", "pre_tokenizers", "processors", "decoders", "trainers"]
)
def test_a_module_has_the_names(module: str) -> None:
    theirs = importlib.import_module(f"tokenizers.{module}")
    ours = importlib.import_module(f"arrowprep.tokenize.{module}")
    names = {name for name, value in vars(theirs).items() if name[0] != "_" and not inspect.ismodule(value)}
    assert not {name for name in names - LEFT_OUT if not hasattr(ours, name)}


@pytest.mark.parametrize(
    "name", ["AddedToken", "Encoding", "NormalizedString", "PreTokenizedString", "Regex", "Token"]
)
def test_a_class_has_the_members(name: str) -> None:
    ours = importlib.import_module("arrowprep.tokenize")
    members = {member for member in dir(getattr(peer, name)) if member[0] != "_"}
    # fields in __slots__ show on the class, those of an instance do not
    assert not {m for m in members if not hasattr(getattr(ours, name), m)}
