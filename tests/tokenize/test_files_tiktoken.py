"""Files of token bytes and ranks: .tiktoken and tekken.json."""

from __future__ import annotations

import base64
import gzip
import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from arrowprep import load_tokenizer
from arrowprep.errors import BadTokenizerFile
from arrowprep.tokenize import Tokenizer
from arrowprep.tokenize.files.tekken import read_tekken
from arrowprep.tokenize.files.tiktoken import read_tiktoken
from arrowprep.tokenize.files.tiktoken_sets import SETS

BYTES = [bytes([byte]) for byte in range(256)]
JOINED = [b"he", b"ll", b"llo", b"hello", b" hello", b"12", b"123"]


def tiktoken_lines(tokens: list[bytes]) -> bytes:
    return b"".join(b"%s %d\n" % (base64.b64encode(token), rank) for rank, token in enumerate(tokens))


FILE = tiktoken_lines(BYTES + JOINED)


def merged_by_rank(piece: bytes, ranks: dict[bytes, int]) -> list[int]:
    """The definition: join the neighbours that make the token of the lowest rank, the leftmost first."""
    if piece in ranks:
        return [ranks[piece]]
    parts = [piece[i : i + 1] for i in range(len(piece))]
    while True:
        joins = [(ranks[a + b], i) for i, (a, b) in enumerate(itertools.pairwise(parts)) if a + b in ranks]
        if not joins:
            return [ranks[part] for part in parts]
        _, i = min(joins)
        parts[i : i + 2] = [parts[i] + parts[i + 1]]


class TestTiktoken:
    def test_an_id_is_a_rank(self) -> None:
        tok = read_tiktoken(FILE)
        assert tok.encode("hello hello").ids == [256 + 3, 256 + 4]
        assert tok.encode("hé").ids == [ord("h"), 0xC3, 0xA9]
        assert tok.decode(tok.encode("hé\n hello").ids) == "hé\n hello"

    @pytest.mark.parametrize("text", ["hellohe", "llllo", "helllo", "12123", "hhello", "hehellollo"])
    def test_pieces_merge_by_the_rank_of_what_they_make(self, text: str) -> None:
        ranks = {token: rank for rank, token in enumerate(BYTES + JOINED)}
        tok = read_tiktoken(FILE, pattern=r"[\s\S]+")
        assert tok.encode(text).ids == merged_by_rank(text.encode(), ranks)

    def test_a_pattern_is_given_by_name_or_as_an_expression(self) -> None:
        assert read_tiktoken(FILE, pattern="cl100k").encode("1231").tokens == ["123", "1"]
        assert read_tiktoken(FILE, pattern="qwen").encode("1231").tokens == ["1", "2", "3", "1"]
        assert read_tiktoken(FILE, pattern="12|.").encode("1231").tokens == ["12", "3", "1"]

    def test_a_pattern_that_is_none_is_refused(self) -> None:
        with pytest.raises(ValueError, match=r"pattern.*\("):
            read_tiktoken(FILE, pattern="(")

    def test_special_tokens_match_unless_they_are_text(self) -> None:
        tok = read_tiktoken(FILE, special_tokens={"<end>": 300})
        assert tok.encode("he<end>").ids == [256, 300]
        tok.encode_special_tokens = True
        assert tok.encode("<end>").ids == [*b"<end>"]

    @pytest.mark.parametrize("name", SETS)
    def test_every_known_pattern_cuts_a_text_without_loss(self, name: str) -> None:
        text = "It's 12345 naïve\tLOUDwords  \n\n 漢字's — end "
        tok = read_tiktoken(FILE, pattern=name, special_tokens={})
        assert tok.decode(tok.encode(text).ids) == text

    def test_saved_as_tokenizer_json_it_gives_the_same_ids(self) -> None:
        tok = read_tiktoken(FILE, special_tokens={"<end>": 300})
        again = Tokenizer.from_str(tok.to_str())
        assert again.encode("hello 12<end>hé").ids == tok.encode("hello 12<end>hé").ids

    @pytest.mark.parametrize(
        ("line", "problem"),
        [
            (b"aGVsbG8= x", "line 257.*rank"),
            (b"aGVsbG8=", "line 257"),
            (b"??? 300", "line 257.*base64"),
            (b"aGVsbG8= -1", "line 257"),
            (b"aGVsbG8= 99999999999", "line 257"),
            (b"AA== 300", "line 257.*there already"),
            (b"aGVsbG8= 7", "rank 7 to two tokens"),
            (base64.b64encode(b"a" * 2000) + b" 300", "2000 bytes"),
        ],
    )
    def test_a_broken_line_is_named(self, line: bytes, problem: str) -> None:
        with pytest.raises(BadTokenizerFile, match=problem):
            read_tiktoken(tiktoken_lines(BYTES) + line)

    def test_a_file_cut_short_is_refused(self) -> None:
        with pytest.raises(BadTokenizerFile, match="no token for the byte 0x32"):
            read_tiktoken(tiktoken_lines(BYTES[:50]))
        with pytest.raises(BadTokenizerFile, match="0x00"):
            read_tiktoken(b"")


