"""What a case is, whichever framework it is of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from tests.fuzz.draw import Array, Draw

Reference = Callable[[Mapping[str, Array]], list[Array]]
"""Computes the expected results from the inputs, by name. Raises any exception if it cannot."""


@dataclass(frozen=True)
class Contents:
    """What a model is made of.

    Args:
        kinds: its operations, those in bodies included, by the names of ONNX.
        operands: the values of its inputs and constants.
        ranks_are_known: whether it says the ranks of its inputs.
        node: the kind and the operands, in their order, of a model of one operation.
    """

    kinds: frozenset[str]
    operands: Sequence[Array]
    ranks_are_known: bool
    node: tuple[str, Sequence[Array]] | None


class Source(Protocol):
    """A model of some framework."""

    def save(self, folder: Path) -> Path:
        """Write the model into a folder; the file that moir is given."""
        ...

    def describe(self) -> str:
        """The model in one line, for a report."""
        ...

    def references(self) -> Sequence[tuple[str, Reference]]:
        """What computes the model, by name, the best one first."""
        ...

    def contents(self, inputs: Mapping[str, Array]) -> Contents:
        """What the model is made of, given the values of its inputs."""
        ...

    @property
    def guesses_empty_shapes(self) -> bool:
        """Whether only the first dimension of an empty result means something."""
        ...

    def check(self, expected: Sequence[Array]) -> None:
        """Raise NoCase if what a reference computed cannot be right."""
        ...


@dataclass(frozen=True)
class Case:
    """A model with inputs.

    Args:
        subject: the operation or the pattern it is about; defects are grouped by it.
        source: the model.
        inputs: values of its inputs, in their order.
        outputs: names of its outputs, in their order.
        steps: how far each output may be off because kernels round on the way; none at all without an entry.
        limits_infinities: whether kernels may have the largest number of a type where the result is infinite.
    """

    subject: str
    source: Source
    inputs: Mapping[str, Array]
    outputs: Sequence[str]
    steps: Sequence[float] = ()
    limits_infinities: bool = False


class Generator(Protocol):
    """Draws cases of one subject."""

    def __call__(self, draw: Draw, only: str) -> Case:
        """A case whose subject matches a glob. Raises NoCase if what was drawn is none."""
        ...
