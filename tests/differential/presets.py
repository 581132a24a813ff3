"""Pipelines as models have them, with a vocabulary that the peer learnt from random texts."""

from __future__ import annotations

import random
from typing import Any

import pytest

from tests.differential.test_random_tokenizers import Draw

peer: Any = pytest.importorskip("tokenizers", reason="tokenizers is not installed: nothing to compare with")

SPECIAL = ["<unk>", "<s>", "</s>", "<pad>", "[CLS]", "[SEP]", "[MASK]"]
BYTES = [f"<0x{byte:02X}>" for byte in range(256)]
ADDED = [
    *("<|im_start|>", "hello", "Hello", "lo w", " the", "123", "\n\n", "\t", "▁the", "é", "e\u0301", "猫"),
    *("  ", "    ", "ing", "<x>", "[MASK]", "world"),
]
TEXTS = [
    *("The quick brown fox jumps over the lazy dog. ", "hello world ", "don't we'll I'M ", "naïve café "),
    *("日本語のテキスト ", "한국어 텍스트 ", "Привет мир ", "مرحبا بالعالم ", "def f(x):\n    return x**2\n"),
    *(
        "1234567 3.14 ",
        "🙂👍🏽👨\u200d👩\u200d👧 ",
        "  \t\n ",
        "e\u0301a\u0327 ",
        "ﬁ ﷺ Ⅷ ½ ",
        "İstanbul ΣΑΣ ẞ ",
    ),
]
SPLITS = [
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+",
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
    r"| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s+",
    r"\p{N}{1,3}",
    r"[一-龥぀-ゟ゠-ヿ]+",
]


def text(draw: random.Random) -> str:
    """Of sentences and tokens, or of single characters."""
    if draw.random() < 0.5:
        parts = (
            draw.choice(TEXTS if draw.random() < 0.6 else ADDED + SPECIAL) for _ in range(draw.randrange(6))
        )
        return "".join(parts)
    return Draw(draw.random()).text(12)


