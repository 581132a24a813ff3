"""The kernel counts and learns what the reference does, on any corpus."""

from __future__ import annotations

import gc
import signal
import threading
import time
from types import FrameType
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from arrowprep import Dataset
from arrowprep.config import configured
from arrowprep.errors import NotText
from arrowprep.tokenize import Tokenizer, models, native_training, normalizers, pre_tokenizers, trainers
from arrowprep.tokenize.native_library import load
from arrowprep.tokenize.native_pipeline import GRAMMARS
from arrowprep.tokenize.native_training import learn
from arrowprep.tokenize.patterns import Regex
from arrowprep.tokenize.pre_tokenizers.metaspace import SCHEMES
from arrowprep.tokenize.trainers import counting, pairs
from arrowprep.tokenize.trainers.bpe import BpeTrainer
from tests.tokenize.test_native_characters import SPACE
from tests.tokenize.test_normalizers import charsmap

pytestmark = pytest.mark.skipif(isinstance(load(), str), reason="the native kernel is not built")

WORDS = st.dictionaries(st.text("ab_", min_size=1, max_size=12), st.integers(1, 6), min_size=1, max_size=12)
TEXTS = st.lists(st.text(f"aA bé\u0301\n1'st中,{SPACE}\u3000\x00", max_size=30), max_size=12)


def learnt(engine: str, words: dict[str, int], options: dict[str, Any]) -> Any:
    trainer = BpeTrainer(show_progress=False, **options)
    with configured(engine=engine):
        return trainer.learn(trainers.counting.Counter(words))


@given(
    WORDS,
    st.fixed_dictionaries(
        {"vocab_size": st.integers(3, 60), "min_frequency": st.integers(0, 3)},
        optional={
            "continuing_subword_prefix": st.sampled_from(["##", "a", "_"]),
            "end_of_word_suffix": st.sampled_from(["</w>", "a"]),
            "max_token_length": st.integers(1, 5),
            "special_tokens": st.lists(st.text("ab", min_size=1, max_size=3), max_size=3),
            "limit_alphabet": st.integers(1, 2),
        },
    ),
)
@example({"aaaaa": 1}, {"vocab_size": 50, "min_frequency": 0})
def test_merges_are_those_of_the_reference(words: dict[str, int], options: dict[str, Any]) -> None:
    assert learnt("auto", words, options) == learnt("reference", words, options)


def counted(engine: str, texts: Any, tokenizer: Tokenizer) -> list[tuple[str, int]]:
    with configured(engine=engine):
        found = counting.count_words(trainers.blocks_of(texts), tokenizer.normalizer, tokenizer.pre_tokenizer)
    return list(found.items())


def ready(cutter: Any, normalizer: Any = None) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer, tokenizer.normalizer = cutter, normalizer
    return tokenizer


def split(*patterns: str, use_regex: bool = False) -> Any:
    cuts = (pre_tokenizers.Split(Regex(pattern), "isolated") for pattern in patterns)
    last = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=use_regex)
    return pre_tokenizers.Sequence([*cuts, last])


