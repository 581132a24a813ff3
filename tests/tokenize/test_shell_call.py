"""A call: what it takes, what it gives, and that it changes nothing."""

from __future__ import annotations

import pickle
import threading
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from arrowprep import PreTrainedTokenizer, load_tokenizer
from arrowprep.errors import ArrowprepWarning, BadArgument, NotText
from tests.tokenize.small import MERGES, SPECIAL, Capsules, alphabet, write_folder

BOS, EOS, PAD = 268, 269, 270
HELLO, WORLD, HELLO2, HI = 259, 264, 265, 267


class TestTexts:
    def test_the_small_tokenizer_is_what_its_merges_say(self, tok: PreTrainedTokenizer) -> None:
        assert tok.tokenize("hello world hello") == ["hello", "Ġworld", "Ġhello"]
        assert tok("hello world")["input_ids"] == [BOS, HELLO, WORLD, EOS]
        assert len(tok) == len(alphabet()) + len(MERGES) + len(SPECIAL)

    def test_one_text_gives_flat_lists(self, tok: PreTrainedTokenizer) -> None:
        assert dict(tok("hello")) == {"input_ids": [BOS, HELLO, EOS], "attention_mask": [1, 1, 1]}

    def test_a_list_gives_a_list_of_lists(self, tok: PreTrainedTokenizer) -> None:
        assert tok(["hello", ""])["input_ids"] == [[BOS, HELLO, EOS], [BOS, EOS]]

    @pytest.mark.parametrize("kind", ["string", "large_string", "chunked", "capsule", "tuple", "numpy"])
    def test_columns_and_sequences_give_what_a_list_gives(self, tok: PreTrainedTokenizer, kind: str) -> None:
        texts = ["skip", "hello", "", "hello world", "skip"]
        made: dict[str, Any] = {
            "string": pa.array(texts).slice(1, 3),
            "large_string": pa.array(texts, pa.large_string()).slice(1, 3),
            "chunked": pa.chunked_array([texts[1:2], texts[2:4]]),
            "capsule": Capsules(pa.array(texts[1:4])),
            "tuple": tuple(texts[1:4]),
            "numpy": np.array(texts[1:4]),
        }
        assert tok(made[kind]) == tok(texts[1:4])

    @pytest.mark.parametrize("column", [pa.array(["hello"]), pa.chunked_array([["hello"]])])
    def test_a_list_that_says_its_column_is_read_there(self, tok: PreTrainedTokenizer, column: Any) -> None:
        class Rows(list):  # type: ignore[type-arg]
            def __arrow_array__(self, type: pa.DataType | None = None) -> Any:
                return column

        assert tok(Rows(["hi"]))["input_ids"] == [[BOS, HELLO, EOS]]

    def test_null_in_a_column_is_no_text_and_stays_null(self, tok: PreTrainedTokenizer) -> None:
        assert tok(pa.array(["hello", None]))["input_ids"] == [[BOS, HELLO, EOS], None]

    def test_an_empty_batch_is_a_batch(self, tok: PreTrainedTokenizer) -> None:
        assert dict(tok([])) == {"input_ids": [], "attention_mask": []}
        assert pa.table(tok([], padding=True)).num_rows == 0

    def test_a_pair_is_one_row(self, tok: PreTrainedTokenizer) -> None:
        pair = tok("hello", "hello world", return_token_type_ids=True)
        assert pair["input_ids"] == [BOS, HELLO, EOS, HELLO, WORLD, EOS]
        assert pair["token_type_ids"] == [0, 0, 0, 1, 1, 1]
        assert tok([("hello", "hello world")], return_token_type_ids=True)[0].ids == pair["input_ids"]

    def test_an_empty_pair_of_one_text_is_no_pair(self, tok: PreTrainedTokenizer) -> None:
        assert tok("hello", "")["input_ids"] == [BOS, HELLO, EOS]
        assert tok(["hello"], [""])["input_ids"] == [[BOS, HELLO, EOS, EOS]]

    def test_words_keep_their_numbers(self, tok: PreTrainedTokenizer) -> None:
        encoded = tok(["hello", "", "12x"], is_split_into_words=True)
        assert encoded.word_ids() == [None, 0, 2, 2, None]
        batch = tok([["hello"], ["Hi", "Hi"]], is_split_into_words=True, add_special_tokens=False)
        assert batch["input_ids"] == [[HELLO], [HI, HI]]

    def test_targets_become_labels(self, tok: PreTrainedTokenizer) -> None:
        both = tok("hello", text_target="hello world", max_target_length=3)
        assert (both["input_ids"], both["labels"]) == ([BOS, HELLO, EOS], [BOS, HELLO, EOS])
        assert tok(text_target="hello") == tok("hello")
        assert pa.table(tok(["hello"], text_target=["Hi"])).column_names == [
            "input_ids",
            "attention_mask",
            "labels",
        ]

    @pytest.mark.parametrize(
        ("args", "options", "said"),
        [
            ((5,), {}, "not of type int"),
            ((["hello", None],), {}, "element 1 of the batch is None"),
            ((["hello", 5],), {}, "element 1 of the batch is of type int"),
            (("hello", ["hello"]), {}, "text_pair is one too"),
            ((["hello"], "hello"), {}, "text_pair is one too"),
            (("hello",), {"is_split_into_words": True}, "of type str"),
            (([["a", 1]],), {"is_split_into_words": True}, "element 0"),
        ],
    )
    def test_what_is_no_text_is_named(
        self, tok: PreTrainedTokenizer, args: Any, options: dict[str, Any], said: str
    ) -> None:
        with pytest.raises(NotText, match=said) as caught:
            tok(*args, **options)
        assert isinstance(caught.value, (TypeError, ValueError))

    def test_a_call_without_text_says_what_it_needs(self, tok: PreTrainedTokenizer) -> None:
        with pytest.raises(BadArgument, match="text or text_target"):
            tok()

    def test_batches_of_unequal_length_are_refused(self, tok: PreTrainedTokenizer) -> None:
        with pytest.raises(BadArgument, match="2 texts and 1 pairs"):
            tok(["a", "b"], ["c"])


