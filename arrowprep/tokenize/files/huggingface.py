"""A tokenizer as Hugging Face lays it out: tokenizer.json, its configs and chat templates.

tokenizer.json                     the pipeline; `.gz` and `.zst` are read as well. Where it is missing,
                                   a file of another format (see pipelines)
tokenizer_config.json              special tokens, lengths, sides, and an older home of chat templates
special_tokens_map.json            older layout; counts where the config lists no added tokens
added_tokens.json                  older layout, the same
chat_template.jinja                the default template; wins over the config's
additional_chat_templates/*.jinja  templates by name
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from arrowprep.errors import BadTokenizerFile, MissingFile
from arrowprep.tokenize.files import hub_cache, pipelines
from arrowprep.tokenize.special_tokens import STANDARD

if TYPE_CHECKING:
    from arrowprep.tokenize.added_tokens import AddedToken

TOKENIZER = "tokenizer.json"
CONFIG = "tokenizer_config.json"
MODEL = "config.json"
SPECIAL_MAP = "special_tokens_map.json"
ADDED = "added_tokens.json"
TEMPLATE = "chat_template.jinja"
TEMPLATES = "additional_chat_templates"
PLAIN = (".json", ".model", ".tiktoken", ".txt")
CHUNK = 1 << 20
LARGEST = 1 << 30  # bytes; a small packed file may claim any size, and the largest real one has 30 MB
FLAGS = ("single_word", "lstrip", "rstrip", "normalized", "special")
# what a config says about where it came from, or about a class that would rebuild the pipeline
IGNORED = (
    "tokenizer_class",
    "auto_map",
    "name_or_path",
    "tokenizer_file",
    "special_tokens_map_file",
    "init_inputs",
)


@dataclass(frozen=True)
class TokenizerFolder:
    """What was read.

    file: what holds the pipeline; the folder where there is none
    settings: the configs as one; tokens are str or AddedToken
    added: further tokens that the configs list, with their ids
    """

    file: Path
    settings: dict[str, Any] = field(default_factory=dict)
    added: dict[int, AddedToken] = field(default_factory=dict)


def read(
    path: str | Path,
    revision: str = "main",
    patterns: Sequence[str] = pipelines.PATTERNS,
    subfolder: str = "",
) -> TokenizerFolder:
    """Read a folder, a tokenizer.json alone, or "org/name" from what the hub's tools downloaded.

    patterns: names of the files that may hold the pipeline; the first there is counts

    Raises MissingFile, which says what was looked for, and BadTokenizerFile or
    UnknownFileType for files that are something else.
    """
    place = place_of(path, revision, subfolder)
    if place.is_file():
        return TokenizerFolder(place)
    file = _find_pipeline(place, patterns)
    return replace(read_settings(place, file.name.startswith(TOKENIZER)), file=file)


def place_of(path: str | Path, revision: str = "main", subfolder: str = "") -> Path:
    """The folder or file that is meant. Raises MissingFile."""
    name, path = str(path), Path(path).expanduser()
    if not path.exists():
        path = hub_cache.find(name, revision) or path
    path = path / subfolder
    if path.exists():
        return path
    raise MissingFile(
        f"{path} does not exist: a tokenizer is a folder with {TOKENIZER} (or another format),"
        f" or that file. Nothing is downloaded, and {hub_cache.cache_folder()} does not have it either;"
        f" `hf download {name} --local-dir FOLDER` gets the files of a hub repository",
        path=str(path),
    )


def read_settings(folder: Path, from_tokenizer_json: bool) -> TokenizerFolder:
    """What the configs of a folder say.

    from_tokenizer_json: the pipeline has its post-processor already: asking for bos and
        eos takes a keyword argument
    """
    settings = _json(folder / CONFIG)
    for name in IGNORED:
        settings.pop(name, None)
    if from_tokenizer_json:
        settings.pop("add_bos_token", None)
        settings.pop("add_eos_token", None)
    added = _added_tokens(folder, settings)
    settings = {key: as_token(value) for key, value in settings.items()}
    if templates := _templates(folder):
        settings["chat_template"] = templates
    return TokenizerFolder(folder, settings, added)


def classes_of(folder: Path) -> list[str]:
    """The names of its class that a folder gives, and its model's type; the first is the nearest."""
    name, kind = _json(folder / CONFIG).get("tokenizer_class"), _json(folder / MODEL).get("model_type")
    return [found for found in (name, kind) if isinstance(found, str)]


