"""Look at a tokenizer: its pipeline, its sizes, and what it makes of a text."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import arrowprep
from arrowprep.cli.style import BOLD, fact, paint

if TYPE_CHECKING:
    from arrowprep import PreTrainedTokenizer
    from arrowprep.tokenize.component import Component

SUMMARY = "show a tokenizer's pipeline and sizes, or what it makes of a text"
SECTIONS = ("normalizer", "pre_tokenizer", "model", "post_processor", "decoder")
MOST_ADDED = 16  # added tokens that are listed; the others are counted
COLOURS = ("36", "33", "35", "32")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    what = parser.add_subparsers(dest="what", required=True, metavar="WHAT")
    show = what.add_parser(
        "show", help="every part of the pipeline, special tokens, and the sizes that differ"
    )
    show.add_argument("path", help="a folder, or a tokenizer file")
    show.add_argument(
        "--check", action="store_true", help="say what is wrong too, such as unreachable tokens"
    )
    attempt = what.add_parser("try", help="the tokens, ids and offsets of a text")
    attempt.add_argument("path", help="a folder, or a tokenizer file")
    attempt.add_argument("text")
    attempt.add_argument("--no-special", action="store_true", help="add no special tokens")


def run(arguments: argparse.Namespace) -> None:
    tokenizer = arrowprep.load_tokenizer(arguments.path)
    if arguments.what == "show":
        _show(tokenizer, Path(arguments.path), arguments.check)
    else:
        _try(tokenizer, arguments.text, not arguments.no_special)


# ---------------------------------------------------------------------- show


def _show(tokenizer: PreTrainedTokenizer, path: Path, check: bool) -> None:
    backend = tokenizer.backend_tokenizer
    print(fact("engine", f"{backend.engine.engine.name} ({backend.engine.why})"))
    for section in SECTIONS:
        print(f"\n{paint(section, BOLD)}")
        part: Component | None = getattr(backend, section)
        for line in ["none"] if part is None else _described(part):
            print(f"  {line}")
    print(f"\n{paint('added tokens', BOLD)}")
    for line in _added(tokenizer):
        print(f"  {line}")
    print(f"\n{paint('special tokens', BOLD)}")
    roles = {**tokenizer.special_tokens_map, "extra": tokenizer.extra_special_tokens or None}
    for role, token in roles.items():
        if token is not None:
            print(f"  {fact(role, token)}")
    for setting in ("truncation", "padding"):
        if value := getattr(backend, setting):
            print(f"\n{paint(setting, BOLD)}\n  {value}")
    print(f"\n{paint('sizes', BOLD)}")
    for line in _sizes(tokenizer, path):
        print(f"  {line}")
    if check:
        print(f"\n{paint('check', BOLD)}")
        for problem in list(map(str, backend.check())) or ["nothing is wrong"]:
            print(f"  {problem}")


def _described(part: Component) -> Iterator[str]:
    """A part, and below it those that it is made of; what a repr would cut short stands whole below."""
    from arrowprep.tokenize.models import BPE, Model
    from arrowprep.tokenize.processors import TemplateProcessing

    if part.parts:
        yield f"{type(part).__name__} of {len(part.parts)}"
        for inner in part.parts:
            for line in _described(inner):
                yield f"  {line}"
    elif isinstance(part, TemplateProcessing):
        yield "TemplateProcessing"
        yield fact("  one text", _template(part.single))
        yield fact("  a pair", _template(part.pair))
    else:
        yield repr(part)
        if hasattr(part, "pattern"):
            yield f"  {part.pattern.source}"
        if isinstance(part, Model):
            merges = f", {len(part.to_json()['merges']):,} merges" if isinstance(part, BPE) else ""
            yield f"{part.get_vocab_size():,} tokens{merges}"


def _template(pieces: Any) -> str:
    return " ".join(f"{piece.special or '$' + piece.sequence}:{piece.type_id}" for piece in pieces)


def _added(tokenizer: PreTrainedTokenizer) -> Iterator[str]:
    tokens = sorted(tokenizer.added_tokens_decoder.items())
    flags = ("special", "single_word", "lstrip", "rstrip", "normalized")
    for id, token in tokens[:MOST_ADDED]:
        said = ", ".join(flag for flag in flags if getattr(token, flag))
        yield f"{id:>8,}  {token.content!r:<28} {said}".rstrip()
    if len(tokens) > MOST_ADDED:
        yield f"          and {len(tokens) - MOST_ADDED:,} more, up to id {tokens[-1][0]:,}"
    if not tokens:
        yield "none"


def _sizes(tokenizer: PreTrainedTokenizer, path: Path) -> Iterator[str]:
    """The sizes that are taken for one another, and whether the model's embedding has a row for each id."""
    needed = max(tokenizer.get_vocab().values(), default=-1) + 1
    rows = _rows_of_embedding(path if path.is_dir() else path.parent)
    yield _sized("vocab_size", tokenizer.vocab_size, "tokens of the model, without added ones")
    yield _sized("len(tokenizer)", len(tokenizer), "tokens, with added ones")
    yield _sized("highest id + 1", needed, "rows that an embedding needs")
    if rows is None:
        yield fact("config.json", "says no vocab_size: whether the ids fit a model is not known")
        return
    yield _sized("config.json", rows, "vocab_size: rows that the model's embedding has")
    if needed <= rows:
        yield f"every id has a row in the embedding; {rows - needed:,} rows are spare"
    else:
        yield (
            f"ids outgrow the embedding: {needed - rows:,} have no row;"
            f" resize it to {needed:,} before training, or add fewer tokens"
        )


