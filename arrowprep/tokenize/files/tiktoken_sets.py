"""What a .tiktoken file does not say: how its text is cut, and its special tokens.

The vocabularies that people train with are known by how many ranks they have.
Source: the published patterns and special tokens of each model.
"""

from __future__ import annotations

from dataclasses import dataclass, field

_CONTRACTIONS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_SPACES = r"|\s*[\r\n]+|\s+(?!\S)|\s+"
_UPPER, _LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_PREFIX = r"[^\r\n\p{L}\p{N}]?"

GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
CL100K = _CONTRACTIONS + rf"|{_PREFIX}\p{{L}}+|\p{{N}}{{1,3}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*" + _SPACES
QWEN = _CONTRACTIONS + rf"|{_PREFIX}\p{{L}}+|\p{{N}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*" + _SPACES
O200K = (
    rf"{_PREFIX}{_UPPER}*{_LOWER}+{_CONTRACTIONS}?|{_PREFIX}{_UPPER}+{_LOWER}*{_CONTRACTIONS}?"
    rf"|\p{{N}}{{1,3}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*" + _SPACES
)


@dataclass(frozen=True, slots=True)
class PatternSet:
    """A pattern in Oniguruma's syntax, and special tokens with their ids."""

    pattern: str
    special_tokens: dict[str, int] = field(default_factory=dict)


def _llama3() -> dict[str, int]:
    """256 tokens after the ranks, most of them reserved."""
    named = {
        0: "begin_of_text",
        1: "end_of_text",
        6: "start_header_id",
        7: "end_header_id",
        9: "eot_id",
    }
    reserved = (f"reserved_special_token_{n}" for n in range(256))
    return {f"<|{named.get(i) or next(reserved)}|>": 128_000 + i for i in range(256)}


def _end_of_text(id: int) -> dict[str, int]:
    return {"<|endoftext|>": id}


SETS = {
    "gpt2": PatternSet(GPT2, _end_of_text(50256)),
    "r50k": PatternSet(GPT2, _end_of_text(50256)),
    "p50k": PatternSet(GPT2, _end_of_text(50256)),
    "whisper": PatternSet(GPT2, _end_of_text(50257)),
    "cl100k": PatternSet(
        CL100K,
        _end_of_text(100257)
        | {f"<|fim_{part}|>": 100258 + i for i, part in enumerate(("prefix", "middle", "suffix"))}
        | {"<|endofprompt|>": 100276},
    ),
    "o200k": PatternSet(O200K, _end_of_text(199999) | {"<|endofprompt|>": 200018}),
    "qwen": PatternSet(QWEN, _end_of_text(151643) | {"<|im_start|>": 151644, "<|im_end|>": 151645}),
    "llama3": PatternSet(CL100K, _llama3()),
}
BY_SIZE = {
    50256: "gpt2",
    50280: "p50k",
    50257: "whisper",
    100256: "cl100k",
    199998: "o200k",
    151643: "qwen",
    128000: "llama3",
}
