"""Every exception of arrowprep; each also is the built-in that a caller would expect.

    ArrowprepError
    ├── DataError                   what a dataset holds, or was asked for
    │   ├── ColumnNotFound          KeyError, ValueError
    │   ├── RowOutOfRange           IndexError
    │   ├── BadSelection            TypeError: not something that selects rows
    │   ├── BadArgument             ValueError: an option's value makes no sense
    │   │   └── WrongType           TypeError: it is not of a type that the option takes
    │   ├── LengthMismatch          ValueError: columns of unequal length
    │   └── TypeConflict            TypeError, ValueError: values of one column do not fit one type
    ├── FileError                   a file that cannot be used; says which, and where in it
    │   ├── MissingFile             FileNotFoundError
    │   ├── UnreadableFile          ValueError: not what its name says, truncated or broken
    │   └── UnknownFileType         ValueError
    ├── MapError                    RuntimeError: a user's function failed, with its rows, column and cause
    │   ├── BadResult               TypeError: it returned what is no row or batch
    │   └── WorkerDied              a worker process was killed, with its signal
    ├── CannotTravel                TypeError: something cannot be sent to a worker process
    ├── CacheError                  OSError: the cache folder cannot be written
    │   └── DiskFull                what is to be written does not fit, with the bytes needed and free
    ├── Unnameable                  TypeError, PicklingError: something whose content cannot be hashed
    ├── TokenizerError              ValueError
    │   ├── BadTokenizerFile        not a tokenizer.json, or one that contradicts itself
    │   ├── NotText                 TypeError: something else where a text belongs
    │   └── UnsupportedComponent    a part of a tokenizer.json that is not implemented; never ignored
    └── ChatError                   ValueError
        ├── TemplateError           the template failed or refused, with its line; `.kind` groups the causes
        │   └── TemplateForbidden   the sandbox said no
        ├── ToolSchemaError         no JSON schema can be made of a function; `.kind` says what is at fault
        └── MaskUnavailable         a mask was asked for that the template cannot give
    ArrowprepWarning                UserWarning: something works, but not as the caller may think

Errors carry their facts as attributes and survive pickling, so that one raised
in a worker process arrives whole.
"""

from __future__ import annotations

import os
import sys
import warnings
from pickle import PicklingError
from typing import Any

__all__ = [
    "ArrowprepError",
    "ArrowprepWarning",
    "BadArgument",
    "BadResult",
    "BadSelection",
    "BadTokenizerFile",
    "CacheError",
    "CannotTravel",
    "ChatError",
    "ColumnNotFound",
    "DataError",
    "DiskFull",
    "FileError",
    "LengthMismatch",
    "MapError",
    "MaskUnavailable",
    "MissingFile",
    "NotText",
    "RowOutOfRange",
    "TemplateError",
    "TemplateForbidden",
    "TokenizerError",
    "ToolSchemaError",
    "TypeConflict",
    "UnknownFileType",
    "Unnameable",
    "UnreadableFile",
    "UnsupportedComponent",
    "WorkerDied",
    "WrongType",
    "tell",
    "warn",
]


class ArrowprepWarning(UserWarning):
    """Something works, but perhaps not as the caller thinks."""


def warn(message: str) -> None:
    """Show an ArrowprepWarning as of the line outside of this package that led here, unless they are off."""
    logging = _logging()
    if logging is not None and logging.get_verbosity() > logging.WARNING:
        return
    level, frame = 1, sys._getframe()
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] == "arrowprep":
        level, frame = level + 1, frame.f_back
    warnings.warn(message, ArrowprepWarning, stacklevel=level)


def tell(message: str, *values: object) -> None:
    """Say what was found, or is waited for, to whoever asked to be told: `message % values`."""
    logging = _logging()
    if logging is not None:
        logging.get_logger().info(message, *values)


def _logging() -> Any:
    """arrowprep.logging, where more or less may have been asked for than is told anyway; else None.

    Python's own logging is not loaded for it, which takes as long as finding three results.
    """
    if "logging" in sys.modules or "ARROWPREP_VERBOSITY" in os.environ:
        import arrowprep.logging

        return arrowprep.logging
    return None


