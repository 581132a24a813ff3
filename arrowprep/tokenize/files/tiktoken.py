"""Read .tiktoken files: byte-level BPE whose merges are ordered by the rank of what they make."""

from __future__ import annotations

import binascii
import re
from collections.abc import Mapping, Sequence, Sized
from itertools import accumulate, pairwise

from arrowprep.errors import BadArgument, BadTokenizerFile
from arrowprep.tokenize.added_tokens import AddedToken
from arrowprep.tokenize.byte_characters import BYTE_CHARACTERS
from arrowprep.tokenize.component import Component
from arrowprep.tokenize.decoders import ByteLevel as ByteLevelDecoder
from arrowprep.tokenize.files.tiktoken_sets import BY_SIZE, SETS, PatternSet
from arrowprep.tokenize.models import BPE
from arrowprep.tokenize.models.bpe_tables import BpeTables
from arrowprep.tokenize.models.flat import FlatVocabulary
from arrowprep.tokenize.native_files import read_ranks
from arrowprep.tokenize.patterns import Regex
from arrowprep.tokenize.pre_tokenizers import ByteLevel, Split
from arrowprep.tokenize.pre_tokenizers import Sequence as PreTokenizers
from arrowprep.tokenize.processors import ByteLevel as ByteLevelProcessor
from arrowprep.tokenize.tokenizer import Tokenizer
from arrowprep.tokenize.tokenizer_json import TokenizerFile

LONGEST = 1024  # bytes of a token; every place to cut one is tried. Real ones have at most 256
DEFAULT = "cl100k"

Ranks = dict[bytes, int]


def read_tiktoken(
    content: bytes,
    place: str = "the file",
    pattern: str | None = None,
    special_tokens: Mapping[str, int] | None = None,
) -> Tokenizer:
    """The tokenizer of a .tiktoken file's content.

    pattern: the name of a known one (gpt2, r50k, p50k, whisper, cl100k, o200k, qwen,
        llama3) or a regular expression; None goes by the number of ranks, and takes
        cl100k's for a number that is not known
    special_tokens: with their ids; None takes those that go with a known pattern

    Raises BadTokenizerFile, which names the line.
    """
    flat = read_ranks(content)
    known = flat is not None and has_every_byte(flat)
    vocabulary = flat if flat and known else spelled_ranks(parse_ranks(content, place), place)
    chosen = _pattern_set(pattern, len(_numbers(vocabulary)))
    specials = chosen.special_tokens if special_tokens is None else special_tokens
    return byte_pair_tokenizer(vocabulary, chosen.pattern, specials)


def _numbers(vocabulary: dict[str, int] | FlatVocabulary) -> Sized:
    return vocabulary.numbers if isinstance(vocabulary, FlatVocabulary) else vocabulary


def _pattern_set(pattern: str | None, num_ranks: int) -> PatternSet:
    if pattern is None:
        known = BY_SIZE.get(num_ranks)
        return SETS[known] if known else PatternSet(SETS[DEFAULT].pattern)
    return SETS.get(pattern.removesuffix("_base")) or PatternSet(pattern)


def parse_ranks(content: bytes, place: str) -> Ranks:
    """Lines of `base64 rank`, as token bytes to rank."""
    if _LINES.fullmatch(content if content.endswith(b"\n") else content + b"\n"):
        fields = content.split()
        tokens = decode_all(fields[::2])
        ranks = dict(zip(tokens or (), map(int, fields[1::2]), strict=False))
        if 2 * len(ranks) == len(fields):
            return ranks
    return _parse_lines(content, place)


def _parse_lines(content: bytes, place: str) -> Ranks:
    """The same, line by line, in three times the time: names the line that is wrong."""
    ranks: Ranks = {}
    for number, line in enumerate(content.splitlines(), 1):
        if not line:
            continue
        try:
            encoded, rank = line.split(b" ")
            token = decode_base64(encoded)
            ranks[token] = _new_rank(rank, token, ranks)
        except (ValueError, binascii.Error) as error:
            said = line[:60].decode("utf-8", "replace")
            raise BadTokenizerFile(
                f"{place}, line {number}: {said!r} is not a token in base64 and its rank ({error})",
                place=f"line {number}",
                line=number,
            ) from error
    return ranks


def _new_rank(rank: bytes, token: bytes, ranks: Ranks) -> int:
    if not rank.isdigit() or len(rank) > 10:
        raise ValueError(f"the rank {rank[:20]!r} is no number below 2^32")
    if token in ranks:
        raise ValueError("the token is there already")
    return int(rank)


