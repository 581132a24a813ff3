"""Spans point at the same words when placeholders become what a processor made of them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arrowprep.chat import ChatTemplate, Rendered, TrainOn, trained_spans
from arrowprep.chat.placeholders import replaced
from arrowprep.errors import LengthMismatch

pieces = st.lists(st.sampled_from(["<i>", "<v>", "a", "é🙂", " ", "<"]), max_size=12)


@given(pieces, st.data())
def test_each_place_moves_by_what_was_gained_before_it(pieces: list[str], data: st.DataObject) -> None:
    placeholders = [piece for piece in pieces if piece in ("<i>", "<v>")]
    new = [data.draw(st.sampled_from(["", "<i>", "<i>" * 3, "<row><v><v>"])) for _ in placeholders]
    texts = iter(new)
    whole = [next(texts) if piece in ("<i>", "<v>") else piece for piece in pieces]
    given = {
        name: [t for p, t in zip(placeholders, new, strict=True) if p == name] for name in ("<i>", "<v>")
    }
    text, moved = replaced("".join(pieces), given)
    assert text == "".join(whole)
    for cut in range(len(pieces) + 1):
        place = len("".join(pieces[:cut]))
        if place < len("".join(pieces)) and cut < len(pieces):
            assert moved(place) == len("".join(whole[:cut]))
    assert moved(len("".join(pieces))) == len(text)


VISION = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{% if m.role == 'assistant' %}{% generation %}"
    "{{ m.content }}<|im_end|>{% endgeneration %}{% else %}{% for part in m.content %}"
    "{{ '<|image_pad|>' if part.type == 'image' else part.text }}{% endfor %}<|im_end|>{% endif %}\n"
    "{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def chat() -> list[dict[str, Any]]:
    picture, words = {"type": "image"}, {"type": "text", "text": "What?"}
    return [
        {"role": "user", "content": [picture, words, picture]},
        {"role": "assistant", "content": "Cats."},
        {"role": "user", "content": [words, picture]},
        {"role": "assistant", "content": "A dog."},
    ]


def test_spans_and_turns_of_tags_and_of_inference_move() -> None:
    sizes = {"<|image_pad|>": ["<|image_pad|>" * count for count in (4, 1, 9)]}
    bare = VISION.replace("{% generation %}", "").replace("{% endgeneration %}", "")
    for template, spans in ((ChatTemplate(VISION), "generation"), (ChatTemplate(bare), "infer")):
        rendered = template.render_with_spans(chat(), spans=spans).with_replacements(sizes)
        assert rendered.text.count("<|image_pad|>") == 14
        said = [rendered.text[start:stop] for start, stop in rendered.spans]
        assert said == ["Cats.<|im_end|>", "A dog.<|im_end|>"]
        last = trained_spans(chat(), rendered, TrainOn(turns="last"))
        assert [rendered.text[start:stop] for start, stop in last] == ["A dog.<|im_end|>"]


def test_a_span_grows_with_what_stands_in_it_and_begins_in_no_placeholder() -> None:
    rendered = Rendered("x<i>y", [(0, 5), (2, 3)]).with_replacements({"<i>": ["<i><i>"]})
    assert rendered == Rendered("x<i><i>y", ((0, 8), (7, 7)))


@pytest.mark.parametrize("count", [0, 2, 4])
def test_too_few_or_too_many_are_an_error(count: int) -> None:
    with pytest.raises(LengthMismatch) as caught:
        ChatTemplate(VISION).render(chat()).with_replacements({"<|image_pad|>": ["x"] * count})
    assert (caught.value.found, caught.value.given) == (3, count)
