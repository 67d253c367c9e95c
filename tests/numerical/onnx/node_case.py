"""Nodes with their operands, as the cases of tests that compare a node with a reference."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tests.numerical.onnx.conversion import check, node
from tests.numerical.runtime import Array

Options = Mapping[str, Any]

STATIC: dict[str, Any] = {"forms": ["static"]}
DYNAMIC: dict[str, Any] = {"forms": ["dynamic"]}
WITH_RANK: dict[str, Any] = {"forms": ["static", "dynamic"]}
WITHOUT_RANK: dict[str, Any] = {"forms": ["rank"]}
"""Options of `check` for what a model says about the shapes of its inputs."""

EVALUATED: dict[str, Any] = {"reference": "onnx"}
"""Options of `check` for nodes that ONNX Runtime does not compute, or computes wrongly."""

COMPLETE: dict[str, Any] = {"complete": True}
"""Options of `check` for a conversion with all passes."""


@dataclass(frozen=True)
class NodeCase:
    """A node.

    Args:
        kind: its kind.
        inputs, constants: its operands, by name.
        operands: the names of its operands in order, - for an absent one; by default those of inputs, then of constants.
        attributes: its attributes.
        outputs: the names of its results.
        options: further arguments of `check`.
    """

    kind: str
    inputs: Mapping[str, Array]
    constants: Mapping[str, Array] = field(default_factory=dict[str, Array])
    operands: str = ""
    attributes: Options = field(default_factory=dict[str, Any])
    outputs: Sequence[str] = ("y",)
    options: Options = field(default_factory=dict[str, Any])

    def check(self) -> None:
        """Compare the converted node with its reference."""
        names = ["" if name == "-" else name for name in self.operands.split()] or [*self.inputs, *self.constants]
        nodes = [node(self.kind, names, list(self.outputs), **self.attributes)]
        check(nodes, self.inputs, constants=self.constants, **self.options)


def normal_numbers(generator: np.random.Generator) -> Callable[..., Any]:
    """A function that gives an f32 array of a shape, whose elements are drawn from the normal distribution."""

    def real(*shape: int) -> Any:
        return generator.standard_normal(shape).astype(np.float32)

    return real
