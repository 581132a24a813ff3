"""The parts of a pipeline whose work is done by the methods of a `PythonBackend`."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import xxhash

from arrowprep.errors import TokenizerError, UnsupportedComponent
from arrowprep.tokenize.columns import Columns
from arrowprep.tokenize.component import Component
from arrowprep.tokenize.decoders import Decoder
from arrowprep.tokenize.encoding import Encoding
from arrowprep.tokenize.models.base import Model, Token
from arrowprep.tokenize.processors import PostProcessor
from arrowprep.tokenize.tokenizer import Tokenizer

if TYPE_CHECKING:
    from arrowprep.tokenize.added_tokens import AddedToken
    from arrowprep.tokenize.shell.python_backend import PythonBackend

_asked = itertools.count(1)
FIRST, SECOND = -1, -2  # ids that stand for a whole text while a frame is asked for


class PythonPipeline(Tokenizer):
    """Added tokens are cut out of the text, the owner makes tokens of the rest and frames them."""

    def __init__(self, owner: PythonBackend) -> None:
        super().__init__(PythonModel(owner))
        self._owner = owner
        self.post_processor = PythonFrame(owner)
        self.decoder = PythonDecoder(owner)
        self.cache_bytes = 0  # who knows what the owner's answers depend on

    def keep(self, tokens: Mapping[int, AddedToken]) -> None:
        """Add tokens with the ids that they have; the owner answers for all others."""
        for id, token in sorted(tokens.items()):
            self._added.put(token, id)

    def encode_columns(self, *texts: Any, offsets: bool | str = False, **options: Any) -> Columns:
        """As of any tokenizer, but for offsets: NotImplementedError."""
        if offsets:
            raise NotImplementedError(
                "a tokenizer in Python does not say where in a text its tokens stand:"
                " offsets, and masks that are made of them, need a pipeline"
            )
        prepare = self._owner.prepare_for_tokenization
        words = options.get("is_pretokenized", False)
        prepared = [column and _each(column, lambda text: prepare(text, words)[0]) for column in texts]
        return super().encode_columns(*prepared, **options)


def _each(texts: Any, change: Callable[[str], str]) -> list[Any]:
    """Texts, or lists of words, each text of them changed; None stays."""
    rows = texts.to_pylist() if isinstance(texts, (pa.Array, pa.ChunkedArray)) else texts
    return [
        row if row is None else change(row) if isinstance(row, str) else [change(word) for word in row]
        for row in rows
    ]


class _Owned(Component):
    """A part that asks its owner; the owner's class and attributes are named with the owner."""

    kind = "Python"

    def __init__(self, owner: PythonBackend) -> None:
        self.owner = owner

    def __repr__(self) -> str:
        return f"{type(self).__name__}({type(self.owner).__name__})"


class PythonModel(_Owned, Model):
    """Tokens and ids as the owner's `_tokenize`, `_convert_token_to_id`, `_convert_id_to_token` say."""

    def tokenize(self, sequence: str) -> list[Token]:
        return [Token(self._id(token), token, (0, 0)) for token in self.owner._tokenize(sequence)]

    def _id(self, token: str) -> int:
        id = self.owner._convert_token_to_id(token)
        if id is None:
            raise TokenizerError(
                f"{type(self.owner).__name__} makes the token {token!r}, which it has no id for", token=token
            )
        return id

    def token_to_id(self, token: str) -> int | None:
        """None for what is unknown, though the owner may answer with the unknown token's id."""
        try:
            id = self.owner._convert_token_to_id(token)
            return id if id is not None and self.owner._convert_id_to_token(id) == token else None
        except (KeyError, IndexError):
            return None

    def id_to_token(self, id: int) -> str | None:
        return self.owner._convert_id_to_token(id)

    def get_vocab(self) -> dict[str, int]:
        return dict(self.owner.get_vocab())

    def get_vocab_size(self) -> int:
        return self.owner.vocab_size

    @property
    def digest(self) -> str:
        return xxhash.xxh3_128_hexdigest(repr(sorted(self.get_vocab().items())).encode())

    def options_json(self) -> dict[str, Any]:
        return {"type": self.kind}

    def to_json(self) -> dict[str, Any]:
        """Raises UnsupportedComponent."""
        name = type(self.owner).__name__
        raise UnsupportedComponent(
            f"{name} makes tokens in Python, which no tokenizer.json can hold: save_pretrained writes its"
            " vocabulary files",
            component=name,
        )


class PythonFrame(_Owned, PostProcessor):
    """Special tokens where the owner's `build_inputs_with_special_tokens` puts them."""

    def stamps(self) -> tuple[int, ...]:
        """Never the same: the owner's answer may change at any time, so nothing made of it is kept."""
        return (next(_asked),)

    def _frame(self, pair: bool) -> tuple[list[int], list[int]]:
        """Ids, with FIRST and SECOND in place of the texts; and the type of each."""
        texts = ([FIRST], [SECOND]) if pair else ([FIRST],)
        ids = self.owner.build_inputs_with_special_tokens(*texts)
        types = self.owner.create_token_type_ids_from_sequences(*texts)
        if len(types) < len(ids):  # those of the texts alone
            of_text = dict(zip((FIRST, SECOND), types, strict=False))
            types = [of_text.get(id, 0) for id in ids]
        return ids, types

    def num_special_tokens_to_add(self, is_pair: bool) -> int:
        return len(self._frame(is_pair)[0]) - (2 if is_pair else 1)

    def process_encodings(self, encodings: list[Encoding], add_special_tokens: bool) -> list[Encoding]:
        pair = len(encodings) > 1
        ids, types = self._frame(pair) if add_special_tokens else ([FIRST, SECOND][: 1 + pair], [0, 0])
        out: list[Encoding] = []
        for id, type_id in zip(ids, types[: len(ids)], strict=True):
            if id >= 0:
                out.append(Encoding.of_special([id], [self.owner.convert_ids_to_tokens(id) or ""], type_id))
                continue
            text = encodings[id == SECOND]
            for part in (text, *text.overflowing):
                part.type_ids = [type_id] * len(part)
            out.append(text)
        return out


class PythonDecoder(_Owned, Decoder):
    """The text that the owner's `convert_tokens_to_string` makes of tokens."""

    def decode_chain(self, tokens: list[str]) -> list[str]:
        return [self.owner.convert_tokens_to_string(tokens)]

    def decode(self, tokens: Sequence[str]) -> str:
        return self.owner.convert_tokens_to_string(list(tokens))
