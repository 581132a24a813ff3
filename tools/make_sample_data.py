"""Build the packaged sample data from the reStructuredText sources of Python's documentation.

    python tools/make_sample_data.py SOURCES VERSION

SOURCES is the `_sources` folder of a built copy of the documentation of Python VERSION (as Linux
distributions package it). Writes arrowprep/data/documents.jsonl.gz, a section a line, and
arrowprep/data/conversations.jsonl, questions and answers from the FAQ and the glossary. The same
sources give the same bytes.
"""

from __future__ import annotations

import gzip
import json
import re
import sys
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

DATA = Path(__file__).parent.parent / "arrowprep" / "data"
DOCUMENT_FOLDERS = ("faq", "tutorial", "howto", "reference", "library")
SHORTEST, LONGEST = 250, 2000  # characters of a document; a longer section is cut between paragraphs
LIBRARY_STEP = (
    3  # of library/, two thirds of the pages, every third document is kept: more would only add size
)

UNDERLINE = re.compile(r"^([=\-~^\"'*+#.])\1{2,}$")
HIDDEN = re.compile(
    r"^ *\.\. (?:_[^:]+:|[^\s:]+:: ?.*\|release\|.*|(?:index|only|contents|toctree|highlight|module"
    r"|sectionauthor|moduleauthor|currentmodule|testsetup|testcleanup|include|literalinclude|seealso)::.*"
    r"|(?![\w:|.-]+::).*)$"
)
ROLE = re.compile(r":[\w+:-]+:`([^`]+)`")
LINK = re.compile(r"`([^`<]+?)\s*<[^`>]*>`_{1,2}")
ENTRY = re.compile(r"^( *)\.\. (?:[a-z]+:)?(?:function|method|class|data|exception|attribute|describe)::\s*")
BLOCK = re.compile(r"^( *)\.\. ([\w-]+)::\s*(.*)")


class Section(NamedTuple):
    source: str  # path of the file in the documentation, without suffix
    part: str  # the title above this one, "" at the top
    level: int
    title: str
    text: str


def indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def visible(lines: list[str]) -> Iterator[str]:
    """Lines without the directives that print nothing, and without their indented blocks."""
    hidden_at = -1
    for line in lines:
        if hidden_at >= 0 and (not line.strip() or indent(line) > hidden_at):
            continue
        hidden_at = indent(line) if HIDDEN.match(line) else -1
        if hidden_at < 0 and not re.match(r"^ +:\w+: *", line):
            yield line


def plain(text: str) -> str:
    """The text as a person would read it: roles and links as their words, directives as headings."""

    def shown(role: re.Match[str]) -> str:
        return "`" + re.sub(r"\s*<[^>]*>$", "", role[1]).lstrip("~!").replace("\n", " ") + "`"

    text = ROLE.sub(shown, text)
    text = LINK.sub(lambda link: " ".join(link[1].split()), text)
    lines = (BLOCK.sub(_heading, ENTRY.sub(r"\1", line)) for line in text.split("\n"))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(line.rstrip() for line in lines)).strip()


def _heading(block: re.Match[str]) -> str:
    space, name, argument = block.groups()
    if name in ("code-block", "parsed-literal", "doctest", "testcode", "sourcecode", "code"):
        return ""
    title = {"versionadded": "New in version", "versionchanged": "Changed in version"}.get(name)
    return (
        f"{space}{title} {argument}" if title else f"{space}{name.replace('-', ' ').capitalize()}: {argument}"
    )


def sections(path: Path, root: Path) -> Iterator[Section]:
    """A file's sections in order; the level of a title is the order in which its underline appeared."""
    source = str(path.relative_to(root)).removesuffix(".rst.txt")
    lines = list(visible(path.read_text(encoding="utf-8").split("\n")))
    marks: list[str] = []
    titles: list[str] = []
    begun: tuple[int, str, int] | None = None
    for number in range(1, len(lines) + 1):
        title = lines[number - 1].strip()
        under = lines[number] if number < len(lines) else ""
        is_title = (
            UNDERLINE.match(under) and title and len(under) >= len(title) and indent(lines[number - 1]) < 2
        )
        if (is_title and not UNDERLINE.match(title)) or number == len(lines):
            if begun is not None:
                level, name, first = begun
                body = "\n".join(lines[first : number - 1])
                body = re.sub(r"^([=*#])\1{3,}\n", "", body, flags=re.M)
                yield Section(source, titles[level - 1] if level else "", level, name, plain(body))
            if number == len(lines):
                return
            if under[0] not in marks:
                marks.append(under[0])
            level = marks.index(under[0])
            titles[level:] = [plain(title)]
            begun = (level, plain(title), number + 1)


