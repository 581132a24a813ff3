"""ChatTemplate: one Jinja text that renders conversations, as transformers renders them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import cached_property, partial
from typing import Any, Literal

from arrowprep.chat.continuation import Continuation, continued
from arrowprep.chat.convention import Convention, Turn
from arrowprep.chat.frames import Frame, frames_around, probe_like
from arrowprep.chat.generation import missing_tag
from arrowprep.chat.infer import inferred_turns
from arrowprep.chat.markers import Render
from arrowprep.chat.messages import normalized, plain
from arrowprep.chat.placeholders import replaced
from arrowprep.chat.sandbox import Compiled, Purse, compiled
from arrowprep.chat.tool_arguments import ArgumentForm, form_taken
from arrowprep.chat.tools import tool_schemas
from arrowprep.errors import ChatError, MaskUnavailable, TemplateError, TemplateForbidden

__all__ = ["ChatTemplate", "Rendered", "choose_template"]

_WORK_TO_INFER = 40_000_000  # units of the meter, less than two seconds
_MOST_FRAMES = 1000  # of sequences of roles, each with what else the template was given


class Rendered:
    """A rendered conversation.

    text: the string
    spans: (start, stop) in characters of text for each generation block, in the
        order in which the blocks end; () where the template has none. Raises
        MaskUnavailable where the template does something to a block's text that
        hides its place.
    turns: where each assistant's message stands, where spans were asked for; else (). Raises
        MaskUnavailable where the spans are the template's own and the turns cannot be inferred beside them.
    """

    __slots__ = ("_spans", "_turns", "text")

    def __init__(self, text: str, spans: Any = (), turns: Any = ()) -> None:
        self.text = text
        # or, where finding them costs further renderings, functions that do
        self._spans, self._turns = spans, turns

    @property
    def spans(self) -> tuple[tuple[int, int], ...]:
        if callable(self._spans):
            self._spans = self._spans()
        spans: tuple[tuple[int, int], ...] = self._spans
        return spans

    @property
    def turns(self) -> tuple[Turn, ...]:
        self._turns = tuple(self._turns() if callable(self._turns) else self._turns)
        turns: tuple[Turn, ...] = self._turns
        return turns

    @property
    def turns_are_known(self) -> bool:
        """Whether reading `turns` takes no work and they tell the spans apart."""
        return bool(self._turns) and not callable(self._turns)

    def with_replacements(self, replacements: Mapping[str, Sequence[str]]) -> Rendered:
        """The same with what a processor made of each picture or sound in place of its placeholder.

        replacements: for each placeholder, such as "<|image_pad|>", the texts for its occurrences in order

        Raises LengthMismatch where there are more or fewer occurrences.
        """
        text, moved = replaced(self.text, replacements)
        return Rendered(
            text,
            lambda: tuple((moved(start), moved(stop)) for start, stop in self.spans),
            lambda: [turn.moved(moved) for turn in self.turns],
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Rendered) and (self.text, self.spans) == (other.text, other.spans)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        try:
            spans = repr(self.spans)
        except MaskUnavailable:
            spans = "<unavailable>"
        return f"Rendered(text={self.text!r}, spans={spans})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Rendered, (self.text, self.spans, self._turns if self.turns_are_known else ())


class ChatTemplate:
    """A chat template, compiled once a process however many objects have its text.

    source: the Jinja text
    special_tokens: variables for the template, such as bos_token; None values are left out
    clock: what `strftime_now` reads; the local time by default

    Raises TemplateError (kind "syntax", with the line) for a text that is no template.
    """

    def __init__(
        self,
        source: str,
        *,
        special_tokens: Mapping[str, Any] | None = None,
        clock: Callable[[], datetime] | None = None,
    ) -> None:
        self.source = source
        self.special_tokens = {k: str(v) for k, v in (special_tokens or {}).items() if v is not None}
        self.clock = clock
        self._compiled: Compiled = compiled(source)
        self._frames: dict[Any, dict[int, Frame]] = {}

    def render(
        self,
        messages: Any,
        *,
        tools: Any = None,
        documents: Any = None,
        add_generation_prompt: bool = False,
        continue_final_message: bool | str = False,
        continuation: Continuation = "exact",
        **variables: Any,
    ) -> Rendered:
        """The text of one conversation.

        messages: dicts with role and content (or dataclasses, pydantic models, JSON text, Arrow data)
        tools: JSON schemas, or functions to make them of
        documents: dicts
        add_generation_prompt: end with the header of an assistant's turn, where the template knows how
        continue_final_message: end inside the last message, after its content (True) or the named field
        continuation: "transformers" to lose the white space of the header before an empty message as it does
        variables: whatever else the template reads; they win over the special tokens

        Raises TemplateError; its `kind` says whether the template refused
        ("raise_exception"), failed ("undefined", "python_in_template", "template"),
        was stopped ("security", "limit"), or could not be continued.
        """
        chat, given = self._data(messages, tools, documents, variables)
        given["add_generation_prompt"] = add_generation_prompt
        if not continue_final_message:
            return self._rendered(chat, given)
        if add_generation_prompt:
            raise TemplateError(
                "add_generation_prompt starts a new message and continue_final_message goes on "
                "with the last; choose one",
                kind="api_option_clash",
            )
        field = "content" if continue_final_message is True else continue_final_message
        text = continued(chat, field, self.source, lambda c: self._rendered(c, given).text, continuation)
        return Rendered(text)

    def render_with_spans(
        self,
        messages: Any,
        *,
        spans: Literal["generation", "infer", "auto"] = "generation",
        stop_strings: Sequence[str] = (),
        convention: Convention | None = None,
        tools: Any = None,
        documents: Any = None,
        add_generation_prompt: bool = False,
        **variables: Any,
    ) -> Rendered:
        """As render, with spans for every assistant's message or an error.

        spans: "generation" takes what the template's tags say and refuses one without; "infer" finds the
            spans by comparing renderings, and refuses what it cannot prove; "auto" infers where there are
            no tags
        stop_strings: strings that end a turn and do not look like control tokens, to infer by
        convention: what of the template's own text is in the spans; None is the tags as they stand, or
            `Convention()` where spans are inferred; named for tags, the turns are found as by "infer"

        Raises MaskUnavailable, with what to do.
        """
        if spans not in ("generation", "infer", "auto"):
            raise ChatError(f'spans is "generation", "infer" or "auto", not {spans!r}')
        if spans == "generation":
            self.require_generation()
        chat, given = self._data(messages, tools, documents, variables)
        given["add_generation_prompt"] = add_generation_prompt
        now = (self.clock or datetime.now)()  # a second that passes must not tell renderings apart
        rendered = self._rendered(chat, given, now)
        tagged = None
        if spans == "generation" or (spans == "auto" and self.has_generation):
            tagged = rendered.spans  # found now, so that an error comes now
        find = partial(self._turns, chat, given, stop_strings, rendered.text, now)
        if tagged is not None and convention is None:
            return Rendered(rendered.text, tagged, find)
        turns = find()
        convention = convention or Convention()
        if tagged is not None:
            return Rendered(rendered.text, convention.of_tagged(tagged, turns), turns)
        found = tuple(span for turn in turns for span in convention.spans(turn))
        return Rendered(rendered.text, found, turns)

    def _turns(
        self,
        whole: list[dict[str, Any]],
        given: dict[str, Any],
        stop_strings: Sequence[str],
        text: str,
        now: datetime,
    ) -> list[Turn]:
        """The turns of the whole chat, whose text is known."""
        prompted = given["add_generation_prompt"]

        purse = Purse(_WORK_TO_INFER)

        def render(chat: list[dict[str, Any]], prompt: bool) -> str | None:
            if chat is whole and prompt == prompted:
                return text
            if purse.left < 0:
                raise MaskUnavailable(
                    "proving where the assistant's texts are takes too many renderings of a chat this long; "
                    "put {% generation %}…{% endgeneration %} into the template"
                )
            try:
                return self._rendered(chat, {**given, "add_generation_prompt": prompt}, now, purse).text
            except TemplateError:
                return None

        find = partial(inferred_turns, tokens=self.special_tokens.values(), stops=stop_strings)
        frames = self._frames_of(whole, render, find, f"{given}{stop_strings}")
        return find(whole, render, prompted, frames=frames)

    def _frames_of(
        self, chat: list[dict[str, Any]], render: Render, find: Callable[..., list[Turn]], given: str
    ) -> dict[int, Frame]:
        """The frames of chats with these roles; learned once."""
        probe = probe_like(chat)
        if probe is None:
            return {}
        key = tuple(message["role"] for message in probe), given
        if key not in self._frames:
            if len(self._frames) >= _MOST_FRAMES:
                self._frames.clear()
            try:
                turns = find(probe, render, False)
            except MaskUnavailable:
                turns = []
            self._frames[key] = frames_around(probe, render(probe, False) or "", turns)
        return self._frames[key]

    def _data(
        self, messages: Any, tools: Any, documents: Any, variables: dict[str, Any]
    ) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        """The chat, and the template's other variables, as plain data."""
        try:
            chat = normalized(messages)
            return chat, {
                "tools": plain(tool_schemas(tools)),
                "documents": plain(_checked_documents(documents)),
                **self.special_tokens,
                **plain(variables),
            }
        except RecursionError as error:
            raise TemplateForbidden(
                "the conversation or its tools contain themselves, or nest too deeply", kind="limit"
            ) from error

    def _rendered(
        self,
        chat: list[dict[str, Any]],
        given: dict[str, Any],
        now: datetime | None = None,
        purse: Purse | None = None,
    ) -> Rendered:
        clock = (lambda: now) if now else self.clock or datetime.now
        return Rendered(*self._compiled.render({"messages": chat, **given}, clock, purse))

    @cached_property
    def argument_form(self) -> ArgumentForm | None:
        """How the template takes the arguments of tool calls; None where dicts and JSON text are alike."""

        def render(chat: list[dict[str, Any]]) -> str | None:
            try:
                return self.render(chat).text
            except ChatError:
                return None

        return form_taken(render)

    @property
    def has_generation(self) -> bool:
        """Whether the template says which text the assistant wrote."""
        return self._compiled.has_generation

    def require_generation(self) -> None:
        """Raises MaskUnavailable, with the ways out, where the template has no generation tag."""
        if not self.has_generation:
            raise missing_tag(self.source)

    @property
    def reads_clock(self) -> bool:
        """Whether the text may depend on the time it is rendered at."""
        return self._compiled.reads_clock

    @property
    def fingerprint(self) -> str:
        """A name for everything that decides the text: source, special tokens, and the date if it is read."""
        parts = [self.source, *(part for pair in sorted(self.special_tokens.items()) for part in pair)]
        if self.reads_clock:
            parts.append((self.clock or datetime.now)().date().isoformat())
        digest = hashlib.blake2b(digest_size=16)
        for part in parts:
            data = part.encode("utf-8", "surrogatepass")
            digest.update(len(data).to_bytes(8, "little") + data)
        return digest.hexdigest()

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuilt, (self.source, self.special_tokens, self.clock)

    def __repr__(self) -> str:
        first = self.source.lstrip().partition("\n")[0]
        return f"ChatTemplate({first[:60]!r}, {len(self.source)} characters)"


