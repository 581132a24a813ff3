"""A prepared dataset trains what was meant to be trained, and says no where it would not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arrowprep import Dataset, DatasetDict, data, load_local, load_tokenizer
from arrowprep.chat import Convention, SFTSpec, pack, prepare_sft
from arrowprep.chat.sft.tokens import cut
from arrowprep.errors import BadArgument, ChatError

CHATML = data.CHATML.read_text()
UNTAGGED = CHATML.replace("{%- generation %}", "{%- if true %}").replace("{% endgeneration %}", "{% endif %}")
END = "<|im_end|>"


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    found = load_tokenizer(data.GPT2)
    found.add_special_tokens({"extra_special_tokens": ["<|im_start|>", END], "pad_token": "<|pad|>"})
    found.chat_template = CHATML
    return found


def chat(*texts: str, system: str | None = None) -> list[dict[str, Any]]:
    """User and assistant by turns."""
    turns = [{"role": ("user", "assistant")[i % 2], "content": text} for i, text in enumerate(texts)]
    return ([{"role": "system", "content": system}] if system else []) + turns


CHATS = [
    chat("Hi", "Hello! How are you?"),
    chat("2 + 2?", "Four.", "And 3 + 3, in words?", "Six, of course."),
    chat("Tell me more", "No — not today, naïve 🙂 user", system="Be brief."),
]


def of_chats(chats: list[Any] = CHATS, **columns: list[Any]) -> Dataset:
    return Dataset.from_dict({"messages": chats, **columns})


def trained(tokenizer: Any, row: dict[str, Any]) -> str:
    return str(tokenizer.decode([label for label in row["labels"] if label != -100]))


class TestMessages:
    def test_ids_are_those_of_the_template_and_labels_those_of_its_mask(self, tokenizer: Any) -> None:
        prepared = prepare_sft(of_chats(), tokenizer)
        assert prepared.column_names == ["input_ids", "labels"]
        for conversation, row in zip(CHATS, prepared, strict=True):
            one = tokenizer.apply_chat_template(
                conversation, return_dict=True, return_assistant_tokens_mask=True
            )
            assert row["input_ids"] == one["input_ids"]
            assert row["labels"] == [
                token if ours else -100
                for token, ours in zip(one["input_ids"], one["assistant_masks"], strict=True)
            ]

    def test_what_is_trained_reads_as_the_assistant_wrote_it(self, tokenizer: Any) -> None:
        prepared = prepare_sft(of_chats(), tokenizer)
        assert trained(tokenizer, prepared[1]) == f"Four.{END}Six, of course.{END}"

    def test_the_last_turn_alone(self, tokenizer: Any) -> None:
        prepared = prepare_sft(of_chats(), tokenizer, train_on="last")
        assert trained(tokenizer, prepared[1]) == f"Six, of course.{END}"

    def test_all_trains_every_token_and_needs_no_tags(self, tokenizer: Any) -> None:
        [row] = prepare_sft(of_chats(CHATS[:1]), tokenizer, train_on="all", template=UNTAGGED)
        assert row["labels"] == row["input_ids"] == tokenizer.apply_chat_template(CHATS[0])

    def test_a_template_without_tags_is_refused_or_inferred(self, tokenizer: Any) -> None:
        with pytest.raises(ChatError, match=r"\{% generation %\}"):
            prepare_sft(of_chats(), tokenizer, template=UNTAGGED)
        inferred = prepare_sft(of_chats(), tokenizer, template=UNTAGGED, spans="infer")
        assert inferred["labels"][:] == prepare_sft(of_chats(), tokenizer)["labels"][:]

    @pytest.mark.parametrize("template", [CHATML, UNTAGGED])
    def test_a_convention_says_what_of_the_template_is_trained(self, tokenizer: Any, template: str) -> None:
        convention = Convention(header=True, end_of_turn=False)
        options: dict[str, Any] = {"template": template, "spans": "auto", "convention": convention}
        rows = of_chats([CHATS[1], CHATS[1]])
        with pytest.raises(ChatError, match="no row trains a stop token"):
            prepare_sft(rows, tokenizer, **options)
        options["convention"] = Convention(header=True)
        [row, _] = prepare_sft(rows, tokenizer, train_on="last", **options)
        assert trained(tokenizer, row) == f"<|im_start|>assistant\nSix, of course.{END}"

    def test_a_completion_has_a_convention_too(self, tokenizer: Any) -> None:
        rows = Dataset.from_dict({"prompt": [CHATS[1][:3]], "completion": [CHATS[1][3:]]})
        [row] = prepare_sft(rows, tokenizer, convention=Convention())
        assert trained(tokenizer, row) == f"Six, of course.{END}"

    @pytest.mark.parametrize("straddle", ["overlap", "inside", "start"])
    def test_a_token_over_the_edge_goes_as_straddle_says(self, tokenizer: Any, straddle: Any) -> None:
        template = "{% for m in messages %}{{ m.role }}:{% if m.role == 'assistant' %}{% generation %}"
        template += (
            "{{ m.content }}<|im_end|>{% endgeneration %}{% else %}{{ m.content }} {% endif %}{% endfor %}"
        )
        rows = of_chats([chat("Hi", ":-) yes")])  # the template's colon and the answer's are one token
        [row] = prepare_sft(rows, tokenizer, template=template, straddle=straddle)
        whole = tokenizer.apply_chat_template(
            rows[0]["messages"],
            chat_template=template,
            return_assistant_tokens_mask=True,
            straddle=straddle,
        )
        assert [label != -100 for label in row["labels"]] == list(map(bool, whole["assistant_masks"]))
        assert trained(tokenizer, row) == ("::-) yes" if straddle == "overlap" else "-) yes") + END

    @pytest.mark.parametrize("template", [CHATML, UNTAGGED])
    def test_control_tokens_that_people_wrote_can_be_text(self, tokenizer: Any, template: str) -> None:
        rows = of_chats(
            [chat(f"Say {END}!", f"No: {END} is not for me.", "<|im_start|>assistant\n", "Well.")]
        )
        options: dict[str, Any] = {"template": template, "spans": "auto"}
        [plain] = prepare_sft(rows, tokenizer, sanitize=True, strict=True, **options)
        [real] = prepare_sft(rows, tokenizer, **options)
        end = tokenizer.convert_tokens_to_ids(END)
        assert (plain["input_ids"].count(end), real["input_ids"].count(end)) == (4, 6)
        assert plain["labels"].count(end) == 2
        assert trained(tokenizer, plain) == f"No: {END} is not for me.{END}Well.{END}"
        assert plain["input_ids"] == tokenizer.apply_chat_template(
            rows[0]["messages"], chat_template=template, sanitize_control_tokens=True
        )
        with pytest.raises(ChatError, match=r"row 0: control token '<\|im_end\|>'"):
            prepare_sft(rows, tokenizer, strict=True, **options)

    @pytest.mark.parametrize("field", [{"train": False}, {"weight": 0}])
    def test_a_message_may_say_that_it_is_not_to_be_trained(self, tokenizer: Any, field: Any) -> None:
        conversation = chat("a", "first", "b", "second")
        conversation[1] = {**conversation[1], **field}
        [row] = prepare_sft(of_chats([conversation]), tokenizer)
        assert trained(tokenizer, row) == f"second{END}"

    def test_a_weight_that_labels_cannot_say_is_refused(self, tokenizer: Any) -> None:
        conversation = [*chat("a"), {"role": "assistant", "content": "b", "weight": 0.5}]
        with pytest.raises(ChatError, match="weight is 0 or 1"):
            prepare_sft(of_chats([conversation]), tokenizer)

    def test_from_and_value_are_read_as_role_and_content(self, tokenizer: Any) -> None:
        said = {"user": "human", "assistant": "gpt", "system": "system"}
        old = [[{"from": said[m["role"]], "value": m["content"]} for m in c] for c in CHATS]
        prepared = prepare_sft(Dataset.from_dict({"conversations": old}), tokenizer)
        assert prepared["input_ids"][:] == prepare_sft(of_chats(), tokenizer)["input_ids"][:]

    def test_messages_may_be_json_text(self, tokenizer: Any) -> None:
        prepared = prepare_sft(of_chats(list(map(json.dumps, CHATS))), tokenizer)
        assert prepared["input_ids"][:] == prepare_sft(of_chats(), tokenizer)["input_ids"][:]

    def test_keys_that_arrow_filled_with_null_do_not_reach_the_template(self, tokenizer: Any) -> None:
        dumping = CHATML.replace("message.content + ", "(message.calls | tojson) + message.content + ", 1)
        first, second = [*chat("a", "b")], [*chat("c", "d")]
        first[1]["calls"], second[1]["calls"] = {"x": {"city": "Oslo"}}, {"x": {"unit": 1}}
        prepared = prepare_sft(of_chats([first, second]), tokenizer, template=dumping)
        assert trained(tokenizer, prepared[0]) == '{"x": {"city": "Oslo"}}b' + END
        assert trained(tokenizer, prepared[1]) == '{"x": {"unit": 1}}d' + END

    def test_tools_and_variables_of_the_row_reach_the_template(self, tokenizer: Any) -> None:
        template = "{% if tools is not none %}{{ tools | length }} tools, {% endif %}{{ tone }}!" + CHATML
        prepared = prepare_sft(
            of_chats(
                CHATS[:2],
                tools=['[{"name": "f"}]', "[]"],
                chat_template_kwargs=[{"tone": "dry"}, {"tone": "wet"}],
            ),
            tokenizer,
            template=template,
        )
        texts = [tokenizer.decode(ids) for ids in prepared["input_ids"]]
        assert texts[0].startswith("1 tools, dry!")
        assert texts[1].startswith("wet!")

    def test_other_columns_on_request(self, tokenizer: Any) -> None:
        wanted = ("input_ids", "attention_mask", "position_ids", "assistant_masks")
        prepared = prepare_sft(of_chats(), tokenizer, columns=wanted)
        assert prepared.column_names == list(wanted)
        labels = prepare_sft(of_chats(), tokenizer)["labels"]
        for row, with_labels in zip(prepared, labels, strict=True):
            assert row["attention_mask"] == [1] * len(row["input_ids"])
            assert row["position_ids"] == list(range(len(row["input_ids"])))
            assert row["assistant_masks"] == [int(label != -100) for label in with_labels]


class TestFields:
    """Reasoning and tool calls, in or out of what is trained."""

    template = (
        "{% for m in messages %}<|im_start|>{{ m.role }}\n{% if m.role == 'assistant' %}{% generation %}"
        "{% if m.reasoning_content %}<think>\n{{ m.reasoning_content | trim }}\n</think>\n\n{% endif %}"
        "{{ m.content }}{% for call in m.tool_calls %}{{ '\n<tool_call>\n' }}{{ call.function | tojson }}"
        "\n</tool_call>{% endfor %}<|im_end|>{% endgeneration %}"
        "{% else %}{{ m.content }}<|im_end|>{% endif %}\n{% endfor %}"
        "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
    )
    call: ClassVar[dict[str, Any]] = {
        "type": "function",
        "function": {"name": "f", "arguments": {"city": "Oslo", "n": 2}},
    }

    def conversation(self, **fields: Any) -> Dataset:
        return of_chats([[*chat("Hi"), {"role": "assistant", "content": "", **fields}]])

    def answered(self, **fields: Any) -> Dataset:
        """With the tool's answer and another message of the assistant."""
        rest = [{"role": "tool", "content": "22"}, {"role": "assistant", "content": "It is warm."}]
        return of_chats([[*chat("Hi"), {"role": "assistant", **fields}, *rest]])

    def prepared(self, tokenizer: Any, ds: Dataset, **options: Any) -> str:
        [row] = prepare_sft(ds, tokenizer, template=self.template, **options)
        return trained(tokenizer, row)

    def test_in_by_default(self, tokenizer: Any) -> None:
        both = self.conversation(reasoning_content=" They greet. ", content="Hello", tool_calls=[self.call])
        assert self.prepared(tokenizer, both) == (
            "<think>\nThey greet.\n</think>\n\nHello\n<tool_call>\n"
            '{"name": "f", "arguments": {"city": "Oslo", "n": 2}}\n</tool_call><|im_end|>'
        )

    @pytest.mark.parametrize("spans", ["generation", "infer"])
    def test_reasoning_goes_with_its_tags(self, tokenizer: Any, spans: Any) -> None:
        options: dict[str, Any] = {"train_reasoning": False, "spans": spans}
        said = self.conversation(reasoning_content="They greet.", content="Hello")
        assert self.prepared(tokenizer, said, **options) == f"Hello{END}"
        called = self.conversation(reasoning="They greet.", tool_calls=[self.call])
        assert self.prepared(tokenizer, called, **options).startswith("<tool_call>\n{")

    def test_tool_calls_go_with_their_tags_and_the_end_of_their_turn(self, tokenizer: Any) -> None:
        several = self.answered(content="Look:", tool_calls=[self.call, self.call])
        assert self.prepared(tokenizer, several, train_tool_calls=False) == f"Look:It is warm.{END}"

    def test_both(self, tokenizer: Any) -> None:
        both = self.answered(reasoning_content="They greet.", content="Hello", tool_calls=[self.call])
        options = {"train_tool_calls": False, "train_reasoning": False}
        assert self.prepared(tokenizer, both, **options) == f"HelloIt is warm.{END}"

    def test_text_that_equals_the_reasoning_is_not_mistaken_for_it(self, tokenizer: Any) -> None:
        same = self.conversation(reasoning_content="Hi", content="Hi")
        assert self.prepared(tokenizer, same, train_reasoning=False) == f"Hi{END}"

    def test_where_it_stands_unclosed_it_is_refused(self, tokenizer: Any) -> None:
        unclosed = self.template.replace("\n</think>\n\n", "").replace("<think>\n", "")
        unclosed = unclosed.replace("{{ '\n<tool_call>\n' }}", " calls ")
        ds = self.conversation(reasoning_content="They greet.", content="", tool_calls=[self.call])
        with pytest.raises(ChatError, match="where its reasoning begin and end cannot be told"):
            prepare_sft(ds, tokenizer, template=unclosed, train_reasoning=False)

    def test_a_completion_too(self, tokenizer: Any) -> None:
        answer = {"role": "assistant", "content": "Hello", "reasoning_content": "They greet."}
        rows = Dataset.from_dict({"prompt": [chat("Hi")], "completion": [[answer]]})
        assert self.prepared(tokenizer, rows, train_reasoning=False) == f"Hello{END}"


