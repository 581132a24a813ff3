"""Read vocab.json with merges.txt (byte-level BPE) and vocab.txt (WordPiece)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from itertools import repeat
from typing import Any

from arrowprep.errors import BadTokenizerFile, UnsupportedComponent
from arrowprep.tokenize import decoders, models, normalizers, pre_tokenizers, processors
from arrowprep.tokenize.added_tokens import AddedToken
from arrowprep.tokenize.component import Spec
from arrowprep.tokenize.models.flat import FlatVocabulary
from arrowprep.tokenize.native_files import read_parts
from arrowprep.tokenize.tokenizer import Tokenizer

WORD_END = "</w>"
BERT_ROLES = {
    "unk_token": "[UNK]",
    "sep_token": "[SEP]",
    "pad_token": "[PAD]",
    "cls_token": "[CLS]",
    "mask_token": "[MASK]",
}


def read_vocab_and_merges(vocab: bytes, merges: bytes, options: Mapping[str, Any]) -> Tokenizer:
    """GPT-2's pipeline: byte-level, cut by its pattern.

    options: unk_token and add_prefix_space, as a config has them
    Raises BadTokenizerFile with the line of merges.txt, UnsupportedComponent for a
    vocabulary of another pipeline.
    """
    lines = _merges(merges)
    ids = _read_flat(vocab, lines) or _parsed(vocab)
    tokens: Iterable[str] = ids if isinstance(ids, dict) else ()
    if isinstance(ids, FlatVocabulary) and WORD_END.encode() in ids.texts.data:
        tokens = ids.texts.list()
    if any(token.endswith(WORD_END) for token in tokens):
        raise UnsupportedComponent(
            f"vocab.json has tokens that end in {WORD_END}: how their text is cut is not in the file;"
            " a tokenizer.json is needed",
            component=WORD_END,
        )
    unk = options.get("unk_token")
    known = ids.place_of(str(unk)) >= 0 if isinstance(ids, FlatVocabulary) else str(unk) in ids
    content = {
        "type": "BPE",
        "unk_token": str(unk) if unk is not None and known else None,
        "vocab": ids,
        "merges": lines,
    }
    tokenizer = Tokenizer(models.read_model(Spec(content, "vocab.json")))
    spaced = bool(options.get("add_prefix_space", False))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=spaced)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    return tokenizer


def _read_flat(vocab: bytes, merges: list[str]) -> FlatVocabulary | None:
    """Both as the kernel reads them in a tokenizer.json; None where Python is to read them."""
    listed = json.dumps(merges, ensure_ascii=False).encode()
    parts = read_parts(
        b"".join([b'{"model":{"vocab":', vocab.strip(b" \t\r\n"), b',"merges":', listed, b"}}"])
    )
    if parts is None or parts.vocabulary.scores is not None or parts.rest != _NOTHING_ELSE:
        return None
    return parts.vocabulary


_NOTHING_ELSE = b'{"model":{"vocab":{},"merges":[]}}'


def _parsed(vocab: bytes) -> Any:
    try:
        return json.loads(vocab)
    except (ValueError, RecursionError) as error:
        raise BadTokenizerFile(f"vocab.json is not JSON: {error}", place="vocab.json") from error


def _merges(content: bytes) -> list[str]:
    """Lines of two tokens; a first line that starts with #version is a comment."""
    try:
        lines = content.decode("utf-8").split("\n")
    except UnicodeDecodeError as error:
        raise BadTokenizerFile(f"merges.txt is not UTF-8: byte {error.start}", place="merges.txt") from error
    usual = lines[lines[0].startswith("#version") : -1 if lines[-1] == "" else None]
    if b"\r" not in content and set(map(str.count, usual, repeat(" "))) == {1}:
        return usual  # as nearly all are, and read in a third of the time
    merges = []
    for number, line in enumerate(lines, 1):
        line = line.removesuffix("\r")
        if not line or (number == 1 and line.startswith("#version")):
            continue
        if line.count(" ") != 1:
            raise BadTokenizerFile(
                f"merges.txt, line {number}: {line[:60]!r} is not two tokens with a space between",
                place=f"line {number}",
                line=number,
            )
        merges.append(line)
    return merges


def read_vocab_txt(content: bytes, options: Mapping[str, Any]) -> Tokenizer:
    """BERT's pipeline; a token's line is its id.

    options: do_lower_case, strip_accents, tokenize_chinese_chars, and the special
        tokens, where they are not BERT's
    """
    try:
        tokens = content.decode("utf-8").split("\n")
    except UnicodeDecodeError as error:
        raise BadTokenizerFile(f"vocab.txt is not UTF-8: byte {error.start}", place="vocab.txt") from error
    if not tokens[-1]:
        tokens.pop()
    ids = {token.removesuffix("\r"): id for id, token in enumerate(tokens)}
    roles = {role: str(options.get(role) or default) for role, default in BERT_ROLES.items()}
    tokenizer = Tokenizer(models.WordPiece(ids, unk_token=roles["unk_token"]))
    tokenizer.normalizer = normalizers.BertNormalizer(
        handle_chinese_chars=bool(options.get("tokenize_chinese_chars", True)),
        strip_accents=options.get("strip_accents"),
        lowercase=bool(options.get("do_lower_case", True)),
    )
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.add_special_tokens(
        [AddedToken(token, special=True) for token in roles.values() if token in ids]
    )
    first, last = roles["cls_token"], roles["sep_token"]
    if first in ids and last in ids:
        tokenizer.post_processor = processors.TemplateProcessing(
            single=f"{first}:0 $A:0 {last}:0",
            pair=f"{first}:0 $A:0 {last}:0 $B:1 {last}:1",
            special_tokens=[(first, ids[first]), (last, ids[last])],
        )
    return tokenizer
