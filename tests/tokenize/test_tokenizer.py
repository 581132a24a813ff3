"""Tokenizer: parts that can be set at any time, added tokens, names for content, copies."""

from __future__ import annotations

import copy
import hashlib
import pickle
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from arrowprep.errors import ArrowprepWarning, BadArgument, NotText
from arrowprep.tokenize import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers, processors
from tests.tokenize.build import byte_bpe, byte_tokenizer


@pytest.fixture
def tok() -> Tokenizer:
    return byte_tokenizer(template="<s> $A </s>")


def tokens(tok: Tokenizer, text: str) -> list[str]:
    return tok.encode(text, add_special_tokens=False).tokens


class TestParts:
    def test_an_attribute_of_a_part_takes_effect_at_once(self, tok: Tokenizer) -> None:
        assert tokens(tok, "hello world") == ["hello", "Ġworld"]
        tok.pre_tokenizer.add_prefix_space = True  # type: ignore[union-attr]
        assert tokens(tok, "hello world") == ["Ġhello", "Ġworld"]

    def test_a_part_may_be_shared(self) -> None:
        part = pre_tokenizers.ByteLevel(add_prefix_space=False)
        first, second = Tokenizer(byte_bpe()), Tokenizer(byte_bpe())
        first.pre_tokenizer = second.pre_tokenizer = part
        assert tokens(second, "hello") == ["hello"]
        first.pre_tokenizer.add_prefix_space = True
        assert tokens(second, "hello") == ["Ġhello"]

    def test_a_part_within_a_sequence_is_live(self) -> None:
        tok = Tokenizer(byte_bpe())
        tok.pre_tokenizer = pre_tokenizers.Sequence(
            [pre_tokenizers.Split("x", "isolated"), pre_tokenizers.ByteLevel(False, use_regex=False)]
        )
        assert tokens(tok, "axb") == ["a", "x", "b"]
        tok.pre_tokenizer[0].behavior = "removed"  # type: ignore[index]
        assert tokens(tok, "axb") == ["a", "b"]

    def test_the_model_is_live(self) -> None:
        tok = Tokenizer(models.BPE({"a": 0, "<unk>": 1}, []))
        assert tok.encode("ab").ids == [0]
        tok.model.unk_token = "<unk>"  # type: ignore[attr-defined]
        assert tok.encode("ab").ids == [0, 1]

    def test_a_part_of_another_kind_is_refused(self, tok: Tokenizer) -> None:
        with pytest.raises(TypeError, match="normalizer must be a Normalizer, not ByteLevel"):
            tok.normalizer = pre_tokenizers.ByteLevel()  # type: ignore[assignment]
        with pytest.raises(TypeError, match="model"):
            tok.model = None  # type: ignore[assignment]

    def test_a_call_sees_all_of_a_change_or_nothing(self) -> None:
        # both parts of the pair are set in one assignment; a mix would spell bytes twice or not at all
        tok = byte_tokenizer()
        plain = pre_tokenizers.ByteLevel(add_prefix_space=False)
        spaced = pre_tokenizers.ByteLevel(add_prefix_space=True)
        batch = ["hello world"] * 50
        stop = threading.Event()

        def switch() -> None:
            while not stop.is_set():
                tok.pre_tokenizer = spaced
                tok.pre_tokenizer = plain

        thread = threading.Thread(target=switch)
        thread.start()
        try:
            for _ in range(60):
                assert len({tuple(e.ids) for e in tok.encode_batch(batch)}) == 1
        finally:
            stop.set()
            thread.join()


CHANGES = {
    "a part": lambda t: setattr(t, "normalizer", normalizers.NFC()),
    "an attribute of a part": lambda t: setattr(t.pre_tokenizer, "add_prefix_space", True),
    "an option of the model": lambda t: setattr(t.model, "unk_token", "a"),
    "the template": lambda t: setattr(t.post_processor, "single", "$A </s>"),
    "an added token": lambda t: t.add_tokens(["new"]),
    "a flag of an added token": lambda t: t.add_tokens([AddedToken("<s>", lstrip=True, special=True)]),
    "truncation": lambda t: t.enable_truncation(5),
    "padding": lambda t: t.enable_padding(length=5),
    "encode_special_tokens": lambda t: setattr(t, "encode_special_tokens", True),
    "the vocabulary": lambda t: setattr(t, "model", byte_bpe(["h e"])),
}


