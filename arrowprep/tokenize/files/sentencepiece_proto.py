"""The few fields of SentencePiece's model file that encoding needs, read from protobuf's wire format."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from arrowprep.errors import BadTokenizerFile
from arrowprep.tokenize.models.sentencepiece import KINDS, LARGEST_SCORE, NORMAL, Piece

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

    pieces: in the order of ids
    special: the texts that it names for unk, bos, eos and pad
    """

    pieces: list[Piece] = field(default_factory=list)
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
    pieces, at = _plain_pieces(content)
    model = ModelFile(pieces)
    for number, value in _Message(content, name, at):
        if number == 1:
            model.pieces.append(_piece(_Message(value, name), len(model.pieces)))
        elif number == 2:
            _read_trainer(_Message(value, name), model)
        elif number == 3:
            _read_normalizer(_Message(value, name), model.normalizer)
    if not model.pieces:
        raise BadTokenizerFile(f"{name} is no SentencePiece model: it has no pieces", place="pieces")
    return model


def _plain_pieces(data: bytes) -> tuple[list[Piece], int]:
    """The pieces that a file begins with, as far as they are written as usual, and the byte behind them.

    As usual is: a text of less than 120 bytes, a score, and a kind, where they are not 0 and normal.
    What is left is for those who name what is wrong, in ten times the time.
    """
    texts: list[bytes] = []
    scores: list[int] = []  # where they are; of four zeros where there is none
    kinds: list[int] = []
    data += bytes(4)
    at, nothing, last = 0, len(data) - 4, len(data) - 132
    while at < last and data[at] == data[at + 2] == 0x0A and data[at + 1] < 128 > data[at + 3]:
        behind, stop = at + 4 + data[at + 3], at + 2 + data[at + 1]
        texts.append(data[at + 4 : behind])
        scored = data[behind] == 0x15 and stop - behind >= 5
        scores.append(behind + 1 if scored else nothing)
        rest = behind + 5 * scored
        if stop - rest == 2 and data[rest] == 0x18:
            kinds.append(data[rest + 1])
        elif stop == rest:
            kinds.append(NORMAL)
        else:
            del texts[-1], scores[-1]
            break
        at = stop
    places = np.array(scores, np.int64)[:, None] + np.arange(4)
    with np.errstate(invalid="ignore"):  # what is no number is refused below
        numbers = np.frombuffer(np.frombuffer(data, np.uint8)[places].tobytes(), "<f4").astype(np.float64)
    try:
        decoded = list(map(bytes.decode, texts))
    except UnicodeDecodeError:
        return [], 0
    if not all(texts) or set(kinds) - {*KINDS} or not (np.abs(numbers) < LARGEST_SCORE).all():
        return [], 0
    return list(map(Piece, decoded, numbers.tolist(), kinds)), at


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
