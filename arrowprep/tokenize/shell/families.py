"""Tokenizers of well-known models without their vocabularies: to train, or to give one by hand."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from arrowprep.tokenize import decoders, models, normalizers, pre_tokenizers
from arrowprep.tokenize.files import huggingface, pipelines
from arrowprep.tokenize.models import storage
from arrowprep.tokenize.models.base import read_vocabulary
from arrowprep.tokenize.patterns import Regex
from arrowprep.tokenize.shell.pretrained import PreTrainedTokenizer
from arrowprep.tokenize.shell.stores import HUB_ARGUMENTS
from arrowprep.tokenize.special_tokens import frame_of
from arrowprep.tokenize.tokenizer import Tokenizer

Vocab = Mapping[str, int] | str | Path
Merges = Iterable[Sequence[str]] | str | Path
Special = Any  # str, AddedToken or None

QWEN2_PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)


Self = TypeVar("Self", bound="_Family")


class _Family(PreTrainedTokenizer):
    """BPE with a pipeline of its own.

    vocab: token to id, or the path of a vocab.json; None is the special tokens alone
    merges: pairs, or the path of a merges.txt; None makes them of the vocabulary
    others: special tokens and settings, as for `PreTrainedTokenizer`

    `train_new_from_iterator` learns a vocabulary and keeps the rest.
    """

    model: ClassVar[type[models.Model]] = models.BPE

    @classmethod
    def from_pretrained(
        cls: type[Self],
        pretrained_model_name_or_path: str | Path,
        *init_inputs: Any,
        revision: str = "main",
        subfolder: str = "",
        **overrides: Any,
    ) -> Self:
        """As of any tokenizer; a vocab.json, which says of no pipeline, gets the family's."""
        path = pretrained_model_name_or_path
        place = huggingface.place_of(path, revision, subfolder)
        vocab, merges = place / "vocab.json", place / "merges.txt"
        if not place.is_dir() or pipelines.find(place) != vocab:
            return super().from_pretrained(
                path, *init_inputs, revision=revision, subfolder=subfolder, **overrides
            )
        folder = huggingface.read_settings(place, from_tokenizer_json=False)
        given = {name: value for name, value in overrides.items() if name not in HUB_ARGUMENTS}
        settings = {**folder.settings, "name_or_path": str(path), **given}
        files = {"vocab": vocab, "merges": merges if merges.is_file() else None}
        return cls(added_tokens_decoder=folder.added, **{**settings, **files})


def _pipeline(
    vocab: Vocab | None,
    merges: Merges | None,
    special: Mapping[str, Special],
    unfilled: Sequence[str],
    **options: Any,
) -> Tokenizer:
    """The model, without what stands before and behind it.

    special: role to token
    unfilled: the roles whose tokens, in this order, are a vocabulary that is not given
    options: of the model
    """
    ids = {str(special[role]): i for i, role in enumerate(unfilled)} if vocab is None else _ids_of(vocab)
    pairs = merges_of(ids, set(map(str, special.values()))) if merges is None else _pairs_of(merges)
    pipeline = Tokenizer(models.BPE(ids, pairs, **options))
    pipeline.post_processor = frame_of(None, None)
    return pipeline


def merges_of(ids: Mapping[str, int], skipped: Collection[str]) -> list[tuple[str, str]]:
    """Every way to join two tokens to a third, by the id of the third, then by where it is cut.

    skipped: tokens that nothing is joined to, and that are no part of others

    >>> merges_of({"a": 0, "b": 1, "ab": 2, "aba": 3, "<s>": 4}, {"<s>"})
    [('a', 'b'), ('ab', 'a')]
    """
    known = ids.keys() - set(skipped)
    return [
        (token[:at], token[at:])
        for token in sorted(known, key=ids.__getitem__)
        for at in range(1, len(token))
        if token[:at] in known and token[at:] in known
    ]


def _ids_of(vocab: Vocab) -> dict[str, int]:
    if isinstance(vocab, Mapping):
        return dict(vocab)
    return read_vocabulary(storage.read_vocab_json(vocab))


def _pairs_of(merges: Merges) -> list[Sequence[str]]:
    if isinstance(merges, (str, Path)):
        return list(storage.read_merges_txt(merges))
    return list(merges)


def _spaces_back(*more: decoders.Decoder) -> decoders.Sequence:
    return decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), *more])


