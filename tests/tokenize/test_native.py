"""The kernel beside the reference engine: the same ids, places and words for every text it takes."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arrowprep.config import configured
from arrowprep.errors import NotText, TokenizerError
from arrowprep.tokenize import AddedToken, Tokenizer, models, normalizers, pre_tokenizers
from arrowprep.tokenize.byte_characters import to_byte_characters
from arrowprep.tokenize.engine import Engine, choose_engine
from arrowprep.tokenize.native import NativeEngine, compile_pipeline
from arrowprep.tokenize.native_library import KernelFailure, load
from arrowprep.tokenize.native_pipeline import GRAMMARS
from arrowprep.tokenize.patterns import Regex
from arrowprep.tokenize.reference import ReferenceEngine
from tests.tokenize.build import byte_bpe, byte_tokenizer, grammar_tokenizer, split_tokenizer
from tests.tokenize.engine_contract import EngineContract, rows
from tests.tokenize.growth import check_time_grows_with_the_text_alone

library = load()
pytestmark = pytest.mark.skipif(isinstance(library, str), reason=str(library))

PATTERNS = list(GRAMMARS)
# what the grammars look at, letter by letter
ALPHABET = [
    *"aAsStTrRevEmMlLdD'' \t\n\r19!/-_\0<>",
    *(
        "  ",
        "\r\n",
        "'ſ",
        "'ll",
        "é",
        "É",
        "ß",
        "中",
        "あ",
        "ʰ",
        "ǅ",
        "Ω",
        "١",
        "²",
        "\u3000",
        "\u0085",
        "\u00a0",
    ),
    *(
        "\u2028",
        "ſ",
        "—",
        "’",
        "😀",
        "\u0301",
        "々",
        "⺀",
        "\u3007",
        "・",
        "\u0323",
        "\u1161",
        "\u11a8",
        "가",
        "\u200b",
        "\u200d",
        "\U0010ffff",
    ),
    *("hello", " world", "<s>", "</s>", "x" * 20, " " * 9, "\u0958", "\u212b"),
]
TEXT = st.one_of(
    st.lists(st.sampled_from(ALPHABET), max_size=60).map("".join),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=90),
)


def engines(tok: Tokenizer, cache_bytes: int | None = None) -> tuple[NativeEngine, ReferenceEngine]:
    """The kernel and the reference engine over the same pipeline."""
    pipeline = tok._engine.pipeline
    native, why = compile_pipeline(pipeline, cache_bytes)
    assert native is not None, why
    return native, ReferenceEngine(pipeline)


def check(native: NativeEngine, reference: ReferenceEngine, texts: pa.Array) -> None:
    expected = rows(reference.encode(texts, offsets=True, words=True))
    assert rows(native.encode(texts, offsets=True, words=True)) == expected
    assert native.encode(texts).ids.to_pylist() == [ids for ids, *_ in expected]


class TestNative(EngineContract):
    @pytest.fixture
    def engine(self) -> Engine:
        return engines(byte_tokenizer())[0]


class TestNativeWithoutCache(EngineContract):
    @pytest.fixture
    def engine(self) -> Engine:
        return engines(byte_tokenizer(), cache_bytes=0)[0]


class TestNativeWithTinyCache(EngineContract):
    @pytest.fixture
    def engine(self) -> Engine:
        return engines(byte_tokenizer(), cache_bytes=2000)[0]


BY_PATTERN = {} if isinstance(library, str) else {p: engines(grammar_tokenizer(p)) for p in PATTERNS}


@pytest.mark.parametrize("number", range(len(PATTERNS)))
@given(texts=st.lists(TEXT, max_size=4))
@settings(max_examples=150, deadline=None)
def test_every_grammar_cuts_as_its_pattern_does(number: int, texts: list[str]) -> None:
    check(*BY_PATTERN[PATTERNS[number]], pa.array(texts, pa.string()))


def some_characters(count: int) -> list[str]:
    """Latin and so many others, or with the golden data at hand, where time matters less, all there are."""
    codes = [code for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    if not os.environ.get("ARROWPREP_CONFORMANCE"):
        codes = [*range(0x300), *random.Random(0).sample(codes[0x300:], count)]
    return list(map(chr, codes))


@pytest.mark.parametrize("pattern", PATTERNS, ids=range(len(PATTERNS)))
def test_every_character_is_in_the_class_that_the_pattern_sees(pattern: tuple[str, ...]) -> None:
    native, reference = BY_PATTERN[pattern]
    texts = [f"a{c} {c}{c}1{c}'s{c}.{c}\n{c} {c}" for c in some_characters(4000)]
    column = pa.array(texts)
    found = native.encode(column, words=True)
    expected = reference.encode(column, words=True)
    assert found.ids == expected.ids
    assert found.words == expected.words


@given(texts=st.lists(TEXT, max_size=6), nfc=st.booleans())
@settings(max_examples=150, deadline=None)
def test_a_space_is_put_before_what_begins_with_none(texts: list[str], nfc: bool) -> None:
    check(*PREFIXED[nfc], pa.array(texts, pa.string()))


PREFIXED = [
    (None, None)
    if isinstance(library, str)
    else engines(byte_tokenizer(prefix=True, normalizer=normalizers.NFC() if nfc else None))
    for nfc in (False, True)
]


@given(texts=st.lists(TEXT, max_size=4))
@settings(max_examples=150, deadline=None)
def test_text_is_normalized_as_the_reference_does(texts: list[str]) -> None:
    check(*NFC, pa.array(texts, pa.string()))


NFC = (None, None) if isinstance(library, str) else engines(byte_tokenizer(normalizer=normalizers.NFC()))


def test_every_character_is_normalized_as_the_reference_does() -> None:
    characters = [*map(chr, range(0x300, 0x370)), *some_characters(4000)]
    starts = range(0, len(characters), 64)
    texts = ["".join(f"{c}\u0338{c}\u0301 " for c in characters[at : at + 64]) for at in starts]
    native, reference = NFC
    assert native.encode(pa.array(texts)).ids == reference.encode(pa.array(texts)).ids


@st.composite
def vocabularies(draw: st.DrawFn) -> models.BPE:
    """Merges in any order, of tokens that may come later, some of them twice, ids in no order."""
    known = [*"abc", "Ġ"]
    merges: list[str] = []
    for _ in range(draw(st.integers(0, 12))):
        left, right = draw(st.sampled_from(known)), draw(st.sampled_from(known))
        merges.append(f"{left} {right}")
        known.append(left + right)
    merges = draw(st.permutations(merges + merges[: draw(st.integers(0, 2))]))
    shuffled = draw(st.permutations(sorted({*pre_tokenizers.ByteLevel.alphabet(), *known})))
    pairs = [tuple(merge.split(" ")) for merge in merges]
    ignore = draw(st.booleans())
    return models.BPE({token: i for i, token in enumerate(shuffled)}, pairs, ignore_merges=ignore)


@given(model=vocabularies(), texts=st.lists(st.text("abc ", max_size=80), max_size=5))
@settings(deadline=None)
def test_any_vocabulary_merges_lowest_rank_first(model: models.BPE, texts: list[str]) -> None:
    tok = Tokenizer(model)
    tok.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    check(*engines(tok), pa.array(texts, pa.string()))


@st.composite
def vocabularies_of_many_bytes(draw: st.DrawFn) -> models.BPE:
    """Merges of the bytes of 中, 文, é and 😀, also across and inside of them; tokens that none makes."""
    spelled = list(to_byte_characters("中文é😀a"))
    known = list(dict.fromkeys(spelled))
    merges: list[tuple[str, str]] = []
    for _ in range(draw(st.integers(0, 25))):
        pair = (draw(st.sampled_from(known)), draw(st.sampled_from(known)))
        merges.append(pair)
        known.append("".join(pair))
    unmade = st.text("中文é😀a", min_size=1, max_size=7).map(to_byte_characters)
    tokens = sorted({*pre_tokenizers.ByteLevel.alphabet(), *known, *draw(st.lists(unmade, max_size=4))})
    return models.BPE({t: i for i, t in enumerate(tokens)}, merges, ignore_merges=draw(st.booleans()))


@given(
    model=vocabularies_of_many_bytes(),
    texts=st.lists(st.text("中文é😀a", min_size=4, max_size=40), max_size=5),
)
@settings(max_examples=300, deadline=None)
def test_long_pieces_are_cut_only_where_nothing_merges(model: models.BPE, texts: list[str]) -> None:
    tok = Tokenizer(model)
    tok.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    check(*engines(tok), pa.array(texts * 3, pa.string()))


@given(texts=st.lists(TEXT, max_size=5))
@settings(deadline=None)
def test_single_texts_and_batches_are_those_of_the_column(texts: list[str]) -> None:
    native, reference = BY_PATTERN[PATTERNS[1]]
    assert [native.ids(text) for text in texts] == [reference.ids(text) for text in texts]
    assert native.traces(texts) == reference.traces(texts)


def test_a_single_text_may_be_of_any_length() -> None:
    native, reference = BY_PATTERN[PATTERNS[0]]
    for length in (0, 1, 4095, 4096, 4097, 20_000):
        assert native.ids("\n" * length) == reference.ids("\n" * length)


@st.composite
def added_tokens(draw: st.DrawFn) -> list[AddedToken]:
    flags = ("single_word", "lstrip", "rstrip", "normalized", "special")
    contents = st.text("<a>é \u0338", min_size=1, max_size=3)
    chosen = draw(st.lists(contents, max_size=5, unique=True))
    return [AddedToken(c, **{flag: draw(st.booleans()) for flag in flags}) for c in chosen]


@given(
    tokens=added_tokens(),
    texts=st.lists(st.text("<a>éx \n\u0338\u3000", max_size=14), max_size=6),
    nfc=st.booleans(),
    as_text=st.booleans(),
)
@settings(max_examples=300, deadline=None)
def test_added_tokens_are_found_with_all_their_flags(
    tokens: list[AddedToken], texts: list[str], nfc: bool, as_text: bool
) -> None:
    tok = byte_tokenizer(normalizer=normalizers.NFC() if nfc else None, special=())
    tok.add_tokens(tokens)
    tok.encode_special_tokens = as_text
    pipeline = tok._engine.pipeline
    native, why = compile_pipeline(pipeline)
    if native is None:
        assert "white space" in why
        return
    check(native, ReferenceEngine(pipeline), pa.array(texts, pa.string()))


@given(st.lists(st.one_of(st.none(), TEXT), max_size=30), st.integers(0, 30), st.integers(0, 30))
@settings(deadline=None)
def test_any_slice_of_any_column_is_read(texts: list[str | None], start: int, length: int) -> None:
    native, reference = BY_PATTERN[PATTERNS[0]]
    for type in (pa.string(), pa.large_string()):
        check(native, reference, pa.array(texts, type).slice(start, length))


def test_what_lies_under_a_null_is_not_read() -> None:
    offsets, data = (
        pa.py_buffer(pa.array([0, 2, 4, 6], pa.int32()).buffers()[1]),
        pa.py_buffer(b"ab\xff\xffcd"),
    )
    texts = pa.Array.from_buffers(pa.string(), 3, [pa.py_buffer(b"\x05"), offsets, data])
    assert engines(byte_tokenizer())[0].encode(texts).ids.to_pylist()[1] is None


def column_of(offsets: list[int], data: bytes) -> pa.Array:
    buffers = [None, pa.array(offsets, pa.int32()).buffers()[1], pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.string(), len(offsets) - 1, buffers)


@pytest.mark.parametrize(
    "bad", [b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xc0\x80", b"a\x80"]
)
def test_bytes_that_are_no_text_are_refused_with_their_row(bad: bytes) -> None:
    texts = column_of([0, 2, 2 + len(bad), 2 + len(bad)], b"ok" + bad)
    with pytest.raises(NotText, match="row 1: the text is not UTF-8"):
        engines(byte_tokenizer())[0].encode(texts)


@pytest.mark.parametrize("offsets", [[0, 3, 2, 4], [0, 9, 2, 4], [0, -1, 2, 4]])
def test_offsets_that_lead_out_of_the_data_are_refused(offsets: list[int]) -> None:
    with pytest.raises(NotText, match=r"row [01]: the offsets"):
        engines(byte_tokenizer())[0].encode(column_of(offsets, b"text"))


def test_what_the_kernel_says_goes_through_a_context_manager() -> None:
    @contextmanager
    def passing_on() -> Iterator[None]:
        yield

    with pytest.raises(KernelFailure, match="no text"), passing_on():
        raise KernelFailure("no text", 3)


@pytest.mark.parametrize("type", [pa.string(), pa.large_string()], ids=str)
def test_offsets_may_lie_anywhere(type: pa.DataType) -> None:
    valid, offsets, data = pa.array(["hello", None, "world"], type).buffers()
    moved = pa.py_buffer(b"x" + offsets.to_pybytes()).slice(1)
    texts = pa.Array.from_buffers(type, 3, [valid, moved, data])
    native, reference = BY_PATTERN[PATTERNS[0]]
    check(native, reference, texts)


def words(seed: int, count: int) -> str:
    source = random.Random(seed)
    return " ".join(
        source.choice(["hello", "world", "héllo", "1234", "x'll", "\n\n", "猫猫"]) for _ in range(count)
    )


@pytest.mark.parametrize("number", [1, 2, 3, 16])
def test_any_number_of_threads_gives_the_same(number: int) -> None:
    native, reference = BY_PATTERN[PATTERNS[1]]
    texts = pa.array([None if i % 50 == 7 else words(i, i % 300) for i in range(1200)])
    with configured(threads=number):
        check(native, reference, texts)


@pytest.mark.parametrize("broken", [(3,), (1100,), (40, 1100), (600, 601, 1199), tuple(range(0, 1200, 7))])
def test_of_several_broken_texts_the_first_is_told_whatever_thread_finds_it(broken: tuple[int, ...]) -> None:
    native, _ = BY_PATTERN[PATTERNS[0]]
    texts = [b"\xff" if i in broken else words(i, 200).encode() for i in range(1200)]
    column = pa.array(texts, pa.large_binary()).view(pa.large_string())
    for number in (1, 2, 3):
        with configured(threads=number), pytest.raises(NotText, match=f"row {broken[0]}: "):
            native.encode(column)


def test_python_threads_share_an_engine() -> None:
    native, reference = BY_PATTERN[PATTERNS[2]]
    texts = [pa.array([words(100 * i + j, 200) for j in range(20)]) for i in range(8)]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda column: native.encode(column).ids, texts * 3))
    assert found == [reference.encode(column).ids for column in texts] * 3


def test_hundred_thousand_tiny_texts_are_no_trouble() -> None:
    native, reference = BY_PATTERN[PATTERNS[0]]
    texts = pa.array([("", "a", " b", "12", "é'll")[i % 5] for i in range(100_000)])
    start = time.process_time()
    found = native.encode(texts).ids
    assert time.process_time() - start < 2
    assert found == reference.encode(texts).ids


@pytest.mark.parametrize(
    "unit", ["a", "ab", " ", "\n", " \n", "1", "!", "'s", "中", "A", "aA", "é", "\u0301", "👩‍"]
)
@pytest.mark.parametrize("pattern", PATTERNS, ids=range(len(PATTERNS)))
def test_time_grows_with_the_text_alone(pattern: str, unit: str) -> None:
    native = BY_PATTERN[pattern][0]
    check_time_grows_with_the_text_alone(native, unit)


class Leaves:
    def normalize(self, normalized: Any) -> None:
        """Nothing."""

    pre_tokenize = normalize


def test_pipelines_that_the_kernel_does_not_know_say_why() -> None:
    def why(**changes: Any) -> str:
        tok = byte_tokenizer()
        for name, part in changes.items():
            setattr(tok, name, part)
        assert tok.engine.engine.name == ("reference" if "model" in changes else "mixed")
        return tok.engine.why

    assert "it has no CustomNormalizer normalizer" in why(normalizer=normalizers.Normalizer.custom(Leaves()))
    assert "\\1" in why(normalizer=normalizers.Replace(Regex(r"(a)\1"), "b"))
    own = pre_tokenizers.PreTokenizer.custom(Leaves())
    assert "it has no CustomPreTokenizer pre-tokenizer" in why(pre_tokenizer=own)
    assert "at random" in why(model=byte_bpe(dropout=0.1))
    assert "larger than 2097150" in why(model=models.BPE({"a": (1 << 21) - 1}, []))
    assert "may be empty" in split_tokenizer(Regex(r"(?:\w*)+-")).engine.why


def test_the_kernel_runs_what_it_knows_unless_the_settings_say_otherwise() -> None:
    assert "native engine: the kernel knows this pipeline" in repr(byte_tokenizer())
    with configured(engine="reference"):
        assert "reference engine: the settings ask for it" in repr(byte_tokenizer())


def test_asking_for_the_kernel_where_it_cannot_run_is_an_error() -> None:
    pipeline = byte_tokenizer(normalizer=normalizers.Normalizer.custom(Leaves()))._engine.pipeline
    with pytest.raises(TokenizerError, match="CustomNormalizer"):
        choose_engine(pipeline, wanted="native")


def test_models_are_compiled_once_for_all_settings() -> None:
    tok = byte_tokenizer()
    first = tok._engine
    tok.enable_padding()
    assert tok._engine is not first
    start = time.process_time()
    for length in range(1, 200):
        tok.enable_truncation(length)
        assert tok._engine.name == "native"
    assert time.process_time() - start < 1
