"""Read SentencePiece's .model files; ids and offsets are those of SentencePiece itself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from operator import itemgetter

from arrowprep.errors import BadTokenizerFile, UnsupportedComponent
from arrowprep.tokenize.added_tokens import AddedToken
from arrowprep.tokenize.component import Component
from arrowprep.tokenize.decoders import SentencePieceDecoder
from arrowprep.tokenize.files.sentencepiece_proto import BPE, MODEL_TYPES, UNIGRAM, ModelFile, parse_model
from arrowprep.tokenize.models import SentencePieceBPE, SentencePieceUnigram
from arrowprep.tokenize.models.sentencepiece import CONTROL, UNKNOWN, USER_DEFINED
from arrowprep.tokenize.normalizers import SentencePieceNormalizer
from arrowprep.tokenize.patterns import Regex
from arrowprep.tokenize.pre_tokenizers import Split
from arrowprep.tokenize.tokenizer import Tokenizer
from arrowprep.tokenize.tokenizer_json import TokenizerFile

# a space with what follows; where no piece goes on over a space, each can be looked up by itself
WORDS = "\u2581*[^\u2581]+|\u2581+"
ACROSS_WORDS = re.compile("[^\u2581]\u2581")


def read_sentencepiece(content: bytes, name: str = "the model") -> tuple[Tokenizer, dict[str, str]]:
    """The tokenizer of a .model file, and the roles of its unk, bos, eos and pad pieces.

    Control pieces match nothing in a text, and no call adds bos or eos by itself.

    Raises BadTokenizerFile, and UnsupportedComponent for models of words or characters.
    """
    file = parse_model(content, name)
    _check(file, name)
    models = {UNIGRAM: SentencePieceUnigram, BPE: SentencePieceBPE}
    if file.model_type not in models:
        known = MODEL_TYPES.get(file.model_type, str(file.model_type))
        raise UnsupportedComponent(
            f"{name} is a SentencePiece model of type {known}; bpe and unigram are read", component=known
        )
    model = models[file.model_type](file.pieces, file.byte_fallback)
    # scores are added up in 32 bits from the start of a text, so its end can hang on all that is before
    in_one = file.model_type == UNIGRAM or any(map(ACROSS_WORDS.search, _texts(file)))
    parts: dict[str, Component | None] = {
        "normalizer": _normalizer(file, name),
        "pre_tokenizer": None if in_one else Split(Regex(WORDS), "isolated"),
        "decoder": _decoder(file),
    }
    special = [
        (id, AddedToken(piece.text, special=True, normalized=False))
        for id, piece in enumerate(file.pieces)
        if piece.kind == CONTROL
    ]
    tokenizer = Tokenizer.from_parts(TokenizerFile(model, parts, special))
    tokenizer.encode_special_tokens = True
    texts = set(_texts(file))
    return tokenizer, {f"{role}_token": text for role, text in file.special.items() if text in texts}


def _texts(file: ModelFile) -> Iterator[str]:
    return map(itemgetter(0), file.pieces)


def _check(file: ModelFile, name: str) -> None:
    if len(set(_texts(file))) == len(file.pieces):
        return
    seen: set[str] = set()
    for id, piece in enumerate(file.pieces):
        if piece.text in seen:
            raise BadTokenizerFile(
                f"{name}: piece {id}, {piece.text!r}, is there twice", place=f"pieces[{id}]"
            )
        seen.add(piece.text)


def _user_defined(file: ModelFile) -> list[str]:
    return [piece.text for piece in file.pieces if piece.kind == USER_DEFINED]


def _normalizer(file: ModelFile, name: str) -> SentencePieceNormalizer:
    spec = file.normalizer
    try:
        return SentencePieceNormalizer(
            spec.charsmap,
            spec.add_dummy_prefix,
            spec.remove_extra_whitespaces,
            spec.escape_whitespaces,
            file.treat_whitespace_as_suffix,
            _user_defined(file),
        )
    except BadTokenizerFile as error:
        raise BadTokenizerFile(f"{name}: {error.message}", place="normalizer_spec") from error


def _decoder(file: ModelFile) -> SentencePieceDecoder:
    unknown = next((piece.text for piece in file.pieces if piece.kind == UNKNOWN), file.special["unk"])
    spec = file.normalizer
    return SentencePieceDecoder(
        unknown,
        file.unk_surface,
        bytes=file.byte_fallback,
        strip_first=spec.add_dummy_prefix or spec.remove_extra_whitespaces,
        strip_all=spec.remove_extra_whitespaces,
    )
