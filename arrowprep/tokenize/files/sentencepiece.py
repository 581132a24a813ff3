"""Read SentencePiece's .model files; ids and offsets are those of SentencePiece itself."""

from __future__ import annotations

import numpy as np

from arrowprep.errors import BadTokenizerFile, UnsupportedComponent
from arrowprep.tokenize.added_tokens import AddedToken
from arrowprep.tokenize.bulk import Flat
from arrowprep.tokenize.component import Component
from arrowprep.tokenize.decoders import SentencePieceDecoder
from arrowprep.tokenize.files.sentencepiece_proto import BPE, MODEL_TYPES, UNIGRAM, ModelFile, parse_model
from arrowprep.tokenize.models import SentencePieceBPE, SentencePieceUnigram
from arrowprep.tokenize.models.sentencepiece import CONTROL, UNKNOWN, USER_DEFINED, Piece, PieceTables
from arrowprep.tokenize.normalizers import SentencePieceNormalizer
from arrowprep.tokenize.patterns import Regex
from arrowprep.tokenize.pre_tokenizers import Split
from arrowprep.tokenize.tokenizer import Tokenizer
from arrowprep.tokenize.tokenizer_json import TokenizerFile

# a space with what follows; where no piece goes on over a space, each can be looked up by itself
WORDS = "\u2581*[^\u2581]+|\u2581+"
SPACE = "\u2581".encode()


def read_sentencepiece(content: bytes, name: str = "the model") -> tuple[Tokenizer, dict[str, str]]:
    """The tokenizer of a .model file, and the roles of its unk, bos, eos and pad pieces.

    Control pieces match nothing in a text, and no call adds bos or eos by itself.

    Raises BadTokenizerFile, and UnsupportedComponent for models of words or characters.
    """
    file = parse_model(content, name)
    if isinstance(file.pieces, list):
        _check(file.pieces, name)
    models = {UNIGRAM: SentencePieceUnigram, BPE: SentencePieceBPE}
    if file.model_type not in models:
        known = MODEL_TYPES.get(file.model_type, str(file.model_type))
        raise UnsupportedComponent(
            f"{name} is a SentencePiece model of type {known}; bpe and unigram are read", component=known
        )
    model = models[file.model_type](file.pieces, file.byte_fallback)
    tables = model._tables
    # scores are added up in 32 bits from the start of a text, so its end can hang on all that is before
    in_one = file.model_type == UNIGRAM or goes_across(tables.flat)
    parts: dict[str, Component | None] = {
        "normalizer": _normalizer(file, tables, name),
        "pre_tokenizer": None if in_one else Split(Regex(WORDS), "isolated"),
        "decoder": _decoder(file, tables),
    }
    special = [(id, AddedToken(text, special=True, normalized=False)) for id, text in tables.of_kind(CONTROL)]
    tokenizer = Tokenizer.from_parts(TokenizerFile(model, parts, special))
    tokenizer.encode_special_tokens = True
    roles = {f"{role}_token": text for role, text in file.special.items() if tables.id_of(text) is not None}
    return tokenizer, roles


def goes_across(pieces: Flat) -> bool:
    """Whether a piece goes on over a space: has one behind another character."""
    data, starts = np.frombuffer(pieces.data + b"  ", np.uint8), pieces.offsets[:-1]
    first, second, third = SPACE
    spaces = (data[:-2] == first) & (data[1:-1] == second) & (data[2:] == third)
    allowed = np.zeros(len(data) + 1, bool)  # at the start of a piece, and behind another space
    allowed[starts] = True
    allowed[3:][: len(spaces)] |= spaces
    return bool((spaces & ~allowed[: len(spaces)]).any())


def _check(pieces: list[Piece], name: str) -> None:
    seen: set[str] = set()
    for id, piece in enumerate(pieces):
        if piece.text in seen:
            raise BadTokenizerFile(
                f"{name}: piece {id}, {piece.text!r}, is there twice", place=f"pieces[{id}]"
            )
        seen.add(piece.text)


def _normalizer(file: ModelFile, tables: PieceTables, name: str) -> SentencePieceNormalizer:
    spec = file.normalizer
    try:
        return SentencePieceNormalizer(
            spec.charsmap,
            spec.add_dummy_prefix,
            spec.remove_extra_whitespaces,
            spec.escape_whitespaces,
            file.treat_whitespace_as_suffix,
            [text for _, text in tables.of_kind(USER_DEFINED)],
        )
    except BadTokenizerFile as error:
        raise BadTokenizerFile(f"{name}: {error.message}", place="normalizer_spec") from error


def _decoder(file: ModelFile, tables: PieceTables) -> SentencePieceDecoder:
    unknown = next((text for _, text in tables.of_kind(UNKNOWN)), file.special["unk"])
    spec = file.normalizer
    return SentencePieceDecoder(
        unknown,
        file.unk_surface,
        bytes=file.byte_fallback,
        strip_first=spec.add_dummy_prefix or spec.remove_extra_whitespaces,
        strip_all=spec.remove_extra_whitespaces,
    )
