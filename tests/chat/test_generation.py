"""Spans say where the text of generation blocks is, or that it cannot be known."""

from __future__ import annotations

from typing import Any

import pytest

from arrowprep.chat import ChatTemplate
from arrowprep.errors import MaskUnavailable, TemplateError

G, E = "{% generation %}", "{% endgeneration %}"


def spans(source: str, *contents: str) -> tuple[str, list[str]]:
    """The text, and the parts of it that the spans cut out."""
    messages = [{"role": "assistant", "content": content} for content in contents or ("one", "two")]
    rendered = ChatTemplate(source).render(messages)
    return rendered.text, [rendered.text[start:stop] for start, stop in rendered.spans]


def test_a_span_is_the_text_of_its_block() -> None:
    text, cut = spans(f"😀{{% for m in messages %}}<{G}{{{{ m.content }}}}!{E}>{{% endfor %}}")
    assert text == "😀<one!><two!>"
    assert cut == ["one!", "two!"]


def test_nested_blocks_have_spans_of_their_own_in_the_order_of_their_ends() -> None:
    assert spans(f"a{G}b{G}c{E}d{E}e")[1] == ["c", "bcd"]


def test_an_empty_block_has_an_empty_span() -> None:
    assert ChatTemplate(f"ab{G}{E}c").render([{"role": "user"}]).spans == ((2, 2),)


def test_a_template_without_the_tag_has_no_spans() -> None:
    template = ChatTemplate("{{ messages[0].content }}")
    assert not template.has_generation
    assert template.render([{"role": "user", "content": G}]).spans == ()


def test_a_name_set_in_a_block_stays_in_it() -> None:
    assert spans(f"{{% set x = 1 %}}{G}{{% set x = 2 %}}{{{{ x }}}}{E}{{{{ x }}}}") == ("21", ["2"])


HELD_BACK = {
    "macro": "{%% macro turn(m) %%}<%s{{ m.content }}%s>{%% endmacro %%}"
    "{%% for m in messages %%}{{ turn(m) }}{%% endfor %%}",
    "set": "{%% for m in messages %%}{%% set x %%}<%s{{ m.content }}%s>{%% endset %%}{{ x }}{%% endfor %%}",
    "filter": "{%% for m in messages %%}{%% filter string %%}<%s{{ m.content }}%s>"
    "{%% endfilter %%}{%% endfor %%}",
    "call": "{%% macro f() %%}{{ caller() }}{%% endmacro %%}{%% for m in messages %%}"
    "{%% call f() %%}<%s{{ m.content }}%s>{%% endcall %%}{%% endfor %%}",
    "recursive": "{%% for m in messages recursive %%}<%s{{ m.content }}%s>{%% endfor %%}",
    "block": "{%% for m in messages %%}{%% block b scoped %%}<%s{{ m.content }}%s>"
    "{%% endblock %%}{%% endfor %%}",
}


@pytest.mark.parametrize("how", HELD_BACK)
def test_spans_are_right_where_a_block_holds_the_text_back(how: str) -> None:
    assert spans(HELD_BACK[how] % (G, E)) == ("<one><two>", ["one", "two"])


def test_text_that_is_changed_on_its_way_has_no_spans_but_renders() -> None:
    source = f"{{% set x %}}\n{G} a {E}{{% endset %}}{{{{ x|trim }}}}{{{{ x|length }}}}"
    rendered = ChatTemplate(source).render([{"role": "user"}])
    assert rendered.text == "a3"
    assert repr(rendered) == "Rendered(text='a3', spans=<unavailable>)"
    with pytest.raises(MaskUnavailable, match="line 2 of the template"):
        _ = rendered.spans
    with pytest.raises(MaskUnavailable, match="line 2 of the template"):
        ChatTemplate(source).render_with_spans([{"role": "user"}])


def test_a_block_that_fails_when_it_is_followed_has_no_spans() -> None:
    odd = "{% if x != 'a' %}{{ raise_exception('odd') }}{% endif %}"
    source = f"{{% set x %}}{G}a{E}{{% endset %}}{odd}{{{{ x }}}}"
    with pytest.raises(MaskUnavailable, match="cannot be followed"):
        _ = ChatTemplate(source).render([{"role": "user"}]).spans


def test_text_that_is_written_twice_has_two_spans() -> None:
    assert spans(f"{{% set x %}}{G}a{E}{{% endset %}}{{{{ x }}}}b{{{{ x }}}}")[1] == ["a", "a"]


def test_private_use_characters_in_the_data_do_not_confuse_the_edges() -> None:
    content = "\U000f0000x\U000f0001"
    assert spans(HELD_BACK["macro"] % (G, E), content) == (f"<{content}>", [content])


@pytest.mark.parametrize("jump", ["break", "continue"])
def test_a_jump_out_of_a_block_is_refused_with_its_line(jump: str) -> None:
    with pytest.raises(TemplateError, match=r"line 2 .*cannot be left"):
        ChatTemplate(f"{{% for m in messages %}}{G}\n{{% {jump} %}}{E}{{% endfor %}}")


def test_a_jump_within_a_loop_of_the_block_is_fine() -> None:
    assert spans(f"{G}{{% for m in messages %}}{{{{ m.content }}}}{{% break %}}{{% endfor %}}{E}")[1] == [
        "one"
    ]


def test_the_tag_may_be_spelled_with_every_sign() -> None:
    for sign in ("-", "+", ""):
        template: Any = ChatTemplate(f"{{%{sign} generation {sign}%}}x{{%{sign} endgeneration {sign}%}}")
        assert template.has_generation
