"""Tools as templates print them: JSON schemas, written by the caller or made of a function."""

from __future__ import annotations

import inspect
import json
import re
import types
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from arrowprep.chat.docstrings import read_docstring
from arrowprep.errors import ChatError, ToolSchemaError

__all__ = ["function_schema", "tool_schemas"]

Schema = dict[str, Any]

_BARE: dict[Any, Schema] = {
    int: {"type": "integer"},
    float: {"type": "number"},
    str: {"type": "string"},
    bool: {"type": "boolean"},
    type(None): {"type": "null"},
    list: {"type": "array"},
    tuple: {"type": "array"},
    dict: {"type": "object"},
    Any: {},
}
_SCALARS = {int: "integer", float: "number", str: "string", bool: "boolean", type(None): "null"}
_CHOICES = re.compile(r"\(choices:\s*(.*?)\)\s*$", re.IGNORECASE)


def tool_schemas(tools: Any) -> list[Any] | None:
    """The schemas of tools: dicts as they are, functions and methods by `function_schema`.

    tools: a list, its JSON text, or None. Raises ChatError for anything else in it.
    """
    if isinstance(tools, str):
        try:
            tools = json.loads(tools)
        except ValueError as error:
            raise ChatError(f"tools given as text must be JSON: {error}") from error
    return None if tools is None else [_schema(tool) for tool in tools]


def _schema(tool: Any) -> Any:
    if isinstance(tool, Mapping):
        return tool
    if inspect.isfunction(tool) or inspect.ismethod(tool):
        return function_schema(tool)
    raise ChatError(f"a tool is a JSON schema or a function with type hints and a docstring, not {tool!r}")


def function_schema(function: Callable[..., Any]) -> Schema:
    """The JSON schema of a function: its docstring's texts, its type hints' types.

    Every parameter needs a type hint and a description (Google, NumPy or Sphinx
    style); those without a default are required. `(choices: ["a", "b"])` at the
    end of a description becomes its enum. Raises ToolSchemaError, whose `kind`
    is "docstring", "type_hint" or "choices".
    """
    name = getattr(function, "__name__", "operation")
    doc = inspect.getdoc(function)
    if not doc:
        raise ToolSchemaError(f"{name} has no docstring to describe it by", kind="docstring", function=name)
    docs = read_docstring(doc)
    signature = _signature(function, name)
    properties, required = {}, []
    for parameter in _parameters(signature, name):
        properties[parameter.name] = _property(parameter, docs.parameters, name)
        if parameter.default is inspect.Parameter.empty:
            required.append(parameter.name)
    if properties and not docs.description:
        raise ToolSchemaError(
            f"{name}'s docstring does not say what it does", kind="docstring", function=name
        )
    parameters: Schema = {"type": "object", "properties": properties}
    if required:
        parameters["required"] = required
    schema: Schema = {"name": name, "description": docs.description, "parameters": parameters}
    returned = _return_schema(signature, docs.returns)
    if returned is not None:
        schema["return"] = returned
    return {"type": "function", "function": schema}


def _signature(function: Callable[..., Any], name: str) -> inspect.Signature:
    """The signature of function with its hints as types, also those written as text."""
    plain = inspect.unwrap(getattr(function, "__func__", function))
    # Through a stand-in, for of a function with defaults Python 3.10 would make `x: int = None` an Optional.
    stand_in = types.SimpleNamespace(__annotations__=plain.__annotations__, __globals__=plain.__globals__)
    try:
        hints = get_type_hints(stand_in, include_extras=False)
    except Exception as error:
        raise ToolSchemaError(
            f"the type hints of {name} cannot be read: {error}", kind="type_hint", function=name
        ) from error
    signature = inspect.signature(function)
    parameters = [
        parameter.replace(annotation=hints.get(parameter.name, parameter.annotation))
        for parameter in signature.parameters.values()
    ]
    returned = hints.get("return", signature.return_annotation)
    return signature.replace(parameters=parameters, return_annotation=returned)