def _find_pipeline(folder: Path, patterns: Sequence[str]) -> Path:
    if file := pipelines.find(folder, patterns):
        return file
    found = sorted(file.name for file in folder.iterdir())[:10]
    raise MissingFile(
        f"{folder} has no {', '.join(patterns)} (nor one ending in"
        f" {' or '.join(pipelines.PACKED[1:])}); it has {', '.join(found) or 'no files'}",
        path=str(folder),
        found=found,
    )


def unpack(file: Path) -> bytes:
    """The bytes of a file, decompressed where it is packed; at most LARGEST."""
    try:
        if file.suffix in PLAIN and file.stat().st_size <= LARGEST:
            return file.read_bytes()  # in a third of the time
        with pa.input_stream(str(file), compression="detect") as stream:
            chunks = iter(lambda: stream.read(CHUNK), b"")
            content = b"".join(itertools.islice(chunks, LARGEST // CHUNK + 1))
    except (OSError, pa.ArrowException) as error:
        raise BadTokenizerFile(f"{file} cannot be read: {error}", path=str(file)) from error
    if len(content) > LARGEST:
        raise BadTokenizerFile(f"{file} unpacks to more than {LARGEST >> 20} MB", path=str(file))
    return content


def _json(file: Path) -> dict[str, Any]:
    """The object in a file; an absent file is an empty one."""
    if not file.is_file():
        return {}
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise BadTokenizerFile(f"{file} is not JSON: {error}", path=str(file)) from error
    if not isinstance(content, dict):
        raise BadTokenizerFile(f"{file} holds a {type(content).__name__}, not an object", path=str(file))
    return content


def as_token(value: Any) -> Any:
    """AddedTokens for the objects that stand for them in a config, also inside lists and dicts."""
    if isinstance(value, dict):
        if "content" in value and value.get("__type", "AddedToken") == "AddedToken":
            return _added_token(value)
        return {key: as_token(inner) for key, inner in value.items()}
    return [as_token(inner) for inner in value] if isinstance(value, list) else value


def _added_token(record: Mapping[str, Any]) -> AddedToken:
    from arrowprep.tokenize.added_tokens import AddedToken

    flags = {key: value for key, value in record.items() if key not in ("__type", "id", "content")}
    unknown = [key for key in flags if key not in FLAGS]
    wrong = [key for key, value in flags.items() if not isinstance(value, (bool, type(None)))]
    if unknown or wrong or not isinstance(record["content"], str):
        raise BadTokenizerFile(f"{dict(record)!r} is not a token with its flags")
    return AddedToken(record["content"], **{key: value for key, value in flags.items() if value is not None})


def _added_tokens(folder: Path, settings: dict[str, Any]) -> dict[int, AddedToken]:
    """Tokens by id from the config; from the older files where it lists none, whose roles then count too."""
    listed = settings.pop("added_tokens_decoder", None)
    if listed is not None:
        try:
            return {int(index): _added_token(record) for index, record in listed.items()}
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise BadTokenizerFile(
                f"{folder / CONFIG}: added_tokens_decoder is not ids with tokens: {error!r}",
                path=str(folder / CONFIG),
            ) from error
    for role, value in _json(folder / SPECIAL_MAP).items():
        if role.endswith(("_token", "_tokens")):
            settings[role] = (
                {**value, "special": True} if isinstance(value, dict) and "content" in value else value
            )
    special = {str(as_token(settings[role])) for role in STANDARD if settings.get(role)}
    extra = settings.get("extra_special_tokens") or settings.get("additional_special_tokens") or ()
    if isinstance(extra, (list, tuple, dict)):  # what is neither is refused where it is taken
        special.update(str(as_token(token)) for token in extra)
    ids = _json(folder / ADDED)
    if wrong := [token for token, index in ids.items() if not isinstance(index, int)]:
        raise BadTokenizerFile(
            f"{folder / ADDED}: the id of {wrong[0]!r} is {ids[wrong[0]]!r}", path=str(folder / ADDED)
        )
    return {
        index: _added_token(
            {"content": token, "special": token in special, "normalized": token not in special}
        )
        for token, index in ids.items()
    }


def _templates(folder: Path) -> str | dict[str, str] | None:
    texts = {file.stem: _text(file) for file in sorted((folder / TEMPLATES).glob("*.jinja"))}
    if (folder / TEMPLATE).is_file():
        texts = {"default": _text(folder / TEMPLATE), **texts}
    return texts["default"] if list(texts) == ["default"] else texts or None


def _text(file: Path) -> str:
    # line ends are kept: a template's text is what it is
    try:
        return file.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadTokenizerFile(f"{file} is not UTF-8: {error}", path=str(file)) from error
