"""Pipelines as models have them, tokens added to both at run time: both are asked the same.

`python -m tests.differential.test_random_presets SEED...` draws others.
"""

from __future__ import annotations

import pickle
import random
import sys
from collections.abc import Callable
from typing import Any

import pytest

import arrowprep.tokenize as ours
from tests.differential.presets import ADDED, peer, text, trained
from tests.differential.test_random_tokenizers import outcome, seen

Ask = Callable[[Any, Any], Any]  # of a library and its tokenizer


def added(draw: random.Random) -> list[tuple[str, list[tuple[str, dict[str, bool]]]]]:
    """Methods that add tokens, and what with; no token twice, whose flags the peer then mixes up."""
    names = ["single_word", "lstrip", "rstrip", "normalized", "special"]
    contents = draw.sample(ADDED, draw.randrange(6))
    return [
        (
            draw.choice(["add_tokens", "add_special_tokens"]),
            [(content, {name: draw.random() < 0.4 for name in draw.sample(names, draw.randrange(4))})],
        )
        for content in contents
    ]


def add(library: Any, tok: Any, calls: list[Any]) -> list[int]:
    return [
        getattr(tok, method)([library.AddedToken(content, **flags) for content, flags in tokens])
        for method, tokens in calls
    ]


def is_settled(tok: Any) -> bool:
    """Whether no two added tokens are the same once normalized, and none is nothing: lots decide there."""
    normalize = tok.normalizer.normalize_str if tok.normalizer else str
    found = [
        normalize(token.content) for token in tok.get_added_tokens_decoder().values() if token.normalized
    ]
    return "" not in found and len(set(found)) == len(found)


def positions(encoding: Any) -> list[Any]:
    """All that an encoding can be asked about its first places."""
    places = ("char_to_token", "char_to_word", "word_to_tokens", "word_to_chars")
    found = [
        outcome(lambda name=name, at=at, text=text: getattr(encoding, name)(at, text))  # type: ignore[misc]
        for text in range(encoding.n_sequences or 1)
        for at in range(12)
        for name in places
    ]
    tokens = ("token_to_chars", "token_to_word", "token_to_sequence")
    return found + [
        outcome(lambda name=name, at=at: getattr(encoding, name)(at))  # type: ignore[misc]
        for at in range(8)
        for name in tokens
    ]


def streamed(library: Any, tok: Any, ids: list[int], skip: bool) -> list[Any]:
    stream = library.decoders.DecodeStream(skip_special_tokens=skip)
    return [outcome(lambda id=id: stream.step(tok, id)) for id in ids]  # type: ignore[misc]


def merged(library: Any, tok: Any, one: str, two: str, left: bool) -> list[Any]:
    whole = library.Encoding.merge([tok.encode(one), tok.encode(two)], left)
    whole.pad(30, direction="left", pad_id=3, pad_token="<pad>", pad_type_id=1)
    padded = seen(whole)
    whole.truncate(5, 1, "left" if left else "right")
    return [padded, seen(whole)]


