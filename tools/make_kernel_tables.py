"""Write rust/src/unicode_runs.rs: what the kernel's splitters know about characters.

    python tools/make_kernel_tables.py > rust/src/unicode_runs.rs

Everything is asked of the reference engine (its patterns, its `is_word`, its normal
forms), so that the two can only agree.
"""

from __future__ import annotations

import regex

from arrowprep.tokenize.character_classes import WHITESPACE, is_word
from arrowprep.tokenize.normalizers import Lowercase
from arrowprep.tokenize.normalizers.bert import IDEOGRAPHS, _dropped, _nonspacing
from arrowprep.tokenize.normalizers.edits import _NMT_REMOVED, _NMT_SPACE, _marks
from arrowprep.tokenize.oniguruma import Pattern
from arrowprep.tokenize.pre_tokenizers.characters import punctuation
from arrowprep.tokenize.unicode_normal import _compositions, combining_classes, normal_form

# in the order of the constants in rust/src/unicode.rs; a character has the first that fits
CLASSES = ("", r"[\p{Lu}\p{Lt}]", r"\p{Ll}", r"\p{L}", r"\p{M}", r"\p{N}", r"\s", r"[\p{P}\p{S}]")
EAST, HAN, WORD, UNSTABLE = 0x10, 0x20, 0x40, 0x80  # flags beside the class
# what BERT knows of a character, bit by bit
DROPPED, PUNCTUATION, NONSPACING, IDEOGRAPH, BLANK = 1, 2, 4, 8, 16
# what other normalizers ask of it, and the forms under which it may change, or change its neighbours;
# rust/src/unicode.rs has these bits, and those of BERT
LOWERED, STRIPPED, NMT_DROPPED, NMT_BLANK = 1, 2, 4, 8
FORMS = {"NFD": 16, "NFKC": 32, "NFKD": 64}
# what may be no grapheme of its own, by Unicode's classes (\\r\\n apart); as in rust/src/steps/charsmap.rs
JOINING = {
    1: r"[\p{GCB=Extend}\p{GCB=SpacingMark}\p{GCB=ZWJ}\p{GCB=V}\p{GCB=T}]",  # goes on with what is before it
    2: r"[\p{GCB=Extend}\p{GCB=ZWJ}\p{GCB=Prepend}\p{GCB=L}\p{GCB=Regional_Indicator}]",  # the next may
}
EVERY = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]


def matching(pattern: str) -> set[str]:
    """The characters that a pattern matches."""
    text = "".join(EVERY)
    return {text[start] for start, _ in Pattern(pattern).find(text)}


def properties() -> dict[str, int]:
    """Class and flags of every character."""
    found = dict.fromkeys(EVERY, 0)
    for number in reversed(range(1, len(CLASSES))):
        found.update(dict.fromkeys(matching(CLASSES[number]), number))
    east, han = matching("[一-龥぀-ゟ゠-ヿ]"), matching(r"\p{Han}")
    affected = normal_form("NFC").affected
    for character in EVERY:
        found[character] |= EAST * (character in east)
        found[character] |= HAN * (character in han)
        found[character] |= WORD * is_word(character)
        found[character] |= UNSTABLE * bool(affected.match(character))
    assert {c for c, value in found.items() if value & 15 == 6} == set(WHITESPACE)
    # the kernel takes text without a byte above 0xCB for normalized
    assert not any(found[chr(code)] & UNSTABLE for code in range(0x300))
    return found


def of_bert() -> dict[str, int]:
    """What BERT's normalizer and pre-tokenizer ask of every character."""
    return {
        c: DROPPED * bool(_dropped().match(c))
        + PUNCTUATION * bool(punctuation().match(c))
        + NONSPACING * bool(_nonspacing().match(c))
        + IDEOGRAPH * bool(IDEOGRAPHS.match(c))
        + BLANK * (c in WHITESPACE)
        for c in EVERY
    }


def of_normalizers() -> dict[str, int]:
    """What the other normalizers ask of every character."""
    lower, forms = Lowercase().normalize_str, {flag: normal_form(name) for name, flag in FORMS.items()}
    return {
        c: LOWERED * (lower(c) != c)
        + STRIPPED * bool(_marks().match(c))
        + NMT_DROPPED * bool(_NMT_REMOVED.match(c))
        + NMT_BLANK * bool(_NMT_SPACE.match(c))
        + sum(flag for flag, form in forms.items() if form.affected.match(c))
        for c in EVERY
    }