class GemmaTokenizer(_Family):
    """Gemma's: spaces are visible, bytes spell what is unknown."""

    padding_side = "left"

    def __init__(
        self,
        vocab: Vocab | None = None,
        merges: Merges | None = None,
        unk_token: Special = "<unk>",
        bos_token: Special = "<bos>",
        eos_token: Special = "<eos>",
        pad_token: Special = "<pad>",
        mask_token: Special = "<mask>",
        **settings: Any,
    ) -> None:
        special: dict[str, Special] = {
            "unk_token": unk_token,
            "bos_token": bos_token,
            "eos_token": eos_token,
            "pad_token": pad_token,
            "mask_token": mask_token,
        }
        order = ("pad_token", "eos_token", "bos_token", "unk_token", "mask_token")
        options = {"unk_token": str(unk_token), "fuse_unk": True, "byte_fallback": True}
        pipeline = self._tokenizer = _pipeline(vocab, merges, special, order, **options)
        pipeline.normalizer = normalizers.Replace(" ", "▁")
        pipeline.pre_tokenizer = pre_tokenizers.Split(" ", "merged_with_previous")
        pipeline.decoder = _spaces_back()
        super().__init__(**special, **settings)


class LlamaTokenizer(_Family):
    """Llama's before the third: a space in front, bytes spell what is unknown.

    add_prefix_space: whether there is one in front
    legacy: also behind every special token
    """

    padding_side = "left"

    def __init__(
        self,
        vocab: Vocab | None = None,
        merges: Merges | None = None,
        clean_up_tokenization_spaces: bool = False,
        unk_token: Special = "<unk>",
        bos_token: Special = "<s>",
        eos_token: Special = "</s>",
        use_default_system_prompt: bool = False,
        legacy: bool = False,
        add_prefix_space: bool | None = None,
        **settings: Any,
    ) -> None:
        special: dict[str, Special] = {"unk_token": unk_token, "bos_token": bos_token, "eos_token": eos_token}
        order = ("unk_token", "bos_token", "eos_token")
        pipeline = _pipeline(vocab, merges, special, order, fuse_unk=True, byte_fallback=True)
        self._tokenizer = pipeline
        spaced = add_prefix_space is None or add_prefix_space
        scheme = ("always" if legacy else "first") if spaced else "never"
        pipeline.pre_tokenizer = pre_tokenizers.Metaspace("▁", prepend_scheme=scheme, split=False)
        pipeline.decoder = _spaces_back(*([decoders.Strip(" ", left=1)] if spaced else []))
        super().__init__(
            clean_up_tokenization_spaces=clean_up_tokenization_spaces,
            use_default_system_prompt=use_default_system_prompt,
            add_prefix_space=add_prefix_space,
            **special,
            **settings,
        )
        self.legacy = legacy


class Qwen2Tokenizer(_Family):
    """Qwen's since the second: byte-level, one digit a piece."""

    def __init__(
        self,
        vocab: Vocab | None = None,
        merges: Merges | None = None,
        unk_token: Special = "<|endoftext|>",
        bos_token: Special = None,
        eos_token: Special = "<|endoftext|>",
        pad_token: Special = "<|endoftext|>",
        add_prefix_space: bool | None = None,
        **settings: Any,
    ) -> None:
        special: dict[str, Special] = {
            "unk_token": unk_token,
            "bos_token": bos_token,
            "eos_token": eos_token,
            "pad_token": pad_token,
        }
        vocab = {"<|endoftext|>": 0} if vocab is None else vocab  # also where eos is another
        pipeline = _pipeline(vocab, merges, special, (), **_NO_AFFIXES)
        self._tokenizer = pipeline
        pipeline.normalizer = normalizers.NFC()
        pipeline.pre_tokenizer = pre_tokenizers.Sequence(
            [
                pre_tokenizers.Split(Regex(QWEN2_PATTERN), "isolated"),
                pre_tokenizers.ByteLevel(add_prefix_space=bool(add_prefix_space), use_regex=False),
            ]
        )
        pipeline.decoder = decoders.ByteLevel()
        super().__init__(add_prefix_space=add_prefix_space, **special, **settings)


class GPT2Tokenizer(_Family):
    """GPT-2's: byte-level, cut by its pattern."""

    def __init__(
        self,
        vocab: Vocab | None = None,
        merges: Merges | None = None,
        errors: str = "replace",
        unk_token: Special = "<|endoftext|>",
        bos_token: Special = "<|endoftext|>",
        eos_token: Special = "<|endoftext|>",
        pad_token: Special = None,
        add_prefix_space: bool = False,
        **settings: Any,
    ) -> None:
        special: dict[str, Special] = {
            "unk_token": unk_token,
            "bos_token": bos_token,
            "eos_token": eos_token,
            "pad_token": pad_token,
        }
        pipeline = self._tokenizer = _pipeline(vocab, merges, special, (), **_NO_AFFIXES)
        pipeline.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=add_prefix_space)
        pipeline.decoder = decoders.ByteLevel()
        super().__init__(errors=errors, add_prefix_space=add_prefix_space, **special, **settings)


_NO_AFFIXES: Mapping[str, Any] = {"continuing_subword_prefix": "", "end_of_word_suffix": ""}

FAMILIES: Mapping[str, type[PreTrainedTokenizer]] = {
    family.__name__: family for family in (GemmaTokenizer, GPT2Tokenizer, LlamaTokenizer, Qwen2Tokenizer)
}
