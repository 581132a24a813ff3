"""ChatReport: what a preparation keeps of a dataset, drops and trains on, and what looks wrong."""

from __future__ import annotations

import html
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import pyarrow.compute as pc

from arrowprep.chat.packing import Packing
from arrowprep.chat.sft.encode import TWO_BOS, Fate
from arrowprep.chat.sft.encoded import Encoded, RunOptions, SFTDataset, encode_sft, find_problems
from arrowprep.chat.sft.examples import COLUMNS
from arrowprep.chat.sft.facts import Facts
from arrowprep.chat.sft.spec import SFTSpec
from arrowprep.chat.sft.traces import excerpts
from arrowprep.chat.template import ChatTemplate

__all__ = ["ChatReport", "Finding", "report_of", "report_sft"]

_GROUPS = ("dropped", "refused", "shortened", "unstopped", "no_bos", "problems", "added")  # of findings
_NAMED = 5  # rows that a finding names
_BAR = 40  # characters of the histogram's longest bar


@dataclass(frozen=True)
class Finding:
    """Something that rows have in common.

    rows: the numbers of the first of them
    example: how the first of them begins
    """

    what: str
    count: int
    rows: list[int]
    example: str = ""


@dataclass(frozen=True)
class ChatReport:
    """Rows are those of the data, tokens what the tokenizer made of them.

    rows_out: of the result: packs, where rows are packed
    pieces: rows that are kept, where split ones count as several
    tokens_in: of all rows; tokens_cut: of those, cut off rows that are kept; tokens_trained: with labels
    dropped: why, with rows; refused: what was wrong with them
    shortened: kept rows that lost tokens; unstopped: kept rows that train no stop token
    trains_stop, trains_no_stop, stop_unknown: kept rows by whether what they train ends in a stop token
    stops: which ones, and how many rows train each
    double_bos, no_bos: rows that begin in two bos tokens; that lack the one which the tokenizer puts first
    problems: what of the conversations never reached the text, and control tokens in it
    added: words that the template writes before the first message, such as a system message of its own
    lengths: (from, below, rows) by tokens of whole rows
    packing: packs, seq_length, efficiency, tokens_lost; None where rows are not packed
    """

    options: dict[str, Any]
    shape: str
    rows_in: int
    rows_out: int
    pieces: int
    tokens_in: int
    tokens_out: int
    tokens_cut: int
    tokens_trained: int
    longest: int
    dropped: list[Finding]
    refused: list[Finding]
    shortened: list[Finding]
    unstopped: list[Finding]
    no_bos: list[Finding]
    double_bos: int
    trains_stop: int
    trains_no_stop: int
    stop_unknown: int
    stops: dict[str, int]
    problems: list[Finding]
    added: list[Finding]
    lengths: list[tuple[int, int, int]]
    packing: dict[str, Any] | None

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain data."""
        return asdict(self)

    def to_json(self, indent: int | None = 2) -> str:
        """All of it as JSON text."""
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False)

    def facts(self) -> Iterator[tuple[str, str]]:
        """(name, value) as a person reads them."""
        yield "rows", f"{self.rows_in:,} in, {self.rows_out:,}{' packs' if self.packing else ''} out"
        yield (
            "tokens",
            f"{self.tokens_in:,} in, {self.tokens_out:,} out, {self.tokens_cut:,} cut off kept rows",
        )
        yield "trained", f"{self.tokens_trained:,} tokens ({_share(self.tokens_trained, self.tokens_out)})"
        if self.shape != "text":
            yield "train on", self._train_on()
        known = self.trains_stop + self.trains_no_stop + self.stop_unknown
        stops = f"{self.trains_stop:,} of {known:,} rows train one"
        stops += f", {self.stop_unknown:,} unknown" if self.stop_unknown else ""
        yield "stop token", stops + "".join(f"; {count:,} {stop!r}" for stop, count in self.stops.items())
        yield "bos", f"{self.double_bos:,} rows have two, {sum(f.count for f in self.no_bos):,} lack it"
        if self.packing:
            yield (
                "packing",
                (
                    f"{self.packing['packs']:,} packs of {self.packing['seq_length']:,}, "
                    f"{self.packing['efficiency']:.1%} full, {self.packing['tokens_lost']:,} tokens lost"
                ),
            )

    def _train_on(self) -> str:
        chosen = self.options
        parts = [chosen["train_on"], f"spans by {chosen['spans']}"]
        parts += [f"without {name}" for name in ("reasoning", "tool_calls") if not chosen[f"train_{name}"]]
        parts += [f"straddling tokens by {chosen['straddle']}"] if chosen["straddle"] != "overlap" else []
        parts += ["control tokens as text"] if chosen["sanitize"] else []
        if chosen["convention"]:
            parts += [name for name, is_trained in chosen["convention"].items() if is_trained]
        return ", ".join(parts).replace("_", " ")

    def findings(self) -> Iterator[tuple[str, Finding]]:
        """(group, finding), the groups in order."""
        return ((name.replace("_", " "), finding) for name in _GROUPS for finding in getattr(self, name))

    def __str__(self) -> str:
        lines = [f"{name:<12} {value}" for name, value in self.facts()]
        for group, found in self.findings():
            lines.append(f"{group:<12} {_counted(found)}")
        lines.append(f"tokens a row ({self.longest:,} in the longest)")
        most = max((count for *_, count in self.lengths), default=1)
        for start, stop, count in self.lengths:
            bar = "█" * -(-count * _BAR // most)
            lines.append(f"{start:>8,} to {stop - 1:<9,} {count:>9,} {bar}".rstrip())
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """The same as a table, for notebooks."""
        rows = [*self.facts()]
        rows += [(group, _counted(found)) for group, found in self.findings()]
        cells = "".join(f"<tr><th>{html.escape(n)}</th><td>{html.escape(v)}</td></tr>" for n, v in rows)
        most = max((count for *_, count in self.lengths), default=1)
        bars = "".join(
            f"<tr><th>{start:,}–{stop - 1:,}</th>"
            f"<td><meter max={most} value={count}></meter> {count:,}</td></tr>"
            for start, stop, count in self.lengths
        )
        return f"<table>{cells}</table><table><caption>Tokens a row</caption>{bars}</table>"


def report_sft(
    ds: SFTDataset,
    tokenizer: Any,
    *,
    template: str | ChatTemplate | None = None,
    num_proc: int | None = None,
    batch_size: int = 1000,
    load_from_cache_file: bool | None = None,
    **what: Any,
) -> ChatReport:
    """What `prepare_sft` with the same arguments does to the rows; both share one result in the cache.

    what: as of prepare_sft: max_length, train_on, truncation, packing, spans, stop_strings,
        convention, straddle, sanitize, columns
    """
    options = RunOptions(num_proc, batch_size, load_from_cache_file)
    encoded = encode_sft(ds, tokenizer, SFTSpec.of(**what), template, options)
    return report_of(ds, encoded, *traces_of(ds, tokenizer, encoded, options))


def traces_of(
    ds: SFTDataset, tokenizer: Any, encoded: Encoded, options: RunOptions
) -> tuple[list[Finding], list[Finding]]:
    """What rows have that never reached their text, and what the template adds; the most frequent first."""
    problems: dict[str, list[int]] = {}
    added: dict[str, list[int]] = {}
    for row, *of_row in find_problems(ds, tokenizer, encoded.reader, options):
        for rows, texts in zip((problems, added), of_row, strict=True):
            for text in texts:
                rows.setdefault(text, []).append(row)
    return _sorted(problems), _sorted(added)


def report_of(ds: SFTDataset, encoded: Encoded, problems: list[Finding], added: list[Finding]) -> ChatReport:
    """The report on the rows of a dataset, which are encoded."""
    facts, plan = encoded.facts, encoded.plan()
    trains, trains_not, unknown = facts.rows_by_stop()
    kept = facts.kept
    tokens_kept = int(facts.lengths[kept].sum())
    of_kept_rows = int(facts.tokens[np.isin(facts.rows, facts.rows[kept])].sum())
    whole = facts.tokens[facts.tokens > 0]
    report = ChatReport(
        options=asdict(encoded.spec),
        shape=encoded.reader.shape,
        rows_in=len(np.unique(facts.rows)),
        rows_out=int(kept.sum()) if plan is None else len(plan),
        pieces=int(kept.sum()),
        tokens_in=int(facts.tokens.sum()),
        tokens_out=tokens_kept if plan is None else tokens_kept - plan.tokens_lost,
        tokens_cut=of_kept_rows - tokens_kept + (plan.tokens_lost if plan else 0),
        tokens_trained=int(facts.trained.sum()),
        longest=int(whole.max(initial=0)),
        dropped=_dropped(facts),
        refused=_refused(facts),
        shortened=_shortened(facts),
        unstopped=_finding("no stop token is trained", trains_not),
        no_bos=_finding("the bos token that the tokenizer puts first is missing", _rows_without_bos(facts)),
        double_bos=pc.sum(pc.equal(facts.problems, TWO_BOS)).as_py() or 0,
        trains_stop=len(trains),
        trains_no_stop=len(trains_not),
        stop_unknown=len(unknown),
        stops=facts.trained_stops(),
        problems=problems,
        added=added,
        lengths=_histogram(whole),
        packing=_packing(plan),
    )
    return _with_examples(report, ds, COLUMNS[encoded.reader.shape])


def _with_examples(report: ChatReport, ds: SFTDataset, columns: Sequence[str]) -> ChatReport:
    """Each finding with the beginning of its first row."""
    firsts = sorted({finding.rows[0] for _, finding in report.findings()})
    if not firsts:
        return report
    words = excerpts(ds.select(firsts).with_format("arrow")[:], columns)
    begins = dict(zip(firsts, words, strict=True))
    groups: dict[str, Any] = {
        name: [replace(finding, example=begins[finding.rows[0]]) for finding in getattr(report, name)]
        for name in _GROUPS
    }
    return replace(report, **groups)


def _dropped(facts: Facts) -> list[Finding]:
    names = [name for name in facts.names if name != Fate.KEPT]
    found = [Finding(n, int(facts.of_fate(n).sum()), facts.first_rows(facts.of_fate(n))) for n in names]
    return sorted(found, key=lambda finding: -finding.count)


def _refused(facts: Facts) -> list[Finding]:
    rows: dict[str, list[int]] = {}
    refused = np.flatnonzero(facts.of_fate(Fate.REFUSED))
    for row, problem in zip(facts.rows[refused], facts.problems.take(refused).to_pylist(), strict=True):
        rows.setdefault(problem, []).append(int(row))
    return _sorted(rows)


def _shortened(facts: Facts) -> list[Finding]:
    """Rows with a kept piece whose pieces hold fewer tokens than the row."""
    rows, owners = np.unique(facts.rows, return_inverse=True)
    whole, left = (np.bincount(owners, weights=counts) for counts in (facts.tokens, facts.lengths))
    found = rows[(left > 0) & (left < whole)]
    return _finding("tokens were cut off", found)


def _rows_without_bos(facts: Facts) -> Any:
    return np.unique(facts.rows[facts.no_bos & facts.kept])


def _finding(what: str, rows: Any) -> list[Finding]:
    return [Finding(what, len(rows), rows[:_NAMED].tolist())] if len(rows) else []


def _sorted(rows: Mapping[str, list[int]]) -> list[Finding]:
    found = [Finding(what, len(of), of[:_NAMED]) for what, of in rows.items()]
    return sorted(found, key=lambda finding: -finding.count)


def _histogram(lengths: Any) -> list[tuple[int, int, int]]:
    """Rows by tokens, in steps that double."""
    if not len(lengths):
        return []
    powers = np.floor(np.log2(lengths)).astype(int)
    counts = np.bincount(powers)
    return [(1 << p, 2 << p, int(counts[p])) for p in range(int(powers.min()), len(counts))]


def _packing(plan: Packing | None) -> dict[str, Any] | None:
    if plan is None:
        return None
    return {
        "packs": len(plan),
        "seq_length": plan.seq_length,
        "efficiency": plan.efficiency,
        "tokens_lost": plan.tokens_lost,
    }


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.0%}" if whole else "none"


def _counted(finding: Finding) -> str:
    count, unit = finding.count, "row" if finding.count == 1 else "rows"
    more = ", …" if count > len(finding.rows) else ""
    example = f": {finding.example}" if finding.example else ""
    return f"{count:,} {unit}: {finding.what} ({unit} {', '.join(map(str, finding.rows))}{more}{example})"