def joins() -> dict[str, int]:
    """How each character may join another to a grapheme, for `regex`, by which the reference engine cuts."""
    classes = {flag: regex.compile(pattern, regex.V1) for flag, pattern in JOINING.items()}
    return {c: sum(flag for flag, joining in classes.items() if joining.match(c)) for c in EVERY}


def lowercase() -> list[str]:
    """(character, first, second or 0): where lower case is another text."""
    lowered = {c: Lowercase().normalize_str(c) for c in EVERY}
    assert max(map(len, lowered.values())) == 2
    changed = {c: to for c, to in lowered.items() if to != c}
    return [f"({ord(c)},{ord(to[0])},{ord(to[1]) if len(to) > 1 else 0})" for c, to in changed.items()]


def runs(found: dict[str, int]) -> list[tuple[int, int]]:
    """(code point, value) wherever the value changes."""
    out: list[tuple[int, int]] = []
    for character, value in found.items():
        if not out or out[-1][1] != value:
            out.append((ord(character), value))
    return out


def array(name: str, comment: str, kind: str, items: list[str]) -> str:
    lines = [""]
    for item in items:
        if len(lines[-1]) + len(item) > 108:
            lines.append("")
        lines[-1] += item + ","
    body = "\n".join(f"    {line}" for line in lines)
    return f"/// {comment}\n#[rustfmt::skip]\npub static {name}: &[{kind}] = &[\n{body}\n];\n"


def decompositions() -> list[str]:
    """(character, first, second or 0): one canonical step each."""
    steps = normal_form("NFC").steps
    return [f"({ord(c)},{ord(to[0])},{ord(to[1]) if len(to) > 1 else 0})" for c, to in sorted(steps.items())]


def compatible() -> tuple[list[str], list[str]]:
    """(character, place in the parts, how many) where NFKD is not NFD; and the parts."""
    canonical, full = normal_form("NFD").full, normal_form("NFKD").full
    longest_first = sorted({full(c) for c in EVERY if full(c) != canonical(c)}, key=len, reverse=True)
    parts = ""
    for text in longest_first:
        parts += "" if text in parts else text
    entries = [f"({ord(c)},{parts.index(full(c))},{len(full(c))})" for c in EVERY if full(c) != canonical(c)]
    return entries, [str(ord(c)) for c in parts]


def main() -> None:
    classes = [f"({ord(c)},{ccc})" for c, ccc in sorted(combining_classes().items())]
    pairs = [f"({ord(a)},{ord(b)},{ord(c)})" for (a, b), c in sorted(_compositions().items())]
    print("//! Characters as the reference engine knows them.\n//!")
    print("//! Generated by tools/make_kernel_tables.py; do not edit.\n")
    print(
        array(
            "RUNS",
            "(first code point, class and flags), up to the next.",
            "(u32, u8)",
            [f"({code},{value})" for code, value in runs(properties())],
        )
    )
    bert = [f"({code},{value})" for code, value in runs(of_bert())]
    print(array("BERT", "(first code point, what BERT knows of it), up to the next.", "(u32, u8)", bert))
    normal = [f"({code},{value})" for code, value in runs(of_normalizers())]
    print(
        array(
            "NORMALIZED",
            "(first code point, what normalizers do to it), up to the next.",
            "(u32, u8)",
            normal,
        )
    )
    joining = [f"({code},{value})" for code, value in runs(joins())]
    print(array("JOINS", "(first code point, what it may join), up to the next.", "(u32, u8)", joining))
    print(array("LOWERCASE", "(character, first, second or 0).", "(u32, u32, u32)", lowercase()))
    print(array("DECOMPOSITIONS", "(character, first, second or 0).", "(u32, u32, u32)", decompositions()))
    entries, parts = compatible()
    print(array("COMPATIBLE", "(character, place in COMPATIBLE_PARTS, how many).", "(u32, u16, u8)", entries))
    print(array("COMPATIBLE_PARTS", "Characters that others are decomposed into.", "u32", parts))
    print(array("COMPOSITIONS", "(first, second, whole).", "(u32, u32, u32)", pairs))
    print(array("COMBINING", "(character, class), where it is not 0.", "(u32, u8)", classes), end="")


if __name__ == "__main__":
    main()
