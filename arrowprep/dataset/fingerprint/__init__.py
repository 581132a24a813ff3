"""Names for content: equal meaning has an equal name, in another process, on another day, in a notebook.

    fingerprint_of(tokenize)     32 hex digits over its code, defaults, captured values, and the module-level
                                 values and helper functions of the user's own modules that it reads
    describe(tokenize)           what that name is made of, to explain why it differs from another
    combine(parent, "map", ...)  the name of a result, from the names of what it was made from

An object with a `fingerprint` attribute (a str) is named by it and its class, and is not looked into. What
holds a lock, an open file or a running generator raises Unnameable, which says how it was reached.
A function does not differ by its file, lines, comments, docstring, annotations or the order of a set in
it; it does by the version of Python, whose instructions differ, and by those of the libraries it calls.
"""

from arrowprep.dataset.fingerprint.hashing import Hasher, combine, describe, fingerprint_of
from arrowprep.dataset.fingerprint.transforms import (
    fingerprint_transform,
    generate_fingerprint,
    update_fingerprint,
)
from arrowprep.errors import Unnameable

__all__ = [
    "Hasher",
    "Unnameable",
    "combine",
    "describe",
    "fingerprint_of",
    "fingerprint_transform",
    "generate_fingerprint",
    "update_fingerprint",
]
