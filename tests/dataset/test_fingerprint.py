"""A name is the same for the same meaning, and differs for another."""

from __future__ import annotations

import collections
import dataclasses
import datetime
import decimal
import enum
import functools
import itertools
import math
import os
import pathlib
import random
import re
import subprocess
import sys
import textwrap
import threading
import time
import types
import typing
from collections.abc import Callable
from importlib import metadata
from typing import Any

import numpy as np
import pytest
import regex

from arrowprep.dataset.fingerprint import Hasher, Unnameable, combine, describe, fingerprint_of
from arrowprep.dataset.fingerprint.modules import _noted_version, library_version


def define(source: str, name: str = "f", filename: str = "somewhere.py") -> Any:
    """Run source as a module of the user's and return what it defines."""
    module = sys.modules["user_module"] = types.ModuleType("user_module")
    exec(compile(textwrap.dedent(source), filename, "exec", dont_inherit=True), vars(module))
    return vars(module)[name]


def name(source: str, **where: str) -> str:
    return fingerprint_of(define(source, **where))


BASE = """
    LIMIT = 512
    UNUSED = 1
    def clean(text):
        return text.strip()
    def helper(text):
        return clean(text)[:LIMIT]
    def f(batch, n=3, *, sep=" "):
        seen = {"a", "b", "c"}
        return {"x": [helper(t) + sep * n for t in batch["text"] if t not in seen]}
"""

SAME = {
    "a comment": ("return text.strip()", "return text.strip()  # without blanks"),
    "a comment line": ("    def helper", "    # cuts\n    def helper"),
    "lines above": ("    LIMIT", "\n\n\n    LIMIT"),
    "a docstring": ("        seen =", '        """Prepare a batch."""\n        seen ='),
    "annotations": ("f(batch, n=3, *, sep=", "f(batch: dict, n: int = 3, *, sep: str = "),
    "a return annotation": ("def clean(text):", "def clean(text) -> str:"),
    "line breaks": (
        "return clean(text)[:LIMIT]",
        "return clean(\n            text\n        )[\n            :LIMIT]",
    ),
    "the order of a set": ('{"a", "b", "c"}', '{"c", "a", "b"}'),
    "a value that nothing reads": ("UNUSED = 1", "UNUSED = 2"),
    "a statement without effect": ("        seen =", "        pass\n        seen ="),
}

OTHER = {
    "a constant": ('{"x":', '{"y":'),
    "a member of a set": ('"c"}', '"d"}'),
    "a default": ("n=3", "n=4"),
    "a keyword default": ('sep=" "', 'sep="-"'),
    "a parameter's name": ("f(batch, n=3", "f(batch, m=3"),
    "a module-level value": ("LIMIT = 512", "LIMIT = 1024"),
    "the type of a value": ("LIMIT = 512", "LIMIT = 512.0"),
    "a helper of a helper": ("text.strip()", "text.lstrip()"),
    "an operator": ("+ sep * n", "+ sep + n"),
    "an argument's kind": ("n=3, *,", "n=3,"),
    "a name that is bound to something else": ("    def f(", "    clean = str.upper\n    def f("),
    "a generator instead of a list": (' [helper(t) + sep * n for t in batch["text"] if t not in seen]',
                                      ' (helper(t) + sep * n for t in batch["text"] if t not in seen)'),
}  # fmt: skip


@pytest.mark.parametrize("edit", SAME)
def test_what_is_for_people_changes_nothing(edit: str) -> None:
    before, after = SAME[edit]
    assert before in BASE
    assert name(BASE.replace(before, after)) == name(BASE)


@pytest.mark.parametrize("edit", OTHER)
def test_what_computes_changes_the_name(edit: str) -> None:
    before, after = OTHER[edit]
    assert before in BASE
    assert name(BASE.replace(before, after)) != name(BASE)


def test_the_file_and_the_functions_own_name_change_nothing() -> None:
    assert name(BASE, filename="elsewhere.py") == name(BASE)
    assert name(BASE.replace("def f(", "def g("), name="g") == name(BASE)


