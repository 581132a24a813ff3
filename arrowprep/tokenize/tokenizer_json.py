"""tokenizer.json: reading it with every mistake named, and writing it as others do."""

from __future__ import annotations

import gzip
import json
import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from arrowprep.errors import BadArgument, BadTokenizerFile, MissingFile
from arrowprep.tokenize.added_tokens import AddedToken
from arrowprep.tokenize.bulk import uncollected
from arrowprep.tokenize.component import Component, Spec
from arrowprep.tokenize.decoders import read_decoder
from arrowprep.tokenize.models import BPE, Model, Unigram, WordLevel, WordPiece, read_model
from arrowprep.tokenize.models.base import Vocabulary
from arrowprep.tokenize.models.bpe_tables import BpeTables
from arrowprep.tokenize.models.flat import FlatVocabulary
from arrowprep.tokenize.native_files import read_parts
from arrowprep.tokenize.normalizers import read_normalizer
from arrowprep.tokenize.padding import Padding
from arrowprep.tokenize.pre_tokenizers import read_pre_tokenizer
from arrowprep.tokenize.processors import read_post_processor
from arrowprep.tokenize.truncation import DIRECTIONS, STRATEGIES, Truncation

_READERS = {
    "normalizer": read_normalizer,
    "pre_tokenizer": read_pre_tokenizer,
    "post_processor": read_post_processor,
    "decoder": read_decoder,
}
_SECTIONS = {"version", "truncation", "padding", "added_tokens", *_READERS, "model"}


@dataclass(frozen=True, slots=True)
class TokenizerFile:
    """What a tokenizer.json holds.

    parts: normalizer, pre_tokenizer, post_processor and decoder, None where there is none
    added_tokens: with the ids that the file gives them
    """

    model: Model
    parts: dict[str, Component | None] = field(default_factory=dict)
    added_tokens: list[tuple[int, AddedToken]] = field(default_factory=list)
    truncation: Truncation | None = None
    padding: Padding | None = None


def read_tokenizer(source: str | bytes | Path) -> TokenizerFile:
    """From the text or the bytes of a tokenizer.json, or from a path, which may be compressed (.gz).

    Raises MissingFile, BadTokenizerFile with the place, or UnsupportedComponent for
    a part that is not known: nothing in a file is passed over.
    """
    name = str(source) if isinstance(source, Path) else "the tokenizer"
    data = _read_file(source) if isinstance(source, Path) else source
    with uncollected():
        return _read(_parsed(data, name))


def read_apart(text: str, vocabulary: FlatVocabulary) -> TokenizerFile:
    """From what `dump_apart` made of one."""
    with uncollected():
        content: dict[str, Any] = json.loads(text, parse_float=read_number)
        content["model"]["vocab"] = vocabulary
        return _read(content)


def _parsed(data: str | bytes, name: str) -> dict[str, Any]:
    content = _parsed_flat(data)
    if content is not None:
        return content
    try:
        content = json.loads(data, parse_float=read_number)
    except UnicodeDecodeError as error:
        raise BadTokenizerFile(f"{name} is not UTF-8: byte {error.start}", path=name) from error
    except (json.JSONDecodeError, RecursionError) as error:
        raise BadTokenizerFile(f"{name} is not JSON: {error}", path=name) from error
    if not isinstance(content, dict) or "model" not in content:
        raise BadTokenizerFile(f"{name} is no tokenizer.json: it has no model", path=name, place="model")
    return content


# whether the vocabulary of a model that can take it flat is a list
_LISTED = {"BPE": False, "WordPiece": False, "WordLevel": False, "Unigram": True}


