"""What holds for any texts: a batch is its rows, padding later is padding at once, windows lose nothing."""

from __future__ import annotations

import functools
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from arrowprep import PreTrainedTokenizer, load_tokenizer
from tests.tokenize.small import write_folder

TEXT = st.text(st.sampled_from("hello world12Hi\n\té猫🙂") | st.characters(codec="utf-8"), max_size=30)
TEXTS = st.lists(TEXT | st.sampled_from(["hello world", "<bos>x", "<pad>"]), max_size=5)
SIDE = st.sampled_from(["left", "right"])

few = settings(max_examples=60, deadline=None)


@functools.cache
def tok() -> PreTrainedTokenizer:
    with TemporaryDirectory() as folder:
        return load_tokenizer(write_folder(Path(folder)), model_max_length=10_000)


@few
@given(TEXTS)
def test_a_batch_is_its_rows(texts: list[str]) -> None:
    options = {"return_offsets_mapping": True, "return_special_tokens_mask": True, "verbose": False}
    batch = tok()(texts, **options)
    for row, text in enumerate(texts):
        assert {key: column[row] for key, column in batch.items()} == dict(tok()(text, **options))


@few
@given(TEXT, SIDE, st.sampled_from([None, 2, 5]), st.sampled_from([None, 1, 4, 30]))
def test_one_text_is_a_row_of_a_batch(text: str, side: str, cut: int | None, multiple: int | None) -> None:
    tokenizer = tok()
    tokenizer.truncation_side = side
    options = {
        "truncation": cut is not None,
        "max_length": cut,
        "padding": multiple is not None,
        "pad_to_multiple_of": multiple,
        "padding_side": side,
        "return_token_type_ids": True,
        "return_special_tokens_mask": True,
        "verbose": False,
    }
    if cut and multiple and cut % multiple:
        options["padding"] = False
    alone, batch = tokenizer(text, **options), tokenizer([text, text], **options)
    assert dict(alone) == {key: column[0] for key, column in batch.items()}
    assert alone.encodings[0] == batch.encodings[0]


@few
@given(TEXTS, st.integers(0, 3), st.integers(0, 3))
def test_a_slice_of_a_column_is_read_as_a_slice(texts: list[str], before: int, after: int) -> None:
    column = pa.array(["skip"] * before + texts + ["skip"] * after).slice(before, len(texts))
    assert tok()(column, verbose=False) == tok()(texts, verbose=False)


@few
@given(TEXTS, SIDE, st.sampled_from([None, 4, 8]), st.sampled_from([None, 3, 40]))
def test_padding_later_is_padding_at_once(
    texts: list[str], side: str, multiple: int | None, length: int | None
) -> None:
    options = {
        "padding": "longest" if length is None else "max_length",
        "max_length": length,
        "pad_to_multiple_of": multiple,
        "padding_side": side,
    }
    encode = {"return_token_type_ids": True, "return_special_tokens_mask": True, "verbose": False}
    assert tok().pad(tok()(texts, **encode), **options) == tok()(texts, **encode, **options)


@few
@given(TEXTS, st.integers(3, 9), SIDE)
def test_windows_without_stride_put_together_are_the_text(texts: list[str], length: int, side: str) -> None:
    tokenizer = tok()
    tokenizer.truncation_side = side
    options = {"add_special_tokens": False, "verbose": False}
    cut = tokenizer(texts, truncation=True, max_length=length, return_overflowing_tokens=True, **options)
    together: list[list[int]] = [[] for _ in texts]
    for sample, ids in zip(cut["overflow_to_sample_mapping"], cut["input_ids"], strict=True):
        assert len(ids) <= length
        together[sample] = ids + together[sample] if side == "left" else together[sample] + ids
    assert together == tokenizer(texts, **options)["input_ids"]


@few
@given(TEXTS)
def test_bytes_come_back_as_the_text(texts: list[str]) -> None:
    ids = tok()(texts, add_special_tokens=False)["input_ids"]
    assert tok().batch_decode(ids) == texts


@few
@given(TEXTS, st.booleans())
def test_what_is_written_does_not_depend_on_looking(texts: list[str], padding: bool) -> None:
    options = {"padding": padding, "return_offsets_mapping": True, "verbose": False}
    untouched, looked_at = tok()(texts, **options), tok()(texts, **options)
    assert dict(looked_at.items())
    assert pa.table(looked_at) == pa.table(untouched)
