"""train_new_from_iterator: what is kept, what is learnt anew, and which ids the post-processor adds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from arrowprep import PreTrainedTokenizer, load_tokenizer
from arrowprep.errors import BadArgument, NotText
from arrowprep.tokenize import AddedToken, Tokenizer, models, pre_tokenizers, trainers
from tests.tokenize.small import CONFIG, SPECIAL, pipeline, write_folder
from tests.tokenize.test_files_sentencepiece import BPE, LETTERS, UNIGRAM, model_file
from tests.tokenize.test_files_sentencepiece import SPECIAL as PIECES

CORPUS = ["zig zag zigzag zigzags", "a zigzag, zig by zag"] * 4
OPTIONS: Any = {"show_progress": False}


def retrained(folder: Path, vocab_size: int = 280, **options: Any) -> PreTrainedTokenizer:
    old = load_tokenizer(folder)
    return old.train_new_from_iterator(iter(CORPUS), vocab_size, **OPTIONS, **options)


class TestWhatIsKept:
    def test_pipeline_settings_and_class_stay_and_the_vocabulary_is_new(self, tmp_path: Path) -> None:
        tok = retrained(write_folder(tmp_path))
        assert tok.tokenize("zig hello") == ["zig", "Ġ", "h", "e", "l", "l", "o"]
        assert (tok.model_max_length, tok.pad_token) == (32, "<pad>")
        assert type(tok) is PreTrainedTokenizer

    def test_special_tokens_come_first_and_the_post_processor_adds_their_new_ids(
        self, tmp_path: Path
    ) -> None:
        tok = retrained(write_folder(tmp_path))
        assert tok.convert_ids_to_tokens([0, 1, 2, 3]) == SPECIAL
        assert tok("zig")["input_ids"] == [0, *tok.convert_tokens_to_ids(["zig"]), 1]

    def test_ids_inside_a_sequence_of_post_processors_are_new_too(self, tmp_path: Path) -> None:
        byte_level = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": False, "use_regex": True}
        processors = [byte_level, pipeline()["post_processor"]]
        folder = write_folder(tmp_path, post_processor={"type": "Sequence", "processors": processors})
        assert retrained(folder)("zig")["input_ids"][::2] == [0, 1]

    def test_every_byte_can_still_be_encoded(self, tmp_path: Path) -> None:
        tok = retrained(write_folder(tmp_path))
        assert tok.decode(tok.encode("日本", add_special_tokens=False)) == "日本"

    def test_tokens_that_the_config_lists_stay(self, tmp_path: Path) -> None:
        listed = {"300": {"content": "<think>", "special": False, "normalized": False}}
        tok = retrained(write_folder(tmp_path, {**CONFIG, "added_tokens_decoder": listed}))
        assert "<think>" in tok.get_added_vocab()

    def test_the_old_tokenizer_is_not_changed(self, tmp_path: Path) -> None:
        old = load_tokenizer(write_folder(tmp_path))
        before = old.fingerprint
        old.train_new_from_iterator(CORPUS, 270, **OPTIONS)
        assert old.fingerprint == before


class TestWhatIsChanged:
    def test_new_special_tokens_are_added_behind_the_old(self, tmp_path: Path) -> None:
        new: list[str | AddedToken] = ["<new>", AddedToken("<newer>", special=True)]
        tok = retrained(write_folder(tmp_path), new_special_tokens=new)
        assert tok.convert_tokens_to_ids(["<new>", "<newer>"]) == [4, 5]
        assert tok.extra_special_tokens == ["<new>", "<newer>"]

    def test_special_tokens_can_be_renamed(self, tmp_path: Path) -> None:
        tok = retrained(write_folder(tmp_path), special_tokens_map={"<bos>": "<start>"})
        assert (tok.bos_token, tok.bos_token_id) == ("<start>", 0)
        assert tok("zig")["input_ids"][0] == 0
        assert tok.convert_tokens_to_ids("<bos>") is None

    def test_the_trainer_takes_its_options(self, tmp_path: Path) -> None:
        assert max(map(len, retrained(write_folder(tmp_path), max_token_length=5).get_vocab())) == 5

    def test_a_token_that_is_no_more_but_is_added_is_named(self, tmp_path: Path) -> None:
        with pytest.raises(BadArgument, match="adds '<bos>'"):
            retrained(write_folder(tmp_path, {}, added_tokens=[]))

    @pytest.mark.parametrize("model_type", [UNIGRAM, BPE])
    def test_sentencepiece_models_are_trained_as_plain_ones(self, tmp_path: Path, model_type: int) -> None:
        (tmp_path / "tokenizer.model").write_bytes(model_file([*PIECES, *LETTERS], model_type))
        tok = retrained(tmp_path, 40)
        assert tok.unk_token_id is not None
        assert len(tok.tokenize("zigzag zigzag")) <= 4


class TestTexts:
    @pytest.mark.parametrize(
        "texts",
        [
            pa.array([*CORPUS, None]),
            pa.chunked_array([CORPUS[:3], CORPUS[3:]]),
            [pa.array(CORPUS)],
            [tuple(CORPUS)],
        ],
    )
    def test_arrow_columns_teach_what_lists_do(self, texts: Any) -> None:
        def learnt(corpus: Any) -> dict[str, int]:
            tok = Tokenizer(models.WordLevel())
            tok.pre_tokenizer = pre_tokenizers.Whitespace()
            tok.train_from_iterator(corpus, trainers.WordLevelTrainer(show_progress=False))
            return tok.get_vocab()

        assert learnt(texts) == learnt(CORPUS)

    @pytest.mark.parametrize("texts", [["a", 7], [["a", None]], ["a", b"b"], [["a", ["b"]]]])
    def test_what_is_no_text_is_named(self, texts: Any) -> None:
        with pytest.raises(NotText, match=r"element [01] has (int|NoneType|bytes|list)"):
            Tokenizer(models.BPE()).train_from_iterator(texts, trainers.BpeTrainer(show_progress=False))

    @pytest.mark.parametrize("kind", ["BPE", "WordPiece", "WordLevel", "Unigram"])
    def test_each_model_knows_its_trainer(self, kind: str) -> None:
        model = getattr(models, kind)()
        assert isinstance(model, model.get_trainer().model_type)
