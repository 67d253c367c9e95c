"""Determines which tensors are quantized, and which operators do not round their results.

A tensor of 4, 8 or 16 bits with a scale is quantized. Integers of 32 and 64 bits with a scale are quantized where they
are biases, whose scale is the product of the other operands' scales, and where a QUANTIZE writes or a DEQUANTIZE reads
them; elsewhere the scale is ignored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from xdsl.ir import Attribute, Operation, SSAValue

from moir.dialects.data import DataAttr
from moir.dialects.element_types import si32, si64
from moir.dialects.properties import attribute_of
from moir.dialects.quantization import IntegerRange, Quantization
from moir.frontends.numbers import shortest
from moir.frontends.tflite.tensors import Tensor

LARGEST_BITS = 16
"""The most bits of a quantized tensor that is not a bias."""

INTEGER_KINDS = frozenset(("BITCAST", "CAST", "FLOOR_DIV", "FLOOR_MOD", "SHAPE", "RANK"))
"""Operators that work on the integers of a quantized tensor, not on the real numbers."""

_BIASES: Mapping[str, frozenset[int]] = {
    "CONV_2D": frozenset((2,)),
    "CONV_3D": frozenset((2,)),
    "CONV_3D_TRANSPOSE": frozenset((3,)),
    "DEPTHWISE_CONV_2D": frozenset((2,)),
    "FULLY_CONNECTED": frozenset((2,)),
    "TRANSPOSE_CONV": frozenset((3,)),
    "SVDF": frozenset((3,)),
    "UNIDIRECTIONAL_SEQUENCE_LSTM": frozenset((12, 13, 14, 15, 17)),
    "LSTM": frozenset((12, 13, 14, 15, 17)),
}
"""Operator -> the indices of its operands that are biases."""

_PRODUCTS: Mapping[str, tuple[int, int]] = {
    "CONV_2D": (0, 1),
    "DEPTHWISE_CONV_2D": (0, 1),
    "FULLY_CONNECTED": (0, 1),
    "TRANSPOSE_CONV": (2, 1),
}
"""Operators of one sum of products -> the operand indices of the data and of the weights."""

_ROUNDED_PRODUCT = 1e-5
"""The largest relative difference of a scale and a product of scales that is rounding."""

_MOVING = frozenset(
    (
        *("BATCH_TO_SPACE_ND", "BROADCAST_TO", "CONCATENATION", "DEPTH_TO_SPACE", "DYNAMIC_UPDATE_SLICE", "EMBEDDING_LOOKUP"),
        *("EXPAND_DIMS", "GATHER", "GATHER_ND", "MAXIMUM", "MAX_POOL_2D", "MINIMUM", "MIRROR_PAD", "PACK", "PAD", "PADV2"),
        *("REDUCE_MAX", "REDUCE_MIN", "RESHAPE", "RESIZE_NEAREST_NEIGHBOR", "REVERSE_SEQUENCE", "REVERSE_V2", "SELECT"),
        *("SELECT_V2", "SLICE", "SPACE_TO_BATCH_ND", "SPACE_TO_DEPTH", "SPLIT", "SPLIT_V", "SQUEEZE", "STRIDED_SLICE"),
        *("TILE", "TOPK_V2", "TRANSPOSE", "UNPACK"),
    )
)
"""Operators whose results only contain elements of their operands, or 0."""


_COPYING = frozenset(
    (
        *("BROADCAST_TO", "DEPTH_TO_SPACE", "DYNAMIC_UPDATE_SLICE", "EMBEDDING_LOOKUP", "GATHER", "GATHER_ND", "MATRIX_SET_DIAG"),
        *("MAXIMUM", "MINIMUM", "ONE_HOT", "RESHAPE", "RESIZE_NEAREST_NEIGHBOR", "REVERSE_V2", "SELECT", "SELECT_V2", "SLICE"),
        *("SPACE_TO_DEPTH", "SPARSE_TO_DENSE", "SPLIT", "SPLIT_V", "SQUEEZE", "STRIDED_SLICE", "TILE", "TOPK_V2", "TRANSPOSE"),
    )
)
"""Operators whose kernels copy or compare the integers as they are, even if the scales of operands and results differ.

