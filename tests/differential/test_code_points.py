"""Every kind of code point through real tokenizers, here and in Hugging Face's tokenizers."""

from __future__ import annotations

from itertools import chain

import numpy as np
import pytest

from arrowprep.tokenize import Tokenizer
from tests.conformance.code_points import NAMES, ROOT, column, tokenizer_json

peer = pytest.importorskip("tokenizers", reason="tokenizers is not installed: nothing to compare with")
pytestmark = pytest.mark.skipif(not ROOT, reason="ARROWPREP_CONFORMANCE names no folder of tokenizers")
# beside those that the kernel runs
OTHERS = ["clip", "pgn", "pix2tex"]


PARTS = 8  # some seconds for all code points and one tokenizer: each has its part of them


@pytest.mark.parametrize(("part", "name"), list(enumerate([*NAMES, *OTHERS])))
def test_code_points_have_the_ids_and_places_of_the_peer(
    part: int, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOKENIZERS_PARALLELISM", "false")
    texts = column(part % PARTS, PARTS)
    theirs, ours = peer.Tokenizer.from_str(tokenizer_json(name)), Tokenizer.from_str(tokenizer_json(name))
    for tokenizer in (theirs, ours):
        tokenizer.post_processor = None
        tokenizer.no_truncation()
        tokenizer.no_padding()
    found = ours._engine.encode(texts, offsets=True, words=True)
    rows = theirs.encode_batch(texts.to_pylist(), add_special_tokens=False)
    assert found.ids.to_pylist() == [row.ids for row in rows]
    places = np.fromiter(chain.from_iterable(chain.from_iterable(row.offsets for row in rows)), np.int64)
    assert found.starts is not None
    assert found.ends is not None
    assert found.words is not None
    assert np.array_equal(found.starts.flatten().to_numpy(), places[::2])
    assert np.array_equal(found.ends.flatten().to_numpy(), places[1::2])
    assert found.words.flatten().to_pylist() == list(chain.from_iterable(row.word_ids for row in rows))
