"""Conversations, rendered by the tokenizer's chat template and encoded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Literal

from arrowprep.errors import BadArgument
from arrowprep.tokenize import chat_calls
from arrowprep.tokenize.shell.vocabulary import Vocabulary

if TYPE_CHECKING:
    from arrowprep.chat.convention import Convention


class Chats(Vocabulary):
    """Chat templates and what they give."""

    def get_chat_template(self, chat_template: str | None = None, tools: Any = None) -> str:
        """The text of the template to render with: by name, as given, or the tokenizer's own."""
        return chat_calls.pick_template(self, chat_template, tools)

    def encode_message_with_chat_template(
        self,
        message: Mapping[str, Any],
        conversation_history: Sequence[Mapping[str, Any]] | None = None,
        **options: Any,
    ) -> list[int]:
        """The ids that a message adds to those of the messages before it.

        From the first id that differs: a template may end the messages before in another way.
        options: those of `apply_chat_template` but add_generation_prompt
        """
        if "add_generation_prompt" in options:
            raise BadArgument("a message's ids have no generation prompt: leave out add_generation_prompt")
        before = list(conversation_history or ())
        options |= {"tokenize": True, "return_dict": False}
        ids: list[int] = self.apply_chat_template([*before, message], **options)
        known: list[int] = self.apply_chat_template(before, **options) if before else []
        same = takewhile(lambda pair: pair[0] == pair[1], zip(ids, known, strict=False))
        return ids[sum(1 for _ in same) :]

    def apply_chat_template(
        self,
        conversation: Any,
        tools: Any = None,
        documents: Any = None,
        chat_template: str | None = None,
        add_generation_prompt: bool = False,
        continue_final_message: bool | str = False,
        tokenize: bool = True,
        sanitize_control_tokens: bool = False,
        padding: bool | str = False,
        truncation: bool | str = False,
        max_length: int | None = None,
        return_tensors: str | None = None,
        return_dict: bool | None = None,
        return_assistant_tokens_mask: bool = False,
        tokenizer_kwargs: Mapping[str, Any] | None = None,
        *,
        spans: Literal["generation", "infer", "auto"] = "generation",
        stop_strings: Sequence[str] = (),
        convention: Convention | None = None,
        straddle: Literal["overlap", "inside", "start"] = "overlap",
        continuation: Literal["exact", "transformers"] = "exact",
        replacements: Mapping[str, Sequence[str]] | Sequence[Mapping[str, Sequence[str]]] | None = None,
        **variables: Any,
    ) -> Any:
        """Render one conversation, or a batch of them, and encode it.

        conversation: a list of messages; a batch is a list, a dataset column or an Arrow array of such lists
        tokenize: False gives the text (of a batch: a list of texts)
        return_dict: False, the default, gives ids; True a `BatchEncoding`
        return_assistant_tokens_mask: gives a `BatchEncoding` with `assistant_masks`, 1 for every
            token of what is the assistant's
        spans: where that is known from: the template's "generation" tags; "infer", which compares
            renderings and refuses what it cannot prove; "auto", tags where there are any
        stop_strings: for "infer", texts that end a turn and do not look like control tokens
        convention: what of the template's own text around an answer is marked: `chat.Convention`
        straddle: which tokens over the edge of that are marked: as for `chat.span_mask`
        continuation: of an empty last message, where a template trims: "transformers" loses the white space
            that ends the header, as it does
        sanitize_control_tokens: encode control tokens in messages, tools, documents and variables, but for
            keys, as plain text: special tokens, and added ones that the template writes, or that are in
            `chat_control_tokens` where this was set
        replacements: what a processor made of each picture or sound, by placeholder and in the order of the
            text: {"<|image_pad|>": ["<|image_pad|>" * 64, ...]}; of a batch one dict a conversation
        variables: what else the template reads; they win over the special tokens

        No special tokens are added: the template writes those it wants. Raises
        ChatError when there is no template, and MaskUnavailable, never a mask of
        zeros, when what the assistant wrote cannot be known.
        """
        chats = chat_calls.render(
            self,
            conversation,
            chat_template=chat_template,
            tools=tools,
            documents=documents,
            add_generation_prompt=add_generation_prompt,
            continue_final_message=continue_final_message,
            continuation=continuation,
            spans=spans if tokenize and return_assistant_tokens_mask else None,
            stop_strings=stop_strings,
            convention=convention,
            sanitize=sanitize_control_tokens,
            replacements=replacements,
            variables=variables,
        )
        if not tokenize:
            if sanitize_control_tokens:
                raise BadArgument(
                    "text does not say which control tokens are plain: leave out tokenize=False"
                )
            return chats.as_given
        options = {
            "padding": padding,
            "truncation": truncation,
            "max_length": max_length,
            "return_tensors": return_tensors,
            "add_special_tokens": False,
            "split_special_tokens": False,  # what a template writes as a special token is one
            **(tokenizer_kwargs or {}),
        }
        mask = straddle if return_assistant_tokens_mask else None
        encoded = chat_calls.encode(self, chats, options, mask=mask)
        return encoded if return_dict or return_assistant_tokens_mask else encoded["input_ids"]
