"""Arrow-native preparation of text and chat datasets for model training.

    ds = load_local("corpus.jsonl").map(tokenize, batched=True, num_proc=4)
    for batch in ds.with_format("numpy").iter(batch_size=32): ...

Importing this package is cheap: each name below is loaded when first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from arrowprep.config import (
        Settings,
        configure,
        configured,
        disable_caching,
        enable_caching,
        is_caching_enabled,
        settings,
    )
    from arrowprep.progress import are_progress_bars_disabled, disable_progress_bars, enable_progress_bars
    from arrowprep.tokenize.batch_encoding import BatchEncoding
    from arrowprep.tokenize.shell import (
        AutoTokenizer,
        PreTrainedTokenizer,
        PreTrainedTokenizerFast,
        TokenizersBackend,
        load_tokenizer,
    )

_HOME = {
    "Settings": "config",
    "settings": "config",
    "configure": "config",
    "configured": "config",
    "enable_caching": "config",
    "disable_caching": "config",
    "is_caching_enabled": "config",
    "enable_progress_bars": "progress",
    "disable_progress_bars": "progress",
    "are_progress_bars_disabled": "progress",
    "BatchEncoding": "tokenize.batch_encoding",
    "AutoTokenizer": "tokenize.shell",
    "PreTrainedTokenizer": "tokenize.shell",
    "PreTrainedTokenizerFast": "tokenize.shell",
    "TokenizersBackend": "tokenize.shell",
    "load_tokenizer": "tokenize.shell",
}

__all__ = [
    "AutoTokenizer",
    "BatchEncoding",
    "PreTrainedTokenizer",
    "PreTrainedTokenizerFast",
    "Settings",
    "TokenizersBackend",
    "are_progress_bars_disabled",
    "configure",
    "configured",
    "disable_caching",
    "disable_progress_bars",
    "enable_caching",
    "enable_progress_bars",
    "is_caching_enabled",
    "load_tokenizer",
    "settings",
]


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'arrowprep' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"arrowprep.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