def gemma(draw: random.Random) -> tuple[Any, Any]:
    tok = peer.Tokenizer(peer.models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    tok.normalizer = peer.normalizers.Replace(" ", "▁")
    tok.pre_tokenizer = peer.pre_tokenizers.Split(" ", "merged_with_previous")
    tok.decoder = _spaces_back()
    special = SPECIAL + BYTES if draw.random() < 0.7 else SPECIAL
    return tok, _bpe(draw, special_tokens=special)


def llama(draw: random.Random) -> tuple[Any, Any]:
    """With visible spaces by normalizers, or as Mistral has them."""
    flags = {"fuse_unk": draw.random() < 0.7, "byte_fallback": draw.random() < 0.7}
    tok = peer.Tokenizer(peer.models.BPE(unk_token="<unk>", **flags))
    if draw.random() < 0.5:
        normalizers = peer.normalizers
        tok.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    else:
        tok.pre_tokenizer = peer.pre_tokenizers.Metaspace("▁", _scheme(draw), draw.random() < 0.5)
    tok.decoder = _spaces_back(peer.decoders.Strip(" ", 1, 0))
    return tok, _bpe(draw, special_tokens=SPECIAL + BYTES)


def bert(draw: random.Random) -> tuple[Any, Any]:
    tok = peer.Tokenizer(
        peer.models.WordPiece(unk_token="<unk>", max_input_chars_per_word=draw.choice([100, 6]))
    )
    accents, lower = draw.choice([None, True, False]), draw.random() < 0.6
    tok.normalizer = peer.normalizers.BertNormalizer(True, draw.random() < 0.7, accents, lower)
    tok.pre_tokenizer = peer.pre_tokenizers.BertPreTokenizer()
    tok.decoder = peer.decoders.WordPiece("##", draw.random() < 0.5)
    size = draw.choice([100, 400])
    return tok, peer.trainers.WordPieceTrainer(vocab_size=size, special_tokens=SPECIAL, show_progress=False)


def xlm_roberta(draw: random.Random) -> tuple[Any, Any]:
    tok = peer.Tokenizer(peer.models.Unigram())
    normalizers, cutters = peer.normalizers, peer.pre_tokenizers
    several = normalizers.Replace(peer.Regex(" {2,}"), " ")
    tok.normalizer = draw.choice(
        [
            normalizers.Sequence([normalizers.Nmt(), normalizers.NFKC(), several]),
            normalizers.Sequence([normalizers.Strip(left=False), several]),
        ]
    )
    spaces = cutters.Metaspace("▁", _scheme(draw), draw.random() < 0.7)
    tok.pre_tokenizer = draw.choice([spaces, cutters.Sequence([cutters.WhitespaceSplit(), spaces])])
    tok.decoder = peer.decoders.Metaspace("▁", _scheme(draw))
    return tok, peer.trainers.UnigramTrainer(
        vocab_size=250, special_tokens=SPECIAL, unk_token="<unk>", show_progress=False
    )


def byte_level(draw: random.Random) -> tuple[Any, Any]:
    tok = peer.Tokenizer(peer.models.BPE(ignore_merges=draw.random() < 0.3))
    normalizers, cutters = peer.normalizers, peer.pre_tokenizers
    tok.normalizer = draw.choice([None, None, normalizers.NFC(), normalizers.NFKC(), normalizers.Lowercase()])
    last = cutters.ByteLevel(draw.random() < 0.5, draw.random() < 0.5, draw.random() < 0.7)
    behaviors = ["isolated", "isolated", "removed", "merged_with_previous", "merged_with_next", "contiguous"]
    before = [
        cutters.Split(peer.Regex(draw.choice(SPLITS)), draw.choice(behaviors), draw.random() < 0.2)
        for _ in range(draw.randrange(3))
    ]
    digits = [cutters.Digits(draw.random() < 0.5)] if draw.random() < 0.3 else []
    tok.pre_tokenizer = cutters.Sequence([*before, *digits, last]) if before else last
    tok.decoder = peer.decoders.ByteLevel()
    alphabet = cutters.ByteLevel.alphabet() if draw.random() < 0.8 else []
    return tok, _bpe(draw, special_tokens=SPECIAL, initial_alphabet=alphabet)


def first_bpe(draw: random.Random) -> tuple[Any, Any]:
    """With a suffix, or with a prefix, or both."""
    marks = draw.choice([(None, "</w>"), ("##", None), ("##", "</w>")])
    given = {
        name: mark
        for name, mark in zip(("continuing_subword_prefix", "end_of_word_suffix"), marks, strict=True)
        if mark
    }
    unk, fuse = draw.choice(["<unk>", None]), draw.random() < 0.5
    tok = peer.Tokenizer(
        peer.models.BPE(unk_token=unk, fuse_unk=fuse, dropout=draw.choice([None, 0.0]), **given)
    )
    cutters = peer.pre_tokenizers
    tok.pre_tokenizer = draw.choice(
        [cutters.WhitespaceSplit(), cutters.BertPreTokenizer(), cutters.Whitespace()]
    )
    tok.decoder = draw.choice([peer.decoders.BPEDecoder("</w>"), peer.decoders.WordPiece("##")])
    return tok, _bpe(draw, special_tokens=SPECIAL, **given)


def words(draw: random.Random) -> tuple[Any, Any]:
    tok = peer.Tokenizer(peer.models.WordLevel(unk_token="<unk>"))
    cutters = peer.pre_tokenizers
    tok.pre_tokenizer = draw.choice([cutters.Whitespace(), cutters.UnicodeScripts(), cutters.Punctuation()])
    return tok, peer.trainers.WordLevelTrainer(vocab_size=100, special_tokens=SPECIAL, show_progress=False)


PRESETS = (gemma, llama, bert, xlm_roberta, byte_level, byte_level, first_bpe, words)


def post_processor(draw: random.Random, tok: Any) -> Any:
    """What stands around texts: one of the usual ones, or a template of several ids and types, or nothing."""
    processors, ids = peer.processors, {token: tok.token_to_id(token) for token in SPECIAL}
    cls, sep, bos, eos = ((token, ids[token]) for token in ("[CLS]", "[SEP]", "<s>", "</s>"))
    two = {"id": "</s>", "ids": [ids["</s>"], ids["<pad>"]], "tokens": ["</s>", "<pad>"]}
    flags = [draw.random() < 0.5, draw.random() < 0.5]
    template = processors.TemplateProcessing
    return draw.choice(
        [
            None,
            template("<s> $A", "<s> $A <s> $B", [bos]),
            template("[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1", [cls, sep]),
            processors.RobertaProcessing(eos, bos, *flags),
            processors.BertProcessing(sep, cls),
            processors.ByteLevel(*flags),
            processors.Sequence(
                [
                    processors.ByteLevel(trim_offsets=flags[0]),
                    template("<s> $A:1 </s>:2", "$A:0 </s> $B:1", [bos, two]),
                ]
            ),
        ]
    )


def trained(seed: int) -> tuple[random.Random, str] | None:
    """A tokenizer.json, and what further is drawn; None where the peer cannot train it."""
    draw = random.Random(seed)
    tok, trainer = draw.choice(PRESETS)(draw)
    corpus = [text(draw) for _ in range(draw.choice([20, 60]))]
    try:
        tok.train_from_iterator(corpus, trainer)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        return None
    tok.post_processor = post_processor(draw, tok)
    return draw, tok.to_str()


def _spaces_back(*more: Any) -> Any:
    decoders = peer.decoders
    return decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), *more])


def _scheme(draw: random.Random) -> str:
    return draw.choice(["always", "first", "never"])


def _bpe(draw: random.Random, **options: Any) -> Any:
    return peer.trainers.BpeTrainer(vocab_size=draw.choice([290, 400, 600]), show_progress=False, **options)
