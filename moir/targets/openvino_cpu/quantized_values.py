"""Which values the CPU plugin computes in integers of 8 bits."""

from __future__ import annotations

import numpy as np
from xdsl.ir import Operation, SSAValue

from moir.analysis.constants import constant_of, is_constant, is_quantized_weight
from moir.dialects.element_types import REAL_TYPES, si8, ui8
from moir.dialects.opset.arithmetic import Multiply
from moir.dialects.opset.data_types import Convert
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.interfaces.spatial import ConvolutionOp
from moir.dialects.opset.quantization import FakeQuantize
from moir.dialects.shapes import element_of

MOVED = frozenset(("BatchToSpace", "Concat", "DepthToSpace", "Gather", "MaxPool", "Pad", "Relu", "Reshape", "ShuffleChannels", "Slice",
                   "SpaceToBatch", "SpaceToDepth", "Split", "Squeeze", "StridedSlice", "Transpose", "Unsqueeze",
                   "VariadicSplit"))  # fmt: skip
"""Operations that only move values, or clamp them, which the plugin computes in the integers of quantized values."""

COMPUTED = MOVED | {"Add", "AvgPool", "Broadcast", "Clamp", "Divide", "Interpolate", "Multiply", "Negative", "PRelu", "ReduceMax",
                    "ReduceMean", "ReduceMin", "ReduceSum", "Subtract"}  # fmt: skip
"""Operations whose results the plugin may compute in integers of 8 bits if an operand is quantized."""

LEVELS_OF_BYTES = 256
"""The number of levels of integers of 8 bits."""

_BYTES = (si8, ui8)


def is_quantized(value: SSAValue) -> bool:
    """Whether a value is computed by a FakeQuantize, or by operations with constants from 8-bit integers, also behind a
    Convert of these integers or of floats.
    """
    return quantized_source(value) is not None


def is_of_bytes(value: SSAValue) -> bool:
    """Whether a value is computed by operations with constants from 8-bit integers, and not by a FakeQuantize after
    these.
    """
    source = quantized_source(value)
    return source is not None and element_of(source) in _BYTES


def quantized_source(value: SSAValue) -> SSAValue | None:
    """The result of a FakeQuantize or the 8-bit integers from which operations with constants compute a value, also
    behind a Convert of floats; None if a value is computed otherwise.
    """
    while isinstance(owner := value.owner, OpsetOp):
        if isinstance(owner, FakeQuantize) or element_of(value) in _BYTES:
            return value
        computed = [each for each in owner.operands if not is_constant(each)]
        if not computed:
            return None
        (value, *_) = computed
        if isinstance(owner, Convert):
            if element_of(value) not in (*REAL_TYPES, *_BYTES):
                return None
        elif owner.KIND not in COMPUTED:
            return None
    return value if element_of(value) in _BYTES else None


def are_quantized_filters(filters: SSAValue) -> bool:
    """Whether filters are dequantized integers, or computed by a FakeQuantize."""
    while isinstance(filters.owner, OpsetOp) and filters.owner.KIND == "Reshape":
        filters = filters.owner.operands[0]
    return is_quantized_weight(filters) or isinstance(filters.owner, FakeQuantize)


def is_convolved(value: SSAValue) -> bool:
    """Whether a convolution with quantized filters reads a value, directly or after movements and averages.

    The plugin stores the data of such a convolution as unsigned integers, with a zero point if levels are below 0.
    """
    values, seen = [value], set[Operation]()
    while values:
        for use in values.pop().uses:
            user = use.operation
            if isinstance(user, ConvolutionOp) and use.index == 0 and are_quantized_filters(user.operands[1]):
                return True
            if isinstance(user, OpsetOp) and user not in seen and (user.KIND in MOVED or user.KIND == "AvgPool"):
                seen.add(user)
                values.extend(user.results)
    return False


def has_no_zero_point(value: SSAValue, *, is_unsigned: bool = False) -> bool:
    """Whether the number 0 is the integer 0 in a quantized value; False if the zero point is not constant.

    Args:
        value: the value.
        is_unsigned: whether the plugin stores the levels of a FakeQuantize as unsigned integers (see `is_convolved`).
    """
    owner = value.owner
    if isinstance(owner, FakeQuantize):
        low, high, levels = constant_of(owner.operands[3]), constant_of(owner.operands[4]), owner.integer("levels")
        if low is None or high is None or levels > LEVELS_OF_BYTES:
            return False
        if (low == 0).all() and levels == LEVELS_OF_BYTES:
            return True
        signed = -(levels // 2) * high.astype(np.float64) / ((levels - 1) // 2)
        return not is_unsigned and bool(np.allclose(low, signed, rtol=1e-5, atol=0))
    if not isinstance(owner, OpsetOp) or (owner.KIND not in MOVED and not isinstance(owner, Convert | Multiply)):
        return element_of(value) in _BYTES
    return all(has_no_zero_point(each, is_unsigned=is_unsigned) for each in owner.operands if not is_constant(each))