def tekken(**changes: Any) -> bytes:
    config = {
        "pattern": SETS["qwen"].pattern,
        "num_vocab_tokens": 300,
        "default_vocab_size": 273,
        "default_num_special_tokens": 10,
        "version": "v3",
    }
    vocab = [
        {"rank": rank, "token_bytes": base64.b64encode(token).decode(), "token_str": None}
        for rank, token in enumerate([*BYTES, *JOINED, *(b"z%d" % n for n in range(37))])
    ]
    return json.dumps({"config": config, "vocab": vocab, **changes}).encode()


class TestTekken:
    def test_ids_stand_above_the_special_tokens(self) -> None:
        tok = read_tekken(tekken())
        assert tok.encode("hello", add_special_tokens=False).ids == [10 + 259]
        assert tok.encode("hello").ids == [1, 10 + 259]
        assert tok.get_vocab_size() == 273

    def test_special_tokens_in_a_text_are_text(self) -> None:
        tok = read_tekken(tekken())
        assert tok.encode("</s>", add_special_tokens=False).ids == [10 + byte for byte in b"</s>"]
        assert tok.token_to_id("</s>") == 2

    def test_places_that_the_file_leaves_empty_have_names(self) -> None:
        given = [{"rank": 1, "token_str": "<go>", "is_control": True}]
        tok = read_tekken(tekken(special_tokens=given))
        assert [tok.id_to_token(id) for id in range(3)] == ["<SPECIAL_0>", "<go>", "<SPECIAL_2>"]
        assert read_tekken(tekken()).id_to_token(3) == "[INST]"

    @pytest.mark.parametrize(
        ("changes", "problem"),
        [
            ({"config": None}, r"config"),
            ({"vocab": {}}, r"vocab"),
            ({"vocab": [{"rank": 0, "token_bytes": "??"}]}, r"vocab\[0\].*base64"),
            ({"vocab": [{"rank": "0", "token_bytes": "AA=="}]}, r"vocab\[0\].*rank"),
            ({"vocab": [{"rank": 10**12, "token_bytes": "AA=="}]}, r"vocab\[0\].*rank"),
            ({"vocab": [7]}, r"vocab\[0\]"),
            ({"vocab": [{"rank": 0, "token_bytes": "AA=="}]}, r"no token for the byte 0x01"),
            ({"special_tokens": [{"rank": 2, "token_str": 5}]}, r"special_tokens\[0\].token_str"),
        ],
    )
    def test_a_broken_file_names_the_place(self, changes: dict[str, Any], problem: str) -> None:
        with pytest.raises(BadTokenizerFile, match=problem):
            read_tekken(tekken(**changes))

    def test_a_claim_of_many_special_tokens_is_refused(self) -> None:
        config = {"pattern": ".", "default_vocab_size": 2**40, "default_num_special_tokens": 2**40}
        with pytest.raises(BadTokenizerFile, match="more than 65536"):
            read_tekken(tekken(config=config))


class TestLoading:
    def test_a_tiktoken_folder_is_loaded_with_its_config(self, tmp_path: Path) -> None:
        (tmp_path / "own.tiktoken.gz").write_bytes(gzip.compress(FILE))
        (tmp_path / "tokenizer_config.json").write_text('{"eos_token": "<end>", "model_max_length": 9}')
        tok = load_tokenizer(tmp_path, special_tokens={"<end>": 400}, pattern="gpt2")
        assert tok("hello<end>")["input_ids"] == [259, 400]
        assert (tok.eos_token_id, tok.model_max_length) == (400, 9)
        tok.save_pretrained(tmp_path / "saved")
        assert load_tokenizer(tmp_path / "saved")("hello<end>")["input_ids"] == [259, 400]

    def test_a_tiktoken_file_called_tokenizer_model_is_known_by_its_content(self, tmp_path: Path) -> None:
        (tmp_path / "tokenizer.model").write_bytes(FILE)
        assert load_tokenizer(tmp_path)("hello")["input_ids"] == [259]

    def test_a_tekken_folder_knows_its_roles(self, tmp_path: Path) -> None:
        (tmp_path / "tekken.json").write_bytes(tekken())
        tok = load_tokenizer(tmp_path)
        assert tok("hello")["input_ids"] == [1, 269]
        assert (tok.bos_token_id, tok.eos_token_id, tok.unk_token_id) == (1, 2, 0)
        assert load_tokenizer(tmp_path, add_bos_token=True, add_eos_token=True)("hello")["input_ids"] == [
            *(1, 269, 2)
        ]
        assert tok.tokenize("</s>") == ["<", "/", "s", ">"]

    def test_an_error_names_the_file(self, tmp_path: Path) -> None:
        (tmp_path / "own.tiktoken").write_bytes(b"?")
        with pytest.raises(BadTokenizerFile, match=r"own\.tiktoken.*line 1"):
            load_tokenizer(tmp_path)
