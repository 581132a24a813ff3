"""Pipelines of published models around random vocabularies: Hugging Face's tokenizers is asked the same.

Random pipelines are seldom those that the kernel has a path of its own for, and short texts seldom go all of
it: here texts are longer, have words that no key holds, and half of them are ASCII.

`python -m tests.differential.test_real_pipelines SEED...` draws others.
"""

from __future__ import annotations

import base64
import sys
from collections.abc import Callable
from typing import Any

from tests.differential.test_random_tokenizers import CHARACTERS, WORDS, Draw, check_the_same, differences
from tests.tokenize.test_normalizers import charsmap

Part = dict[str, Any]


def part(kind: str, **options: Any) -> Part:
    return {"type": kind, **options}


def normalizers(*parts: Part) -> Part:
    return part("Sequence", normalizers=list(parts))


def pre_tokenizers(*parts: Part) -> Part:
    return part("Sequence", pretokenizers=list(parts))


def folded(entries: dict[str, str]) -> Part:
    table = charsmap({key.encode(): new for key, new in entries.items()})
    return part("Precompiled", precompiled_charsmap=base64.b64encode(table).decode())


def replaced(pattern: Part, content: str) -> Part:
    return part("Replace", pattern=pattern, content=content)


def split(pattern: Part, behavior: str = "Isolated", invert: bool = False) -> Part:
    return part("Split", pattern=pattern, behavior=behavior, invert=invert)


def spaces(scheme: str = "always", is_split: bool = True) -> Part:
    return part("Metaspace", replacement="▁", prepend_scheme=scheme, split=is_split)


def squeezed(content: str) -> Part:
    return replaced({"Regex": " {2,}"}, content)


def bert(lowercase: bool, strip_accents: bool | None = None, handle_chinese_chars: bool = True) -> Part:
    return part(
        "BertNormalizer",
        clean_text=True,
        handle_chinese_chars=handle_chinese_chars,
        strip_accents=strip_accents,
        lowercase=lowercase,
    )


FOLDS = {"\t": " ", "\xa0": " ", "\u3000": " ", "ﬁ": "fi", "①": "1", "…": "..."}
NFKC = folded(FOLDS)
NMT = folded(FOLDS | dict.fromkeys(("\n", "\r", "\r\n", "\x85", "\u2028"), " ") | {"\ufeff": "", "\0": ""})
RIGHT, BOTH = (part("Strip", strip_left=left, strip_right=True) for left in (False, True))
SPACE, VISIBLE, DIGITS = {"String": " "}, {"String": "▁"}, part("Digits", individual_digits=True)
LED = normalizers(part("Prepend", prepend="▁"), replaced(SPACE, "▁"))
BYTES = part("ByteLevel", add_prefix_space=False, trim_offsets=True, use_regex=True)
RAW, SPACED = {**BYTES, "use_regex": False}, {**BYTES, "add_prefix_space": True}
ENDINGS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
SYMBOLS = r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
CL100K = {"Regex": rf"{ENDINGS}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}{{1,3}}|{SYMBOLS}"}
QWEN = {"Regex": rf"{ENDINGS}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}|{SYMBOLS}"}
BLOOM = {"Regex": r" ?[^(\s|[.,!?…。，、।۔،])]+"}
CLIP = {
    "Regex": r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
}
LINES = [split({"Regex": it}) for it in ("[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", "[一-龥ࠀ-一가-퟿]+")]