def _parsed_flat(data: str | bytes) -> dict[str, Any] | None:
    """The same with the vocabulary as the kernel reads it; None where it is to be read by Python alone."""
    try:
        parts = read_parts(data.encode() if isinstance(data, str) else data)
        if parts is None:
            return None
        content: dict[str, Any] = json.loads(parts.rest, parse_float=read_number)
    except (ValueError, RecursionError):
        return None  # what is wrong is said with its place in the whole file
    model = content["model"]
    kind = model.get("type", "BPE")
    listed = _LISTED.get(kind) if isinstance(kind, str) else None
    if "arrowprep" in model or listed is not (parts.vocabulary.scores is not None):
        return None
    model["vocab"] = parts.vocabulary
    if parts.map is not None and not _put_map(content["normalizer"], parts.map):
        return None
    return content


def _put_map(normalizer: Any, map: bytes) -> bool:
    """Put a map of characters where it was taken out of a normalizer; false where that is no usual place."""
    if not isinstance(normalizer, dict):
        return False
    if normalizer.get(MAP, "") is None:
        normalizer[MAP] = map
        return True
    inner = normalizer.get("normalizers")
    return isinstance(inner, list) and any(_put_map(part, map) for part in inner)


MAP = "precompiled_charsmap"
POWERS = [10.0**n for n in range(20)]
_NUMBER = re.compile(r"(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?")


def read_number(text: str) -> float:
    """A number as the reference reads it: all digits as one integer, then the power of ten.

    That rounds twice, so the last bit can differ from float(text). It is the value
    that scores are compared by and written with.

    >>> read_number("-3.3334579467773438")
    -3.333457946777344
    """
    whole, _, fraction = text.partition(".")
    if len(text) < 19 and fraction.isdigit() and (number := int(whole + fraction)):
        return number / POWERS[len(fraction)]  # most are of this kind, and it takes a fifth of the time
    match = _NUMBER.fullmatch(text)
    if match is None:
        return float(text)
    sign, whole, fraction, exponent = match.groups("")
    digits, power = whole + fraction, int(exponent or 0) - len(fraction)
    # digits beyond 64 bits are passed over
    while int(digits) >= 1 << 64:
        digits, power = digits[:-1], power + 1
    if abs(power) > 308:
        return float(text)
    value = int(digits) * 10.0**power if power >= 0 else int(digits) / 10.0**-power
    return -value if sign else value


def _read_file(path: Path) -> bytes:
    try:
        data = path.read_bytes()
    except (FileNotFoundError, IsADirectoryError) as error:
        raise MissingFile(f"no tokenizer file at {path}", path=str(path)) from error
    if data[:2] != b"\x1f\x8b":
        return data
    try:
        return gzip.decompress(data)
    except (OSError, EOFError) as error:
        raise BadTokenizerFile(f"{path} is broken: {error}", path=str(path)) from error


def _read(content: dict[str, Any]) -> TokenizerFile:
    top = Spec(content, "tokenizer")
    model_spec = Spec(content["model"], "model")
    model = read_model(model_spec)
    model_spec.finish(model.legacy)
    parts: dict[str, Component | None] = {}
    for name, read in _READERS.items():
        part = top.get(name, (dict, type(None)), None)
        parts[name] = None if part is None else read(Spec(part, name))
    entries = top.get("added_tokens", (list, type(None)), None) or []
    added = [
        AddedToken.usual(entry) or AddedToken.from_json(Spec(entry, f"added_tokens[{i}]"))
        for i, entry in enumerate(entries)
    ]
    truncation = top.get("truncation", (dict, type(None)), None)
    padding = top.get("padding", (dict, type(None)), None)
    top.finish(tuple(_SECTIONS))
    return TokenizerFile(
        model,
        parts,
        added,
        truncation and _read_truncation(Spec(truncation, "truncation")),
        padding and _read_padding(Spec(padding, "padding")),
    )


def _read_truncation(spec: Spec) -> Truncation:
    try:
        return Truncation(
            max_length=spec.count("max_length"),
            stride=spec.count("stride", 0),
            strategy=spec.choice("strategy", {v: k for k, v in STRATEGIES.items()}, "LongestFirst"),
            direction=spec.choice("direction", {v: k for k, v in DIRECTIONS.items()}, "Right"),
        )
    except BadArgument as error:
        raise spec.bad(str(error)) from error


