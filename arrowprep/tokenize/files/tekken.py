"""Read tekken.json: Mistral's byte-level BPE, with its special tokens below the ranks."""

from __future__ import annotations

import json
from dataclasses import replace
from operator import itemgetter
from typing import Any

from arrowprep.errors import BadTokenizerFile, TokenizerError
from arrowprep.tokenize import native_files
from arrowprep.tokenize.bulk import uncollected
from arrowprep.tokenize.component import Spec
from arrowprep.tokenize.files.tiktoken import (
    Ranks,
    byte_pair_tokenizer,
    decode_all,
    decode_base64,
    has_every_byte,
    spelled_ranks,
)
from arrowprep.tokenize.models.flat import FlatVocabulary
from arrowprep.tokenize.special_tokens import frame_of
from arrowprep.tokenize.tokenizer import Tokenizer

MOST_SPECIAL = 1 << 16  # each is made, so a small file must not claim more
# what files of the first versions leave out
FIRST_SPECIAL = (
    *("<unk>", "<s>", "</s>", "[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]"),
    *("[TOOL_RESULTS]", "[/TOOL_RESULTS]", "[TOOL_CALLS]", "[IMG]", "<pad>", "[IMG_BREAK]", "[IMG_END]"),
    *("[PREFIX]", "[MIDDLE]", "[SUFFIX]", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]", "[TOOL_CONTENT]"),
)
ROLES = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}


def read_tekken(content: bytes, place: str = "tekken.json") -> Tokenizer:
    """The tokenizer of a tekken.json.

    An id is a rank plus the number of special tokens, and only so many ranks count as
    the config says. Calls put `<s>` in front. Special tokens in a text are text.

    Raises BadTokenizerFile, which names the place.
    """
    if flat := _read_flat(content):
        file, vocabulary = flat
    else:
        file, vocabulary = _parsed(content, place), None
    try:
        return _build(file, vocabulary)
    except TokenizerError as error:
        raise type(error)(f"{place}: {error.message}", **error.facts) from error


def _parsed(content: bytes, place: str) -> Spec:
    try:
        with uncollected():
            return Spec(json.loads(content), "tekken")
    except (ValueError, RecursionError) as error:
        raise BadTokenizerFile(f"{place} is not JSON: {error}", place=place) from error


def _read_flat(content: bytes) -> tuple[Spec, FlatVocabulary] | None:
    """The file without its vocabulary, and that as the kernel reads it; None where Python is to read all."""
    found = native_files.read_tekken(content)
    if found is None:
        return None
    rest, vocabulary = found
    try:
        file = Spec(json.loads(rest), "tekken")
        num_special, num_ranks = _counts(file.child("config"))
    except (ValueError, RecursionError):
        return None  # what is wrong is said with its place in the whole file
    vocabulary = vocabulary.first(min(max(num_ranks, 0), len(vocabulary.numbers)))
    if not has_every_byte(vocabulary) or vocabulary.numbers[-1] >= num_ranks:
        return None
    return file, replace(vocabulary, numbers=vocabulary.numbers + num_special)


def _counts(config: Spec) -> tuple[int, int]:
    """How many special tokens there are, and how many ranks."""
    num_special = config.count("default_num_special_tokens")
    if num_special > MOST_SPECIAL:
        raise config.bad(f"'default_num_special_tokens' is {num_special}, more than {MOST_SPECIAL}")
    return num_special, config.count("default_vocab_size") - num_special


def _build(file: Spec, vocabulary: dict[str, int] | FlatVocabulary | None) -> Tokenizer:
    config = file.child("config")
    num_special, num_ranks = _counts(config)
    if vocabulary is None:
        vocabulary = spelled_ranks(_ranks(file, num_ranks), "vocab", num_special)
    specials = {token: id for id, token in enumerate(_special_tokens(file, num_special))}
    tokenizer = byte_pair_tokenizer(vocabulary, config.text("pattern"), specials)
    if "<s>" in specials:
        tokenizer.post_processor = frame_of(("<s>", specials["<s>"]), None)
    tokenizer.encode_special_tokens = True
    return tokenizer


def _ranks(file: Spec, num_ranks: int) -> Ranks:
    entries = file.get("vocab", list)[: max(num_ranks, 0)]
    try:
        encoded = "\n".join(map(itemgetter("token_bytes"), entries)).encode().split(b"\n")
        numbers = list(map(itemgetter("rank"), entries))
    except (KeyError, TypeError, ValueError):
        return _ranks_one_by_one(file, entries, num_ranks)
    ranks = dict(zip(decode_all(encoded) or (), numbers, strict=False))
    right = set(map(type, numbers)) == {int} and min(numbers) >= 0 and max(numbers) < num_ranks
    return ranks if right and len(ranks) == len(entries) else _ranks_one_by_one(file, entries, num_ranks)


def _ranks_one_by_one(file: Spec, entries: list[Any], num_ranks: int) -> Ranks:
    """The same in three times the time: names the entry that is wrong."""
    ranks: Ranks = {}
    for i, entry in enumerate(entries):
        try:
            token, rank = decode_base64(entry["token_bytes"].encode()), entry["rank"]
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise _problem(Spec(entry, f"tekken.vocab[{i}]")) from error
        if type(rank) is not int or not 0 <= rank < num_ranks:
            raise file.bad(f"vocab[{i}] has the rank {rank!r}; the config counts {num_ranks}")
        if token in ranks:
            raise file.bad(f"vocab[{i}] is there already, as rank {ranks[token]}")
        ranks[token] = rank
    return ranks


def _problem(entry: Spec) -> TokenizerError:
    entry.count("rank")
    return entry.bad(f"'token_bytes' is {entry.text('token_bytes')[:60]!r}, which is not base64")


def _special_tokens(file: Spec, count: int) -> list[str]:
    """So many of them; a place that the file does not fill has a name by its number."""
    names = dict(enumerate(FIRST_SPECIAL))
    if file.get("special_tokens", (list, type(None)), None) is not None:
        names = {entry.count("rank"): entry.text("token_str") for entry in file.objects("special_tokens")}
    if names and max(names) >= count:
        names = {rank: name for rank, name in names.items() if rank < count}
    tokens = [names.get(rank, f"<SPECIAL_{rank}>") for rank in range(count)]
    if len(set(tokens)) < count:
        raise file.bad("two special tokens have the same text")
    return tokens
