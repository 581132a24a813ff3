"""Backends that read one format alone, whatever else a folder has."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any, ClassVar, Literal

from arrowprep.errors import BadArgument
from arrowprep.tokenize.files import huggingface, pipelines
from arrowprep.tokenize.shell.pretrained import PreTrainedTokenizer


class _OfOneFile(PreTrainedTokenizer):
    """From the file of a vocabulary.

    vocab_file: its path; None where there is a pipeline already
    """

    def __init__(self, vocab_file: str | Path | None = None, **settings: Any) -> None:
        if vocab_file is not None and settings.get("tokenizer_object") is None:
            pipeline, known = pipelines.read(Path(vocab_file), huggingface.unpack, settings)
            settings = {**known, **settings, "tokenizer_object": pipeline}
        super().__init__(**settings)
        if vocab_file is not None:
            self.vocab_file = str(vocab_file)

    def save_vocabulary(
        self, save_directory: str | Path, filename_prefix: str | None = None
    ) -> tuple[str, ...]:
        """Copy the file that it was read from; returns the path."""
        if self.vocab_file is None:
            raise BadArgument(f"{type(self).__name__} was not read from a file: save_pretrained writes one")
        name = Path(self.vocab_file).name
        target = Path(save_directory) / (f"{filename_prefix}-{name}" if filename_prefix else name)
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.resolve() != Path(self.vocab_file).resolve():
            shutil.copyfile(self.vocab_file, target)
        return (str(target),)


class SentencePieceBackend(_OfOneFile):
    """A SentencePiece .model, with its own ids and offsets."""

    _patterns = ("tokenizer.model", "spiece.model", "*.model")


class MistralCommonBackend(_OfOneFile):
    """Mistral's tekken.json, or its .model; a call puts `<s>` in front.

    tokenizer_path: the file
    mode: "finetuning" also puts `</s>` behind
    """

    _patterns = ("tekken*.json", "tokenizer.model*", "*.model*")
    padding_side = "left"
    MODES: ClassVar = ("test", "finetuning")

    def __init__(
        self,
        tokenizer_path: str | Path | None = None,
        mode: Literal["test", "finetuning"] = "test",
        **settings: Any,
    ) -> None:
        if mode not in self.MODES:
            raise BadArgument(f"mode={mode!r} is neither 'test' nor 'finetuning'", mode=mode)
        if mode == "finetuning":
            settings = {"add_bos_token": True, "add_eos_token": True, **settings}
        super().__init__(tokenizer_path, mode=mode, **settings)
        self.mode = mode
