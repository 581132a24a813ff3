"""The kernel's BPE over characters beside the reference engine: small vocabularies of every kind."""

from __future__ import annotations

import itertools
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arrowprep.errors import TokenizerError
from arrowprep.tokenize import AddedToken, Tokenizer, models, normalizers, pre_tokenizers
from arrowprep.tokenize.engine import Engine, choose_engine
from arrowprep.tokenize.native import NativeEngine, compile_pipeline
from arrowprep.tokenize.native_library import load
from arrowprep.tokenize.reference import ReferenceEngine
from tests.tokenize.engine_contract import rows
from tests.tokenize.growth import check_time_grows_with_the_text_alone

library = load()
pytestmark = pytest.mark.skipif(isinstance(library, str), reason=str(library))

SPACE = "\u2581"
BYTES = [f"<0x{byte:02X}>" for byte in range(256)]
TEXT = st.text(f"aab  {SPACE}é中x<\n\u0301", max_size=40)


def check(tok: Tokenizer, texts: list[str | None], cache_bytes: int | None = None) -> None:
    """The kernel agrees with the reference: in what it gives, and in what it refuses."""
    pipeline = tok._engine.pipeline
    native, why = compile_pipeline(pipeline, cache_bytes)
    assert native is not None, why
    column = pa.array(texts, pa.string())
    expected = outcome(ReferenceEngine(pipeline), column, places=True)
    for places in (True, False, False, True):  # with a cache that is cold, and warm
        found = outcome(native, column, places=places)
        assert found == (expected if places or isinstance(expected, dict) else [row[:1] for row in expected])


def outcome(engine: Engine, column: pa.Array, *, places: bool) -> Any:
    """The rows, or the facts of the error."""
    try:
        return rows(engine.encode(column, offsets=places, words=places))
    except TokenizerError as error:
        return error.facts


@st.composite
def vocabularies(draw: st.DrawFn) -> models.BPE:
    """Merges in any order, some twice, of tokens that may come later; characters and bytes may be missing."""
    letters = draw(st.sets(st.sampled_from(["a", "b", SPACE, "é", "中", "<", " "])))
    all_bytes = draw(st.booleans())
    some = (
        BYTES
        if all_bytes
        else draw(st.lists(st.sampled_from(BYTES[0xC3:0xC4] + BYTES[0xA9:0xAA] + BYTES[97:98])))
    )
    unknown = draw(st.sampled_from([None, "<unk>", "<missing>"]))
    base = sorted(letters) + some + ["<unk>"]
    known = draw(st.sampled_from([sorted(letters), base])) or base
    merges: list[tuple[str, str]] = []
    for _ in range(draw(st.integers(0, 12))):
        left, right = draw(st.sampled_from(known)), draw(st.sampled_from(known))
        merges.append((left, right))
        known = [*known, left + right]
    merges = draw(st.permutations(merges + merges[: draw(st.integers(0, 2))]))
    tokens = sorted({*base, *known})
    return models.BPE(
        {token: id for id, token in enumerate(draw(st.permutations(tokens)) if len(tokens) < 40 else tokens)},
        merges,
        unk_token=unknown,
        fuse_unk=draw(st.booleans()),
        byte_fallback=draw(st.booleans()),
        ignore_merges=draw(st.sampled_from([False, False, True])),
    )


NORMALIZERS: list[Any] = [
    None,
    normalizers.Sequence([normalizers.Prepend(SPACE), normalizers.Replace(" ", SPACE)]),
    normalizers.Sequence([normalizers.Replace(" ", SPACE), normalizers.Prepend(SPACE)]),
    normalizers.Sequence([normalizers.Replace("ab", "b"), normalizers.Replace(" ", SPACE)]),
    normalizers.Sequence(
        [normalizers.Replace("a", ""), normalizers.Replace("b", " é"), normalizers.Prepend(" ")]
    ),
    normalizers.Replace(" ", SPACE),
]
PRE_TOKENIZERS: list[Any] = [
    None,
    *(
        pre_tokenizers.Metaspace(SPACE, scheme, split)
        for scheme in ("always", "never")
        for split in (True, False)
    ),
]
FIRST = [pre_tokenizers.Metaspace(SPACE, "first", split) for split in (True, False)]


def tokenizer(model: models.Model, normalizer: Any = None, pre_tokenizer: Any = None) -> Tokenizer:
    tok = Tokenizer(model)
    tok.normalizer, tok.pre_tokenizer = normalizer, pre_tokenizer
    return tok


@given(
    model=vocabularies(),
    texts=st.lists(st.one_of(st.none(), TEXT), max_size=5),
    normalizer=st.sampled_from(NORMALIZERS),
    pre_tokenizer=st.sampled_from(PRE_TOKENIZERS),
)
@settings(max_examples=120, deadline=None)
def test_any_vocabulary_behind_any_way_to_write_spaces(
    model: models.BPE, texts: list[str | None], normalizer: Any, pre_tokenizer: Any
) -> None:
    check(tokenizer(model, normalizer, pre_tokenizer), texts)


