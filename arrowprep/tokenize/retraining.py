"""train_new_from_iterator: the same pipeline with a vocabulary of another corpus."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from arrowprep.errors import BadArgument
from arrowprep.tokenize.added_tokens import AddedToken
from arrowprep.tokenize.component import Spec
from arrowprep.tokenize.models import BPE, Model, Unigram, WordLevel, read_model
from arrowprep.tokenize.pre_tokenizers import ByteLevel
from arrowprep.tokenize.processors import read_post_processor
from arrowprep.tokenize.tokenizer import Tokenizer
from arrowprep.tokenize.trainers import trainer_class

if TYPE_CHECKING:
    from arrowprep.tokenize.shell.stores import Stores

T = TypeVar("T", bound="Stores")
Rename = Callable[[str], str]
OF_BPE = ("continuing_subword_prefix", "end_of_word_suffix")


def train_new(
    tokenizer: T,
    texts: Iterable[Any],
    vocab_size: int,
    length: int | None,
    new_special_tokens: Sequence[str | AddedToken],
    special_tokens_map: Mapping[str, str],
    options: Mapping[str, Any],
) -> T:
    """A tokenizer of the same class: see `PreTrainedTokenizer.train_new_from_iterator`."""

    def rename(token: str) -> str:
        return special_tokens_map.get(token, token)

    old = tokenizer.backend_tokenizer
    model = _emptied(old.model, rename)
    pipeline = Tokenizer(model)
    for part in ("normalizer", "pre_tokenizer", "decoder"):
        setattr(pipeline, part, copy.deepcopy(getattr(old, part)))
    if old.truncation:
        pipeline.enable_truncation(**old.truncation)
    if old.padding:
        pipeline.enable_padding(**old.padding)
    special = [*_special_tokens(old, isinstance(model, Unigram), rename), *new_special_tokens]
    make: Any = trainer_class(model)
    trainer = make(vocab_size=vocab_size, special_tokens=special, **{**_options_of(pipeline), **options})
    pipeline.train_from_iterator(texts, trainer, length)
    if old.post_processor is not None:
        content = _looked_up(old.post_processor.to_json(), pipeline, rename)
        pipeline.post_processor = read_post_processor(Spec(content, "post_processor"))
    settings = {**tokenizer.init_kwargs, **_roles(tokenizer, rename)}
    extra = [*tokenizer.special_tokens.extra, *new_special_tokens]
    if extra:
        settings["extra_special_tokens"] = extra
    kept = {id: token for id, token in tokenizer.listed_tokens.items() if not token.special}
    return type(tokenizer).over(pipeline, kept, settings)


def _emptied(model: Model, rename: Rename) -> Model:
    """A model with the same options and no vocabulary.

    What another library's format made special is trained as the nearest plain model.
    """
    content = model.to_json()
    if content.pop("arrowprep", None):
        content = {key: value for key, value in content.items() if key not in ("scores", "kinds")}
    if content["type"] == Unigram.kind:
        unk_id = content["unk_id"]
        unk = None if unk_id is None else rename(content["vocab"][unk_id][0])
        content.update(vocab=[] if unk is None else [[unk, 0.0]], unk_id=None if unk is None else 0)
    else:
        content["vocab"] = {}
        if "merges" in content:
            content["merges"] = []
        if content.get("unk_token") is not None:
            content["unk_token"] = rename(content["unk_token"])
    return read_model(Spec(content, "model"))


def _special_tokens(old: Tokenizer, all_of_them: bool, rename: Rename) -> list[AddedToken]:
    """The special tokens in the order of ids; of a Unigram model every added token."""
    return [
        _with_content(token, rename(token.content))
        for _, token in sorted(old.get_added_tokens_decoder().items())
        if token.special or all_of_them
    ]


def _with_content(token: AddedToken, content: str) -> AddedToken:
    twin = copy.copy(token)
    twin.content = content
    twin.special = True
    return twin


def _options_of(pipeline: Tokenizer) -> dict[str, Any]:
    """What a trainer has to know of the pipeline."""
    model, cutter = pipeline.model, pipeline.pre_tokenizer
    options: dict[str, Any] = {}
    if isinstance(model, BPE):
        options = {name: getattr(model, name) for name in OF_BPE if getattr(model, name) is not None}
    if isinstance(model, Unigram) and model.unk_id is not None:
        options["unk_token"] = model.id_to_token(model.unk_id)
    spelled_in_bytes = cutter is not None and any(isinstance(leaf, ByteLevel) for leaf in cutter.leaves)
    if spelled_in_bytes and not isinstance(model, WordLevel):
        options["initial_alphabet"] = ByteLevel.alphabet()
    return options


def _looked_up(content: Any, pipeline: Tokenizer, rename: Rename) -> Any:
    """A post-processor's JSON with the ids that its tokens have now, inside sequences too."""
    content = dict(content)
    for key, entry in content.get("special_tokens", {}).items():
        tokens = [rename(token) for token in entry["tokens"]]
        ids = [_id_of(token, pipeline) for token in tokens]
        content["special_tokens"] = {
            **content["special_tokens"],
            key: {**entry, "tokens": tokens, "ids": ids},
        }
    for role in ("cls", "sep"):
        if role in content:
            token = rename(content[role][0])
            content[role] = [token, _id_of(token, pipeline)]
    if "processors" in content:
        content["processors"] = [_looked_up(part, pipeline, rename) for part in content["processors"]]
    return content


def _id_of(token: str, pipeline: Tokenizer) -> int:
    id = pipeline.token_to_id(token)
    if id is None:
        raise BadArgument(
            f"the post-processor adds {token!r}, which the new vocabulary does not have;"
            " give it in new_special_tokens",
            token=token,
        )
    return id


def _roles(tokenizer: Stores, rename: Rename) -> dict[str, Any]:
    return {
        role: rename(token) if isinstance(token, str) else _with_content(token, rename(str(token)))
        for role, token in tokenizer.special_tokens.named.items()
        if token is not None
    }
