"""A BatchEncoding is columns: Arrow until somebody looks, then lists that are the truth."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from arrowprep.errors import BadArgument, LengthMismatch, TokenizerError
from arrowprep.tokenize import tensors
from arrowprep.tokenize.batch_encoding import BatchEncoding, CharSpan, TokenSpan
from arrowprep.tokenize.encoding import Encoding
from arrowprep.tokenize.ragged import SPAN

IDS = pa.array([[5, 6, 7], [8]], pa.list_(pa.int32()))
MASK = pa.array([[1, 1, 1], [1]], pa.list_(pa.int8()))


def batch(**more: Any) -> BatchEncoding:
    return BatchEncoding({"input_ids": IDS, "attention_mask": MASK, **more})


def address(column: pa.Array) -> int:
    return int(column.values.buffers()[1].address)


class TestColumns:
    def test_what_nobody_looked_at_is_written_from_the_same_buffers(self) -> None:
        table = pa.table(batch())
        assert table.schema == pa.schema(
            {"input_ids": pa.list_(pa.int32()), "attention_mask": pa.list_(pa.int8())}
        )
        assert address(table["input_ids"].chunk(0)) == address(IDS)

    def test_a_record_batch_can_be_made_of_it(self) -> None:
        assert pa.record_batch(batch()).to_pydict() == {
            "input_ids": [[5, 6, 7], [8]],
            "attention_mask": [[1, 1, 1], [1]],
        }

    def test_a_column_is_shown_as_lists_of_ints(self) -> None:
        shown = batch()["input_ids"]
        assert shown == [[5, 6, 7], [8]]
        assert type(shown) is list
        assert type(shown[0]) is list

    def test_once_looked_at_the_list_is_the_truth(self) -> None:
        encoded = batch()
        encoded["input_ids"][1].append(9)
        encoded["input_ids"].append([1])
        encoded["attention_mask"].append([1])
        written = pa.table(encoded)
        assert written["input_ids"].to_pylist() == [[5, 6, 7], [8, 9], [1]]
        assert written["input_ids"].type == pa.list_(pa.int32())
        assert written["attention_mask"].type == pa.list_(pa.int8())

    def test_looking_does_not_change_the_arrow_array_it_came_from(self) -> None:
        batch()["input_ids"][0].append(1)
        assert IDS.to_pylist() == [[5, 6, 7], [8]]

    def test_new_columns_are_written_too(self) -> None:
        encoded = batch()
        encoded["labels"] = [[-100, 6, 7], [8]]
        encoded["weight"] = np.array([0.5, 1.0])
        written = pa.table(encoded)
        assert written["labels"].to_pylist() == [[-100, 6, 7], [8]]
        assert written["weight"].type == pa.float64()

    def test_columns_of_a_table_are_columns_too(self) -> None:
        encoded = BatchEncoding({"input_ids": pa.chunked_array([IDS, IDS])})
        encoded["labels"] = pa.chunked_array([IDS, IDS])
        assert pa.table(encoded).num_rows == 4
        assert encoded["labels"] == [[5, 6, 7], [8]] * 2

    def test_it_is_a_mutable_mapping(self) -> None:
        encoded = batch()
        assert list(encoded) == ["input_ids", "attention_mask"]
        assert encoded.pop("attention_mask") == [[1, 1, 1], [1]]
        assert "attention_mask" not in encoded
        assert dict(encoded) == {"input_ids": [[5, 6, 7], [8]]}
        assert {**encoded} == encoded
        assert encoded.input_ids is encoded["input_ids"]

    def test_an_unknown_name_says_so(self) -> None:
        with pytest.raises(KeyError, match="nope"):
            batch()["nope"]
        with pytest.raises(AttributeError, match="nope"):
            _ = batch().nope

    def test_columns_of_unequal_length_cannot_be_written(self) -> None:
        with pytest.raises(LengthMismatch, match="labels"):
            pa.table(batch(labels=[[1]]))

    def test_spans_are_shown_as_tuples_and_written_as_pairs(self) -> None:
        encoded = batch(offset_mapping=pa.array([[(0, 2), (2, 3), (3, 4)], [(0, 1)]], pa.list_(SPAN)))
        assert encoded["offset_mapping"] == [[(0, 2), (2, 3), (3, 4)], [(0, 1)]]
        assert pa.table(encoded)["offset_mapping"].type == pa.list_(SPAN)

    def test_ids_that_do_not_fit_are_written_as_what_they_are(self) -> None:
        encoded = batch()
        encoded["input_ids"][0][0] = 2**40
        assert pa.table(encoded)["input_ids"].to_pylist()[0][0] == 2**40

    def test_a_null_row_stays_null(self) -> None:
        encoded = BatchEncoding({"input_ids": pa.array([[1], None], pa.list_(pa.int32()))})
        assert encoded["input_ids"] == [[1], None]
        assert pa.table(encoded)["input_ids"].to_pylist() == [[1], None]

    def test_a_small_one_is_shown_whole_and_a_large_one_by_its_shape(self) -> None:
        assert repr(batch()) == "{'input_ids': [[5, 6, 7], [8]], 'attention_mask': [[1, 1, 1], [1]]}"
        large = BatchEncoding({"input_ids": pa.array([[0] * 500] * 3, pa.list_(pa.int32()))})
        assert repr(large) == "BatchEncoding(3 rows of input_ids)"

    def test_tensors_are_shown_whole_or_by_their_shape_too(self) -> None:
        torch = pytest.importorskip("torch", reason="torch is not installed")
        assert repr(BatchEncoding({"input_ids": torch.ones(1, 2)})) == "{'input_ids': tensor([[1., 1.]])}"
        assert repr(BatchEncoding({"input_ids": torch.ones(3, 500)})) == "BatchEncoding(3 rows of input_ids)"

    def test_a_repr_is_not_a_look(self) -> None:
        encoded = batch()
        repr(encoded)
        assert encoded.column("input_ids") is IDS


class TestSingle:
    def single(self) -> BatchEncoding:
        return BatchEncoding({"input_ids": IDS.slice(0, 1), "length": pa.array([3])}, single=True)

    def test_it_is_shown_without_the_batch(self) -> None:
        assert dict(self.single()) == {"input_ids": [5, 6, 7], "length": [3]}

    def test_it_is_written_as_one_row_looked_at_or_not(self) -> None:
        looked_at = self.single()
        looked_at["input_ids"].append(8)
        looked_at["labels"] = [1, 2, 3, 4]
        assert pa.table(self.single()).to_pylist() == [{"input_ids": [5, 6, 7], "length": 3}]
        assert looked_at["length"] == [3]
        assert pa.table(looked_at).to_pylist() == [
            {"input_ids": [5, 6, 7, 8], "length": 3, "labels": [1, 2, 3, 4]}
        ]


class TestTensors:
    def test_numpy_has_one_array_of_all_rows(self) -> None:
        even = BatchEncoding(
            {"input_ids": pa.array([[1, 2], [3, 4]], pa.list_(pa.int32()))}, tensor_type="np"
        )
        assert even["input_ids"].tolist() == [[1, 2], [3, 4]]
        assert even["input_ids"].dtype == np.int64
        assert even["input_ids"].flags["C_CONTIGUOUS"]

    def test_numpy_keeps_rows_of_unequal_length_apart(self) -> None:
        rows = batch().convert_to_tensors("np")["input_ids"]
        assert rows.dtype == object
        assert [row.tolist() for row in rows] == [[5, 6, 7], [8]]

    def test_other_tensors_of_unequal_rows_name_the_column_and_the_fix(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(tensors.KINDS, "pt", lambda array: array)
        with pytest.raises(BadArgument, match=r"'input_ids'.*padding=True"):
            batch().convert_to_tensors("pt")

    def test_ids_of_nothing_are_int64(self) -> None:
        empty = BatchEncoding({"input_ids": pa.array([[]], pa.list_(pa.int32()))}, tensor_type="np")
        assert (empty["input_ids"].shape, empty["input_ids"].dtype) == ((1, 0), np.int64)

    def test_an_unknown_kind_names_those_there_are(self) -> None:
        with pytest.raises(BadArgument, match="'np', 'pt', 'tf', 'jax'"):
            batch().convert_to_tensors("nope")

    def test_a_single_one_has_no_batch_axis_unless_asked(self) -> None:
        def single() -> BatchEncoding:
            return BatchEncoding({"input_ids": IDS.slice(0, 1)}, single=True)

        assert single().convert_to_tensors("np")["input_ids"].shape == (3,)
        assert single().convert_to_tensors("np", prepend_batch_axis=True)["input_ids"].shape == (1, 3)

    def test_rows_of_unequal_length_are_written_as_lists_again(self) -> None:
        assert pa.table(batch().convert_to_tensors("np"))["input_ids"].to_pylist() == [[5, 6, 7], [8]]

    def test_tensors_are_written_with_their_type(self) -> None:
        encoded = BatchEncoding({"x": np.arange(12).reshape(2, 3, 2), "y": np.zeros((2, 3), np.float32)})
        written = pa.table(encoded)
        assert written["y"].type == pa.list_(pa.float32())
        assert np.array(written["x"].to_pylist()).tolist() == np.arange(12).reshape(2, 3, 2).tolist()


class TestQueries:
    """Over "ab cd" beside "e": tokens ab, cd, and e between added ones."""

    def encoded(self) -> BatchEncoding:
        encoding = Encoding(
            [0, 1, 2, 0, 3],
            [0, 0, 0, 0, 1],
            ["<s>", "ab", " cd", "<s>", "e"],
            [(0, 0), (0, 2), (2, 5), (0, 0), (0, 1)],
            [None, 0, 1, None, 0],
            sequence_ranges={0: (1, 3), 1: (4, 5)},
        )
        return BatchEncoding({"input_ids": [[0, 1, 2, 0, 3]]}, encoding)

    def test_a_row_has_its_tokens_words_and_texts(self) -> None:
        encoded = self.encoded()
        assert encoded.tokens() == ["<s>", "ab", " cd", "<s>", "e"]
        assert encoded.word_ids(0) == [None, 0, 1, None, 0]
        assert encoded.sequence_ids(-1) == [None, 0, 0, None, 1]
        assert encoded.n_sequences == 2

    def test_positions_lead_from_characters_to_tokens_and_back(self) -> None:
        encoded = self.encoded()
        assert encoded.char_to_token(3) == 2
        assert encoded.char_to_token(0, 0, 1) == 4
        assert encoded.token_to_chars(2) == CharSpan(2, 5)
        assert encoded.word_to_tokens(1) == TokenSpan(2, 3)
        assert encoded.word_to_chars(0, 1) == CharSpan(2, 5)
        assert encoded.token_to_word(0, 4) == 0
        assert encoded.token_to_sequence(4) == 1
        assert encoded.char_to_word(4) == 1

    def test_negative_positions_count_from_the_end(self) -> None:
        encoded = self.encoded()
        assert encoded.token_to_chars(-1) == CharSpan(0, 1)
        assert encoded.token_to_chars(-1, -3) == CharSpan(2, 5)
        assert encoded.char_to_token(-1) == 2
        assert encoded.word_to_tokens(0, -1) == TokenSpan(2, 3)

    def test_what_is_not_there_is_none(self) -> None:
        encoded = self.encoded()
        assert encoded.token_to_chars(0) is None
        assert encoded.char_to_token(99) is None
        assert encoded.word_to_chars(99) is None

    def test_a_row_that_is_not_there_is_an_error(self) -> None:
        with pytest.raises(BadArgument, match="row 1 is out of range"):
            self.encoded().tokens(1)

    def test_an_int_is_an_encoding_and_a_slice_several(self) -> None:
        encoded = self.encoded()
        assert encoded[0].ids == [0, 1, 2, 0, 3]
        assert [encoding.ids for encoding in encoded[:1]] == [[0, 1, 2, 0, 3]]

    def test_without_encodings_queries_say_so_and_slices_cut_columns(self) -> None:
        encoded = batch()
        assert not encoded.is_fast
        assert encoded[:1] == {"input_ids": [[5, 6, 7]], "attention_mask": [[1, 1, 1]]}
        with pytest.raises(TokenizerError, match="not made by calling a tokenizer"):
            encoded.tokens()
        with pytest.raises(KeyError):
            encoded[0]


class TestCopies:
    def test_pickling_keeps_columns_and_encodings(self) -> None:
        encoded = BatchEncoding({"input_ids": IDS}, [Encoding([5, 6, 7]), Encoding([8])], n_sequences=1)
        again = pickle.loads(pickle.dumps(encoded))
        assert address(again.column("input_ids")) != address(IDS)
        assert again == encoded
        assert again[1].ids == [8]
        assert again["input_ids"] == [[5, 6, 7], [8]]

    def test_a_copy_has_columns_of_its_own(self) -> None:
        encoded = batch()
        other = copy.copy(encoded)
        other["labels"] = 1
        assert "labels" not in encoded
        deep = copy.deepcopy(encoded)
        deep["input_ids"][0].append(1)
        assert encoded["input_ids"][0] == [5, 6, 7]

    def test_moving_to_a_device_moves_what_can_move(self) -> None:
        class Tensor:
            def to(self, device: str, non_blocking: bool) -> tuple[str, bool]:
                return device, non_blocking

        moved = batch(x=Tensor()).to("cuda:0")
        assert moved["x"] == ("cuda:0", False)
        assert moved["input_ids"] == [[5, 6, 7], [8]]
