"""From ids back to text, as a tokenizer is asked for it."""

from __future__ import annotations

from typing import Any, overload

from arrowprep.tokenize import decoding
from arrowprep.tokenize.shell.vocabulary import Vocabulary


class Decodes(Vocabulary):
    """The texts of ids."""

    @overload
    def decode(
        self,
        token_ids: int | list[int],
        skip_special_tokens: bool = False,
        clean_up_tokenization_spaces: bool | None = None,
    ) -> str: ...
    @overload
    def decode(
        self,
        token_ids: Any,
        skip_special_tokens: bool = False,
        clean_up_tokenization_spaces: bool | None = None,
        **unknown: Any,
    ) -> Any: ...
    def decode(
        self,
        token_ids: Any,
        skip_special_tokens: bool = False,
        clean_up_tokenization_spaces: bool | None = None,
        **unknown: Any,
    ) -> Any:
        """The text of a list of ids, or the texts of a list of lists; ids without a token give nothing."""
        clean_up = decoding.may_clean_up(
            self.backend_tokenizer, clean_up_tokenization_spaces, self.clean_up_tokenization_spaces
        )
        return decoding.decode(
            self.backend_tokenizer, token_ids, skip_special_tokens=skip_special_tokens, clean_up=clean_up
        )

    def clean_up_tokenization(self, text: str) -> str:
        """The text without spaces before punctuation and English contractions."""
        return decoding.clean_spaces(text)

    def batch_decode(
        self,
        sequences: Any,
        skip_special_tokens: bool = False,
        clean_up_tokenization_spaces: bool | None = None,
        **unknown: Any,
    ) -> list[str]:
        """The text of each list of ids."""
        rows = decoding.plain(sequences)
        if not len(rows):
            return []
        texts = self.decode(rows, skip_special_tokens, clean_up_tokenization_spaces)
        return [texts] if isinstance(texts, str) else texts