class TestCompletions:
    def test_a_text_completion_is_trained_to_its_eos(self, tokenizer: Any) -> None:
        rows = {"prompt": ["The sky is", "1, 2,"], "completion": [" blue.", " 3<|endoftext|>"]}
        prepared = prepare_sft(Dataset.from_dict(rows), tokenizer)
        assert [trained(tokenizer, row) for row in prepared] == [" blue.<|endoftext|>", " 3<|endoftext|>"]
        assert tokenizer.decode(prepared[0]["input_ids"]) == "The sky is blue.<|endoftext|>"

    def test_a_token_over_the_edge_is_trained(self, tokenizer: Any) -> None:
        rows = {"prompt": ["unbeliev"], "completion": ["able"]}
        [row] = prepare_sft(Dataset.from_dict(rows), tokenizer)
        assert row["input_ids"] == tokenizer("unbelievable<|endoftext|>")["input_ids"]
        assert trained(tokenizer, row).endswith("able<|endoftext|>")

    def test_a_chat_completion_begins_after_the_generation_prompt(self, tokenizer: Any) -> None:
        rows = {"prompt": [CHATS[1][:3]], "completion": [CHATS[1][3:]]}
        [row] = prepare_sft(Dataset.from_dict(rows), tokenizer)
        assert row["input_ids"] == tokenizer.apply_chat_template(CHATS[1])
        assert trained(tokenizer, row) == f"Six, of course.{END}\n"

    def test_a_prompt_may_end_with_the_assistant(self, tokenizer: Any) -> None:
        rows = {"prompt": [CHATS[0]], "completion": [[{"role": "assistant", "content": "And you?"}]]}
        [row] = prepare_sft(Dataset.from_dict(rows), tokenizer)
        assert trained(tokenizer, row) == f"And you?{END}\n"

    def test_what_others_say_within_a_completion_is_not_trained(self, tokenizer: Any) -> None:
        rows = {"prompt": [CHATS[1][:1]], "completion": [CHATS[1][1:]]}
        [row] = prepare_sft(Dataset.from_dict(rows), tokenizer)
        assert trained(tokenizer, row) == f"Four.{END}Six, of course.{END}"

    def test_a_prompt_that_is_no_prefix_is_refused_with_its_row(self, tokenizer: Any) -> None:
        rewriting = "{{ messages | length }} messages\n" + CHATML
        rows = {"prompt": [CHATS[0][:1]], "completion": [CHATS[0][1:]]}
        with pytest.raises(
            ChatError, match=r"row 0: the prompt is not a prefix.*1 messages.*2 messages"
        ) as e:
            prepare_sft(Dataset.from_dict(rows), tokenizer, template=rewriting)
        assert e.value.row == 0