class TestPadding:
    def test_to_the_longest_on_either_side(self, tok: PreTrainedTokenizer) -> None:
        texts = ["hello", "hello world"]
        right, left = tok(texts, padding=True), tok(texts, padding="longest", padding_side="left")
        assert right["input_ids"] == [[BOS, HELLO, EOS, PAD], [BOS, HELLO, WORLD, EOS]]
        assert right["attention_mask"] == [[1, 1, 1, 0], [1, 1, 1, 1]]
        assert left["input_ids"][0] == [PAD, BOS, HELLO, EOS]
        assert left["attention_mask"][0] == [0, 1, 1, 1]

    def test_to_a_length_and_to_a_multiple(self, tok: PreTrainedTokenizer) -> None:
        assert len(tok("hello", padding="max_length", max_length=7)["input_ids"]) == 7
        assert len(tok("hello", padding="max_length")["input_ids"]) == tok.model_max_length
        assert len(tok("hello", padding=True, pad_to_multiple_of=8)["input_ids"]) == 8

    def test_without_a_limit_there_is_nothing_to_pad_to(self, tok: PreTrainedTokenizer) -> None:
        tok.model_max_length = int(1e30)
        assert len(tok("hello", padding="max_length")["input_ids"]) == 3

    def test_without_a_pad_token_the_error_says_the_fix(self, tok: PreTrainedTokenizer) -> None:
        tok.pad_token = None
        with pytest.raises(BadArgument, match=r"tokenizer\.pad_token = tokenizer\.eos_token"):
            tok(["hello"], padding=True)

    def test_a_length_that_is_no_multiple_contradicts_it(self, tok: PreTrainedTokenizer) -> None:
        with pytest.raises(BadArgument, match="multiple"):
            tok("hello", padding=True, truncation=True, max_length=6, pad_to_multiple_of=4)

    def test_a_length_that_padding_ignores_is_said(self, tok: PreTrainedTokenizer) -> None:
        with pytest.warns(ArrowprepWarning, match="padding='max_length'"):
            tok("hello", padding=True, max_length=9)

    @pytest.mark.parametrize("option", ["padding", "truncation", "padding_side", "return_tensors"])
    def test_a_value_that_is_none_names_those_there_are(self, tok: PreTrainedTokenizer, option: str) -> None:
        with pytest.raises(BadArgument, match="'nope' is none of"):
            tok(["hello"], **{"padding": True, option: "nope"})

    def test_padded_rows_are_one_array(self, tok: PreTrainedTokenizer) -> None:
        ids = tok(["hello", "hello world"], padding=True, return_tensors="np")["input_ids"]
        assert (ids.dtype, ids.shape) == (np.int64, (2, 4))
        assert tok("hello", return_tensors="np")["input_ids"].shape == (1, 3)


