"""What a tokenizer's settings may be, and what its pipeline says of them; BadArgument for what is neither."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from arrowprep.errors import BadArgument, WrongType, warn
from arrowprep.tokenize.pre_tokenizers import ByteLevel, Metaspace, PreTokenizer
from arrowprep.tokenize.tokenizer import Tokenizer

NO_LIMIT = int(1e30)  # model_max_length of a tokenizer that says none


def settings_of(pipeline: Tokenizer) -> dict[str, Any]:
    """What a tokenizer.json's own padding and truncation say about the settings of calls."""
    settings: dict[str, Any] = {}
    if truncation := pipeline.truncation:
        settings |= {
            "max_length": truncation["max_length"],
            "truncation_side": truncation["direction"],
            "stride": truncation["stride"],
            "truncation_strategy": truncation["strategy"],
        }
    if padding := pipeline.padding:
        settings.setdefault("max_length", padding["length"])
        settings |= {
            "pad_token": padding["pad_token"],
            "pad_token_type_id": padding["pad_type_id"],
            "padding_side": padding["direction"],
            "pad_to_multiple_of": padding["pad_to_multiple_of"],
        }
    return settings


def max_length_of(limit: Any) -> int:
    """`model_max_length` as a number; an absent one is no limit."""
    if limit is None:
        return NO_LIMIT
    if not isinstance(limit, (int, float)) or not limit > 0:
        raise BadArgument(f"model_max_length is a number of tokens, not {limit!r}", model_max_length=limit)
    return int(min(limit, NO_LIMIT))


def input_names(names: Any) -> list[str]:
    """`model_input_names` as a list of its own."""
    if not isinstance(names, (list, tuple)) or not all(isinstance(name, str) for name in names):
        raise BadArgument(f"model_input_names is a list of names, not {names!r}", model_input_names=names)
    return list(names)


def control_tokens_of(tokens: Any) -> list[str] | None:
    """`chat_control_tokens` as a list of its own; None leaves it to the template."""
    if tokens is None:
        return None
    if not isinstance(tokens, (list, tuple)) or not all(isinstance(token, str) for token in tokens):
        raise WrongType(
            f"chat_control_tokens is a list of tokens, not {tokens!r}", chat_control_tokens=tokens
        )
    return list(tokens)


def templates_by_name(templates: Any) -> str | dict[str, str] | None:
    """One template, or several by name; configs list the latter as {name, template}."""
    if isinstance(templates, (list, tuple)) and all(isinstance(template, Mapping) for template in templates):
        templates = {template.get("name"): template.get("template") for template in templates}
    if templates is None or isinstance(templates, str):
        return templates
    if isinstance(templates, Mapping) and all(
        isinstance(text, str) for pair in templates.items() for text in pair
    ):
        return dict(templates)
    raise BadArgument("chat_template is a text, or texts by name", chat_template=templates)


def put_spaces_in_front(pre_tokenizer: PreTokenizer | None, wanted: bool) -> None:
    """Change whether a pipeline puts a space before a text, or each of its words; warns where no part can."""
    leaves = pre_tokenizer.leaves if pre_tokenizer else ()
    able = [leaf for leaf in leaves if isinstance(leaf, (ByteLevel, Metaspace))]
    if not able:
        warn("add_prefix_space does nothing: the tokenizer has no ByteLevel or Metaspace pre-tokenizer")
        return
    first = able[0]
    if isinstance(first, ByteLevel):
        first.add_prefix_space = wanted
    elif (first.prepend_scheme != "never") != wanted:
        first.prepend_scheme = "first" if wanted else "never"
