"""Special tokens, sides and lengths can be set at any time, count at once, and are in the fingerprint."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from arrowprep import PreTrainedTokenizer, load_tokenizer
from arrowprep.errors import BadArgument, TokenizerError
from arrowprep.tokenize.added_tokens import AddedToken
from tests.tokenize.small import write_folder


class TestSpecialTokens:
    def test_roles_have_a_token_and_an_id(self, tok: PreTrainedTokenizer) -> None:
        assert (tok.bos_token, tok.bos_token_id) == ("<bos>", 268)
        assert (tok.cls_token, tok.cls_token_id) == (None, None)
        assert tok.special_tokens_map == {"bos_token": "<bos>", "eos_token": "<eos>", "pad_token": "<pad>"}
        assert tok.all_special_tokens == ["<bos>", "<eos>", "<pad>"]
        assert tok.all_special_ids == [268, 269, 270]

    def test_setting_a_token_sets_its_id_and_the_other_way_round(self, tok: PreTrainedTokenizer) -> None:
        tok.pad_token = tok.eos_token
        assert tok.pad_token_id == tok.eos_token_id
        tok.sep_token_id = 271
        assert tok.sep_token == "<sep>"
        tok.bos_token = None
        assert tok.bos_token_id is None
        assert "bos_token" not in tok.special_tokens_map

    def test_the_roles_there_are(self, tok: PreTrainedTokenizer) -> None:
        of_all = PreTrainedTokenizer.SPECIAL_TOKENS_ATTRIBUTES
        assert of_all == tok.SPECIAL_TOKENS_ATTRIBUTES
        seeing = PreTrainedTokenizer(tokenizer_object=tok.backend_tokenizer, image_token="<image>")
        assert [*of_all, "image_token"] == seeing.SPECIAL_TOKENS_ATTRIBUTES

    def test_a_frame_follows_another_bos_when_asked(self, tok: PreTrainedTokenizer) -> None:
        tok.add_bos_token = True
        tok.bos_token = "<sep>"
        assert tok.encode("hello")[0] == 268
        tok.update_post_processor()
        assert tok.encode("hello")[0] == 271

    def test_setting_a_token_does_not_add_it(self, tok: PreTrainedTokenizer) -> None:
        size = len(tok)
        tok.mask_token = "<mask>"
        assert len(tok) == size
        assert tok.mask_token_id is None
        tok.unk_token = "<sep>"
        assert tok.mask_token_id == tok.unk_token_id == 271

    def test_a_value_that_is_no_token_is_refused(self, tok: PreTrainedTokenizer) -> None:
        with pytest.raises(BadArgument, match="bos_token is a str"):
            tok.bos_token = 5  # type: ignore[assignment]
        with pytest.raises(BadArgument, match="no token has the id 9999"):
            tok.bos_token_id = 9999
        with pytest.raises(BadArgument, match="extra_special_tokens is a list"):
            tok.extra_special_tokens = "<a>"  # type: ignore[assignment]
        for wrong in ({"pad_token": None}, {"pad_token": 5}, {"extra_special_tokens": [None]}):
            with pytest.raises(BadArgument, match="neither str nor AddedToken"):
                tok.add_special_tokens(wrong)

    def test_adding_gives_a_role_and_an_id(self, tok: PreTrainedTokenizer) -> None:
        assert tok.add_special_tokens({"mask_token": "<mask>", "extra_special_tokens": ["<a>", "<b>"]}) == 3
        assert (tok.mask_token, tok.mask_token_id) == ("<mask>", 272)
        assert tok.extra_special_tokens == ["<a>", "<b>"]
        assert tok.extra_special_tokens_ids == [273, 274]
        assert tok.decode([259, 272, 273], skip_special_tokens=True) == "hello"

    def test_extra_tokens_are_replaced_or_extended_and_stay_in_the_vocabulary(
        self, tok: PreTrainedTokenizer
    ) -> None:
        tok.add_special_tokens({"extra_special_tokens": ["<a>"]})
        tok.add_special_tokens({"extra_special_tokens": ["<b>"]}, replace_extra_special_tokens=False)
        assert tok.extra_special_tokens == ["<a>", "<b>"]
        tok.add_special_tokens({"extra_special_tokens": ["<c>"]})
        assert tok.extra_special_tokens == ["<c>"]
        assert "<a>" in tok.get_vocab()

    def test_a_role_that_there_is_not_names_those_there_are(self, tok: PreTrainedTokenizer) -> None:
        with pytest.raises(BadArgument, match=r"'nope_token'.*bos_token.*extra_special_tokens"):
            tok.add_special_tokens({"nope_token": "x"})

    def test_a_model_has_roles_of_its_own(self, tmp_path: Path) -> None:
        folder = write_folder(
            tmp_path, {"image_token": "<img>", "extra_special_tokens": {"audio_token": "<audio>"}}
        )
        tok = load_tokenizer(folder)
        assert (tok.image_token, tok.image_token_id, tok.audio_token) == ("<img>", 272, "<audio>")
        tok.image_token = "<pad>"
        assert tok.image_token_id == tok.convert_tokens_to_ids("<pad>")
        with pytest.raises(AttributeError, match="video_token"):
            _ = tok.video_token

    def test_added_tokens_match_before_all_else(self, tok: PreTrainedTokenizer) -> None:
        assert tok.add_tokens(["wor", AddedToken("<x>", lstrip=True)]) == 2
        assert tok.tokenize("hello world") == ["hello", "Ġ", "wor", "ld"]
        assert tok.add_tokens("wor") == 0
        assert tok.get_added_vocab()["wor"] == 272

    def test_tokens_and_ids_convert_both_ways(self, tok: PreTrainedTokenizer) -> None:
        assert tok.convert_tokens_to_ids(["hello", "nope"]) == [259, None]
        assert tok.convert_ids_to_tokens([259, 268, 9999]) == ["hello", "<bos>", None]
        assert tok.convert_ids_to_tokens([259, 268], skip_special_tokens=True) == ["hello"]
        assert tok.convert_tokens_to_string(["hello", "Ġworld"]) == "hello world"

    def test_a_mask_of_special_tokens(self, tok: PreTrainedTokenizer) -> None:
        assert tok.get_special_tokens_mask([268, 259, 269], already_has_special_tokens=True) == [1, 0, 1]
        with pytest.raises(NotImplementedError):
            tok.get_special_tokens_mask([259])

    def test_bos_and_eos_can_be_put_on_and_off(self, tok: PreTrainedTokenizer) -> None:
        tok.add_eos_token = False
        assert tok.encode("hello") == [259]
        tok.add_bos_token = True
        assert tok.encode("hello") == [268, 259]
        assert tok("hello", "hello", return_token_type_ids=True)["token_type_ids"] == [0, 0, 1, 1]
        tok.cls_token = tok.bos_token
        tok.bos_token = None
        with pytest.raises(BadArgument, match="add_bos_token needs a bos_token"):
            tok.add_bos_token = True


CHANGES: dict[str, Callable[[PreTrainedTokenizer], object]] = {
    "pad_token": lambda tok: setattr(tok, "pad_token", "<eos>"),
    "bos_token_id": lambda tok: setattr(tok, "bos_token_id", 271),
    "extra": lambda tok: setattr(tok, "extra_special_tokens", ["<sep>"]),
    "padding_side": lambda tok: setattr(tok, "padding_side", "left"),
    "truncation_side": lambda tok: setattr(tok, "truncation_side", "left"),
    "model_max_length": lambda tok: setattr(tok, "model_max_length", 16),
    "model_input_names": lambda tok: tok.model_input_names.append("token_type_ids"),
    "chat_template": lambda tok: setattr(tok, "chat_template", "{{ messages }}"),
    "chat_templates": lambda tok: setattr(tok, "chat_template", {"default": "a", "tool_use": "b"}),
    "split_special_tokens": lambda tok: setattr(tok, "split_special_tokens", True),
    "clean_up": lambda tok: setattr(tok, "clean_up_tokenization_spaces", True),
    "pad_token_type_id": lambda tok: setattr(tok, "pad_token_type_id", 1),
    "add_tokens": lambda tok: tok.add_tokens(["new"]),
    "add_special_tokens": lambda tok: tok.add_special_tokens({"mask_token": "<mask>"}),
    "add_bos_token": lambda tok: setattr(tok, "add_bos_token", True),
    "pre_tokenizer": lambda tok: setattr(tok.backend_tokenizer.pre_tokenizer, "add_prefix_space", True),
    "post_processor": lambda tok: setattr(tok.backend_tokenizer, "post_processor", None),
    "something of a subclass": lambda tok: setattr(tok, "threshold", 3),
}


class TestFingerprint:
    @pytest.mark.parametrize("change", CHANGES)
    def test_whatever_changes_results_changes_it_at_once(self, tok: PreTrainedTokenizer, change: str) -> None:
        before = tok.fingerprint
        CHANGES[change](tok)
        assert tok.fingerprint != before

    def test_changing_it_back_changes_it_back(self, tok: PreTrainedTokenizer) -> None:
        before = tok.fingerprint
        tok.padding_side, tok.chat_template = "left", "x"
        tok.padding_side, tok.chat_template = "right", None
        assert tok.fingerprint == before

    def test_where_it_was_loaded_from_is_not_in_it(self, tok: PreTrainedTokenizer, tmp_path: Path) -> None:
        assert load_tokenizer(write_folder(tmp_path / "elsewhere")).fingerprint == tok.fingerprint

    def test_copies_have_the_same(self, tok: PreTrainedTokenizer) -> None:
        tok.fingerprint  # noqa: B018 - kept or not, the copies agree
        assert copy.deepcopy(tok).fingerprint == tok.fingerprint
        assert pickle.loads(pickle.dumps(tok)).fingerprint == tok.fingerprint

    def test_another_process_has_the_same(self, tok: PreTrainedTokenizer) -> None:
        code = (
            f"from arrowprep import load_tokenizer; print(load_tokenizer({tok.name_or_path!r}).fingerprint)"
        )
        out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert out.stdout.strip() == tok.fingerprint

    def test_the_code_of_a_subclass_is_in_it(self, tok: PreTrainedTokenizer) -> None:
        def subclass(prefix: str) -> type[PreTrainedTokenizer]:
            scope: dict[str, Any] = {"Base": PreTrainedTokenizer}
            body = f"    def tokenize(self, text): return super().tokenize({prefix!r} + text)"
            exec(f"class Prefixed(Base):\n{body}", {"__name__": "user", **scope}, scope)
            made: type[PreTrainedTokenizer] = scope["Prefixed"]
            return made

        names = [subclass(prefix)(tokenizer_object=tok.backend_tokenizer).fingerprint for prefix in "aab"]
        assert names[0] == names[1] != names[2]

    def test_so_is_what_that_code_reads_of_its_module(self, tok: PreTrainedTokenizer) -> None:
        def named(prefix: str) -> str:
            scope: dict[str, Any] = {"__name__": "user", "Base": PreTrainedTokenizer, "PREFIX": prefix}
            body = "    def tokenize(self, text): return super().tokenize(PREFIX + text)"
            exec(f"class Prefixed(Base):\n{body}", scope)
            fingerprint: str = scope["Prefixed"](tokenizer_object=tok.backend_tokenizer).fingerprint
            return fingerprint

        assert named("a") == named("a") != named("b")

    def test_it_takes_microseconds(self, tok: PreTrainedTokenizer) -> None:
        tok.chat_template = "{{ messages }}" * 1000
        tok.fingerprint  # noqa: B018 - the pipeline's part is kept from here on
        best = min(_seconds(lambda: tok.fingerprint) for _ in range(50))
        assert best < 1e-3

    def test_a_template_that_prints_the_date_puts_the_day_into_it(self, tok: PreTrainedTokenizer) -> None:
        tok.chat_template = "{{ strftime_now('%d %b') }}"
        tok.clock = lambda: datetime(2025, 3, 14, 9)
        pi_day = tok.fingerprint
        tok.clock = lambda: datetime(2025, 3, 14, 18)
        assert tok.fingerprint == pi_day
        tok.clock = lambda: datetime(2025, 3, 15)
        assert tok.fingerprint != pi_day
        tok.chat_template = "no date"
        undated = tok.fingerprint
        tok.clock = lambda: datetime(2025, 3, 16)
        assert tok.fingerprint == undated


def _seconds(function: Callable[[], object]) -> float:
    start = time.process_time()
    function()
    return time.process_time() - start


class TestTheObject:
    def test_the_pipeline_takes_settings_that_no_call_sees(self, tok: PreTrainedTokenizer) -> None:
        text = "hello world hello"
        whole = tok(text)["input_ids"]
        tok.truncation_side = "left"
        tok.set_truncation_and_padding("max_length", "longest_first", 4, 0, None, "left")
        assert tok.backend_tokenizer.truncation == {
            "max_length": 4,
            "stride": 0,
            "strategy": "longest_first",
            "direction": "left",
        }
        assert tok.backend_tokenizer.encode("").ids == [270, 270, 268, 269]
        assert tok(text)["input_ids"] == whole
        tok.set_truncation_and_padding("do_not_pad", "do_not_truncate", 4, 0, None, None)
        assert (tok.backend_tokenizer.truncation, tok.backend_tokenizer.padding) == (None, None)

    def test_a_copy_is_apart_from_the_original(self, tok: PreTrainedTokenizer) -> None:
        for other in (copy.deepcopy(tok), copy.copy(tok), pickle.loads(pickle.dumps(tok))):
            other.padding_side = "left"
            other.pad_token = "<eos>"
            other.add_tokens(["new"])
            assert other.encode("new") == [268, 272, 269]
            assert (tok.padding_side, tok.pad_token, "new" in tok.get_vocab()) == ("right", "<pad>", False)

    def test_its_repr_says_what_it_is(self, tok: PreTrainedTokenizer) -> None:
        said = repr(tok)
        assert said.startswith("PreTrainedTokenizer(")
        for part in ("vocab_size=268", "model_max_length=32", "'pad_token': '<pad>'", " engine: "):
            assert part in said

    def test_it_is_true_and_has_a_length(self, tok: PreTrainedTokenizer) -> None:
        assert bool(tok)
        assert (len(tok), tok.vocab_size) == (272, 268)
        assert len(tok.vocab) == len(tok)

    def test_lengths_leave_room_for_special_tokens(self, tok: PreTrainedTokenizer) -> None:
        assert tok.num_special_tokens_to_add() == 2
        assert (tok.max_len_single_sentence, tok.max_len_sentences_pair) == (30, 29)

    def test_a_side_that_is_none_is_refused(self, tok: PreTrainedTokenizer) -> None:
        with pytest.raises(BadArgument, match="padding_side='middle'"):
            PreTrainedTokenizer(tokenizer_object=tok.backend_tokenizer, padding_side="middle")

    def test_without_a_pipeline_it_says_what_it_needs(self) -> None:
        with pytest.raises(TokenizerError, match="tokenizer_object"):
            PreTrainedTokenizer()

    def test_a_pipeline_alone_is_enough(self, tok: PreTrainedTokenizer) -> None:
        bare = PreTrainedTokenizer(tokenizer_object=tok.backend_tokenizer, mask_token="<mask>")
        assert bare.encode("hello") == [268, 259, 269]
        assert bare.mask_token_id == 272
        assert len(tok) == 272
        assert bare.model_max_length > 10**20

    def test_a_subclass_builds_its_own_pipeline(self, tok: PreTrainedTokenizer) -> None:
        class Lower(PreTrainedTokenizer):
            model = type(tok.backend_tokenizer.model)

            def __init__(self, unk_token: str = "<unk>", **settings: object) -> None:
                self._tokenizer = copy.deepcopy(tok.backend_tokenizer)
                super().__init__(unk_token=unk_token, **settings)

        lower = Lower(pad_token="<pad>")
        assert lower.encode("hello") == [268, 259, 269]
        assert (lower.unk_token_id, "<unk>" in tok.get_vocab()) == (272, False)
        assert "Lower(" in repr(lower)

    def test_a_subclass_has_defaults_and_methods_of_its_own(self, tok: PreTrainedTokenizer) -> None:
        class Left(PreTrainedTokenizer):
            padding_side = "left"
            model_input_names = ["input_ids"]  # noqa: RUF012

        left = Left(tokenizer_object=tok.backend_tokenizer, pad_token="<pad>")
        assert dict(left(["hello", "Hi Hi"], padding=True)) == {
            "input_ids": [[270, 270, 268, 259, 269], [268, 267, 32, 267, 269]]
        }
        assert left.fingerprint != tok.fingerprint
