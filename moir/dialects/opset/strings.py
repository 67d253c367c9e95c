"""Conversion between tensors of strings and their bytes, with the begin and the end of each string."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from xdsl.ir import Attribute
from xdsl.irdl import operand_def, result_def

from moir.dialects.data import Array
from moir.dialects.element_types import dynamic, si32, si64, string, ui8
from moir.dialects.large_arrays import Values
from moir.dialects.operand_values import OperandValues
from moir.dialects.opset.interfaces.elementwise import require_element
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.interfaces.properties import deferred_definition
from moir.dialects.shapes import Shapes, SymbolicShape, merge_shapes

STEPS_OF_STRING = 256
"""The cost of evaluating a string, in steps, in addition to one step for each byte."""


@deferred_definition
class StringTensorUnpack(OpsetOp):
    """The strings of `data` as bytes (UTF-8), with the begin and the end of each string in the bytes.

    Begins and ends have the shape of the data.
    """

    name = "opset15.StringTensorUnpack"
    SIZES_OF_ELEMENTS: ClassVar[bool] = True
    data = operand_def()
    begins = result_def()
    ends = result_def()
    symbols = result_def()

    def result_shapes(self, shapes: Shapes, known: OperandValues) -> Shapes:
        return shapes[0], shapes[0], (-1,)

    def result_elements(self) -> Sequence[Attribute]:
        require_element(self.element_type(0), frozenset((string, dynamic)))
        return si32, si32, ui8

    def steps(self, *operands: Values) -> int:
        return sum(STEPS_OF_STRING + len(text) for text in np.asarray(operands[0]).ravel().tolist())

    def evaluate(self, *operands: Array) -> Sequence[Array]:
        texts = [str(text).encode() for text in operands[0].ravel()]
        ends = np.cumsum([len(text) for text in texts], dtype=np.int32).reshape(operands[0].shape)
        sizes = np.array([len(text) for text in texts], np.int32).reshape(operands[0].shape)
        return ends - sizes, ends, np.frombuffer(b"".join(texts), np.uint8)


@deferred_definition
class StringTensorPack(OpsetOp):
    """A tensor of strings from bytes (UTF-8) and the begin and the end of each string in them."""

    name = "opset15.StringTensorPack"
    begins = operand_def()
    ends = operand_def()
    symbols = operand_def()
    result = result_def()

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        return merge_shapes(shapes[0], shapes[1])

    def result_element(self) -> Attribute:
        for index in (0, 1):
            require_element(self.element_type(index), frozenset((si32, si64, dynamic)))
        require_element(self.element_type(2), frozenset((ui8, dynamic)))
        return string

    def steps(self, *operands: Values) -> int:
        begins, ends = (np.asarray(operand, np.float64) for operand in operands[:2])
        # Each string may refer to all of the bytes.
        return begins.size * STEPS_OF_STRING + int(np.minimum(ends - begins, operands[2].size).clip(0).sum())

    def evaluate(self, *operands: Array) -> Sequence[Array]:
        begins, ends, symbols = operands
        content = symbols.astype(np.uint8).tobytes()
        texts = [content[begin:end].decode(errors="replace") for begin, end in zip(begins.ravel(), ends.ravel(), strict=True)]
        packed = np.empty(len(texts), object)
        packed[:] = texts
        return (packed.reshape(begins.shape),)
