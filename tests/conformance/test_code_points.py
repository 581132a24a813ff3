"""The kernel beside the reference engine on every kind of code point, with real vocabularies."""

from __future__ import annotations

import pytest

from arrowprep.tokenize import Tokenizer
from arrowprep.tokenize.engine import choose_engine
from arrowprep.tokenize.native_library import load
from tests.conformance.code_points import NAMES, ROOT, column, tokenizer_json

library = load()
pytestmark = [
    pytest.mark.conformance,
    pytest.mark.skipif(not ROOT, reason="ARROWPREP_CONFORMANCE names no folder of golden data"),
    pytest.mark.skipif(isinstance(library, str), reason=str(library)),
]


PARTS = 5  # the reference engine takes seconds for all code points: each tokenizer has its part of them


@pytest.mark.parametrize(("part", "name"), list(enumerate(NAMES)))
def test_code_points_are_encoded_as_the_reference_does(part: int, name: str) -> None:
    pipeline = Tokenizer.from_str(tokenizer_json(name))._engine.pipeline
    native = choose_engine(pipeline, wanted="native").engine
    reference = choose_engine(pipeline, wanted="reference").engine
    texts = column(part % PARTS, PARTS)
    expected = reference.encode(texts, offsets=True, words=True)
    assert native.encode(texts, offsets=True, words=True) == expected
    assert native.encode(texts).ids == expected.ids
