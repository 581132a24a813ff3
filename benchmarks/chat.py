"""Chats beside transformers: rendering, text + ids + mask, collators; and packing. One table with targets.

    python -m benchmarks.chat [--only render,mask,reference,collate,pack] [--clock wall|cpu] [--rounds 7]

A conversation has 9 messages and about 6,600 characters. With ARROWPREP_CONFORMANCE every template of the
golden data and Qwen 3's tokenizer are measured, else two templates of the shapes people use and GPT-2's. The
sides take turns, the best round of each counts; answers that differ end the run. About three minutes.
"""

from __future__ import annotations

import argparse
import csv
import importlib.util
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from arrowprep import data, load_tokenizer
from benchmarks.chat_templates import LONG, SHORT, conversation

CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}
CHATS = 64  # of a batch
HOME = os.environ.get("ARROWPREP_CONFORMANCE")


class Row(NamedTuple):
    """What was measured: seconds of the peer and ours, and how many times faster we want to be."""

    what: str
    theirs: float
    ours: float
    target: float | None

    def __str__(self) -> str:
        ratio = self.theirs / self.ours
        judged = (
            "" if self.target is None else f"{self.target:6.1f}  {'ok' if ratio >= self.target else 'BELOW'}"
        )
        return f"{self.what:58} {self.theirs * 1e3:10.3f} {self.ours * 1e3:10.3f} {ratio:7.2f} {judged}"


def best(calls: list[Callable[[], Any]], clock: str, rounds: int, repeat: int = 1) -> list[float]:
    """Seconds of each call, the best of some rounds in which they take turns."""
    now, times = CLOCKS[clock], [float("inf")] * len(calls)
    for _ in range(rounds):
        for which, call in enumerate(calls):
            start = now()
            for _ in range(repeat):
                call()
            times[which] = min(times[which], (now() - start) / repeat)
    return times


# --- rendering ---


def templates() -> dict[str, tuple[str, dict[str, str]]]:
    """Text and special tokens by name."""
    if HOME is None:
        tokens = {"bos_token": "<s>", "eos_token": "</s>"}
        return {"short": (SHORT, tokens), "long": (LONG, tokens), "chatml": (data.CHATML.read_text(), tokens)}
    folder = Path(HOME) / "chat_templates"
    with (folder / "MANIFEST.tsv").open() as rows:
        return {
            row["name"]: (
                (folder / f"{row['name']}.jinja").read_bytes().decode(),
                {name: row[name] for name in ("bos_token", "eos_token") if row[name] not in ("-", "")},
            )
            for row in csv.DictReader(rows, delimiter="\t", quoting=csv.QUOTE_NONE)
        }


def rendering(clock: str, rounds: int) -> Iterator[Row]:
    from tokenizers import Tokenizer, models
    from transformers import PreTrainedTokenizerFast

    from arrowprep.chat import ChatTemplate
    from arrowprep.errors import TemplateError

    words = models.WordLevel({"<unk>": 0}, unk_token="<unk>")
    for name, (source, tokens) in templates().items():
        tokenizer = PreTrainedTokenizerFast(tokenizer_object=Tokenizer(words), **tokens)
        tokenizer.chat_template = source
        template = ChatTemplate(source, special_tokens=tokens)
        try:
            text = template.render(conversation()).text
        except TemplateError:  # it takes no system message, or has other demands
            continue
        if text != tokenizer.apply_chat_template(conversation(), tokenize=False):
            raise SystemExit(f"{name}: the texts differ")
        sides = [
            lambda t=tokenizer: t.apply_chat_template(conversation(), tokenize=False),
            lambda t=template: t.render(conversation()).text,
        ]
        yield Row(f"render {name}", *best(sides, clock, rounds, repeat=20), 1.5)


# --- text, ids and mask ---


def tokenizers() -> tuple[Any, Any]:
    """transformers' and ours, of the same files and with the same template."""
    import gzip

    from transformers import PreTrainedTokenizerFast

    source = Path(HOME) / "tokenizers/qwen3/tokenizer.json.gz" if HOME else data.GPT2 / "tokenizer.json.gz"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "tokenizer.json")
        path.write_bytes(gzip.decompress(source.read_bytes()))
        theirs, ours = PreTrainedTokenizerFast(tokenizer_file=str(path)), load_tokenizer(path)
    theirs.chat_template = ours.chat_template = data.CHATML.read_text()
    return theirs, ours


def masks(clock: str, rounds: int) -> Iterator[Row]:
    theirs, ours = tokenizers()
    chats = [conversation(number) for number in range(CHATS)]
    options = {"return_dict": True, "return_assistant_tokens_mask": True}

    def one_a_call() -> None:
        for chat in chats:
            theirs.apply_chat_template(chat, **options)

    mine, batched = (partial(side.apply_chat_template, chats, **options) for side in (ours, theirs))
    names = {"input_ids": "input_ids", "assistant_masks": "assistant_masks"}
    if any(mine()[name] != batched()[other] for name, other in names.items()):
        raise SystemExit("ids or masks differ")
    what = f"text + ids + mask of {CHATS} chats"
    single, together, taken = best([one_a_call, batched, mine], clock, rounds)
    engine = ours.backend_tokenizer.engine.engine.name
    kernel = engine == "native"
    yield Row(f"{what}, {engine} engine, beside one a call", single, taken, 20.0 if kernel else 2.0)
    yield Row(f"{what}, {engine} engine, beside a batch", together, taken, 10.0 if kernel else 2.0)