def spelled_ranks(ranks: Ranks, place: str, first_id: int = 0) -> dict[str, int]:
    """Tokens in byte characters and their ids, by rank. Raises BadTokenizerFile, as `check_ranks`.

    first_id: the id of rank 0; special tokens may stand below it
    """
    check_ranks(ranks, place)
    tokens, numbers = list(ranks), list(ranks.values())
    if numbers != sorted(numbers):
        tokens, numbers = sorted(tokens, key=ranks.__getitem__), sorted(numbers)
    return dict(zip(_spelled(tokens), (rank + first_id for rank in numbers), strict=True))


def has_every_byte(vocabulary: FlatVocabulary) -> bool:
    """Whether every text can be encoded."""
    return all(vocabulary.place_of(character) >= 0 for character in BYTE_CHARACTERS)


def byte_pair_tokenizer(
    vocabulary: dict[str, int] | FlatVocabulary, pattern: str, special_tokens: Mapping[str, int]
) -> Tokenizer:
    """The pipeline that cuts by a pattern and merges bytes by rank.

    vocabulary: tokens in byte characters, by rank
    """
    model = BPE(ignore_merges=True)
    model._tables = BpeTables(vocabulary)
    parts: dict[str, Component | None] = {
        "pre_tokenizer": PreTokenizers([_split(pattern), ByteLevel(add_prefix_space=False, use_regex=False)]),
        "decoder": ByteLevelDecoder(),
        "post_processor": ByteLevelProcessor(trim_offsets=False),
    }
    added = [(id, AddedToken(token, special=True, normalized=False)) for token, id in special_tokens.items()]
    return Tokenizer.from_parts(TokenizerFile(model, parts, added))


def _split(pattern: str) -> Split:
    try:
        return Split(Regex(pattern), "isolated")
    except (ValueError, re.error) as error:
        raise BadArgument(f"the pattern {pattern!r} cannot be used: {error}", pattern=pattern) from error


def check_ranks(ranks: Ranks, place: str) -> None:
    """Raises BadTokenizerFile where ranks cannot encode every text in one way."""
    if missing := [byte for byte in range(256) if bytes([byte]) not in ranks]:
        raise BadTokenizerFile(
            f"{place} has no token for the byte 0x{missing[0]:02X}, so not every text can be encoded;"
            " is it cut short?",
            place=place,
        )
    if len(set(ranks.values())) < len(ranks):
        seen: set[int] = set()
        twice = next(rank for rank in ranks.values() if rank in seen or seen.add(rank))  # type: ignore[func-returns-value]
        raise BadTokenizerFile(f"{place} gives the rank {twice} to two tokens", place=place, rank=twice)
    if max(map(len, ranks)) > LONGEST:
        longest = max(ranks, key=len)
        raise BadTokenizerFile(
            f"{place} has a token of {len(longest)} bytes, rank {ranks[longest]}; {LONGEST} is the most",
            place=place,
            rank=ranks[longest],
        )


_TO_CHARACTERS = dict(enumerate(BYTE_CHARACTERS))


def _spelled(tokens: list[bytes]) -> list[str]:
    """Tokens in byte characters: all at once, for each alone takes three times as long."""
    text = b"".join(tokens).decode("latin-1").translate(_TO_CHARACTERS)
    stops = list(accumulate(map(len, tokens), initial=0))
    return [text[start:stop] for start, stop in pairwise(stops)]


_LINES = re.compile(rb"(?:(?:[A-Za-z0-9+/]+={0,2}|=) [0-9]{1,10}\r?\n)*")
_ALL_BASE64 = re.compile(rb"(?:[A-Za-z0-9+/]*={0,2}\n)*")
_BASE64 = re.compile(rb"[A-Za-z0-9+/]*={0,2}")


def decode_base64(encoded: bytes) -> bytes:
    """Raises ValueError for what is not base64; `=` alone, which Whisper's file has, is an empty token."""
    if not _BASE64.fullmatch(encoded):
        raise ValueError("not base64")
    return binascii.a2b_base64(encoded)


def decode_all(encoded: Sequence[bytes]) -> list[bytes] | None:
    """All of them, or None where one is not base64."""
    if not _ALL_BASE64.fullmatch(b"\n".join([*encoded, b""])):
        return None
    try:
        return list(map(binascii.a2b_base64, encoded))
    except binascii.Error:
        return None
