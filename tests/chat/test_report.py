"""A report says what became of every row and every token, and what of the data was lost on the way."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from arrowprep import Dataset, data, load_local, load_tokenizer
from arrowprep.chat import Convention, prepare_sft, report_sft
from arrowprep.chat.sft.traces import untraced
from arrowprep.errors import ChatError
from arrowprep.tokenize import processors

# messages of two roles, without their reasoning
TEMPLATE = (
    "{% for m in messages if m.role in ('user', 'assistant') %}{{ m.role }}: {% if m.role == 'assistant' %}"
    "{% generation %}{{ m.content | trim }}{{ eos_token }}{% endgeneration %}{% else %}"
    "{{ m.content | trim }}{% endif %}\n{% endfor %}"
)


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    found = load_tokenizer(data.GPT2)
    found.chat_template = TEMPLATE
    return found


def turn(role: str, content: str, **more: Any) -> dict[str, Any]:
    return {"role": role, "content": content, **more}


def of(*chats: Any) -> Dataset:
    return Dataset.from_dict({"messages": list(chats)})


GOOD = [turn("user", "Hi"), turn("assistant", "Hello")]


class TestCounts:
    def test_every_row_is_kept_or_dropped_for_a_reason(self, tokenizer: Any) -> None:
        rows = of(
            GOOD,
            [turn("user", "nobody answers")],
            [turn("user", "why? " * 40), turn("assistant", "So")],
            [],
            GOOD,
        )
        report = report_sft(rows, tokenizer, max_length=20)
        assert (report.rows_in, report.rows_out) == (5, 2)
        assert {found.what: found.rows for found in report.dropped} == {
            "nothing to train": [1],
            "everything to train was cut away": [2],
            "refused": [3],
        }
        assert "the conversation is empty" in report.refused[0].what

    def test_tokens_are_those_of_the_prepared_rows(self, tokenizer: Any) -> None:
        rows = load_local(str(data.CONVERSATIONS), split="train").select(range(50))
        for options in (
            {"max_length": 100},
            {"max_length": 100, "truncation": "drop"},
            {"max_length": 100, "truncation": "split"},
            {"max_length": 300, "packing": "bfd"},
            {"max_length": 100, "packing": "wrapped"},
        ):
            report = report_sft(rows, tokenizer, **options)
            prepared = prepare_sft(rows, tokenizer, **options)
            assert report.rows_out == len(prepared)
            assert report.tokens_out == sum(map(len, prepared["input_ids"]))
            assert report.tokens_trained == sum(label != -100 for row in prepared["labels"] for label in row)
            whole = prepare_sft(rows, tokenizer, max_length=None)
            assert report.tokens_in == sum(map(len, whole["input_ids"]))

    def test_the_histogram_counts_every_row_once(self, tokenizer: Any) -> None:
        rows = load_local(str(data.CONVERSATIONS), split="train").select(range(50))
        lengths = [len(ids) for ids in prepare_sft(rows, tokenizer, max_length=None)["input_ids"]]
        report = report_sft(rows, tokenizer)
        assert sum(count for *_, count in report.lengths) == 50
        for start, stop, count in report.lengths:
            assert count == sum(start <= length < stop for length in lengths)
        assert report.longest == max(lengths)

    def test_packing_efficiency_is_the_share_of_room_that_is_filled(self, tokenizer: Any) -> None:
        report = report_sft(of(*[GOOD] * 10), tokenizer, max_length=20, packing="bfd")
        packs = prepare_sft(of(*[GOOD] * 10), tokenizer, max_length=20, packing="bfd")
        assert report.packing is not None
        assert report.packing["efficiency"] == pytest.approx(
            sum(map(len, packs["input_ids"])) / (20 * len(packs))
        )

    def test_rows_that_train_no_stop_token(self, tokenizer: Any) -> None:
        unclosed = TEMPLATE.replace("{{ eos_token }}", "{% if not loop.last %}{{ eos_token }}{% endif %}")
        report = report_sft(of(GOOD, GOOD + GOOD), tokenizer, template=unclosed + "{{ eos_token }}")
        assert (report.trains_stop, report.trains_no_stop, report.stop_unknown) == (0, 2, 0)
        assert [found.rows for found in report.unstopped] == [[0, 1]]
        assert report_sft(of(GOOD), tokenizer).trains_stop == 1

    def test_names_the_stop_tokens_that_are_trained(self, tokenizer: Any) -> None:
        two = TEMPLATE.replace("{{ eos_token }}", "{{ '<|call|>' if m.calls else eos_token }}")
        calling = [turn("user", "Hi"), turn("assistant", "f()", calls=True)]
        report = report_sft(of(GOOD, calling, GOOD), tokenizer, template=two)
        assert report.stops == {"<|endoftext|>": 2, "<|call|>": 1}
        assert "3 of 3 rows train one; 2 '<|endoftext|>'; 1 '<|call|>'" in str(report)

    def test_rows_without_the_bos_that_the_tokenizer_puts_before_texts(self, tokenizer: Any) -> None:
        assert report_sft(of(GOOD), tokenizer).no_bos == []  # it puts none
        putting = copy.deepcopy(tokenizer)
        putting.backend_tokenizer.post_processor = processors.TemplateProcessing(
            single="<|endoftext|> $A", special_tokens=[("<|endoftext|>", putting.bos_token_id)]
        )
        report = report_sft(of(GOOD, [turn("user", "?")], GOOD), putting)
        assert [(found.count, found.rows) for found in report.no_bos] == [(2, [0, 2])]
        assert "2 lack it" in str(report)
        assert report_sft(of(GOOD), putting, template="{{ bos_token }}" + TEMPLATE).no_bos == []

    def test_a_row_that_lost_its_end_trains_no_stop_token(self, tokenizer: Any) -> None:
        rows = of(GOOD, [turn("user", "Hi"), turn("assistant", "yes " * 30)])
        for truncation, unstopped in (("keep_start", [[1]]), ("keep_end", []), ("split", [])):
            report = report_sft(rows, tokenizer, max_length=20, truncation=truncation)
            assert [found.rows for found in report.unstopped] == unstopped
            assert report.trains_stop == 2 - len(unstopped)

    def test_rows_that_lost_tokens(self, tokenizer: Any) -> None:
        rows = of(GOOD, [turn("user", "Hi"), turn("assistant", "yes " * 30)])
        report = report_sft(rows, tokenizer, max_length=20)
        assert [found.rows for found in report.shortened] == [[1]]
        assert report_sft(rows, tokenizer, max_length=20, truncation="split").shortened == []
        whole = prepare_sft(rows, tokenizer, max_length=None)
        assert report.tokens_cut == len(whole[1]["input_ids"]) - 20

    def test_says_what_is_trained(self, tokenizer: Any) -> None:
        options: dict[str, Any] = {"train_reasoning": False, "convention": Convention(header=True)}
        facts = dict(report_sft(of(GOOD), tokenizer, template=TEMPLATE, train_on="last", **options).facts())
        assert facts["train on"] == "last, spans by generation, without reasoning, header, end of turn"

    def test_two_bos(self, tokenizer: Any) -> None:
        report = report_sft(of(GOOD), tokenizer, template="{{ bos_token * 2 }}" + TEMPLATE)
        assert (report.double_bos, report.rows_out) == (1, 0)


class TestProblems:
    def test_names_what_left_no_trace_with_its_rows(self, tokenizer: Any) -> None:
        report = report_sft(
            of(
                GOOD,
                [turn("developer", "Be brief."), *GOOD],
                [turn("user", "Hi"), turn("assistant", "Hello", reasoning_content="They greet.")],
                [turn("user", "a <|endoftext|> b"), turn("assistant", "c")],
            ),
            tokenizer,
        )
        assert {found.what: found.rows for found in report.problems} == {
            "role 'developer': no message of it left a trace": [1],
            "field 'reasoning' of role 'assistant' reached nothing": [2],
            "control token '<|endoftext|>' in a message of role 'user'": [3],
        }

    def test_added_tokens_count_where_the_template_writes_them(self) -> None:
        named = load_tokenizer(data.GPT2)
        named.add_tokens(["<turn>", "<other>"])
        rows = of([turn("user", "a <turn> b <other>"), turn("assistant", "c")])
        report = report_sft(rows, named, template="<turn>" + TEMPLATE)
        assert [found.what for found in report.problems] == [
            "control token '<turn>' in a message of role 'user'"
        ]

    def test_what_the_template_adds_before_the_first_message_is_shown(self, tokenizer: Any) -> None:
        default = "{% if messages[0].role != 'system' %}<|sys|>You are a helpful assistant.<|end|>{% endif %}"
        rows = of(GOOD, [turn("system", "Be brief."), *GOOD], GOOD)
        report = report_sft(rows, tokenizer, template=default + TEMPLATE)
        [found] = report.added
        assert "<|sys|>You are a helpful assistant.<|end|>" in found.what
        assert (found.count, found.rows) == (2, [0, 2])
        assert "added        2 rows: the template begins with" in str(report)
        assert len(prepare_sft(of(GOOD), tokenizer, template=default + TEMPLATE, strict=True)) == 1
        assert report_sft(rows, tokenizer).added == []  # headers alone

    def test_and_in_both_sides_of_a_pair_once(self, tokenizer: Any) -> None:
        pair = {"prompt": [GOOD[0]], "chosen": [GOOD[1]], "rejected": [turn("assistant", "No.")]}
        default = "You are a very helpful assistant.{{ '' }}" + TEMPLATE
        [found] = report_sft(Dataset.from_list([pair]), tokenizer, template=default).added
        assert found.count == 1

    def test_strict_makes_them_errors(self, tokenizer: Any) -> None:
        rows = of(GOOD, [turn("developer", "Be brief."), *GOOD])
        with pytest.raises(ChatError, match="row 1: role 'developer'"):
            prepare_sft(rows, tokenizer, strict=True)
        assert len(prepare_sft(of(GOOD), tokenizer, strict=True)) == 1

    def test_a_trace_of_an_equal_text_elsewhere_is_no_trace(self) -> None:
        def last_user(chat: Any) -> str:
            return str([m["content"] for m in chat if m["role"] == "user"][-1])

        same = [turn("user", "Hi"), turn("user", "Hi")]
        assert list(untraced(same, last_user)) == ["a message of role 'user' left no trace"]

    def test_parts_and_tool_calls_are_looked_into(self) -> None:
        call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": {"city": "Oslo"}}}
        message = turn("assistant", [{"type": "text", "text": "Look"}], tool_calls=[call])

        def contents(chat: Any) -> str:
            return "".join(part["text"] for part in chat[0]["content"])

        def everything(chat: Any) -> str:
            return json.dumps(chat, ensure_ascii=False)

        assert list(untraced([message], contents)) == [
            "field 'tool_calls' of role 'assistant' reached nothing"
        ]
        assert list(untraced([message], everything)) == []

    def test_a_template_that_minds_marks_is_judged_by_the_texts(self) -> None:
        def only_short(chat: Any) -> str:
            return "".join(m["content"] for m in chat if len(m["content"]) < 6)

        chat = [turn("user", "fives"), turn("user", "long text")]
        assert list(untraced(chat, only_short)) == ["a message of role 'user' left no trace"]


class TestShown:
    def test_as_text_json_and_html_it_says_the_same(self, tokenizer: Any) -> None:
        report = report_sft(of(GOOD, [turn("<b>", "x"), *GOOD], [turn("user", "?")]), tokenizer)
        text = str(report)
        assert "3 in, 2 out" in text
        assert "1 row: nothing to train (row 2: ?)" in text
        read = json.loads(report.to_json())
        assert read["dropped"] == [{"what": "nothing to train", "count": 1, "rows": [2], "example": "?"}]
        assert "role '<b>'" in read["problems"][0]["what"]
        page = report._repr_html_()
        assert "&lt;b&gt;" in page
        assert "<b>" not in page

    def test_shows_how_the_first_row_of_a_finding_begins(self, tokenizer: Any) -> None:
        long = [turn("user", "one\n two " * 20)]
        report = report_sft(of(GOOD, long, [turn("user", "?"), turn("system", "!")]), tokenizer)
        assert [found.example for found in report.dropped] == ["one two " * 7 + "one…"]
        assert [found.example for found in report.problems] == ["? / !"]

    def test_texts_have_a_report_too(self, tokenizer: Any) -> None:
        report = report_sft(Dataset.from_dict({"text": ["a b c", "d", ""]}), tokenizer)
        assert (report.shape, report.rows_in, report.rows_out) == ("text", 3, 2)
        assert report.problems == []
