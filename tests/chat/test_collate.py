"""A collator makes arrays of rows, whatever the rows come in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from arrowprep.chat.collate import DataCollatorWithFlattening, DataCollatorWithPadding
from arrowprep.errors import BadArgument, LengthMismatch


@dataclass
class Tokenizer:
    pad_token_id: int | None = 9
    padding_side: str = "right"


ROWS = [
    {"input_ids": [1, 2, 3], "labels": [-100, 2, 3], "position_ids": [0, 1, 2]},
    {"input_ids": [4], "labels": [4], "position_ids": [0]},
]
COLUMNS = {name: [row[name] for row in ROWS] for name in ROWS[0]}
FORMS: dict[str, Any] = {
    "rows": ROWS,
    "rows of arrays": [{name: np.array(values, np.int32) for name, values in row.items()} for row in ROWS],
    "columns": COLUMNS,
    "columns of arrays": {name: [np.array(v, np.int32) for v in column] for name, column in COLUMNS.items()},
    "an Arrow table": pa.table(
        {name: pa.array(column, pa.list_(pa.int32())) for name, column in COLUMNS.items()}
    ),
    "a slice of a table": pa.table({name: [[7, 7], *column] for name, column in COLUMNS.items()}).slice(1),
    "large lists": pa.table(
        {name: pa.array(column, pa.large_list(pa.int8())) for name, column in COLUMNS.items()}
    ),
}


def lists(batch: dict[str, Any]) -> dict[str, Any]:
    assert all(array.dtype == np.int64 for array in batch.values())
    return {name: array.tolist() for name, array in batch.items()}


class TestPadding:
    @pytest.mark.parametrize("form", FORMS)
    def test_rows_of_every_form_are_padded_alike(self, form: str) -> None:
        assert lists(DataCollatorWithPadding(Tokenizer(), return_tensors="np")(FORMS[form])) == {
            "input_ids": [[1, 2, 3], [4, 9, 9]],
            "labels": [[-100, 2, 3], [4, -100, -100]],
            "position_ids": [[0, 1, 2], [0, 0, 0]],
            "attention_mask": [[1, 1, 1], [1, 0, 0]],
        }

    def test_the_left_side_and_a_multiple(self) -> None:
        collate = DataCollatorWithPadding(
            Tokenizer(padding_side="left"), pad_to_multiple_of=4, return_tensors="np"
        )
        assert lists(collate(ROWS))["input_ids"] == [[9, 1, 2, 3], [9, 9, 9, 4]]
        assert lists(collate(ROWS))["attention_mask"] == [[0, 1, 1, 1], [0, 0, 0, 1]]

    def test_a_mask_that_is_given_is_kept(self) -> None:
        rows = [{"input_ids": [1, 2], "attention_mask": [0, 1]}, {"input_ids": [3], "attention_mask": [1]}]
        collate = DataCollatorWithPadding(Tokenizer(), "max_length", max_length=3, return_tensors="np")
        assert lists(collate(rows))["attention_mask"] == [[0, 1, 0], [1, 0, 0]]

    @pytest.mark.parametrize("name", ["label", "label_ids"])
    def test_one_label_a_row_becomes_labels(self, name: str) -> None:
        rows = [{"input_ids": [1], name: 0}, {"input_ids": [2], name: 1}]
        assert lists(DataCollatorWithPadding(Tokenizer(), return_tensors="np")(rows))["labels"] == [0, 1]

    def test_numbers_that_are_not_whole_keep_their_type(self) -> None:
        rows = [{"input_ids": [1], "weight": np.float32(0.5)}, {"input_ids": [2], "weight": np.float32(1)}]
        weights = DataCollatorWithPadding(Tokenizer(), return_tensors="np")(rows)["weight"]
        assert (weights.dtype, weights.tolist()) == (np.float32, [0.5, 1.0])

    def test_lists_of_numbers_that_are_not_whole_are_kept(self) -> None:
        rows = [{"input_ids": [1, 2], "weights": [1, 0.5]}, {"input_ids": [3], "weights": [2]}]
        weights = DataCollatorWithPadding(Tokenizer(), return_tensors="np")(rows)["weights"]
        assert weights.tolist() == [[1.0, 0.5], [2.0, 0.0]]

    def test_rows_that_are_equal_need_no_padding(self) -> None:
        collate = DataCollatorWithPadding(
            Tokenizer(), padding=False, pad_to_multiple_of=8, return_tensors="np"
        )
        assert lists(collate([{"input_ids": [1, 2]}, {"input_ids": [3, 4]}]))["input_ids"] == [[1, 2], [3, 4]]
        with pytest.raises(BadArgument, match="set padding=True"):
            collate(ROWS)

    @pytest.mark.parametrize(
        ("options", "batch", "said"),
        [
            ({}, [], "at least one row"),
            ({}, [{"labels": [1]}], "needs input_ids; it has labels"),
            ({}, [{"input_ids": 1}], "one list of token ids"),
            ({}, [{"input_ids": [1]}, {"input_ids": [1], "x": 1}], "row 1 .* other columns than row 0: x"),
            ({"padding": "max_length"}, ROWS, "needs a max_length"),
            ({"padding": "most"}, ROWS, "not 'most'"),
            ({"tokenizer": Tokenizer(None)}, ROWS, "no pad token"),
            ({"return_tensors": "tf"}, ROWS, "not 'tf'"),
        ],
    )
    def test_what_makes_no_batch_is_told(self, options: dict[str, Any], batch: Any, said: str) -> None:
        with pytest.raises(BadArgument, match=said):
            DataCollatorWithPadding(**{"tokenizer": Tokenizer(), "return_tensors": "np", **options})(batch)

    def test_labels_longer_than_their_tokens_are_refused(self) -> None:
        with pytest.raises(LengthMismatch, match="labels"):
            DataCollatorWithPadding(Tokenizer(), return_tensors="np")([{"input_ids": [1], "labels": [1, 2]}])


class TestFlattening:
    @pytest.mark.parametrize("form", FORMS)
    def test_rows_of_every_form_are_laid_end_to_end(self, form: str) -> None:
        assert lists(DataCollatorWithFlattening(return_tensors="np")(FORMS[form])) == {
            "input_ids": [[1, 2, 3, 4]],
            "labels": [[-100, 2, 3, -100]],
            "position_ids": [[0, 1, 2, 0]],
        }

    def test_labels_are_the_ids_where_there_are_none(self) -> None:
        batch = DataCollatorWithFlattening(return_tensors="np")([{"input_ids": [1, 2]}, {"input_ids": []}])
        assert lists(batch)["labels"] == [[-100, 2]]

    def test_the_documents_of_packed_rows_are_kept_apart(self) -> None:
        rows = [{"input_ids": [1, 2, 3], "seq_lengths": [2, 1]}, {"input_ids": [4, 5], "seq_lengths": [2]}]
        collate = DataCollatorWithFlattening(
            return_tensors="np", return_flash_attn_kwargs=True, return_seq_idx=True, separator_id=-1
        )
        batch = collate(rows)
        assert batch["labels"].tolist() == [[-1, 2, -1, -1, 5]]
        assert batch["position_ids"].tolist() == [[0, 1, 0, 0, 1]]
        assert batch["seq_idx"].tolist() == [[0, 0, 1, 2, 2]]
        assert batch["cu_seq_lens_q"].tolist() == batch["cu_seq_lens_k"].tolist() == [0, 2, 3, 5]
        assert (batch["max_length_q"], batch["max_length_k"]) == (2, 2)
        assert batch["cu_seq_lens_q"].dtype == batch["seq_idx"].dtype == np.int32

    def test_lengths_that_do_not_fit_are_refused(self) -> None:
        collate = DataCollatorWithFlattening(return_tensors="np")
        with pytest.raises(LengthMismatch, match="seq_lengths name 2 tokens, the rows hold 3"):
            collate([{"input_ids": [1, 2, 3], "seq_lengths": [2]}])
        with pytest.raises(LengthMismatch, match="1 labels for 2 tokens"):
            collate([{"input_ids": [1, 2], "labels": [2]}])
        with pytest.raises(BadArgument, match="at least one token"):
            collate([{"input_ids": []}])

    def test_the_callers_labels_are_not_touched(self) -> None:
        labels = np.array([1, 2], np.int64)
        DataCollatorWithFlattening(return_tensors="np")([{"input_ids": np.array([1, 2]), "labels": labels}])
        assert labels.tolist() == [1, 2]
