"""Arguments of tool calls reach a template in the form that it takes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from arrowprep import Dataset, data, load_tokenizer
from arrowprep.chat import ChatTemplate, prepare_sft
from arrowprep.chat.tool_arguments import as_taken, form_taken

HEAD = (
    "{% for m in messages %}{{ m.role }}: {{ m.content }}"
    "{% for c in m.tool_calls or [] %}{{ c.function.name }}("
)
TAIL = "){% endfor %}<|end|>{% endfor %}"
QUOTING = HEAD + "{{ c.function.arguments | tojson }}" + TAIL
JOINING = HEAD + "{{ '' + c.function.arguments }}" + TAIL
SHOWING = HEAD + "{{ c.function.arguments }}" + TAIL
LOOPING = HEAD + "{% for k, v in c.function.arguments.items() %}{{ k }}={{ v }}{% endfor %}" + TAIL
EITHER = HEAD + (
    "{{ c.function.arguments if c.function.arguments is string else c.function.arguments | tojson }}" + TAIL
)
ANSWERED = "{% if messages|length == 2 %}{{ raise_exception('no answer') }}{% endif %}" + JOINING
DROPPING = "{% for m in messages %}{{ m.role }}: {{ m.content }}{% endfor %}"


@pytest.mark.parametrize(
    ("source", "form"),
    [
        (QUOTING, "dict"),
        (LOOPING, "dict"),
        (JOINING, "text"),
        (SHOWING, "text"),
        (ANSWERED, "text"),
        (EITHER, None),
        (DROPPING, None),
    ],
)
def test_the_form_that_a_template_takes_is_found(source: str, form: str | None) -> None:
    assert ChatTemplate(source).argument_form == form


def called(arguments: Any) -> list[dict[str, Any]]:
    call = {"type": "function", "function": {"name": "f", "arguments": arguments}}
    return [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "", "tool_calls": [call]}]


def test_both_forms_say_the_same() -> None:
    arguments = {"city": "Zürich", "days": [1, None]}
    text = json.dumps(arguments, ensure_ascii=False)
    for given in (arguments, text):
        assert as_taken(called(given), "dict") == called(arguments)
        assert as_taken(called(given), "text") == called(text)
        assert as_taken(called(given), None) == called(given)


@pytest.mark.parametrize("odd", ["no JSON", "[1]", "7", None, 7])
def test_what_is_no_object_stays(odd: Any) -> None:
    assert as_taken(called(odd), "dict") == called(odd)


def test_a_template_that_refuses_everything_takes_neither() -> None:
    assert form_taken(lambda chat: None) is None


@pytest.mark.parametrize("source", [QUOTING, JOINING, LOOPING])
def test_a_dataset_is_prepared_alike_of_either_form(source: str) -> None:
    tokenizer = load_tokenizer(data.GPT2)
    rows = [
        Dataset.from_dict({"messages": [called(form)]}) for form in ({"city": "Bern"}, '{"city": "Bern"}')
    ]
    prepared = [prepare_sft(ds, tokenizer, template=source, train_on="all") for ds in rows]
    assert list(prepared[0]) == list(prepared[1])
    assert '\\"' not in tokenizer.decode(prepared[0][0]["input_ids"])
