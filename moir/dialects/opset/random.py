"""Random numbers."""

from __future__ import annotations

from typing import ClassVar

from xdsl.ir import Attribute
from xdsl.irdl import operand_def, result_def
from xdsl.utils.exceptions import VerifyException

from moir.dialects import element_types
from moir.dialects.operand_values import OperandValues
from moir.dialects.opset.generation import SIZES, one_dimension, require_scalar
from moir.dialects.opset.interfaces.elementwise import INTEGERS, REALS, require_element
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.interfaces.properties import (
    boolean_property,
    deferred_definition,
    element_property,
    integer_property,
    string_property,
)
from moir.dialects.shapes import Shapes, SymbolicShape, merge_elements, rank_of
from moir.errors import InferenceError

RANDOM_NUMBERS = REALS | SIZES


@deferred_definition
class RandomUniform(OpsetOp):
    """Random numbers of a uniform distribution from min_val up to, but not including, max_val.

    If both seeds are 0, the numbers differ between runs.
    """

    name = "opset8.RandomUniform"
    EXACT_OPERANDS: ClassVar[tuple[int, ...]] = (0,)
    shape_operand = operand_def()
    min_val = operand_def()
    max_val = operand_def()
    output_type = element_property()
    op_seed = integer_property(0)
    global_seed = integer_property(0)
    alignment = string_property("tensorflow", "mock", "pytorch", "tensorflow")
    result = result_def()

    DETERMINISTIC: ClassVar[bool] = False

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        shape, minimum, maximum = self.operands
        if rank_of(shape) not in (1, None):
            raise InferenceError("the shape should have one dimension")
        require_scalar(self, 1, "min_val")
        require_scalar(self, 2, "max_val")
        low, high = known.constant(minimum), known.constant(maximum)
        if low is not None and high is not None and not low.reshape(()) < high.reshape(()):
            raise InferenceError(f"min_val {low.reshape(())} is not below max_val {high.reshape(())}")
        return known.sizes(shape)

    def result_element(self) -> Attribute:
        require_element(self.element_type(0), SIZES)
        output = merge_elements(self.element("output_type"), self.common_element(1, 2))
        require_element(output, RANDOM_NUMBERS)
        return output


@deferred_definition
class Multinomial(OpsetOp):
    """Indices of classes, `num_samples` for each row of the operand, drawn with the probabilities in the row."""

    name = "opset13.Multinomial"
    EXACT_OPERANDS: ClassVar[tuple[int, ...]] = (1,)
    probs = operand_def()
    num_samples = operand_def()
    convert_type = element_property()
    with_replacement = boolean_property()
    log_probs = boolean_property()
    global_seed = integer_property(0)
    op_seed = integer_property(0)
    result = result_def()

    DETERMINISTIC: ClassVar[bool] = False

    def check_invariants(self) -> None:
        if self.element("convert_type") not in (element_types.si32, element_types.si64):
            raise VerifyException("convert_type should be i32 or i64")

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        probs = shapes[0]
        if probs is not None and len(probs) != 2:
            raise InferenceError("probs should have two dimensions")
        samples = one_dimension(known, self, 1, "num_samples")
        return None if probs is None else (probs[0], samples)

    def result_element(self) -> Attribute:
        require_element(self.element_type(0), REALS)
        require_element(self.element_type(1), INTEGERS)
        return self.element("convert_type")
