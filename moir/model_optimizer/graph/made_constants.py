"""Constants that extensions create without an element type, which is inferred from the other operands.

    Mul(graph, {}).create_node([x, Const(graph, {"value": 2.0}).create_node()])

By default Python's numbers and numpy's arrays are f64 and i64, while the data of models is f32. In the front phase
element types are unknown: `match_constants` puts a `mo.ConstantLike` between such a constant and the operation, when
the last transformation of the phase is done. In the other phases `align` converts the constant. A constant without
such a tensor, like the scales of an Interpolate, is converted from f64 to f32, since all floats of a model were f32 in
Model Optimizer.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from xdsl.ir import Operation, SSAValue

from moir.dialects.data import Array, DataAttr
from moir.dialects.element_types import dynamic, f64, to_numpy
from moir.dialects.framework import FrameworkOp
from moir.dialects.opset.infrastructure import Constant, Parameter
from moir.dialects.properties import string_attribute
from moir.dialects.python_object import python_entries
from moir.dialects.shapes import element_of, tensor
from moir.model_optimizer.block.operation_names import op_names
from moir.model_optimizer.block.sentinels import is_value, nodes_of
from moir.model_optimizer.block.view import BlockView
from moir.model_optimizer.frameworks.lookup import view_of_operation
from moir.model_optimizer.graph.creation import MADE, create_operation

CONSTANT_LIKE = "ConstantLike"
"""The `op` of the operation that converts a constant to the element type of another tensor."""

_ALL = tuple(range(1 << 8))

_OPERANDS: dict[str, tuple[int, ...]] = {
    **dict.fromkeys(
        (
            *("Add", "Sub", "Mul", "Div", "Pow", "Power", "Maximum", "Minimum", "Mod", "FloorMod", "SquaredDifference"),
            *("Multiply", "Subtract", "Divide", "RealDiv", "Equal", "NotEqual", "Greater", "GreaterEqual", "Less", "LessEqual"),
            *("Eltwise", "EltwiseN", "Concat", "PReLU", "Clamp", "FakeQuantize", "ScaleShift", "BiasAdd", "batchNormInference"),
            *("MatMul", "FullyConnected", "Convolution", "Conv", "Conv2D", "Deconvolution", "Gemm"),
        ),
        _ALL,
    ),
    "Select": (1, 2),
    "Pad": (0, 3),
    "TFPad": (0, 2),
    "ONNXPad": (0, 2),
}
"""`op` of an operation -> the indices of its operands that have a common element type."""


def _operands(op: Operation) -> list[int]:
    """The indices of the operands of an operation that must have one element type; empty if its kind needs none.

    Absent operands, and the last operand of a kind in `axis_last`, are left out.
    """
    listed = next((_OPERANDS[name] for name in op_names(op, python_entries(op)) if name in _OPERANDS), ())
    count = len(op.operands) - (isinstance(op, FrameworkOp) and op.KIND in view_of_operation(op).axis_last)
    return [index for index in listed if index < count and is_value(op.operands[index])]


def is_made(value: SSAValue) -> bool:
    """Whether a value is a constant that an extension made without an element type."""
    return isinstance(value.owner, Constant) and bool(python_entries(value.owner).get(MADE))


def _pairs(op: Operation) -> Iterator[tuple[int, Constant, SSAValue]]:
    """For each operand of an operation that is a constant made without an element type: its index, the constant, and
    the tensor whose element type it takes.
    """
    if not any(is_made(operand) for operand in op.operands):
        return
    numbers = _operands(op)
    other = next((op.operands[index] for index in numbers if not isinstance(op.operands[index].owner, Constant)), None)
    if other is None:
        # If all operands are constants, the type is that of one which the model itself has.
        other = next((op.operands[index] for index in numbers if not is_made(op.operands[index])), None)
    if other is None:
        return
    for index in numbers:
        if is_made(op.operands[index]):
            constant = op.operands[index].owner
            assert isinstance(constant, Constant)
            yield index, constant, other


def converted(array: Array, storage: np.dtype[Any]) -> Array | None:
    """The values in the numpy type `storage`; None if that type cannot represent them."""
    if storage.kind not in "fiu" or array.dtype.kind not in "fiu":
        return None
    if storage.kind == "f":
        return array.astype(storage)
    if array.dtype.kind == "f" and not np.array_equal(array, np.trunc(array)):
        return None
    limits = np.iinfo(storage)
    return array.astype(storage) if array.size == 0 or (array.min() >= limits.min and array.max() <= limits.max) else None


def _alone(op: Operation) -> list[int]:
    """The indices of operands that are f64 only because extensions made constants without an element type.

    None of them if another operand is f64. Constants that take the element type of another operand are left out.
    """
    if not any(is_made(operand) and element_of(operand) == f64 for operand in op.operands):
        return []
    if any(element_of(operand) == f64 and not is_made(operand) for operand in op.operands if is_value(operand)):
        return []
    paired = {index for index, _, _ in _pairs(op)}
    return [index for index, each in enumerate(op.operands) if index not in paired and is_made(each) and element_of(each) == f64]


def _in_single_precision(graph: BlockView, op: Operation) -> None:
    for index in _alone(op):
        constant = op.operands[index].owner
        assert isinstance(constant, Constant)
        _replace(graph, op, index, constant, DataAttr.of(constant.value.array.astype(np.float32)))


def _replace(graph: BlockView, op: Operation, index: int, constant: Constant, data: DataAttr) -> None:
    """Replace the constant at operand `index` of an operation, made by an extension, by a constant with other data."""
    made = Constant.create(properties={"value": data}, result_types=[tensor(data.shape, data.element)])
    name = graph.id_of(constant)
    made.attributes["name"] = string_attribute(graph.unique_id(f"{name}/like"))
    graph.block.insert_op_before(made, op)
    graph.identifiers.add(made, None)
    op.operands[index] = made.results[0]


def match_constants(graph: BlockView) -> None:
    """Give the constants that extensions made in the front phase the element types of the other operands."""
    is_double = any(isinstance(each, Parameter) and element_of(each.results[0]) == f64 for each in graph.block.ops)
    for op in list(nodes_of(graph.block)):
        if not is_double:
            _in_single_precision(graph, op)
        for index, constant, other in list(_pairs(op)):
            name = f"{graph.id_of(constant)}/like"
            like = create_operation(graph, {"op": CONSTANT_LIKE, "name": name, "in_ports_count": 2})
            graph.set_operand(like, 0, constant.results[0])
            graph.set_operand(like, 1, other)
            graph.set_operand(op, index, like.results[0])


def align(graph: BlockView, op: Operation) -> None:
    """Convert untyped constants of extensions to the element type of the other operands, for operations that need one
    type.
    """
    for index, constant, other in list(_pairs(op)):
        element = element_of(other)
        if element in (dynamic, element_of(constant.results[0])):
            continue
        values = converted(constant.value.array, to_numpy(element))
        if values is None:
            continue
        _replace(graph, op, index, constant, DataAttr.of(values, element))
    _in_single_precision(graph, op)
