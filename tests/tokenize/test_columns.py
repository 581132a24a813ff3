"""Columns: what is computed on flat buffers is what encoding row by row gives."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arrowprep.errors import NotText
from arrowprep.tokenize import Columns, Encoding, Padding, Tokenizer, Truncation, processors
from tests.tokenize.build import byte_tokenizer

TEMPLATES = {t: byte_tokenizer(template=t) for t in ("$A:2", "<s>:1 $A </s>", "<s> <s> $A", "<s> </s>")}
TEXTS = st.lists(st.one_of(st.none(), st.text("hello wé猫 <s>", max_size=12)), max_size=6)
TRUNCATIONS = st.one_of(
    st.none(),
    st.builds(
        Truncation,
        max_length=st.integers(4, 9),
        stride=st.integers(0, 1),
        direction=st.sampled_from(["left", "right"]),
    ),
)
PADDINGS = st.one_of(
    st.none(),
    st.builds(
        Padding,
        direction=st.sampled_from(["left", "right"]),
        pad_id=st.just(7),
        pad_type_id=st.just(3),
        length=st.one_of(st.none(), st.integers(0, 12)),
        pad_to_multiple_of=st.one_of(st.none(), st.integers(1, 5)),
    ),
)


def one_by_one(
    tok: Tokenizer, texts: list[str | None], truncation: Truncation | None, padding: Padding | None
) -> list[Encoding | None]:
    """The rows by way of `encode_batch`, with what overflows after each."""
    if truncation:
        tok.enable_truncation(**truncation.as_dict())
    if padding:
        tok.enable_padding(**padding.as_dict())
    try:
        encodings = iter(tok.encode_batch([text for text in texts if text is not None]))
    finally:
        tok.no_truncation()
        tok.no_padding()
    rows: list[Encoding | None] = []
    for text in texts:
        encoding = None if text is None else next(encodings)
        rows += [encoding, *(encoding.overflowing if encoding else [])]
    return rows


def lists(columns: Columns) -> list[Any]:
    assert columns.special_tokens_mask is not None
    assert columns.starts is not None
    assert columns.ends is not None
    assert columns.words is not None
    parts = (
        columns.ids,
        columns.type_ids,
        columns.attention_mask,
        columns.special_tokens_mask,
        columns.starts,
        columns.ends,
        columns.words,
    )
    return list(zip(*(part.to_pylist() for part in parts), strict=True))


def as_row(e: Encoding | None) -> tuple[Any, ...]:
    if e is None:
        return (None,) * 7
    starts, ends = [start for start, _ in e.offsets], [end for _, end in e.offsets]
    return (e.ids, e.type_ids, e.attention_mask, e.special_tokens_mask, starts, ends, e.words)


@pytest.mark.parametrize("template", TEMPLATES)
@settings(max_examples=60)
@given(texts=TEXTS, truncation=TRUNCATIONS, padding=PADDINGS)
def test_columns_are_the_rows_one_by_one(
    template: str, texts: list[str | None], truncation: Truncation | None, padding: Padding | None
) -> None:
    tok = TEMPLATES[template]
    rows = one_by_one(tok, texts, truncation, padding)
    columns = tok.encode_columns(
        texts, truncation=truncation, padding=padding, offsets=True, words=True, special_tokens_mask=True
    )
    assert lists(columns) == [as_row(row) for row in rows]
    for i, row in enumerate(rows):
        assert columns.encoding(i).ids == (row.ids if row else [])


@settings(max_examples=60)
@given(texts=TEXTS, truncation=TRUNCATIONS, padding=PADDINGS)
def test_what_overflows_can_be_dropped(
    texts: list[str | None], truncation: Truncation | None, padding: Padding | None
) -> None:
    tok = TEMPLATES["<s>:1 $A </s>"]
    kept = tok.encode_columns(texts, truncation=truncation, padding=padding, overflow=False)
    every = tok.encode_columns(texts, truncation=truncation, padding=padding)
    sample = every.sample.to_pylist() if every.sample is not None else list(range(len(texts)))
    first = [sample.index(row) for row in range(len(texts))]
    assert kept.sample is None
    assert kept.ids.to_pylist() == [every.ids[i].as_py() for i in first]


def test_pairs_are_encoded_as_pairs() -> None:
    tok = byte_tokenizer(template="<s> $A </s>")
    columns = tok.encode_columns(["hello", "hello world"], ["world", None], padding=Padding())
    assert columns.ids.to_pylist() == [e.ids for e in _padded(tok)]
    assert columns.type_ids.to_pylist() == [e.type_ids for e in _padded(tok)]


def _padded(tok: Tokenizer) -> list[Encoding]:
    tok.enable_padding()
    try:
        return tok.encode_batch([("hello", "world"), "hello world"])
    finally:
        tok.no_padding()


def test_arrow_and_lists_are_the_same() -> None:
    tok = byte_tokenizer(template="<s> $A </s>")
    texts = ["hello", None, "world"]
    want = tok.encode_columns(texts).ids
    for column in (
        pa.array(texts),
        pa.chunked_array([["hello"], [None, "world"]]),
        pa.array(texts).dictionary_encode(),
    ):
        assert tok.encode_columns(column).ids == want
    assert tok.encode_columns(pa.array(texts).slice(1, 2)).ids == want.slice(1, 2)


def test_words_are_encoded_as_words() -> None:
    tok = byte_tokenizer(template="<s> $A </s>")
    columns = tok.encode_columns([["hello", "world"]], is_pretokenized=True, words=True)
    assert columns.words is not None
    assert columns.words.to_pylist() == [tok.encode(["hello", "world"], is_pretokenized=True).words]


def test_trimmed_offsets_stay_trimmed() -> None:
    tok = byte_tokenizer()
    tok.post_processor = processors.ByteLevel(add_prefix_space=False, trim_offsets=True)
    columns = tok.encode_columns(["hello world"], offsets=True)
    assert columns.starts is not None
    assert columns.starts.to_pylist() == [[0, 6]]


def test_a_call_may_see_special_tokens_as_text() -> None:
    tok = byte_tokenizer()
    assert tok.encode_columns(["<s>"]).ids.to_pylist() == [[268]]
    assert tok.encode_columns(["<s>"], encode_special_tokens=True).ids.to_pylist() == [list(b"<s>")]
    assert tok.encode_columns(["<s>"]).ids.to_pylist() == [[268]]
    assert not tok.encode_special_tokens


def test_the_tokenizers_own_settings_play_no_part() -> None:
    tok = byte_tokenizer()
    tok.enable_truncation(1)
    tok.enable_padding(length=9)
    assert tok.encode_columns(["hello world"]).ids.to_pylist() == [[259, 264]]


@pytest.mark.parametrize("texts", [["a", 3], ["a", "\ud800"], [["a"]], [b"\xff"]])
def test_what_is_no_text_is_refused(texts: list[Any]) -> None:
    with pytest.raises(NotText):
        byte_tokenizer().encode_columns(texts)


def test_a_limit_below_the_special_tokens_is_refused() -> None:
    tok = byte_tokenizer(template="<s> $A </s>")
    with pytest.raises(ValueError, match="below the 2 special tokens"):
        tok.encode_columns(["hello"], truncation=Truncation(1))
    with pytest.raises(ValueError, match="stride=3"):
        tok.encode_columns(["hello hello hello world"], truncation=Truncation(5, stride=3))
