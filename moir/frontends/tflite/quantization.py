"""Which tensors are quantized, and which operators do not round.

A tensor of 4, 8 or 16 bits with a scale is quantized. Integers of 32 and 64 bits with a scale are quantized where they
are biases, whose scale is the product of the other operands' scales; elsewhere they are what they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from xdsl.ir import Attribute

from moir.dialects.properties import attribute_of
from moir.frontends.numbers import shortest
from moir.frontends.tflite.tensors import Tensor

LARGEST_BITS = 16
"""The most bits of a quantized tensor that is no bias."""

INTEGER_KINDS = frozenset(("BITCAST", "CAST", "SHAPE", "RANK"))
"""Operators that take the integers of a quantized tensor, not the numbers that these stand for."""

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
"""The places of biases among the operands."""

_MOVING = frozenset(
    (
        *("BATCH_TO_SPACE_ND", "BROADCAST_TO", "CONCATENATION", "DEPTH_TO_SPACE", "DYNAMIC_UPDATE_SLICE", "EMBEDDING_LOOKUP"),
        *("EXPAND_DIMS", "GATHER", "GATHER_ND", "MAXIMUM", "MAX_POOL_2D", "MINIMUM", "MIRROR_PAD", "PACK", "PAD", "PADV2"),
        *("REDUCE_MAX", "REDUCE_MIN", "RESHAPE", "RESIZE_NEAREST_NEIGHBOR", "REVERSE_SEQUENCE", "REVERSE_V2", "SELECT"),
        *("SELECT_V2", "SLICE", "SPACE_TO_BATCH_ND", "SPACE_TO_DEPTH", "SPLIT", "SPLIT_V", "SQUEEZE", "STRIDED_SLICE"),
        *("TILE", "TOPK_V2", "TRANSPOSE", "UNPACK"),
    )
)
"""Operators whose results are some of their operands' elements, or 0."""


_COPYING = frozenset(
    (
        *("BROADCAST_TO", "DEPTH_TO_SPACE", "DYNAMIC_UPDATE_SLICE", "EMBEDDING_LOOKUP", "GATHER", "GATHER_ND", "MATRIX_SET_DIAG"),
        *("MAXIMUM", "MINIMUM", "ONE_HOT", "RESHAPE", "RESIZE_NEAREST_NEIGHBOR", "REVERSE_V2", "SELECT", "SELECT_V2", "SLICE"),
        *("SPACE_TO_DEPTH", "SPARSE_TO_DENSE", "SPLIT", "SPLIT_V", "SQUEEZE", "STRIDED_SLICE", "TILE", "TOPK_V2", "TRANSPOSE"),
    )
)
"""Operators whose kernels copy or compare integers, whatever numbers these stand for in operands and results.

Converters give operands and results of most of them one scale and zero point, and of some not.
"""

_COUNTING = frozenset(("MATRIX_DIAG", "NEG", "SCATTER_ND"))
"""Operators whose kernels compute with integers as if their zero point were 0."""


_TABLES: Mapping[str, int] = {"EMBEDDING_LOOKUP": 1, "GATHER": 0, "GATHER_ND": 0}
"""Operators that look lines up in a table -> its place among the operands."""


def takes_integers(kind: str, operands: Sequence[Tensor], results: Sequence[Tensor], is_table: bool = False) -> bool:
    """Whether an operator is given integers, because its results are no numbers of its operands.

    A table of constants (`is_table`) stays one of integers as well, so that only what is looked up becomes numbers.
    """
    if kind in INTEGER_KINDS:
        return True
    if kind in _TABLES and is_table and all(is_rounded(each) for each in results):
        return True
    every = [described(each) for each in (*operands, *results) if is_rounded(each)]
    if kind in _COUNTING:
        return any(np.any(each.quantization.zero_point) for each in results if each.quantization is not None and is_rounded(each))
    return kind in _COPYING and any(each != every[0] for each in every) and all(is_rounded(each) for each in results[:1])


def table_place(kind: str) -> int | None:
    """The place of the table of which an operator looks lines up; None for any other operator."""
    return _TABLES.get(kind)


def is_rounded(tensor: Tensor) -> bool:
    """Whether a tensor stands for numbers that are rounded to its integers."""
    return tensor.quantization is not None and tensor.quantization.range.bits <= LARGEST_BITS


def is_bias(kind: str, place: int) -> bool:
    """Whether an operand is a bias."""
    return place in _BIASES.get(kind, ())


def keeps_levels(kind: str, operands: Sequence[Tensor]) -> bool:
    """Whether results are numbers that integers of the operands stand for: all have one scale and zero point."""
    scales = [described(each) for each in operands if is_rounded(each)]
    return kind in _MOVING and all(each == scales[0] for each in scales)


def described(tensor: Tensor) -> dict[str, Attribute] | None:
    """The quantization of a tensor as attributes: lists along `axis`, or single numbers."""
    how = tensor.quantization
    if how is None:
        return None
    assert how.zero_point is not None
    found: dict[str, Attribute] = {"element": tensor.element}
    scales = [shortest(each) for each in np.asarray(how.scale).tolist()]
    zeros = np.asarray(how.zero_point).tolist()
    if how.axis is None:
        return found | {"scale": attribute_of(scales[0]), "zero_point": attribute_of(zeros[0])}
    zero = attribute_of(zeros if any(zeros) else 0)
    return found | {"scale": attribute_of(scales), "zero_point": zero, "axis": attribute_of(how.axis)}
