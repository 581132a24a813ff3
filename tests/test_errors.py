"""Errors carry facts, are the built-in that a caller expects, and arrive whole from another process."""

import copy
import pickle

import pytest

from arrowprep import errors


def every_error():
    named = [getattr(errors, name) for name in errors.__all__]
    return [kind for kind in named if isinstance(kind, type) and issubclass(kind, errors.ArrowprepError)]


def made(kind):
    if kind is errors.ColumnNotFound:
        return kind("a", ["b"])
    if kind is errors.RowOutOfRange:
        return kind(3, 2)
    return kind("what happened", path="p", row=3)


@pytest.mark.parametrize("kind", every_error(), ids=lambda kind: kind.__name__)
def test_an_error_survives_pickling_and_copying(kind):
    error = made(kind)
    for again in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(again) is kind
        assert str(again) == str(error)
        assert again.facts == error.facts


def test_facts_are_attributes():
    assert errors.ColumnNotFound("a", ["b", "c"]).columns == ["b", "c"]
    with pytest.raises(AttributeError, match="no fact 'line'; it has path"):
        errors.UnreadableFile("x", path="p").line  # noqa: B018


@pytest.mark.parametrize(
    ("kind", "builtin"),
    [
        (errors.ColumnNotFound, KeyError),
        (errors.RowOutOfRange, IndexError),
        (errors.MissingFile, FileNotFoundError),
        (errors.UnreadableFile, ValueError),
        (errors.MapError, RuntimeError),
        (errors.BadResult, TypeError),
        (errors.CacheError, OSError),
        (errors.BadTokenizerFile, ValueError),
        (errors.MaskUnavailable, ValueError),
    ],
)
def test_an_error_is_the_builtin_that_a_caller_expects(kind, builtin):
    assert issubclass(kind, builtin)


def test_a_key_error_says_its_sentence_without_quotes():
    assert str(errors.ColumnNotFound("a", ["b"])) == "no column 'a'; the columns are 'b'"


def test_every_error_is_in_the_tree():
    tree = errors.__doc__
    assert [kind.__name__ for kind in every_error() if kind.__name__ not in tree] == []
