"""Write a tokenizer as Hugging Face lays it out, so that transformers reads it too."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arrowprep.errors import BadArgument
from arrowprep.tokenize.files.huggingface import CONFIG, TEMPLATE, TEMPLATES, TOKENIZER

if TYPE_CHECKING:
    from arrowprep.tokenize.shell.stores import Stores

# settings that are written elsewhere (templates, the post-processor, extra tokens) or belong to this process
NOT_WRITTEN = {
    "add_bos_token",
    "add_eos_token",
    "additional_special_tokens",
    "chat_template",
    "clock",
    "extra_special_tokens",
    "model_specific_special_tokens",
    "name_or_path",
    "verbose",
}
DEFAULTS = {
    "pad_token_type_id": 0,
    "clean_up_tokenization_spaces": False,
    "split_special_tokens": False,
    "padding_side": "right",
    "truncation_side": "right",
    "model_input_names": ["input_ids", "attention_mask"],
}


def save(tokenizer: Stores, folder: Path, prefix: str, jinja_files: bool) -> list[Path]:
    """Write the config, the chat templates (unless they go into the config) and tokenizer.json."""
    pipeline = folder / f"{prefix}{TOKENIZER}"
    tokenizer.backend_tokenizer.save(str(pipeline))  # first, for it refuses what no file can hold
    return [*save_settings(tokenizer, config_of(tokenizer), folder, prefix, jinja_files), pipeline]


def save_settings(
    tokenizer: Stores, config: dict[str, Any], folder: Path, prefix: str, jinja_files: bool
) -> list[Path]:
    """The same without the pipeline."""
    templates = tokenizer.chat_template
    files = [folder / f"{prefix}{CONFIG}"]
    if templates is not None and jinja_files:
        files += write_templates(folder, templates, prefix)
    elif isinstance(templates, str):
        config["chat_template"] = templates
    elif templates is not None:
        config["chat_template"] = [{"name": name, "template": text} for name, text in templates.items()]
    write_config(files[0], config)
    return files


def config_of(tokenizer: Stores) -> dict[str, Any]:
    """What was given, as it is now, and what is not as it is by default: for its class, or without it."""
    given = {key: value for key, value in tokenizer.init_kwargs.items() if key not in NOT_WRITTEN}
    settings = {name: getattr(tokenizer, name) for name in DEFAULTS}
    usual = {name: (value, getattr(type(tokenizer), name, value)) for name, value in DEFAULTS.items()}
    special = tokenizer.special_tokens
    name = type(tokenizer).__name__
    if tokenizer.chat_control_tokens is not None:
        given["chat_control_tokens"] = list(tokenizer.chat_control_tokens)
    return {
        **given,
        **{
            name: value
            for name, value in settings.items()
            if name in given or any(value != default for default in usual[name])
        },
        **{role: None for role in special.named if role in given},
        **special.map(),
        **({"extra_special_tokens": tokenizer.extra_special_tokens} if special.extra else {}),
        "backend": "tokenizers",
        **({"is_local": True} if tokenizer.vocab_file else {}),
        "model_max_length": tokenizer.model_max_length,
        # the name that transformers has for a class that follows tokenizer.json
        "tokenizer_class": "TokenizersBackend" if name == "PreTrainedTokenizer" else name,
    }


def write_templates(folder: Path, templates: str | Mapping[str, str], prefix: str = "") -> list[Path]:
    """Write the default template and those by name. Raises BadArgument for a name that leaves the folder."""
    by_name = {"default": templates} if isinstance(templates, str) else dict(templates)
    files = []
    for name, text in by_name.items():
        if name == "default":
            file = folder / f"{prefix}{TEMPLATE}"
        else:
            home = folder / f"{prefix}{TEMPLATES}"
            file = home / f"{name}.jinja"
            if file.resolve().parent != home.resolve():
                raise BadArgument(f"a chat template cannot be saved under the name {name!r}", name=name)
            home.mkdir(exist_ok=True)
        file.write_bytes(text.encode("utf-8"))
        files.append(file)
    return files


def write_config(file: Path, settings: Mapping[str, Any]) -> None:
    """Sorted keys, two spaces; tokens as text where they have a role, with their flags elsewhere."""
    text = json.dumps(settings, indent=2, sort_keys=True, ensure_ascii=False, default=_record)
    file.write_bytes(f"{text}\n".encode())


def _record(value: Any) -> Any:
    if hasattr(value, "content"):
        flags = ("content", "lstrip", "normalized", "rstrip", "single_word", "special")
        return {"__type": "AddedToken", **{flag: getattr(value, flag) for flag in flags}}
    if isinstance(value, Iterable):
        return list(value)
    raise BadArgument(
        f"{value!r} of type {type(value).__name__} cannot be written to a tokenizer_config.json"
    )
