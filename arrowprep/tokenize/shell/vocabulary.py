"""Vocabulary: a tokenizer's tokens by id and by role, and how to add to them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, overload

from arrowprep.errors import BadArgument
from arrowprep.tokenize import decoding
from arrowprep.tokenize.added_tokens import AddedToken
from arrowprep.tokenize.decoders import Decoder
from arrowprep.tokenize.special_tokens import (
    STANDARD,
    NamedToken,
    NamedTokenId,
    RoleNames,
    SpecialTokens,
    as_special,
)
from arrowprep.tokenize.tokenizer import Tokenizer


class Vocabulary:
    """The tokens of a pipeline, of which some have roles; `PreTrainedTokenizer` is one that can be called.

    A role's token and id are attributes (`bos_token`, `bos_token_id`), a model's
    own roles too (`image_token`). They are read from the pipeline at every use.
    """

    bos_token, bos_token_id = NamedToken(), NamedTokenId()
    eos_token, eos_token_id = NamedToken(), NamedTokenId()
    unk_token, unk_token_id = NamedToken(), NamedTokenId()
    sep_token, sep_token_id = NamedToken(), NamedTokenId()
    pad_token, pad_token_id = NamedToken(), NamedTokenId()
    cls_token, cls_token_id = NamedToken(), NamedTokenId()
    mask_token, mask_token_id = NamedToken(), NamedTokenId()

    SPECIAL_TOKENS_ATTRIBUTES = RoleNames()
    special_tokens: SpecialTokens
    model_max_length: int
    chat_control_tokens: Sequence[str] | None = None
    _tokenizer: Tokenizer | None = None

    @property
    def backend_tokenizer(self) -> Tokenizer:
        """The pipeline."""
        assert self._tokenizer is not None, "set by __init__"
        return self._tokenizer

    @property
    def decoder(self) -> Decoder | None:
        """The pipeline's decoder."""
        return self.backend_tokenizer.decoder

    # --- tokens that have a role ---

    def __getattr__(self, name: str) -> Any:
        special = self.__dict__.get("special_tokens")
        role = name.removesuffix("_id")
        if special is not None and role in special.named:
            token = special.of(role)
            return token if role == name or token is None else self.convert_tokens_to_ids(token)
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")

    def __setattr__(self, name: str, value: Any) -> None:
        special = self.__dict__.get("special_tokens")
        if special is not None and name in special.named and name not in STANDARD:
            special.set(name, value)
        else:
            object.__setattr__(self, name, value)

    @property
    def special_tokens_map(self) -> dict[str, str]:
        """Role to token, of the roles that are set."""
        return self.special_tokens.map()

    @property
    def extra_special_tokens(self) -> list[str]:
        """Special tokens without a role."""
        return [str(token) for token in self.special_tokens.extra]

    @extra_special_tokens.setter
    def extra_special_tokens(self, tokens: Sequence[str | AddedToken] | None) -> None:
        self.special_tokens.set_extra(tokens)

    @property
    def extra_special_tokens_ids(self) -> list[int | None]:
        """The ids of the special tokens without a role."""
        ids: list[int | None] = self.convert_tokens_to_ids(self.extra_special_tokens)
        return ids

    @property
    def all_special_tokens(self) -> list[str]:
        """Every special token once: by role, then the extra ones."""
        return self.special_tokens.all()

    @property
    def all_special_ids(self) -> list[int]:
        """The ids of `all_special_tokens`."""
        ids: list[int] = self.convert_tokens_to_ids(self.all_special_tokens)
        return ids

    # --- tokens and ids ---

    @overload
    def convert_tokens_to_ids(self, tokens: str | None) -> int | None: ...
    @overload
    def convert_tokens_to_ids(self, tokens: list[str] | tuple[str, ...]) -> list[Any]: ...
    def convert_tokens_to_ids(self, tokens: Any) -> Any:
        """The id of a token, or of each in a list; the unk token's id, or None, for what is no token."""
        if tokens is None:
            return None
        if not isinstance(tokens, str):
            return [self.convert_tokens_to_ids(token) for token in tokens]
        index = self.backend_tokenizer.token_to_id(tokens)
        unk = self.unk_token
        if index is None and unk is not None:
            return self.backend_tokenizer.token_to_id(unk)
        return index

    @overload
    def convert_ids_to_tokens(self, ids: int, skip_special_tokens: bool = False) -> str | None: ...
    @overload
    def convert_ids_to_tokens(self, ids: Any, skip_special_tokens: bool = False) -> list[Any]: ...
    def convert_ids_to_tokens(self, ids: Any, skip_special_tokens: bool = False) -> Any:
        """The token of an id, or of each in a list; None for an id without a token."""
        ids = decoding.plain(ids)
        if isinstance(ids, int):
            return self.backend_tokenizer.id_to_token(ids)
        skipped = set(self.all_special_ids) if skip_special_tokens else set()
        return [self.backend_tokenizer.id_to_token(index) for index in ids if index not in skipped]

    def convert_tokens_to_string(self, tokens: Sequence[str]) -> str:
        """The text that tokens make; joined by spaces when the pipeline has no decoder."""
        decoder = self.backend_tokenizer.decoder
        return " ".join(tokens) if decoder is None else decoder.decode(list(tokens))

    def get_special_tokens_mask(
        self,
        token_ids_0: Any,
        token_ids_1: Any = None,
        already_has_special_tokens: bool = False,
    ) -> list[int]:
        """1 for each id that is a special token's, of a row that has its special tokens already."""
        if not already_has_special_tokens:
            raise NotImplementedError(
                "a mask is made of rows that have their special tokens: pass already_has_special_tokens=True,"
                " or call the tokenizer with return_special_tokens_mask=True"
            )
        if token_ids_1 is not None:
            raise BadArgument("a row that has its special tokens already is one list of ids, not two")
        special = set(self.all_special_ids)
        return [int(index in special) for index in decoding.plain(token_ids_0)]

    def num_special_tokens_to_add(self, pair: bool = False) -> int:
        """How many special tokens encoding one text, or a pair, adds."""
        return self.backend_tokenizer.num_special_tokens_to_add(pair)

    @property
    def max_len_single_sentence(self) -> int:
        """How many tokens of one text fit beside the special tokens."""
        return self.model_max_length - self.num_special_tokens_to_add(False)

    @property
    def max_len_sentences_pair(self) -> int:
        """How many tokens of a pair of texts fit beside the special tokens."""
        return self.model_max_length - self.num_special_tokens_to_add(True)

    # --- vocabulary ---

    @property
    def vocab_size(self) -> int:
        """How many tokens the model has, without added ones; `len(tok)` counts those too."""
        return self.backend_tokenizer.get_vocab_size(False)

    def __len__(self) -> int:
        return self.backend_tokenizer.get_vocab_size(True)

    def __bool__(self) -> bool:
        return True  # also without a vocabulary, and without counting it

    def get_vocab(self) -> dict[str, int]:
        """Every token, added ones too, and its id."""
        return self.backend_tokenizer.get_vocab(True)

    @property
    def vocab(self) -> dict[str, int]:
        """Every token, added ones too, and its id."""
        return self.get_vocab()

    @property
    def added_tokens_decoder(self) -> dict[int, AddedToken]:
        """The added tokens by id."""
        return self.backend_tokenizer.get_added_tokens_decoder()

    @property
    def added_tokens_encoder(self) -> dict[str, int]:
        """The ids of the added tokens, in the order of ids."""
        return {token.content: index for index, token in sorted(self.added_tokens_decoder.items())}

    def get_added_vocab(self) -> dict[str, int]:
        """The ids of the added tokens, in the order of ids."""
        return self.added_tokens_encoder

    def add_tokens(
        self, new_tokens: str | AddedToken | Iterable[str | AddedToken], special_tokens: bool = False
    ) -> int:
        """Add tokens that match before all else; returns how many were new, or had other flags before."""
        tokens = [new_tokens] if isinstance(new_tokens, (str, AddedToken)) else list(new_tokens)
        backend = self.backend_tokenizer
        return backend.add_special_tokens(tokens) if special_tokens else backend.add_tokens(tokens)

    def add_special_tokens(
        self, special_tokens_dict: Mapping[str, Any], replace_extra_special_tokens: bool = True
    ) -> int:
        """Give roles to tokens and add them to the vocabulary: `{"pad_token": "[PAD]"}`.

        `extra_special_tokens` is a list; it replaces the list there was, or is added to
        it. What it replaces stays in the vocabulary. Returns as `add_tokens` does.
        """
        given = dict(special_tokens_dict)
        if "additional_special_tokens" in given:
            given.setdefault("extra_special_tokens", given.pop("additional_special_tokens"))
        known = [*self.special_tokens.named, "extra_special_tokens"]
        if wrong := [role for role in given if role not in known]:
            raise BadArgument(
                f"{wrong[0]!r} is no special token's role; they are {', '.join(known)}", role=wrong[0]
            )
        tokens: list[AddedToken] = []
        for role, value in given.items():
            if role == "extra_special_tokens":
                tokens += self._extend_extra(value, replace_extra_special_tokens)
            else:
                tokens += as_special(role, [value])
                self.special_tokens.set(role, value)
        return self.add_tokens(tokens, special_tokens=True)

    def _extend_extra(self, tokens: Any, replace: bool) -> list[AddedToken]:
        before = [] if replace and tokens else self.special_tokens.extra
        known = {str(token) for token in before}
        new = [token for token in as_special("extra_special_tokens", tokens) if str(token) not in known]
        self.special_tokens.set_extra([*before, *new])
        return new