CUTTERS = [
    pre_tokenizers.ByteLevel(add_prefix_space=False),
    pre_tokenizers.ByteLevel(add_prefix_space=True),
    pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
    *(split(*patterns) for patterns in GRAMMARS),
    split(r"a|\s+$", use_regex=True),
    None,
    pre_tokenizers.Whitespace(),
    pre_tokenizers.WhitespaceSplit(),
    pre_tokenizers.BertPreTokenizer(),
    pre_tokenizers.Sequence([pre_tokenizers.Punctuation("removed"), pre_tokenizers.Digits()]),
    pre_tokenizers.CharDelimiterSplit(","),
    *(pre_tokenizers.Metaspace(SPACE, scheme, whole) for scheme in SCHEMES for whole in (True, False)),
    pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()]),
]
# beside the first, which all cutters take: for which of them the kernel has a way
NORMALIZERS = [
    normalizers.Sequence([normalizers.Strip(), normalizers.Replace(Regex(" {2,}"), SPACE)]),
    normalizers.Sequence([normalizers.Prepend(SPACE), normalizers.Replace(" ", SPACE)]),
    normalizers.Precompiled(charsmap({b"a": "A", b"b": "x y", b"\n": " "})),
]
BERT = [
    normalizers.BertNormalizer(),
    normalizers.BertNormalizer(clean_text=False, strip_accents=False, lowercase=False),
]
PREPARED = [
    *((cutter, None) for cutter in CUTTERS),
    *((cutter, normalizers.NFC()) for cutter in CUTTERS),
    *((pre_tokenizers.Whitespace(), normalizer) for normalizer in NORMALIZERS[::2]),
    *((pre_tokenizers.Metaspace(SPACE, "always", True), normalizer) for normalizer in NORMALIZERS),
    *((None, normalizer) for normalizer in NORMALIZERS),
    *((pre_tokenizers.BertPreTokenizer(), normalizer) for normalizer in BERT),
    (pre_tokenizers.BertPreTokenizer(), normalizers.Sequence([normalizers.NFD(), BERT[0]])),
    (pre_tokenizers.Whitespace(), normalizers.Sequence([normalizers.NFKD(), normalizers.Lowercase()])),
    (None, normalizers.Sequence([normalizers.StripAccents(), normalizers.ByteLevel()])),
]


def in_kernel(cutter: Any, normalizer: Any) -> bool:
    return counting._kernel(normalizer, cutter) is not None


@pytest.mark.parametrize(("cutter", "normalizer"), PREPARED)
def test_words_are_those_of_the_reference_in_their_order(cutter: Any, normalizer: Any) -> None:
    tokenizer = ready(cutter, normalizer)
    assert in_kernel(cutter, normalizer)

    @given(texts=TEXTS)
    @settings(max_examples=15, deadline=None)
    def same(texts: list[str]) -> None:
        assert counted("auto", texts, tokenizer) == counted("reference", texts, tokenizer)

    same()


def test_texts_that_the_kernel_leaves_are_counted_in_their_places() -> None:
    slow = "a" * 26  # takes more steps than a pattern may
    tokenizer = ready(split(r"(?:a|aa)+c|b"))
    texts = ["aa b", f"x {slow} aab", "aab", f"b{slow}c", "x"]
    column = pa.array(texts, pa.large_string())
    kernel = counting._kernel(None, tokenizer.pre_tokenizer)
    assert kernel is not None
    assert kernel.feed(column) == [1]
    for blocks in (texts, column, [column[:2], column[2:]]):
        assert counted("auto", blocks, tokenizer) == counted("reference", texts, tokenizer)


def test_what_the_kernel_does_not_cut_is_counted_by_the_components() -> None:
    for cutter, normalizer in (
        (pre_tokenizers.Sequence([pre_tokenizers.Digits(), pre_tokenizers.Metaspace()]), None),
        (pre_tokenizers.Whitespace(), normalizers.Replace(Regex(r"(a)\1"), "b")),
    ):
        assert not in_kernel(cutter, normalizer)
        assert counted("auto", ["Aa é"], ready(cutter, normalizer))


@pytest.mark.parametrize(
    ("model", "trainer", "cutter"),
    [
        (models.WordPiece(), trainers.WordPieceTrainer, pre_tokenizers.BertPreTokenizer()),
        (models.WordLevel(), trainers.WordLevelTrainer, pre_tokenizers.Whitespace()),
        (models.Unigram(), trainers.UnigramTrainer, pre_tokenizers.Metaspace()),
    ],
)
def test_every_trainer_learns_the_same_from_a_column(model: Any, trainer: Any, cutter: Any) -> None:
    texts = [f"Number {n} of {n * n} words, it's {n % 7} — naïve 中文" for n in range(300)]
    made = []
    for engine in ("auto", "reference"):
        tokenizer = Tokenizer(model)
        tokenizer.pre_tokenizer = cutter
        tokenizer.normalizer = BERT[0] if trainer is trainers.WordPieceTrainer else None
        with configured(engine=engine):
            tokenizer.train_from_iterator(pa.array(texts), trainer(vocab_size=300, show_progress=False))
        made.append(tokenizer.to_str())
    assert made[0] == made[1]


