"""One page to look at prepared chats with: the report, the lengths, the packs, and texts with their tokens.

The page needs nothing beside itself. All that comes from data is escaped, and its policy lets no script run
but the page's own.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files

from arrowprep.chat.packing import Packing
from arrowprep.chat.report import ChatReport
from arrowprep.chat.show import Piece, ShownText

__all__ = ["page"]

_PACKS_DRAWN = 40


def page(title: str, report: ChatReport, texts: Sequence[ShownText], plan: Packing | None = None) -> str:
    """The whole document.

    plan: how rows are packed, of which some packs are drawn
    """
    style, script = (_asset(name) for name in ("report.css", "report.js"))
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    body = [
        f"<h1>{escape(title)}</h1>",
        _facts(report),
        _histogram(report),
        _packs(plan) if plan is not None else "",
        _filters(texts),
        *map(_article, texts),
    ]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>{escape(title)}</title><style>{style}</style></head>\n<body>"
        + "\n".join(filter(None, body))
        + f"\n<script>{script}</script></body></html>\n"
    )


def _asset(name: str) -> str:
    return files("arrowprep.chat").joinpath("pages", name).read_text(encoding="utf-8")


def _facts(report: ChatReport) -> str:
    rows = "".join(f"<tr><th>{escape(n)}</th><td>{escape(v)}</td></tr>" for n, v in report.facts())
    found = "".join(
        f"<tr><th>{escape(group)}</th><td>{finding.count:,} × {escape(finding.what)}</td></tr>"
        for group, finding in report.findings()
    )
    return f'<section><h2>Rows and tokens</h2><table class="facts">{rows}{found}</table></section>'


def _histogram(report: ChatReport) -> str:
    most = max((count for *_, count in report.lengths), default=1)
    bars = "".join(
        f"<tr><th>{start:,}–{stop - 1:,}</th>"
        f'<td><i class="bar" style="width:{100 * count / most:.1f}%"></i></td><td>{count:,}</td></tr>'
        for start, stop, count in report.lengths
    )
    return f'<section><h2>Tokens a row</h2><table class="histogram">{bars}</table></section>'


def _packs(plan: Packing) -> str:
    chosen = range(0, len(plan), -(-len(plan) // _PACKS_DRAWN) or 1)
    drawn = "".join(_pack(plan, *plan.edges[number : number + 2].tolist()) for number in chosen)
    return (
        f"<section><h2>Packs of {plan.seq_length:,} tokens, {plan.efficiency:.1%} full</h2>"
        f'<div class="packs">{drawn}</div><p>{len(chosen)} of {len(plan):,}, evenly chosen.</p></section>'
    )


def _pack(plan: Packing, begin: int, end: int) -> str:
    documents = "".join(
        f'<i style="width:{100 * length / plan.seq_length:.3f}%" title="{length:,} tokens"></i>'
        for length in plan.lengths[begin:end].tolist()
    )
    return f'<div class="pack">{documents}</div>'


def _filters(texts: Sequence[ShownText]) -> str:
    roles = dict.fromkeys(role for text in texts for role in text.roles)
    problems = dict.fromkeys(problem for text in texts for problem in text.problems)
    return (
        f'<section><h2>Conversations</h2><p class="filters">{_choice("role", "every role", roles)}'
        f'{_choice("problem", "with or without problems", problems)}<output id="shown"></output></p>'
        '<p class="legend"><span class="t m">trained</span> <span class="t">not trained</span> '
        '<span class="t c">cut off</span> <span class="e"></span> token of no text. '
        "Point at a token for its id and offsets.</p></section>"
    )


def _choice(name: str, every: str, values: Iterable[str]) -> str:
    options = "".join(f'<option value="{escape(value)}">{escape(value)}</option>' for value in values)
    return f'<label>{name} <select id="{name}"><option value="">{every}</option>{options}</select></label> '


def _article(text: ShownText) -> str:
    side = f", {text.side}" if text.side else ""
    tokens = sum(len(piece.ids) for piece in text.pieces)
    trained = sum(len(piece.ids) for piece in text.pieces if piece.trained and not piece.cut)
    problems = "".join(f'<li class="problem">{escape(problem)}</li>' for problem in text.problems)
    data = "".join(f'<data class="role" value="{escape(role)}"></data>' for role in dict.fromkeys(text.roles))
    return (
        f'<article id="row-{text.row}{"-" + text.side if text.side else ""}">{data}<h3>row {text.row}{side} '
        f"<small>{tokens:,} tokens, {trained:,} trained</small></h3>"
        f"<ul>{problems}</ul><pre>{''.join(map(_piece, text.pieces))}</pre></article>"
    )


def _piece(piece: Piece) -> str:
    if not piece.ids:
        return f'<span class="n">{_text(piece.text)}</span>'
    kind = ("t" if piece.text else "e") + (" m" if piece.trained else "") + (" c" if piece.cut else "")
    ids = " ".join(map(str, piece.ids))
    state = "cut off" if piece.cut else "trained" if piece.trained else "not trained"
    about = f"id {ids} · characters {piece.start}–{piece.stop} · {state}"
    return f'<span class="{kind}" data-about="{escape(about)}">{_text(piece.text)}</span>'


def _text(text: str) -> str:
    """Escaped; a line's end is marked by style alone, so that what is copied is what was there."""
    return escape(text).replace("\r", "&#13;").replace("\n", '<i class="nl"></i>\n')
