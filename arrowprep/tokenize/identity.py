"""A tokenizer's name: a hash of all that decides what it gives, so that results can be found again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

import xxhash

from arrowprep.tokenize.chat_calls import reads_clock
from arrowprep.tokenize.named_code import content_of

if TYPE_CHECKING:
    from arrowprep.tokenize.shell import PreTrainedTokenizer

# attributes that decide no result, or that are named below in another form
UNNAMED = {
    *("_tokenizer", "init_kwargs", "listed_tokens", "name_or_path", "verbose", "clock"),
    "vocab_file",
    *("special_tokens", "chat_template"),
    *("add_prefix_space", "response_template", "deprecation_warnings"),
}


def fingerprint_of(tokenizer: PreTrainedTokenizer) -> str:
    """Equal for equal content, in any process and, unless the template reads the clock, on any day.

    Only the pipeline keeps its part (a vocabulary is long to hash), so any change
    shows at once; the rest costs under 0.1 ms. A subclass counts with the code of its
    methods, and with what that reads of its module.
    """
    return xxhash.xxh3_128_hexdigest(json.dumps(parts_of(tokenizer), sort_keys=True, default=repr).encode())


def parts_of(tokenizer: PreTrainedTokenizer) -> dict[str, Any]:
    """What a tokenizer's name is made of, as somebody who reads it would say."""
    content = {name: value for name, value in vars(tokenizer).items() if name not in UNNAMED}
    content["class"] = content_of(type(tokenizer))
    content["pipeline"] = tokenizer.backend_tokenizer.fingerprint
    content["special tokens"] = [tokenizer.special_tokens_map, tokenizer.extra_special_tokens]
    content["chat template"] = _digest(tokenizer.chat_template)
    if reads_clock(tokenizer.chat_template):
        content["day"] = (tokenizer.clock or datetime.now)().date().isoformat()
    return content


def _digest(templates: str | Mapping[str, str] | None) -> Any:
    if templates is None:
        return None
    if isinstance(templates, str):
        return xxhash.xxh3_128_hexdigest(templates.encode("utf-8", "surrogatepass"))
    return {name: _digest(text) for name, text in templates.items()}
