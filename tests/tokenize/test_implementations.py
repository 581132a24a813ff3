"""Ready-made pipelines: what each does to a text, and that its files read back."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import pytest

from arrowprep.errors import BadArgument
from arrowprep.tokenize.implementations import (
    BaseTokenizer,
    BertWordPieceTokenizer,
    ByteLevelBPETokenizer,
    CharBPETokenizer,
    SentencePieceBPETokenizer,
    SentencePieceUnigramTokenizer,
)
from tests.tokenize.test_files_sentencepiece import BPE, LETTERS, SPECIAL, model_file

CORPUS = ["low lower lowest", "Low, new and newest é"] * 3
MADE: list[type[Any]] = [
    BertWordPieceTokenizer,
    ByteLevelBPETokenizer,
    CharBPETokenizer,
    SentencePieceBPETokenizer,
    SentencePieceUnigramTokenizer,
]


def trained(made: type[Any], **options: Any) -> Any:
    tok = made()
    tok.train_from_iterator(CORPUS, vocab_size=290, show_progress=False, **options)
    return tok


class TestPipelines:
    def test_bert_lowers_case_and_marks_what_goes_on(self) -> None:
        tok = trained(BertWordPieceTokenizer)
        assert tok.encode("Lowest É").tokens == ["lowest", "e"]
        assert any(token.startswith("##") for token in tok.get_vocab())
        assert [tok.token_to_id(t) for t in ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")] == [0, 1, 2, 3, 4]

    def test_bert_of_a_vocabulary_frames_texts(self) -> None:
        vocab = {"[UNK]": 0, "[CLS]": 1, "[SEP]": 2, "low": 3}
        assert BertWordPieceTokenizer(vocab).encode("low").ids == [1, 3, 2]
        with pytest.raises(BadArgument, match=r"'\[SEP\]'"):
            BertWordPieceTokenizer({"[UNK]": 0, "[CLS]": 1})

    def test_bytes_can_spell_what_was_never_seen(self) -> None:
        tok = trained(ByteLevelBPETokenizer)
        assert tok.decode(tok.encode("日本 low").ids) == "日本 low"

    def test_characters_mark_the_ends_of_words(self) -> None:
        tok = trained(CharBPETokenizer)
        assert tok.encode("lowest").tokens == ["lowest</w>"]
        assert tok.decode(tok.encode("low lower").ids) == "low lower"

    @pytest.mark.parametrize("made", [SentencePieceBPETokenizer, SentencePieceUnigramTokenizer])
    def test_spaces_are_seen(self, made: type[Any]) -> None:
        options = {"unk_token": "<unk>"} if made is SentencePieceUnigramTokenizer else {}
        tok = trained(made, **options)
        assert tok.encode("low").tokens[0].startswith("▁")
        assert tok.decode(tok.encode("low new").ids) == "low new"

    def test_texts_are_normalized_as_asked(self) -> None:
        tok = ByteLevelBPETokenizer(lowercase=True, unicode_normalizer="nfkc")
        assert tok.normalize("ﬁT") == "fit"
        assert CharBPETokenizer(bert_normalizer=False).normalize("É") == "É"

    def test_a_model_file_is_followed_as_it_is(self, tmp_path: Path) -> None:
        file = tmp_path / "spiece.model"
        file.write_bytes(model_file([*SPECIAL, *LETTERS], BPE))
        assert SentencePieceUnigramTokenizer.from_spm(file).encode("  ab ").offsets == [(2, 4)]


@pytest.mark.parametrize("made", MADE)
class TestEach:
    def test_copies_and_pickles_give_the_same(self, made: type[Any]) -> None:
        tok = trained(made)
        for twin in (copy.deepcopy(tok), pickle.loads(pickle.dumps(tok))):
            assert twin.to_str() == tok.to_str()
            assert repr(twin) == repr(tok)

    def test_its_parts_can_be_set(self, made: type[Any]) -> None:
        tok: BaseTokenizer = trained(made)
        tok.post_processor = None
        tok.enable_truncation(max_length=1)
        assert len(tok.encode("low newest")) == 1

    def test_files_teach_what_texts_do(self, made: type[Any], tmp_path: Path) -> None:
        (tmp_path / "corpus.txt").write_text("\n".join(CORPUS), encoding="utf-8")
        tok = made()
        tok.train(str(tmp_path / "corpus.txt"), 290, show_progress=False)
        assert len(tok.encode("low lower").tokens) <= 4


@pytest.mark.parametrize("made", MADE[:4])
def test_saved_vocabularies_read_back(made: type[Any], tmp_path: Path) -> None:
    tok = trained(made)
    files = tok.save_model(tmp_path)
    assert made.from_file(*files).get_vocab() == tok.get_vocab()
    assert made(*files).get_vocab() == tok.get_vocab()


def test_a_file_beside_a_vocabulary_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadArgument, match="both files, or neither"):
        ByteLevelBPETokenizer({"a": 0}, str(tmp_path / "merges.txt"))
