"""NFC, NFD, NFKC and NFKD."""

from __future__ import annotations

from arrowprep.errors import BadArgument
from arrowprep.tokenize.aligned import Aligned
from arrowprep.tokenize.component import Spec
from arrowprep.tokenize.normalizers.base import Normalizer
from arrowprep.tokenize.unicode_normal import normal_form


class _UnicodeForm(Normalizer):
    """A normalization form by the tables of Unicode 9.0: U+32FF, for one, stays as it is.

    A composed character stands for its *first* source character only ("e" and an
    accent under NFC: the offsets of é are those of the e); of a character that is
    expanded, each result stands for all of it.
    """

    @classmethod
    def from_json(cls, spec: Spec) -> _UnicodeForm:
        return cls()

    def apply(self, text: Aligned) -> Aligned:
        if text.text.isascii():
            return text  # without the tables, which take longer to make than a short text
        form = normal_form(self.kind)
        if not form.suspect.search(text.text) or not form.affected.search(text.text):
            return text
        return text.changed(form.text_changes(text.text))

    def normalize_str(self, sequence: str) -> str:
        return sequence if sequence.isascii() else normal_form(self.kind).normalize(sequence)


class NFC(_UnicodeForm):
    """Canonical composition."""

    kind = "NFC"


class NFD(_UnicodeForm):
    """Canonical decomposition."""

    kind = "NFD"


class NFKC(_UnicodeForm):
    """Compatibility decomposition, then composition."""

    kind = "NFKC"


class NFKD(_UnicodeForm):
    """Compatibility decomposition."""

    kind = "NFKD"


def unicode_normalizer_from_str(normalizer: str) -> Normalizer:
    """The normalizer of a form named "nfc", "nfd", "nfkc" or "nfkd"."""
    forms: dict[str, type[Normalizer]] = {"nfc": NFC, "nfd": NFD, "nfkc": NFKC, "nfkd": NFKD}
    if normalizer not in forms:
        raise BadArgument(f"no Unicode form {normalizer!r}; there are {', '.join(forms)}", form=normalizer)
    return forms[normalizer]()