class TestTexts:
    def test_a_text_is_trained_whole_with_one_eos(self, tokenizer: Any) -> None:
        rows = {"text": ["One two", "three<|endoftext|>", ""]}
        prepared = prepare_sft(Dataset.from_dict(rows), tokenizer)
        assert prepared["labels"][:] == prepared["input_ids"][:]
        assert [tokenizer.decode(ids) for ids in prepared["input_ids"]] == [
            "One two<|endoftext|>",
            "three<|endoftext|>",
        ]


class TestPreferences:
    rows: ClassVar[dict[str, Any]] = {
        "prompt": [chat("Hi")],
        "chosen": [[{"role": "assistant", "content": "Hello"}]],
        "rejected": [[{"role": "assistant", "content": "Go away, please"}]],
    }

    def test_gives_both_sides_and_what_the_model_wrote_in_them(self, tokenizer: Any) -> None:
        [row] = prepare_sft(Dataset.from_dict(self.rows), tokenizer)
        for side, reply in (("chosen", "Hello"), ("rejected", "Go away, please")):
            ids, mask = row[f"{side}_input_ids"], row[f"{side}_completion_mask"]
            assert ids == tokenizer.apply_chat_template(chat("Hi", reply))
            ours = [token for token, is_ours in zip(ids, mask, strict=True) if is_ours]
            assert tokenizer.decode(ours) == f"{reply}{END}\n"

    def test_a_prompt_may_be_what_both_sides_begin_with(self, tokenizer: Any) -> None:
        sides = {side: [self.rows["prompt"][0] + self.rows[side][0]] for side in ("chosen", "rejected")}
        assert list(prepare_sft(Dataset.from_dict(sides), tokenizer)) == list(
            prepare_sft(Dataset.from_dict(self.rows), tokenizer)
        )

    def test_a_pair_is_dropped_when_one_side_is_too_long(self, tokenizer: Any) -> None:
        both = {name: values * 2 for name, values in self.rows.items()}
        both["rejected"] = [both["rejected"][0], [{"role": "assistant", "content": "long " * 50}]]
        prepared = prepare_sft(Dataset.from_dict(both), tokenizer, max_length=30, truncation="drop")
        assert len(prepared) == 1

    def test_is_not_packed(self, tokenizer: Any) -> None:
        with pytest.raises(BadArgument, match="not packed"):
            prepare_sft(Dataset.from_dict(self.rows), tokenizer, packing="bfd")