def _sized(name: str, size: int, meaning: str) -> str:
    return f"{name:<14} {size:>10,}  {meaning}"


def _rows_of_embedding(folder: Path) -> int | None:
    """`vocab_size` of the model's config, where models of several kinds of input keep it too."""
    try:
        config: Any = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    for part in (config, config.get("text_config") if isinstance(config, dict) else None):
        if isinstance(part, dict) and isinstance(part.get("vocab_size"), int):
            size: int = part["vocab_size"]
            return size
    return None


# ---------------------------------------------------------------------- try


def _try(tokenizer: PreTrainedTokenizer, text: str, add_special_tokens: bool) -> None:
    batch = tokenizer(text, add_special_tokens=add_special_tokens, return_offsets_mapping=True)
    ids, spans = batch["input_ids"], batch["offset_mapping"]
    print("".join(_coloured(text, spans)))
    print(f"\n{'':>5} {'id':>8}  {'offsets':<12} {'token':<24} text")
    tokens = batch.tokens()
    for number, (id, token, (start, stop)) in enumerate(zip(ids, tokens, spans, strict=True)):
        shown = paint(f"{_visible(token):<24}", _colour(number))
        part = _visible(text[start:stop])
        print(f"{number:>5} {id:>8}  {f'{start}..{stop}':<12} {shown} {part}".rstrip())
    print(f"\n{len(ids):,} tokens of {len(text):,} characters")
    decoded = tokenizer.decode(ids, skip_special_tokens=add_special_tokens)
    if decoded != text:
        print(f"decoded to another text: {_visible(decoded)}")


def _coloured(text: str, spans: list[tuple[int, int]]) -> Iterator[str]:
    """The text, each token in another colour than its neighbours; what none covers as it is."""
    last = 0
    for number, (start, stop) in enumerate(spans):
        start = max(start, last)
        if start < stop:
            yield _visible(text[last:start])
            yield paint(_visible(text[start:stop]), _colour(number), plain=("[", "]"))
            last = stop
    yield _visible(text[last:])


def _colour(number: int) -> str:
    return COLOURS[number % len(COLOURS)]


def _visible(text: str) -> str:
    """What would move the cursor, or show nothing, as its escape."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
