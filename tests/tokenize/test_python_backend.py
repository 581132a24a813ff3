"""Tokenizers whose tokens are made in Python, those of one format, and classes brought back by name."""

from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path
from typing import Any

import pytest

from arrowprep import AutoTokenizer, load_tokenizer
from arrowprep.errors import BadArgument, MissingFile, UnsupportedComponent
from arrowprep.tokenize import (
    MistralCommonBackend,
    PreTrainedTokenizer,
    PythonBackend,
    SentencePieceBackend,
    auto,
)
from tests.tokenize.small import write_folder
from tests.tokenize.test_files_sentencepiece import BPE, LETTERS, SPECIAL, model_file
from tests.tokenize.test_files_tiktoken import tekken

CHARACTERS = ["<pad>", "<unk>", "<s>", "</s>", *"abcdefgh "]


class Characters(PythonBackend):
    """A token for each character."""

    vocab_files_names = {"vocab_file": "chars.json"}  # noqa: RUF012 - as classes that exist write it

    def __init__(self, vocab_file: str | None = None, unk_token: str = "<unk>", **settings: Any) -> None:
        tokens = json.loads(Path(vocab_file).read_text()) if vocab_file else CHARACTERS
        self.vocab = {token: id for id, token in enumerate(tokens)}
        roles = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>", **settings}
        super().__init__(unk_token=unk_token, **roles)

    @property
    def vocab_size(self) -> int:
        return len(self.vocab)

    def get_vocab(self) -> dict[str, int]:
        return {**self.vocab, **self.added_tokens_encoder}

    def _tokenize(self, text: str) -> list[str]:
        return list(text)

    def _convert_token_to_id(self, token: str) -> int:
        return self.vocab.get(token, 1)

    def _convert_id_to_token(self, index: int) -> str:
        return CHARACTERS[index] if index < len(CHARACTERS) else "<unk>"

    def convert_tokens_to_string(self, tokens: Any) -> str:
        return "".join(tokens)

    def save_vocabulary(self, save_directory: Any, filename_prefix: str | None = None) -> tuple[str, ...]:
        file = Path(save_directory) / "chars.json"
        file.write_text(json.dumps(list(self.vocab)))
        return (str(file),)


@pytest.fixture
def tok() -> Characters:
    return Characters(special_tokens_pattern="bos_eos")


class TestCalls:
    def test_tokens_are_the_subclass_s(self, tok: Characters) -> None:
        assert tok.tokenize("ab z") == ["a", "b", " ", "z"]
        assert tok.encode("ab z") == [2, 4, 5, 12, 1, 3]
        assert tok.decode([4, 5, 12, 4, 3], skip_special_tokens=True) == "ab a"
        assert tok("ab", "c", return_token_type_ids=True).data["token_type_ids"] == [0, 0, 0, 0, 1, 1]

    def test_added_tokens_are_cut_out(self, tok: Characters) -> None:
        assert tok.add_tokens(["<new>", "a"]) == 1
        assert tok.tokenize("a<new>b</s>") == ["a", "<new>", "b", "</s>"]
        assert (len(tok), tok.convert_tokens_to_ids("<new>")) == (14, 13)

    def test_batches_are_padded_and_cut(self, tok: Characters) -> None:
        batch = tok(["abcdef", "a"], padding=True, truncation=True, max_length=5)
        assert batch["input_ids"] == [[2, 4, 5, 6, 3], [2, 4, 3, 0, 0]]
        assert batch["attention_mask"] == [[1] * 5, [1, 1, 1, 0, 0]]

    def test_nobody_is_told_where_tokens_stand(self, tok: Characters) -> None:
        assert not tok.is_fast
        with pytest.raises(NotImplementedError, match="offsets"):
            tok("ab", return_offsets_mapping=True)

    def test_a_pattern_needs_its_tokens(self) -> None:
        with pytest.raises(BadArgument, match="cls_token"):
            Characters(special_tokens_pattern="cls_sep").encode("a")

    def test_another_token_or_pattern_counts_at_once(self, tok: Characters) -> None:
        assert tok.encode("a") == [2, 4, 3]
        tok.bos_token = "b"
        assert tok.encode("a") == [5, 4, 3]
        tok.special_tokens_pattern = "eos"
        assert tok.encode("a") == [4, 3]

    def test_what_builds_inputs_decides_the_frame(self) -> None:
        class Doubled(Characters):
            def build_inputs_with_special_tokens(
                self, token_ids_0: list[int], token_ids_1: list[int] | None = None
            ) -> list[int]:
                return [3, 2, *token_ids_0, *(token_ids_1 or [])]

        assert Doubled().encode("ab") == [3, 2, 4, 5]
        assert Doubled().num_special_tokens_to_add() == 2
        assert Doubled().get_special_tokens_mask([4, 5]) == [1, 1, 0, 0]

    def test_a_subclass_without_its_methods_says_so(self) -> None:
        class Nothing(PythonBackend):
            pass

        with pytest.raises(NotImplementedError):
            Nothing().encode("a")


