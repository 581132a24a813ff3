"""The project keeps what its documents say."""

from __future__ import annotations

import ast
import gzip
import json
import re
from pathlib import Path

import pytest

import arrowprep
from arrowprep import data

ROOT = Path(__file__).parent.parent
PAGES = [page for folder in (".", "docs", "arrowprep/data") for page in sorted((ROOT / folder).glob("*.md"))]


@pytest.mark.parametrize("name", arrowprep.__all__)
def test_a_public_name_is_there(name: str) -> None:
    assert getattr(arrowprep, name) is not None


def test_public_names_are_listed_in_every_place_alike() -> None:
    tree = ast.parse((ROOT / "arrowprep" / "__init__.py").read_text())
    checked = {
        alias.asname or alias.name
        for branch in tree.body
        if isinstance(branch, ast.If)
        for statement in branch.body
        if isinstance(statement, ast.ImportFrom)
        for alias in statement.names
    }
    assert sorted(arrowprep.__all__) == arrowprep.__dir__()
    assert set(arrowprep.__all__) == set(arrowprep._HOME) == checked


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = arrowprep.nothing  # type: ignore[attr-defined]


def test_the_changelog_begins_with_this_version() -> None:
    versions = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.M)
    project = (ROOT / "pyproject.toml").read_text()
    assert versions[0] == arrowprep.__version__
    assert f'version = "{arrowprep.__version__}"' in project


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_links_between_documents_lead_somewhere(path: Path) -> None:
    for link in re.findall(r"\]\(([^)#\s]+)[^)]*\)", path.read_text()):
        if not link.startswith(("http://", "https://")):
            assert (path.parent / link).exists(), link


def test_the_samples_are_what_their_readme_says() -> None:
    said = (ROOT / "arrowprep" / "data" / "README.md").read_text()
    documents = [json.loads(line) for line in gzip.decompress(data.DOCUMENTS.read_bytes()).splitlines()]
    conversations = [json.loads(line) for line in data.CONVERSATIONS.read_bytes().splitlines()]
    assert f"{len(documents):,} documents" in said
    assert f"{len(conversations)} conversations" in said
    assert f"{sum(len(row['text'].encode()) for row in documents) / 1e6:.1f} MB of text" in said
    assert len({row["text"] for row in documents}) == len(documents)
    for row in conversations:
        roles = [message["role"] for message in row["messages"]]
        assert roles[-2:] == ["user", "assistant"]
        assert set(roles) <= {"system", "user", "assistant"}