For most of them, converters give operands and results the same scale and zero point.
"""

_LIKE_RESULTS = frozenset(
    ("AVERAGE_POOL_2D", "CONCATENATION", "MAX_POOL_2D", "PAD", "PADV2", "RESIZE_BILINEAR", "REVERSE_SEQUENCE", "UNIQUE")
)
"""Operators whose kernels treat the integers of operands as integers of the result, even if their scales differ.

They pad with the zero point of the result, and clamp and round by its scale. CONCATENATION of 8-bit integers does not
copy.
"""

_SYMMETRIC_WEIGHTS: Mapping[str, int] = {"DEPTHWISE_CONV_2D": 1, "TRANSPOSE_CONV": 1}
"""Operators whose kernels assume that the zero point of signed weights is 0 -> the operand index of the weights."""

_COMPARISONS = frozenset(("EQUAL", "GREATER", "GREATER_EQUAL", "LESS", "LESS_EQUAL", "NOT_EQUAL"))
"""Operators whose kernels round 8-bit operands to multiples of 1/256 before they compare them."""

_COUNTING = frozenset(("MATRIX_DIAG", "NEG", "SCATTER_ND"))
"""Operators whose kernels compute with the integers as they are, without the zero point."""


TIES: Mapping[str, str] = {"AVERAGE_POOL_2D": "away", "RESIZE_BILINEAR": "up"}
"""Operators whose kernels do not round ties to even -> how they round them.

