"""Networks of layers for frameworks that nothing runs any more: numpy computes each layer while it is drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from tests.fuzz.case import Case, Contents, Reference
from tests.fuzz.draw import Array, Draw, NoCase

LARGEST = 1e4
"""Larger numbers are not drawn further: differences of sums of them say nothing."""


@dataclass(frozen=True)
class Layer:
    """A layer of a network, and what it computes.

    Args:
        kind: its kind in the framework.
        result: what it computes.
        attributes: its attributes, as the framework writes them.
        others: operands after the first one, which are inputs of the network.
        weights: operands after these, which are stored with the network.
        onnx: the kind of ONNX that computes the same, by which faults of the plugin are recognised.
    """

    kind: str
    result: Array
    attributes: Mapping[str, str] = field(default_factory=dict[str, str])
    others: Sequence[Array] = ()
    weights: Sequence[Array] = ()
    onnx: str = ""


Recipe = Callable[[Draw, Array], Layer]
"""Draws a layer of an operand. Raises NoCase if it takes no such operand."""


@dataclass(frozen=True)
class Network:
    """A chain of layers.

    Args:
        layers: the layers, each of the result of the one before.
        first: the operand of the first layer.
        knows_sizes: whether the network says the sizes of its inputs.
        write: writes it in the form of a framework.

    """

    layers: Sequence[Layer]
    first: Array
    knows_sizes: bool
    write: Callable[[Network, Path], Path]

    @property
    def inputs(self) -> dict[str, Array]:
        """The inputs by their names: `x`, and `x2_1` for the second operand of layer 1."""
        names = {"x": self.first}
        for number, layer in enumerate(self.layers):
            names |= {f"x{number}_{index}": each for index, each in enumerate(layer.others)}
        return names

    def save(self, folder: Path) -> Path:
        return self.write(self, folder)

    def describe(self) -> str:
        layers = [
            f"{layer.kind} {dict(layer.attributes)} {[each.shape for each in (*layer.others, *layer.weights)]}" for layer in self.layers
        ]
        return f"x{list(self.first.shape)}{'' if self.knows_sizes else ' of unknown sizes'}: {'; '.join(layers)}"

    def references(self) -> Sequence[tuple[str, Reference]]:
        return [("numpy", lambda _: [self.layers[-1].result])]

    def contents(self, inputs: Mapping[str, Array]) -> Contents:
        operands = [*inputs.values(), *(each for layer in self.layers for each in layer.weights)]
        kinds = frozenset(layer.onnx or layer.kind for layer in self.layers)
        only = self.layers[0] if len(self.layers) == 1 else None
        return Contents(kinds, operands, ranks_are_known=True, node=None if only is None else (only.onnx or only.kind, operands))

    @property
    def guesses_empty_shapes(self) -> bool:
        return False

    def check(self, expected: Sequence[Array]) -> None:
        """Nothing: numpy computes what the layers mean."""


def drawn_network(
    draw: Draw,
    recipes: Mapping[str, Recipe],
    names: Sequence[str],
    shape: Sequence[int],
    write: Callable[[Network, Path], Path],
    known: float,
    suffix: str = "",
) -> Case:
    """A chain of up to four layers, of which the first is the subject, with known sizes with a probability.

    The name of a result is that of its layer with a suffix.
    """
    subject = draw.subject(names)
    first = draw.array(np.dtype(np.float32), shape, special=0)
    value, layers = first, list[Layer]()
    for number in range(draw.one_of((1, 1, 2, 3, 4))):
        name = subject if number == 0 else draw.one_of([*recipes])
        with np.errstate(all="ignore"):
            try:
                layer = recipes[name](draw, value)
            except NoCase:
                if number == 0:
                    raise
                continue
        if layer.result.size and not np.all(np.abs(layer.result) < LARGEST):
            if number == 0:
                raise NoCase("numbers that are too large")
            break
        value = np.asarray(layer.result, np.float32)
        layers.append(replace(layer, result=value))
    network = Network(layers, first, draw.chance(known), write)
    return Case(subject, network, network.inputs, [f"layer{len(layers) - 1}{suffix}"])