def test_annotations_of_nested_functions_change_nothing() -> None:
    plain = "def f(x):\n    def g(a, b=1):\n        return a + b + x\n    return g(x)"
    noted = plain.replace("a, b=1)", "a: int, b: list[int] = 1) -> dict[str, int]")
    assert name(noted) == name(plain)


@pytest.mark.parametrize(
    "method", ["MAX = 3", "def m(self): return 2", "@property\n    def p(self): return 2"]
)
def test_a_class_is_named_by_what_it_defines(method: str) -> None:
    source = "class A:\n    {}\nclass B(A):\n    pass\nf = lambda x: B().m()"
    base = "def m(self): return 1"
    assert name(source.format(base)) == name(source.format(f"'''Doc.'''\n    {base}"))
    assert name(source.format(base)) != name(source.format(method))


def test_a_dataclass_is_named_by_fields_and_defaults() -> None:
    source = """
        from dataclasses import dataclass, field
        @dataclass
        class Config:
            n: int = 3
            names: list = field(default_factory=list)
        f = lambda x: Config().n
    """
    assert name(source) == name(source.replace("n: int", "n: 'int'"))
    assert name(source) != name(source.replace("int = 3", "int = 4"))
    assert name(source) != name(source.replace("=list", "=dict"))


def test_classes_that_a_library_made_are_named_by_what_they_hold() -> None:
    def make(fields: str) -> Any:
        return collections.namedtuple("Made", fields, module="collections")

    assert fingerprint_of(make("a b")) == fingerprint_of(make("a b")) != fingerprint_of(make("a c"))
    assert fingerprint_of(make("a b")(1, 2)) != fingerprint_of(make("a c")(1, 2))


def test_an_enumeration_is_named_by_its_members() -> None:
    source = "import enum\nclass E(enum.Enum):\n    A = 1\n    B = 2\nf = lambda x: E.A"
    assert name(source) != name(source.replace("B = 2", "B = 3"))
    one = define(source, "E")
    assert fingerprint_of(one.A) != fingerprint_of(one.B)


DISTINCT: list[Any] = [
    1, True, 1.0, "1", b"1", 1 + 0j, decimal.Decimal(1), np.int64(1), np.int32(1), np.float64(1), [1], (1,),
    {1}, frozenset({1}), {1: 1}, 0.0, -0.0, math.nan, math.inf, 10**30, None, Ellipsis, "", b"",
    bytearray(b"1"), [], (), {}, set(), [[]], [()], {"a": 1, "b": 2}, {"b": 2, "a": 1}, range(3), slice(3),
    re.compile("a"), re.compile("a", re.I), re.compile(b"a"), regex.compile("a"), regex.compile("a", regex.I),
    pathlib.Path("a"), datetime.date(2020, 1, 1), datetime.datetime(2020, 1, 1), datetime.timedelta(1),
    np.array([1]), np.array([[1]]), np.array([1], "i4"), np.array([1.0]), np.array([1], object),
    np.array(["a"]), np.ma.array([1], mask=[True]), np.ma.array([1], mask=[False]), np.dtype("i4"),
    np.dtype("i8"), np.array([(1, 2)], dtype=[("a", "i4"), ("b", "i4")]), np.array(["2020"], "M8[D]"),
    np.array(["2020"], "M8[s]"), random.Random(1), random.Random(2), np.random.default_rng(1),
    np.random.default_rng(2), len, str, str.lower, "a".lower, np.float32, np, math, functools.partial(int,
    base=2), functools.partial(int, base=3), collections.Counter("a"), collections.OrderedDict(a=1),
    collections.defaultdict(list), collections.defaultdict(int), collections.deque([1]),
    types.SimpleNamespace(a=1), types.SimpleNamespace(a=2), list[int], int | None, typing.Any, object,
]  # fmt: skip


