"""A function becomes a tool's schema by its hints and its docstring, or says what it lacks."""

from __future__ import annotations

import sys
from enum import Enum
from typing import Any, Literal, Optional, Union

import pytest

from arrowprep.chat.docstrings import read_docstring
from arrowprep.chat.tools import function_schema, tool_schemas
from arrowprep.errors import ChatError, ToolSchemaError


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


def weather(city: str, days: int = 1, unit: Literal["C", "F"] = "C") -> list[str]:
    """Forecast the weather.

    Args:
        city: Where,
            by name
        days (int, optional): How many: at most 7
        unit: The unit

    Returns:
        One line a day
    """
    raise NotImplementedError


def test_texts_come_from_the_docstring_and_types_from_the_hints() -> None:
    assert function_schema(weather) == {
        "type": "function",
        "function": {
            "name": "weather",
            "description": "Forecast the weather.",
            "parameters": {
                "type": "object",
                "properties": {
                    "city": {"type": "string", "description": "Where, by name"},
                    "days": {"type": "integer", "description": "How many: at most 7"},
                    "unit": {"type": "string", "enum": ["C", "F"], "description": "The unit"},
                },
                "required": ["city"],
            },
            "return": {"type": "array", "items": {"type": "string"}, "description": "One line a day"},
        },
    }


@pytest.mark.parametrize(
    ("hint", "schema"),
    [
        (dict[str, float], {"type": "object", "additionalProperties": {"type": "number"}}),
        (tuple[int, str], {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}]}),
        (Optional[int], {"type": "integer", "nullable": True}),  # noqa: UP045
        ("str | int | None", {"type": ["integer", "string"], "nullable": True}),
        (
            Union[list[int], str],  # noqa: UP007
            {"anyOf": [{"type": "array", "items": {"type": "integer"}}, {"type": "string"}]},
        ),
        (Colour, {"type": "string", "enum": ["red", "blue"]}),
        (Any, {}),
        (None, {"type": "null"}),
        pytest.param(
            list["int"],
            {"type": "array", "items": {"type": "integer"}},
            marks=pytest.mark.skipif(
                sys.version_info < (3, 11),
                reason="typing of Python 3.10 does not read names inside list[...]",
            ),
        ),
    ],
)
def test_a_hint_is_said_in_json_schema(hint: Any, schema: dict[str, Any]) -> None:
    def f(a: int) -> None:
        """Do.

        Args:
            a: A
        """

    f.__annotations__["a"] = hint
    assert function_schema(f)["function"]["parameters"]["properties"]["a"] == {**schema, "description": "A"}


class Custom: ...


@pytest.mark.parametrize("hint", [set[int], tuple[int], tuple[int, ...], Custom, "Missing", Literal[b"x"]])
def test_a_hint_json_cannot_say_is_refused(hint: Any) -> None:
    def f(a: int) -> None:
        """Do.

        Args:
            a: A
        """

    f.__annotations__["a"] = hint
    with pytest.raises(ToolSchemaError) as caught:
        function_schema(f)
    assert caught.value.kind == "type_hint"


def numpy_style(a: int, b: str = "x") -> int:
    """Do it.

    At length.

    Parameters
    ----------
    a : int
        The first,
        over lines
    b : str, optional
        The second

    Returns
    -------
    int
        The result
    """
    raise NotImplementedError


def sphinx_style(a: int, b: str = "x") -> int:
    """Do it.

    At length.

    :param a: The first,
        over lines
    :type a: int
    :param str b: The second
    :returns: The result
    :raises ValueError: never
    """
    raise NotImplementedError


@pytest.mark.parametrize("function", [numpy_style, sphinx_style])
def test_other_docstring_styles_are_read(function: Any) -> None:
    schema = function_schema(function)["function"]
    assert schema["description"] == "Do it.\n\nAt length."
    assert [p["description"] for p in schema["parameters"]["properties"].values()] == [
        "The first, over lines",
        "The second",
    ]
    assert schema["return"] == {"type": "integer", "description": "The result"}


def test_a_section_name_within_a_sentence_is_no_section() -> None:
    assert read_docstring("See Args: below.\n\nArgs:\n    a: A").description == "See Args: below."


def variadic(*args: int) -> None:
    """Do.

    Args:
        args: rest
    """


def keywords(**kwargs: int) -> None:
    """Do.

    Args:
        kwargs: rest
    """


@pytest.mark.parametrize("function", [variadic, keywords])
def test_star_parameters_are_refused(function: Any) -> None:
    with pytest.raises(ToolSchemaError, match="takes \\*"):
        function_schema(function)


def test_choices_are_json() -> None:
    def f(drink: str) -> None:
        """Pour.

        Args:
            drink: Which (choices: ["tea", " coffee "])
        """

    assert function_schema(f)["function"]["parameters"]["properties"]["drink"] == {
        "type": "string",
        "enum": ["tea", "coffee"],
        "description": "Which",
    }
    f.__doc__ = "Pour.\n\nArgs:\n    drink: Which (choices: ['tea'])"
    with pytest.raises(ToolSchemaError, match="must be a JSON list"):
        function_schema(f)


def test_tools_are_schemas_functions_or_json_text() -> None:
    schema = {"type": "function", "function": {"name": "f"}}
    assert tool_schemas([schema, weather]) == [schema, function_schema(weather)]
    assert tool_schemas('[{"name": "f"}]') == [{"name": "f"}]
    assert tool_schemas(None) is None
    with pytest.raises(ChatError, match="a tool is a JSON schema or a function"):
        tool_schemas(["weather"])


def test_a_method_is_a_tool_without_its_self() -> None:
    class Box:
        def put(self, item: str) -> None:
            """Put it in.

            Args:
                item: What
            """

    assert list(function_schema(Box().put)["function"]["parameters"]["properties"]) == ["item"]
    assert list(function_schema(Box.put)["function"]["parameters"]["properties"]) == ["item"]