def cut(text: str) -> Iterator[str]:
    """Pieces of at most about LONGEST characters, cut where an unindented paragraph begins."""
    piece: list[str] = []
    size = 0
    for paragraph in re.split(r"\n\n(?=\S)", text):
        if piece and size + len(paragraph) > LONGEST:
            yield "\n\n".join(piece)
            piece, size = [], 0
        piece.append(paragraph)
        size += len(paragraph)
    yield "\n\n".join(piece)


def documents(root: Path) -> Iterator[dict[str, Any]]:
    seen: set[str] = set()
    for folder in DOCUMENT_FOLDERS:
        step = LIBRARY_STEP if folder == "library" else 1
        found = 0
        for path in sorted((root / folder).glob("*.rst.txt")):
            for section in sections(path, root):
                for number, text in enumerate(cut(section.text)):
                    known = " ".join(text.split())
                    if len(text) < SHORTEST or known in seen:
                        continue
                    seen.add(known)
                    found += 1
                    if found % step:
                        continue
                    title = section.title if number == 0 else f"{section.title} ({number + 1})"
                    yield {"title": title, "text": text, "source": section.source}


def questions(root: Path) -> Iterator[tuple[str, str, str, str]]:
    """(source, part, question, answer) of every entry of the FAQ, in order."""
    for path in sorted((root / "faq").glob("*.rst.txt")):
        for section in sections(path, root):
            if section.title.endswith("?") and len(section.text) > 40:
                yield section.source, section.part, section.title, section.text


def glossary(root: Path) -> Iterator[tuple[str, str]]:
    """(term, definition) of the glossary."""
    text = (root / "glossary.rst.txt").read_text(encoding="utf-8")
    entries = re.split(r"\n\n(?=   \S)", text[text.index(".. glossary::") :])[1:]
    for entry in entries:
        term, _, body = entry.partition("\n")
        definition = plain("\n".join(visible([line[6:] for line in body.split("\n")])))
        if len(definition) > 60:
            yield plain(term.strip()).strip("`"), definition


SYSTEM = "You answer questions about Python in the words of its documentation."


def conversations(root: Path) -> Iterator[dict[str, Any]]:
    """FAQ entries alone, neighbours of one part as turns of one conversation, and glossary entries."""

    def turn(question: str, answer: str) -> list[dict[str, str]]:
        return [{"role": "user", "content": question}, {"role": "assistant", "content": answer}]

    asked = list(questions(root))
    for source, _, question, answer in asked:
        yield {"messages": turn(question, answer), "source": source}
    for (source, _), group in groupby(asked, key=lambda entry: entry[:2]):
        turns = [turn(question, answer) for _, _, question, answer in group]
        for start in range(0, len(turns) - 1, 3):
            several = sum(turns[start : start + 3], [{"role": "system", "content": SYSTEM}])
            if len(several) > 3:
                yield {"messages": several, "source": source}
    for number, (term, definition) in enumerate(glossary(root)):
        messages = turn(f"What does “{term}” mean in Python?", definition)
        first = [{"role": "system", "content": SYSTEM}] if number % 2 else []
        yield {"messages": first + messages, "source": "glossary"}


def lines_of(rows: Iterator[dict[str, Any]], prefix: str) -> bytes:
    numbered = ({"id": f"{prefix}-{number:04}", **row} for number, row in enumerate(rows))
    return b"".join(json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in numbered)


def main() -> None:
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    root = Path(sys.argv[1])
    notice = next(root.glob("license.rst.txt")).read_text(encoding="utf-8").replace("|release|", sys.argv[2])
    licence = notice[notice.index("Terms and conditions") :].partition(".. _OtherLicenses:")[0]
    (DATA / "LICENSE.psf").write_text(licence.rstrip() + "\n", encoding="utf-8")
    documents_jsonl = lines_of(documents(root), "doc")
    (DATA / "documents.jsonl.gz").write_bytes(gzip.compress(documents_jsonl, 9, mtime=0))
    (DATA / "conversations.jsonl").write_bytes(lines_of(conversations(root), "chat"))


if __name__ == "__main__":
    main()