def test_different_values_have_different_names() -> None:
    names = [fingerprint_of(value) for value in DISTINCT]
    twice = {n for n in names if names.count(n) > 1}
    assert [value for value, n in zip(DISTINCT, names, strict=True) if n in twice] == []
    assert {len(n) for n in names} == {32}


class Point(typing.NamedTuple):
    x: int
    y: int


class Slotted:
    __slots__ = ("a", "b")

    def __init__(self, a: int, b: int) -> None:
        self.a, self.b = a, b


@dataclasses.dataclass
class Settings:
    a: int = 1
    b: list[int] = dataclasses.field(default_factory=list)


class Colour(enum.Enum):
    RED = "red"


@pytest.mark.parametrize(
    "make",
    [
        lambda: [1, ["a", {"b": {1, 2}}]],
        lambda: Point(1, 2),
        lambda: Slotted(1, 2),
        lambda: Settings(2),
        lambda: Colour.RED,
        lambda: np.arange(6).reshape(2, 3),
        lambda: {"order": [np.float32(1), Settings()]},
        lambda: functools.lru_cache(maxsize=3)(lambda x: x + 1),
        lambda: functools.partial(sorted, key=lambda x: -x),
        lambda: Settings(3).__eq__,
    ],
)
def test_equal_values_made_twice_have_one_name(make: Callable[[], Any]) -> None:
    assert fingerprint_of(make()) == fingerprint_of(make())


def test_attributes_have_no_order() -> None:
    one, two = types.SimpleNamespace(), types.SimpleNamespace()
    one.a, one.b = 1, [2]
    two.b, two.a = [2], 1
    assert fingerprint_of(one) == fingerprint_of(two)


def test_arrays_are_named_by_values_not_by_memory() -> None:
    base = np.arange(12).reshape(3, 4)
    assert fingerprint_of(base[:, ::2]) == fingerprint_of(base[:, ::2].copy())
    assert fingerprint_of(base.T) == fingerprint_of(np.asfortranarray(base.T))
    assert fingerprint_of(base) != fingerprint_of(base.reshape(4, 3))


def test_shared_and_copied_parts_are_the_same() -> None:
    part = {"x", "y"}
    assert fingerprint_of([part, part]) == fingerprint_of([{"y", "x"}, {"x", "y"}])
    assert fingerprint_of([[1], [1]]) == fingerprint_of([[1]] * 2)


def test_what_holds_itself_has_a_name() -> None:
    def loop() -> list[Any]:
        inner: list[Any] = [1, {2}]
        inner.append([inner, inner])
        return inner

    assert fingerprint_of(loop()) == fingerprint_of(loop())
    both = "def f(n): return n == 0 or odd(n - 1)\ndef odd(n): return n != 0 and f(n - 1)"
    assert name(both) == name("#\n" + both)
    assert name(both) != name(both.replace("n != 0", "n > 0"))


def test_members_of_a_set_that_know_each_other_come_in_any_order() -> None:
    a = define(
        "def f(n): return g(n)\ndef g(n): return h(n) + 1\ndef h(n): return f(n)\nall = [f, g, h]", "all"
    )
    names = {fingerprint_of(_Ordered(order)) for order in itertools.permutations(a)}
    assert len(names) == 1


class _Ordered:
    """Reduces to a set that is walked in the given order."""

    def __init__(self, members: Any) -> None:
        self.members = members

    def __reduce__(self) -> Any:
        return (len, (_OrderedSet(self.members),))


class _OrderedSet(frozenset):  # type: ignore[type-arg]
    def __reduce__(self) -> Any:
        return (frozenset, (frozenset(self),))


def test_a_wrapped_function_is_named_by_both() -> None:
    source = """
        import functools
        def loud(times):
            def decorate(function):
                @functools.wraps(function)
                def wrapper(*args):
                    return function(*args) * times
                return wrapper
            return decorate
        @loud(2)
        def f(x):
            return x + 1
    """
    assert name(source) != name(source.replace("x + 1", "x + 2"))
    assert name(source) != name(source.replace("loud(2)", "loud(3)"))