class TestKeeping:
    def test_copies_are_of_their_own(self, tok: Characters) -> None:
        tok.add_tokens(["<new>"])
        for twin in (copy.deepcopy(tok), pickle.loads(pickle.dumps(tok))):
            assert twin.fingerprint == tok.fingerprint
            assert twin.encode("a<new>") == tok.encode("a<new>")
            twin.add_tokens(["<other>"])
            assert "<other>" not in tok.get_vocab()

    def test_what_was_saved_comes_back(self, tok: Characters, tmp_path: Path) -> None:
        tok.add_tokens(["<new>"])
        tok.chat_template = "{{ messages[0].content }}"
        tok.save_pretrained(tmp_path)
        names = ["added_tokens.json", "chars.json", "chat_template.jinja", "tokenizer_config.json"]
        assert sorted(file.name for file in tmp_path.iterdir()) == names
        again = Characters.from_pretrained(tmp_path, special_tokens_pattern="bos_eos")
        assert again.encode("a<new>z") == tok.encode("a<new>z")
        assert again.chat_template == tok.chat_template

    def test_a_config_does_not_say_which_file_is_read(self, tok: Characters, tmp_path: Path) -> None:
        secret = tmp_path / "secret.json"
        secret.write_text('["secret"]')
        (tmp_path / "saved").mkdir()
        (tmp_path / "saved" / "tokenizer_config.json").write_text(json.dumps({"vocab_file": str(secret)}))
        assert "secret" not in Characters.from_pretrained(tmp_path / "saved").get_vocab()

    def test_no_tokenizer_json_holds_it(self, tok: Characters) -> None:
        with pytest.raises(UnsupportedComponent, match="Characters makes tokens in Python"):
            tok.backend_tokenizer.to_str()


class Lower(PreTrainedTokenizer):
    """One of a user's own."""


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auto, "_registered", {})


@pytest.mark.usefixtures("registry")
class TestRegister:
    def test_a_registered_class_comes_back(self, tok: Characters, tmp_path: Path) -> None:
        tok.save_pretrained(tmp_path)
        with pytest.raises(MissingFile):
            AutoTokenizer.from_pretrained(tmp_path)
        AutoTokenizer.register(None, Characters)
        assert type(AutoTokenizer.from_pretrained(tmp_path)) is Characters
        assert type(load_tokenizer(tmp_path)) is Characters

    def test_also_by_the_type_of_the_model(self, tmp_path: Path) -> None:
        class Config:
            model_type = "lower"

        write_folder(tmp_path, {})
        (tmp_path / "config.json").write_text('{"model_type": "lower"}')
        AutoTokenizer.register(Config, fast_tokenizer_class=Lower)
        assert type(AutoTokenizer.from_pretrained(tmp_path)) is Lower

    def test_a_type_is_not_taken_away_by_chance(self) -> None:
        AutoTokenizer.register("lower", Lower)
        with pytest.raises(BadArgument, match="exist_ok"):
            AutoTokenizer.register("lower", Characters)
        AutoTokenizer.register("lower", Characters, exist_ok=True)
        with pytest.raises(BadArgument, match="tokenizer_class"):
            AutoTokenizer.register("other")


class TestOneFormat:
    def test_sentencepiece_alone(self, tmp_path: Path) -> None:
        write_folder(tmp_path, {})
        (tmp_path / "spiece.model").write_bytes(model_file([*SPECIAL, *LETTERS], BPE))
        by_folder = SentencePieceBackend.from_pretrained(tmp_path)
        by_file = SentencePieceBackend(vocab_file=tmp_path / "spiece.model")
        assert by_folder.tokenize("ab") == by_file.tokenize("ab") == ["▁ab"]
        assert load_tokenizer(tmp_path).tokenize("ab") != ["▁ab"]
        (copied,) = by_folder.save_vocabulary(tmp_path / "copy", "x")
        assert Path(copied).read_bytes() == (tmp_path / "spiece.model").read_bytes()
        assert Path(copied).name == "x-spiece.model"

    def test_tekken_alone(self, tmp_path: Path) -> None:
        write_folder(tmp_path, {})
        (tmp_path / "tekken.json").write_bytes(tekken())
        tok = MistralCommonBackend.from_pretrained(tmp_path)
        assert tok.padding_side == "left"
        assert tok.convert_ids_to_tokens(tok.encode("")) == ["<s>"]
        whole = MistralCommonBackend(tmp_path / "tekken.json", mode="finetuning")
        assert whole.convert_ids_to_tokens(whole.encode("")) == ["<s>", "</s>"]
        with pytest.raises(BadArgument, match="finetuning"):
            MistralCommonBackend(tmp_path / "tekken.json", mode="serving")  # type: ignore[arg-type]

    def test_what_it_needs_is_named(self, tmp_path: Path) -> None:
        write_folder(tmp_path, {})
        with pytest.raises(MissingFile, match=r"spiece\.model"):
            SentencePieceBackend.from_pretrained(tmp_path)
        (tmp_path / "copy").mkdir()
        with pytest.raises(BadArgument, match="save_pretrained"):
            SentencePieceBackend(tokenizer_object=load_tokenizer(tmp_path).backend_tokenizer).save_vocabulary(
                tmp_path / "copy"
            )
