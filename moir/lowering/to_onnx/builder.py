"""Construction of operations of the `onnx` dialect: `op.Softmax(x, axis=-1)`.

Operands that are not values become constants: a number takes the element type of the first value among the operands of
an elementwise operation; elsewhere integers are i64 and floats f32. An attribute that is None is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias, cast

import numpy as np
from xdsl.ir import Attribute, Block, Operation, SSAValue

from moir.dialects import opset
from moir.dialects.data import Array, DataAttr
from moir.dialects.element_types import boolean, describe, dynamic, f32, is_element_type, si64, to_numpy
from moir.dialects.framework import operation_class
from moir.dialects.frameworks.onnx import NUMBERS
from moir.dialects.inference import set_type
from moir.dialects.large_arrays import Values
from moir.dialects.locations import located
from moir.dialects.moir import NoneOp
from moir.dialects.properties import attribute_of, integer_attribute
from moir.dialects.shapes import element_of, rank_of, shape_of, tensor
from moir.errors import UnsupportedOperationError

Operand: TypeAlias = SSAValue | float | bool | Sequence[int] | Sequence[float] | Values | None
"""A value, a Python or numpy value that becomes a constant, or None for an absent operand."""

_WITH_INDICES = frozenset(("TopK", "MaxPool", "Unique"))
"""Kinds whose results after the first one are indices or counts of type i64."""

LARGEST_FOLDED = 1 << 10
"""The maximum size in bytes of constants that are converted or reshaped by the builder, instead of by an operation."""

_COMPARISONS = ("Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual")
_ELEMENTWISE = frozenset(("Add", "Sub", "Mul", "Div", "Pow", "Max", "Min", "Mod", "Where", "Clip", "PRelu", *_COMPARISONS))
"""Kinds all operands of which have one element type, which Python numbers among them take."""

_BOOLEAN = frozenset((*_COMPARISONS, "And", "Or", "Xor", "Not", "IsNaN", "IsInf"))
"""Kinds whose results are booleans."""

_INTEGERS = frozenset(("Shape", "NonZero", "NonMaxSuppression"))
"""Kinds whose results are i64."""


def is_computed(operand: Operand) -> bool:
    """Whether an operand is an SSA value that is not the result of a constant operation."""
    return isinstance(operand, SSAValue) and not (isinstance(operand.owner, Operation) and operand.owner.name == "opset1.Constant")


def small_constant(value: SSAValue) -> Array | None:
    """The array of a constant operation with few elements; None for any other value."""
    owner = value.owner
    if not isinstance(owner, Operation) or owner.name != "opset1.Constant":
        return None
    data = owner.properties.get("value")
    is_small = isinstance(data, DataAttr) and data.nbytes <= LARGEST_FOLDED and not describe(data.element).is_packed
    return cast(DataAttr, data).array if is_small else None


def _attribute(value: Any) -> Attribute:
    """The property for the Python value of an attribute; an element type becomes its number in TensorProto.DataType.

    Raises UnsupportedOperationError for an element type that ONNX does not have.
    """
    if not isinstance(value, Attribute) or not is_element_type(value):
        return attribute_of(value)
    if value not in NUMBERS:
        raise UnsupportedOperationError(f"ONNX has no element type {describe(value).xml}")
    return integer_attribute(NUMBERS[value])


class NodeConstructor:
    """Builds operations of one kind; a call builds one with one result."""

    __slots__ = ("builder", "kind")

    def __init__(self, builder: OnnxBuilder, kind: str) -> None:
        self.builder = builder
        self.kind = kind

    def __call__(self, *operands: Operand, **attributes: Any) -> SSAValue:
        """Build an operation with one result, and return the result."""
        return self.builder.create(self.kind, operands, attributes, 1).results[0]

    def results(self, count: int, *operands: Operand, **attributes: Any) -> tuple[SSAValue, ...]:
        """Build an operation with `count` results, and return them."""
        return tuple(self.builder.create(self.kind, operands, attributes, count).results)


class OnnxBuilder:
    """Builds operations of the `onnx` dialect before an operation.

    Args:
        block: the block in which to build.
        anchor: the operation before which to build; None for the end of the block.
        version: the version of ONNX's operator set.
    """

    def __init__(self, block: Block, anchor: Operation | None, version: int) -> None:
        self.block = block
        self.anchor = anchor
        self.version = version

    def __getattr__(self, kind: str) -> NodeConstructor:
        if not kind[0].isupper():
            raise AttributeError(kind)
        constructor = self.__dict__[kind] = NodeConstructor(self, kind)
        return constructor

    def insert(self, op: Operation) -> None:
        """Insert an operation at the insertion point."""
        if self.anchor is None:
            self.block.add_op(op)
        else:
            op.location = located(self.anchor)
            self.block.insert_op_before(op, self.anchor)

    def create(self, kind: str, operands: Sequence[Operand], attributes: dict[str, Any], count: int) -> Operation:
        """Build an operation of a kind with `count` results, whose types are those that the kind implies.

        A Reshape gets `allowzero`, so that a 0 in a computed shape is a size of 0 and does not copy a dimension, unless
        `attributes` say otherwise.
        """
        if kind == "Reshape" and self.version >= 14 and "allowzero" not in attributes and is_computed(operands[1]):
            attributes = {**attributes, "allowzero": 1}
        like = next((each for each in operands if isinstance(each, SSAValue) and element_of(each) != boolean), None)
        values = [self._value(each, like if kind in _ELEMENTWISE else None) for each in operands]
        op = operation_class("onnx", kind).create(
            operands=values,
            properties={name.rstrip("_"): _attribute(value) for name, value in attributes.items() if value is not None},
            result_types=[self._result_type(kind, values, attributes, index) for index in range(count)],
        )
        self.insert(op)
        return op

    def _result_type(self, kind: str, values: Sequence[SSAValue], attributes: dict[str, Any], index: int) -> Attribute:
        """The type of result `index` of an operation, as far as its kind and operands imply it; else a type of dynamic
        rank.
        """
        if kind in _BOOLEAN:
            element: Attribute = boolean
        elif kind in _INTEGERS or (index and kind in _WITH_INDICES):
            element = si64
        elif kind == "ConstantOfShape":
            element = f32
        elif kind == "OneHot":
            element = element_of(values[2])
        elif kind == "Cast":
            element = attributes["to"]
        elif kind in ("CastLike", "Where", "DequantizeLinear"):
            element = element_of(values[1])
        elif kind == "QuantizeLinear" and len(values) > 2:
            element = element_of(values[2])
        else:
            element = element_of(values[0]) if values else f32
        if len(values) == 1 and kind not in _INTEGERS and not kind.startswith(("Reduce", "Global", "Expand", "Transpose")):
            return tensor(shape_of(values[0]), element)
        return tensor(None, element)

    def _value(self, operand: Operand, like: SSAValue | None) -> SSAValue:
        if isinstance(operand, SSAValue):
            return operand
        if operand is None:
            none = NoneOp.of()
            self.insert(none)
            return none.result
        if like is None or (isinstance(operand, np.ndarray) and operand.dtype != np.float64):
            return self.constant(operand)
        return self.constant(operand, element_of(like))

    def constant(self, value: Operand | DataAttr, element: Attribute | None = None) -> SSAValue:
        """Build a constant. By default integers are i64, floats f32, and arrays keep their element type."""
        if element is dynamic:
            element = None
        if element is None and not isinstance(value, np.ndarray | DataAttr):
            array = np.asarray(value)
            element = si64 if array.dtype.kind in "iu" or array.size == 0 else f32 if array.dtype.kind == "f" else None
        if isinstance(value, DataAttr):
            data = value
        else:
            array = np.asarray(value)
            data = DataAttr.of(array if element is None else array.astype(to_numpy(element)), element)
        op = opset.operation("opset1.Constant").create(properties={"value": data}, result_types=[tensor(data.shape, data.element)])
        self.insert(op)
        return op.results[0]

    # Forms that several handlers use.

    def cast(self, value: SSAValue, element: Attribute) -> SSAValue:
        """Convert a value to an element type.

        Returns the value itself if it has that type; a small constant stays a constant.
        """
        if element_of(value) == element:
            return value
        constant = small_constant(value)
        if constant is not None and constant.dtype.kind in "iu" and to_numpy(element).kind in "iuf":
            return self.constant(constant, element)
        return self.Cast(value, to=element)

    def integers(self, value: SSAValue) -> SSAValue:
        """Convert a value to i64."""
        return self.cast(value, si64)

    def vector(self, value: SSAValue) -> SSAValue:
        """A scalar or 1-D tensor as a 1-D tensor of i64."""
        value = self.integers(value)
        if rank_of(value) == 1:
            return value
        constant = small_constant(value)
        return self.Reshape(value, [-1]) if constant is None else self.constant(constant.reshape(-1))

    def transposed(self, value: SSAValue, order: Sequence[int]) -> SSAValue:
        """Transpose a value by a permutation; the value itself if that is the identity."""
        if list(order) == sorted(order):
            return value
        shape = shape_of(value)
        result = self.Transpose(value, perm=tuple(order))
        set_type(result, tensor(None if shape is None else [shape[axis] for axis in order], element_of(value)))
        return result

    def unsqueezed(self, value: SSAValue, *axes: int) -> SSAValue:
        """Insert dimensions of 1 at axes of the result."""
        return self.Unsqueeze(value, list(axes))

    def squeezed(self, value: SSAValue, *axes: int) -> SSAValue:
        """Remove the dimensions of 1 at axes."""
        return self.Squeeze(value, list(axes))

    def sizes(self, value: SSAValue, start: int, end: int | None = None) -> SSAValue:
        """The sizes of the axes from `start` up to, but not including, `end` (None for all), as a 1-D tensor of i64.

        A constant if they are static.
        """
        shape = shape_of(value)
        if shape is not None:
            part = shape[start : len(shape) if end is None else end]
            if min(part, default=0) >= 0:
                return self.constant(list(part))
        return self.Slice(self.Shape(value), [start], [(1 << 31) - 1 if end is None else end], [0])

    def joined(self, *parts: Operand) -> SSAValue:
        """Concatenate 1-D tensors of i64."""
        return self.Concat(*parts, axis=0)

    def reduced(self, kind: str, value: SSAValue, axes: Operand, *, keepdims: bool = True) -> SSAValue:
        """Build a reduction over axes, which are an attribute in versions before 18.

        Args:
            kind: the kind, such as `ReduceMean`.
            value: the data.
            axes: the axes: a sequence of integers, or from version 18 on also a value.
            keepdims: whether the axes become dimensions of 1.
        """
        constructor = NodeConstructor(self, kind)
        if self.version >= 18 or kind == "ReduceSum":
            return constructor(value, axes, keepdims=int(keepdims), noop_with_empty_axes=1)
        return constructor(value, axes=tuple(cast("Sequence[int]", axes)), keepdims=int(keepdims))
