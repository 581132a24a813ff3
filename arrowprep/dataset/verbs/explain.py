"""Why a result is, or is not, found in the cache: which parts of its name differ from the nearest entry's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from arrowprep.dataset.storage.cache import Cache
from arrowprep.dataset.storage.shelf import results
from arrowprep.dataset.storage.shelved import Shelved
from arrowprep.dataset.verbs.naming import name_parts, result_name
from arrowprep.dataset.verbs.spec import MapSpec, label_of
from arrowprep.dataset.view import View
from arrowprep.errors import Unnameable

_FAR = 6  # parts; an entry that differs in more and has another function is not what was meant


@dataclass(frozen=True)
class Difference:
    """One part of a name: what it is now, and what it was. None: there is no such part."""

    part: str
    before: str | None
    now: str | None

    def __str__(self) -> str:
        if self.before is None:
            return f"{self.part}: new ({_short(self.now)})"
        if self.now is None:
            return f"{self.part}: gone (it was {_short(self.before)})"
        if _is_hash(self.before) and _is_hash(self.now):
            return f"{self.part}: changed"
        return f"{self.part}: {_short(self.before)} → {_short(self.now)}"


@dataclass(frozen=True)
class Explanation:
    """Whether a map or filter would be found, and if not, why.

    fingerprint: the name of the result; None for a function that cannot be named
    nearest: the entry with the fewest other parts, which `differences` compares with
    reason: what else there is to say
    """

    hit: bool
    fingerprint: str | None
    differences: tuple[Difference, ...] = ()
    nearest: Path | None = None
    reason: str = ""

    def __str__(self) -> str:
        if self.hit:
            return f"hit: {self.nearest}"
        lines = [f"miss: {self.reason}", *(f"  {difference}" for difference in self.differences)]
        return "\n".join(lines)

    __repr__ = __str__


def explain(view: View, spec: MapSpec, operation: str, cache: Cache, name: str | None) -> Explanation:
    """Look for the result of a map or filter without computing it. name: given as `new_fingerprint`."""
    try:
        name = name or result_name(view, spec, operation)
        parts = name_parts(view, spec, operation)
    except Unnameable as why:
        return Explanation(False, None, reason=f"the function cannot be named, so nothing is kept: {why}")
    found = cache.find(name) or cache.find_rows(name)
    if found is not None:
        return Explanation(True, name, nearest=cache.path(name))
    shelf = results(cache.folder)
    near = _nearest(parts, label_of(spec.function), shelf)
    if near is None:
        return Explanation(False, name, reason=f"no {operation} like this is in {cache.folder}")
    differences = compare(near.note["key"], parts)
    shown = _told(differences, {entry.fingerprint: entry for entry in shelf})
    if not shown:
        return Explanation(
            False,
            name,
            (),
            near.files[0],
            f"{near.files[0].name} is the entry, but it cannot be read, or lacks a part",
        )
    return Explanation(
        False,
        name,
        shown,
        near.files[0],
        f"the nearest entry, {near.files[0].name}, differs in {len(shown)} part(s):",
    )


def compare(before: Mapping[str, str], now: Mapping[str, str]) -> tuple[Difference, ...]:
    """The parts that differ."""
    return tuple(
        Difference(part, before.get(part), now.get(part))
        for part in dict.fromkeys([*now, *before])
        if before.get(part) != now.get(part)
    )


def _nearest(parts: Mapping[str, str], function: str, shelf: list[Shelved]) -> Shelved | None:
    """The entry of the same operation with the fewest differences; of equals, the one with the same
    function, then the one that was made last."""
    ranked = []
    for entry in shelf:
        key: Any = entry.note.get("key")
        if not isinstance(key, Mapping) or key.get("operation") != parts["operation"]:
            continue
        distance = len(_told(compare(key, parts), {}))
        same = entry.function == function
        if same or distance <= _FAR:
            ranked.append((distance, not same, -entry.made, entry.fingerprint, entry))
    return min(ranked)[-1] if ranked else None


def _told(differences: tuple[Difference, ...], shelf: Mapping[str, Shelved]) -> tuple[Difference, ...]:
    """Where the data is other data: which files are, or what differs in the steps that made it."""
    data = next((d for d in differences if d.part == "data"), None)
    others = tuple(d for d in differences if d.part != "data" and not d.part.startswith("file "))
    if data is None:
        return others  # the same content under other paths
    files = tuple(d for d in differences if d.part.startswith("file "))
    if files:
        return (*files, *others)
    before, now = shelf.get(data.before or ""), shelf.get(data.now or "")
    if before is None or now is None or "key" not in before.note or "key" not in now.note:
        return differences
    deeper = _told(compare(before.note["key"], now.note["key"]), shelf)
    return (*(replace(d, part=f"in the data, {d.part}") for d in deeper), *others)


def _is_hash(text: str) -> bool:
    text = text.strip("'")
    return len(text) >= 16 and all(c in "0123456789abcdef" for c in text)


def _short(text: str | None) -> str:
    text = str(text)
    return text if len(text) <= 80 else text[:77] + "..."
