"""Random tokenizers, which Hugging Face's tokenizers trained on random texts: both are asked the same.

`python -m tests.differential.test_random_tokenizers SEED...` draws others.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest

from arrowprep.tokenize import Tokenizer

peer: Any = pytest.importorskip("tokenizers", reason="tokenizers is not installed: nothing to compare with")

# no character that came after Unicode 16, whose properties differ between the peer's own parts
CHARACTERS = (
    "ab héllo wörld  \n\t.,'-12½²٣猫あアー한글ΣςİıIſßﬁ①👍🏽▁_[]$+Ⅷ₹"
    "\u200d\u0301\u0327\u3000\xa0\u0085\u2028\ufeff\x00"
)
WORDS = [
    *(
        "hello",
        " world",
        "Hello",
        "don't",
        "3.14",
        "12345",
        "<s>",
        "</s>",
        "▁▁",
        "  ",
        "\r\n",
        "e\u0301",
        "ΣΑΣ",
    ),
    *(
        "İstanbul",
        "ﷺ",
        "a.b",
        "x_y",
        "foo-bar",
        "か\u3099",
        "\u1100\u1161\u11a8",
        "👨\u200d👩\u200d👧",
        "lo",
        "한국어",
    ),
]
SPECIAL = ["<s>", "</s>", "[CLS]", "[SEP]", "<unk>", "<pad>"]
PATTERNS = [
    *(
        r"\s+",
        r"\w+|[^\w\s]+",
        r"\d",
        r"\b",
        r"(?=[A-Z])",
        r"(?i:[a-z]+)",
        r"(?i:\p{Lu})",
        r"[^a-z ]",
        r" {2,}",
    ),
    r"(?i:'s|'t|'ll)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
]
UNUSUAL = [
    r"\w+?\b|l*",
    r"(?<=l|he)o|^.|\s+$",
    r"l{2}?|.(?i)D|É",
    r"(\w)\1",
    r"\A\s*|\B\w{,2}?|\Z",
    r"(?<!\w)(?<first>\w)|(?>l+)o|a+*",
]
BEHAVIORS = ["Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"]


class Draw(random.Random):
    """A source of tokenizers and texts."""

    patterns = PATTERNS

    def yes(self) -> bool:
        return self.random() < 0.5

    def text(self, longest: int = 10) -> str:
        drawn = (self.choice((CHARACTERS, WORDS)) for _ in range(self.randrange(longest)))
        return "".join(self.choice(kind) for kind in drawn)  # type: ignore[arg-type]

    def pattern(self) -> dict[str, str]:
        return self.choice(
            [{"Regex": self.choice(self.patterns)}, {"String": self.choice([" ", "a", "▁", "ll"])}]
        )

    def flags(self, *names: str) -> dict[str, bool]:
        return {name: self.yes() for name in names}

    def normalizer(self) -> dict[str, Any]:
        simple = [
            {"type": kind} for kind in ("NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "Nmt")
        ]
        cleaning = self.flags("clean_text", "handle_chinese_chars", "lowercase")
        return self.choice(
            [
                *simple,
                {"type": "Strip", **self.flags("strip_left", "strip_right")},
                {"type": "Replace", "pattern": self.pattern(), "content": self.choice(["", "▁", "xy", "é"])},
                {"type": "Prepend", "prepend": self.choice(["▁", "é"])},
                {"type": "BertNormalizer", "strip_accents": self.choice([None, True, False]), **cleaning},
            ]
        )

    def pre_tokenizer(self) -> dict[str, Any]:
        simple = [
            {"type": kind} for kind in ("Whitespace", "WhitespaceSplit", "BertPreTokenizer", "UnicodeScripts")
        ]
        behavior, scheme = self.choice(BEHAVIORS), self.choice(["always", "first", "never"])
        split = {"type": "Split", "pattern": self.pattern(), "behavior": behavior, "invert": self.yes()}
        spaces = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": scheme, "split": self.yes()}
        bytes_ = self.flags("add_prefix_space", "trim_offsets", "use_regex")
        return self.choice(
            [
                *(*simple, split, split, spaces, spaces),
                {"type": "Punctuation", "behavior": behavior},
                {"type": "Digits", "individual_digits": self.yes()},
                {"type": "CharDelimiterSplit", "delimiter": self.choice(" a▁_")},
                {"type": "FixedLength", "length": self.randrange(1, 6)},
                {"type": "ByteLevel", **bytes_},
            ]
        )

    def decoder(self) -> dict[str, Any]:
        simple = [{"type": kind} for kind in ("ByteFallback", "Fuse")]
        trims = self.flags("add_prefix_space", "trim_offsets", "use_regex")
        return self.choice(
            [
                *simple,
                {"type": "ByteLevel", **trims},
                {"type": "WordPiece", "prefix": self.choice(["##", ""]), "cleanup": self.yes()},
                {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True},
                {"type": "Replace", "pattern": self.pattern(), "content": self.choice(["", " "])},
                {"type": "BPEDecoder", "suffix": self.choice(["</w>", ""])},
                {"type": "CTC", "pad_token": "<pad>", "word_delimiter_token": "|", "cleanup": self.yes()},
            ]
        )

    def several(self, kind: str, key: str, part: Callable[[], Any]) -> Any:
        """None, one, or a sequence of up to three."""
        if self.random() < 0.4:
            return self.choice([None, part()])
        return {"type": "Sequence", key: [part() for _ in range(self.randrange(kind == "decoder", 4))]}

    def model(self) -> tuple[Any, Any]:
        options: dict[str, Any] = {"special_tokens": SPECIAL, "show_progress": False}
        models, trainers = peer.models, peer.trainers
        kind = self.choice(["BPE", "BPE", "WordPiece", "WordLevel", "Unigram"])
        if kind == "BPE":
            if self.yes():
                options["initial_alphabet"] = peer.pre_tokenizers.ByteLevel.alphabet()
            unk = self.choice([None, "<unk>"])
            return models.BPE(unk_token=unk, fuse_unk=self.yes()), trainers.BpeTrainer(
                vocab_size=350, **options
            )
        if kind == "WordPiece":
            model = models.WordPiece(unk_token="<unk>", max_input_chars_per_word=self.choice([100, 5]))
            return model, trainers.WordPieceTrainer(vocab_size=200, **options)
        if kind == "WordLevel":
            return models.WordLevel(unk_token="<unk>"), trainers.WordLevelTrainer(vocab_size=100, **options)
        return models.Unigram(), trainers.UnigramTrainer(vocab_size=250, unk_token="<unk>", **options)

    def post_processor(self, id_of: Callable[[str], int]) -> Any:
        names = ("[CLS]", "[SEP]", "</s>")
        pieces = [{"SpecialToken": {"id": name, "type_id": self.randrange(2)}} for name in names]
        first, second = ({"Sequence": {"id": id, "type_id": self.randrange(2)}} for id in "AB")
        template = {
            "type": "TemplateProcessing",
            "single": [pieces[0], first, pieces[1]][self.randrange(2) :],
            "pair": [pieces[0], first, pieces[1], second, pieces[2]][self.randrange(2) :],
            "special_tokens": {name: {"id": name, "ids": [id_of(name)], "tokens": [name]} for name in names},
        }
        frame = {"sep": ["</s>", id_of("</s>")], "cls": ["<s>", id_of("<s>")]}
        trims = self.flags("trim_offsets", "add_prefix_space")
        bytes_ = {"type": "ByteLevel", **trims, "use_regex": True}
        roberta, bert = {"type": "RobertaProcessing", **frame, **trims}, {"type": "BertProcessing", **frame}
        both = {"type": "Sequence", "processors": self.choice([[bytes_, template], [roberta, bert], []])}
        return self.choice([None, template, template, roberta, bert, bytes_, both])

    def added(self, next_id: int) -> list[dict[str, Any]]:
        contents = self.sample(
            ["lo", "ab", " w", "<x>", "1", "\n", "Hello", "猫", "  ", "İ"], self.randrange(5)
        )
        flags = ("single_word", "lstrip", "rstrip", "normalized", "special")
        return [{"id": next_id + i, "content": text, **self.flags(*flags)} for i, text in enumerate(contents)]

    def file(self) -> dict[str, Any] | None:
        """A tokenizer.json; None where the peer cannot train it, or does not do what the file says."""
        model, trainer = self.model()
        parts = {
            "normalizer": self.several("normalizer", "normalizers", self.normalizer),
            "pre_tokenizer": self.several("pre_tokenizer", "pretokenizers", self.pre_tokenizer),
        }
        try:
            tok = peer.Tokenizer.from_str(json.dumps({**json.loads(peer.Tokenizer(model).to_str()), **parts}))
            tok.train_from_iterator([self.text(20) for _ in range(60)], trainer)
        except Exception:
            return None
        if tok.get_vocab_size() != max(tok.get_vocab().values()) + 1:
            return None  # ids with gaps: what is added gets other ids there
        file: dict[str, Any] = json.loads(tok.to_str())
        added = [
            token for token in self.added(tok.get_vocab_size()) if tok.token_to_id(token["content"]) is None
        ]
        added = [{**token, "id": tok.get_vocab_size() + i} for i, token in enumerate(added)]
        normalize = tok.normalizer.normalize_str if tok.normalizer else str
        found = [normalize(token["content"]) if token["normalized"] else token["content"] for token in added]
        if "" in found or len(set(found)) < len(found):
            return None  # which of two tokens wins changes from run to run there
        file["added_tokens"] += added
        file["post_processor"] = self.post_processor(tok.token_to_id)
        file["decoder"] = self.several("decoder", "decoders", self.decoder)
        if file["model"]["type"] == "BPE":
            file["model"]["ignore_merges"] = self.yes()
        return file


FIELDS = (
    *("ids", "type_ids", "tokens", "offsets", "word_ids", "sequence_ids"),
    *("special_tokens_mask", "attention_mask", "n_sequences"),
)


def seen(encoding: Any) -> list[Any]:
    return [getattr(encoding, name) for name in FIELDS] + [list(map(seen, encoding.overflowing))]


def ids_of(tok: Any, texts: list[str]) -> list[list[int]]:
    """By columns where there are any, which know no truncation but their own."""
    if isinstance(tok, Tokenizer) and tok.truncation is None:
        columns: list[list[int]] = tok.encode_columns(texts).ids.to_pylist()
        return columns
    return [encoding.ids for encoding in tok.encode_batch(texts)]


def outcome(ask: Callable[[], Any]) -> Any:
    try:
        return ask()
    except BaseException as error:  # the peer may panic
        if isinstance(error, KeyboardInterrupt):
            raise
        return "refused"


def questions(draw: Draw) -> list[tuple[str, Callable[[Any], Any]]]:
    """What is asked of both, with the words for it."""
    one, two, framed = draw.text(), draw.text(), draw.yes()
    words = [draw.text(4) for _ in range(draw.randrange(4))]
    ids = [draw.randrange(120) for _ in range(6)]
    return [
        (f"encode({one!r})", lambda tok: seen(tok.encode(one, add_special_tokens=framed))),
        (f"encode({one!r}, {two!r})", lambda tok: seen(tok.encode(one, two))),
        (f"encode({words!r}, is_pretokenized)", lambda tok: seen(tok.encode(words, is_pretokenized=True))),
        (
            f"encode_batch_fast({[one, two]!r})",
            lambda tok: [e.ids for e in tok.encode_batch_fast([one, two])],
        ),
        (f"ids of {[one, two]!r}", lambda tok: ids_of(tok, [one, two])),
        (f"decode({ids})", lambda tok: tok.decode(ids, skip_special_tokens=framed)),
        (f"decode of {one!r}", lambda tok: tok.decode(tok.encode(one).ids)),
    ]


def cut(draw: Draw) -> Callable[[Any], None]:
    """A truncation and a padding, to be set on both."""
    options = {
        "max_length": draw.randrange(8, 14),  # no post-processor here adds more than 7
        "stride": draw.randrange(2),
        "strategy": draw.choice(["longest_first", "only_first", "only_second"]),
        "direction": draw.choice(["left", "right"]),
    }
    length, side = draw.choice([None, 3, 14]), draw.choice(["left", "right"])

    def set_on(tok: Any) -> None:
        tok.enable_truncation(**options)
        tok.enable_padding(direction=side, length=length, pad_id=5, pad_token="<pad>")

    return set_on


class UnusualDraw(Draw):
    """That cut by patterns which few have."""

    def pre_tokenizer(self) -> dict[str, Any]:
        self.patterns = UNUSUAL
        drawn = super().pre_tokenizer()
        self.patterns = PATTERNS
        return drawn


def differences(seed: int, kind: type[Draw] = Draw) -> tuple[int, list[str]]:
    """How many questions one tokenizer was asked, and those with different answers."""
    draw = kind(seed)
    file = draw.file()
    if file is None:
        return 0, []
    text = json.dumps(file)
    both = Tokenizer.from_str(text), peer.Tokenizer.from_str(text)
    asked = [("to_str", lambda tok: (tok.to_str(), tok.to_str(pretty=True)))]
    for _ in range(4):
        asked += questions(draw)
    found = []
    count = 0
    for settings in (None, cut(draw)):
        if settings is not None:
            for tok in both:
                settings(tok)
        for name, ask in asked:
            ours, theirs = (outcome(lambda tok=tok, ask=ask: ask(tok)) for tok in both)  # type: ignore[misc]
            count += 1
            if ours != theirs and theirs != "refused":
                found.append(f"seed {seed}: {name}\n  here  {ours}\n  there {theirs}")
    return count, found


def check_the_same(seeds: Iterable[int], kind: type[Draw], at_least: int) -> None:
    """Both answer alike, and so many questions were asked."""
    results = [differences(seed, kind) for seed in seeds]
    found = [difference for _, different in results for difference in different]
    assert sum(asked for asked, _ in results) > at_least
    assert not found, "\n".join(found[:3])


# 1193: what stands for the start of a text is more than one character, behind two pre-tokenizers
@pytest.mark.parametrize("seeds", [range(30), range(30, 60), (*range(60, 90), 1193)])
def test_random_tokenizers_are_the_same_here_and_there(seeds: Sequence[int]) -> None:
    check_the_same(seeds, Draw, 500)


def test_so_are_those_of_unusual_patterns() -> None:
    check_the_same(range(30), UnusualDraw, 500)


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        print(*differences(int(argument)), sep="\n")