def reference_masks(clock: str, rounds: int) -> Iterator[Row]:
    """The same on the reference engine, in a process of its own, for the engine is chosen once."""
    command = [
        sys.executable,
        "-m",
        "benchmarks.chat",
        "--only",
        "mask",
        "--clock",
        clock,
        "--rounds",
        str(rounds),
    ]
    done = subprocess.run(
        [*command, "--plain"],
        env={**os.environ, "ARROWPREP_ENGINE": "reference"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(done.stderr)
    for line in done.stdout.splitlines():
        what, theirs, ours, target = line.split("\t")
        yield Row(what, float(theirs), float(ours), None if target == "None" else float(target))


# --- batches ---


def collators(clock: str, rounds: int) -> Iterator[Row]:
    """32 rows of up to 2,000 tokens, given as a training loop hands them over, as arrays and as Arrow."""
    from tokenizers import Tokenizer, models
    from transformers import DataCollatorForSeq2Seq, PreTrainedTokenizerFast
    from transformers import DataCollatorWithPadding as Theirs

    from arrowprep.chat import DataCollatorWithPadding

    words = models.WordLevel({"<pad>": 0}, unk_token="<pad>")
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=Tokenizer(words), pad_token="<pad>")
    random = np.random.default_rng(0)
    ids = [random.integers(0, 50_000, length) for length in random.integers(1000, 2001, 32)]
    lists = [{"input_ids": row.tolist(), "attention_mask": [1] * len(row)} for row in ids]
    labelled = [{**row, "labels": row["input_ids"]} for row in lists]
    arrays = [{"input_ids": row, "attention_mask": np.ones(len(row), np.int64)} for row in ids]
    theirs, ours = (kind(tokenizer, return_tensors="np") for kind in (Theirs, DataCollatorWithPadding))
    with_labels = DataCollatorForSeq2Seq(tokenizer, return_tensors="np")
    tables = [pa.table({name: [row[name] for row in rows] for name in rows[0]}) for rows in (lists, labelled)]
    for name, array in theirs(lists).items():
        if not (np.array_equal(array, ours(lists)[name]) and np.array_equal(array, ours(tables[0])[name])):
            raise SystemExit(f"the collated {name} differ")
    rows = {
        "lists": (lambda: theirs(lists), lambda: ours(lists)),
        "arrays": (lambda: theirs(arrays), lambda: ours(arrays)),
        "lists there, an Arrow table here": (lambda: theirs(lists), lambda: ours(tables[0])),
        "with labels, lists": (lambda: with_labels(labelled), lambda: ours(labelled)),
        "with labels, lists there, an Arrow table here": (
            lambda: with_labels(labelled),
            lambda: ours(tables[1]),
        ),
    }
    for what, sides in rows.items():
        target = None if what.endswith("lists") else 10.0  # reading a list of numbers is the same for all
        yield Row(f"collate 32 x 2,000, {what}", *best(list(sides), clock, 3 * rounds), target)


# --- packing ---


def packing(clock: str, rounds: int) -> Iterator[Row]:
    """A million lengths into packs of 2,048; beside seqpacker's best fit where that is installed."""
    from arrowprep.chat import pack

    random = np.random.default_rng(0)
    lengths = np.clip(random.lognormal(5.5, 1.0, 1_000_000).astype(np.int64), 1, 2048)
    for strategy in ("bfd", "in_order"):
        plan = pack(lengths, 2048, strategy)
        [taken] = best([lambda s=strategy: pack(lengths, 2048, s)], clock, max(2, rounds // 2))
        yield Row(
            f"pack 1,000,000 lengths, {strategy}, {plan.efficiency:.2%} full, beside 1 s", 1.0, taken, 1.0
        )
    if importlib.util.find_spec("seqpacker") is None:
        print("seqpacker is not installed; a test compares with an exact online best fit", file=sys.stderr)
        return
    import seqpacker

    packer = seqpacker.Packer(capacity=2048, strategy="obfd")
    result = (
        packer.pack_flat(lengths.tolist()) if hasattr(packer, "pack_flat") else packer.pack(lengths.tolist())
    )
    taken, ours = best([lambda: packer.pack(lengths.tolist()), lambda: pack(lengths, 2048, "bfd")], clock, 2)
    yield Row(f"the same beside seqpacker, {result.efficiency:.2%} full there", taken, ours, None)


PARTS = {
    "render": rendering,
    "mask": masks,
    "reference": reference_masks,
    "collate": collators,
    "pack": packing,
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", type=lambda text: text.split(","), default=list(PARTS))
    parser.add_argument("--clock", choices=CLOCKS, default="wall", help="cpu for a machine that is busy")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--plain", action="store_true", help="rows to be read by a program")
    given = parser.parse_args()
    if not given.plain:
        print(f"{'':58} {'peer, ms':>10} {'ours, ms':>10} {'ratio':>7} {'target':>6}")
    for part in given.only:
        for row in PARTS[part](given.clock, given.rounds):
            print("\t".join(map(str, row)) if given.plain else row, flush=True)


if __name__ == "__main__":
    main()