def test_arrow_columns_and_datasets_are_read_as_lists_are() -> None:
    texts = ["the cat", None, "", "the hat the"] * 700
    tokenizer = ready(CUTTERS[0])
    expected = counted("reference", [text for text in texts if text is not None], tokenizer)
    column = pa.array(texts)
    for given_as in (
        column,
        pa.chunked_array([column[:100], column[100:]]),
        pa.array(texts, pa.large_string()).slice(0, 2800),
        column.dictionary_encode().cast(pa.string()),
        [column[:3], ["the cat"] * 0, column[3:]],
        Dataset.from_dict({"text": texts})["text"],
    ):
        for engine in ("auto", "reference"):
            assert counted(engine, given_as, tokenizer) == expected
    for engine in ("auto", "reference"):
        with pytest.raises(NotText, match="int64"):
            counted(engine, pa.array([1]), tokenizer)


def test_a_whole_tokenizer_is_the_same_file_with_and_without_the_kernel() -> None:
    texts = [f"number {n} of {n * n} words, it's {n % 7} — naïve 中文" for n in range(2000)]
    made = []
    for engine in ("auto", "reference"):
        tokenizer = Tokenizer(models.BPE())
        tokenizer.pre_tokenizer = CUTTERS[0]
        trainer = trainers.BpeTrainer(vocab_size=600, special_tokens=["<s>"], show_progress=False)
        with configured(engine=engine):
            tokenizer.train_from_iterator(texts, trainer)
        made.append(tokenizer.to_str())
    assert made[0] == made[1]


def test_counts_beyond_64_bits_are_left_to_the_reference() -> None:
    words = {"ab": 1 << 70, "bc": (1 << 70) + 1, "abc": 3}
    assert learnt("auto", words, {"vocab_size": 6})[1][0] == ("b", "c")


def test_other_threads_go_on_while_the_kernel_learns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairs, "settings", lambda: type("S", (), {"engine": "auto"}))
    words = {f"{n:x}-{n * 7919:x}": 1 + n % 5 for n in range(20_000)}
    turns = 0
    done = threading.Event()

    def turn() -> None:
        nonlocal turns
        while not done.is_set():
            turns += 1
            time.sleep(0)

    other = threading.Thread(target=turn)
    other.start()
    learnt("auto", words, {"vocab_size": 3000})
    done.set()
    other.join()
    assert turns > 100


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no alarms here")
def test_ctrl_c_is_heard_while_the_kernel_learns(monkeypatch: pytest.MonkeyPatch) -> None:
    words = {f"{n:x}-{n * 7919:x}": 1 + n % 5 for n in range(20_000)}

    def pressed(_: int, frame: FrameType | None) -> None:
        if frame is not None and frame.f_code.co_name == "__del__":  # Python drops what is raised there
            signal.setitimer(signal.ITIMER_REAL, 0.001)
            return
        raise KeyboardInterrupt

    calls = 0

    def learnt_some(*given: Any, **options: Any) -> Any:
        nonlocal calls
        for some in learn(*given, **options):
            calls += 1
            if calls == 1:
                signal.setitimer(signal.ITIMER_REAL, 0.001)  # while the next call is in the kernel
            yield some

    monkeypatch.setattr(native_training, "learn", learnt_some)
    before = signal.signal(signal.SIGALRM, pressed)
    gc.disable()  # what is raised in a callback of a collection is dropped as well
    try:
        with pytest.raises(KeyboardInterrupt):
            learnt("native", words, {"vocab_size": 40_000})
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        gc.enable()
    assert calls < 20  # of 80
