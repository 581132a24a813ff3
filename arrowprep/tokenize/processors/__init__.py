"""Post-processors: special tokens around a text, the types of a pair, trimmed offsets."""

from __future__ import annotations

from arrowprep.tokenize.component import reader
from arrowprep.tokenize.processors.base import PostProcessor, Sequence
from arrowprep.tokenize.processors.bert import BertProcessing
from arrowprep.tokenize.processors.template import TemplateProcessing
from arrowprep.tokenize.processors.trimming import ByteLevel, RobertaProcessing

_ALL: list[type[PostProcessor]] = [
    BertProcessing,
    ByteLevel,
    RobertaProcessing,
    Sequence,
    TemplateProcessing,
]
read_post_processor = reader("post-processor", PostProcessor, _ALL)
Sequence.read_part = staticmethod(read_post_processor)

__all__ = [
    "BertProcessing",
    "ByteLevel",
    "PostProcessor",
    "RobertaProcessing",
    "Sequence",
    "TemplateProcessing",
    "read_post_processor",
]