def test_a_given_fingerprint_comes_before_everything() -> None:
    class Tokenizer:
        def __init__(self, given: str) -> None:
            self.fingerprint = given
            self.lock = threading.Lock()

    class Other(Tokenizer):
        pass

    assert fingerprint_of(Tokenizer("a")) == fingerprint_of(Tokenizer("a"))
    assert len({fingerprint_of(it) for it in (Tokenizer("a"), Tokenizer("b"), Other("a"))}) == 3
    tokenizer = Tokenizer("a")
    by_call = fingerprint_of(lambda b: tokenizer)
    tokenizer.fingerprint = "b"
    assert fingerprint_of(lambda b: tokenizer) != by_call


def test_data_with_a_field_called_fingerprint_is_data() -> None:
    class Row(typing.NamedTuple):
        fingerprint: str
        text: str

    assert fingerprint_of(Row("a", "x")) != fingerprint_of(Row("a", "y"))


def _held(thing: Any) -> Callable[[], Any]:
    state = {"open": [thing]}

    def f() -> Any:
        return state

    return f


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (threading.Lock, "lock"),
        (lambda: sys.__stdout__, "TextIOWrapper"),
        (lambda: (x for x in "a"), "generator"),
    ],
)
def test_what_has_no_content_says_how_it_was_reached(make: Callable[[], Any], kind: str) -> None:
    thing = make()
    with pytest.raises(Unnameable, match="cannot be named by its content") as caught:
        fingerprint_of(_held(thing))
    assert caught.value.path == "closure variable `state` of `f`, key 'open', item 0"
    assert kind in caught.value.object_type
    assert "new_fingerprint=" in caught.value.remedy
    with pytest.raises(Unnameable):
        describe(_held(thing))


def test_a_captured_lock_is_named_by_its_variable() -> None:
    lock = threading.Lock()

    def f() -> Any:
        return lock

    with pytest.raises(Unnameable, match=r"^closure variable `lock` of `f` is a _thread\.lock"):
        fingerprint_of(f)


def test_what_is_nested_too_deeply_is_an_error_not_a_crash() -> None:
    chain: Any = None
    for _ in range(5000):
        chain = types.SimpleNamespace(next=chain)
    with pytest.raises(Unnameable, match="nested too deeply"):
        fingerprint_of(chain)


def test_a_description_names_the_parts() -> None:
    parts = describe(define(BASE))
    assert parts["module-level value `LIMIT` read by `helper`"] == "512"
    assert parts["default of `n` in `f`"] == "3"
    assert parts["default of `sep` in `f`"] == "' '"
    assert {"code of `f`", "code of `helper`", "code of `clean`"} <= set(parts)
    edited = describe(define(BASE.replace("text.strip()", "text.lstrip()")))
    assert [place for place in parts if parts[place] != edited[place]] == ["code of `clean`"]
    assert describe({"batch_size": 10, "function": len})["batch_size"] == "10"


def test_a_combination_depends_on_order() -> None:
    assert combine("a", "b") == combine("a", "b") != combine("b", "a")
    assert combine("ab") != combine("a", "b")
    assert Hasher.hash([1]) == fingerprint_of([1])


def test_many_small_lists_are_named_in_bulk() -> None:
    lookup = {i: [i, i + 1, str(i)] for i in range(200_000)}
    spent = []
    for _ in range(3):
        began = time.process_time()
        fingerprint_of(lambda: lookup)
        spent.append(time.process_time() - began)
    assert min(spent) < 0.5  # 0.18 s; through a pickler 15 s


SCRIPT = """
import sys
import numpy as np
import re
import enum
from dataclasses import dataclass
from arrowprep.dataset.fingerprint import fingerprint_of
import helpers

class Kind(enum.Enum):
    A = "a"

@dataclass
class Config:
    words: frozenset

config = Config(frozenset({"x", "y", "z", "w", "v"}))
PATTERN = re.compile("a+")

def f(batch, stop={"the", "a", "an", "of"}):
    from helpers import scale
    return [helpers.clean(t) for t in batch if t not in {"p", "q", "r", "s"} and t not in stop | config.words
            and PATTERN.match(t) and Kind.A and np.linalg.norm(scale)]

print(fingerprint_of(f), fingerprint_of({f, Config, Kind.A, ("t", 1), "s", None}))
"""
HELPERS = "LIMIT = 3\nscale = [1.0]\ndef clean(t):\n    return t[:LIMIT]\n"