class TestTruncation:
    def test_on_either_side(self, tok: PreTrainedTokenizer) -> None:
        assert tok("hello world hello", truncation=True, max_length=3)["input_ids"] == [BOS, HELLO, EOS]
        tok.truncation_side = "left"
        assert tok("hello world hello", truncation=True, max_length=3)["input_ids"] == [BOS, HELLO2, EOS]

    def test_a_length_alone_truncates_unless_padding_is_given(self, tok: PreTrainedTokenizer) -> None:
        assert len(tok("hello world hello", max_length=3)["input_ids"]) == 3
        assert len(tok("hello world hello", max_length=3, padding="max_length")["input_ids"]) == 5
        assert len(tok("hello world hello", max_length=3, truncation=False)["input_ids"]) == 5

    def test_without_a_length_the_model_says_it(self, tok: PreTrainedTokenizer) -> None:
        assert len(tok("hello" * 50, truncation=True)["input_ids"]) == 32

    def test_windows_become_rows(self, tok: PreTrainedTokenizer) -> None:
        encoded = tok(
            ["Hi", "hello world hello"],
            truncation=True,
            max_length=4,
            stride=1,
            return_overflowing_tokens=True,
            return_offsets_mapping=True,
        )
        assert encoded["input_ids"] == [[BOS, HI, EOS], [BOS, HELLO, WORLD, EOS], [BOS, WORLD, HELLO2, EOS]]
        assert encoded["overflow_to_sample_mapping"] == [0, 1, 1]
        assert encoded["offset_mapping"][2] == [(0, 0), (5, 11), (11, 17), (0, 0)]
        assert encoded.tokens(2) == ["<bos>", "Ġworld", "Ġhello", "<eos>"]

    def test_one_text_with_windows_is_a_batch(self, tok: PreTrainedTokenizer) -> None:
        encoded = tok("hello world", truncation=True, max_length=3, return_overflowing_tokens=True)
        assert encoded["input_ids"] == [[BOS, HELLO, EOS], [BOS, WORLD, EOS]]

    def test_windows_that_nobody_asked_for_are_dropped(self, tok: PreTrainedTokenizer) -> None:
        assert len(tok(["hello world hello", "Hi"], truncation=True, max_length=3)["input_ids"]) == 2

    def test_a_text_beyond_the_model_is_said(self, tok: PreTrainedTokenizer) -> None:
        with pytest.warns(ArrowprepWarning, match="more tokens than the model's 32"):
            tok("hello" * 50)


