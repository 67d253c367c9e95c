"""Selection of single elements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from xdsl.ir import Attribute
from xdsl.irdl import operand_def, result_def

from moir.dialects import element_types
from moir.dialects.data import Array
from moir.dialects.operand_values import OperandValues
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.interfaces.properties import deferred_definition, string_property
from moir.dialects.shapes import Shapes, SymbolicShape, broadcast_shapes, merge_elements, merge_shapes
from moir.dialects.symbols import Symbol, is_symbolic, simplified
from moir.errors import InferenceError


def _chosen(cond: object, then: object, otherwise: object) -> object:
    if isinstance(cond, Symbol):
        return then if then is otherwise or (not isinstance(then, Symbol) and then == otherwise) else Symbol()
    return then if cond else otherwise


@deferred_definition
class Select(OpsetOp):
    """Elements of `then` where `cond` is true and of `otherwise` elsewhere, all operands broadcast."""

    name = "opset1.Select"
    PASSES_ERRORS_ON: ClassVar[bool] = True
    BROADCASTS: ClassVar[bool] = True
    cond = operand_def()
    then = operand_def()
    otherwise = operand_def()
    auto_broadcast = string_property("numpy", "none", "numpy", "pdpd")
    result = result_def()

    SYMBOLIC: ClassVar[bool] = True

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        cond, then, otherwise = shapes
        match self.text("auto_broadcast"):
            case "numpy":
                return broadcast_shapes(then, otherwise, cond)
            case "none":
                return merge_shapes(merge_shapes(then, otherwise), cond)
            case _:
                return then

    def result_element(self) -> Attribute:
        if self.element_type(0) not in (element_types.boolean, element_types.dynamic):
            raise InferenceError("the condition of a Select is boolean")
        return merge_elements(self.element_type(1), self.element_type(2))

    def evaluate(self, *operands: Array) -> Sequence[Array] | None:
        cond, then, otherwise = operands
        if self.text("auto_broadcast") == "pdpd":
            return None
        if not is_symbolic(cond):
            return (self._settled(np.where(cond.astype(bool), then, otherwise)),)
        return (self._settled(np.asarray(np.frompyfunc(_chosen, 3, 1)(cond, then, otherwise), dtype=object)),)

    def _settled(self, array: Array) -> Array:
        return array if array.dtype != object else simplified(array, element_types.to_numpy(self.element_type(1)))
