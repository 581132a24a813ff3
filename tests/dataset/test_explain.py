"""A cache says why it misses: each edit is named by the part of the name that it changed."""

import json
import types
from importlib import resources

import pytest

from arrowprep import Dataset, Value, explain_cache, load_local, load_tokenizer
from arrowprep.tokenize import normalizers

SOURCE = '''
import math
import re
from functools import partial

import numpy as np

MAX_LEN = 512
WORDS = {"a", "b"}
SETTINGS = {"lower": True, "size": 3}
PATTERN = re.compile("x+")
TABLE = np.arange(4)
UNUSED = 1

def shorten(text, limit=10):
    """Cut a text."""
    return text[:limit]

def clean(text):
    # a comment
    return shorten(PATTERN.sub("", text))

def make(factor):
    def scaled(row):
        return factor * row["n"]
    return scaled

scaled = make(2)

class Adder:
    step = 1
    def __init__(self, start):
        self.start = start
    def __call__(self, n):
        return n + self.start * self.step

adder = Adder(5)
half = partial(round, ndigits=1)

def tokenize(row, *, sep="-", times=1):
    """What is mapped."""
    text = clean(row["text"])[:MAX_LEN]
    if SETTINGS["lower"]:
        text = text.lower()
    found = [w for w in text.split() if w in WORDS]
    total = math.floor(half(adder(scaled(row)) + TABLE.sum()))
    return {"out": sep.join(found) * times, "total": int(total), "root": float(np.sqrt(4))}
'''

# (what is replaced, by what, what the explanation names; None: nothing that matters changed)
EDITS = [
    ("MAX_LEN = 512", "MAX_LEN = 1024", "module-level value `MAX_LEN` read by `tokenize`: 512 → 1024"),
    ('WORDS = {"a", "b"}', 'WORDS = {"a", "c"}', "module-level value `WORDS`"),
    ('WORDS = {"a", "b"}', 'WORDS = {"b", "a"}', None),
    ('"size": 3', '"size": 4', "module-level value `SETTINGS`"),
    ('"lower": True', '"lower": False', "module-level value `SETTINGS`"),
    ('re.compile("x+")', 're.compile("y+")', "module-level value `PATTERN`"),
    ('re.compile("x+")', 're.compile("x+", re.I)', "module-level value `PATTERN`"),
    ("np.arange(4)", "np.arange(5)", "module-level value `TABLE`"),
    ("np.arange(4)", "np.arange(4, dtype=np.int8)", "module-level value `TABLE`"),
    ("UNUSED = 1", "UNUSED = 2", None),
    ("limit=10", "limit=11", "default of `limit` in `shorten`: 10 → 11"),
    ("return text[:limit]", "return text[-limit:]", "code of `shorten`"),
    ('"""Cut a text."""', '"""Shorten it."""', None),
    ("# a comment", "# another comment, over\n    # two lines", None),
    ('PATTERN.sub("", text)', 'PATTERN.sub("-", text)', "code of `clean`"),
    ("return shorten(PATTERN", "return (PATTERN", "code of `clean`"),
    ("scaled = make(2)", "scaled = make(3)", "closure variable `factor`"),
    ('return factor * row["n"]', 'return factor + row["n"]', "code of `scaled`: changed"),
    ("step = 1", "step = 2", "attribute `step` of `Adder`: 1 → 2"),
    ("Adder(5)", "Adder(6)", "attribute `start` of function `adder` read by `tokenize`: 5 → 6"),
    ("n + self.start * self.step", "n - self.start * self.step", "code of `Adder.__call__`"),
    ("ndigits=1", "ndigits=2", "argument `ndigits` of partial `round`: 1 → 2"),
    ("partial(round", "partial(pow", "function `pow` of a partial"),
    ('sep="-"', 'sep="+"', "default of `sep` in `tokenize`: '-' → '+'"),
    ("times=1", "times=2", "default of `times` in `tokenize`: 1 → 2"),
    ("text.lower()", "text.upper()", "code of `tokenize`"),
    ("* times", "* (times + 1)", "code of `tokenize`"),
    ("np.sqrt(4)", "np.sqrt(9)", "code of `tokenize`"),
    ("np.sqrt(4)", "np.cbrt(4)", "`numpy.cbrt` read by `tokenize`: new"),
    ("math.floor", "math.ceil", "`math.ceil` read by `tokenize`: new"),
    ('    """What is mapped."""\n', "", None),
    ("row, *, sep", "row,\n    *,\n    sep", None),
]

# (arguments that differ from the cached call's, what the explanation names)
ARGUMENTS = [
    ({"remove_columns": ["n"]}, "argument remove_columns: () → ('n',)"),
    ({"fn_kwargs": {"times": 3}}, "fn_kwargs 'times': new (3)"),
    ({"batched": True}, "argument batched: False → True"),
    ({"batched": True}, "argument batch_size"),
    ({"with_indices": True}, "argument with_indices: False → True"),
    ({"input_columns": ["text"]}, "argument input_columns"),
    ({"on_error": "null"}, "argument on_error: 'raise' → 'null'"),
    ({"try_original_type": False}, "argument try_original_type: True → False"),
    ({"with_rank": True}, "argument with_rank: False → True"),
    ({"features": {"n": Value("int8")}}, "argument features: None → {'n': Value('int8')}"),
    ({"num_proc": 2, "desc": "x", "compression": "lz4", "verify": True}, None),
]


