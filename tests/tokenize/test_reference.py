"""The reference engine: the promises of every engine, its cache, and texts that break others."""

from __future__ import annotations

import gc
import random
import time
import tracemalloc
from collections.abc import Iterator

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arrowprep.config import configured
from arrowprep.errors import TokenizerError
from arrowprep.tokenize import AddedToken, Tokenizer, models, normalizers, pre_tokenizers, reference
from arrowprep.tokenize.engine import Engine
from arrowprep.tokenize.reference import ReferenceEngine, WordCache
from tests.tokenize.build import byte_bpe, byte_tokenizer
from tests.tokenize.engine_contract import EngineContract, rows

ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"]))


@pytest.fixture(scope="module", autouse=True)
def no_text_is_short() -> Iterator[None]:
    """What is done to columns is done to the small ones of these tests too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reference, "SHORT", 0)
        yield


def engine_of(tok: Tokenizer, cache_bytes: int = 1 << 20) -> ReferenceEngine:
    return ReferenceEngine(tok._engine.pipeline, cache_bytes)


class TestReference(EngineContract):
    @pytest.fixture
    def engine(self) -> Engine:
        return engine_of(byte_tokenizer())


class TestReferenceWithoutCache(EngineContract):
    @pytest.fixture
    def engine(self) -> Engine:
        return engine_of(byte_tokenizer(), cache_bytes=0)


def test_a_full_cache_is_emptied() -> None:
    cache = WordCache(str.upper, limit_bytes=2000)
    for number in range(1000):
        assert cache[f"piece {number}"] == f"PIECE {number}"
        assert len(cache) <= 4


def test_a_cache_keeps_no_long_pieces() -> None:
    cache = WordCache(len, limit_bytes=1 << 20)
    assert cache["x" * 10_000] == 10_000
    assert not cache


@given(st.lists(ANY_TEXT, max_size=5))
def test_the_cache_changes_no_result(texts: list[str]) -> None:
    cold, tiny = engine_of(byte_tokenizer(), 0), engine_of(byte_tokenizer(), 1500)
    column = pa.array([*texts, *texts], pa.string())
    for engine in (cold, tiny):
        assert engine.encode(column, offsets=True).ids == WARM.encode(column).ids
        assert engine.encode(column, offsets=True).starts == WARM.encode(column, offsets=True).starts


WARM = engine_of(byte_tokenizer())


def test_memory_stays_bounded_however_many_words_come() -> None:
    engine = engine_of(byte_tokenizer(), cache_bytes=100_000)
    source = random.Random(0)
    column = pa.array([" ".join(f"{source.getrandbits(40):x}" for _ in range(50)) for _ in range(60)])
    engine.encode(column)
    tracemalloc.start()
    try:
        engine.encode(column)
        gc.collect()  # empties Python's lists of spare tuples, which count as held
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < 200_000


def test_an_error_names_the_row() -> None:
    tok = Tokenizer(models.BPE({"a": 0}, [], unk_token="<none>"))
    with pytest.raises(TokenizerError, match="row 2: the unknown token '<none>'") as caught:
        tok._engine.encode(pa.array(["a", None, "b"]))
    assert caught.value.row == 2


@pytest.mark.parametrize("text", ["a" * 100_000, "ab" * 30_000, "猫" * 20_000, " " * 60_000])
def test_one_huge_piece_takes_seconds_at_most(text: str) -> None:
    merges = ["a a", "aa aa", "aaaa aaaa", "a b", "ab ab", "ç Į", "çĮ «", "Ġ Ġ", "ĠĠ ĠĠ"]
    tok = byte_tokenizer()
    tok.model = byte_bpe(merges)
    start = time.process_time()
    encoding = tok.encode(text)
    assert time.process_time() - start < 20
    assert tok.decode(encoding.ids) == text
    assert encoding.offsets[-1][1] == len(text)


@given(ANY_TEXT)
def test_text_comes_back_from_its_ids(text: str) -> None:
    tok = TOK
    assert tok.decode(tok.encode(text).ids, skip_special_tokens=False) == text


TOK = byte_tokenizer()


@given(ANY_TEXT)
def test_tokens_cover_all_of_the_text(text: str) -> None:
    places = {place for start, end in TOK.encode(text).offsets for place in range(start, end)}
    assert places == set(range(len(text)))


@given(ANY_TEXT)
def test_a_normalized_text_is_spelled_by_its_tokens(text: str) -> None:
    # what does not keep track of alignments must see the same text as what does
    tok = byte_tokenizer(normalizer=normalizers.NFKC(), prefix=True)
    assert tok._engine.ids(text) == tok.encode(text).ids


def test_each_plane_of_unicode_is_encoded() -> None:
    text = "".join(chr((plane << 16) + 0x100) for plane in range(17))
    assert TOK.decode(TOK.encode(text).ids) == text


def test_the_engine_is_named_with_the_reason(no_kernel: None) -> None:
    assert "reference engine: the native kernel is not built" in repr(byte_tokenizer())
    with configured(engine="reference"):
        assert "the settings ask for it" in repr(byte_tokenizer())


def test_an_engine_that_is_not_there_cannot_be_asked_for(no_kernel: None) -> None:
    with configured(engine="native"), pytest.raises(TokenizerError, match="not built"):
        byte_tokenizer().encode("x")


@pytest.fixture
def no_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arrowprep.tokenize.native.load", lambda: "the native kernel is not built")


def test_an_id_that_no_column_can_hold_is_an_error_and_not_another_id() -> None:
    engine = ReferenceEngine(Tokenizer(models.BPE({"a": 2**31, "b": 2**31 - 1}, []))._engine.pipeline)
    assert engine.encode(pa.array(["b", "bb"])).ids.to_pylist() == [[2**31 - 1], [2**31 - 1] * 2]
    with pytest.raises(TokenizerError, match="the id 2147483648 is larger than columns can hold"):
        engine.encode(pa.array(["b", "ab"]))


def test_dropout_is_not_remembered() -> None:
    tok = Tokenizer(byte_bpe(dropout=0.5))
    tok.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    assert len({tuple(tok.encode("hello hello hello").ids) for _ in range(50)}) > 1


def odd_tokenizers() -> list[Tokenizer]:
    """Each has something that makes places in a text hard to know."""
    made = [byte_tokenizer(), byte_tokenizer(normalizer=normalizers.NFKD(), prefix=True)]
    tok = byte_tokenizer(normalizer=normalizers.Sequence([normalizers.Prepend("é"), normalizers.NFC()]))
    tok.add_tokens([AddedToken("ll", lstrip=True, rstrip=True), AddedToken("é", normalized=True)])
    made.append(tok)
    tok = Tokenizer(byte_bpe())
    tok.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    made.append(tok)
    for scheme in ("first", "always"):
        tok = Tokenizer(models.BPE({"▁": 0, "h": 1, "▁h": 2, "?": 3}, [("▁", "h")], unk_token="?"))
        tok.normalizer = normalizers.Replace("l", " h")
        tok.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme=scheme)
        tok.add_special_tokens(["<s>"])
        made.append(tok)
    return made


ODD = [engine_of(tok) for tok in odd_tokenizers()]
PARTS = ["h", "e", "l", "o", " ", "\n", "é", "e\u0301", "ﬁ", "猫", "<s>", "ll"]
ODD_TEXTS = st.lists(st.lists(st.sampled_from(PARTS), max_size=12).map("".join), max_size=4)


@given(ODD_TEXTS, st.sampled_from(ODD))
def test_a_column_has_the_places_of_each_text(texts: list[str], engine: ReferenceEngine) -> None:
    # a text alone goes piece by piece, a column by sums over all of them
    encoded = engine.encode(pa.array(texts, pa.string()), offsets=True, words=True)
    assert rows(encoded) == [tuple(map(list, engine.trace(text)[:4])) for text in texts]
    assert engine.encode(pa.array(texts, pa.string())).ids == encoded.ids


UNIGRAM = models.Unigram([("a", -1.0), ("aa", -2.0), ("aaa", -3.0)], alpha=0.5)


@pytest.mark.parametrize(
    "model", [byte_bpe(["a a", "aa aa"], dropout=0.5), UNIGRAM], ids=["dropout", "sampling"]
)
def test_a_seed_repeats_what_chance_decides(model: models.Model) -> None:
    tok = Tokenizer(model)

    def drawn(seed: int) -> list[list[int]]:
        random.seed(seed)
        return [encoding.ids for encoding in tok.encode_batch(["aaaaaaaa", "aaaa"] * 5)]

    assert drawn(1) == drawn(1) != drawn(2)


@given(ODD_TEXTS, st.sampled_from(ODD))
def test_a_short_text_alone_is_that_of_a_column(texts: list[str], engine: ReferenceEngine) -> None:
    together = rows(engine.encode(pa.array([*texts, None], pa.string()), offsets=True, words=True))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reference, "SHORT", 200)
        for text, row in zip([*texts, None], together, strict=True):
            alone = pa.array([text], pa.string())
            assert rows(engine.encode(alone, offsets=True, words=True)) == [row]
            assert engine.encode(alone).ids.to_pylist() == [row[0]]
