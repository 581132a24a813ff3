"""Composite: several components of a family, one after the other; what every family's `Sequence` shares."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator
from typing import Any, ClassVar, Generic, TypeVar

from arrowprep.errors import WrongType
from arrowprep.tokenize.component import Component, Spec

P = TypeVar("P", bound=Component)
S = TypeVar("S", bound="Composite[Any]")


class Composite(Component, Generic[P]):
    """Reads like a sequence of its parts; `sequence[0] = part` sets one.

    The family's class says of which class the parts are, under which name they are held
    (`held`: an attribute, and the key of their list in a tokenizer.json), how one is read,
    and what doing them in turn means.
    """

    kind = "Sequence"
    family: ClassVar[type[Component]]
    held: ClassVar[str]
    read_part: ClassVar[Callable[[Spec], Any]]

    def __init__(self, parts: Iterable[P]) -> None:
        setattr(self, self.held, tuple(map(self._checked, parts)))

    @classmethod
    def _checked(cls, part: P) -> P:
        if not isinstance(part, cls.family):
            raise WrongType(
                f"a sequence of {cls.held} has no {type(part).__name__}", given=type(part).__name__
            )
        return part

    @property
    def parts(self) -> tuple[P, ...]:
        held: tuple[P, ...] = self.__dict__[self.held]
        return held

    def __len__(self) -> int:
        return len(self.parts)

    def __getitem__(self, index: int) -> P:
        return self.parts[index]

    def __setitem__(self, index: int, part: P) -> None:
        parts = list(self.parts)
        parts[index] = self._checked(part)
        setattr(self, self.held, tuple(parts))

    def __iter__(self) -> Iterator[P]:
        return iter(self.parts)

    def snapshot(self: S) -> S:
        twin = copy.copy(self)
        setattr(twin, self.held, tuple(part.snapshot() for part in self.parts))
        return twin

    @classmethod
    def from_json(cls: type[S], spec: Spec) -> S:
        return cls(cls.read_part(part) for part in spec.objects(cls.held))

    def to_json(self) -> dict[str, Any]:
        return {"type": self.kind, self.held: [part.to_json() for part in self.parts]}
