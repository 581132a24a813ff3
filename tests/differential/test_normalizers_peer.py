"""Code points through each normalizer, in the kernel and in Hugging Face's tokenizers: ids, places, words."""

from __future__ import annotations

import pytest

from arrowprep.tokenize import normalizers as ours
from arrowprep.tokenize.engine import choose_engine
from arrowprep.tokenize.native_library import load
from arrowprep.tokenize.patterns import Regex
from tests.conformance.code_points import column
from tests.tokenize.build import byte_tokenizer

peer = pytest.importorskip("tokenizers", reason="tokenizers is not installed: nothing to compare with")
library = load()
pytestmark = pytest.mark.skipif(isinstance(library, str), reason=str(library))

PARTS = 60  # of all code points each normalizer has one; all of them were run once
NORMALIZERS = [
    ours.NFC(),
    ours.NFD(),
    ours.NFKC(),
    ours.NFKD(),
    ours.Lowercase(),
    ours.StripAccents(),
    ours.Nmt(),
    ours.BertNormalizer(),
    ours.BertNormalizer(lowercase=False),
    ours.Replace(Regex(r"\s+|\p{Lu}|\d"), "é"),
    ours.ByteLevel(),
    ours.Sequence([ours.NFD(), ours.Lowercase(), ours.StripAccents(), ours.NFKC(), ours.Prepend(" ")]),
]


@pytest.mark.parametrize(("part", "normalizer"), list(enumerate(NORMALIZERS)))
def test_code_points_are_normalized_as_the_peer_does(
    part: int, normalizer: ours.Normalizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOKENIZERS_PARALLELISM", "false")
    tokenizer = byte_tokenizer(normalizer=normalizer)
    texts = column(part, PARTS)
    kernel = choose_engine(tokenizer._engine.pipeline, wanted="native").engine
    found = kernel.encode(texts, offsets=True, words=True)
    rows = peer.Tokenizer.from_str(tokenizer.to_str()).encode_batch(
        texts.to_pylist(), add_special_tokens=False
    )
    assert found.ids.to_pylist() == [row.ids for row in rows]
    assert found.starts is not None
    assert found.ends is not None
    assert found.words is not None
    places = zip(found.starts.to_pylist(), found.ends.to_pylist(), strict=True)
    assert [list(zip(*place, strict=True)) for place in places] == [row.offsets for row in rows]
    assert found.words.to_pylist() == [row.word_ids for row in rows]
