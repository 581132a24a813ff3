"""Write arrowprep/tokenize/unicode_tables.py: the Unicode properties that tokenizers were defined with.

    python tools/make_unicode_tables.py > arrowprep/tokenize/unicode_tables.py

A tokenizer must cut a text in the same places whatever Python and `regex` are
installed, so nothing is asked of the running interpreter.  Sources:

- Python 3.11's `unicodedata`: the Unicode Character Database 14.0.0
- Perl 5.36's Unicode::UCD (14.0.0): scripts, and the Age, in which version a character came
- unicodedata2 16.0.0 and 17.0.0 from PyPI: categories of Unicode 16 and 17; as two
  folders on PYTHONPATH would hide each other, UNICODEDATA_17 names that of 17.0.0
- Node.js of ICU with Unicode 17.0: lowercase

An older version is the newer one restricted to the characters of that age: the
normalization forms and combining classes of a character never change once it
is assigned, and the few categories that did are in CATEGORY_THEN.
"""

from __future__ import annotations

import bisect
import os
import subprocess
import sys
import unicodedata
from collections.abc import Callable, Iterable

import unicodedata2

# python -m pip install --target DIR unicodedata2==16.0.0, and to another one 17.0.0
assert unicodedata.unidata_version == "14.0.0", unicodedata.unidata_version
assert unicodedata2.unidata_version == "16.0.0", unicodedata2.unidata_version

NORMALIZATION = (9, 0)  # the normalization forms, combining classes and marks
CATEGORIES = (8, 0)  # punctuation and control characters of the BERT family
# categories that differ from those of 14.0: up to which version, and what they were
CATEGORY_UNTIL = {
    0x166D: ((11, 0), "Po"),
    0x1734: ((13, 0), "Mn"),
    0x1885: ((8, 0), "Lo"),
    0x1886: ((8, 0), "Lo"),
    0x1CF2: ((11, 0), "Mc"),
    0x1CF3: ((11, 0), "Mc"),
    0xA9BD: ((10, 0), "Mc"),
    0x111C9: ((10, 0), "Po"),
}

# scripts of version 9.0, where 14.0 says otherwise
SCRIPT_THEN = {0x61C: "Common", 0x953: "Devanagari", 0x954: "Devanagari"}
OLDEST_PYTHON = (13, 0)  # what str.lower() of Python 3.10 knows

LOWER = """
if (process.versions.unicode !== "17.0") throw process.versions.unicode;
for (let c = 0; c < 0x110000; c++) {
  if (c >= 0xd800 && c < 0xe000) continue;
  const s = String.fromCodePoint(c), lower = s.toLowerCase();
  if (lower !== s) console.log(c.toString(16), ...Array.from(lower, x => x.codePointAt(0).toString(16)));
}
"""

NUMERIC = """
import unicodedata2 as u
assert u.unidata_version == "17.0.0", u.unidata_version
print(*(c for c in range(0x110000) if not 0xD800 <= c < 0xE000 and u.category(chr(c))[0] == "N"))
"""

PERL = """
use Unicode::UCD;
my ($starts, $ages) = Unicode::UCD::prop_invmap("Age");
print "$starts->[$_] $ages->[$_]\\n" for 0..$#$starts;
"""


def property_of(name: str) -> Callable[[int], str]:
    """A function from code point to the value that a property has there."""
    code = PERL.replace("Age", name)
    lines = subprocess.run(["perl", "-e", code], check=True, capture_output=True, text=True).stdout.split(
        "\n"
    )
    rows = [line.split() for line in lines if line]
    starts = [int(start) for start, _ in rows]
    return lambda code: rows[bisect.bisect_right(starts, code) - 1][1]


def ages() -> Callable[[int], tuple[int, int]]:
    """A function from code point to the Unicode version that brought it; (99, 0) for none yet."""
    age = property_of("Age")
    numbers = {f"{major}.{minor}": (major, minor) for major in range(1, 15) for minor in range(10)}
    return lambda code: numbers.get(age(code), (99, 0))


AGE = ages()
EVERY = [code for code in range(0x110000) if not 0xD800 <= code < 0xE000]


def category(code: int, version: tuple[int, int]) -> str:
    """The general category as that version had it; Cn where it had no such character."""
    if AGE(code) > version:
        return "Cn"
    until, before = CATEGORY_UNTIL.get(code, ((0, 0), ""))
    return before if version <= until else unicodedata.category(chr(code))


def ranges(codes: Iterable[int]) -> str:
    """`41-5A 61-7A AA`: runs of code points in hexadecimal."""
    runs: list[list[int]] = []
    for code in codes:
        if runs and runs[-1][1] == code - 1:
            runs[-1][1] = code
        else:
            runs.append([code, code])
    return " ".join(f"{a:X}" if a == b else f"{a:X}-{b:X}" for a, b in runs)