class TestWhatIsReturned:
    def test_columns_that_are_asked_for(self, tok: PreTrainedTokenizer) -> None:
        encoded = tok(
            ["hello", "hello world"],
            return_token_type_ids=True,
            return_attention_mask=False,
            return_special_tokens_mask=True,
            return_offsets_mapping=True,
            return_length=True,
        )
        assert dict(encoded) == {
            "input_ids": [[BOS, HELLO, EOS], [BOS, HELLO, WORLD, EOS]],
            "token_type_ids": [[0, 0, 0], [0, 0, 0, 0]],
            "special_tokens_mask": [[1, 0, 1], [1, 0, 0, 1]],
            "offset_mapping": [[(0, 0), (0, 5), (0, 0)], [(0, 0), (0, 5), (5, 11), (0, 0)]],
            "length": [3, 4],
        }

    def test_the_names_of_the_model_decide_the_rest(self, tok: PreTrainedTokenizer) -> None:
        tok.model_input_names = ["input_ids", "token_type_ids"]
        assert list(tok("hello")) == ["input_ids", "token_type_ids"]

    def test_columns_have_small_types_and_no_python_in_between(self, tok: PreTrainedTokenizer) -> None:
        encoded = tok(pa.array(["hello"]), return_offsets_mapping=True, return_token_type_ids=True)
        schema = pa.table(encoded).schema
        assert schema.field("input_ids").type == pa.list_(pa.int32())
        assert schema.field("attention_mask").type == pa.list_(pa.int8())
        assert schema.field("token_type_ids").type == pa.list_(pa.int8())
        assert schema.field("offset_mapping").type == pa.list_(pa.list_(pa.int32(), 2))

    def test_an_unknown_argument_is_said(self, tok: PreTrainedTokenizer) -> None:
        with pytest.warns(ArrowprepWarning, match="no argument truncate"):
            tok("hello", truncate=True)

    def test_a_bos_that_the_text_has_already_is_said(self, tok: PreTrainedTokenizer) -> None:
        for padding in ({}, {"padding": True}, {"padding": True, "padding_side": "left"}):
            with pytest.warns(ArrowprepWarning, match="add_special_tokens=False"):
                tok(["hello", "<bos>hello world"], **padding)
        assert tok("<bos>hello", add_special_tokens=False)["input_ids"] == [BOS, HELLO]
        assert tok(["<eos>", "", "hello<bos><bos>"])["input_ids"][1] == [BOS, EOS]
        tok.pad_token = "<bos>"
        assert tok(["", "hello"], padding=True, padding_side="left")["input_ids"][0] == [BOS, BOS, EOS]

    @pytest.mark.parametrize(
        "options", [{"padding": True, "max_length": 3}, {"truncate": True}, {"text_pair": "hello" * 50}]
    )
    def test_a_warning_points_at_the_call(self, tok: PreTrainedTokenizer, options: dict[str, Any]) -> None:
        for call in (tok, tok.encode):
            with pytest.warns(ArrowprepWarning) as caught:
                call("<bos>hello", **options)
            assert {warning.filename for warning in caught} == {__file__}

    def test_encode_gives_ids_alone(self, tok: PreTrainedTokenizer) -> None:
        assert tok.encode("hello") == [BOS, HELLO, EOS]
        assert tok.encode("hello", add_special_tokens=False) == [HELLO]
        assert tok.encode("hello", "Hi", truncation=True, max_length=5) == [BOS, HELLO, EOS, HI, EOS]

    def test_special_tokens_in_the_text_are_tokens_unless_split(self, tok: PreTrainedTokenizer) -> None:
        assert tok("<pad>", add_special_tokens=False)["input_ids"] == [PAD]
        assert len(tok("<pad>", add_special_tokens=False, split_special_tokens=True)["input_ids"]) == 5
        tok.split_special_tokens = True
        assert len(tok("<pad>", add_special_tokens=False)["input_ids"]) == 5

    def test_the_encoding_of_a_row_is_made_when_asked_for_and_survives_pickling(
        self, tok: PreTrainedTokenizer
    ) -> None:
        encoded = tok(["hello", "hello world"], padding=True)
        assert encoded[1] is encoded[-1]
        again = pickle.loads(pickle.dumps(encoded))
        assert again.tokens(0) == ["<bos>", "hello", "<eos>", "<pad>"]
        assert [encoding.tokens for encoding in again[:]] == [encoded.tokens(row) for row in (0, 1)]

    def test_encodings_are_those_of_the_tokenizer_as_it_was(self, tok: PreTrainedTokenizer) -> None:
        encoded = tok("hello world")
        tok.add_tokens(["world"])
        assert encoded.tokens() == ["<bos>", "hello", "Ġworld", "<eos>"]


