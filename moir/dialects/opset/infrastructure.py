"""Infrastructure operations: Parameter, Constant, Result, Convert, Identity, variables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def, prop_def, result_def, traits_def

from moir.dialects import element_types
from moir.dialects.data import Array, DataAttr
from moir.dialects.known_values import KnownValues, is_symbolic
from moir.dialects.opset.base import OpsetOp, PropertyKind, Types, element_property
from moir.dialects.shapes import tensor


@irdl_op_definition
class Parameter(OpsetOp):
    """An input of the model or of a body. Its type is its result type; `bounds` narrows unknown dimensions, as in `1..10,3,?`."""

    name = "opset1.Parameter"
    bounds = opt_prop_def(PropertyKind("str"))
    result = result_def()
    traits = traits_def()

    def infer(self, known: KnownValues) -> Types:
        return (self.results[0].type,)


@irdl_op_definition
class Constant(OpsetOp):
    """A constant tensor. The type of the result says shape and element type."""

    name = "opset1.Constant"
    value = prop_def(DataAttr)
    result = result_def()

    def infer(self, known: KnownValues) -> Types:
        return (tensor(self.value.shape, self.value.element),)


@irdl_op_definition
class Result(OpsetOp):
    """An output of the model or of a body."""

    name = "opset1.Result"
    data = operand_def()
    traits = traits_def()

    def infer(self, known: KnownValues) -> Types:
        return ()


@irdl_op_definition
class Convert(OpsetOp):
    """Conversion to another element type; floats are truncated towards zero, anything but zero is true."""

    name = "opset1.Convert"
    data = operand_def()
    destination_type = element_property()
    result = result_def()

    SYMBOLIC: ClassVar[bool] = True

    def infer(self, known: KnownValues) -> Types:
        return (tensor(self.shape(0), self.element("destination_type")),)

    def evaluate(self, *operands: Array) -> Sequence[Array] | None:
        (data,) = operands
        destination = element_types.describe(self.element("destination_type"))
        if destination.is_packed or destination.bits == 0 or element_types.describe(self.element_type(0)).is_packed:
            return None
        if is_symbolic(data):
            return None if destination.xml == "boolean" else (data,)
        return (data.astype(destination.numpy),)


@irdl_op_definition
class Identity(OpsetOp):
    """Its operand."""

    name = "opset16.Identity"
    data = operand_def()
    result = result_def()

    SYMBOLIC: ClassVar[bool] = True

    def infer(self, known: KnownValues) -> Types:
        return (self.operands[0].type,)

    def evaluate(self, *operands: Array) -> Sequence[Array] | None:
        return operands


@irdl_op_definition
class ConvertLike(OpsetOp):
    """Conversion to the element type of the second operand."""

    name = "opset1.ConvertLike"
    data = operand_def()
    like = operand_def()
    result = result_def()

    def infer(self, known: KnownValues) -> Types:
        return (tensor(self.shape(0), self.element_type(1)),)

    def evaluate(self, *operands: Array) -> Sequence[Array] | None:
        return (np.asarray(operands[0]).astype(operands[1].dtype),)
