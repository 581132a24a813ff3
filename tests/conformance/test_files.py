"""Ids of .tiktoken files, tekken.json and SentencePiece models against golden data of their own libraries."""

from __future__ import annotations

import gzip
from functools import cache
from itertools import accumulate
from typing import Any

import pytest

from arrowprep import load_tokenizer
from arrowprep.tokenize import PreTrainedTokenizer
from arrowprep.tokenize.files.tiktoken import read_tiktoken
from arrowprep.tokenize.tokenizer import Tokenizer
from tests.conformance.test_tokenizers import FOLDER, HOME, digest, records, texts

pytestmark = [
    pytest.mark.conformance,
    pytest.mark.skipif(HOME is None, reason="ARROWPREP_CONFORMANCE does not name the golden data"),
]

TIKTOKEN = {
    "whisper__gpt2": "whisper/gpt2.tiktoken",
    "whisper__multilingual": "whisper/multilingual.tiktoken",
    "qwen_tiktoken__qwen": "qwen_tiktoken/qwen.tiktoken.gz",
}


def same(record: dict[str, Any], key: str, value: Any) -> bool:
    """Whether a value is the recorded one, which for long texts is a hash."""
    return bool(value == record[key] if key in record else digest(value) == record[f"{key}_h"])


def same_text(recorded: Any, text: str, source: str) -> bool:
    """True stands for the source text, an object for a hash."""
    if isinstance(recorded, dict):
        return bool(digest(text) == recorded["h"])
    return bool(text == (source if recorded is True else recorded))


def report(name: str, checked: int, different: list[Any]) -> None:
    print(f"{name}: {checked - len(different)}/{checked}")
    assert not different, f"{len(different)} of {checked} differ, first {different[:5]}"


@pytest.mark.parametrize("name", TIKTOKEN)
def test_tiktoken_files_give_the_ids_of_tiktoken(name: str) -> None:
    meta, *rows = records(name)
    path = FOLDER / "tokenizers" / TIKTOKEN[name]
    content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    tok = read_tiktoken(content, special_tokens=meta["special_tokens"])
    assert tok.pre_tokenizer is not None
    assert tok.pre_tokenizer[0].pattern.source == meta["pat_str"], "known by its number of ranks"  # type: ignore[index]
    different = []
    for row in rows:
        text = texts()[row["t"]]
        tok.encode_special_tokens = True
        plain = tok.encode(text).ids
        tok.encode_special_tokens = False
        special = tok.encode(text).ids
        decoded = tok.decode(plain, skip_special_tokens=False)
        right = same(row, "ids", plain) and same_text(row["dec"], decoded, text)
        right &= (special == plain) if row["sp"] is True else special == row["sp"]
        if not right:
            different.append(row["t"])
    report(name, len(rows), different)


@cache
def tekken() -> PreTrainedTokenizer:
    return load_tokenizer(FOLDER / "tokenizers" / "tekken", add_bos_token=True, add_eos_token=True)


def test_tekken_gives_the_ids_of_mistral() -> None:
    meta, *rows = records("tekken")
    tok = tekken()
    assert len(tok) == meta["n_words"]
    assert tok.convert_ids_to_tokens(list(range(len(meta["special"])))) == meta["special"]
    different = []
    for row in rows:
        text = texts()[row["t"]]
        ids = tok(text)["input_ids"]
        decoded = tok.decode(ids, skip_special_tokens=True)
        if not (same(row, "ids", ids) and same_text(row["dec"], decoded, text)):
            different.append(row["t"])
    report("tekken", len(rows), different)


def test_a_vocabulary_alone_is_read_as_its_tokenizer_json() -> None:
    folder = FOLDER / "tokenizers" / "minilm"
    alone = load_tokenizer(folder / "vocab.txt").backend_tokenizer
    whole = Tokenizer.from_file(folder / "tokenizer.json")
    whole.no_truncation()
    whole.no_padding()
    different = [t for t in texts()[:200] if alone.encode(t).ids != whole.encode(t).ids]
    report("minilm/vocab.txt", 200, different)


MODELS = {
    "spm_en": "spm_en/spiece.model",
    "spm_ja": "spm_ja/spiece.model",
    "mistral_v1": "mistral_v1/tokenizer.model",
    "mistral_v3": "mistral_v3/tokenizer.model",
}


@pytest.mark.parametrize("name", MODELS)
def test_models_give_ids_offsets_and_texts_of_sentencepiece(name: str) -> None:
    _, *rows = records(name)
    tok = load_tokenizer(FOLDER / "tokenizers" / MODELS[name]).backend_tokenizer
    assert tok.normalizer is not None
    tok.encode_special_tokens = True
    different = []
    for row in rows:
        text = texts()[row["t"]]
        encoding = tok.encode(text, add_special_tokens=False)
        # recorded in bytes
        places = list(accumulate((len(character.encode()) for character in text), initial=0))
        right = (
            same(row, "ids", encoding.ids)
            and same(row, "off", [places[at] for span in encoding.offsets for at in span])
            and digest(encoding.tokens) == row["th"]
            and same_text(row["norm"], tok.normalizer.normalize_str(text), text)
            and same_text(row["dec"], tok.decode(encoding.ids, skip_special_tokens=False), text)
        )
        if not right:
            different.append(row["t"])
    report(name, len(rows), different)
