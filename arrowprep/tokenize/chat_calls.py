"""From conversations to ids: pick a template, render, encode all at once, mark what the assistant wrote."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from arrowprep.errors import BadArgument, LengthMismatch
from arrowprep.tokenize.batch_encoding import BatchEncoding
from arrowprep.tokenize.call import columns_of, sample_of, to_batch
from arrowprep.tokenize.inputs import as_column, read_inputs
from arrowprep.tokenize.request import read_request

if TYPE_CHECKING:
    from arrowprep.chat.convention import Convention
    from arrowprep.chat.mask import Straddle
    from arrowprep.chat.template import Rendered
    from arrowprep.tokenize.shell.chats import Chats

Replacements = Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class RenderedChats:
    """n rendered conversations.

    texts: (n,); with marks around control tokens of the data where is_marked
    spans: (n,) for each the (start, stop) in characters of what the assistant wrote; () when not needed
    batched: a batch was given, not one conversation
    """

    texts: list[str]
    spans: list[Sequence[tuple[int, int]]]
    batched: bool
    is_marked: bool = False

    @property
    def as_given(self) -> Any:
        """The text of one conversation, or the list of texts of a batch."""
        return self.texts if self.batched else self.texts[0]

    @property
    def unmarked_spans(self) -> list[Sequence[tuple[int, int]]]:
        """The spans in the texts without marks."""
        from arrowprep.chat.control_tokens import unmarked

        return [unmarked(text, spans) for text, spans in zip(self.texts, self.spans, strict=True)]


def render(
    tokenizer: Chats,
    conversation: Any,
    *,
    chat_template: str | None,
    spans: str | None,
    stop_strings: Sequence[str],
    convention: Convention | None,
    sanitize: bool,
    replacements: Replacements | Sequence[Replacements] | None,
    variables: Mapping[str, Any],
    **options: Any,
) -> RenderedChats:
    """Render one conversation or many.

    spans, stop_strings, convention: as for `ChatTemplate.render_with_spans`; None as spans finds none
    sanitize: mark control tokens in the data, so that they can be encoded as text
    replacements: as for `Rendered.with_replacements`, one for each conversation of a batch

    Raises ChatError, and MaskUnavailable when the spans cannot be known.
    """
    from arrowprep.chat.messages import conversations_of
    from arrowprep.chat.template import ChatTemplate

    source = pick_template(tokenizer, chat_template, options.get("tools"))
    template = ChatTemplate(source, special_tokens=tokenizer.special_tokens_map, clock=tokenizer.clock)
    conversations, batched = conversations_of(_listed(conversation))
    if sanitize:
        conversations, options, variables = _marked(tokenizer, source, conversations, options, variables)
    if spans is None:
        rendered = [template.render(chat, **options, **variables) for chat in conversations]
        texts = [one.text for one in _replaced(rendered, replacements, batched)]
        return RenderedChats(texts, [], batched, sanitize)
    del options["continuation"]
    if options.pop("continue_final_message"):
        raise BadArgument(
            "an assistant mask needs whole messages: leave out continue_final_message or the mask"
        )
    options |= {"spans": spans, "stop_strings": stop_strings, "convention": convention, **variables}
    rendered = [template.render_with_spans(chat, **options) for chat in conversations]
    rendered = _replaced(rendered, replacements, batched)
    return RenderedChats([one.text for one in rendered], [one.spans for one in rendered], batched, sanitize)


def _replaced(
    rendered: list[Rendered], replacements: Replacements | Sequence[Replacements] | None, batched: bool
) -> list[Rendered]:
    """With replacements for placeholders, those of a batch one for each conversation."""
    if replacements is None:
        return rendered
    of_each = [replacements] if isinstance(replacements, Mapping) else list(replacements)
    if batched is isinstance(replacements, Mapping):
        raise BadArgument("replacements are a dict for a conversation, and a list of dicts for a batch")
    if len(of_each) != len(rendered):
        raise LengthMismatch(f"{len(of_each)} replacements for {len(rendered)} conversations")
    return [one.with_replacements(of_one) for one, of_one in zip(rendered, of_each, strict=True)]


def _marked(
    tokenizer: Chats,
    source: str,
    conversations: Sequence[Any],
    options: dict[str, Any],
    variables: Mapping[str, Any],
) -> tuple[list[Any], dict[str, Any], dict[str, Any]]:
    """The same with marks around all control tokens in the data."""
    from arrowprep.chat.control_tokens import control_pattern, marked
    from arrowprep.chat.messages import normalized, plain
    from arrowprep.chat.tools import tool_schemas

    added = tokenizer.added_tokens_decoder.values()
    named = tokenizer.chat_control_tokens
    control = [token.content for token in added if token.special or token.content in (named or ())]
    others = () if named is not None else (token.content for token in added)
    pattern = control_pattern(source, control, others)
    data = {"tools": plain(tool_schemas(options["tools"])), "documents": plain(options["documents"])}
    return (
        [marked(normalized(chat), pattern) for chat in conversations],
        {**options, **marked(data, pattern)},
        marked(plain(dict(variables)), pattern),
    )


def encode(
    tokenizer: Chats, chats: RenderedChats, options: Mapping[str, Any], *, mask: Straddle | None
) -> BatchEncoding:
    """Encode what was rendered, all of it in one call.

    mask: which tokens over a span's edge count in the further column `assistant_masks`; None makes none
    """
    from arrowprep.chat.control_tokens import CLOSE, OPEN

    marks = (OPEN, CLOSE) if chats.is_marked else None
    request = read_request(tokenizer, **options, plain_between=marks)
    inputs = read_inputs(chats.as_given)
    wanted = replace(request, offsets=request.offsets or True) if mask else request
    columns = columns_of(tokenizer.backend_tokenizer, inputs, wanted)
    batch = to_batch(inputs, request, columns)
    if mask:
        from arrowprep.chat.mask import span_mask

        spans = chats.unmarked_spans if chats.is_marked else chats.spans
        spans = [spans[chat] for chat in sample_of(columns)]
        batch["assistant_masks"] = span_mask(spans, columns.starts, columns.ends, mask)
    return batch.convert_to_tensors(request.tensors)


def pick_template(tokenizer: Chats, chat_template: str | None, tools: Any) -> str:
    """The template's text: as given, by name, or the tokenizer's own. Raises ChatError when there is none."""
    from arrowprep.chat.template import choose_template

    return choose_template(tokenizer.chat_template, chat_template, tools is not None)


def reads_clock(templates: str | Mapping[str, str] | None) -> bool:
    """Whether a rendering may depend on the day."""
    texts = [templates] if isinstance(templates, str) else list((templates or {}).values())
    # compiling costs milliseconds, so only a text that could read the clock is compiled
    suspects = [text for text in texts if "strftime_now" in text]
    if not suspects:
        return False
    from arrowprep.chat.template import ChatTemplate

    return any(ChatTemplate(text).reads_clock for text in suspects)


def _listed(conversation: Any) -> Any:
    """Lists for the columns of NumPy, pandas and a dataset; Arrow stays, and so do lists."""
    if isinstance(conversation, (str, Mapping, pa.Array, pa.ChunkedArray)):
        return conversation
    if hasattr(conversation, "tolist"):
        conversation = conversation.tolist()
    elif isinstance(conversation, Sequence):
        conversation = list(conversation)  # as its rows are shown, which Arrow may keep in another form
    else:
        return as_column(conversation)
    return [row.tolist() if isinstance(row, np.ndarray) else row for row in conversation]
