"""Ready-made pipelines to train from nothing, or to make of a vocabulary."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from arrowprep.errors import BadArgument
from arrowprep.tokenize import decoders, models, normalizers, pre_tokenizers, processors
from arrowprep.tokenize.added_tokens import AddedToken
from arrowprep.tokenize.normalizers import Normalizer
from arrowprep.tokenize.patterns import Regex
from arrowprep.tokenize.tokenizer import Tokenizer
from arrowprep.tokenize.trainers import trainer_class

B = TypeVar("B", bound="BaseTokenizer")
Vocab = Mapping[str, int] | str | Path  # or the file that it is in
Merges = Iterable[Sequence[str]] | str | Path
Token = str | AddedToken


class BaseTokenizer:
    """A `Tokenizer`, whose attributes and methods it has, with a way to train that fits its pipeline.

    parameters: what it was made with, shown by its repr
    """

    training: ClassVar[
        dict[str, Any]
    ] = {}  # options of its trainer, in the order in which a call may give them
    renamed: ClassVar[dict[str, str]] = {}  # options that the trainer calls otherwise

    def __init__(self, tokenizer: Tokenizer, parameters: Mapping[str, Any] | None = None) -> None:
        object.__setattr__(self, "_tokenizer", tokenizer)
        object.__setattr__(self, "_parameters", dict(parameters or {}))

    def __getattr__(self, name: str) -> Any:
        # only reached for names that this has not; while unpickling it has none
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self._tokenizer, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._tokenizer, name, value)

    def __getstate__(self) -> dict[str, Any]:
        return dict(self.__dict__)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    def __repr__(self) -> str:
        said = ", ".join(f"{name}={value}" for name, value in self._parameters.items())
        return f"Tokenizer(vocabulary_size={self._tokenizer.get_vocab_size()}, {said})"

    def normalize(self, sequence: str) -> str:
        """The text as the normalizer changes it."""
        normalizer = self._tokenizer.normalizer
        return normalizer.normalize_str(sequence) if normalizer else sequence

    def save_model(self, directory: str | Path, prefix: str | None = None) -> list[str]:
        """Write the vocabulary's files; returns their paths."""
        files: list[str] = self._tokenizer.model.save(str(directory), prefix)
        return files

    def train(self, files: str | Path | Sequence[str | Path], *values: Any, **options: Any) -> None:
        """Learn a vocabulary from the lines of text files; see `train_from_iterator`."""
        options = self._named(values, options)
        self._tokenizer.train([files] if isinstance(files, (str, Path)) else files, self._trainer(options))

    def train_from_iterator(self, iterator: Iterable[Any], *values: Any, **options: Any) -> None:
        """Learn a vocabulary from texts, or lists of texts.

        values, options: those of `training`, then `length`, of the iterator; by name also
            others of the model's trainer
        """
        options = self._named(values, options, "length")
        length = options.pop("length", None)
        self._tokenizer.train_from_iterator(iterator, self._trainer(options), length)

    def _named(self, values: Sequence[Any], options: Mapping[str, Any], *further: str) -> dict[str, Any]:
        """Values given by place with their names, and the options given by name."""
        names = [*self.training, *further]
        twice = [name for name in names[: len(values)] if name in options]
        if len(values) > len(names) or twice:
            raise TypeError(
                f"{type(self).__name__} trains with ({', '.join(names)});"
                f" given are {len(values)} values by place, and by name {', '.join(options) or 'none'}"
            )
        return {**dict(zip(names, values, strict=False)), **options}

    def _trainer(self, options: Mapping[str, Any]) -> Any:
        given = {**self.training, **options}
        given = {self.renamed.get(name, name): value for name, value in given.items() if value is not None}
        make: Any = trainer_class(self._tokenizer.model)
        return make(**given)


