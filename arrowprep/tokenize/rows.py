"""One text or pair to its Encoding: trace, truncate, post-process, pad."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from arrowprep.errors import NotText
from arrowprep.tokenize.encoding import Encoding, pad_all
from arrowprep.tokenize.padding import Padding
from arrowprep.tokenize.pipeline import Pipeline
from arrowprep.tokenize.reference import ReferenceEngine, Trace
from arrowprep.tokenize.truncation import Truncation, check_second, split_room

Text = str | Sequence[str]


@dataclass(frozen=True, slots=True)
class Framing:
    """What happens to the tokens of a text after the model, in one call.

    words_given: texts are lists of words, whose numbers the tokens keep
    ids_only: texts, offsets and words of the tokens are left empty, which is faster
    """

    add_special_tokens: bool = True
    truncation: Truncation | None = None
    padding: Padding | None = None
    words_given: bool = False
    ids_only: bool = False


def encode_row(
    engine: ReferenceEngine, text: Text, pair: Text | None, framing: Framing, *, pad: bool = True
) -> Encoding:
    """The encoding of a text or of a pair."""
    encodings = [_encode_text(engine, text, 0, framing)]
    if pair is not None:
        encodings.append(_encode_text(engine, pair, 1, framing))
    encoding = post_process(engine.pipeline, encodings, framing)
    if pad and framing.padding:
        pad_all([encoding], framing.padding)
    return encoding


def encode_rows(
    engine: ReferenceEngine, texts: Sequence[tuple[Text, Text | None]], framing: Framing
) -> list[Encoding]:
    """The encodings of a batch, padded together."""
    if len(texts) < 2 or framing.words_given or any(pair is not None for _, pair in texts):
        encodings = [encode_row(engine, text, pair, framing, pad=False) for text, pair in texts]
    else:
        together = _encode_all(engine, [check_text(text) for text, _ in texts], framing)
        encodings = [post_process(engine.pipeline, [encoding], framing) for encoding in together]
    if framing.padding:
        pad_all(encodings, framing.padding)
    return encodings


def post_process(pipeline: Pipeline, encodings: list[Encoding], framing: Framing) -> Encoding:
    """One encoding, truncated and with special tokens, out of that of a text or of both texts of a pair."""
    if framing.truncation:
        added = pipeline.num_special_tokens(len(encodings) > 1) if framing.add_special_tokens else 0
        truncate_pair(encodings, framing.truncation, added)
    if pipeline.post_processor:
        first, second = encodings[0], encodings[1] if len(encodings) > 1 else None
        return pipeline.post_processor.process(first, second, framing.add_special_tokens)
    if len(encodings) == 1:
        return encodings[0]
    for i, encoding in enumerate(encodings):
        encoding.set_sequence_id(i)
    return Encoding.merge(encodings, growing_offsets=False)


def truncate_pair(encodings: list[Encoding], settings: Truncation, added: int = 0) -> None:
    """Cut a text, or the texts of a pair, so that they fit beside `added` special tokens."""
    room = settings.room(added)
    if len(encodings) == 1:
        check_second(len(encodings[0]), room, settings)
        rooms = [room]
    else:
        first, second = map(len, encodings)
        rooms = [0, 0] if room == 0 else [*split_room(first, second, settings, room)]
    for encoding, kept in zip(encodings, rooms, strict=True):
        encoding.truncate(kept, settings.stride, settings.direction)


def _encode_text(engine: ReferenceEngine, text: Text, type_id: int, framing: Framing) -> Encoding:
    if not framing.words_given:
        return _tokens_of(engine, check_text(text), type_id, framing.ids_only)
    if isinstance(text, str):
        raise NotText("with is_pretokenized a text is a list of words, not a str", given="str")
    parts = []
    for number, word in enumerate(text):
        part = _tokens_of(engine, check_text(word), type_id, framing.ids_only)
        if not framing.ids_only:
            part.words = [number] * len(part)
        parts.append(part)
    return Encoding.merge(parts, growing_offsets=False)


def _encode_all(engine: ReferenceEngine, texts: list[str], framing: Framing) -> list[Encoding]:
    if framing.ids_only:
        return list(map(Encoding, engine.encode(pa.array(texts, pa.large_string())).ids.to_pylist()))
    return [_encoding_of(trace, 0) for trace in engine.traces(texts)]


def _tokens_of(engine: ReferenceEngine, text: str, type_id: int, ids_only: bool) -> Encoding:
    if ids_only:
        return Encoding(engine.ids(text))  # of type 0, the second text too, until a template says more
    return _encoding_of(engine.trace(text), type_id)


def _encoding_of(trace: Trace, type_id: int) -> Encoding:
    return Encoding(
        trace.ids,
        [type_id] * len(trace.ids),
        trace.values,
        list(zip(trace.starts, trace.ends, strict=True)),
        list(trace.words),
    )


def check_text(text: object) -> str:
    """`text` where it is one. Raises NotText, a TypeError, where not: half of a surrogate pair is none."""
    if not isinstance(text, str):
        raise NotText(f"a text is a str, not {type(text).__name__}", given=type(text).__name__)
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise NotText(
                f"the text has half of a surrogate pair at character {error.start}", at=error.start
            ) from error
    return text
