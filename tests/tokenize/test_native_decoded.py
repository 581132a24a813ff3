"""The kernel's decoders beside the reference engine's."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arrowprep.errors import TokenizerError
from arrowprep.tokenize import AddedToken, Tokenizer, decoders, models, normalizers
from arrowprep.tokenize.engine import Engine, choose_engine
from arrowprep.tokenize.native_decoded import is_known
from arrowprep.tokenize.native_library import load
from arrowprep.tokenize.patterns import Regex
from arrowprep.tokenize.reference import ReferenceEngine
from tests.tokenize.test_native_characters import SPACE

library = load()
pytestmark = pytest.mark.skipif(isinstance(library, str), reason=str(library))

REPLACE, FALLBACK, FUSE = decoders.Replace(SPACE, " "), decoders.ByteFallback(), decoders.Fuse()
KNOWN: list[Any] = [
    decoders.Metaspace(),
    decoders.Metaspace(prepend_scheme="never"),
    decoders.WordPiece(),
    decoders.WordPiece(prefix="a", cleanup=False),
    decoders.Sequence([REPLACE, FALLBACK, FUSE, decoders.Strip(" ", 1, 0)]),
    decoders.Sequence([decoders.Replace(Regex("a+"), "é"), FALLBACK, FUSE, decoders.Strip("é", 2, 0)]),
    decoders.Sequence([FALLBACK, FUSE]),
    decoders.Sequence([FALLBACK]),
    decoders.Sequence([REPLACE]),
]
OTHERS: list[Any] = [
    None,
    decoders.BPEDecoder(),
    decoders.CTC(),
    decoders.Sequence([FUSE, REPLACE]),
    decoders.Sequence([REPLACE, decoders.Strip(" ", 1, 0)]),
    decoders.Sequence([FUSE, decoders.Strip(" ", 1, 1)]),
    decoders.Sequence([FALLBACK, FALLBACK]),
]
TOKENS = [
    "<unk>",
    f"{SPACE}a",
    SPACE,
    SPACE * 3,
    "b",
    "##c",
    "aé",
    "<0xC3>",
    "<0xA9>",
    "<0x41>",
    "<0x+a>",
    "<0x4>",
    " .",
    "中" * 9,
    f"a{SPACE}b",
    f"{SPACE}n't",
]


def tokenizer(decoder: Any) -> Tokenizer:
    tok = Tokenizer(models.WordLevel({token: id for id, token in enumerate(TOKENS)}, unk_token="<unk>"))
    tok.add_tokens([AddedToken(f"{SPACE}X", special=True), AddedToken("Á", normalized=True)])
    tok.normalizer = normalizers.Lowercase()  # which changes what added tokens are in text
    tok.decoder = decoder
    return tok


@pytest.mark.parametrize("decoder", [*KNOWN, *OTHERS], ids=repr)
@given(
    rows=st.lists(st.one_of(st.none(), st.lists(st.integers(-1, len(TOKENS) + 3), max_size=8)), max_size=5),
    skip=st.booleans(),
)
@settings(max_examples=30, deadline=None)
def test_a_column_is_decoded_as_the_reference_does(
    decoder: Any, rows: list[list[int] | None], skip: bool
) -> None:
    pipeline = tokenizer(decoder)._engine.pipeline
    reference = ReferenceEngine(pipeline)
    many = pa.array([*rows, list(range(len(TOKENS))) * 300], pa.list_(pa.int32())).slice(0, len(rows))
    assert is_known(decoder) == (decoder in KNOWN)
    native = choose_engine(pipeline).engine
    if native.name != "native":
        from arrowprep.tokenize.native_decoder import can_decode, decode

        if not can_decode(pipeline, many):
            assert decoder in OTHERS
            return
        assert decode(library, pipeline, many, skip).equals(reference.decode(many, skip_special_tokens=skip))
    else:
        assert decoded_by(native, many, skip) == decoded_by(reference, many, skip)


def decoded_by(engine: Engine, ids: pa.ListArray, skip: bool) -> list[str | None] | str:
    """The texts, or why there are none."""
    try:
        return engine.decode(ids, skip_special_tokens=skip).to_pylist()
    except TokenizerError as error:
        return str(error)


def test_a_decoder_that_is_set_later_is_the_one_that_is_used() -> None:
    tok = Tokenizer(models.Unigram([(token, -1.0) for token in TOKENS], 0))
    ids = pa.array([[1, 4, 7, 8]] * 2000, pa.list_(pa.int32()))
    for decoder in (KNOWN[0], KNOWN[4], KNOWN[0], KNOWN[2]):
        tok.decoder = decoder
        pipeline = tok._engine.pipeline
        native = choose_engine(pipeline, wanted="native").engine
        assert native.decode(ids).equals(ReferenceEngine(pipeline).decode(ids))