class TestFingerprint:
    @pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
    def test_every_change_shows(self, tok: Tokenizer, change: Any) -> None:
        before = tok.fingerprint
        change(tok)
        assert tok.fingerprint != before

    def test_equal_content_has_an_equal_name(self, tok: Tokenizer) -> None:
        again = byte_tokenizer(template="<s> $A </s>")
        assert again.fingerprint == tok.fingerprint
        assert Tokenizer.from_str(tok.to_str()).fingerprint == tok.fingerprint

    def test_no_call_changes_it(self, tok: Tokenizer) -> None:
        before = tok.fingerprint
        tok.encode("hello <s>", "world")
        tok.encode_columns(["hello"], offsets=True)
        tok.decode([1, 2])
        assert tok.fingerprint == before

    def test_a_change_taken_back_gives_the_old_name(self, tok: Tokenizer) -> None:
        before = tok.fingerprint
        tok.enable_truncation(5)
        tok.no_truncation()
        assert tok.fingerprint == before

    def test_it_is_kept(self, tok: Tokenizer) -> None:
        name = tok.fingerprint
        start = time.process_time()
        for _ in range(1000):
            assert tok.fingerprint == name
        assert time.process_time() - start < 0.5  # 1000 times; worked out anew each would take longer

    def test_it_and_the_pickle_are_the_same_in_another_process(self, tok: Tokenizer) -> None:
        code = (
            "from tests.tokenize.build import byte_tokenizer;"
            "tok = byte_tokenizer(template='<s> $A </s>');"
            "import hashlib, pickle;"
            "print(tok.fingerprint, hashlib.sha256(pickle.dumps(tok)).hexdigest())"
        )
        run = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONHASHSEED": "7"},
        )
        assert run.stdout.split() == [tok.fingerprint, hashlib.sha256(pickle.dumps(tok)).hexdigest()]


class TestCopies:
    @pytest.mark.parametrize("copied", [copy.deepcopy, copy.copy, lambda t: pickle.loads(pickle.dumps(t))])
    def test_a_copy_is_equal_and_apart(self, tok: Tokenizer, copied: Any) -> None:
        tok.enable_padding(length=6)
        tok.encode_special_tokens = True
        twin = copied(tok)
        assert twin.fingerprint == tok.fingerprint
        assert twin.encode("hello <s>") == tok.encode("hello <s>")
        twin.add_tokens(["new"])
        twin.pre_tokenizer.add_prefix_space = True
        assert tok.token_to_id("new") is None
        assert tokens(tok, "hello")[:1] == ["hello"]

    def test_pickles_are_equal_to_the_byte(self, tok: Tokenizer) -> None:
        before = pickle.dumps(tok)
        tok.encode("hello")
        assert pickle.dumps(tok) == before


class TestAddedTokens:
    def test_the_number_of_new_ones_comes_back(self, tok: Tokenizer) -> None:
        assert tok.add_tokens(["new", "newer", "new", ""]) == 2
        assert tok.add_tokens(["new"]) == 0
        assert tok.add_tokens([AddedToken("new", lstrip=True)]) == 1

    def test_a_word_of_the_vocabulary_keeps_its_id(self, tok: Tokenizer) -> None:
        id = tok.model.token_to_id("hello")
        assert tok.add_tokens(["hello"]) == 1
        assert tok.token_to_id("hello") == id
        assert tok.get_vocab_size() == 270

    def test_ids_go_on_after_the_highest(self, tok: Tokenizer) -> None:
        assert [tok.token_to_id(t) for t in ("<s>", "</s>")] == [268, 269]
        tok.add_tokens(["new"])
        assert tok.token_to_id("new") == 270
        assert tok.id_to_token(270) == "new"
        assert tok.get_vocab()["new"] == 270
        assert "new" not in tok.get_vocab(with_added_tokens=False)

    def test_special_ones_are_text_when_asked(self, tok: Tokenizer) -> None:
        tok.add_tokens(["new"])
        assert tokens(tok, "<s>new") == ["<s>", "new"]
        tok.encode_special_tokens = True
        assert tokens(tok, "<s>new") == ["<", "s", ">", "new"]

    def test_a_token_that_was_given_may_change_later(self, tok: Tokenizer) -> None:
        token = AddedToken("new")
        tok.add_tokens([token])
        token.lstrip = True
        tok.get_added_tokens_decoder()[270].rstrip = True
        assert tokens(tok, "a new b")[1:3] == ["Ġ", "new"]

    def test_one_alone_is_no_list(self, tok: Tokenizer) -> None:
        with pytest.raises(NotText, match="as a list"):
            tok.add_tokens("new")

    def test_a_hundred_thousand_one_by_one_are_quick(self, tok: Tokenizer) -> None:
        start = time.process_time()
        for number in range(100_000):
            tok.add_tokens([f"<{number}>"])
        assert time.process_time() - start < 20
        assert tokens(tok, "a<99999>b") == ["a", "<99999>", "b"]


