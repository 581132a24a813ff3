"""Look at conversations as a tokenizer prepares them: what is trained, what is lost."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

import arrowprep
from arrowprep.cli.style import GREEN, paint
from arrowprep.errors import BadArgument, MissingFile

PARTS = ("header", "empty_reasoning", "end_of_turn", "trailing_newline")  # of a Convention
SUMMARY = "look at conversations: tokens, what is trained, what is lost"
UNPRINTABLE = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160)) if code not in (9, 10)}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    what = parser.add_subparsers(dest="what", required=True, metavar="WHAT")
    show = what.add_parser("show", help="one conversation, trained tokens coloured")
    _add_common(show)
    show.add_argument("--row", type=int, default=0, help="its number, from 0")
    show.add_argument("--boundaries", action="store_true", help="show where tokens begin")
    report = what.add_parser("report", help="what a preparation keeps, drops and trains on")
    _add_common(report)
    report.add_argument(
        "--packing", choices=("bfd", "bfd_split", "wrapped", "in_order"), help="join rows to packs"
    )
    report.add_argument("--json", action="store_true", help="as JSON")
    report.add_argument("--html", type=Path, metavar="OUT", help="write a page with conversations and tokens")
    report.add_argument("--rows", type=int, default=50, help="conversations on the page (default: 50)")
    report.add_argument("--num-proc", type=int, help="processes")


def _add_common(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", help="conversations: JSON Lines, JSON, Parquet, CSV or Arrow")
    parser.add_argument("--tokenizer", required=True, help="a folder with a tokenizer.json")
    parser.add_argument("--template", help="another chat template: a file, or a name of the tokenizer's")
    parser.add_argument("--max-length", type=int, default=1024, help="tokens a row may have, 0 for no limit")
    parser.add_argument("--train-on", choices=("assistant", "last", "all"), default="assistant")
    parser.add_argument(
        "--without", action="append", default=[], choices=("reasoning", "tool_calls"), help="not trained"
    )
    parser.add_argument(
        "--truncation", choices=("drop", "keep_start", "keep_end", "split"), default="keep_start"
    )
    parser.add_argument("--spans", choices=("generation", "infer", "auto"), default="auto")
    parser.add_argument(
        "--stop-string", action="append", default=[], metavar="TEXT", help="a text that ends a turn"
    )
    parser.add_argument(
        "--convention",
        type=_convention,
        metavar="PARTS",
        help=f"what of the template's own text is trained: none, or some of {','.join(PARTS)}",
    )
    parser.add_argument(
        "--straddle", choices=("overlap", "inside", "start"), default="overlap", help="tokens over an edge"
    )
    parser.add_argument("--sanitize", action="store_true", help="control tokens in messages are text")


def _convention(parts: str) -> dict[str, bool]:
    names = [] if parts == "none" else parts.replace("-", "_").split(",")
    if unknown := set(names) - set(PARTS):
        raise argparse.ArgumentTypeError(f"no part {', '.join(sorted(unknown))}; they are {', '.join(PARTS)}")
    return {part: part in names for part in PARTS}


def run(arguments: argparse.Namespace) -> None:
    """Print or write what was asked for."""
    {"show": _show, "report": _report}[arguments.what](arguments)


def _given(arguments: argparse.Namespace) -> tuple[Any, Any, dict[str, Any]]:
    """The dataset, the tokenizer, and the options of a preparation."""
    from arrowprep.chat.convention import Convention

    tokenizer = arrowprep.load_tokenizer(arguments.tokenizer)
    ds = arrowprep.load_local(arguments.file, split="train")
    template = arguments.template
    if template and Path(template).is_file():
        template = Path(template).read_text(encoding="utf-8")
    elif template and template.endswith(".jinja"):
        raise MissingFile(f"there is no template {template}", path=template)
    return (
        ds,
        tokenizer,
        {
            "template": template,
            "max_length": arguments.max_length or None,
            "train_on": arguments.train_on,
            "train_reasoning": "reasoning" not in arguments.without,
            "train_tool_calls": "tool_calls" not in arguments.without,
            "truncation": arguments.truncation,
            "spans": arguments.spans,
            "stop_strings": arguments.stop_string,
            "convention": None if arguments.convention is None else Convention(**arguments.convention),
            "straddle": arguments.straddle,
            "sanitize": arguments.sanitize,
        },
    )


def _show(arguments: argparse.Namespace) -> None:
    from arrowprep.chat.sft.encoded import encoder_of
    from arrowprep.chat.sft.spec import SFTSpec
    from arrowprep.chat.show import look_at

    ds, tokenizer, options = _given(arguments)
    if not 0 <= arguments.row < len(ds):
        raise BadArgument(f"there is no row {arguments.row}; the rows are 0 to {len(ds) - 1}")
    template = options.pop("template")
    encode = encoder_of(ds, tokenizer, SFTSpec.of(**options), template)
    for text in look_at(encode, ds, [arguments.row]):
        if text.problem:
            raise BadArgument(f"row {text.row}: {text.problem}", row=text.row)
        if text.side:
            print(f"--- {text.side}")
        print(_painted(text.pieces, arguments.boundaries))
        kept = [piece for piece in text.pieces if not piece.cut]
        trained = sum(len(piece.ids) for piece in kept if piece.trained)
        total = sum(len(piece.ids) for piece in text.pieces)
        left = total - sum(len(piece.ids) for piece in kept)
        print(
            f"--- {trained:,} of {total:,} tokens are trained" + (f", {left:,} are cut off" if left else "")
        )


def _painted(pieces: Any, boundaries: bool) -> str:
    """Text in runs of one colour; control characters, which a terminal would obey, as escapes."""
    runs: list[tuple[bool, str]] = []
    for piece in pieces:
        trained = piece.trained and not piece.cut
        text = piece.text.translate(UNPRINTABLE)
        if boundaries and piece.ids:
            text = "│" * len(piece.ids) + text
        if runs and runs[-1][0] == trained:
            runs[-1] = (trained, runs[-1][1] + text)
        else:
            runs.append((trained, text))
    painted = (paint(text, GREEN, plain=("[", "]")) if trained else text for trained, text in runs)
    return "".join(painted).rstrip("\n")


def _report(arguments: argparse.Namespace) -> None:
    from arrowprep.chat.report import report_of, traces_of
    from arrowprep.chat.sft.encoded import RunOptions, encode_sft
    from arrowprep.chat.sft.spec import SFTSpec

    ds, tokenizer, options = _given(arguments)
    template, run = options.pop("template"), RunOptions(arguments.num_proc)
    encoded = encode_sft(ds, tokenizer, SFTSpec.of(packing=arguments.packing, **options), template, run)
    report = report_of(ds, encoded, *traces_of(ds, tokenizer, encoded, run))
    if arguments.html:
        arguments.html.write_text(
            _page(Path(arguments.file).name, ds, encoded, report, arguments.rows), encoding="utf-8"
        )
    print(report.to_json() if arguments.json else report)
    if arguments.html and not arguments.json:
        print(f"the page is {arguments.html}")


def _page(title: str, ds: Any, encoded: Any, report: Any, count: int) -> str:
    """With the first rows that something is wrong with, and the first of all."""
    from arrowprep.chat.html import page
    from arrowprep.chat.show import look_at

    wrong: dict[int, list[str]] = {}
    for _, finding in report.findings():
        for row in finding.rows:
            wrong.setdefault(row, []).append(finding.what)
    chosen = sorted(list(dict.fromkeys([*wrong, *range(len(ds))]))[:count])
    texts = [replace(t, problems=wrong.get(t.row, [])) for t in look_at(encoded.function, ds, chosen)]
    return page(title, report, texts, encoded.plan())
