"""Pre-tokenizers as stages of the kernel: each changes the pieces of the one before, and cuts them."""

from __future__ import annotations

from collections.abc import Iterable
from ctypes import addressof
from typing import TYPE_CHECKING, NamedTuple

from arrowprep.tokenize.native_library import StageParts
from arrowprep.tokenize.native_models import Unsupported
from arrowprep.tokenize.native_steps import BYTES, FIRST, LEAD, REPLACE, FlatSteps, Step
from arrowprep.tokenize.oniguruma import Pattern
from arrowprep.tokenize.pre_tokenizers import ByteLevel, Metaspace, PreTokenizer
from arrowprep.tokenize.pre_tokenizers.byte_level import WORDS as WORDS_OF_GPT2

if TYPE_CHECKING:
    from arrowprep.tokenize.native_layers import Cut, Programs


class Stage(NamedTuple):
    """Steps that change each piece, and programs that cut it then."""

    steps: list[Step]
    programs: Programs | None = None


def stages_of(leaves: Iterable[PreTokenizer], *, spaced: bool = False) -> list[Stage]:
    """What any pre-tokenizers do. Raises Unsupported.

    spaced: whether a space goes before each piece in the end
    """
    found = _Stages()
    for leaf in leaves:
        if isinstance(leaf, Metaspace) and type(leaf) is Metaspace:
            found.metaspace(leaf)
        elif isinstance(leaf, ByteLevel) and type(leaf) is ByteLevel:
            found.byte_level(leaf)
        else:
            found.cut(leaf)
    if spaced:
        found.change(Step(LEAD))
    return found.stages()


class _Stages:
    """Steps and cuts in order; a step behind a cut begins a stage."""

    def __init__(self) -> None:
        self._parts: list[tuple[list[Step], list[Cut]]] = []

    def change(self, step: Step) -> None:
        if not self._parts or self._parts[-1][1]:
            self._parts.append(([], []))
        self._parts[-1][0].append(step)

    def cut(self, leaf: PreTokenizer) -> None:
        from arrowprep.tokenize.native_layers import layers_of
        from arrowprep.tokenize.pattern_syntax import Unknown

        try:
            self._cut_by(layers_of(leaf))
        except Unknown as problem:
            raise Unsupported(str(problem)) from problem

    def _cut_by(self, layers: list[Cut]) -> None:
        if not self._parts:
            self._parts.append(([], []))
        self._parts[-1][1].extend(layers)

    def metaspace(self, leaf: Metaspace) -> None:
        """A space becomes a character like any other here."""
        from arrowprep.tokenize.native_layers import Layer

        if leaf.replacement != " ":
            self.change(Step(REPLACE, texts=(" ", leaf.replacement)))
        if leaf.prepend_scheme != "never":
            self.change(Step(LEAD, FIRST * (leaf.prepend_scheme == "first"), (leaf.replacement, "")))
        if leaf.split:
            self._cut_by([Layer(Pattern(leaf.replacement, literal=True), "merged_with_next")])

    def byte_level(self, leaf: ByteLevel) -> None:
        """Bytes are spelled in characters."""
        from arrowprep.tokenize.native_layers import Layer

        if leaf.add_prefix_space:
            self.change(Step(LEAD))
        if leaf.use_regex:
            self._cut_by([Layer(WORDS_OF_GPT2, "isolated")])
        self.change(Step(BYTES))

    def stages(self) -> list[Stage]:
        from arrowprep.tokenize.native_layers import compiled
        from arrowprep.tokenize.pattern_syntax import Unknown

        try:
            return [Stage(steps, compiled(tuple(cuts)) if cuts else None) for steps, cuts in self._parts]
        except Unknown as problem:
            raise Unsupported(str(problem)) from problem


class FlatStages:
    """Stages for the kernel, which keeps nothing of them; `parts` holds as long as this does."""

    def __init__(self, stages: list[Stage]) -> None:
        self._steps = [FlatSteps(stage.steps) for stage in stages]
        self._layers = [stage.programs.structure() if stage.programs else None for stage in stages]
        pairs = zip(self._steps, self._layers, strict=True)
        parts = [StageParts(steps.parts, addressof(layers) if layers else None) for steps, layers in pairs]
        # a type of ctypes takes 40 us to make
        self.parts = parts[0] if len(parts) == 1 else (StageParts * len(parts))(*parts) if parts else None
