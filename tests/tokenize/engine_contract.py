"""What every engine promises; a test of one inherits this and gives the fixture `engine`."""

from __future__ import annotations

import copy
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pyarrow as pa
import pytest

from arrowprep.errors import NotText
from arrowprep.tokenize.engine import Encoded, Engine

TEXTS = [
    "hello world",
    "",
    None,
    "héllo  wörld\n猫 👩‍👩‍👧",
    "a" * 1000,
    "hello <s> world</s>",
    "\x00\x7f\u0301\uffff\U0010ffff",
    "hello world",
]
STRING_TYPES = [pa.string(), pa.large_string(), pa.string_view()]


def rows(encoded: Encoded) -> list[Any]:
    columns = (encoded.ids, encoded.starts, encoded.ends, encoded.words)
    return list(zip(*(column.to_pylist() for column in columns if column is not None), strict=True))


class EngineContract:
    """A subclass gives `engine`, over `byte_tokenizer()` of build.py."""

    @pytest.fixture
    def engine(self) -> Engine:
        raise NotImplementedError

    def whole(self, engine: Engine, texts: pa.Array) -> list[Any]:
        return rows(engine.encode(texts, offsets=True, words=True))

    def test_as_many_rows_come_out(self, engine: Engine) -> None:
        encoded = engine.encode(pa.array(TEXTS), offsets=True, words=True)
        assert [len(c) for c in (encoded.ids, encoded.starts, encoded.ends, encoded.words)] == [
            len(TEXTS)
        ] * 4

    def test_null_stays_null_and_empty_is_an_empty_list(self, engine: Engine) -> None:
        assert engine.encode(pa.array(["", None])).ids.to_pylist() == [[], None]
        assert engine.encode(pa.array([], pa.string())).ids.to_pylist() == []
        assert engine.encode(pa.nulls(2, pa.string())).ids.to_pylist() == [None, None]

    @pytest.mark.parametrize("type", STRING_TYPES, ids=str)
    def test_every_arrow_type_of_text_is_read(self, engine: Engine, type: pa.DataType) -> None:
        assert self.whole(engine, pa.array(TEXTS, type)) == self.whole(engine, pa.array(TEXTS))

    @pytest.mark.parametrize("type", STRING_TYPES, ids=str)
    @pytest.mark.parametrize(("start", "length"), [(0, 3), (1, 4), (3, 1), (5, 3), (2, 0)])
    def test_a_slice_is_read_as_a_slice(
        self, engine: Engine, type: pa.DataType, start: int, length: int
    ) -> None:
        sliced = pa.array(TEXTS, type).slice(start, length)
        assert self.whole(engine, sliced) == self.whole(engine, pa.array(TEXTS))[start : start + length]

    def test_a_dictionary_is_read_as_its_values(self, engine: Engine) -> None:
        encoded = pa.array(TEXTS).dictionary_encode()
        assert self.whole(engine, encoded) == self.whole(engine, pa.array(TEXTS))
        assert self.whole(engine, encoded.slice(3, 3)) == self.whole(engine, pa.array(TEXTS))[3:6]

    def test_other_types_are_refused(self, engine: Engine) -> None:
        with pytest.raises(NotText, match="int64"):
            engine.encode(pa.array([1, 2]))

    def test_a_batch_is_its_texts_one_by_one(self, engine: Engine) -> None:
        one_by_one = [self.whole(engine, pa.array([text], pa.string()))[0] for text in TEXTS]
        assert self.whole(engine, pa.array(TEXTS)) == one_by_one

    def test_ids_are_the_same_with_and_without_offsets(self, engine: Engine) -> None:
        texts = pa.array(TEXTS)
        assert engine.encode(texts).ids == engine.encode(texts, offsets=True).ids
        assert engine.encode(texts).ids == engine.encode(texts, words=True).ids

    def test_a_second_run_is_as_the_first(self, engine: Engine) -> None:
        texts = pa.array(TEXTS)
        before = copy.deepcopy(texts.to_pylist())
        assert self.whole(engine, texts) == self.whole(engine, texts)
        assert texts.to_pylist() == before

    def test_threads_see_the_same(self, engine: Engine) -> None:
        texts = pa.array(TEXTS * 20)
        alone = self.whole(engine, texts)
        with ThreadPoolExecutor(4) as pool:
            assert all(found == alone for found in pool.map(lambda _: self.whole(engine, texts), range(8)))

    def test_spans_lie_within_the_text(self, engine: Engine) -> None:
        for text, row in zip(TEXTS, self.whole(engine, pa.array(TEXTS)), strict=True):
            for start, end in zip(row[1] or [], row[2] or [], strict=True):
                assert text is not None
                assert 0 <= start < end <= len(text)

    def test_decoding_gives_the_text_back(self, engine: Engine) -> None:
        assert engine.decode(engine.encode(pa.array(TEXTS)).ids).to_pylist() == TEXTS

    def test_decoding_skips_special_tokens_when_asked(self, engine: Engine) -> None:
        ids = engine.encode(pa.array(["<s>hello</s>"])).ids
        assert engine.decode(ids, skip_special_tokens=True).to_pylist() == ["hello"]