class ArrowprepError(Exception):
    """Base of all: built from one sentence and the facts behind it, as keywords.

    >>> e = BadArgument("batch_size must be at least 1", batch_size=0)
    >>> str(e), e.batch_size
    ('batch_size must be at least 1', 0)
    """

    def __init__(self, message: str = "", **facts: Any) -> None:
        super().__init__(message)
        self.message = message
        self.facts = facts

    def __getattr__(self, name: str) -> Any:
        # only reached for names that are no ordinary attribute; facts is absent while unpickling
        facts: dict[str, Any] = self.__dict__.get("facts", {})
        if name in facts:
            return facts[name]
        raise AttributeError(
            f"{type(self).__name__} has no fact {name!r}; it has {', '.join(facts) or 'none'}"
        )

    def __str__(self) -> str:
        return self.message  # KeyError would show the repr

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self.message, self.facts)


def _rebuild(cls: type[ArrowprepError], message: str, facts: dict[str, Any]) -> ArrowprepError:
    error = cls.__new__(cls)
    ArrowprepError.__init__(error, message, **facts)
    return error


class DataError(ArrowprepError):
    """What a dataset holds, or was asked for."""


class ColumnNotFound(DataError, KeyError, ValueError):
    """Facts: column, columns."""

    def __init__(self, column: object, columns: list[str]) -> None:
        known = ", ".join(map(repr, columns)) or "none: the dataset has no columns"
        super().__init__(f"no column {column!r}; the columns are {known}", column=column, columns=columns)


class RowOutOfRange(DataError, IndexError):
    """Facts: row, num_rows."""

    def __init__(self, row: int, num_rows: int) -> None:
        rows = f"0..{num_rows - 1}" if num_rows else "none: the dataset is empty"
        super().__init__(f"row {row} is out of range; the rows are {rows}", row=row, num_rows=num_rows)


class BadSelection(DataError, TypeError):
    """What was given cannot select rows."""


class BadArgument(DataError, ValueError):
    """An option's value makes no sense."""


class WrongType(BadArgument, TypeError):
    """An option's value is not of a type that it takes."""


class LengthMismatch(DataError, ValueError):
    """Columns that should have one length have several."""


class TypeConflict(DataError, TypeError, ValueError):
    """Values of one column do not fit one type."""


class FileError(ArrowprepError):
    """A file that cannot be used. Facts: path, and line, row or column where known."""


class MissingFile(FileError, FileNotFoundError):
    """Nothing is there."""


class UnreadableFile(FileError, ValueError):
    """Not what its name says, truncated, or broken in a place that the message names."""


class UnknownFileType(FileError, ValueError):
    """No loader for this suffix."""


class MapError(ArrowprepError, RuntimeError):
    """A user's function failed. Facts: function, start, stop (rows), column, cause, traceback."""


class BadResult(MapError, TypeError):
    """A user's function returned what cannot be rows. Facts: as MapError."""


class WorkerDied(MapError):
    """A worker process ended without a result. Facts: as MapError, and exitcode, signal, rank, task."""


class CannotTravel(ArrowprepError, TypeError):
    """Something that a worker process needs cannot be sent to it. Facts: path, object_type, remedy."""


class CacheError(ArrowprepError, OSError):
    """The cache cannot be written or is not what it should be. Facts: path."""


class DiskFull(CacheError):
    """What is to be written does not fit. Facts: path, needed and free (bytes; None where unknown)."""


class Unnameable(ArrowprepError, TypeError, PicklingError):
    """Something in reach of a fingerprint has no name by content. Facts: path, object_type, remedy."""


class TokenizerError(ArrowprepError, ValueError):
    """Base of what goes wrong with tokenizers."""


class BadTokenizerFile(TokenizerError):
    """Not a tokenizer file, or one that contradicts itself. Facts: path, place."""


class NotText(TokenizerError, TypeError):
    """Something else stands where a text belongs. Facts: row where it is in a batch, given."""


class UnsupportedComponent(TokenizerError):
    """A part of a tokenizer.json that is not implemented. Facts: component, place."""


class ChatError(ArrowprepError, ValueError):
    """Base of what goes wrong with chats."""


class TemplateError(ChatError):
    """A template failed or refused. Facts: kind, and line where it is known."""

    @property
    def kind(self) -> str:
        """What group of causes this one belongs to, such as "undefined" or "raise_exception"."""
        return str(self.facts.get("kind", "template"))

    @property
    def line(self) -> int | None:
        """The line of the template, from 1."""
        line: int | None = self.facts.get("line")
        return line


class TemplateForbidden(TemplateError):
    """The sandbox refused what the template tried."""


class ToolSchemaError(ChatError):
    """No JSON schema can be made of a function. Facts: kind (docstring, type_hint, choices), function."""


class MaskUnavailable(ChatError):
    """An assistant mask was asked for and the template cannot give it."""
