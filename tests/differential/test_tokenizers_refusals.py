"""What Hugging Face's tokenizers refuses is refused here, by an error of the same kind."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

peer: Any = pytest.importorskip("tokenizers", reason="tokenizers is not installed: nothing to compare with")

REFUSED = """
tok.add_tokens("xyz")
tok.add_tokens([1])
tok.add_special_tokens([None])
tok.id_to_token("a")
tok.decode(["a"])
tok.decode(0)
tok.decode([1.5])
tok.encode(3)
tok.encode(["a"])
tok.encode("a", 3)
tok.encode("a", is_pretokenized=True)
tok.encode(["a", 1], is_pretokenized=True)
tok.encode("\\ud800")
tok.encode_batch("a")
tok.encode_batch([3])
tok.encode_batch([["a", "a", "a"]])
tok.encode_batch(None)
tok.enable_truncation(-1)
tok.enable_truncation("5")
tok.enable_truncation(5, stride=5.5)
tok.enable_truncation(5, strategy="x")
tok.enable_truncation(5, direction="x")
tok.enable_padding(direction="x")
tok.enable_padding(length=-1)
tok.enable_padding(pad_id="x")
tok.enable_padding(pad_token=3)
tok.train_from_iterator([1])
tok.train_from_iterator(None)
tok.train_from_iterator(["a"], 3)
tok.train_from_iterator(["a"], trainers.WordLevelTrainer())
tok.post_processor.fget
tok.encode("aaaa").pad(5, direction="x")
tok.encode("aaaa").truncate(2, direction="x")
tok.encode("aaaa").truncate(2, stride=2)
Tokenizer.from_str("{}")
Tokenizer.from_str("{")
Tokenizer.from_buffer(b"{")
Tokenizer.from_buffer("{")
setattr(tok, "model", None)
setattr(tok, "normalizer", pre_tokenizers.Digits())
setattr(tok.model, "unk_token", 3)
setattr(tok.model, "dropout", "x")
setattr(pre_tokenizers.Metaspace(), "prepend_scheme", "x")
setattr(trainers.BpeTrainer(), "vocab_size", "x")
setattr(trainers.BpeTrainer(), "special_tokens", [3])
""".strip().splitlines()


def ask(library: str, expression: str) -> Any:
    names = {
        name: importlib.import_module(f"{library}.{name}")
        for name in ("models", "trainers", "pre_tokenizers")
    }
    Tokenizer: Any = importlib.import_module(library).Tokenizer
    tok = Tokenizer(names["models"].BPE({"a": 0}, []))
    return eval(expression, {**names, "tok": tok, "Tokenizer": Tokenizer})


@pytest.mark.parametrize("expression", REFUSED)
def test_it_is_refused(expression: str) -> None:
    with pytest.raises(BaseException) as theirs:  # noqa: PT011 - whatever the peer raises, panics too
        ask("tokenizers", expression)
    kind = type(theirs.value)
    # a number that does not fit, a broken file and a panic are values that make no sense
    wanted = kind if issubclass(kind, (TypeError, AttributeError)) else (ValueError, OverflowError)
    with pytest.raises(wanted):
        ask("arrowprep.tokenize", expression)