def _parameters(signature: inspect.Signature, name: str) -> list[inspect.Parameter]:
    """The parameters a model gives: not self or cls, and no *args or **kwargs, which no schema can state."""
    parameters = list(signature.parameters.values())
    if parameters and parameters[0].name in ("self", "cls") and parameters[0].annotation is signature.empty:
        parameters = parameters[1:]
    for parameter in parameters:
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise ToolSchemaError(
                f"{name} takes {parameter}: a model must be told each parameter by name",
                kind="type_hint",
                function=name,
            )
        if parameter.annotation is signature.empty:
            raise ToolSchemaError(
                f"parameter {parameter.name} of {name} has no type hint", kind="type_hint", function=name
            )
    return parameters


def _property(parameter: inspect.Parameter, descriptions: dict[str, str], name: str) -> Schema:
    schema = dict(_of_hint(parameter.annotation))
    if parameter.name not in descriptions:
        raise ToolSchemaError(
            f"{name}'s docstring does not describe the parameter {parameter.name}",
            kind="docstring",
            function=name,
        )
    description = descriptions[parameter.name]
    if choices := _CHOICES.search(description):
        schema["enum"] = _choices(choices[1], parameter.name, name)
        description = description[: choices.start()].strip()
    schema["description"] = description
    return schema


def _choices(text: str, parameter: str, name: str) -> list[Any]:
    try:
        return [choice.strip() if isinstance(choice, str) else choice for choice in json.loads(text)]
    except (ValueError, TypeError) as error:
        raise ToolSchemaError(
            f'the choices of {parameter} in {name} must be a JSON list such as ["a", "b"]: {text}',
            kind="choices",
            function=name,
        ) from error


def _return_schema(signature: inspect.Signature, description: str | None) -> Schema | None:
    if signature.return_annotation is signature.empty:
        return None
    try:
        schema = dict(_of_hint(signature.return_annotation))
    except ToolSchemaError:
        return None  # a model never writes the result; better unsaid than wrong
    return schema if description is None else {**schema, "description": description}


def _of_hint(hint: Any) -> Schema:
    """The schema of a type hint. Raises ToolSchemaError for what JSON cannot say."""
    origin, args = get_origin(hint), get_args(hint)
    if origin is None:
        return _of_bare(hint)
    if origin is Literal:
        return _enum(list(args), str(hint))
    if origin in (Union, types.UnionType):
        return _of_union(args)
    if origin is list:
        return {"type": "array", "items": _of_hint(args[0])}
    if origin is dict and len(args) == 2:
        return {"type": "object", "additionalProperties": _of_hint(args[1])}
    if origin is tuple and len(args) > 1 and ... not in args:
        return {"type": "array", "prefixItems": [_of_hint(item) for item in args]}
    raise _no_schema(hint)


def _of_bare(hint: Any) -> Schema:
    if isinstance(hint, type) and issubclass(hint, Enum):
        return _enum([member.value for member in hint], hint.__name__)
    try:
        return _BARE[hint]
    except (KeyError, TypeError):
        raise _no_schema(hint) from None


def _enum(values: list[Any], what: str) -> Schema:
    if not values or any(type(value) not in _SCALARS for value in values):
        raise ToolSchemaError(
            f"the values of {what} cannot all be written in JSON: {values}", kind="type_hint"
        )
    kinds = list(dict.fromkeys(_SCALARS[type(value)] for value in values))
    return {"type": kinds[0] if len(kinds) == 1 else kinds, "enum": values}


def _of_union(members: tuple[Any, ...]) -> Schema:
    """One type, a sorted list of plain types, or anyOf; None among them becomes nullable."""
    schemas = [_of_hint(member) for member in members if member is not type(None)]
    if len(schemas) == 1:
        union = dict(schemas[0])
    elif all(schema.keys() == {"type"} and isinstance(schema["type"], str) for schema in schemas):
        names = sorted({schema["type"] for schema in schemas})
        union = {"type": names[0] if len(names) == 1 else names}
    else:
        union = {"anyOf": schemas}
    if type(None) in members:
        union["nullable"] = True
    return union


def _no_schema(hint: Any) -> ToolSchemaError:
    return ToolSchemaError(
        f"{hint!r} has no JSON schema; use int, float, str, bool, an Enum, Literal, list, dict, a tuple of "
        "known length or unions of them, or give the tool's schema instead of the function",
        kind="type_hint",
    )
