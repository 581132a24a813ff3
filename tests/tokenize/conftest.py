"""One small tokenizer for the tests of the shell."""

from __future__ import annotations

from pathlib import Path

import pytest

from arrowprep import PreTrainedTokenizer, load_tokenizer
from tests.tokenize.small import write_folder


@pytest.fixture
def tok(tmp_path: Path) -> PreTrainedTokenizer:
    return load_tokenizer(write_folder(tmp_path / "small"))
