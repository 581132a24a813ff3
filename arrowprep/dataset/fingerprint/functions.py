"""Names of functions: their code, defaults, captured values, and what they read in their module.

The user's own helpers and module-level values are followed as deep as they go. A library's function is
its place and version; where it cannot be found again by its place (a wrapper made by a decorator), its
code and captured values are taken, but not what it reads in its library.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import sys
import types
from typing import Any

from arrowprep.dataset.fingerprint.code import CanonicalCode, Import, canonical
from arrowprep.dataset.fingerprint.digest import digest, digest_plain
from arrowprep.dataset.fingerprint.modules import is_own
from arrowprep.dataset.fingerprint.namer import Namer, library_name, rule

_MISSING = object()
# what a function holds besides its code that says nothing of what it computes
_NOT_STATE = {"__wrapped__", "__doc__", "__name__", "__qualname__", "__module__", "__annotations__"}


@rule(types.FunctionType)
def name_function(namer: Namer, function: types.FunctionType, place: str) -> bytes:
    if (compiled := getattr(function, "_torchdynamo_orig_callable", None)) is not None:
        return namer.name(compiled, place)  # torch.compile changes how it runs, not what it computes
    home = str(function.__globals__.get("__name__", ""))
    own = is_own(home)
    if not own and is_found_at(function, home):
        return library_name(home, function.__qualname__)
    shown = shown_name(function)
    found = [
        name_code(namer, function.__code__, shown),
        digest_plain(len(function.__defaults__ or ())),
        *_defaults(namer, function, shown),
        *_captured(namer, function, shown),
        namer.name(_state(function), f"an attribute of `{shown}`"),
    ]
    if own:
        found += _reads(namer, function, shown)
    return digest("function", found)


def shown_name(function: Any) -> str:
    """How messages call it: without the functions around it."""
    name = getattr(function, "__qualname__", None) or type(function).__qualname__
    return str(name).rpartition("<locals>.")[2]


def is_found_at(value: Any, module: str | None = None) -> bool:
    """Whether this very function or class is what its module (or the given one) has under its name."""
    found: Any = sys.modules.get(module or value.__module__, _MISSING)
    for step in value.__qualname__.split("."):
        found = getattr(found, step, _MISSING)
    return found is value


def name_code(namer: Namer, code: types.CodeType, shown: str) -> bytes:
    """The name of a code object and of the constants it loads, nested code included."""
    found = _name_code(namer, code, shown)
    namer.note(f"code of `{shown}`", found)
    return found


def _name_code(namer: Namer, code: types.CodeType, shown: str) -> bytes:
    form = canonical(code)
    found = [digest_plain(form.plain)]
    for constant in form.constants:
        if isinstance(constant, types.CodeType):
            found.append(_name_code(namer, constant, shown))
        else:
            found.append(namer.name(constant, f"a constant of `{shown}`"))
    return digest("code", found)


@rule(types.CodeType)
def _name_bare_code(namer: Namer, code: types.CodeType, place: str) -> bytes:
    return name_code(namer, code, code.co_name)


def _defaults(namer: Namer, function: types.FunctionType, shown: str) -> list[bytes]:
    code = function.__code__
    values = function.__defaults__ or ()
    names = code.co_varnames[code.co_argcount - len(values) : code.co_argcount]
    pairs = [*zip(names, values, strict=True), *sorted((function.__kwdefaults__ or {}).items())]
    found = []
    for name, value in pairs:
        found += [digest_plain(name), namer.part(value, f"default of `{name}` in `{shown}`")]
    return found


def _captured(namer: Namer, function: types.FunctionType, shown: str) -> list[bytes]:
    found = []
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            value = cell.cell_contents
        except ValueError:  # not assigned yet
            found.append(digest_plain((name, "empty")))
            continue
        found += [digest_plain(name), namer.part(value, f"closure variable `{name}` of `{shown}`")]
    return found


def _state(function: types.FunctionType) -> dict[str, Any]:
    return {key: value for key, value in sorted(function.__dict__.items()) if key not in _NOT_STATE}


def _reads(namer: Namer, function: types.FunctionType, shown: str) -> list[bytes]:
    """Names of what the function and the code inside of it look up in the module, and of what they import."""
    found: list[bytes] = []
    chains: dict[tuple[str, ...], None] = {}
    imports: dict[Import, None] = {}
    for form in _all_forms(function.__code__):
        chains.update(dict.fromkeys(form.reads))
        imports.update(dict.fromkeys(form.imports))
    for chain in sorted(chains):
        found += [digest_plain(chain), _name_read(namer, function.__globals__, chain, shown)]
    for item in imports:
        found += _name_import(namer, item, function.__globals__, shown)
    return found


def _all_forms(code: types.CodeType) -> list[CanonicalCode]:
    form = canonical(code)
    nested = [constant for constant in form.constants if isinstance(constant, types.CodeType)]
    return [form, *(inner for child in nested for inner in _all_forms(child))]


def _name_read(namer: Namer, scope: dict[str, Any], chain: tuple[str, ...], shown: str) -> bytes:
    if chain[0] in scope:
        return _name_attribute(namer, scope[chain[0]], chain, shown)
    builtins = scope.get("__builtins__", {})
    known = builtins if isinstance(builtins, dict) else vars(builtins)
    if chain[0] in known:  # too common to be worth a line in an explanation
        return namer.name(known[chain[0]], f"`{chain[0]}` read by `{shown}`")
    return digest_plain("not defined")  # a local of a class body, or an error to come


def _name_attribute(namer: Namer, value: Any, chain: tuple[str, ...], shown: str) -> bytes:
    """Follow a chain as far as modules go: `np.linalg.norm` is numpy's, `helpers.LIMIT` is a value."""
    at = 1
    while isinstance(value, types.ModuleType) and at < len(chain):
        if not is_own(value.__name__):
            path = ".".join(chain[at:])
            found = library_name(value.__name__, path)
            namer.note(f"`{value.__name__}.{path}` read by `{shown}`", found)
            return found
        value = _attribute(value, chain[at])
        at += 1
        if value is _MISSING:
            return digest_plain("not defined")
    read = ".".join(chain[:at])
    kind = "function" if callable(value) else "module-level value"
    return namer.part(value, f"{kind} `{read}` read by `{shown}`")