def _rebuilt(
    source: str, special_tokens: dict[str, str], clock: Callable[[], datetime] | None
) -> ChatTemplate:
    return ChatTemplate(source, special_tokens=special_tokens, clock=clock)


def _checked_documents(documents: Any) -> Any:
    for document in documents or ():
        if not isinstance(document, Mapping):
            raise ChatError(f"documents are dicts with a title and a text, not {type(document).__name__}")
    return documents


def choose_template(templates: str | Mapping[str, str] | None, name: str | None, has_tools: bool) -> str:
    """The template text to use, of a tokenizer's template or named templates.

    name: one of the names, or itself a template's text
    has_tools: whether tools were given; a template named tool_use is then the default

    Raises ChatError with the names where there is nothing to choose.
    """
    named = templates if isinstance(templates, Mapping) else {}
    if name is not None:
        if name in named:
            return named[name]
        if "{{" in name or "{%" in name or "{#" in name:
            return name
        known = ", ".join(sorted(named)) or "none: give a template's text"
        raise ChatError(f"no chat template is called {name!r}; the names are {known}", name=name)
    if isinstance(templates, str):
        return templates
    if has_tools and "tool_use" in named:
        return named["tool_use"]
    if "default" in named:
        return named["default"]
    if named:
        raise ChatError(
            "the tokenizer has no default chat template; choose one by chat_template=: "
            + ", ".join(sorted(named))
        )
    raise ChatError(
        'the tokenizer has no chat template; set tokenizer.chat_template = "...", or give chat_template="..."'
    )
