"""A graph of TensorFlow as the model of a case: placeholders, constants, one function of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import tensorflow as tf

from tests.fuzz.case import Case, Contents, Reference
from tests.fuzz.draw import Array, Draw, NoCase
from tests.numerical.tensorflow.conversion import expected_results

Build = Callable[..., Any]
"""Takes a tensor for each operand, by name; returns a tensor or several."""


def pairs(array: Array) -> Array:
    """A complex array in its real layout; any other array as it is."""
    return np.stack([array.real, array.imag], axis=-1) if np.iscomplexobj(array) else array


def complex_array(array: Array) -> Array:
    """The complex array of a real layout."""
    return array[..., 0] + array.dtype.type(1) * 1j * array[..., 1]


KINDS: Mapping[str, str] = {
    "AddV2": "Add",
    "ClipByValue": "Clip",
    "ConcatV2": "Concat",
    "FloorMod": "Mod",
    "Max": "ReduceMax",
    "Maximum": "Max",
    "Min": "ReduceMin",
    "Minimum": "Min",
    "Prod": "ReduceProd",
    "RealDiv": "Div",
    "Sum": "ReduceSum",
    "TruncateMod": "Mod",
}
"""Operations that ONNX has by another name."""


@dataclass(frozen=True)
class GraphModel:
    """A graph with its outputs.

    Args:
        graph: the graph.
        outputs: names of its outputs.
        complex_inputs: names of the inputs that are complex.
        text: the model in one line.
    """

    graph: tf.Graph
    outputs: Sequence[str]
    complex_inputs: frozenset[str]
    text: str

    def save(self, folder: Path) -> Path:
        """Write the graph as a frozen model."""
        path = folder / "model.pb"
        # Loops leave results behind that nobody uses: those are no outputs here.
        needed = tf.compat.v1.graph_util.extract_sub_graph(self.graph.as_graph_def(), list(self.outputs))
        path.write_bytes(needed.SerializeToString())
        return path

    def describe(self) -> str:
        """The model in one line."""
        return self.text

    def compute(self, inputs: Mapping[str, Array]) -> list[Array]:
        """What TensorFlow computes, complex results in their real layout."""
        given = {name: complex_array(array) if name in self.complex_inputs else array for name, array in inputs.items()}
        return [pairs(array) for array in expected_results(self.graph, self.outputs, given)]

    def contents(self, inputs: Mapping[str, Array]) -> Contents:
        """The operations, by the names of ONNX, and the values."""
        values, operations = dict[str, Array](inputs), list[tf.Operation]()
        for operation in self.graph.get_operations():
            if operation.type == "Const":
                values[operation.name] = tf.make_ndarray(operation.get_attr("value"))
            elif operation.type not in ("Placeholder", "Identity"):
                operations.append(operation)
        kinds = [KINDS.get(operation.type, operation.type) for operation in operations]
        names = [each.op.name for each in operations[0].inputs] if len(operations) == 1 else []
        single = (kinds[0], [values[name] for name in names]) if names and all(name in values for name in names) else None
        placeholders = [operation for operation in self.graph.get_operations() if operation.type == "Placeholder"]
        known = all(operation.outputs[0].shape.rank is not None for operation in placeholders)
        return Contents(frozenset(kinds), [*values.values()], known, single)

    def references(self) -> Sequence[tuple[str, Reference]]:
        """TensorFlow."""
        return [("TensorFlow", self.compute)]

    @property
    def guesses_empty_shapes(self) -> bool:
        """TensorFlow computes the shapes of empty results."""
        return False

    def check(self, expected: Sequence[Array]) -> None:
        """Any result of TensorFlow is right."""
        del expected


class Declare(Protocol):
    """What a placeholder says of its shape."""

    def __call__(self, draw: Draw, array: Array, *, fixed: bool) -> list[int | None] | None:
        """The shape that is said of the operand, given its value. `fixed` are operands whose shape any model says."""
        ...


def declared(draw: Draw, array: Array, *, fixed: bool) -> list[int | None] | None:
    """Everything, some dimensions, only the rank, or nothing."""
    if fixed:
        return list(array.shape)
    match draw.one_of(("static", "static", "some", "rank", "nothing")):
        case "static":
            return list(array.shape)
        case "some":
            return [None if draw.chance(0.5) else size for size in array.shape]
        case "rank":
            return [None] * array.ndim
        case _:
            return None


def graph_case(
    draw: Draw,
    subject: str,
    function: Build,
    operands: Mapping[str, Array],
    structural: Sequence[str] = (),
    fixed: Sequence[str] = (),
    say: Declare = declared,
    computed: float = 0.05,
) -> Case:
    """The case of a function of operands, each of which is a placeholder or a constant.

    `structural` operands, such as axes, are placeholders with the probability `computed`; the shapes of `fixed` operands are
    said in any case. `say` is what placeholders say of their shapes. Raises NoCase if TensorFlow does not build the graph.
    """
    is_constant = {name: draw.chance(1 - computed if name in structural else 0.15) for name in operands}
    if all(is_constant.values()):
        is_constant[next(iter(operands))] = False
    inputs = {name: array for name, array in operands.items() if not is_constant[name]}
    graph, said = tf.Graph(), dict[str, Any]()
    with graph.as_default():
        tensors: dict[str, Any] = {}
        for name, array in operands.items():
            type_ = tf.string if array.dtype.kind in "OUS" else tf.as_dtype(array.dtype)
            if is_constant[name]:
                tensors[name] = tf.constant(array, type_)
                continue
            said[name] = say(draw, array, fixed=name in fixed)
            tensors[name] = tf.compat.v1.placeholder(type_, said[name], name)
        try:
            result = tf.nest.flatten(function(**tensors))
        except (ValueError, TypeError, tf.errors.OpError) as error:
            raise NoCase(str(error)) from None
        outputs = [tf.identity(each, name=f"out_{index}").op.name for index, each in enumerate(result)]
    texts = [
        f"{name}: {array.dtype}{list(array.shape)}" + (f" as {said[name]}" if name in said else " constant")
        for name, array in operands.items()
    ]
    model = GraphModel(
        graph, outputs, frozenset(name for name in inputs if np.iscomplexobj(inputs[name])), f"{subject}({', '.join(texts)})"
    )
    return Case(subject, model, {name: pairs(array) for name, array in inputs.items()}, outputs)