class BertWordPieceTokenizer(BaseTokenizer):
    """BERT's: cleaned and lowercased text, words and punctuation, pieces with a prefix."""

    training: ClassVar = {
        "vocab_size": 30000,
        "min_frequency": 2,
        "limit_alphabet": 1000,
        "initial_alphabet": [],
        "special_tokens": ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"],
        "show_progress": True,
        "wordpieces_prefix": "##",
    }
    renamed: ClassVar = {"wordpieces_prefix": "continuing_subword_prefix"}

    def __init__(
        self,
        vocab: Vocab | None = None,
        unk_token: Token = "[UNK]",
        sep_token: Token = "[SEP]",
        cls_token: Token = "[CLS]",
        pad_token: Token = "[PAD]",
        mask_token: Token = "[MASK]",
        clean_text: bool = True,
        handle_chinese_chars: bool = True,
        strip_accents: bool | None = None,
        lowercase: bool = True,
        wordpieces_prefix: str = "##",
    ) -> None:
        parameters = {"model": "BertWordPiece", **_given(locals(), without=("vocab",))}
        if isinstance(vocab, (str, Path)):
            vocab = models.WordPiece.read_file(vocab)
        tokenizer = Tokenizer(
            models.WordPiece(None if vocab is None else dict(vocab), unk_token=str(unk_token))
        )
        _add_known(tokenizer, unk_token, sep_token, cls_token, pad_token, mask_token)
        tokenizer.normalizer = normalizers.BertNormalizer(
            clean_text=clean_text,
            handle_chinese_chars=handle_chinese_chars,
            strip_accents=strip_accents,
            lowercase=lowercase,
        )
        tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        if vocab is not None:
            sep, cls = (_needed(vocab, token) for token in (sep_token, cls_token))
            tokenizer.post_processor = processors.BertProcessing(sep, cls)
        tokenizer.decoder = decoders.WordPiece(prefix=wordpieces_prefix)
        super().__init__(tokenizer, parameters)

    @classmethod
    def from_file(cls, vocab: str | Path, **options: Any) -> BertWordPieceTokenizer:
        """With the vocabulary of a vocab.txt."""
        return cls(vocab, **options)


class _BpeTokenizer(BaseTokenizer):
    @classmethod
    def from_file(cls: type[B], vocab_filename: str | Path, merges_filename: str | Path, **options: Any) -> B:
        """With the vocabulary of a vocab.json and its merges.txt."""
        make: Any = cls  # each takes a vocabulary and its merges first
        tokenizer: B = make(vocab_filename, merges_filename, **options)
        return tokenizer


class ByteLevelBPETokenizer(_BpeTokenizer):
    """GPT-2's: bytes, cut by its pattern."""

    training: ClassVar = {
        "vocab_size": 30000,
        "min_frequency": 2,
        "show_progress": True,
        "special_tokens": [],
    }

    def __init__(
        self,
        vocab: Vocab | None = None,
        merges: Merges | None = None,
        add_prefix_space: bool = False,
        lowercase: bool = False,
        dropout: float | None = None,
        unicode_normalizer: str | None = None,
        continuing_subword_prefix: str | None = None,
        end_of_word_suffix: str | None = None,
        trim_offsets: bool = False,
    ) -> None:
        parameters = {"model": "ByteLevelBPE", **_given(locals(), without=("vocab", "merges"))}
        options: dict[str, Any] = {}
        if vocab is not None and merges is not None:
            options = {
                "dropout": dropout,
                "continuing_subword_prefix": continuing_subword_prefix or "",
                "end_of_word_suffix": end_of_word_suffix or "",
            }
        tokenizer = Tokenizer(_bpe(vocab, merges, **options))
        forms = [_form(unicode_normalizer), normalizers.Lowercase() if lowercase else None]
        tokenizer.normalizer = _joined(forms)
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=add_prefix_space)
        tokenizer.decoder = decoders.ByteLevel()
        tokenizer.post_processor = processors.ByteLevel(trim_offsets=trim_offsets)
        super().__init__(tokenizer, parameters)

    def _trainer(self, options: Mapping[str, Any]) -> Any:
        return super()._trainer({"initial_alphabet": pre_tokenizers.ByteLevel.alphabet(), **options})


class CharBPETokenizer(_BpeTokenizer):
    """The first BPE: characters, with a suffix at the ends of words."""

    training: ClassVar = {
        "vocab_size": 30000,
        "min_frequency": 2,
        "special_tokens": ["<unk>"],
        "limit_alphabet": 1000,
        "initial_alphabet": [],
        "suffix": "</w>",
        "show_progress": True,
    }
    renamed: ClassVar = {"suffix": "end_of_word_suffix"}

    def __init__(
        self,
        vocab: Vocab | None = None,
        merges: Merges | None = None,
        unk_token: Token = "<unk>",
        suffix: str = "</w>",
        dropout: float | None = None,
        lowercase: bool = False,
        unicode_normalizer: str | None = None,
        bert_normalizer: bool = True,
        split_on_whitespace_only: bool = False,
    ) -> None:
        parameters = {"model": "BPE", **_given(locals(), without=("vocab", "merges"))}
        model = _bpe(vocab, merges, unk_token=str(unk_token), dropout=dropout, end_of_word_suffix=suffix)
        tokenizer = Tokenizer(model)
        _add_known(tokenizer, unk_token)
        tokenizer.normalizer = _joined(
            [
                _form(unicode_normalizer),
                normalizers.BertNormalizer(lowercase=False) if bert_normalizer else None,
                normalizers.Lowercase() if lowercase else None,
            ]
        )
        cutter = (
            pre_tokenizers.WhitespaceSplit if split_on_whitespace_only else pre_tokenizers.BertPreTokenizer
        )
        tokenizer.pre_tokenizer = cutter()
        tokenizer.decoder = decoders.BPEDecoder(suffix=suffix)
        super().__init__(tokenizer, parameters)


