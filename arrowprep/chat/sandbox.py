"""Where chat templates run: jinja's immutable sandbox, with transformers' settings and a budget."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from functools import lru_cache, partial
from types import BuiltinMethodType, CodeType
from typing import Any

import jinja2
from jinja2 import nodes
from jinja2.ext import LoopControlExtension
from jinja2.runtime import Context, LoopContext, Macro
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import Namespace

from arrowprep.chat import failures, generation
from arrowprep.chat.compiler import OF_DICT, READING, TemplateCompiler
from arrowprep.chat.filters import FILTERS, TESTS
from arrowprep.chat.meter import measure
from arrowprep.chat.methods import FORMATS, call_method
from arrowprep.chat.operators import Operators
from arrowprep.errors import MaskUnavailable, TemplateForbidden

__all__ = ["Compiled", "compiled"]

# Compiling takes up to a second within these. The largest known has 17,000 characters, 2,400 tokens.
MAX_SOURCE = 100_000
MAX_TOKENS = 12_000
MAX_NESTING = 100

_PUBLIC_OF_STR = frozenset(name for name in dir(str) if not name.startswith("_")) - FORMATS
_OWNERS_OF_METHODS = (str, bytes, int, float, list, tuple, dict, range, type)


class TemplateContext(Context):
    """The variables of one rendering, with its budget and the edges of generation blocks."""

    meter: Operators
    generation_start: str = generation.START
    generation_stop: str = generation.STOP

    def derived(self, locals: dict[str, Any] | None = None) -> TemplateContext:
        child = super().derived(locals)
        assert isinstance(child, TemplateContext)
        child.meter = self.meter
        child.generation_start, child.generation_stop = self.generation_start, self.generation_stop
        return child


class TemplateNamespace(Namespace):
    """`namespace()` without names that begin with an underscore."""

    def __init__(*args: Any, **kwargs: Any) -> None:  # so that namespace(self=1) works
        attributes = dict(*args[1:], **kwargs)
        for name in attributes:
            _check_name(name)
        Namespace.__init__(args[0], attributes)

    def __setitem__(self, name: str, value: Any) -> None:
        if name[:1] == "_":
            _check_name(name)
        object.__getattribute__(self, "_Namespace__attrs")[name] = value


def _check_name(name: Any) -> None:
    if isinstance(name, str) and name.startswith("_"):
        raise jinja2.exceptions.SecurityError(
            f"a namespace cannot hold {name!r}: the name begins with an underscore"
        )


class TemplateDict:
    """`dict(...)` and `dict.fromkeys(...)`, and nothing else of dict."""

    def __call__(self, *args: Any, **kwargs: Any) -> dict[Any, Any]:
        if args and not isinstance(args[0], dict):
            pairs = [tuple(pair) for pair in args[0]]
            for pair in pairs:
                _check_key(pair[0] if pair else None)
            args = (pairs, *args[1:])
        return dict(*args, **kwargs)

    def fromkeys(self, keys: Any, *value: Any) -> dict[Any, Any]:
        keys = list(keys)
        for key in keys:
            _check_key(key)
        return dict.fromkeys(keys, *value)


def _check_key(key: Any) -> None:
    if isinstance(key, tuple) and any(isinstance(part, tuple) for part in key):
        raise jinja2.exceptions.SecurityError("a nested tuple is no key")


def _raise_exception(message: Any) -> None:
    if not isinstance(message, str):
        message = str(message) if measure(message) < 10_000 else f"<{type(message).__name__}>"
    raise failures.Refusal(message)


class Sandbox(ImmutableSandboxedEnvironment):
    """One for all templates of the process; what belongs to a rendering is in its context."""

    context_class = TemplateContext
    code_generator_class = TemplateCompiler

    def __init__(self) -> None:
        super().__init__(
            trim_blocks=True,
            lstrip_blocks=True,
            optimized=False,  # constants folded at compile time would work outside the budget
            cache_size=0,
            extensions=[generation.GenerationTag, LoopControlExtension],
        )
        self.filters = dict(FILTERS)
        self.tests = dict(TESTS)
        self.globals = {
            "range": self.globals["range"],
            "dict": TemplateDict(),
            "namespace": TemplateNamespace,
            "raise_exception": _raise_exception,
        }

    # Attributes are half the time of a rendering: plain data's are answered at once, the rest by jinja.

    def getattr(self, obj: Any, attribute: str) -> Any:
        kind = type(obj)
        if kind is dict:
            if attribute not in OF_DICT:
                try:
                    return obj[attribute]
                except KeyError:
                    return self.undefined(obj=obj, name=attribute)
            if attribute in READING:
                return getattr(obj, attribute)
        elif kind is str:
            if attribute in _PUBLIC_OF_STR:
                return getattr(obj, attribute)
        elif kind is TemplateNamespace:
            try:
                return object.__getattribute__(obj, "_Namespace__attrs")[attribute]
            except KeyError:
                return self.undefined(obj=obj, name=attribute)
        elif kind is LoopContext and not attribute.startswith("_") and hasattr(LoopContext, attribute):
            return getattr(obj, attribute)
        return super().getattr(obj, attribute)

    def getitem(self, obj: Any, argument: Any) -> Any:
        kind, by = type(obj), type(argument)
        if kind is dict and by is str:
            if argument in obj:
                return obj[argument]
            if argument not in OF_DICT:
                return self.undefined(obj=obj, name=argument)
        elif kind is list and by is int:
            try:
                return obj[argument]
            except IndexError:
                return self.undefined(obj=obj, name=argument)
        elif by is tuple or by is list or by is dict:
            _check_key(argument)
            try:
                return obj[argument]
            except (TypeError, LookupError):
                # by its type: an error that shows a list of shared lists would have no end
                return self.undefined(obj=obj, name=f"<{by.__name__}>")
        return super().getitem(obj, argument)

    def call(__self, __context: Any, __obj: Any, *args: Any, **kwargs: Any) -> Any:
        meter: Operators = __context.meter
        meter.spend(8 * (len(args) + len(kwargs)))
        if type(__obj) is Macro:
            return _called(meter, __obj, __context.eval_ctx, args, kwargs)
        if type(__obj) is BuiltinMethodType or isinstance(
            getattr(__obj, "__self__", None), _OWNERS_OF_METHODS
        ):
            kwargs.pop("_loop_vars", None)
            kwargs.pop("_block_vars", None)
            return call_method(meter, __obj, args, kwargs)
        meter.enter()
        try:
            for arg in args:
                meter.looked_at(arg)
                meter.hashed(arg)
            return meter.made(super().call(__context, __obj, *args, **kwargs))
        finally:
            meter.depth -= 1

    def wrap_str_format(self, value: Any) -> Callable[..., str] | None:
        safe = super().wrap_str_format(value)
        if safe is not None:
            safe.__self__ = value.__self__  # type: ignore[attr-defined]  # known as a method, and so paid for
        return safe


def _called(
    meter: Operators, macro: Macro, eval_ctx: nodes.EvalContext, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """What a macro writes, which was paid for when it was joined."""
    kwargs.pop("_loop_vars", None)
    kwargs.pop("_block_vars", None)
    meter.enter()
    try:
        plain = not (kwargs or macro.caller or macro.catch_kwargs or macro.catch_varargs)
        if plain and len(args) == macro._argument_count and not eval_ctx.autoescape:
            return macro._func(*args)  # as jinja's own call ends, in a third of its time
        return macro(eval_ctx, *args, **kwargs)
    finally:
        meter.depth -= 1


SANDBOX = Sandbox()


class Purse:
    """What several renderings of one chat may use up together, in units of the meter."""

    def __init__(self, left: int) -> None:
        self.left = left


class Compiled:
    """A template ready to run. Immutable: threads and ChatTemplates share it."""

    def __init__(self, source: str) -> None:
        with failures.told(None):
            _check_size(source)
            tree = SANDBOX.parse(source)
            self._template = SANDBOX.template_class.from_code(SANDBOX, _code_of(tree), {})
            self.has_generation = any(map(generation.is_generation, tree.find_all(nodes.CallBlock)))
            self.reads_clock = any(name.name == "strftime_now" for name in tree.find_all(nodes.Name))
            self._held_back = generation.held_back(tree) if self.has_generation else None

    def render(
        self, variables: Mapping[str, Any], clock: Callable[[], datetime], purse: Purse | None = None
    ) -> tuple[str, Any]:
        """The text, and its spans or a function that finds them. Raises TemplateError.

        purse: what several renderings may use up together
        """
        text, pieces = self._run(variables, clock, None, purse)
        if not self.has_generation:
            return text, ()
        if self._held_back is None:
            return text, generation.spans_of_pieces(pieces)
        return text, partial(self._marked_spans, variables, clock, text, self._held_back)

    def _marked_spans(
        self, variables: Mapping[str, Any], clock: Callable[[], datetime], text: str, line: int
    ) -> generation.Spans:
        edges = generation.unused_edges(text)
        try:
            marked, _ = self._run(variables, clock, edges)
        except failures.TemplateError as error:
            raise MaskUnavailable(
                f"the generation block of line {line} cannot be followed: {error}", line=line
            ) from error
        return generation.spans_of_marked(marked, edges, text, line)

    def _run(
        self,
        variables: Mapping[str, Any],
        clock: Callable[[], datetime],
        edges: tuple[str, str] | None,
        purse: Purse | None = None,
    ) -> tuple[str, list[str]]:
        meter = Operators(variables)

        def strftime_now(format: str) -> str:
            meter.spend(64 * len(format))
            return clock().strftime(format)

        names = {**SANDBOX.globals, "strftime_now": strftime_now, **variables}
        context = TemplateContext(SANDBOX, names, None, self._template.blocks)
        context.meter = meter
        if edges:
            context.generation_start, context.generation_stop = edges
        with failures.told(self._template):
            try:
                pieces = list(self._template.root_render_func(context))
                return meter.joined(pieces), pieces
            finally:
                if purse is not None:
                    purse.left -= meter.spent


@lru_cache(maxsize=256)
def compiled(source: str) -> Compiled:
    """The template of this text; compiling takes 3 to 140 ms, so each process does it once."""
    return Compiled(source)


def _code_of(tree: nodes.Template) -> CodeType:
    """Raises TemplateForbidden where Python cannot read what jinja writes: it nests twenty loops at most."""
    text = SANDBOX.compile(tree, raw=True)
    try:
        return compile(text, "<template>", "exec")
    except SyntaxError as error:
        written = text.rpartition("debug_info = '")[2].partition("'")[0]
        pairs = (pair.split("=") for pair in written.split("&") if pair)
        before = [int(line) for line, at in pairs if int(at) <= (error.lineno or 0)]
        line = before[-1] if before else 1
        raise TemplateForbidden(
            f"line {line} of the template: {error.msg}", kind="limit", line=line
        ) from error


def _check_size(source: str) -> None:
    """Before parsing: what is too long or nests too deeply would take the parser's time or stack."""
    if len(source) > MAX_SOURCE:
        line = source.count("\n", 0, MAX_SOURCE) + 1
        raise TemplateForbidden(
            f"line {line} of the template: it has {len(source)} characters; at most {MAX_SOURCE} are read",
            kind="limit",
            line=line,
        )
    depth = count = 0
    for line, kind, value in SANDBOX.lex(source):
        if kind == "whitespace":
            continue
        count += 1
        if kind == "operator":
            depth += (value in "([{") - (value in ")]}")
        if depth > MAX_NESTING or count > MAX_TOKENS:
            what = (
                f"nests more than {MAX_NESTING} brackets"
                if depth > MAX_NESTING
                else f"has over {MAX_TOKENS} tokens"
            )
            raise TemplateForbidden(f"line {line} of the template: it {what}", kind="limit", line=line)