# models, normalizer, pre-tokenizer
PIPELINES: list[tuple[str, Part | None, Part | None]] = [
    ("Unigram", NMT, pre_tokenizers(part("WhitespaceSplit"), spaces())),
    ("Unigram BPE", NMT, spaces()),
    ("Unigram BPE", NFKC, spaces("first")),
    ("Unigram", normalizers(NMT, squeezed(" ")), spaces()),
    ("Unigram", normalizers(NMT, RIGHT, squeezed("▁")), spaces()),
    ("Unigram", normalizers(NFKC, BOTH, squeezed("▁")), spaces()),
    ("Unigram", normalizers(NFKC, RIGHT, squeezed(" ")), spaces()),
    (
        "Unigram",
        normalizers(*(part(kind) for kind in ("NFKD", "StripAccents", "Lowercase")), NMT),
        spaces(),
    ),
    ("Unigram", normalizers(part("Nmt"), part("NFKC"), squeezed(" ")), spaces("never")),
    ("Unigram BPE", None, spaces("first", is_split=False)),
    ("Unigram BPE", None, spaces()),
    ("Unigram BPE", LED, None),
    ("BPE", replaced(SPACE, "▁"), split(SPACE, "MergedWithPrevious")),
    ("BPE", replaced(SPACE, "▁"), split(VISIBLE, "MergedWithNext")),
    ("BPE", normalizers(NMT, *LED["normalizers"]), None),
    ("BPE", None, BYTES),
    ("BPE", part("NFC"), BYTES),
    ("BPE", part("Lowercase"), SPACED),
    ("BPE", part("NFC"), pre_tokenizers(split(QWEN), RAW)),
    ("BPE", None, pre_tokenizers(split(CL100K), RAW)),
    ("BPE", None, pre_tokenizers(split(CL100K, "Removed", invert=True), RAW)),
    ("BPE", None, pre_tokenizers(DIGITS, BYTES)),
    ("BPE", None, pre_tokenizers(part("Punctuation", behavior="Contiguous"), BYTES, DIGITS)),
    ("BPE", None, pre_tokenizers(split(BLOOM), RAW)),
    ("BPE", None, pre_tokenizers(*LINES, DIGITS, RAW)),
    (
        "BPE",
        normalizers(part("NFC"), replaced({"Regex": r"\s+"}, " "), part("Lowercase")),
        pre_tokenizers(split(CLIP, "Removed", invert=True), RAW),
    ),
    ("WordPiece BPE", bert(lowercase=True), part("BertPreTokenizer")),
    ("WordPiece", bert(lowercase=False), part("BertPreTokenizer")),
    (
        "WordPiece",
        bert(lowercase=True, strip_accents=False, handle_chinese_chars=False),
        part("BertPreTokenizer"),
    ),
    ("WordPiece", normalizers(part("NFD"), part("Lowercase"), part("StripAccents")), part("Whitespace")),
    ("WordPiece WordLevel", None, part("Whitespace")),
    ("WordPiece WordLevel BPE", part("Lowercase"), part("WhitespaceSplit")),
    ("BPE WordPiece", None, pre_tokenizers(part("Whitespace"), DIGITS)),
]
LONGER = [
    *("internationalization", "abcdefghijklmn", "abcdefghijklmno", "abcdefghijklmnop", "x" * 33, "_" * 20),
    *("https://example.org/a/b?c=d&e=f", "1234567890123456", "naïvenaïvenaïve", "一二三四五六七八九十"),
    *("résumé", "don't've", "…", "\u2009", "\x0b", "   ", "\n\n", "\n", "\t", "\r\n", " \n "),
    *(" " * 5),
]


class RealDraw(Draw):
    """Tokenizers of one of these pipelines, and texts of some hundred characters."""

    def text(self, longest: int = 10) -> str:
        kinds = self.choices((CHARACTERS, WORDS, LONGER), (2, 3, 5), k=self.randrange(4 * longest))
        text = "".join(self.choice(kind) for kind in kinds)  # type: ignore[arg-type]
        return "".join(filter(str.isascii, text)) if self.yes() else text

    def file(self) -> dict[str, Any] | None:
        self.models, self.normalizer_, self.pre_tokenizer_ = self.choice(PIPELINES)
        return super().file()

    def several(self, kind: str, key: str, part: Callable[[], Any]) -> Any:
        fixed = {"normalizer": self.normalizer_, "pre_tokenizer": self.pre_tokenizer_}
        return fixed[kind] if kind in fixed else super().several(kind, key, part)

    def model(self) -> tuple[Any, Any]:
        while True:
            model, trainer = super().model()
            if type(model).__name__ in self.models.split():
                return model, trainer


# 126, 137, 162: a long word of Unigram behind a line end, whose space had the place of the word
def test_pipelines_of_published_models_are_the_same_here_and_there() -> None:
    check_the_same((*range(40), 126, 137, 162), RealDraw, 1500)


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        print(*differences(int(argument), RealDraw), sep="\n")
