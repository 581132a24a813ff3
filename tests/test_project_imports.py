"""Who may import whom: the arrows of docs/design.md, read from the source."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

import arrowprep

ROOT = Path(arrowprep.__file__).parent
FOUNDATION = {"errors", "logging", "config", "progress", "kernel"}
RUNTIME = {"pyarrow", "numpy", "xxhash", "dill", "multiprocess", "jinja2", "regex", "tqdm"}
PEERS = {"datasets", "tokenizers", "transformers", "trl", "tiktoken", "sentencepiece"}

# a module imports its own row and the rows above it; one that is not named here is in the first row
DATASET_LAYERS = [
    {"indices", "fingerprint", "features", "storage", "formats", "execute"},
    {"view"},
    {"verbs", "load", "save", "info"},
    {"dataset", "skin", "splits", "split_maps", "loading", "saved", "by_name", "stream"},
]


class Import(NamedTuple):
    module: str  # that imports, "dataset.view"
    target: str  # what is imported, "arrowprep.errors" or "numpy"
    line: int
    at_import: bool  # False inside a function: paid when it is called

    def __str__(self) -> str:
        return f"arrowprep.{self.module} line {self.line} imports {self.target}"


def modules() -> Iterator[tuple[str, Path]]:
    for path in sorted(ROOT.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), path


def imports_of(module: str, path: Path) -> Iterator[Import]:
    """What a module imports when it runs; `if TYPE_CHECKING:` never runs."""

    def walk(node: ast.AST, at_import: bool) -> Iterator[Import]:
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            return
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(module, alias.name, node.lineno, at_import)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} line {node.lineno}: imports are written in full"
            for alias in node.names:
                home = str(node.module)
                target = f"{home}.{alias.name}" if is_package(home) else home
                yield Import(module, target, node.lineno, at_import)
        inside = at_import and not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        for child in ast.iter_child_nodes(node):
            if not isinstance(child, ast.expr):  # nothing is imported there
                yield from walk(child, inside)

    yield from walk(ast.parse(path.read_text(encoding="utf-8")), True)


def is_package(name: str) -> bool:
    return name.startswith("arrowprep") and (ROOT.parent / Path(*name.split("."))).is_dir()


@cache
def every_import() -> list[Import]:
    return [found for module, path in modules() for found in imports_of(module, path)]


def within(found: Import) -> list[str]:
    """The parts of the target below arrowprep: `arrowprep.dataset.view` -> [dataset, view]."""
    top, *parts = found.target.split(".")
    return parts if top == "arrowprep" else []


def test_the_source_is_read() -> None:
    assert len(every_import()) > 100
    assert any(found.target == "numpy" for found in every_import())


def test_the_foundation_needs_the_standard_library_alone() -> None:
    bad = [
        found
        for found in every_import()
        if found.module in FOUNDATION
        and found.at_import
        and (within(found)[0] not in FOUNDATION if within(found) else not is_standard(found.target))
    ]
    assert bad == []


def is_standard(target: str) -> bool:
    return target.split(".")[0] in sys.stdlib_module_names


@pytest.mark.parametrize("package", ["dataset", "chat"])
def test_knows_no_sibling(package: str) -> None:
    allowed = {package} | FOUNDATION
    assert [str(found) for found in of_package(package) if not set(within(found)[:1]) <= allowed] == []


def test_tokenize_takes_from_chat_at_first_use_only() -> None:
    allowed = {"tokenize"} | FOUNDATION
    foreign = [found for found in of_package("tokenize") if not set(within(found)[:1]) <= allowed]
    assert [str(found) for found in foreign if within(found)[0] != "chat" or found.at_import] == []


def of_package(package: str) -> list[Import]:
    return [found for found in every_import() if found.module.split(".")[0] == package]


def test_inside_dataset_nothing_looks_up() -> None:
    height = {name: row for row, names in enumerate(DATASET_LAYERS) for name in names}
    bad = []
    for found in of_package("dataset"):
        target, inner = within(found)[1:], found.module.split(".")[1:]
        if target and inner and height.get(target[0], 0) > height.get(inner[0], 0):
            bad.append(str(found))
    assert bad == []


def test_execute_knows_nothing_of_arrow() -> None:
    executors = [found for found in of_package("dataset") if found.module.startswith("dataset.execute")]
    assert executors
    assert [str(found) for found in executors if found.target.split(".")[0] in ("pyarrow", "numpy")] == []


def test_only_runtime_dependencies_are_imported_with_a_module() -> None:
    allowed = RUNTIME | {"arrowprep", "markupsafe"}  # jinja2 is built on markupsafe and depends on it
    foreign = [found for found in every_import() if found.at_import and not is_standard(found.target)]
    assert [str(found) for found in foreign if found.target.split(".")[0] not in allowed] == []


def test_no_peer_is_imported_but_where_its_own_type_is_asked_for() -> None:
    found = [found for found in every_import() if found.target.split(".")[0] in PEERS]
    assert [(it.module, it.target, it.at_import) for it in found] == [
        ("dataset.skin.export", "datasets", False)
    ]


def test_importing_the_package_loads_nothing_heavy() -> None:
    script = "import sys; before = set(sys.modules); import arrowprep; print(*set(sys.modules) - before)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = done.stdout.split()
    assert "arrowprep" in loaded
    assert {name.split(".")[0] for name in loaded} & RUNTIME == set()
    assert [name for name in loaded if name.startswith("arrowprep.")] == []
