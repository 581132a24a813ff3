"""Write arrowprep/tokenize/character_runs.py: characters side by side that usual sets do not tell apart.

    python tools/make_character_runs.py > arrowprep/tokenize/character_runs.py

Everything is asked of the reference engine's patterns.
"""

from __future__ import annotations

import string
import sys
import textwrap
from array import array
from base64 import b64encode
from itertools import groupby

from arrowprep.tokenize.native_sets import BASIC, every_member

HEAD = '''"""Characters side by side that usual sets do not tell apart; by tools/make_character_runs.py."""

# of every code point from U+0000 on, a letter for its kind, once for those of one kind side by side
LETTERS = (
'''
COUNTS = """# how many these are: 16 bits each, the lower ones first, in base64
COUNTS = (
"""
MOST = (1 << 16) - 1
WIDTH = 100


def main() -> None:
    kinds: dict[tuple[bool, ...], str] = {}
    rows = [[False] * 0x110000 for _ in BASIC]
    for row, source in zip(rows, BASIC, strict=True):
        edges = every_member(source, turkish=True).tolist()
        for start, stop in zip(edges[::2], edges[1::2], strict=True):
            row[start:stop] = [True] * (stop - start)
    letters = iter(string.ascii_letters)
    written, counts = "", array("H")
    for kind, run in groupby(zip(*rows, strict=True)):
        if kind not in kinds:
            kinds[kind] = next(letters)
        count = sum(1 for _ in run)
        parts = [*[MOST] * (count // MOST), count % MOST]
        written += kinds[kind] * len(parts)
        counts.extend(parts)
    if sys.byteorder == "big":
        counts.byteswap()
    for head, text in ((HEAD, written), (COUNTS, b64encode(counts.tobytes()).decode())):
        print(head + "\n".join(f'    b"{line}"' for line in textwrap.wrap(text, WIDTH)) + "\n)")
    print("# the kinds that usual sets have\nKINDS = {")
    for number, source in enumerate(BASIC):
        print(f'    r"{source}": "{"".join(letter for kind, letter in kinds.items() if kind[number])}",')
    print("}")


if __name__ == "__main__":
    main()
