"""Run the main job on the packaged samples: files, tokens, cache, NumPy batches, an assistant mask."""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import arrowprep
from arrowprep import data
from arrowprep.cli.style import BOLD, GREEN, duration, paint
from arrowprep.config import configured

if TYPE_CHECKING:
    from arrowprep import Dataset, PreTrainedTokenizer

SUMMARY = "run the main job on the packaged samples"
MAX_LENGTH = 256  # tokens of a document
SHORT = 900  # characters of a conversation that fits a screen


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """How it runs; the rows are the same whatever is said here."""
    parser.add_argument("--num-proc", type=int, default=2, metavar="N", help="worker processes (default 2)")
    parser.add_argument("--cache-dir", type=Path, metavar="DIR", help="keep the cache (default: do not)")


def run(arguments: argparse.Namespace) -> None:
    """Print the four parts, each with what it took."""
    with _cache(arguments.cache_dir) as cache_dir, configured(cache_dir=cache_dir):
        tokenizer = arrowprep.load_tokenizer(data.GPT2)
        tokenizer.pad_token = tokenizer.eos_token
        choice = tokenizer.backend_tokenizer.engine
        print(f"arrowprep {arrowprep.__version__}, {choice.engine.name} engine ({choice.why})")
        documents = _load(data.DOCUMENTS)
        tokens = _tokenize(documents, tokenizer, arguments.num_proc)
        _show_batch(tokens)
        _show_conversation(tokenizer)


@contextmanager
def _cache(chosen: Path | None) -> Iterator[Path]:
    if chosen is not None:
        yield chosen
        return
    with tempfile.TemporaryDirectory(prefix="arrowprep-demo-") as folder:
        yield Path(folder)


def _heading(text: str) -> None:
    print("\n" + paint(text, BOLD))


def _timed(what: str, seconds: float, note: str = "") -> None:
    print(f"  {what:<34} {duration(seconds):>9}  {note}".rstrip())


def _load(path: Path) -> Dataset:
    _heading("Files become a memory-mapped Arrow dataset")
    load_local = arrowprep.load_local  # here, for it imports pyarrow, which is not to be timed
    for when in ("load_local", "again: found by its content"):
        begun = time.perf_counter()
        documents = load_local(path, split="train")
        _timed(when, time.perf_counter() - begun, f"{len(documents):,} documents")
    return documents


def _tokenize(documents: Dataset, tokenizer: PreTrainedTokenizer, num_proc: int) -> Dataset:
    _heading(f"map(tokenize, batched=True, num_proc={num_proc})")

    def tokenize(batch: Any) -> Any:
        return tokenizer(batch["text"], truncation=True, max_length=MAX_LENGTH, padding="max_length")

    seconds = []
    for when in ("map, GPT-2's tokenizer", "again: from the cache"):
        begun = time.perf_counter()
        tokens = documents.map(
            tokenize, batched=True, num_proc=num_proc, remove_columns=documents.column_names
        )
        seconds.append(time.perf_counter() - begun)
        rerun = f"{seconds[0] / seconds[-1]:,.0f} times faster" if len(seconds) > 1 else ""
        _timed(when, seconds[-1], rerun)
    return tokens


def _show_batch(tokens: Dataset) -> None:
    _heading('with_format("numpy"): views of the mapped file')
    batch = next(iter(tokens.with_format("numpy").iter(batch_size=8)))
    for name, values in batch.items():
        print(f"  {name:<15} {values.dtype!s:<6} {values.shape!s:<9} {values[0][:8]} ...")


def _fits_a_screen(messages: list[dict[str, str]]) -> bool:
    return len(messages) > 3 and sum(len(message["content"]) for message in messages) < SHORT


def _show_conversation(tokenizer: PreTrainedTokenizer) -> None:
    _heading("A conversation: what the assistant wrote, and training would learn, is marked")
    tokenizer.chat_template = data.CHATML.read_text()
    conversations = arrowprep.load_local(data.CONVERSATIONS, split="train")
    messages = next(filter(_fits_a_screen, conversations["messages"]))
    encoded = tokenizer.apply_chat_template(messages, return_dict=True, return_assistant_tokens_mask=True)
    pieces = zip(encoded["assistant_masks"], encoded["input_ids"], strict=True)
    shown = []
    for is_assistant, run in groupby(pieces, key=lambda piece: piece[0]):
        text = tokenizer.decode([token for _, token in run])
        shown.append(paint(text, GREEN, plain=("[", "]")) if is_assistant else text)
    print("".join(shown).rstrip("\n"))
    print(f"  {sum(encoded['assistant_masks'])} of {len(encoded['input_ids'])} tokens are the assistant's")
