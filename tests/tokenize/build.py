"""Tokenizers made by hand for the tests, each small enough to see whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from arrowprep.tokenize import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
from arrowprep.tokenize.patterns import Regex
from arrowprep.tokenize.pre_tokenizers import ByteLevel

MERGES = ["h e", "l l", "he ll", "hell o", "Ġ w", "o r", "Ġw or", "l d", "Ġwor ld", "Ġ hello", "Ã ©", "Ġ Ġ"]


def byte_bpe(merges: Sequence[str] = MERGES, **options: Any) -> models.BPE:
    """Byte-level BPE: the 256 bytes, then a token for each merge."""
    tokens = [*ByteLevel.alphabet(), *(merge.replace(" ", "") for merge in merges)]
    vocab = {token: id for id, token in enumerate(dict.fromkeys(tokens))}
    return models.BPE(vocab, [tuple(merge.split(" ")) for merge in merges], **options)


def byte_tokenizer(
    *,
    normalizer: normalizers.Normalizer | None = None,
    prefix: bool = False,
    template: str | None = None,
    special: Sequence[str] = ("<s>", "</s>"),
) -> Tokenizer:
    """GPT-2's pieces over `byte_bpe`; special tokens from id 268 on."""
    tok = Tokenizer(byte_bpe())
    tok.normalizer = normalizer
    tok.pre_tokenizer = ByteLevel(add_prefix_space=prefix)
    tok.decoder = decoders.ByteLevel()
    tok.add_special_tokens(list(special))
    if template:
        ids = [(token, tok.token_to_id(token)) for token in special]
        tok.post_processor = processors.TemplateProcessing(
            single=template, pair="<s> $A </s> $B:1 </s>:1", special_tokens=ids
        )
    return tok


def grammar_tokenizer(patterns: Sequence[str]) -> Tokenizer:
    """Patterns one after the other before byte-level BPE."""
    tok = Tokenizer(byte_bpe())
    splits = [pre_tokenizers.Split(Regex(pattern), "isolated") for pattern in patterns]
    tok.pre_tokenizer = pre_tokenizers.Sequence([*splits, ByteLevel(add_prefix_space=False, use_regex=False)])
    return tok


def split_tokenizer(pattern: Any, behavior: str = "isolated", invert: bool = False) -> Tokenizer:
    """A pattern before byte-level BPE, as newer files have it."""
    tok = Tokenizer(byte_bpe())
    tok.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Split(pattern, behavior, invert), ByteLevel(add_prefix_space=False, use_regex=False)]
    )
    tok.decoder = decoders.ByteLevel()
    return tok
