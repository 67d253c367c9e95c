"""Calls of functions of TensorFlow's Python interface, and the table of the functions.

    @function("nn.l2_loss")
    def l2_loss(call: Call, t: Tensor) -> SSAValue:
        return call.raw("L2Loss", t)

A function has the parameters of TensorFlow's with their defaults, and builds the operations that TensorFlow's function
creates. An argument is a tensor of the model, a number, a text, or nested lists of these.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NoReturn, TypeAlias, TypeVar, cast

import numpy as np
from xdsl.ir import Attribute, SSAValue

from moir.dialects.element_types import boolean, f32, si32, to_numpy
from moir.dialects.shapes import UNKNOWN, element_of, rank_of, shape_of
from moir.lowering.binder import LoweringNode
from moir.lowering.keras.attributes import element_named, is_tensor, values_within
from moir.lowering.substitution import lowered_by
from moir.lowering.tensorflow.table import tf
from moir.rewriting.builder import OpBuilder

Tensor: TypeAlias = Any
"""An argument that stands for a tensor: a value of the model, a number, or nested lists of both."""

Results: TypeAlias = SSAValue | Sequence[SSAValue]

FUNCTIONS: dict[str, Callable[..., Results]] = {}
"""The functions by their names below `tf`."""


Build = TypeVar("Build", bound=Callable[..., Results])


def function(*names: str) -> Callable[[Build], Build]:
    """A decorator: register a function in `FUNCTIONS` under these names."""

    def register(build: Build) -> Build:
        FUNCTIONS.update(dict.fromkeys(names, build))
        return build

    return register


class Call:
    """A call of a function.

    Args:
        node: the layer.
        op: the builder.
    """

    def __init__(self, node: LoweringNode, op: OpBuilder) -> None:
        self.node = node
        self.op = op

    def fail(self, reason: str, hint: str | None = None) -> NoReturn:
        """Raise ConversionError about this call, for a reason, with a hint if there is one."""
        self.node.fail(reason, hint=hint)

    # Operations

    def raw(self, kind: str, *operands: SSAValue, **attributes: object) -> SSAValue:
        """The result of an operation of TensorFlow with one result, see `results`."""
        return self.results(kind, 1, *operands, **attributes)[0]

    def results(self, kind: str, count: int, *operands: SSAValue, **attributes: object) -> list[SSAValue]:
        """The `count` results of the operation `kind` of TensorFlow; attributes that are None are left out.

        Raises ConversionError if it cannot be lowered.
        """
        given = {name: value for name, value in attributes.items() if value is not None}
        values = lowered_by(tf, self.node, self.op, kind, operands, given, [UNKNOWN] * count)
        if not all(isinstance(each, SSAValue) for each in values):
            self.fail(f"the operation tf.{kind} has no result here")
        return cast("list[SSAValue]", values)

    # Arguments

    def tensor(self, value: Tensor, element: Attribute | None = None) -> SSAValue:
        """An argument as a tensor.

        Args:
            value: the argument.
            element: the element type of numbers; by default f32, si32 or boolean, as they are written.

        Raises ConversionError for an argument that is neither a tensor nor numbers.
        """
        numbers: object = value
        if is_tensor(value):
            return value
        if isinstance(value, list) and (parts := values_within(value)):
            own = element or element_of(parts[0])
            stacked = [self.op.Unsqueeze(self.tensor(each, own), [0]) for each in cast("list[Any]", value)]
            return self.op.Concat(*stacked, axis=0) if len(stacked) > 1 else stacked[0]
        array = np.empty(0, object)
        with suppress(ValueError):
            array = np.asarray(numbers)
        if array.dtype.kind not in "bif":
            self.fail(f"an argument is {str(numbers)[:60]!r}, where a tensor is meant")
        if element is None:
            element = {"b": boolean, "i": si32, "f": f32}[array.dtype.kind]
        return self.op.constant(array.astype(to_numpy(element)))

    def integers(self, value: Tensor) -> SSAValue:
        """An argument as a tensor of integers; a constant has the type si32."""
        return self.tensor(value, None if is_tensor(value) or values_within(value) else si32)

    def alike(self, *values: Tensor) -> list[SSAValue]:
        """The arguments as tensors of one element type: that of the first argument that is a tensor, f32 if none is."""
        first = next((each for each in values if is_tensor(each)), None)
        element = f32 if first is None else element_of(first)
        return [self.tensor(each, element) for each in values]

    def alike_or_integers(self, *values: Tensor) -> list[SSAValue]:
        """The arguments as tensors of one element type: that of the first tensor, or si32 if all are constants."""
        first = next((each for each in values if is_tensor(each)), None)
        return [self.tensor(each, si32 if first is None else element_of(first)) for each in values]

    def numbers(self, value: Tensor, what: str) -> list[int]:
        """A constant argument, an integer or a list of integers, as a list; `what` is its name for messages.

        Raises ConversionError for a tensor.
        """
        listed = [value] if isinstance(value, int) else value
        if not isinstance(listed, list) or not all(isinstance(each, int) for each in cast("list[Any]", listed)):
            self.fail(f"its {what} are {str(value)[:60]}; integers are expected", "compute them in the model with constants")
        return cast("list[int]", listed)

    def rank(self, value: SSAValue) -> int:
        """The rank of a tensor. Raises ConversionError if it is dynamic."""
        rank = rank_of(value)
        if rank is None:
            self.fail("the rank of its operand is unknown", "give the shape of the input: --input 'NAME[…]'")
        return rank

    def sizes(self, value: SSAValue) -> tuple[int, ...]:
        """The sizes of a tensor, -1 for dynamic dimensions. Raises ConversionError if its rank is dynamic."""
        shape = shape_of(value)
        return (-1,) * self.rank(value) if shape is None else tuple(shape)

    def size(self, value: SSAValue, axis: int) -> int:
        """The size of a tensor along an axis. Raises ConversionError if it is dynamic."""
        size = self.sizes(value)[axis]
        if size < 0:
            self.fail(f"the size of axis {axis} of its operand is unknown", "give the shape of the input: --input 'NAME[…]'")
        return size

    def axes(self, axis: Tensor, value: SSAValue) -> list[int]:
        """The axes of a tensor that the argument `axis` names, as nonnegative integers; all of them for None.

        Raises ConversionError for an axis out of range.
        """
        rank = self.rank(value)
        if axis is None:
            return list(range(rank))
        numbers = self.numbers(axis, "axes")
        if not all(-rank <= each < rank for each in numbers):
            self.fail(f"it has the axes {numbers} for a tensor of rank {rank}")
        return [each % rank for each in numbers]

    def element(self, dtype: object) -> Attribute:
        """The element type that an argument `dtype` names, spelled `int32` or `<dtype: 'int32'>`."""
        return element_named(self.node, str(dtype).removeprefix("<dtype: '").removesuffix("'>").removeprefix("tf."))

    def number_like(self, number: float, value: SSAValue) -> SSAValue:
        """A scalar constant in the element type of a tensor."""
        return self.op.constant_like(number, value)

    def reduced(self, kind: str, value: SSAValue, axis: Tensor, *, keep: bool = False) -> SSAValue:
        """The reduction `kind`, such as Sum or Mean, of a tensor over axes; over all axes if `axis` is None."""
        return self.raw(kind, value, self.integers(self.axes(axis, value)), keep_dims=keep)
