"""TemplateProcessing: texts and special tokens in the order that a template says."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Sequence as ListLike
from typing import Any, NamedTuple

from arrowprep.errors import BadArgument, TokenizerError
from arrowprep.tokenize.component import Spec
from arrowprep.tokenize.encoding import Encoding
from arrowprep.tokenize.processors.base import PostProcessor


class TemplatePiece(NamedTuple):
    """A place in a template: text A or B, or a special token by its name."""

    sequence: str | None
    special: str | None
    type_id: int

    def to_json(self) -> dict[str, Any]:
        if self.sequence is not None:
            return {"Sequence": {"id": self.sequence, "type_id": self.type_id}}
        return {"SpecialToken": {"id": self.special, "type_id": self.type_id}}


class SpecialToken(NamedTuple):
    """What a name in a template stands for: one or several tokens."""

    id: str
    ids: tuple[int, ...]
    tokens: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        return {"id": self.id, "ids": list(self.ids), "tokens": list(self.tokens)}


Template = str | ListLike[str | TemplatePiece]


class TemplateProcessing(PostProcessor):
    """Puts texts and special tokens in the order of a template.

    single, pair: "[CLS] $A [SEP]", or a list of such pieces; `$B:1` gives text B the
        type 1, `$0` and `$1` are texts with their types
    special_tokens: (token, id) pairs, or dicts with "id", "ids" and "tokens", for a
        name that stands for several
    """

    kind = "TemplateProcessing"
    single: Any
    pair: Any
    special_tokens: Any

    def __init__(
        self,
        single: Template | None = None,
        pair: Template | None = None,
        special_tokens: Iterable[tuple[str, int] | tuple[int, str] | Mapping[str, Any]] | None = None,
    ) -> None:
        self.special_tokens = special_tokens or ()
        self.single = "$0" if single is None else single
        self.pair = "$A:0 $B:1" if pair is None else pair
        self._check()

    def __setattr__(self, name: str, value: Any) -> None:
        if name in ("single", "pair"):
            super().__setattr__(name, tuple(read_template(value)))
            if "pair" in self.__dict__:
                self._check()
        elif name == "special_tokens":
            super().__setattr__(name, {token.id: token for token in map(read_special, value)})
        else:
            super().__setattr__(name, value)

    def _check(self) -> None:
        missing = {p.special for p in (*self.single, *self.pair) if p.special is not None} - set(
            self.special_tokens
        )
        if missing:
            raise BadArgument(f"the template's {min(missing)!r} is not in special_tokens", token=min(missing))
        for name, wanted in (("single", {"A"}), ("pair", {"A", "B"})):
            texts = {piece.sequence for piece in getattr(self, name)} - {None}
            if (name == "pair" and texts != wanted) or not texts <= wanted:
                raise BadArgument(
                    f"the template {name!r} must have the texts {sorted(wanted)}", argument=name
                )

    @classmethod
    def from_json(cls, spec: Spec) -> TemplateProcessing:
        specials = spec.get("special_tokens", dict)
        tokens = []
        for name in specials:
            token = Spec(specials[name], f"{spec.place}.special_tokens.{name}")
            tokens.append(
                {k: token.get(k, kinds) for k, kinds in (("id", str), ("ids", list), ("tokens", list))}
            )
        single, pair = ([_piece_from_json(p) for p in spec.objects(name)] for name in ("single", "pair"))
        try:
            return cls(single, pair, tokens)
        except BadArgument as error:
            raise spec.bad(str(error)) from error

    def to_json(self) -> dict[str, Any]:
        return {
            "type": self.kind,
            "single": [piece.to_json() for piece in self.single],
            "pair": [piece.to_json() for piece in self.pair],
            "special_tokens": {
                name: self.special_tokens[name].to_json() for name in sorted(self.special_tokens)
            },
        }

    def special_pairs(self) -> list[tuple[str, int]]:
        specials = self.special_tokens.values()
        return [pair for special in specials for pair in zip(special.tokens, special.ids, strict=True)]

    def num_special_tokens_to_add(self, is_pair: bool) -> int:
        template = self.pair if is_pair else self.single
        return sum(
            len(self.special_tokens[piece.special].ids) for piece in template if piece.special is not None
        )

    def process_encodings(self, encodings: list[Encoding], add_special_tokens: bool) -> list[Encoding]:
        if len(encodings) > 2:
            raise TokenizerError(
                f"a template puts a text or a pair in order, not {len(encodings)} parts:"
                " another post-processor that adds tokens stands before it",
                parts=len(encodings),
            )
        out: list[Encoding] = []
        for piece in self.pair if len(encodings) > 1 else self.single:
            if piece.sequence is not None:
                i = "AB".index(piece.sequence)
                encoding = encodings[i].copy()
                encoding.type_ids = [piece.type_id] * len(encoding)
                encoding.set_sequence_id(i)
                out.append(encoding)
            elif add_special_tokens:
                token = self.special_tokens[piece.special]
                out.append(Encoding.of_special(token.ids, token.tokens, piece.type_id))
        return out


def read_template(template: Template) -> Iterator[TemplatePiece]:
    """The pieces of a template."""
    for piece in template.split() if isinstance(template, str) else template:
        yield piece if isinstance(piece, TemplatePiece) else _read_piece(piece)


def _read_piece(text: str) -> TemplatePiece:
    name, colon, type_text = text.rpartition(":")
    if not colon or not name:
        name, type_text = text, ""
    if type_text and not type_text.isdecimal():
        raise BadArgument(f"the type in the template piece {text!r} is no number", piece=text)
    type_id = int(type_text or 0)
    if not name.startswith("$"):
        return TemplatePiece(None, name, type_id)
    if name[1:].isdecimal():  # `$1` is text A with type 1
        return TemplatePiece("A", None, int(name[1:]))
    sequence = {"": "A", "a": "A", "A": "A", "b": "B", "B": "B"}.get(name[1:])
    if sequence is None:
        raise BadArgument(f"the template piece {text!r} is neither text A nor B", piece=text)
    return TemplatePiece(sequence, None, type_id)


def read_special(token: Any) -> SpecialToken:
    """From (token, id), (id, token), a dict, or one itself."""
    if isinstance(token, SpecialToken):
        return token
    if isinstance(token, str):
        raise BadArgument(f"a special token is given as (token, id), not {token!r}", token=token)
    if isinstance(token, Mapping):
        if missing := {"id", "ids", "tokens"} - token.keys():
            raise BadArgument(
                f"a special token has id, ids and tokens; {min(missing)!r} is missing", token=token
            )
        ids, tokens = tuple(token["ids"]), tuple(token["tokens"])
        if len(ids) != len(tokens):
            raise BadArgument(f"special token {token['id']!r} has {len(ids)} ids and {len(tokens)} tokens")
        return SpecialToken(token["id"], ids, tokens)
    first, second = token
    content, id = (first, second) if isinstance(first, str) else (second, first)
    return SpecialToken(content, (id,), (content,))


def _piece_from_json(spec: Spec) -> TemplatePiece:
    if "Sequence" in spec.value:
        sequence = spec.child("Sequence")
        id = sequence.choice("id", {"A": "A", "B": "B"})
        return TemplatePiece(id, None, sequence.count("type_id"))
    special = spec.child("SpecialToken")
    return TemplatePiece(None, special.text("id"), special.count("type_id"))