class TestTruncation:
    def test_the_same_tokens_and_labels_are_cut(self, tokenizer: Any) -> None:
        [whole] = prepare_sft(of_chats(CHATS[1:2]), tokenizer)
        for truncation, kept in (("keep_start", slice(0, 14)), ("keep_end", slice(-14, None))):
            [row] = prepare_sft(of_chats(CHATS[1:2]), tokenizer, max_length=14, truncation=truncation)
            assert row == {name: values[kept] for name, values in whole.items()}

    def test_split_gives_all_pieces_that_train_something(self, tokenizer: Any) -> None:
        [whole] = prepare_sft(of_chats(CHATS[1:2]), tokenizer)
        pieces = prepare_sft(of_chats(CHATS[1:2]), tokenizer, max_length=5, truncation="split")
        expected = [whole["labels"][at : at + 5] for at in range(0, len(whole["labels"]), 5)]
        assert pieces["labels"][:] == [piece for piece in expected if set(piece) != {-100}]

    def test_drop_leaves_rows_that_fit_as_they_are(self, tokenizer: Any) -> None:
        lengths = [len(tokenizer.apply_chat_template(c)) for c in CHATS]
        prepared = prepare_sft(of_chats(), tokenizer, max_length=min(lengths), truncation="drop")
        assert [len(ids) for ids in prepared["input_ids"]] == [min(lengths)]

    def test_a_row_whose_trained_tokens_are_all_cut_away_is_left_out(self, tokenizer: Any) -> None:
        long_question = chat("why? " * 40, "Because.")
        prepared = prepare_sft(of_chats([CHATS[0], long_question]), tokenizer, max_length=30)
        assert len(prepared) == 1
        with pytest.raises(ChatError, match="everything to train was cut away"):
            prepare_sft(of_chats([long_question]), tokenizer, max_length=30)

    @given(st.lists(st.integers(0, 12), max_size=12), st.integers(1, 5))
    def test_split_pieces_are_the_rows_in_order(self, lengths: list[int], limit: int) -> None:
        pieces = cut(np.array(lengths, np.int64), SFTSpec(max_length=limit, truncation="split"))
        found = [
            list(range(start, start + length))
            for start, length in zip(pieces.starts.tolist(), pieces.lengths.tolist(), strict=True)
        ]
        for row, length in enumerate(lengths):
            of_row = [piece for piece, owner in zip(found, pieces.rows, strict=True) if owner == row]
            assert [place for piece in of_row for place in piece] == list(range(length))
            assert all(len(piece) == limit for piece in of_row[:-1])
            assert len(of_row[-1]) <= limit

    def test_no_limit(self, tokenizer: Any) -> None:
        [row] = prepare_sft(of_chats([chat("a", "b " * 3000)]), tokenizer, max_length=None)
        assert len(row["input_ids"]) > 3000


