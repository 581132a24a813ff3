"""vocab.json with merges.txt, and vocab.txt."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from arrowprep import load_tokenizer
from arrowprep.errors import BadTokenizerFile, MissingFile, UnsupportedComponent
from arrowprep.tokenize.byte_characters import BYTE_CHARACTERS

VOCAB = {token: id for id, token in enumerate([*BYTE_CHARACTERS, "he", "Ġhe", "<unk>"])}
MERGES = "#version: 0.2\nh e\nĠ he\n"
BERT = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nhello\n##s\nu\n"


def gpt2(folder: Path, vocab: Any = VOCAB, merges: str | None = MERGES) -> Path:
    (folder / "vocab.json").write_text(json.dumps(vocab), encoding="utf-8")
    if merges is not None:
        (folder / "merges.txt").write_bytes(merges.encode())
    return folder


class TestVocabAndMerges:
    def test_merges_are_done_in_their_order(self, tmp_path: Path) -> None:
        tok = load_tokenizer(gpt2(tmp_path))
        assert tok.tokenize("he hehe") == ["he", "Ġhe", "he"]
        assert tok.decode(tok("he é")["input_ids"]) == "he é"

    def test_the_config_says_whether_a_space_is_put_in_front(self, tmp_path: Path) -> None:
        (tmp_path / "tokenizer_config.json").write_text('{"add_prefix_space": true, "unk_token": "<unk>"}')
        tok = load_tokenizer(gpt2(tmp_path))
        assert tok.tokenize("he") == ["Ġhe"]
        assert tok.unk_token_id == 258

    def test_both_line_ends_are_read(self, tmp_path: Path) -> None:
        assert load_tokenizer(gpt2(tmp_path, merges=MERGES.replace("\n", "\r\n"))).tokenize("he") == ["he"]

    def test_merges_must_be_there(self, tmp_path: Path) -> None:
        with pytest.raises(MissingFile, match=r"merges\.txt"):
            load_tokenizer(gpt2(tmp_path, merges=None))

    @pytest.mark.parametrize(
        ("vocab", "merges", "problem"),
        [
            (VOCAB, "h e\nh\n", "line 2"),
            (VOCAB, "h e\nh e e\n", "line 2"),
            (VOCAB, "h x\n", r"merges\[0\]"),
            ({**VOCAB, "he": -1}, MERGES, "'he' is out of range|id -1"),
            ({**VOCAB, "he": "1"}, MERGES, "'he'"),
            ([1], MERGES, "vocab"),
        ],
    )
    def test_a_broken_file_names_the_place(
        self, tmp_path: Path, vocab: Any, merges: str, problem: str
    ) -> None:
        with pytest.raises(BadTokenizerFile, match=problem):
            load_tokenizer(gpt2(tmp_path, vocab, merges))

    def test_a_vocabulary_of_another_pipeline_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(UnsupportedComponent, match="</w>"):
            load_tokenizer(gpt2(tmp_path, {"a</w>": 0}, ""))


class TestVocabTxt:
    def test_a_line_is_an_id_and_calls_are_framed(self, tmp_path: Path) -> None:
        (tmp_path / "vocab.txt").write_text(BERT)
        tok = load_tokenizer(tmp_path)
        assert tok("Hellos Ü")["input_ids"] == [2, 5, 6, 7, 3]
        assert tok("hello [MASK]")["input_ids"] == [2, 5, 4, 3]
        assert tok.mask_token_id == 4
        assert tok("hello", "hellos", return_token_type_ids=True)["token_type_ids"] == [0, 0, 0, 1, 1, 1]

    def test_the_config_says_whether_case_counts(self, tmp_path: Path) -> None:
        (tmp_path / "vocab.txt").write_text(BERT)
        (tmp_path / "tokenizer_config.json").write_text('{"do_lower_case": false}')
        assert load_tokenizer(tmp_path).tokenize("Hello hello") == ["[UNK]", "hello"]

    def test_a_file_that_is_no_text_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "vocab.txt").write_bytes(b"\xff\xfe")
        with pytest.raises(BadTokenizerFile, match="UTF-8: byte 0"):
            load_tokenizer(tmp_path)