"up" is to the larger integer, "away" to the integer farther from the integer 0, which differs from the number 0 by the
zero point.
"""

_TABLES: Mapping[str, int] = {"EMBEDDING_LOOKUP": 1, "GATHER": 0, "GATHER_ND": 0}
"""Operators that look up rows of a table -> the index of the operand that is the table."""


def takes_integers(kind: str, operands: Sequence[Tensor], results: Sequence[Tensor], is_table: bool = False) -> bool:
    """Whether an operator computes with the quantized integers of its operands instead of real numbers.

    It does so if the operator is defined on integers, or if its results have another quantization than the operands
    that it copies. So does a look-up in a table of constants (`is_table`), so that only the selected rows are
    dequantized.
    """
    if kind in INTEGER_KINDS:
        return True
    if kind in _TABLES and is_table and all(is_rounded(each) for each in results):
        return True
    if kind in _COUNTING:
        return any(np.any(each.quantization.zero_point) for each in results if each.quantization is not None and is_rounded(each))
    if kind not in _COPYING or not all(is_rounded(each) for each in results[:1]):
        return False
    every = [described(each) for each in (*operands, *results) if is_rounded(each)]
    return any(each != every[0] for each in every)


def as_taken(kind: str, operands: Sequence[Tensor | None], results: Sequence[Tensor]) -> list[Tensor | None]:
    """The operands of an operator with the quantization that its kernel assumes, mostly their own; None for absent
    ones.
    """
    taken = [each and _taken(kind, index, each, results) for index, each in enumerate(operands)]
    return [each and _as_added(kind, index, each, taken) for index, each in enumerate(taken)]


def _taken(kind: str, index: int, operand: Tensor, results: Sequence[Tensor]) -> Tensor:
    how = operand.quantization
    if how is None or not is_rounded(operand):
        return operand
    if kind in _LIKE_RESULTS and results and (how.range.bits > 8 or kind != "CONCATENATION"):
        return operand.requantized(results[0].quantization) if results[0].element == operand.element else operand
    if index == _SYMMETRIC_WEIGHTS.get(kind) and how.range.signed and np.any(how.zero_point):
        return operand.requantized(how._replace(zero_point=np.zeros_like(how.scale, np.int64)))
    return operand


def _as_added(kind: str, index: int, bias: Tensor, operands: Sequence[Tensor | None]) -> Tensor:
    """Operand `index` of an operator: a bias with the scale by which the kernel adds it to sums of products, any other
    operand as it is.

    The kernel adds the integers of a bias to the products of integers, so that its scale is that of the products,
    whatever the file says: converters write others after they have changed the scale of the data.
    """
    if index not in _BIASES.get(kind, ()) or kind not in _PRODUCTS or bias.element not in (si32, si64):
        return bias
    data, weights = (operands[each] for each in _PRODUCTS[kind])
    if data is None or weights is None or data.quantization is None or weights.quantization is None:
        return bias
    how, scales = weights.quantization, data.quantization.scale * weights.quantization.scale
    if data.quantization.axis is not None or scales.size not in (1, *bias.shape):
        return bias
    own = bias.quantization
    if own is not None and np.allclose(own.scale, scales, rtol=_ROUNDED_PRODUCT, atol=0.0):
        return bias
    zeros = np.zeros(scales.shape, np.int64)
    return bias.requantized(Quantization(scales, zeros, IntegerRange.of(bias.element), None if how.axis is None else 0))


def is_compared_roughly(kind: str, operands: Sequence[Tensor]) -> bool:
    """Whether an 8-bit comparison rounds its operands to multiples of 1/256, so that different numbers may compare as
    equal.
    """
    every = [each.quantization for each in operands if each.quantization is not None and each.quantization.range.bits == 8]
    if kind not in _COMPARISONS or not every or len(every) < len(operands):
        return False
    scales = [float(np.max(each.scale)) for each in every]
    # No kernel compares numbers with scales of 1 and more.
    return max(scales) < 1 and (described(operands[0]) != described(operands[-1]) or min(scales) < 2**-8)


def table_index(kind: str) -> int | None:
    """The index of the operand whose rows an operator looks up; None for an operator of another kind."""
    return _TABLES.get(kind)


def is_looked_up(value: SSAValue) -> bool:
    """Whether a value was dequantized from rows that an operator looked up in a table of integers."""
    owner = value.owner
    if not isinstance(owner, Operation) or owner.name != "tflite.dequantize":
        return False
    source = owner.operands[0].owner
    return isinstance(source, Operation) and source.name.removeprefix("tflite.") in _TABLES


def is_rounded(tensor: Tensor) -> bool:
    """Whether a tensor is quantized, so that its numbers are rounded."""
    return tensor.quantization is not None and tensor.quantization.range.bits <= LARGEST_BITS


def is_wide(kind: str, index: int, tensor: Tensor) -> bool:
    """Whether operand `index` is a bias, or operand of a conversion, with a scale and more than 16 bits."""
    return tensor.quantization is not None and not is_rounded(tensor) and (index in _BIASES.get(kind, ()) or kind in CONVERSIONS)


CONVERSIONS = frozenset(("DEQUANTIZE", "QUANTIZE"))
"""Operators whose quantized operands may be integers of any width."""


def keeps_levels(kind: str, operands: Sequence[Tensor]) -> bool:
    """Whether results need no rounding, because operands and results have the same scale and zero point."""
    if kind not in _MOVING:
        return False
    scales = [described(each) for each in operands if is_rounded(each)]
    return all(each == scales[0] for each in scales)


def described(tensor: Tensor) -> dict[str, Attribute] | None:
    """The quantization of a tensor as attributes; None for a tensor without.

    `scale` and `zero_point` are numbers, or tensors of numbers along the dimension `axis`.
    """
    how = tensor.quantization
    if how is None:
        return None
    assert how.zero_point is not None
    attributes: dict[str, Attribute] = {"element": tensor.element}
    scales, zeros = np.asarray(how.scale), np.asarray(how.zero_point).tolist()
    if how.axis is None:
        return attributes | {"scale": attribute_of(shortest(float(scales[0]))), "zero_point": attribute_of(zeros[0])}
    zero = attribute_of(zeros if any(zeros) else 0)
    return attributes | {"scale": DataAttr.of(scales.astype(np.float32, copy=False)), "zero_point": zero, "axis": attribute_of(how.axis)}