@pytest.fixture(scope="module")
def sample() -> Dataset:
    return load_local(str(data.CONVERSATIONS), split="train").select(range(60))


class TestPacking:
    @pytest.mark.parametrize("strategy", ["bfd", "bfd_split", "wrapped"])
    def test_packs_are_those_of_a_plan_over_all_rows(
        self, tokenizer: Any, sample: Dataset, strategy: Any
    ) -> None:
        limit = 128
        packed = prepare_sft(
            sample,
            tokenizer,
            max_length=limit,
            packing=strategy,
            columns=("input_ids", "labels", "seq_lengths", "position_ids", "cu_seqlens", "attention_mask"),
        )
        rows = prepare_sft(sample, tokenizer, max_length=limit if strategy == "bfd" else None)
        columns = rows.with_format("arrow")[:]
        plan = pack([len(ids) for ids in rows["input_ids"]], limit, strategy)
        assert packed["input_ids"][:] == plan.gather(columns["input_ids"]).to_pylist()
        assert packed["labels"][:] == plan.gather(columns["labels"]).to_pylist()
        for row in packed:
            assert sum(row["seq_lengths"]) == len(row["input_ids"]) == len(row["attention_mask"])
            assert row["position_ids"] == [i for n in row["seq_lengths"] for i in range(n)]
            assert row["cu_seqlens"] == [0, *np.cumsum(row["seq_lengths"]).tolist()]

    def test_neither_batch_size_nor_processes_change_a_row(self, tokenizer: Any, sample: Dataset) -> None:
        options: dict[str, Any] = {"max_length": 200, "packing": "bfd"}
        one = prepare_sft(sample, tokenizer, **options)
        assert list(prepare_sft(sample, tokenizer, batch_size=7, **options)) == list(one)
        two = prepare_sft(sample, tokenizer, num_proc=2, load_from_cache_file=False, **options)
        assert list(two) == list(one)

    def test_packs_over_many_batches_are_the_same(
        self, tokenizer: Any, sample: Dataset, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        whole = prepare_sft(sample, tokenizer, max_length=100, packing="wrapped")
        monkeypatch.setattr("arrowprep.chat.sft.prepare._TOKENS_A_BATCH", 300)
        pieces = prepare_sft(sample, tokenizer, max_length=100, packing="wrapped", load_from_cache_file=False)
        assert list(pieces) == list(whole)

    def test_a_second_run_is_found_in_the_cache(
        self, tokenizer: Any, sample: Dataset, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        first = prepare_sft(sample, tokenizer, max_length=128, packing="bfd")
        monkeypatch.setattr("arrowprep.chat.sft.examples.Reader.examples", None)
        again = prepare_sft(sample, load_tokenizer_like(tokenizer), max_length=128, packing="bfd")
        assert again.fingerprint == first.fingerprint
        assert list(again) == list(first)

    def test_another_packing_tokenizes_nothing_anew(
        self, tokenizer: Any, sample: Dataset, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        prepare_sft(sample, tokenizer, max_length=128, packing="wrapped")
        monkeypatch.setattr("arrowprep.chat.sft.examples.Reader.examples", None)
        packed = prepare_sft(sample, tokenizer, max_length=64, packing="bfd_split")
        assert max(map(len, packed["input_ids"])) == 64


def load_tokenizer_like(tokenizer: Any) -> Any:
    """An equal one, of new objects."""
    import copy

    return copy.deepcopy(tokenizer)


class TestRefuses:
    def test_two_bos(self, tokenizer: Any) -> None:
        with pytest.raises(ChatError, match=r"row 0: the text begins with two bos"):
            prepare_sft(of_chats(), tokenizer, template="{{ bos_token }}{{ bos_token }}" + CHATML)

    def test_a_dataset_that_trains_nothing(self, tokenizer: Any) -> None:
        with pytest.raises(ChatError, match=r"no row is left to train on \(1 rows: nothing to train\)"):
            prepare_sft(of_chats([chat("Hi")]), tokenizer)

    def test_a_template_whose_spans_leave_the_stop_token_out(self, tokenizer: Any) -> None:
        outside = CHATML.replace(
            "{{ message.content + '<|im_end|>' }}{% endgeneration %}",
            "{{ message.content }}{% endgeneration %}{{ '<|im_end|>' }}",
        )
        with pytest.raises(ChatError, match="no row trains a stop token"):
            prepare_sft(of_chats(), tokenizer, template=outside)

    def test_a_row_that_the_template_refuses_or_it_is_dropped_on_request(self, tokenizer: Any) -> None:
        strict = "{% if messages[0].role == 'system' %}{{ raise_exception('no system') }}{% endif %}" + CHATML
        with pytest.raises(ChatError, match=r"row 2: .*no system"):
            prepare_sft(of_chats(), tokenizer, template=strict)
        assert len(prepare_sft(of_chats(), tokenizer, template=strict, errors="drop")) == 2

    @pytest.mark.parametrize(
        ("columns", "said"),
        [
            ({"messages": [CHATS[0], None]}, "row 1: a conversation is a list"),
            ({"messages": [json.dumps(CHATS[0]), "{"]}, "row 1: .*JSON"),
            ({"messages": [["a", "b"]]}, "row 0: message 0 is of type str"),
            ({"messages": [json.dumps(chat("\ud800", "x"))]}, "row 0: .*surrogate"),
            ({"messages": [CHATS[0]], "tools": [["x"]]}, "row 0: a tool is"),
            (
                {"messages": [CHATS[0]], "chat_template_kwargs": ["[1]"]},
                "row 0: chat_template_kwargs is a dict",
            ),
            ({"prompt": ["a", "b"], "completion": ["c", None]}, "row 1: .*both texts"),
            (
                {"prompt": [chat("a"), []], "completion": [chat("a", "b")[1:]] * 2},
                "row 1: the conversation is empty",
            ),
            ({"chosen": ["b"], "rejected": ["c"]}, "row 0: .*without `prompt`"),
            ({"messages": []}, "no rows"),
        ],
    )
    def test_rows_that_are_not_what_their_columns_say(
        self, tokenizer: Any, columns: dict[str, list[Any]], said: str
    ) -> None:
        with pytest.raises(ChatError, match=said):
            prepare_sft(Dataset.from_dict(columns), tokenizer)

    def test_a_tokenizer_without_a_chat_template(self) -> None:
        with pytest.raises(ChatError, match="has no chat template"):
            prepare_sft(of_chats(), load_tokenizer(data.GPT2))

    def test_rows_of_no_known_shape(self, tokenizer: Any) -> None:
        with pytest.raises(BadArgument, match=r"these have 'body'"):
            prepare_sft(Dataset.from_dict({"body": ["x"]}), tokenizer)

    @pytest.mark.parametrize(
        "options",
        [
            {"train_on": "user"},
            {"truncation": "left"},
            {"packing": "best"},
            {"spans": "guess"},
            {"straddle": "half"},
            {"columns": ("seq_lengths",)},
            {"max_length": 0},
            {"max_length": None, "packing": "bfd"},
            {"errors": "ignore"},
        ],
    )
    def test_options_that_make_no_sense(self, tokenizer: Any, options: dict[str, Any]) -> None:
        with pytest.raises(BadArgument):
            prepare_sft(of_chats(), tokenizer, **options)


def test_reads_what_load_local_reads(tokenizer: Any, tmp_path: Path) -> None:
    path = tmp_path / "chats.jsonl"
    path.write_text("\n".join(json.dumps({"messages": c}) for c in CHATS))
    assert list(prepare_sft(load_local(str(path), split="train"), tokenizer)) == list(
        prepare_sft(of_chats(), tokenizer)
    )


def test_every_split_of_a_dict_is_prepared(tokenizer: Any) -> None:
    splits = DatasetDict({"train": of_chats(), "test": of_chats(CHATS[:1])})
    prepared = prepare_sft(splits, tokenizer, max_length=64, packing="bfd")
    assert isinstance(prepared, DatasetDict)
    assert list(prepared["test"]) == list(
        prepare_sft(of_chats(CHATS[:1]), tokenizer, max_length=64, packing="bfd")
    )
