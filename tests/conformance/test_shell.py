"""The shell against transformers' records: attributes, calls, padding, methods, queries, adding, saving."""

from __future__ import annotations

import copy
import gzip
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from arrowprep import PreTrainedTokenizer, load_tokenizer
from arrowprep.errors import ArrowprepWarning, UnsupportedComponent
from arrowprep.tokenize.added_tokens import AddedToken

ROOT = os.environ.get("ARROWPREP_CONFORMANCE")
NAMES = ("gpt2", "qwen3", "llama3like", "minilm", "llama2like", "xlmr")

pytestmark = [
    pytest.mark.conformance,
    pytest.mark.skipif(ROOT is None, reason="ARROWPREP_CONFORMANCE is not set"),
    pytest.mark.filterwarnings(f"ignore::{ArrowprepWarning.__module__}.{ArrowprepWarning.__name__}"),
]


@pytest.fixture(scope="module")
def records() -> list[dict[str, Any]]:
    assert ROOT
    with gzip.open(Path(ROOT) / "golden" / "shell.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


@pytest.fixture(scope="module", params=NAMES)
def golden(request: pytest.FixtureRequest, records: list[dict[str, Any]]) -> Golden:
    assert ROOT
    try:
        return Golden(request.param, Path(ROOT) / "tokenizers" / request.param, records)
    except UnsupportedComponent as error:
        pytest.skip(f"{request.param} is refused at load: {error}")


class Golden:
    """The records of one tokenizer, and the tokenizer: as loaded, and with the pad token of the records."""

    def __init__(self, name: str, folder: Path, records: list[dict[str, Any]]) -> None:
        self.texts = records[0]["texts"]
        self.records = [record for record in records if record.get("n") == name]
        self.pristine = load_tokenizer(folder)
        self.tokenizer = self.fresh()
        if pad := self.one("attrs")["set_pad"]:
            self.tokenizer.pad_token = pad

    def fresh(self) -> PreTrainedTokenizer:
        return copy.deepcopy(self.pristine)

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [record for record in self.records if record["k"] == kind]

    def one(self, kind: str) -> dict[str, Any]:
        (record,) = self.of(kind)
        return record


def test_attributes(golden: Golden) -> None:
    tokenizer = golden.fresh()
    expected = golden.one("attrs")
    computed = {
        "len": len(tokenizer),
        "n_added": len(tokenizer.added_tokens_decoder),
        "num_special": [tokenizer.num_special_tokens_to_add(pair) for pair in (False, True)],
    }
    for name, value in expected.items():
        if name not in ("k", "n", "set_pad"):
            assert (computed[name] if name in computed else getattr(tokenizer, name)) == value, name


def test_calls(golden: Golden) -> None:
    before = load_sided(golden, "right").fingerprint
    differences = [difference for record in golden.of("call") if (difference := _compare(golden, record))]
    assert not differences, f"{len(differences)} differ; the first: {differences[0]}"
    assert load_sided(golden, "right").fingerprint == before


def _compare(golden: Golden, record: dict[str, Any]) -> str | None:
    tokenizer = load_sided(golden, record["side"])
    if record["args"] == [[]] and "err" in record:
        return None  # a named deviation: an empty batch is a batch
    try:
        given = shown(tokenizer(*record["args"], **record["kw"]))
    except Exception as error:
        expected = record.get("err")
        kinds = {"ValueError": ValueError, "TypeError": TypeError}
        good = expected is not None and isinstance(error, kinds.get(expected, Exception))
        return None if good else f"{record}: raised {error!r}"
    return None if given == record.get("out") else f"{record}: gave {given}"


def load_sided(golden: Golden, side: str) -> Any:
    golden.tokenizer.padding_side = golden.tokenizer.truncation_side = side
    return golden.tokenizer


def shown(value: Any) -> Any:
    """Values as the records write them."""
    if isinstance(value, np.ndarray):
        return {"np": str(value.dtype), "shape": list(value.shape), "v": shown(value.tolist())}
    if hasattr(value, "items"):
        return {key: shown(inner) for key, inner in value.items()}
    return [shown(inner) for inner in value] if isinstance(value, (list, tuple)) else value


def unshown(value: Any) -> Any:
    if isinstance(value, dict) and set(value) == {"np", "shape", "v"}:
        return np.array(value["v"], dtype=value["np"]).reshape(value["shape"])
    if isinstance(value, dict) and set(value) == {"added"}:
        content, *flags = value["added"]
        names = ("single_word", "lstrip", "rstrip", "normalized", "special")
        return AddedToken(content, **dict(zip(names, flags, strict=True)))
    if isinstance(value, dict):
        return {key: unshown(inner) for key, inner in value.items()}
    return [unshown(inner) for inner in value] if isinstance(value, list) else value


def test_pad(golden: Golden) -> None:
    load_sided(golden, "right")
    for record in golden.of("pad"):
        if "err" in record:
            with pytest.raises(ValueError, match="input_ids"):
                golden.tokenizer.pad(unshown(record["input"]), **record["kw"])
        else:
            assert shown(golden.tokenizer.pad(unshown(record["input"]), **record["kw"])) == record["out"], (
                record
            )


def test_methods(golden: Golden) -> None:
    load_sided(golden, "right")
    for record in golden.of("meth"):
        method = getattr(golden.tokenizer, record["f"])
        args = [unshown(arg) for arg in record["args"]]
        if record.get("err") == "NotImplementedError":
            with pytest.raises(NotImplementedError):
                method(*args, **record["kw"])
            continue
        given = shown(method(*args, **record["kw"]))
        if "total" in record:  # a sample of a large dict
            assert len(given) == record["total"]
            given = {token: given[token] for token in record["out"]}
        assert given == record["out"], record


def test_queries(golden: Golden) -> None:
    record = golden.one("query")
    encoded = golden.tokenizer(*record["texts"])
    assert encoded.n_sequences == record["n_sequences"]
    assert encoded.is_fast
    assert list(encoded) == record["keys"]
    assert encoded[0].ids == record["item0"]
    for row, expected in record["q"].items():
        i = int(row)
        for name in ("tokens", "word_ids", "sequence_ids"):
            assert getattr(encoded, name)(i) == expected[name], name
        queries = {"t2w": "token_to_word", "t2s": "token_to_sequence", "t2c": "token_to_chars"}
        for short, name in queries.items():
            got = [getattr(encoded, name)(i, token) for token in range(len(expected[short]))]
            assert shown(got) == [answer["out"] for answer in expected[short]], name
        both = {
            "c2t": "char_to_token",
            "c2w": "char_to_word",
            "w2t": "word_to_tokens",
            "w2c": "word_to_chars",
        }
        for short, name in both.items():
            for sequence, answers in enumerate(expected[short]):
                got = [getattr(encoded, name)(i, at, sequence) for at in range(len(answers))]
                # a word that is not there is None, where the reference raises TypeError
                assert shown(got) == [answer.get("out") for answer in answers], name


def test_padding_with_the_given_pad_token(golden: Golden) -> None:
    load_sided(golden, "right")
    record = golden.one("nopad")
    if "err" in record:
        with pytest.raises(ValueError, match="pad_token"):
            golden.fresh()(golden.texts[:2], padding=True)
    else:
        assert shown(golden.fresh()(golden.texts[:2], padding=True)) == record["out"]


def test_adding_and_saving(golden: Golden, tmp_path: Path) -> None:
    tokenizer = golden.fresh()
    before = len(tokenizer)
    for record in golden.of("add"):
        args = [unshown(arg) for arg in record["args"]]
        if record.get("err"):
            with pytest.raises(ValueError, match="nope_token"):
                getattr(tokenizer, record["f"])(*args, **record["kw"])
        else:
            assert getattr(tokenizer, record["f"])(*args, **record["kw"]) == record["out"], record
        assert len(tokenizer) - before == record["dlen"], record
        assert tokenizer.special_tokens_map == record["smap"]
        assert tokenizer.extra_special_tokens == record["extra"]
    record = golden.one("save")
    tokenizer.save_pretrained(tmp_path)
    assert sorted(file.name for file in tmp_path.iterdir()) == record["listing"]
    config = json.loads((tmp_path / "tokenizer_config.json").read_text())
    # where the reference loaded from is its own business
    assert config == {key: value for key, value in record["config"].items() if key != "local_files_only"}
    again = load_tokenizer(tmp_path)
    assert len(again) == len(tokenizer)
    assert again(golden.texts)["input_ids"] == tokenizer(golden.texts)["input_ids"]


def test_rows_of_qwen3_padded() -> None:
    assert ROOT
    tokenizer = load_tokenizer(Path(ROOT) / "tokenizers" / "qwen3")
    batch = tokenizer(["Hi", "Hello world, hello"], padding=True)
    assert batch["input_ids"] == [[13048, 151643, 151643, 151643], [9707, 1879, 11, 23811]]