def questions(draw: random.Random) -> list[tuple[str, Ask]]:
    one, two, yes = text(draw), text(draw), draw.random() < 0.7
    words, more = ([text(draw) for _ in range(draw.randrange(4))] for _ in range(2))
    ids = [draw.randrange(300) for _ in range(draw.randrange(9))]
    said = f"{one!r}, {two!r}, {words!r}, {more!r}, {ids}, {yes}"
    batch = [one, (one, two), two]
    asked: dict[str, Ask] = {
        "encode": lambda _, tok: seen(tok.encode(one, add_special_tokens=yes)),
        "positions": lambda _, tok: positions(tok.encode(one)),
        "pair": lambda _, tok: seen(tok.encode(one, two, add_special_tokens=yes)),
        "positions of a pair": lambda _, tok: positions(tok.encode(one, two, add_special_tokens=yes)),
        "words": lambda _, tok: seen(tok.encode(words, is_pretokenized=True, add_special_tokens=yes)),
        "words in pairs": lambda _, tok: seen(tok.encode(words, more, is_pretokenized=True)),
        "batch": lambda _, tok: [seen(encoding) for encoding in tok.encode_batch(batch)],
        "fast": lambda _, tok: [seen(encoding) for encoding in tok.encode_batch_fast(batch)],
        "post_process": lambda _, tok: seen(
            tok.post_process(
                tok.encode(one, add_special_tokens=False), tok.encode(two, add_special_tokens=False)
            )
        ),
        "decode": lambda _, tok: (tok.decode(ids), tok.decode(ids, skip_special_tokens=False)),
        "there and back": lambda _, tok: tok.decode(tok.encode(one).ids, skip_special_tokens=yes),
        "stream": lambda library, tok: streamed(library, tok, tok.encode(one).ids, yes),
        "stream of ids": lambda library, tok: streamed(library, tok, ids, yes),
        "normalized": lambda _, tok: tok.normalizer.normalize_str(one),
        "pieces": lambda _, tok: tok.pre_tokenizer.pre_tokenize_str(one),
        "model": lambda _, tok: [(token.id, token.value) for token in tok.model.tokenize(one)],
        "merge": lambda library, tok: merged(library, tok, one, two, yes),
    }
    return [(f"{name} of {said}", ask) for name, ask in asked.items()]


def limit(draw: random.Random, toks: list[Any]) -> None:
    options = {
        "max_length": draw.randrange(7, 16),
        "stride": draw.randrange(3),
        "strategy": draw.choice(["longest_first", "only_first", "only_second"]),
        "direction": draw.choice(["left", "right"]),
    }
    padding = {"length": draw.choice([None, 9]), "pad_to_multiple_of": draw.choice([None, 4])}
    side, pads = draw.choice(["left", "right"]), draw.random() < 0.6
    for tok in toks:
        outcome(lambda tok=tok: tok.enable_truncation(**options))  # type: ignore[misc]
        if pads:
            tok.enable_padding(direction=side, pad_id=3, pad_token="<pad>", pad_type_id=1, **padding)


FILE: list[tuple[str, Ask]] = [
    ("to_str", lambda _, tok: (tok.to_str(), tok.to_str(pretty=True))),
    ("vocabulary", lambda _, tok: sorted(tok.get_vocab().items())),
    ("sizes", lambda _, tok: (tok.get_vocab_size(), tok.get_vocab_size(False))),
    ("added", lambda _, tok: {id: repr(token) for id, token in tok.get_added_tokens_decoder().items()}),
]


def differences(seed: int) -> tuple[int, list[str]]:
    """How many questions were asked, and those with different answers."""
    drawn = trained(seed)
    if drawn is None:
        return 0, []
    draw, file = drawn
    libraries = [ours, peer]
    toks = [library.Tokenizer.from_str(file) for library in libraries]
    calls = added(draw)
    counts = [add(library, tok, calls) for library, tok in zip(libraries, toks, strict=True)]
    assert counts[0] == counts[1], calls
    if not is_settled(toks[1]):
        return 0, []
    found: list[str] = []
    asked = list(FILE)
    for change in (None, limit, pickle):
        if change is limit:
            limit(draw, toks)
        if change is pickle:
            toks = [pickle.loads(pickle.dumps(tok)) for tok in toks]
            for tok in toks:
                tok.encode_special_tokens = seed % 2 == 0
        for _ in range(2):
            asked += questions(draw)
        for name, ask in asked:
            here, there = (
                outcome(lambda a=ask, lib=library, t=tok: a(lib, t))  # type: ignore[misc]
                for library, tok in zip(libraries, toks, strict=True)
            )
            if here != there and there != "refused":
                found.append(f"seed {seed}: {name}\n  here  {here}\n  there {there}")
    return 3 * len(asked), found


@pytest.mark.parametrize("seeds", [range(12), range(12, 24)])
def test_presets_are_the_same_here_and_there(seeds: range) -> None:
    asked, found = 0, []
    for seed in seeds:
        count, different = differences(seed)
        asked += count
        found += different
    assert asked > 1000
    assert not found, "\n".join(found[:3])


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        print(*differences(int(argument)), sep="\n")