def functions(source):
    module = types.ModuleType("edited")
    exec(compile(source, "edited.py", "exec"), module.__dict__)
    return module


@pytest.fixture
def ds():
    return Dataset.from_dict({"text": ["a b x", "b"], "n": [1, 2]})


@pytest.fixture
def cached(ds):
    ds.map(functions(SOURCE).tokenize)
    return ds


def add_token(tok):
    tok.add_tokens(["<x>"])


def lower_case(tok):
    tok.backend_tokenizer.normalizer = normalizers.Lowercase()


# (what is done to a tokenizer that a function reads, what the explanation names)
TOKENIZERS = [
    (lambda tok: setattr(tok, "padding_side", "left"), "`padding_side` of closure variable `tok`"),
    (lambda tok: setattr(tok, "truncation_side", "left"), "`truncation_side` of closure variable `tok`"),
    (
        lambda tok: setattr(tok, "model_max_length", 7),
        "`model_max_length` of closure variable `tok` of `encode`: 1024 → 7",
    ),
    (
        lambda tok: setattr(tok, "chat_template", "{{ messages }}"),
        "`chat template` of closure variable `tok`",
    ),
    (lambda tok: setattr(tok, "pad_token", tok.eos_token), "`special tokens` of closure variable `tok`"),
    (add_token, "`pipeline` of closure variable `tok` of `encode`: changed"),
    (lower_case, "`pipeline` of closure variable `tok` of `encode`: changed"),
    (lambda tok: tok(["a b"], truncation=True, max_length=1), None),
]


def test_more_than_forty_edits_are_named():
    named = [what for *_, what in [*EDITS, *ARGUMENTS, *TOKENIZERS] if what is not None]
    assert len(named) >= 40  # and those of files, steps, data and formats below


@pytest.mark.parametrize(("old", "new", "named"), EDITS, ids=[f"{old} / {new}"[:60] for old, new, _ in EDITS])
def test_an_edit_of_the_code_is_named(cached, old, new, named):
    assert SOURCE.count(old) >= 1
    found = explain_cache(cached, functions(SOURCE.replace(old, new, 1)).tokenize)
    assert found.hit == (named is None), str(found)
    if named is not None:
        assert named in str(found)


@pytest.mark.parametrize(("arguments", "named"), ARGUMENTS)
def test_another_argument_is_named(cached, arguments, named):
    found = cached.explain_cache(functions(SOURCE).tokenize, **arguments)
    assert found.hit == (named is None), str(found)
    if named is not None:
        assert named in str(found)


def test_a_changed_file_is_named(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps({"n": 1}) + "\n")
    load_local(path).map(lambda row: {"m": row["n"]})
    path.write_text(json.dumps({"n": 2}) + "\n")
    found = load_local(path).explain_cache(lambda row: {"m": row["n"]})
    assert f"file {path}: changed" in str(found)
    assert len(found.differences) == 1


def test_a_change_in_an_earlier_step_is_named(ds):
    def first(row, limit=1):
        return {"t": row["text"][:limit]}

    def second(row):
        return {"u": row["t"]}

    ds.map(first).map(second)
    first.__defaults__ = (2,)
    found = ds.map(first).explain_cache(second)
    assert "in the data, default of `limit` in `first`: 1 → 2" in str(found)


@pytest.mark.parametrize(("edit", "named"), TOKENIZERS)
def test_a_changed_tokenizer_is_named_with_what_changed(ds, edit, named):
    tok = load_tokenizer(resources.files("arrowprep") / "data" / "gpt2")

    def encode(batch):
        return tok(batch["text"])

    ds.map(encode, batched=True)
    edit(tok)
    found = ds.explain_cache(encode, batched=True)
    assert found.hit == (named is None), str(found)
    if named is not None:
        assert named in str(found)
        assert len(found.differences) == 1


def test_the_changed_one_of_several_files_is_named(tmp_path):
    paths = [tmp_path / name for name in ("a.jsonl", "b.jsonl")]
    for path in paths:
        path.write_text('{"n": 1}\n')
    load_local(paths).map(lambda row: {"m": row["n"]})
    paths[1].write_text('{"n": 3}\n')
    found = load_local(paths).explain_cache(lambda row: {"m": row["n"]})
    assert [d.part for d in found.differences] == [f"file {paths[1]}"]


def test_another_format_is_named(cached):
    found = cached.with_format("numpy").explain_cache(functions(SOURCE).tokenize)
    assert [d.part for d in found.differences] == ["format of the dataset"]


def test_other_data_is_named(cached):
    found = cached.select([1]).explain_cache(functions(SOURCE).tokenize)
    assert [d.part for d in found.differences] == ["data"]


def test_a_filter_is_explained_too(ds):
    def keep(row, least=1):
        return row["n"] > least

    ds.filter(keep)
    assert ds.explain_cache(keep, "filter").hit
    keep.__defaults__ = (2,)
    assert "default of `least` in `keep`: 1 → 2" in str(ds.explain_cache(keep, "filter"))


def test_what_has_no_like_says_so(ds):
    found = ds.explain_cache(lambda row: {})
    assert not found.hit
    assert "no map like this" in str(found)


def test_what_cannot_be_named_says_why(ds):
    import threading

    lock = threading.Lock()
    found = ds.explain_cache(lambda row: {"x": lock.locked()})
    assert not found.hit
    assert "lock" in str(found)
