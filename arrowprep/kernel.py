"""The kernel's shared library: found, checked, and called through ctypes.

rust/include/arrowprep.h describes every function. Who calls one declares it. A call releases the
interpreter lock.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Mapping
from ctypes import Structure, byref, c_char, c_int64, c_size_t, c_uint32, c_void_p
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

ABI = 24
NAME = {"darwin": "libarrowprep_kernel.dylib", "win32": "arrowprep_kernel.dll"}.get(
    sys.platform, "libarrowprep_kernel.so"
)


class Failure(Structure):
    _fields_ = [("row", c_int64), ("message", c_char * 240)]


class Strings(Structure):
    _fields_ = [("data", c_void_p), ("size", c_size_t), ("offsets", c_void_p), ("count", c_size_t)]


@dataclass(eq=False)  # not frozen: who passes an exception on sets its traceback
class KernelFailure(Exception):
    """What a call said went wrong. row: of the text at fault, or -1"""

    message: str
    row: int

    def __str__(self) -> str:
        return self.message


@cache
def load() -> ctypes.CDLL | str:
    """The library, or why there is none to use."""
    path = Path(__file__).with_name(NAME)
    if not path.is_file():
        return "the native kernel is not built"
    try:
        library = ctypes.CDLL(str(path))
        library.arrowprep_abi.restype = c_uint32
        version = library.arrowprep_abi()
    except (OSError, AttributeError) as error:
        return f"the native kernel cannot be loaded: {error}"
    if version != ABI:
        return f"the native kernel is of another version ({version}, not {ABI}): build it again"
    return library


def declare(library: ctypes.CDLL, signatures: Mapping[str, tuple[Any, list[Any]]]) -> None:
    """Say what functions return and take, by name."""
    for name, (result, arguments) in signatures.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments


class Handle:
    """An object of the library, freed with this one."""

    __slots__ = ("_free", "pointer")

    def __init__(self, pointer: int, free: Any) -> None:
        self.pointer = pointer
        self._free = free

    def __del__(self) -> None:
        self._free(self.pointer)


def failed(failure: Failure) -> KernelFailure:
    return KernelFailure(failure.message.decode("utf-8", "replace"), failure.row)


def call(library: ctypes.CDLL, name: str, free: str, *arguments: Any) -> Handle:
    """What a function returns. Raises KernelFailure with what it says when it fails."""
    failure = Failure()
    pointer = getattr(library, name)(*arguments, byref(failure))
    if not pointer:
        raise failed(failure)
    return Handle(pointer, getattr(library, free))
