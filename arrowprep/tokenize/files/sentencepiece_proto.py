"""The few fields of SentencePiece's model file that encoding needs, read from protobuf's wire format."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from arrowprep.errors import BadTokenizerFile
from arrowprep.tokenize.models.flat import FlatVocabulary
from arrowprep.tokenize.models.sentencepiece import KINDS, LARGEST_SCORE, NORMAL, Piece
from arrowprep.tokenize.native_files import read_pieces

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
UNIGRAM, BPE = 1, 2
MODEL_TYPES = {1: "unigram", 2: "bpe", 3: "word", 4: "char"}


@dataclass(slots=True)
class NormalizerSpec:
    """How text is prepared. The defaults are those of the format."""

    charsmap: bytes = b""
    add_dummy_prefix: bool = True
    remove_extra_whitespaces: bool = True
    escape_whitespaces: bool = True


@dataclass(slots=True)
class ModelFile:
    """What a .model file holds.

    pieces: in the order of ids; flat where the kernel has read them, none of them twice
    special: the texts that it names for unk, bos, eos and pad
    """

    pieces: list[Piece] | FlatVocabulary = field(default_factory=list)
    model_type: int = UNIGRAM
    byte_fallback: bool = False
    treat_whitespace_as_suffix: bool = False
    unk_surface: str = " \u2047 "
    special: dict[str, str] = field(
        default_factory=lambda: {"unk": "<unk>", "bos": "<s>", "eos": "</s>", "pad": "<pad>"}
    )
    normalizer: NormalizerSpec = field(default_factory=NormalizerSpec)


def parse_model(content: bytes, name: str = "the file") -> ModelFile:
    """Raises BadTokenizerFile, which names the byte or the piece."""
    return _parse_flat(content, name) or _parse(content, name)


def _parse_flat(content: bytes, name: str) -> ModelFile | None:
    """The same with the pieces as the kernel reads them; None where it is to be read by Python alone."""
    found = read_pieces(content)
    if found is None:
        return None
    pieces, at = found
    model = ModelFile(pieces)
    more = any(number == 1 for number, _ in _read_rest(_Message(content, name, at), model))
    return None if more else model


def _parse(content: bytes, name: str) -> ModelFile:
    pieces: list[Piece] = []
    model = ModelFile(pieces)
    for number, value in _read_rest(_Message(content, name), model):
        if number == 1:
            pieces.append(_piece(_Message(value, name), len(pieces)))
    if not pieces:
        raise BadTokenizerFile(f"{name} is no SentencePiece model: it has no pieces", place="pieces")
    return model


def _read_rest(message: _Message, model: ModelFile) -> Iterator[tuple[int, Any]]:
    """Read all that a file has beside its pieces. Gives each field."""
    for number, value in message:
        if number == 2:
            _read_trainer(_Message(value, message.name), model)
        elif number == 3:
            _read_normalizer(_Message(value, message.name), model.normalizer)
        yield number, value


def _piece(message: _Message, id: int) -> Piece:
    text, score, kind = "", 0.0, NORMAL
    for number, value in message:
        if number == 1:
            text = message.text(value)
        elif number == 2:
            score = message.float(value)
        elif number == 3:
            kind = message.int(value)
    if not text or kind not in KINDS or not abs(score) < LARGEST_SCORE:
        raise BadTokenizerFile(
            f"{message.name}: piece {id} is {text[:60]!r} of type {kind} with score {score}",
            place=f"pieces[{id}]",
        )
    return Piece(text, score, kind)


def _read_trainer(message: _Message, model: ModelFile) -> None:
    roles = {45: "unk", 46: "bos", 47: "eos", 48: "pad"}
    for number, value in message:
        if number == 3:
            model.model_type = message.int(value)
        elif number == 24:
            model.treat_whitespace_as_suffix = bool(message.int(value))
        elif number == 35:
            model.byte_fallback = bool(message.int(value))
        elif number == 44:
            model.unk_surface = message.text(value)
        elif number in roles:
            model.special[roles[number]] = message.text(value)


def _read_normalizer(message: _Message, spec: NormalizerSpec) -> None:
    flags = {3: "add_dummy_prefix", 4: "remove_extra_whitespaces", 5: "escape_whitespaces"}
    for number, value in message:
        if number == 2:
            spec.charsmap = message.bytes(value)
        elif number in flags:
            setattr(spec, flags[number], bool(message.int(value)))


class _Message:
    """The fields of one message: (number, value) pairs; a value is an int, or the bytes it has."""

    def __init__(self, data: Any, name: str, at: int = 0) -> None:
        if isinstance(data, int):
            raise BadTokenizerFile(f"{name} is no SentencePiece model: a number stands for a message")
        self._data, self.name, self._at = memoryview(data), name, at

    def __iter__(self) -> Iterator[tuple[int, Any]]:
        data, at = self._data, self._at
        while at < len(data):
            key, at = self._varint(at)
            kind = key & 7
            if kind == VARINT:
                value, at = self._varint(at)
                yield key >> 3, value
                continue
            if kind == BYTES:
                size, at = self._varint(at)
            elif kind in (FIXED32, FIXED64):
                size = 4 if kind == FIXED32 else 8
            else:
                raise self._broken(at)
            if size > len(data) - at:  # also what a small file claims of itself
                raise self._broken(at)
            yield key >> 3, data[at : at + size]
            at += size

    def _varint(self, at: int) -> tuple[int, int]:
        value = 0
        for shift in range(0, 70, 7):
            if at >= len(self._data):
                break
            byte = self._data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value, at
        raise self._broken(at)

    def _broken(self, at: int) -> BadTokenizerFile:
        return BadTokenizerFile(
            f"{self.name} is no SentencePiece model, or is cut short: broken at byte {at} of a message of"
            f" {len(self._data)}",
            place=f"byte {at}",
        )

    def bytes(self, value: Any) -> bytes:
        if isinstance(value, int):
            raise self._broken(0)
        return bytes(value)

    def text(self, value: Any) -> str:
        try:
            return self.bytes(value).decode("utf-8")
        except UnicodeDecodeError as error:
            raise BadTokenizerFile(f"{self.name}: {bytes(value)[:60]!r} is not UTF-8") from error

    def float(self, value: Any) -> float:
        if isinstance(value, int) or len(value) != 4:
            raise self._broken(0)
        number: float = struct.unpack("<f", value)[0]
        return number

    def int(self, value: Any) -> int:
        if not isinstance(value, int):
            raise self._broken(0)
        return value