class TestEncode:
    def test_a_pair_gets_the_template_of_pairs(self, tok: Tokenizer) -> None:
        encoding = tok.encode("hello", "hello world")
        assert encoding.tokens == ["<s>", "hello", "</s>", "hello", "Ġworld", "</s>"]
        assert encoding.type_ids == [0, 0, 0, 1, 1, 1]
        assert encoding.sequence_ids == [None, 0, None, 1, 1, None]
        assert encoding.special_tokens_mask == [1, 0, 1, 0, 0, 1]

    def test_special_tokens_in_the_text_are_not_marked(self, tok: Tokenizer) -> None:
        encoding = tok.encode("<s>", add_special_tokens=False)
        assert (encoding.special_tokens_mask, encoding.words) == ([0], [0])

    def test_words_of_the_caller_keep_their_numbers(self, tok: Tokenizer) -> None:
        encoding = tok.encode(["hello", "", "hello world"], is_pretokenized=True, add_special_tokens=False)
        assert encoding.words == [0, 2, 2]
        assert encoding.offsets == [(0, 5), (0, 5), (5, 11)]

    @pytest.mark.parametrize("text", [3, None, b"x", ["a"], "\ud800"])
    def test_what_is_no_text_is_refused(self, tok: Tokenizer, text: Any) -> None:
        with pytest.raises(TypeError, match="text"):
            tok.encode(text)

    def test_the_fast_way_has_the_same_ids_alone(self, tok: Tokenizer) -> None:
        texts = ["hello world", ("a", "b")]
        fast = tok.encode_batch_fast(texts)
        assert [e.ids for e in fast] == [e.ids for e in tok.encode_batch(texts)]
        assert fast[0].offsets == [(0, 0)] * 4

    def test_bare_encodings_can_be_framed_later(self, tok: Tokenizer) -> None:
        tok.enable_truncation(5)
        bare = [byte_tokenizer().encode(text) for text in ("hello world", "hello")]
        before = copy.deepcopy(bare)
        assert tok.post_process(*bare).ids == tok.encode("hello world", "hello").ids
        assert bare == before

    def test_a_list_of_two_in_a_batch_is_a_pair(self, tok: Tokenizer) -> None:
        pair = tok.encode("hello", "world")
        assert tok.encode_batch([("hello", "world"), ["hello", "world"]]) == [pair, pair]

    def test_a_template_needs_its_special_tokens(self) -> None:
        with pytest.raises(BadArgument, match=r"'\[CLS\]' is not in special_tokens"):
            processors.TemplateProcessing("[CLS] $A")

    def test_ids_that_are_no_tokens_are_passed_over(self, tok: Tokenizer) -> None:
        assert tok.decode([*tok.encode("hello", add_special_tokens=False).ids, 9999]) == "hello"
        for id in (-1, 2**32):
            with pytest.raises(OverflowError):
                tok.decode([id])

    def test_without_a_decoder_tokens_are_joined_by_spaces(self, tok: Tokenizer) -> None:
        tok.decoder = None
        assert tok.decode(tok.encode("hello world").ids) == "hello Ġworld"

    def test_saving_says_when_words_will_be_decoded_with_spaces_in_them(
        self, tok: Tokenizer, tmp_path: Path
    ) -> None:
        Tokenizer(models.WordLevel({"a": 0})).save(tmp_path / "words.json")
        tok.save(tmp_path / "with.json")
        tok.decoder = None
        with pytest.warns(ArrowprepWarning, match="no decoder"):
            tok.save(tmp_path / "without.json")

    def test_repr_of_parts_shows_their_options(self) -> None:
        split = pre_tokenizers.Split(Regex(r"\d"), "isolated")
        assert repr(split) == r"Split(pattern=Regex('\\d'), behavior='isolated', invert=False)"
