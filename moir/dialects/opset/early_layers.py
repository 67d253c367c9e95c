"""Layers of early networks for detection and recognition."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from typing import ClassVar

from xdsl.irdl import operand_def, result_def
from xdsl.utils.exceptions import VerifyException

from moir.dialects.operand_values import OperandValues
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.interfaces.properties import (
    boolean_property,
    deferred_definition,
    float_property,
    floats_property,
    integer_property,
    integers_property,
)
from moir.dialects.opset.interfaces.spatial import expanded
from moir.dialects.shapes import Shapes, SymbolicShape, is_fixed, merge_dimensions, normalize_axis, product
from moir.dialects.symbols import Dimension
from moir.errors import InferenceError


@deferred_definition
class RegionYolo(OpsetOp):
    """Activations of a YOLO head [N, C, H, W].

    With `do_softmax` the dimensions from `axis` to `end_axis` are flattened into one; otherwise the channels are those
    of the boxes in `mask`.
    """

    name = "opset1.RegionYolo"
    data = operand_def()
    anchors = floats_property(())
    axis = integer_property()
    coords = integer_property()
    classes = integer_property()
    end_axis = integer_property()
    num = integer_property()
    do_softmax = boolean_property()
    mask = integers_property()
    result = result_def()

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        if shapes[0] is None:
            return None
        shape = expanded(shapes[0], 4, "data")
        if self.flag("do_softmax"):
            first, last = normalize_axis(self.integer("axis"), 4), normalize_axis(self.integer("end_axis"), 4)
            if last < first:
                raise InferenceError(f"end_axis {last} is in front of axis {first}")
            return (*shape[:first], reduce(product, shape[first : last + 1]), *shape[last + 1 :])
        channels = (self.integer("classes") + self.integer("coords") + 1) * len(self.integers("mask"))
        return (shape[0], channels, *shape[2:])


@deferred_definition
class ReorgYolo(OpsetOp):
    """Moves blocks of `stride` x `stride` elements of data [N, C, H, W] into the channels."""

    name = "opset2.ReorgYolo"
    data = operand_def()
    stride = integers_property()
    result = result_def()

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        if shapes[0] is None:
            return None
        n, c, h, w = expanded(shapes[0], 4, "data")
        stride = self.integers("stride")[0]
        return (n, product(c, stride**2), *(-1 if size == -1 else size // stride for size in (h, w)))

    def check_invariants(self) -> None:
        super().check_invariants()
        if not self.integers("stride") or min(self.integers("stride")) < 1:
            raise VerifyException("stride must be positive")


@deferred_definition
class GRN(OpsetOp):
    """x / sqrt(sum(x ^ 2 over channels) + bias)"""

    name = "opset1.GRN"
    UNWRITTEN: ClassVar[Mapping[str, object]] = {"bias": 1.0}
    data = operand_def()
    bias = float_property()
    result = result_def()

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        return shapes[0]


def larger(a: Dimension, b: Dimension) -> Dimension:
    """The larger of two dimensions that should be equal; if one is unknown, the other one."""
    return max(a, b) if is_fixed(a) and is_fixed(b) else merge_dimensions(a, b)


@deferred_definition
class CTCGreedyDecoder(OpsetOp):
    """The best path [N, T, 1, 1] through probabilities [T, N, C] where the mask [T, N] is 1."""

    name = "opset1.CTCGreedyDecoder"
    data = operand_def()
    sequence_mask = operand_def()
    ctc_merge_repeated = boolean_property(True)
    result = result_def()

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        data, mask = expanded(shapes[0], 3, "data"), expanded(shapes[1], 2, "the mask")
        return (larger(data[1], mask[1]), larger(data[0], mask[0]), 1, 1)