class TestNoStatePerCall:
    def test_a_call_changes_neither_fingerprint_nor_pickle(self, tok: PreTrainedTokenizer) -> None:
        fingerprint, pickled = tok.fingerprint, pickle.dumps(tok)
        tok(["hello", "hello world"], padding=True, truncation=True, max_length=3, split_special_tokens=True)
        tok.pad(tok(["hello"]), padding="max_length", max_length=9)
        tok.decode([HELLO])
        assert tok.fingerprint == fingerprint
        assert pickle.dumps(tok) == pickled

    def test_threads_do_not_see_each_others_settings(self, tok: PreTrainedTokenizer) -> None:
        wrong: list[Any] = []

        def call(length: int) -> None:
            for _ in range(30):
                ids = tok(["hello" * 9], truncation=True, max_length=length)["input_ids"]
                if [len(row) for row in ids] != [length]:
                    wrong.append((length, ids))

        threads = [threading.Thread(target=call, args=(length,)) for length in (3, 5, 7)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not wrong

    def test_settings_of_the_file_are_no_settings_of_a_call(self, tmp_path: Path) -> None:
        truncation = {"direction": "Right", "max_length": 3, "strategy": "LongestFirst", "stride": 0}
        padding = {
            "strategy": {"Fixed": 9},
            "direction": "Left",
            "pad_to_multiple_of": None,
            "pad_id": PAD,
            "pad_type_id": 0,
            "pad_token": "<pad>",
        }
        folder = write_folder(tmp_path, {}, truncation=truncation, padding=padding)
        tok = load_tokenizer(folder)
        assert len(tok("hello world hello")["input_ids"]) == 5
        assert (tok.pad_token, tok.padding_side) == ("<pad>", "left")


class TestPad:
    def test_a_list_of_encodings_becomes_a_batch(self, tok: PreTrainedTokenizer) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            padded = tok.pad([tok("hello"), tok("hello world")])
        assert padded == tok(["hello", "hello world"], padding=True)

    def test_columns_and_arrow_columns_too(self, tok: PreTrainedTokenizer) -> None:
        expected = tok(["hello", "hello world"], padding=True, padding_side="left")
        assert tok.pad(tok(["hello", "hello world"]), padding_side="left") == expected
        assert tok.pad(dict(tok(["hello", "hello world"])), padding_side="left") == expected

    def test_further_columns_on_request(self, tok: PreTrainedTokenizer) -> None:
        rows = [{"input_ids": [1, 2], "labels": [1, 2]}, {"input_ids": [3], "labels": [3]}]
        padded = tok.pad(rows, pad_also={"labels": -100}, return_tensors="np")
        assert padded["labels"].tolist() == [[1, 2], [3, -100]]
        assert padded["attention_mask"].tolist() == [[1, 1], [1, 0]]

    def test_arrays_stay_arrays(self, tok: PreTrainedTokenizer) -> None:
        padded = tok.pad([{"input_ids": np.array([1, 2])}, {"input_ids": np.array([3])}])
        assert padded["input_ids"].tolist() == [[1, 2], [3, PAD]]
        assert isinstance(padded["input_ids"], np.ndarray)
        again = tok.pad(tok(["hello", "Hi Hi"], return_tensors="np", padding=True), pad_to_multiple_of=8)
        assert again["input_ids"].shape == again["attention_mask"].shape == (2, 8)
        assert tok.pad(tok("hello"), pad_to_multiple_of=8, return_tensors="np")["input_ids"].shape == (8,)

    def test_longer_rows_stay_and_one_encoding_stays_flat(self, tok: PreTrainedTokenizer) -> None:
        assert tok.pad({"input_ids": [[1, 2, 3], [4]]}, padding="max_length", max_length=2)["input_ids"] == [
            [1, 2, 3],
            [4, PAD],
        ]
        assert tok.pad({"input_ids": [1]}, pad_to_multiple_of=2)["input_ids"] == [1, PAD]

    def test_what_cannot_be_padded_is_named(self, tok: PreTrainedTokenizer) -> None:
        with pytest.raises(BadArgument, match="input_ids"):
            tok.pad([{"attention_mask": [1]}])
        with pytest.raises(BadArgument, match="'labels'"):
            tok.pad([{"input_ids": [1], "labels": 1}], pad_also={"labels": -100})
        with pytest.raises(BadArgument, match="'labels'"):
            tok.pad([{"input_ids": [1], "labels": [1]}, {"input_ids": [2]}])


class TestBackToText:
    def test_ids_become_text_in_every_holder(self, tok: PreTrainedTokenizer) -> None:
        ids = [BOS, HELLO, WORLD, EOS]
        assert tok.decode(ids) == "<bos>hello world<eos>"
        for held in (ids, np.array(ids), pa.array(ids), tuple(ids)):
            assert tok.decode(held, skip_special_tokens=True) == "hello world"
        assert tok.decode(HELLO) == "hello"
        assert tok.decode([]) == ""

    def test_batches_become_lists_of_texts(self, tok: PreTrainedTokenizer) -> None:
        assert tok.decode([[HELLO], [WORLD]]) == ["hello", " world"]
        assert tok.batch_decode(np.array([[HELLO], [WORLD]])) == ["hello", " world"]
        assert tok.batch_decode(pa.array([[HELLO], []], pa.list_(pa.int32()))) == ["hello", ""]
        assert tok.batch_decode([]) == []
        assert tok.batch_decode(tok(["hello"]), skip_special_tokens=True) == ["hello"]

    def test_spaces_are_never_cleaned_up_for_bpe_and_asking_says_so(self, tok: PreTrainedTokenizer) -> None:
        ids = tok.encode("hello .", add_special_tokens=False)
        tok.clean_up_tokenization_spaces = True
        assert tok.decode(ids) == "hello ."
        with pytest.warns(ArrowprepWarning, match="BPE"):
            assert tok.decode(ids, clean_up_tokenization_spaces=True) == "hello ."