class SentencePieceBPETokenizer(_BpeTokenizer):
    """BPE on text whose spaces are visible; a pipeline of this library's parts, not a .model's."""

    training: ClassVar = {
        "vocab_size": 30000,
        "min_frequency": 2,
        "special_tokens": ["<unk>"],
        "limit_alphabet": 1000,
        "initial_alphabet": [],
        "show_progress": True,
    }

    def __init__(
        self,
        vocab: Vocab | None = None,
        merges: Merges | None = None,
        unk_token: Token = "<unk>",
        replacement: str = "▁",
        add_prefix_space: bool = True,
        dropout: float | None = None,
        fuse_unk: bool = False,
    ) -> None:
        parameters = {
            "model": "SentencePieceBPE",
            **_given(locals(), without=("vocab", "merges", "fuse_unk")),
        }
        model = _bpe(vocab, merges, dropout=dropout, unk_token=str(unk_token), fuse_unk=fuse_unk)
        tokenizer = Tokenizer(model)
        _add_known(tokenizer, unk_token)
        tokenizer.normalizer = normalizers.NFKC()
        _make_spaces_visible(tokenizer, replacement, add_prefix_space)
        super().__init__(tokenizer, parameters)


class SentencePieceUnigramTokenizer(BaseTokenizer):
    """Unigram on text whose spaces are visible; `from_spm` reads a .model, which is followed as it is."""

    training: ClassVar = {
        "vocab_size": 8000,
        "show_progress": True,
        "special_tokens": None,
        "initial_alphabet": None,
        "unk_token": None,
    }

    def __init__(
        self,
        vocab: Iterable[tuple[str, float]] | None = None,
        replacement: str = "▁",
        add_prefix_space: bool = True,
    ) -> None:
        parameters = {"model": "SentencePieceUnigram", **_given(locals(), without=("vocab",))}
        tokenizer = Tokenizer(models.Unigram(vocab))
        tokenizer.normalizer = normalizers.Sequence(
            [normalizers.Nmt(), normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")]
        )
        _make_spaces_visible(tokenizer, replacement, add_prefix_space)
        super().__init__(tokenizer, parameters)

    @staticmethod
    def from_spm(filename: str | Path) -> BaseTokenizer:
        """The tokenizer of a SentencePiece model, with its own ids and offsets."""
        from arrowprep.tokenize.files.sentencepiece import read_sentencepiece

        tokenizer, _ = read_sentencepiece(Path(filename).read_bytes(), str(filename))
        return BaseTokenizer(tokenizer, {"model": "SentencePiece", "file": str(filename)})


def _given(arguments: Mapping[str, Any], without: Sequence[str]) -> dict[str, Any]:
    """A constructor's arguments by name."""
    hidden = ("self", "__class__", *without)
    return {name: value for name, value in arguments.items() if name not in hidden}


def _bpe(vocab: Vocab | None, merges: Merges | None, **options: Any) -> models.BPE:
    if vocab is None or merges is None:
        return models.BPE(**options)
    if isinstance(vocab, (str, Path)) and isinstance(merges, (str, Path)):
        return models.BPE.from_file(vocab, merges, **options)
    if isinstance(vocab, (str, Path)) or isinstance(merges, (str, Path)):
        raise BadArgument("vocab= and merges= are both files, or neither is")
    return models.BPE(dict(vocab), merges, **options)


def _add_known(tokenizer: Tokenizer, *tokens: Token) -> None:
    tokenizer.add_special_tokens([str(t) for t in tokens if tokenizer.token_to_id(str(t)) is not None])


def _needed(vocab: Mapping[str, int], token: Token) -> tuple[str, int]:
    if str(token) not in vocab:
        raise BadArgument(
            f"the token {str(token)!r}, which frames texts, is not in the vocabulary", token=str(token)
        )
    return str(token), vocab[str(token)]


def _form(name: str | None) -> Normalizer | None:
    return normalizers.unicode_normalizer_from_str(name) if name else None


def _joined(parts: Iterable[Normalizer | None]) -> Normalizer | None:
    """None of none, one as it is, several as a sequence."""
    there = [part for part in parts if part is not None]
    if len(there) > 1:
        return normalizers.Sequence(there)
    return there[0] if there else None


def _make_spaces_visible(tokenizer: Tokenizer, replacement: str, add_prefix_space: bool) -> None:
    scheme = "always" if add_prefix_space else "never"
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(replacement=replacement, prepend_scheme=scheme)
    tokenizer.decoder = decoders.Metaspace(replacement=replacement, prepend_scheme=scheme)
