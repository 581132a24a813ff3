"""Encoding: its queries, and what truncation, padding and merging make of it."""

from __future__ import annotations

import pickle
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arrowprep.tokenize import Encoding
from arrowprep.tokenize.truncation import Truncation, count_windows, split_room, windows
from tests.tokenize.build import byte_tokenizer


def numbered(n: int) -> Encoding:
    """n tokens of one character each."""
    return Encoding(
        list(range(n)),
        tokens=[str(i) for i in range(n)],
        offsets=[(i, i + 1) for i in range(n)],
        words=list(range(n)),
    )


class TestQueries:
    encoding = byte_tokenizer(template="<s> $A </s>").encode("hello world", "hé")

    def test_which_text_a_token_is_of(self) -> None:
        assert self.encoding.tokens == ["<s>", "hello", "Ġworld", "</s>", "h", "Ã©", "</s>"]
        assert [self.encoding.token_to_sequence(i) for i in range(8)] == [None, 0, 0, None, 1, 1, None, None]
        assert self.encoding.n_sequences == 2

    def test_from_characters_to_tokens(self) -> None:
        assert [self.encoding.char_to_token(i) for i in (0, 4, 5, 10, 11)] == [1, 1, 2, 2, None]
        assert [self.encoding.char_to_token(i, 1) for i in (0, 1, 2)] == [4, 5, None]
        assert self.encoding.char_to_word(6) == 1

    def test_from_tokens_to_characters_and_words(self) -> None:
        assert self.encoding.token_to_chars(2) == (5, 11)
        assert self.encoding.token_to_chars(0) is None
        assert [self.encoding.token_to_word(i) for i in (1, 2, 3, 5)] == [0, 1, None, 0]

    def test_from_words(self) -> None:
        assert self.encoding.word_to_tokens(0, 1) == (4, 6)
        assert self.encoding.word_to_chars(1) == (5, 11)
        assert self.encoding.word_to_tokens(2) is None

    def test_it_survives_pickling(self) -> None:
        assert pickle.loads(pickle.dumps(self.encoding)) == self.encoding


class TestTruncation:
    def test_windows_share_the_stride(self) -> None:
        encoding = numbered(7)
        encoding.truncate(3, stride=1)
        assert [encoding.ids, *(part.ids for part in encoding.overflowing)] == [
            [0, 1, 2],
            [2, 3, 4],
            [4, 5, 6],
        ]

    def test_left_keeps_the_end(self) -> None:
        encoding = numbered(5)
        encoding.truncate(2, direction="left")
        assert [encoding.ids, *(part.ids for part in encoding.overflowing)] == [[3, 4], [1, 2], [0]]

    def test_nothing_is_left_of_no_room(self) -> None:
        encoding = numbered(2)
        encoding.truncate(0)
        assert (encoding.ids, encoding.overflowing[0].ids) == ([], [0, 1])

    def test_a_stride_without_a_way_forward_is_refused(self) -> None:
        with pytest.raises(ValueError, match="stride"):
            numbered(5).truncate(2, stride=2)

    @given(st.integers(0, 40), st.integers(1, 12), st.data(), st.sampled_from(["left", "right"]))
    def test_windows_cover_everything(
        self, length: int, room: int, data: st.DataObject, direction: str
    ) -> None:
        stride = data.draw(st.integers(0, room - 1))
        cut = windows(length, room, stride, direction)
        in_order = cut if direction == "right" else cut[::-1]
        assert in_order[0][0] == 0
        assert in_order[-1][1] == length
        assert all(stop - start <= room for start, stop in cut)
        steps = list(pairwise(in_order))
        assert all(before[1] - after[0] >= stride for before, after in steps)
        assert all(before[0] < after[0] for before, after in steps)

    @given(st.integers(0, 20), st.integers(0, 20), st.integers(0, 30))
    def test_a_pair_fits_and_the_shorter_stays_whole_where_it_can(self, a: int, b: int, room: int) -> None:
        first, second = split_room(a, b, Truncation(room), room)
        assert first + second == min(a + b, room) or (first <= a and second <= b and first + second < room)
        if min(a, b) <= room // 2:
            assert min(first, second) == min(a, b)

    def test_the_text_that_gives_way_must_be_long_enough(self) -> None:
        assert split_room(6, 3, Truncation(5, strategy="only_first"), 5) == (2, 3)
        with pytest.raises(ValueError, match="only_second cannot cut 4 tokens off a text of 3"):
            split_room(6, 3, Truncation(5, strategy="only_second"), 5)

    def test_the_number_of_windows_is_known_beforehand(self) -> None:
        import numpy as np

        lengths = np.arange(30)
        assert count_windows(lengths, 5, 2).tolist() == [len(windows(n, 5, 2, "right")) for n in lengths]


class TestPadding:
    def test_left_moves_the_texts(self) -> None:
        encoding = byte_tokenizer(template="<s> $A </s>").encode("hello")
        encoding.pad(5, direction="left", pad_id=9, pad_token="<pad>")
        assert encoding.ids[:2] == [9, 9]
        assert encoding.attention_mask == [0, 0, 1, 1, 1]
        assert encoding.special_tokens_mask == [1, 1, 1, 0, 1]
        assert encoding.sequence_ids == [None, None, None, 0, None]

    def test_it_never_shortens(self) -> None:
        encoding = numbered(3)
        encoding.pad(2)
        assert encoding == numbered(3)

    def test_what_overflows_is_padded_too(self) -> None:
        encoding = numbered(3)
        encoding.truncate(2)
        encoding.pad(4)
        assert [len(part) for part in (encoding, *encoding.overflowing)] == [4, 4]


class TestMerge:
    def test_offsets_grow_when_asked(self) -> None:
        assert Encoding.merge([numbered(2), numbered(1)]).offsets == [(0, 1), (1, 2), (2, 3)]
        assert Encoding.merge([numbered(2), numbered(1)], growing_offsets=False).offsets[-1] == (0, 1)

    def test_overflow_is_combined_in_all_ways(self) -> None:
        first, second = numbered(4), numbered(4)
        first.truncate(2)
        second.truncate(2)
        merged = Encoding.merge([first, second], growing_offsets=False)
        assert [part.ids for part in merged.overflowing] == [[2, 3, 0, 1], [2, 3, 2, 3], [0, 1, 2, 3]]

    def test_a_copy_can_be_changed(self) -> None:
        encoding = numbered(3)
        encoding.copy().ids.append(9)
        assert encoding.ids == [0, 1, 2]
