"""Folders as Hugging Face lays them out are read, old layouts too, and written so that they read the same."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

import arrowprep
from arrowprep import PreTrainedTokenizer, load_tokenizer
from arrowprep.errors import ArrowprepWarning, BadArgument, BadTokenizerFile, MissingFile, UnknownFileType
from arrowprep.tokenize import Tokenizer
from arrowprep.tokenize.files import huggingface
from tests.tokenize.small import CONFIG, pipeline, write_folder


def write(file: Path, content: Any) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")


class TestReading:
    def test_a_folder_gives_the_pipeline_and_its_settings(self, tmp_path: Path) -> None:
        tok = arrowprep.load_tokenizer(write_folder(tmp_path))
        assert tok.encode("hello") == [268, 259, 269]
        assert (tok.pad_token, tok.model_max_length) == ("<pad>", 32)

    def test_a_folder_within_it_can_be_meant(self, tmp_path: Path) -> None:
        wanted = load_tokenizer(write_folder(tmp_path / "tokenizer")).fingerprint
        for cls in (arrowprep.AutoTokenizer, PreTrainedTokenizer):
            tok: Any = cls.from_pretrained(pretrained_model_name_or_path=str(tmp_path), subfolder="tokenizer")
            assert tok.fingerprint == wanted
        with pytest.raises(MissingFile, match="elsewhere"):
            load_tokenizer(tmp_path, subfolder="elsewhere")
        with pytest.raises(BadArgument, match="by name"):
            PreTrainedTokenizer.from_pretrained(str(tmp_path), "right")

    def test_a_space_in_front_is_put_where_it_is_asked_for(self, tmp_path: Path) -> None:
        folder = write_folder(tmp_path)
        plain, spaced = load_tokenizer(folder), load_tokenizer(folder, add_prefix_space=True)
        assert spaced.encode("world") == plain.encode(" world") != plain.encode("world")
        assert load_tokenizer(folder, add_prefix_space=False).encode("world") == plain.encode("world")
        write(folder / "tokenizer.json", pipeline(pre_tokenizer={"type": "Whitespace"}))
        with pytest.warns(ArrowprepWarning, match="add_prefix_space"):
            load_tokenizer(folder, add_prefix_space=True)

    def test_packed_files_and_single_files_are_read(self, tmp_path: Path) -> None:
        packed = tmp_path / "packed"
        packed.mkdir()
        (packed / "tokenizer.json.gz").write_bytes(gzip.compress(json.dumps(pipeline()).encode()))
        write(packed / "tokenizer_config.json", CONFIG)
        assert (
            load_tokenizer(packed).fingerprint == load_tokenizer(write_folder(tmp_path / "plain")).fingerprint
        )
        alone = load_tokenizer(packed / "tokenizer.json.gz")
        assert alone.encode("hello") == [268, 259, 269]
        assert alone.special_tokens_map == {}

    def test_keyword_arguments_win_over_the_config(self, tmp_path: Path) -> None:
        tok = load_tokenizer(
            write_folder(tmp_path), model_max_length=8, padding_side="left", pad_token="<eos>"
        )
        assert (tok.model_max_length, tok.padding_side, tok.pad_token_id) == (8, "left", 269)

    def test_asking_for_bos_takes_a_keyword_argument(self, tmp_path: Path) -> None:
        folder = write_folder(tmp_path, {**CONFIG, "add_bos_token": True})
        assert load_tokenizer(folder).encode("hello") == [268, 259, 269]
        assert load_tokenizer(folder, add_bos_token=True).encode("hello") == [268, 259]

    def test_the_class_that_a_config_names_is_a_hint_only(self, tmp_path: Path) -> None:
        llama = write_folder(
            tmp_path / "llama", {**CONFIG, "tokenizer_class": "LlamaTokenizer", "legacy": True}
        )
        assert type(load_tokenizer(llama)) is PreTrainedTokenizer
        assert load_tokenizer(llama).encode("hello") == [268, 259, 269]

    def test_tokens_that_the_config_lists_are_added(self, tmp_path: Path) -> None:
        listed = {"272": {"content": "<tool>", "special": False, "lstrip": True}}
        tok = load_tokenizer(write_folder(tmp_path, {**CONFIG, "added_tokens_decoder": listed}))
        assert tok.convert_tokens_to_ids("<tool>") == 272
        assert tok.added_tokens_decoder[272].lstrip

    def test_special_tokens_come_with_their_flags(self, tmp_path: Path) -> None:
        mask = {
            "__type": "AddedToken",
            "content": "<mask>",
            "lstrip": True,
            "special": True,
            "normalized": False,
        }
        tok = load_tokenizer(write_folder(tmp_path, {**CONFIG, "mask_token": mask}))
        assert tok.mask_token == "<mask>"
        assert tok.tokenize("hello <mask>") == ["hello", " <mask>"]

    def test_older_layouts_are_read(self, tmp_path: Path) -> None:
        folder = write_folder(tmp_path, {"model_max_length": 9, "additional_special_tokens": ["<sep>"]})
        write(folder / "special_tokens_map.json", {"pad_token": {"content": "<pad>"}, "mask_token": "<mask>"})
        write(folder / "added_tokens.json", {"<mask>": 272, "word": 273})
        tok = load_tokenizer(folder)
        assert (tok.pad_token, tok.mask_token_id, tok.extra_special_tokens) == ("<pad>", 272, ["<sep>"])
        assert [tok.added_tokens_decoder[index].special for index in (272, 273)] == [True, False]

    def test_template_files_win_over_the_config(self, tmp_path: Path) -> None:
        folder = write_folder(tmp_path, {**CONFIG, "chat_template": "from the config"})
        assert load_tokenizer(folder).chat_template == "from the config"
        write(folder / "chat_template.jinja", "from the file")
        assert load_tokenizer(folder).chat_template == "from the file"
        write(folder / "additional_chat_templates" / "rag.jinja", "for documents")
        assert load_tokenizer(folder).chat_template == {"default": "from the file", "rag": "for documents"}

    def test_templates_of_a_config_have_names(self, tmp_path: Path) -> None:
        listed = [{"name": "default", "template": "a"}, {"name": "tool_use", "template": "b"}]
        tok = load_tokenizer(write_folder(tmp_path, {**CONFIG, "chat_template": listed}))
        assert tok.chat_template == {"default": "a", "tool_use": "b"}


class TestHub:
    @pytest.fixture
    def hub(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
        repository = tmp_path / "hub" / "models--org--name"
        write_folder(repository / "snapshots" / "abc123")
        write(repository / "refs" / "main", "abc123")
        return repository

    def test_what_its_tools_downloaded_is_found_by_name(self, hub: Path) -> None:
        tok = arrowprep.AutoTokenizer.from_pretrained(
            "org/name", use_fast=True, use_auth_token="secret", cache_dir="x"
        )
        assert tok.encode("hello") == [268, 259, 269]
        assert tok.name_or_path == "org/name"
        assert "secret" not in str(tok.init_kwargs) + str(tok.all_special_tokens)
        assert load_tokenizer("org/name", revision="abc123").fingerprint == tok.fingerprint

    def test_the_pipeline_alone_is_found_by_name_too(self, hub: Path) -> None:
        wanted = load_tokenizer("org/name").backend_tokenizer.to_str()
        assert Tokenizer.from_pretrained("org/name").to_str() == wanted
        assert Tokenizer.from_pretrained(str(hub / "snapshots" / "abc123")).to_str() == wanted
        with pytest.raises(MissingFile):
            Tokenizer.from_pretrained("org/other")

    def test_nothing_is_uploaded(self, hub: Path, tmp_path: Path) -> None:
        tok = load_tokenizer("org/name")
        for ask in (
            lambda: tok.push_to_hub("org/name"),
            lambda: tok.save_pretrained(tmp_path, push_to_hub=True),
        ):
            with pytest.raises(BadArgument, match="upload_folder"):
                ask()

    @pytest.mark.parametrize("name", ["org/other", "../hub/models--org--name", "org/name/more"])
    def test_what_they_did_not_is_missing(self, hub: Path, name: str) -> None:
        with pytest.raises(MissingFile):
            load_tokenizer(name)
        with pytest.raises(MissingFile):
            load_tokenizer("org/name", revision="v2")


class TestWhatCannotBeRead:
    def test_a_path_that_is_not_there(self, tmp_path: Path) -> None:
        with pytest.raises(MissingFile, match=r"nope.*tokenizer\.json.*Nothing is downloaded.*hf download"):
            load_tokenizer(tmp_path / "org" / "nope")
        with pytest.raises(FileNotFoundError):
            load_tokenizer("org/name")

    def test_a_folder_without_a_tokenizer_says_what_was_looked_for_and_found(self, tmp_path: Path) -> None:
        write(tmp_path / "config.json", {})
        with pytest.raises(MissingFile, match=r"no tokenizer\.json.*\.gz.*it has config\.json"):
            load_tokenizer(tmp_path)

    def test_several_vocabularies_are_named_and_none_is_chosen(self, tmp_path: Path) -> None:
        write(tmp_path / "a.tiktoken", "")
        write(tmp_path / "b.tiktoken", "")
        with pytest.raises(UnknownFileType, match=r"a\.tiktoken, b\.tiktoken"):
            load_tokenizer(tmp_path)

    @pytest.mark.parametrize(
        "content",
        [
            "",
            "not JSON",
            "[]",
            "{}",
            '{"model_type": "llama", "vocab_size": 3}',
            '{"model": 5}',
            '{"model": {"type": "BPE"}}',
        ],
    )
    def test_a_file_that_is_no_tokenizer_names_itself(self, tmp_path: Path, content: str) -> None:
        write(tmp_path / "tokenizer.json", content)
        with pytest.raises(BadTokenizerFile, match=r"tokenizer\.json"):
            load_tokenizer(tmp_path)
        with pytest.raises(ValueError, match=r"tokenizer\.json"):
            load_tokenizer(tmp_path / "tokenizer.json")

    def test_a_truncated_gzip_names_itself(self, tmp_path: Path) -> None:
        whole = gzip.compress(json.dumps(pipeline()).encode())
        (tmp_path / "tokenizer.json.gz").write_bytes(whole[: len(whole) // 2])
        with pytest.raises(BadTokenizerFile, match=r"tokenizer\.json\.gz"):
            load_tokenizer(tmp_path)

    @pytest.mark.parametrize(
        "content", ["{", "[]", '{"added_tokens_decoder": {"x": {}}}', '{"added_tokens_decoder": [1]}']
    )
    def test_a_broken_config_names_itself(self, tmp_path: Path, content: str) -> None:
        folder = write_folder(tmp_path)
        write(folder / "tokenizer_config.json", content)
        with pytest.raises(BadTokenizerFile, match=r"tokenizer_config\.json"):
            load_tokenizer(folder)

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("pad_token", 7),
            ("model_max_length", "512"),
            ("model_max_length", -1),
            ("padding_side", "both"),
            ("model_input_names", "input_ids"),
            ("extra_special_tokens", [None]),
            ("chat_template", 5),
            ("chat_template", [{"name": "default"}]),
        ],
    )
    def test_a_setting_of_a_wrong_type_is_named(self, tmp_path: Path, name: str, value: Any) -> None:
        with pytest.raises(BadArgument, match=name):
            load_tokenizer(write_folder(tmp_path, {**CONFIG, name: value}))

    def test_other_broken_files_name_themselves(self, tmp_path: Path) -> None:
        folder = write_folder(tmp_path, {})
        write(folder / "added_tokens.json", {"<x>": "272"})
        with pytest.raises(BadTokenizerFile, match=r"added_tokens\.json.*'<x>'"):
            load_tokenizer(folder)
        (folder / "added_tokens.json").unlink()
        write(folder / "special_tokens_map.json", "[" * 100_000)
        with pytest.raises(BadTokenizerFile, match=r"special_tokens_map\.json"):
            load_tokenizer(folder)
        (folder / "special_tokens_map.json").unlink()
        (folder / "chat_template.jinja").write_bytes(b"\xff\xfe")
        with pytest.raises(BadTokenizerFile, match=r"chat_template\.jinja is not UTF-8"):
            load_tokenizer(folder)

    def test_a_small_file_that_claims_to_be_large_is_refused(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(huggingface, "LARGEST", 3 << 20)
        (tmp_path / "tokenizer.json.gz").write_bytes(gzip.compress(bytes(64 << 20), 1))
        with pytest.raises(BadTokenizerFile, match="more than 3 MB"):
            load_tokenizer(tmp_path)


class TestSaving:
    def test_what_is_saved_reads_the_same(self, tok: PreTrainedTokenizer, tmp_path: Path) -> None:
        tok.add_special_tokens({"mask_token": "<mask>", "extra_special_tokens": ["<a>"]})
        tok.padding_side, tok.model_max_length, tok.chat_template = "left", 64, "{{ messages }}\n"
        files = tok.save_pretrained(tmp_path / "new" / "folder")
        assert sorted(Path(file).name for file in files) == [
            "chat_template.jinja",
            "tokenizer.json",
            "tokenizer_config.json",
        ]
        again = load_tokenizer(tmp_path / "new" / "folder")
        assert again.model_max_length == 64
        assert again.chat_template == "{{ messages }}\n"
        assert again.special_tokens_map == tok.special_tokens_map
        assert again.extra_special_tokens == ["<a>"]
        assert again("hello <mask>") == tok("hello <mask>")

    def test_settings_survive_although_the_config_did_not_name_them(
        self, tok: PreTrainedTokenizer, tmp_path: Path
    ) -> None:
        tok.padding_side, tok.truncation_side = "left", "left"
        tok.split_special_tokens, tok.model_input_names = True, ["input_ids"]
        tok.save_pretrained(tmp_path / "saved")
        assert load_tokenizer(tmp_path / "saved").fingerprint == tok.fingerprint

    def test_the_config_is_sorted_and_has_no_place_of_origin(
        self, tok: PreTrainedTokenizer, tmp_path: Path
    ) -> None:
        tok.save_pretrained(tmp_path / "saved")
        text = (tmp_path / "saved" / "tokenizer_config.json").read_text(encoding="utf-8")
        config = json.loads(text)
        assert list(config) == sorted(config)
        assert "name_or_path" not in config
        assert config["bos_token"] == "<bos>"
        assert text.endswith("}\n")

    def test_templates_by_name_lie_in_their_folder(self, tok: PreTrainedTokenizer, tmp_path: Path) -> None:
        tok.chat_template = {"default": "a\r\n", "rag": "b"}
        tok.save_pretrained(tmp_path / "saved", filename_prefix="my")
        assert (tmp_path / "saved" / "my-additional_chat_templates" / "rag.jinja").read_text() == "b"
        tok.save_pretrained(tmp_path / "files")
        assert load_tokenizer(tmp_path / "files").chat_template == {"default": "a\r\n", "rag": "b"}
        tok.save_pretrained(tmp_path / "config", save_jinja_files=False)
        assert load_tokenizer(tmp_path / "config").chat_template == {"default": "a\r\n", "rag": "b"}

    def test_a_template_cannot_be_saved_elsewhere(self, tok: PreTrainedTokenizer, tmp_path: Path) -> None:
        tok.chat_template = {"../../evil": "x"}
        with pytest.raises(BadArgument, match="evil"):
            tok.save_pretrained(tmp_path / "saved")
        assert not list(tmp_path.rglob("evil*"))

    def test_the_model_s_own_files_alone(self, tok: PreTrainedTokenizer, tmp_path: Path) -> None:
        paths = tok.save_vocabulary(tmp_path / "new", "my")
        assert [Path(path).name for path in paths] == ["my-vocab.json", "my-merges.txt"]
        assert json.loads(Path(paths[0]).read_text()) == tok.backend_tokenizer.get_vocab(False)
