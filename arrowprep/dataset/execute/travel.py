"""How functions and errors go from one process to another.

A function of an importable module travels as its name. What a fresh process could not import, or
should not, travels by value with all that it reads: `__main__`, notebooks, lambdas and closures,
modules that are still being imported, whose import would start the same work again, and modules whose
file is newer than this process, which a worker would find edited while the name says what is here.
"""

from __future__ import annotations

import importlib
import io
import pickle
import sys
import traceback
import weakref
from collections.abc import Iterator
from types import FunctionType, ModuleType
from typing import Any

import dill

from arrowprep.dataset.fingerprint.modules import is_own, was_edited
from arrowprep.errors import CannotTravel, MapError


def pack(value: Any) -> bytes:
    """Bytes from which `unpack` makes an equal value in a process that never saw it. Raises CannotTravel."""
    try:
        return _dump(value)
    except Exception as error:  # whatever an object raises when it does not want to be pickled
        place, culprit = _culprit(value)
        kind = f"{type(culprit).__module__}.{type(culprit).__qualname__}".removeprefix("builtins.")
        remedy = "create it inside of the function, or run in this process with num_proc=None"
        raise CannotTravel(
            f"{place or 'the work'} is a {kind}, which cannot be sent to a worker process: {error}; {remedy}",
            path=place,
            object_type=kind,
            remedy=remedy,
        ) from error


def unpack(data: bytes) -> Any:
    """The value that `pack` wrote."""
    return dill.loads(data)


def _dump(value: Any) -> bytes:
    file = io.BytesIO()
    _Pickler(file, protocol=pickle.HIGHEST_PROTOCOL, byref=False, recurse=True).dump(value)
    return file.getvalue()


# classes that were sent as if they were of __main__, where errors that come back say to be from
_by_value: weakref.WeakValueDictionary[str, type] = weakref.WeakValueDictionary()


class _Pickler(dill.Pickler):  # type: ignore[misc]
    """dill, which also takes by value what lives in modules that a worker may not import."""

    __module__ = dill.Pickler.__module__  # by this dill knows its own pickler

    def save(self, obj: Any, save_persistent_id: bool = True) -> None:
        if isinstance(obj, ModuleType) and id(obj) not in self.memo and _travels_by_name(obj.__name__):
            # dill would send all that is in a module of the user's
            self.save_reduce(importlib.import_module, (obj.__name__,), obj=obj)
            return
        home = getattr(obj, "__module__", None) if isinstance(obj, (FunctionType, type)) else None
        if not isinstance(home, str) or home == "__main__" or _travels_by_name(home):
            super().save(obj, save_persistent_id)
            return
        if isinstance(obj, type):
            _by_value[obj.__qualname__] = obj
        obj.__module__ = "__main__"  # what says so is taken by value
        try:
            super().save(obj, save_persistent_id)
        finally:
            obj.__module__ = home


def _travels_by_name(name: str) -> bool:
    """Whether a fresh process finds this very module, and importing it there is safe."""
    if name == "__main__":
        return False
    if not is_own(name) or name not in sys.modules:
        return True
    steps = name.split(".")
    parents = [sys.modules.get(".".join(steps[: at + 1])) for at in range(len(steps))]
    return (
        not any(map(_is_being_imported, parents))
        and _is_found(parents[0])
        and not was_edited(sys.modules[name])
    )


def _is_being_imported(module: ModuleType | None) -> bool:
    return bool(getattr(getattr(module, "__spec__", None), "_initializing", False))


def _is_found(module: ModuleType | None) -> bool:
    """Whether the import system finds the same file; a module made by hand may have none."""
    spec = getattr(module, "__spec__", None)
    if module is None or spec is None:
        return False
    for finder in sys.meta_path:
        find = getattr(finder, "find_spec", None)
        if find and (found := find(module.__name__, None)):
            return bool(found.origin == spec.origin)
    return False


def _culprit(value: Any, place: str = "", depth: int = 0) -> tuple[str, Any]:
    """The innermost thing that does not travel, and how it is reached."""
    if depth < 10:
        for name, child in _reached(value):
            try:
                _dump(child)
            except Exception:
                return _culprit(child, f"{name} of {place}" if place else name, depth + 1)
    return place, value


def _reached(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, FunctionType):
        shown = value.__qualname__.rpartition("<locals>.")[2]
        for name, cell in zip(value.__code__.co_freevars, value.__closure__ or (), strict=True):
            yield f"closure variable `{name}` of `{shown}`", cell.cell_contents
        for name in value.__code__.co_names:
            if name in value.__globals__:
                yield f"module-level value `{name}` read by `{shown}`", value.__globals__[name]
    elif isinstance(value, dict):
        yield from ((f"item {key!r}", item) for key, item in value.items())
    elif isinstance(value, (list, tuple)):
        yield from ((f"item {at}", item) for at, item in enumerate(value))
    elif not isinstance(value, (type, ModuleType)):
        for name, item in getattr(value, "__dict__", {}).items():
            yield f"attribute `{name}`", item
        if hasattr(value, "func"):  # a partial
            yield "the function", value.func


class WorkerTraceback(Exception):
    """The text of a traceback from another process, as the cause of the error that came from there."""

    def __str__(self) -> str:
        return f'\n"""\n{self.args[0]}"""'


def pack_error(error: BaseException) -> bytes:
    """An error, its causes and the text of its traceback."""
    text = "".join(traceback.format_exception(error))
    chain: list[bytes] = []
    link: BaseException | None = error
    while link is not None and len(chain) < 20:
        chain.append(_pack_link(link))
        link = link.__cause__
    return pickle.dumps((text, chain))


def _pack_link(error: BaseException) -> bytes:
    _lend_to_main(type(error))
    try:
        data = pickle.dumps(error)
        if type(pickle.loads(data)) is type(error):
            return data
    except Exception:
        pass  # it does not travel: what it says does
    kind = type(error).__qualname__
    return pickle.dumps(MapError(f"{kind}: {error}", cause=kind))


def _lend_to_main(kind: type) -> None:
    """Put a class of the user's `__main__`, which came by value, where pickle looks for it by name."""
    main = sys.modules["__main__"]
    for base in kind.__mro__:
        if base.__module__ == "__main__" and "." not in base.__qualname__:
            setattr(main, base.__qualname__, base)


class _ErrorUnpickler(pickle.Unpickler):
    def find_class(self, module_name: str, name: str) -> Any:
        if module_name == "__main__" and not hasattr(sys.modules["__main__"], name) and name in _by_value:
            return _by_value[name]
        return super().find_class(module_name, name)


def unpack_error(data: bytes) -> BaseException:
    """The error that `pack_error` wrote; the last cause is a WorkerTraceback."""
    text, chain = pickle.loads(data)
    errors = []
    for link in chain:
        try:
            errors.append(_ErrorUnpickler(io.BytesIO(link)).load())
        except Exception as error:
            errors.append(MapError(f"an error that cannot be read here: {error}"))
    for outer, cause in zip(errors, [*errors[1:], WorkerTraceback(text)], strict=True):
        outer.__cause__ = cause
    first = errors[0]
    assert isinstance(first, BaseException)
    return first
