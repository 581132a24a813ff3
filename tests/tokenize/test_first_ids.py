"""What a small tokenizer does up to its first ids: no module, table or pattern more than it needs."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
import regex

from arrowprep.tokenize import Tokenizer, native_library, native_sets

if isinstance(native_library.load(), str):
    pytest.skip("the native kernel is not built", allow_module_level=True)

FIRST_IDS = """
import sys
from arrowprep.tokenize import Tokenizer, native, tokenizer
before = set(sys.modules)
loaded = Tokenizer.from_file(sys.argv[1])
print(loaded.encode("ab 12").ids)
print(*sorted(name for name in set(sys.modules) - before if name.startswith(("arrowprep", "regex"))))
"""


def tokenizer_file(pre_tokenizer):
    vocab = {c: i for i, c in enumerate("ab12Ġ.[]-_ ")} | {"<unk>": 11, "ab": 12}
    model = {"type": "BPE", "vocab": vocab, "merges": [["a", "b"]], "unk_token": "<unk>"}
    added = {"id": 11, "content": "<unk>", "special": True, "normalized": False}
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip"), False)
    return {"added_tokens": [added | flags], "pre_tokenizer": pre_tokenizer, "model": model}


def split(pattern):
    return {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}


BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
OF_PATTERNS = "character_runs native_layers native_sets pattern_steps pattern_syntax plain_sets sure_patterns"


@pytest.mark.parametrize(
    ("pre_tokenizer", "needed"), [(BYTE_LEVEL, ""), (split(r" ?\d+\.|[-\w]+|\s+"), OF_PATTERNS)]
)
def test_first_ids_import_what_the_pipeline_needs_alone(tmp_path, pre_tokenizer, needed):
    file = tmp_path / "tokenizer.json"
    file.write_text(json.dumps(tokenizer_file(pre_tokenizer)), encoding="utf-8")
    command = [sys.executable, "-c", FIRST_IDS, str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[1].replace("arrowprep.tokenize.", "") == needed


LEFT_OUT = """
import sys
from arrowprep import load_tokenizer, tokenize
load_tokenizer(sys.argv[1]).encode("ab 12")
late = ["regex", "arrowprep.tokenize.trainers", "arrowprep.tokenize.implementations"]
print(*[name for name in late if name in sys.modules])
print(all(hasattr(tokenize, name) for name in tokenize.__all__))
print(*[name for name in late if name not in sys.modules])
"""


def test_what_the_kernel_cuts_needs_no_pattern_and_what_is_not_trained_no_trainer(tmp_path):
    file = tmp_path / "tokenizer.json"
    file.write_text(json.dumps(tokenizer_file(BYTE_LEVEL)), encoding="utf-8")
    command = [sys.executable, "-c", LEFT_OUT, str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["", "True", "regex"]


def test_usual_sets_ask_no_pattern(monkeypatch):
    """To understand one takes `regex` as long as all else takes."""
    native_sets.members.cache_clear()

    def refused(*_):
        raise AssertionError("a pattern was compiled")

    monkeypatch.setattr(regex, "compile", refused)
    tokenizer = Tokenizer.from_str(json.dumps(tokenizer_file(split(r" ?\d+\.|\. ?| ?[-\w]+|[#+~]\s+"))))
    monkeypatch.setattr(native_sets, "every_member", refused)
    assert tokenizer.engine.engine.name == "native"
    assert tokenizer.encode("ab 12").ids == [12, 10, 2, 3]


def test_an_unknown_token_leaves_no_text_to_the_reference_engine(monkeypatch):
    """It is an added token in most files, and those were asked for what they stand for."""
    tokenizer = Tokenizer.from_str(json.dumps(tokenizer_file(split(r"\w+"))))
    engine = tokenizer.engine.engine
    monkeypatch.delattr(type(engine._reference), "trace")
    assert tokenizer.encode("ab<unk>?b").tokens == ["ab", "<unk>", "<unk>", "b"]