def _attribute(module: types.ModuleType, name: str) -> Any:
    try:
        return getattr(module, name)
    except AttributeError:
        try:
            return importlib.import_module(f"{module.__name__}.{name}")
        except ImportError:
            return _MISSING


def _name_import(namer: Namer, item: Import, scope: dict[str, Any], shown: str) -> list[bytes]:
    """Names of what an import inside of the body brings. The user's own modules are imported to see it."""
    module_name = item.module
    if item.level:
        package = scope.get("__package__") or ""
        module_name = importlib.util.resolve_name("." * item.level + item.module, package) if package else ""
    names = item.names or ("",)
    label = digest_plain(("import", item.module, item.names, item.level))
    root = module_name.partition(".")[0]
    if not module_name or not _is_own_unimported(root):
        return [label, *(library_name(module_name, name) for name in names)]
    try:
        module = importlib.import_module(module_name)
    except ImportError:
        return [label, digest_plain("not there")]
    found = [label]
    for name in names:
        value = module if name in ("", "*") else _attribute(module, name)
        read = f"{module_name}.{name}".rstrip(".")
        found.append(
            digest_plain("not defined")
            if value is _MISSING
            else namer.part(value, f"`{read}` imported by `{shown}`")
        )
    return found


def _is_own_unimported(root: str) -> bool:
    """`is_own`, for a module that perhaps nobody imported yet: it is the user's or not either way."""
    if root in sys.modules:
        return is_own(root)
    try:
        spec = importlib.util.find_spec(root)
    except (ImportError, ValueError):
        return False
    if spec is None:
        return True  # not there: the import is tried, fails and is named so
    stand_in = types.ModuleType(root)
    stand_in.__file__ = spec.origin
    stand_in.__path__ = list(spec.submodule_search_locations or ())
    return is_own(root, stand_in)


@rule(types.MethodType)
def _name_method(namer: Namer, method: Any, place: str) -> bytes:
    owner = method.__self__
    return digest(
        "method", [namer.name(method.__func__, place), namer.name(owner, f"the object of method {place}")]
    )


@rule(functools.partial)
def _name_partial(namer: Namer, partial: functools.partial[Any], place: str) -> bytes:
    shown = shown_name(partial.func)
    found = [namer.part(partial.func, f"function `{shown}` of a partial")]
    for at, value in enumerate(partial.args):
        found.append(namer.part(value, f"argument {at} of partial `{shown}`"))
    for key, value in sorted(partial.keywords.items()):
        found += [digest_plain(key), namer.part(value, f"argument `{key}` of partial `{shown}`")]
    return digest("partial", [digest_plain(len(partial.args)), *found])


@rule(type(functools.lru_cache(lambda: None)))
def _name_cached(namer: Namer, function: Any, place: str) -> bytes:
    return digest("lru_cache", [namer.name(function.__wrapped__, place)])


@rule(staticmethod, classmethod)
def _name_wrapped(namer: Namer, wrapped: Any, place: str) -> bytes:
    return digest(type(wrapped).__name__, [namer.name(wrapped.__func__, place)])


@rule(property)
def _name_property(namer: Namer, value: property, place: str) -> bytes:
    return digest("property", namer.all((value.fget, value.fset, value.fdel), place))


@rule(functools.cached_property)
def _name_cached_property(namer: Namer, value: Any, place: str) -> bytes:
    return digest("cached_property", [namer.name(value.func, place)])


@rule(types.BuiltinFunctionType)
def _name_builtin(namer: Namer, function: Any, place: str) -> bytes:
    owner = function.__self__
    if owner is None or isinstance(owner, types.ModuleType):
        return library_name(function.__module__ or "builtins", function.__qualname__)
    return digest("builtin method", [digest_plain(function.__name__), namer.name(owner, place)])


@rule(types.MethodWrapperType)
def _name_method_wrapper(namer: Namer, wrapper: Any, place: str) -> bytes:
    return digest("method wrapper", [digest_plain(wrapper.__name__), namer.name(wrapper.__self__, place)])


@rule(
    types.WrapperDescriptorType,
    types.MethodDescriptorType,
    types.ClassMethodDescriptorType,
    types.GetSetDescriptorType,
    types.MemberDescriptorType,
)
def _name_descriptor(namer: Namer, descriptor: Any, place: str) -> bytes:
    owner = descriptor.__objclass__
    return digest_plain(("descriptor", owner.__module__, owner.__qualname__, descriptor.__name__))