@given(model=vocabularies(), texts=st.lists(TEXT, max_size=5), split=st.sampled_from(FIRST))
@settings(max_examples=50, deadline=None)
def test_a_space_goes_before_the_first_word_alone(model: models.BPE, texts: list[str], split: Any) -> None:
    for normalizer in (None, *NORMALIZERS[1:3]):
        tok = tokenizer(model, normalizer, split)
        tok.add_tokens([AddedToken("x", normalized=False), AddedToken("<\n", normalized=True)])
        check(tok, list(texts))


LED: list[tuple[Any, Any]] = [
    (NORMALIZERS[1], None),
    *((None, pre_tokenizers.Metaspace(SPACE, scheme, split=False)) for scheme in ("always", "first")),
]


@pytest.mark.parametrize(("normalizer", "pre_tokenizer"), LED)
def test_a_space_in_front_is_a_piece_with_what_a_merge_joins_it_to(
    normalizer: Any, pre_tokenizer: Any
) -> None:
    # beside a space: joined to a, é and a space; not to b, 中 and what is unknown
    merges = [(SPACE, "a"), (SPACE, "é"), (SPACE, SPACE), ("a", "é"), ("é", "a"), ("b", "b"), ("bb", "中")]
    base = ["<unk>", SPACE, *"abé中", *BYTES]
    vocab = list(dict.fromkeys([*base, *(left + right for left, right in merges)]))
    model = models.BPE(
        {token: id for id, token in enumerate(vocab)}, merges, byte_fallback=True, unk_token="<unk>"
    )
    tok = tokenizer(model, normalizer, pre_tokenizer)
    tok.add_tokens([AddedToken("<m>", normalized=False)])
    parts = ["a", "b", "é", "中", "\U0001f600", " ", SPACE, "<m>"]
    worlds = ["".join(world) for n in range(5) for world in itertools.product(parts[-9 + n :], repeat=n)]
    longer = [part * n for part in ("a", "é", "aé", "b", " ", "ab中é") for n in (6, 13, 14, 15, 16, 700)]
    check(tok, [None, *worlds, *longer])


@st.composite
def added_tokens(draw: st.DrawFn) -> list[AddedToken]:
    contents = draw(st.lists(st.text(f"ab {SPACE}<", min_size=1, max_size=3), max_size=5, unique=True))
    return [
        AddedToken(
            content,
            single_word=draw(st.booleans()),
            lstrip=draw(st.booleans()),
            normalized=draw(st.booleans()),
            special=draw(st.booleans()),
        )
        for content in contents
    ]


@given(
    tokens=added_tokens(),
    texts=st.lists(TEXT, max_size=5),
    normalizer=st.sampled_from(NORMALIZERS),
    pre_tokenizer=st.sampled_from(PRE_TOKENIZERS),
)
@settings(max_examples=120, deadline=None)
def test_added_tokens_are_found_before_and_after_normalizing(
    tokens: list[AddedToken], texts: list[str], normalizer: Any, pre_tokenizer: Any
) -> None:
    vocab = ["a", "b", SPACE, "é", f"{SPACE}a", "ab", "<", *BYTES]
    merges = [(SPACE, "a"), ("a", "b")]
    model = models.BPE({token: id for id, token in enumerate(vocab)}, merges, byte_fallback=True)
    tok = tokenizer(model, normalizer, pre_tokenizer)
    tok.add_tokens(tokens)
    if compile_pipeline(tok._engine.pipeline)[0] is None:
        assert "white space" in tok.engine.why
        return
    check(tok, list(texts))


def llama_like() -> Tokenizer:
    tokens = [
        "<unk>",
        *BYTES,
        SPACE,
        *"helowrd",
        f"{SPACE}h",
        "el",
        "lo",
        f"{SPACE}hel",
        f"{SPACE}hello",
        SPACE * 2,
    ]
    merges = [
        (SPACE, "h"),
        ("e", "l"),
        ("l", "o"),
        (f"{SPACE}h", "el"),
        (f"{SPACE}hel", "lo"),
        (SPACE, SPACE),
    ]
    model = models.BPE(
        {token: id for id, token in enumerate(tokens)},
        merges,
        unk_token="<unk>",
        fuse_unk=True,
        byte_fallback=True,
    )
    return tokenizer(model, NORMALIZERS[1])


def test_caches_of_any_size_give_the_same() -> None:
    texts = ["hello  world", f"hello{SPACE}hello", "h" * 50, "é" * 9, "hellohello hello" * 20]
    for cache_bytes in (0, 500, 1 << 20):
        check(llama_like(), [*texts, None, ""], cache_bytes)


@pytest.mark.parametrize("unit", ["h", "he", " ", " hello", "1", "中", "é", "\n", SPACE, "\u0301"])
@pytest.mark.parametrize("places", [False, True])
def test_time_grows_with_the_text_alone(unit: str, places: bool) -> None:
    native = choose_engine(llama_like()._engine.pipeline, wanted="native").engine
    assert isinstance(native, NativeEngine)
    check_time_grows_with_the_text_alone(native, unit, offsets=places, words=places)


def test_a_piece_that_cannot_be_spelled_is_an_error_with_its_row() -> None:
    tok = tokenizer(models.BPE({"a": 0}, [], unk_token="<unk>"))
    assert tok.engine.engine.name == "native"
    with pytest.raises(TokenizerError, match="row 2: the unknown token '<unk>'") as caught:
        tok.engine.engine.encode(pa.array(["a", None, "ab"]))
    assert caught.value.facts["row"] == 2