def run(folder: pathlib.Path, seed: str, script: str = SCRIPT, helpers: str = HELPERS) -> str:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "job.py").write_text(script)
    (folder / "helpers.py").write_text(helpers)
    root = str(pathlib.Path(__file__).parents[2])
    done = subprocess.run(
        [sys.executable, "-B", "job.py"],
        cwd=folder,
        env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": root},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def test_the_name_holds_in_another_process_and_folder(tmp_path: pathlib.Path) -> None:
    first = run(tmp_path / "one", "1")
    assert run(tmp_path / "two" / "deep", "2", "# moved\n\n" + SCRIPT, "# commented\n" + HELPERS) == first
    assert run(tmp_path / "one", "3", helpers=HELPERS.replace("LIMIT = 3", "LIMIT = 4")) != first


@pytest.mark.parametrize(
    ("body", "edit", "changes"),
    [
        ("helpers_a.clean(x)", ("strip", "lstrip"), True),
        ("helpers_a.clean(x)", ("OTHER = 1", "OTHER = 2"), False),
        ("helpers_a.clean(x)", ("LIMIT = 3", "LIMIT = 4"), True),
        ("helpers_a.clean(x)", ("import math", "import math  # pi"), False),
        ("getattr(helpers_a, 'clean')(x)", ("OTHER = 1", "OTHER = 2"), True),
        ("helpers_a.OTHER", ("OTHER = 1", "OTHER = 2"), True),
        ("helpers_a.OTHER", ("strip", "lstrip"), False),
    ],
)
def test_helpers_in_other_modules_are_followed(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, body: str, edit: tuple[str, str], changes: bool
) -> None:
    text = """import math
OTHER = 1
LIMIT = 3
def inner(x):
    return x.strip()
def clean(x):
    return inner(x)[:LIMIT]
"""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    at_top = f"import helpers_a\ndef f(x):\n    return {body}"
    in_body = f"def f(x):\n    import helpers_a\n    return {body}"

    def names(source: str) -> tuple[str, str]:
        (tmp_path / "helpers_a.py").write_text(source)
        sys.modules.pop("helpers_a", None)
        return name(at_top), name(in_body)

    before, after = names(text), names(text.replace(*edit))
    assert (before[0] != after[0]) is changes
    if changes:  # an import inside of a body takes the whole module: never finer, sometimes coarser
        assert before[1] != after[1]
    sys.modules.pop("helpers_a", None)


def test_an_import_of_names_inside_of_a_body_is_followed(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    source = "def f(x):\n    from helpers_b import clean\n    return clean(x)"
    found = []
    for text in (
        "def clean(x): return x",
        "def clean(x): return x  # same\nOTHER = 2",
        "def clean(x): return -x",
    ):
        (tmp_path / "helpers_b.py").write_text(text)
        sys.modules.pop("helpers_b", None)
        found.append(name(source))
        assert name(source) == found[-1]  # it is imported by now
    assert found[0] == found[1] != found[2]
    sys.modules.pop("helpers_b", None)


def test_a_missing_optional_import_is_named_too() -> None:
    assert name("def f(x):\n    import no_such_module_here\n    return x") == name(
        "def f(x):\n\n    import no_such_module_here\n    return x"
    )


@pytest.mark.parametrize("library", ["pyarrow", "numpy", "xxhash", "jinja2"])
def test_the_version_of_a_library_is_the_one_that_its_metadata_says(library: str) -> None:
    assert _noted_version(library) == metadata.version(library) == library_version(library)
    assert _noted_version("no_such_library") is None
