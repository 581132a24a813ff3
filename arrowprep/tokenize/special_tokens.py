"""Which tokens have a role: bos, eos, unk, sep, pad, cls, mask, those a model names, and further ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, overload

from arrowprep.errors import BadArgument

if TYPE_CHECKING:
    from arrowprep.tokenize.added_tokens import AddedToken
    from arrowprep.tokenize.processors import TemplateProcessing
    from arrowprep.tokenize.shell.vocabulary import Vocabulary

STANDARD = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")


class SpecialTokens:
    """Role names and their tokens, in a fixed order; a role that is None is not set.

    named: role to token; the seven standard roles first, then a model's own ("image_token")
    extra: tokens that are special and have no role
    """

    def __init__(self) -> None:
        self.named: dict[str, str | AddedToken | None] = dict.fromkeys(STANDARD)
        self.extra: list[str | AddedToken] = []

    def set(self, role: str, token: Any) -> None:
        """Give a role to a token; None takes it away."""
        if token is not None and not is_token(token):
            raise BadArgument(
                f"{role} is a str, an AddedToken or None, not {type(token).__name__}", role=role
            )
        self.named[role] = token

    def set_extra(self, tokens: Any) -> None:
        """Replace the tokens that have no role."""
        if tokens is not None:
            as_special("extra_special_tokens", tokens)
        self.extra = list(tokens or ())

    def of(self, role: str) -> str | None:
        """The token of a role as text; None when it is not set."""
        token = self.named.get(role)
        return None if token is None else str(token)

    def map(self) -> dict[str, str]:
        """Role to text, of the roles that are set."""
        return {role: str(token) for role, token in self.named.items() if token is not None}

    def all(self) -> list[str]:
        """Every special token once: by role, then the extra ones."""
        return list(dict.fromkeys([*self.map().values(), *map(str, self.extra)]))

    def __iter__(self) -> Iterator[str | AddedToken]:
        yield from (token for token in self.named.values() if token is not None)
        yield from self.extra


def is_token(value: Any) -> bool:
    """A str, or something that carries a token's content and flags."""
    return isinstance(value, str) or hasattr(value, "content")


def take_from(settings: dict[str, Any]) -> SpecialTokens:
    """The special tokens among a config's settings; they are taken out of it.

    Every `..._token` that is a token names a role, `extra_special_tokens` is a
    list, or a dict of further roles; `additional_special_tokens` is its old name.
    """
    special = SpecialTokens()
    old = settings.pop("additional_special_tokens", None)
    extra = settings.pop("extra_special_tokens", None) or old
    own = settings.pop("model_specific_special_tokens", None) or {}
    for role in [key for key, value in settings.items() if _names_a_role(key, value)]:
        special.set(role, settings.pop(role))
    for role, token in {**own, **(extra if isinstance(extra, Mapping) else {})}.items():
        special.set(role, token)
    if not isinstance(extra, Mapping):
        special.set_extra(extra)
    return special


def _names_a_role(key: str, value: Any) -> bool:
    return key in STANDARD or (key.endswith("_token") and is_token(value))


class RoleNames:
    """Attribute `tok.SPECIAL_TOKENS_ATTRIBUTES`: the roles there are; of the class, those that all have."""

    def __get__(self, tokenizer: Vocabulary | None, owner: type) -> list[str]:
        return list(STANDARD if tokenizer is None else tokenizer.special_tokens.named)


class NamedToken:
    """Attribute `tok.bos_token`: the text of a role's token, or None; can be set to a str or AddedToken.

    Setting it does not add the token to the vocabulary; `add_special_tokens` does both.
    """

    def __set_name__(self, owner: type, name: str) -> None:
        self.role = name

    @overload
    def __get__(self, tokenizer: None, owner: type) -> NamedToken: ...
    @overload
    def __get__(self, tokenizer: Vocabulary, owner: type) -> str | None: ...
    def __get__(self, tokenizer: Vocabulary | None, owner: type) -> NamedToken | str | None:
        return self if tokenizer is None else tokenizer.special_tokens.of(self.role)

    def __set__(self, tokenizer: Vocabulary, token: str | AddedToken | None) -> None:
        tokenizer.special_tokens.set(self.role, token)


class NamedTokenId:
    """Attribute `tok.bos_token_id`: the id of a role's token, None when not set; can be set to an id."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.role = name.removesuffix("_id")

    @overload
    def __get__(self, tokenizer: None, owner: type) -> NamedTokenId: ...
    @overload
    def __get__(self, tokenizer: Vocabulary, owner: type) -> int | None: ...
    def __get__(self, tokenizer: Vocabulary | None, owner: type) -> NamedTokenId | int | None:
        if tokenizer is None:
            return self
        token = tokenizer.special_tokens.of(self.role)
        return None if token is None else tokenizer.convert_tokens_to_ids(token)

    def __set__(self, tokenizer: Vocabulary, index: int | None) -> None:
        token = None if index is None else tokenizer.convert_ids_to_tokens(index)
        if index is not None and token is None:
            raise BadArgument(f"no token has the id {index}, so it cannot be the {self.role}")
        tokenizer.special_tokens.set(self.role, token)


def as_special(role: str, tokens: Any) -> list[AddedToken]:
    """Plain strings as special tokens that match on raw text; AddedTokens as they are.

    Raises BadArgument, which names the role, for what is neither.
    """
    from arrowprep.tokenize.added_tokens import AddedToken

    if not isinstance(tokens, (list, tuple)):
        raise BadArgument(f"{role} is a list of tokens, not {type(tokens).__name__}", role=role)
    if wrong := [token for token in tokens if not is_token(token)]:
        raise BadArgument(f"{role} has {wrong[0]!r}, which is neither str nor AddedToken", role=role)
    return [
        AddedToken(token, normalized=False, special=True) if isinstance(token, str) else token
        for token in tokens
    ]


def frame_of(bos: tuple[str, int] | None, eos: tuple[str, int] | None) -> TemplateProcessing:
    """A post-processor that puts bos before and eos after each text; None leaves one out."""
    from arrowprep.tokenize.processors import TemplateProcessing

    before, after = ([token[0]] if token else [] for token in (bos, eos))
    first, second = ([f"{piece}:{n}" for piece in [*before, f"${'AB'[n]}", *after]] for n in (0, 1))
    tokens = dict.fromkeys(token for token in (bos, eos) if token)
    return TemplateProcessing(single=first, pair=first + second, special_tokens=list(tokens))
