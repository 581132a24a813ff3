"""What calling a tokenizer gives: columns held in Arrow, shown as lists or tensors when somebody looks."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, MutableMapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from arrowprep.errors import BadArgument, LengthMismatch, TokenizerError
from arrowprep.tokenize import ragged
from arrowprep.tokenize.tensors import as_tensor, check_kind, is_tensor

if TYPE_CHECKING:
    from arrowprep.tokenize.encoding import Encoding

# what a column is written as after its lists were looked at; other columns are typed by their values
WRITTEN_AS = {
    "input_ids": pa.list_(pa.int32()),
    "attention_mask": pa.list_(pa.int8()),
    "token_type_ids": pa.list_(pa.int8()),
    "special_tokens_mask": pa.list_(pa.int8()),
    "assistant_masks": pa.list_(pa.int8()),
    "offset_mapping": pa.list_(ragged.SPAN),
}
ONE_PER_ROW = {"length", "overflow_to_sample_mapping"}
SMALL_REPR = 400  # ids; beyond it a repr says what is there instead of printing it


class CharSpan(NamedTuple):
    """Characters start to end (exclusive) of the original text."""

    start: int
    end: int


class TokenSpan(NamedTuple):
    """Tokens start to end (exclusive) of an encoding."""

    start: int
    end: int


class BatchEncoding(MutableMapping[str, Any]):
    """Columns of one encoded text, or of a batch.

    A column stays an Arrow array until it is looked at: `enc["input_ids"]` makes
    lists of ints, and from then on the list is the truth, so appending to it
    changes what is written. Whoever writes the batch without looking
    (`pa.table(enc)`, a dataset's `map`) gets the Arrow buffers as they are.

    data: column name to Arrow array, list, or tensor
    encoding: the `Encoding` of each row, or of the only one
    tensor_type: "np", "pt", "tf" or "jax" turns every column into a tensor
    n_sequences: 1, or 2 for pairs; None where unknown
    single: the columns have one row, and are shown without the batch around it
    """

    def __init__(
        self,
        data: Mapping[str, Any] | None = None,
        encoding: Encoding | Sequence[Encoding] | None = None,
        tensor_type: str | None = None,
        prepend_batch_axis: bool = False,
        n_sequences: int | None = None,
        *,
        single: bool = False,
    ) -> None:
        self._columns: dict[str, Any] = {key: _one_chunk(value) for key, value in (data or {}).items()}
        self._single = single
        self._encodings = encoding if encoding is None or isinstance(encoding, Sequence) else [encoding]
        self._n_sequences = n_sequences
        self.convert_to_tensors(tensor_type, prepend_batch_axis)

    # --- a mapping of columns ---

    def __getitem__(self, item: Any) -> Any:
        """`enc["input_ids"]` a column, `enc[0]` the Encoding of a row, `enc[:2]` several of them."""
        if isinstance(item, str):
            return self._shown(item)
        if self._encodings is not None:
            return self._encodings[item]
        if isinstance(item, slice):
            return {key: self[key][item] for key in self}
        raise KeyError("no encodings are kept here; a key is the name of a column, or a slice")

    def __setitem__(self, key: str, value: Any) -> None:
        self._columns[key] = _one_chunk(value)

    def __delitem__(self, key: str) -> None:
        del self._columns[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def __contains__(self, key: object) -> bool:
        return key in self._columns

    def __getattr__(self, name: str) -> Any:
        if name in self.__dict__.get("_columns", ()):
            return self._shown(name)
        raise AttributeError(f"BatchEncoding has no attribute and no column {name!r}")

    def __repr__(self) -> str:
        if sum(_size(value) for value in self._columns.values()) <= SMALL_REPR:
            return repr({key: self._python(key) for key in self})
        return f"BatchEncoding({self._num_rows()} rows of {', '.join(self)})"

    @property
    def data(self) -> dict[str, Any]:
        """All columns, shown."""
        for key in self:
            self._shown(key)
        return self._columns

    def column(self, key: str) -> Any:
        """A column as it is kept: an Arrow array as long as nobody looked at it."""
        return self._columns[key]

    @property
    def is_single(self) -> bool:
        """Whether this is one encoding without a batch around it."""
        return self._single

    @classmethod
    def fromkeys(cls, iterable: Iterable[str], value: Any = None) -> BatchEncoding:
        """One whose columns are all this value."""
        return cls(dict.fromkeys(iterable, value))

    def copy(self) -> BatchEncoding:
        """Another mapping over the same columns."""
        return BatchEncoding(
            self._columns, self._encodings, n_sequences=self._n_sequences, single=self._single
        )

    __copy__ = copy

    def _shown(self, key: str) -> Any:
        if isinstance(self._columns[key], pa.Array):
            self._columns[key] = self._python(key)
        return self._columns[key]

    def _python(self, key: str) -> Any:
        value = self._columns[key]
        if not isinstance(value, pa.Array):
            return value
        rows = ragged.to_python(value)
        return rows[0] if self._single and key not in ONE_PER_ROW else rows

    # --- as Arrow, as tensors ---

    def arrow_columns(self) -> dict[str, pa.Array]:
        """Every column as Arrow, one row an encoding; those never looked at are handed out as they are.

        Ids are int32 and masks int8, as the tokenizer made them; tensors keep their type.
        """
        return {key: self._arrow(key, value) for key, value in self._columns.items()}

    def _arrow(self, key: str, value: Any) -> pa.Array:
        if isinstance(value, pa.Array):
            return value
        if self._single and key not in ONE_PER_ROW:
            value = np.asarray(value)[None] if is_tensor(value) else [value]
        if is_tensor(value):
            return ragged.from_numpy(np.asarray(value))
        if written_as := WRITTEN_AS.get(key):
            try:
                return pa.array(value, written_as)
            except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
                pass  # something else was put there
        return pa.array(value)

    def _record_batch(self) -> pa.RecordBatch:
        columns = self.arrow_columns()
        lengths = {key: len(column) for key, column in columns.items()}
        if len(set(lengths.values())) > 1:
            raise LengthMismatch(f"the columns have different numbers of rows: {lengths}", lengths=lengths)
        return pa.RecordBatch.from_arrays(list(columns.values()), names=list(columns))

    def __arrow_c_array__(self, requested_schema: Any = None) -> tuple[Any, Any]:
        capsules: tuple[Any, Any] = self._record_batch().__arrow_c_array__(requested_schema)
        return capsules

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._record_batch().__arrow_c_stream__(requested_schema)

    def convert_to_tensors(
        self, tensor_type: str | None = None, prepend_batch_axis: bool = False
    ) -> BatchEncoding:
        """Turn every column into a tensor of "np", "pt", "tf" or "jax" in place; integers become int64.

        Raises BadArgument, which names the column, where rows differ in length.
        """
        if tensor_type is None:
            return self
        kind = check_kind(tensor_type)
        for key, value in self._columns.items():
            tensor = as_tensor(key, value, kind)
            has_axis = self._single and isinstance(value, pa.Array) and key not in ONE_PER_ROW
            if has_axis != prepend_batch_axis:
                tensor = tensor[0] if has_axis else tensor[None]
            self._columns[key] = tensor
        self._single = self._single and not prepend_batch_axis
        return self

    def to(self, device: Any, *, non_blocking: bool = False) -> BatchEncoding:
        """Move every tensor that can move to a device, in place."""
        for key, value in self._columns.items():
            if callable(getattr(value, "to", None)):
                self._columns[key] = value.to(device=device, non_blocking=non_blocking)
        return self

    def _num_rows(self) -> int:
        first = next(iter(self._columns.values()), ())
        return 1 if self._single else len(first)

    # --- where tokens come from ---

    @property
    def encodings(self) -> Sequence[Encoding] | None:
        """The Encoding of each row; None when no tokenizer made this."""
        return self._encodings

    @property
    def is_fast(self) -> bool:
        """Whether tokens can be traced back to the text."""
        return self._encodings is not None

    @property
    def n_sequences(self) -> int | None:
        """1, or 2 for pairs; None where unknown."""
        if self._n_sequences is None and self._encodings:
            self._n_sequences = self._encodings[0].n_sequences
        return self._n_sequences

    def _encoding(self, row: int) -> Encoding:
        encodings = self._encodings
        if encodings is None:
            raise TokenizerError("no encodings are kept here: this batch was not made by calling a tokenizer")
        if not -len(encodings) <= row < len(encodings):
            raise BadArgument(f"row {row} is out of range; there are {len(encodings)}", row=row)
        return encodings[row]

    def tokens(self, batch_index: int = 0) -> list[str]:
        """The tokens of a row, as strings."""
        return list(self._encoding(batch_index).tokens)

    def word_ids(self, batch_index: int = 0) -> list[int | None]:
        """For each token of a row the number of its word; None for special tokens."""
        return list(self._encoding(batch_index).word_ids)

    def sequence_ids(self, batch_index: int = 0) -> list[int | None]:
        """For each token of a row 0 or, in the second text of a pair, 1; None for special tokens."""
        return list(self._encoding(batch_index).sequence_ids)

    def token_to_sequence(self, batch_or_token_index: int, token_index: int | None = None) -> int | None:
        """Which text of the pair a token is from."""
        encoding, token = self._token(batch_or_token_index, token_index)
        return encoding.token_to_sequence(token)

    def token_to_word(self, batch_or_token_index: int, token_index: int | None = None) -> int | None:
        """The number of a token's word in its text."""
        encoding, token = self._token(batch_or_token_index, token_index)
        return encoding.token_to_word(token)

    def token_to_chars(self, batch_or_token_index: int, token_index: int | None = None) -> CharSpan | None:
        """Where a token stands in its text."""
        encoding, token = self._token(batch_or_token_index, token_index)
        span = encoding.token_to_chars(token)
        return None if span is None else CharSpan(*span)

    def char_to_token(
        self, batch_or_char_index: int, char_index: int | None = None, sequence_index: int = 0
    ) -> int | None:
        """The first token that covers a character; None where none does."""
        encoding, char = self._char(batch_or_char_index, char_index, sequence_index)
        return encoding.char_to_token(char, sequence_index)

    def char_to_word(
        self, batch_or_char_index: int, char_index: int | None = None, sequence_index: int = 0
    ) -> int | None:
        """The number of the word that covers a character; None where none does."""
        encoding, char = self._char(batch_or_char_index, char_index, sequence_index)
        return encoding.char_to_word(char, sequence_index)

    def word_to_tokens(
        self, batch_or_word_index: int, word_index: int | None = None, sequence_index: int = 0
    ) -> TokenSpan | None:
        """The tokens of a word; None where it has none."""
        encoding, word = self._word(batch_or_word_index, word_index, sequence_index)
        span = encoding.word_to_tokens(word, sequence_index)
        return None if span is None else TokenSpan(*span)

    def word_to_chars(
        self, batch_or_word_index: int, word_index: int | None = None, sequence_index: int = 0
    ) -> CharSpan | None:
        """Where a word stands in its text; None where it has no token."""
        encoding, word = self._word(batch_or_word_index, word_index, sequence_index)
        span = encoding.word_to_chars(word, sequence_index)
        return None if span is None else CharSpan(*span)

    def _at(self, batch_or_index: int, index: int | None) -> tuple[Encoding, int]:
        """One position is in the first row, two are row and position."""
        return (
            (self._encoding(0), batch_or_index) if index is None else (self._encoding(batch_or_index), index)
        )

    def _token(self, batch_or_index: int, index: int | None) -> tuple[Encoding, int]:
        encoding, token = self._at(batch_or_index, index)
        return encoding, token + len(encoding.ids) if token < 0 else token

    def _word(self, batch_or_index: int, index: int | None, sequence: int) -> tuple[Encoding, int]:
        encoding, word = self._at(batch_or_index, index)
        return encoding, word + _count(encoding, encoding.word_ids, sequence) if word < 0 else word

    def _char(self, batch_or_index: int, index: int | None, sequence: int) -> tuple[Encoding, int]:
        encoding, char = self._at(batch_or_index, index)
        ends = [end - 1 for _, end in encoding.offsets]
        return encoding, char + _count(encoding, ends, sequence) if char < 0 else char


def _count(encoding: Encoding, numbers: Sequence[int | None], sequence: int) -> int:
    """How many words, or characters up to its last token's end, a text has."""
    of_text = [
        number
        for number, text in zip(numbers, encoding.sequence_ids, strict=True)
        if text == sequence and number is not None
    ]
    return max(of_text, default=-1) + 1


def _one_chunk(column: Any) -> Any:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def _size(value: Any) -> int:
    if isinstance(value, pa.Array) and pa.types.is_list(value.type):
        return len(value.flatten())
    if isinstance(value, (list, tuple)) and value and isinstance(value[0], (list, tuple)):
        return sum(map(len, value))
    if is_tensor(value):
        return math.prod(value.shape)  # `size` is a number in NumPy, and a method in PyTorch
    return len(value) if hasattr(value, "__len__") else 1
