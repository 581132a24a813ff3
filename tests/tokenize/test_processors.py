"""Post-processors in a row: what one adds is text to the next."""

from __future__ import annotations

import pytest

from arrowprep.errors import TokenizerError
from arrowprep.tokenize import Encoding, processors

TEMPLATE = processors.TemplateProcessing("<s> $A", "<s> $A $B:1", [("<s>", 7)])
BERT = processors.BertProcessing(sep=("[SEP]", 8), cls_token=("[CLS]", 9))
ROBERTA = processors.RobertaProcessing(sep=("</s>", 5), cls_token=("<s>", 7))


def text(*ids: int) -> Encoding:
    return Encoding(list(ids))


def row(*parts: processors.PostProcessor) -> processors.Sequence:
    return processors.Sequence(parts)


def test_what_they_add_adds_up() -> None:
    both = row(ROBERTA, BERT)
    for pair, ids in ((None, [9, 7, 1, 2, 5, 8]), (text(3), [9, 7, 1, 2, 5, 8, 5, 3, 5, 8])):
        framed = both.process(text(1, 2), pair)
        assert framed.ids == ids
        assert len(ids) == 2 + (pair is not None) + both.num_special_tokens_to_add(pair is not None)


def test_only_the_last_marks_what_it_added() -> None:
    framed = row(ROBERTA, BERT).process(text(1, 2))
    assert framed.special_tokens_mask == [1, 0, 0, 0, 0, 1]
    assert framed.sequence_ids == [None, 0, 0, 0, 0, None]


def test_all_that_a_template_gives_but_its_first_part_is_a_second_text() -> None:
    framed = row(TEMPLATE, BERT).process(text(1, 2))
    assert framed.ids == [9, 7, 8, 1, 2, 8]
    assert framed.type_ids == [0, 0, 0, 0, 0, 1]
    assert row(TEMPLATE, BERT).process(text(1), text(2)).ids == [9, 7, 8, 1, 8, 2, 8]


def test_a_template_takes_a_text_or_a_pair() -> None:
    assert row(TEMPLATE, TEMPLATE).process(text(1)).ids == [7, 7, 1]
    with pytest.raises(TokenizerError, match="not 3 parts"):
        row(TEMPLATE, TEMPLATE).process(text(1), text(2))


def test_words_of_a_text_are_found_behind_added_tokens() -> None:
    words = Encoding([1, 2], words=[0, 1], offsets=[(0, 1), (1, 2)])
    trimming = processors.ByteLevel(trim_offsets=False)
    assert row(BERT, trimming).process(words).word_to_tokens(1) == (2, 3)