def decompositions() -> str:
    """`C0=41,300 A0=~20`: one step of decomposition, ~ where it is for compatibility only."""
    entries = []
    for code in EVERY:
        mapping = unicodedata.decomposition(chr(code)).split()
        if mapping and AGE(code) <= NORMALIZATION:
            compatible = "~" if mapping[0].startswith("<") else ""
            entries.append(
                f"{code:X}={compatible}{','.join(f'{int(c, 16):X}' for c in mapping if c[0] != '<')}"
            )
    return " ".join(entries)


def combining_classes() -> str:
    """`230:300-314,33D-344 232:315`: the code points of each class but 0."""
    classes: dict[int, list[int]] = {}
    for code in EVERY:
        if AGE(code) <= NORMALIZATION and (ccc := unicodedata.combining(chr(code))):
            classes.setdefault(ccc, []).append(code)
    return " ".join(f"{ccc}:{ranges(codes).replace(' ', ',')}" for ccc, codes in sorted(classes.items()))


def composition_exclusions() -> str:
    """Canonical pairs that composition does not put together again."""

    def excluded(code: int) -> bool:
        mapping = unicodedata.decomposition(chr(code)).split()
        canonical = bool(mapping) and mapping[0][0] != "<" and AGE(code) <= NORMALIZATION
        return canonical and unicodedata.normalize("NFC", chr(code)) != chr(code)

    return ranges(code for code in EVERY if excluded(code))


def of_category(version: tuple[int, int], *wanted: str) -> str:
    """The characters whose category, or the first letter of it, is one of those."""
    return ranges(c for c in EVERY if {category(c, version), category(c, version)[0]} & set(wanted))


def numeric() -> str:
    environment = {**os.environ, "PYTHONPATH": os.environ["UNICODEDATA_17"]}
    run = subprocess.run(
        [sys.executable, "-c", NUMERIC], check=True, capture_output=True, text=True, env=environment
    )
    return ranges(map(int, run.stdout.split()))


def scripts() -> str:
    """`Latin:41-5A,61-7A`: the code points of each script."""
    script = property_of("Script")
    found: dict[str, list[int]] = {}
    for code in EVERY:
        if AGE(code) <= NORMALIZATION:
            found.setdefault(SCRIPT_THEN.get(code) or script(code), []).append(code)
    found.pop("Unknown", None)
    return " ".join(f"{name}:{ranges(codes).replace(' ', ',')}" for name, codes in sorted(found.items()))


def new_lowercase() -> str:
    """`A7CB=264`: what some Python that is supported does not know."""
    lines = subprocess.run(["node", "-e", LOWER], check=True, capture_output=True, text=True).stdout.split(
        "\n"
    )
    rows = [line.split() for line in lines if line]
    return " ".join(
        f"{c.upper()}={lower[0].upper()}" for c, *lower in rows if AGE(int(c, 16)) > OLDEST_PYTHON
    )


def table(name: str, comment: str, content: str) -> str:
    lines = [content[i : i + 100] for i in range(0, len(content), 100)]
    body = "\n".join(f'    "{line}"' for line in lines[:-1]) + f'\n    "{lines[-1]}"'
    return f"# {comment}\n{name} = (\n{body.lstrip(chr(10))}\n)\n"


def main() -> None:
    tables = [
        table(
            "UNASSIGNED",
            "code points that Unicode 16.0 has no character for",
            ranges(code for code in EVERY if unicodedata2.category(chr(code)) == "Cn"),
        ),
        table(
            "DECOMPOSITIONS",
            "one step each, Unicode 9.0; ~ marks compatibility; Hangul syllables are arithmetic",
            decompositions(),
        ),
        table("COMPOSITION_EXCLUSIONS", "Unicode 9.0", composition_exclusions()),
        table("COMBINING_CLASSES", "class:code points, Unicode 9.0, all others are 0", combining_classes()),
        table("MARKS", "category M, Unicode 9.0", of_category(NORMALIZATION, "M")),
        table("NONSPACING", "category Mn, Unicode 8.0", of_category(CATEGORIES, "Mn")),
        table("PUNCTUATION", "category P, Unicode 8.0", of_category(CATEGORIES, "P")),
        table("CONTROL", "categories Cc, Cf and Co, Unicode 8.0", of_category(CATEGORIES, "Cc", "Cf", "Co")),
        table("NUMERIC", "category N, Unicode 17.0", numeric()),
        table("SCRIPTS", "script:code points, Unicode 9.0", scripts()),
        table("NEW_LOWERCASE", "lowercase of characters since Unicode 14.0, up to 17.0", new_lowercase()),
    ]
    header = (
        '"""Unicode properties as of the versions that tokenizers use.\n\n'
        'Generated by tools/make_unicode_tables.py, which names the sources; do not edit.\n"""\n\n'
    )
    sys.stdout.write(header + "\n".join(tables))


if __name__ == "__main__":
    main()
