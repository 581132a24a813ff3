"""tokenizer.json: written as it was read, and every mistake named with its place."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest

from arrowprep.errors import BadTokenizerFile, MissingFile, UnsupportedComponent
from arrowprep.tokenize import Tokenizer
from tests.tokenize.small import pipeline


def load(**changes: Any) -> Tokenizer:
    return Tokenizer.from_str(json.dumps(pipeline(**changes)))


def model(**changes: Any) -> dict[str, Any]:
    return {**pipeline()["model"], **changes}


def test_a_file_is_written_as_it_was_read() -> None:
    content = pipeline(
        truncation={"direction": "Left", "max_length": 7, "strategy": "OnlyFirst", "stride": 2}
    )
    content["post_processor"]["special_tokens"] = dict(
        sorted(content["post_processor"]["special_tokens"].items())
    )
    tok = Tokenizer.from_str(json.dumps(content))
    assert json.loads(tok.to_str()) == content
    assert tok.to_str() == json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    assert tok.to_str(pretty=True) == json.dumps(content, ensure_ascii=False, indent=2)


def test_sequences_of_nothing_are_kept() -> None:
    content = pipeline(
        normalizer={"type": "Sequence", "normalizers": []},
        pre_tokenizer={"type": "Sequence", "pretokenizers": []},
        post_processor={"type": "Sequence", "processors": []},
        decoder={"type": "Sequence", "decoders": []},
    )
    tok = Tokenizer.from_str(json.dumps(content))
    assert json.loads(tok.to_str()) == content
    assert tok.encode("he").tokens == ["he"]


def test_small_numbers_are_written_as_the_reference_does() -> None:
    scores = ["-0.5", "-0.0000125", "0.00001", "-1e-6", "2.5e-10", "1e+16", "0.0001"]
    given = [[f"t{i}", float(score)] for i, score in enumerate(scores)]
    content = model(type="Unigram", unk_id=0, vocab=given, byte_fallback=False)
    tok = load(model={key: content[key] for key in ("type", "unk_id", "vocab", "byte_fallback")})
    for pretty in (False, True):
        text = tok.to_str(pretty)
        assert all(re.search(rf'"t{i}",\s*{re.escape(score)}\s*]', text) for i, score in enumerate(scores))
        assert json.loads(text)["model"]["vocab"] == given


def test_old_spellings_are_read() -> None:
    old = model(merges=["h e"])
    del old["type"], old["byte_fallback"], old["ignore_merges"]
    pre = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}
    tok = load(model=old, pre_tokenizer=pre)
    assert tok.encode("he", add_special_tokens=False).tokens == ["he"]
    assert json.loads(tok.to_str())["model"]["merges"] == [["h", "e"]]


def test_files_may_be_compressed(tmp_path: Path) -> None:
    plain, packed = tmp_path / "tokenizer.json", tmp_path / "tokenizer.json.gz"
    tok = load()
    tok.save(plain)
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    for again in (
        Tokenizer.from_file(plain),
        Tokenizer.from_file(str(packed)),
        Tokenizer.from_buffer(plain.read_bytes()),
    ):
        assert again.to_str() == tok.to_str()


PADDING = {
    "strategy": {"Fixed": 9},
    "direction": "Left",
    "pad_to_multiple_of": 4,
    "pad_id": 3,
    "pad_type_id": 1,
    "pad_token": "#",
}
BROKEN: dict[str, tuple[dict[str, Any], str]] = {
    "no model": ({"model": None}, "model is null, not an object"),
    "a vocabulary that is a list": ({"model": model(vocab=["a"])}, r"model\.vocab is a list, not an object"),
    "an id that is text": ({"model": model(vocab={"a": "1"}, merges=[])}, "token 'a'"),
    "a negative id": ({"model": model(vocab={"a": -1}, merges=[])}, "the id -1 of token 'a' is out of range"),
    "a huge id of an added token": (
        {"added_tokens": [{"id": 2**40, "content": "<x>", "special": True}]},
        "the id 1099511627776 of an added token is out of range",
    ),
    "a huge id": ({"model": model(vocab={"a": 2**32}, merges=[])}, "out of range"),
    "a merge of what is not there": ({"model": model(merges=[["h", "猫"]])}, r"model: merges\[0\] joins 'h'"),
    "a merge into what is not there": (
        {"model": model(merges=[["q", "q"]])},
        "'qq' is not in the vocabulary",
    ),
    "a merge of three": ({"model": model(merges=["h e", "a b c"])}, r"merges\[1\] is 'a b c', not a pair"),
    "a merge that is a number": ({"model": model(merges=[7])}, r"merges\[0\] is 7"),
    "a flag that is a number": ({"model": model(fuse_unk=1)}, r"model\.fuse_unk is 1, not true or false"),
    "a pattern that is none": (
        {
            "pre_tokenizer": {
                "type": "Split",
                "pattern": {"Regex": "("},
                "behavior": "Isolated",
                "invert": False,
            }
        },
        "pattern",
    ),
    "an unknown behavior": (
        {"pre_tokenizer": {"type": "Split", "pattern": {"String": "a"}, "behavior": "Cut", "invert": False}},
        "'Cut', which is none of Removed",
    ),
    "a part of a sequence that is text": (
        {"pre_tokenizer": {"type": "Sequence", "pretokenizers": ["ByteLevel"]}},
        r"pre_tokenizer\.pretokenizers\[0\] is a text",
    ),
    "a missing option": (
        {"pre_tokenizer": {"type": "ByteLevel"}},
        "pre_tokenizer: 'add_prefix_space' is missing",
    ),
    "added tokens that are texts": ({"added_tokens": ["<s>"]}, r"added_tokens\[0\] is a text"),
    "a padding without an id": ({"padding": {**PADDING, "pad_id": None}}, r"padding\.pad_id is null"),
    "a truncation of nothing": ({"truncation": {"max_length": -1}}, "truncation: 'max_length' is negative"),
}


@pytest.mark.parametrize(("changes", "message"), BROKEN.values(), ids=BROKEN)
def test_a_mistake_is_named_with_its_place(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(BadTokenizerFile, match=message):
        load(**changes)


UNKNOWN: dict[str, tuple[dict[str, Any], str]] = {
    "a model": ({"model": {"type": "Mamba"}}, "model is a model 'Mamba', which is unsupported"),
    "a normalizer": ({"normalizer": {"type": "Shout"}}, "normalizer 'Shout'"),
    "one within a sequence": (
        {"normalizer": {"type": "Sequence", "normalizers": [{"type": "NFC"}, {"type": "Shout"}]}},
        r"normalizer\.normalizers\[1\]",
    ),
    "an option": ({"normalizer": {"type": "NFC", "loud": True}}, "normalizer has an option 'loud'"),
    "an option of the model": ({"model": model(loud=True)}, "model has an option 'loud'"),
    "a section": ({"aligner": {}}, "tokenizer has an option 'aligner'"),
}


@pytest.mark.parametrize(("changes", "message"), UNKNOWN.values(), ids=UNKNOWN)
def test_nothing_unknown_is_passed_over(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(UnsupportedComponent, match=message):
        load(**changes)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"not json",
        b"[]",
        b"{}",
        b"\xff\xfe",
        b'{"model": {"type": "BPE"',
        b"[" * 100_000,
        b"\x1f\x8bbroken",
    ],
)
def test_what_is_no_tokenizer_file_is_refused(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_bytes(data)
    with pytest.raises(BadTokenizerFile):
        Tokenizer.from_file(path)


def test_a_file_cut_short_anywhere_is_refused() -> None:
    whole = json.dumps(pipeline())
    for length in range(0, len(whole) - 1, 997):
        with pytest.raises(BadTokenizerFile):
            Tokenizer.from_str(whole[:length])


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(MissingFile, match="nowhere"):
        Tokenizer.from_file(tmp_path / "nowhere.json")