def _read_padding(spec: Spec) -> Padding:
    strategy = spec.get("strategy", (str, dict))
    if strategy == "BatchLongest":
        length = None
    else:
        length = Spec(strategy, "padding.strategy").count("Fixed")
    try:
        return Padding(
            direction=spec.choice("direction", {v: k for k, v in DIRECTIONS.items()}, "Right"),
            pad_id=spec.count("pad_id"),
            pad_type_id=spec.count("pad_type_id"),
            pad_token=spec.text("pad_token"),
            length=length,
            pad_to_multiple_of=spec.get("pad_to_multiple_of", (int, type(None)), None),
        )
    except BadArgument as error:
        raise spec.bad(str(error)) from error


def dump_apart(file: TokenizerFile) -> tuple[str, FlatVocabulary] | None:
    """Its compact text without the vocabulary, and that, as it was read: 2 ms where the whole text takes 200.

    None where it was not read flat, or the model is one whose text would not say all of it.
    """
    model = file.model
    is_drawn = isinstance(model, Unigram) and model.is_random
    if is_drawn or type(model) not in (BPE, WordPiece, WordLevel, Unigram):
        return None
    tables: Vocabulary = vars(model)["_tables"]
    vocabulary, options = tables._read, {**model.options_json(), "vocab": None}
    if vocabulary is None:
        return None
    if isinstance(tables, BpeTables):
        vocabulary, options["merges"] = replace(vocabulary, ways=tables.ways), []
    return _dumped(file, options, pretty=False), vocabulary


def dump_tokenizer(file: TokenizerFile, pretty: bool) -> str:
    """Its text: compact, or with two spaces a level."""
    return _dumped(file, file.model.to_json(), pretty)


def _dumped(file: TokenizerFile, model: dict[str, Any], pretty: bool) -> str:
    content = {
        "version": "1.0",
        "truncation": file.truncation and file.truncation.to_json(),
        "padding": file.padding and file.padding.to_json(),
        "added_tokens": [token.to_json(id) for id, token in file.added_tokens],
        **{name: (part := file.parts.get(name)) and part.to_json() for name in _READERS},
        "model": _with_marked_numbers(model),
    }
    layout: dict[str, Any] = {"indent": 2} if pretty else {"separators": (",", ":")}
    text = json.dumps(content, ensure_ascii=False, **layout)
    return _MARKED.sub(r"\1", text) if _MARK in text else text


# Python writes numbers with exponents otherwise than the reference, and its encoder takes no advice:
# such a number goes through it as a text that no token is
_MARK = r'"\u0000number '
_MARKED = re.compile(re.escape(_MARK) + r'([-0-9.e]+)"')


def _with_marked_numbers(model: dict[str, Any]) -> dict[str, Any]:
    """A model's JSON; scores and chances whose text has an exponent are marked texts."""
    vocab = model.get("vocab")
    if isinstance(vocab, list) and any("e" in repr(score) for _, score in vocab):
        model = {**model, "vocab": [[token, _marked(score)] for token, score in vocab]}
    if isinstance(model.get("dropout"), float):
        model = {**model, "dropout": _marked(model["dropout"])}
    return model


def _marked(number: float) -> Any:
    text = shortest(number)
    return f"\0number {text}" if text != repr(number) else number


def shortest(number: float) -> str:
    """A number as the reference writes it: without an exponent from 1e-5 on, else one without zeros.

    >>> [shortest(number) for number in (0.5, 1.25e-05, 1e-07, 1e17)]
    ['0.5', '0.0000125', '1e-7', '1e+17']
    """
    digits, _, power = repr(number).partition("e")
    if not power.startswith("-"):
        return repr(number)
    if int(power) == -5:
        return f"{'-' if number < 0 else ''}0.0000{digits.lstrip('-').replace('.', '')}"
    return f"{digits}e{int(power)}"
