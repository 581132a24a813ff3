"""Components of one's own: an object in Python that takes part in a pipeline.

They work, are copied and pickled as the object is; a tokenizer.json cannot hold them.
"""

from __future__ import annotations

from typing import Any, ClassVar

from arrowprep.errors import TokenizerError, UnsupportedComponent
from arrowprep.tokenize.aligned import Aligned
from arrowprep.tokenize.component import Component
from arrowprep.tokenize.decoders.base import Decoder
from arrowprep.tokenize.named_code import class_name, content_of
from arrowprep.tokenize.normalized_string import NormalizedString
from arrowprep.tokenize.normalizers.base import Normalizer
from arrowprep.tokenize.pre_tokenized_string import PreTokenizedString
from arrowprep.tokenize.pre_tokenizers.base import PreTokenizer


class Custom(Component):
    """An object with the one method that the pipeline calls.

    obj: the object; what is changed in it takes effect at once
    """

    kind = "Custom"
    family: ClassVar[str]
    methods: ClassVar[tuple[str, ...]]  # it has one of these

    def __init__(self, obj: Any) -> None:
        if not any(hasattr(obj, method) for method in self.methods):
            raise TypeError(f"a custom {self.family} has a method {self.methods[0]}; {obj!r} has none")
        self.obj = obj

    def to_json(self) -> dict[str, Any]:
        """Raises UnsupportedComponent."""
        name = class_name(type(self.obj))
        raise UnsupportedComponent(
            f"{name} is a custom {self.family}, which no tokenizer.json can hold:"
            " save the tokenizer without it, and set it again after loading (or pickle the tokenizer)",
            component=name,
        )

    def content(self) -> Any:
        """What decides its results, as JSON: its code and values, or its `fingerprint`. Raises Unnameable."""
        return [self.family, content_of(self.obj)]


class CustomNormalizer(Custom, Normalizer):
    """`obj.normalize(normalized)` changes a NormalizedString in place.

    In a pipeline that is one stretch between added tokens, as the normalizers before left it.
    """

    family = "normalizer"
    methods = ("normalize",)

    def normalize(self, normalized: NormalizedString) -> None:
        self.obj.normalize(normalized)

    def apply(self, text: Aligned) -> Aligned:
        normalized = NormalizedString(text.text)
        normalized.aligned = Aligned(text.text, full=text.full)
        self.obj.normalize(normalized)
        return text.then(normalized.aligned)


class CustomPreTokenizer(Custom, PreTokenizer):
    """`obj.pre_tokenize(pretok)` cuts a PreTokenizedString.

    In a pipeline that is one stretch between added tokens, or one piece of the
    pre-tokenizer before. Nothing of what it does is kept for the next text.
    """

    family = "pre-tokenizer"
    methods = ("pre_tokenize",)
    in_steps = False
    knows_start = True

    def pre_tokenize(self, pretok: PreTokenizedString) -> None:
        self.obj.pre_tokenize(pretok)

    def cut(self, piece: Aligned) -> list[Aligned]:
        pretok = PreTokenizedString(piece.text)
        pretok.splits[0].normalized.aligned = Aligned(piece.text, full=piece.full)
        self.obj.pre_tokenize(pretok)
        if any(split.tokens is not None for split in pretok.splits):
            raise TokenizerError(f"{class_name(type(self.obj))} made tokens, which is the model's part")
        return [
            piece.then(split.normalized.aligned) for split in pretok.splits if split.normalized.normalized
        ]


class CustomDecoder(Custom, Decoder):
    """`obj.decode_chain(tokens)` gives the texts of tokens; or `obj.decode(tokens)` the whole text."""

    family = "decoder"
    methods = ("decode_chain", "decode")

    def decode_chain(self, tokens: list[str]) -> list[str]:
        if hasattr(self.obj, "decode_chain"):
            return list(self.obj.decode_chain(tokens))
        return [self.obj.decode(tokens)]


def has_customs(part: Component | None) -> bool:
    """Whether a part is, or is made of, custom components."""
    return isinstance(part, Custom) or any(map(has_customs, part.parts if part else ()))


def content_of_part(part: Component) -> Any:
    """What decides the results of a part: its JSON, where it has customs with their content in it."""
    if isinstance(part, Custom):
        return part.content()
    if has_customs(part):
        return [part.kind, [content_of_part(inner) for inner in part.parts]]
    return part.to_json()
