"""Constants as numpy arrays, including weights that are stored in another precision and converted at their use.

The value of an elided constant, which was left out of the text of a module, counts as unknown: only emission needs it,
and raises an error.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from xdsl.dialects.builtin import DictionaryAttr
from xdsl.ir import Attribute, Operation, OpResult, SSAValue

from moir.analysis.uses import has_one_live_use
from moir.dialects.data import Array, DataAttr
from moir.dialects.element_types import bf16, describe, f16, f32, f64, to_numpy
from moir.dialects.large_arrays import Values, in_memory_order, pieces
from moir.dialects.opset.arithmetic import Divide, Multiply, Subtract
from moir.dialects.opset.data_types import Convert
from moir.dialects.opset.infrastructure import Constant
from moir.dialects.properties import string_attribute
from moir.dialects.shapes import element_of, rank_of

FLOATS = frozenset((bf16, f16, f32, f64))
"""Element types of weights that may be modified; in narrower types, rounding a product loses too much."""

ROUNDING = {2: 2.0**-8, 4: 2.0**-22, 8: 2.0**-50}
"""The largest error of rounding to a floating-point type, by its size in bytes, relative to the largest magnitude in
the array.
"""


TOLERANCES: dict[Attribute, float] = {f16: 2.0**-10, bf16: 2.0**-7, f32: 4e-6, f64: 4e-6}
"""The tolerance, relative to the number, for comparing a constant with a number, by element type.

It covers rounding to the type, and constants that were written with only six digits.
"""


def constant_of(value: SSAValue) -> Array | None:
    """The array of a value that a Constant produces.

    None for other values, for elided constants and for packed element types.
    """
    values = values_of(value)
    return None if values is None else np.asarray(values)


def values_of(value: SSAValue) -> Values | None:
    """The elements of a value that a Constant produces, which may not be computed yet; None as for `constant_of`."""
    data = value.op.properties.get("value") if isinstance(value, OpResult) else None
    # None first: most values are not constants, and isinstance(x, Attribute) is slow.
    if data is None or not isinstance(data, DataAttr):
        return None
    return None if describe(data.element).is_packed else data.data.values


def is_constant(value: SSAValue) -> bool:
    """Whether `constant_of` gives the array of a value."""
    return values_of(value) is not None


def array_of(data: DataAttr) -> Array | None:
    """The array of a constant; None for elided constants and for packed element types."""
    return None if describe(data.element).is_packed else data.data.array


def scalar_of(value: SSAValue) -> float | None:
    """The number of a constant of one element, None for anything else."""
    values = values_of(value)
    if values is None or values.size != 1 or values.dtype.kind not in "fiuV":
        return None
    return float(np.asarray(values).reshape(-1)[0])


def is_about(value: float, expected: float, element: Attribute) -> bool:
    """Whether a number of an element type equals `expected` up to rounding."""
    return value == expected or abs(value - expected) <= TOLERANCES.get(element, 0) * abs(expected)


def outranks(constant: SSAValue, other: SSAValue) -> bool:
    """Whether the result of broadcasting `other` with a constant may have a higher rank than `other`."""
    own, rank = rank_of(constant), rank_of(other)
    return own != 0 and (own is None or rank is None or own > rank)


DECOMPRESSION = DictionaryAttr({"decompression": DictionaryAttr({"version": string_attribute("0")})})
"""The information of a Convert that restores a weight: it is not to be folded."""


def is_decompression(op: Operation) -> bool:
    """Whether an operation is the Convert of a weight that is stored in fewer bits to save space, according to its
    mark.
    """
    if not isinstance(op, Convert):
        return False
    information = op.attributes.get("runtime_info")
    return isinstance(information, DictionaryAttr) and "decompression" in information.data


def is_quantized_weight(value: SSAValue) -> bool:
    """Whether a value is a dequantized weight: a Constant of integers or small floats, Convert, Subtract, Multiply."""
    owner = value.owner
    while isinstance(owner, Multiply | Subtract) and isinstance(owner.operands[1].owner, Constant | Convert):
        owner = owner.operands[0].owner
    return isinstance(owner, Convert) and isinstance(owner.data.owner, Constant) and owner.data.owner.value.element not in FLOATS


def weight_of(value: SSAValue) -> Values | None:
    """The elements of a floating-point constant, or of one that is converted to another floating-point type.

    None for any other value, for elided constants, and for a weight that is stored compressed: if a pass changed it,
    it would be stored uncompressed.
    """
    element = element_of(value)
    if element not in FLOATS or not isinstance(value, OpResult) or is_decompression(value.op):
        return None
    source = value.op.operands[0] if isinstance(value.op, Convert) else value
    data = source.op.properties.get("value") if isinstance(source, OpResult) else None
    if not isinstance(data, DataAttr) or data.data.values is None or data.element not in FLOATS:
        return None
    return data.values.astype(to_numpy(element), copy=False)


def unscaled(value: SSAValue) -> tuple[SSAValue, float]:
    """For x · c or x / c with a constant c: the value x, and the factor c or 1 / c.

    The value itself and 1 if it has no constant factor, or if the product has other uses.
    """
    if not isinstance(value, OpResult) or not isinstance(value.op, Multiply | Divide) or not has_one_live_use(value):
        return value, 1.0
    if value.op.text("auto_broadcast") != "numpy":
        return value, 1.0
    for data, factor in ((0, 1), (1, 0)) if isinstance(value.op, Multiply) else ((0, 1),):
        number, rank = weight_of(value.op.operands[factor]), rank_of(value.op.operands[data])
        if number is not None and number.size == 1 and rank is not None and number.ndim <= rank:
            scale = float(np.asarray(number).reshape(-1)[0])
            if isinstance(value.op, Multiply) or scale:
                return value.op.operands[data], scale if isinstance(value.op, Multiply) else 1 / scale
    return value, 1.0


def is_shared(value: SSAValue) -> bool:
    """Whether a weight has other live uses, so that a modified copy would have to be stored beside it."""
    if not has_one_live_use(value):
        return True
    return isinstance(value, OpResult) and isinstance(value.op, Convert) and not has_one_live_use(value.op.operands[0])


def is_finite(values: Values) -> bool:
    """Whether all numbers are finite."""
    return all(bool(np.all(np.isfinite(piece))) for piece in pieces(in_memory_order(values)))


def stored(values: Values, dtype: np.dtype[Any]) -> Values | None:
    """Computed numbers rounded to the type of weights; None if a result is not finite or the error of rounding is too
    large.
    """
    if dtype == values.dtype:
        return values if is_finite(values) else None
    # Subnormal numbers have fewer digits, and smaller numbers become 0.
    error = largest = 0.0
    with np.errstate(all="ignore"):
        for piece in pieces(in_memory_order(values)):
            back = piece.astype(dtype).astype(values.dtype)
            if not np.all(np.isfinite(back)):
                return None
            error = max(error, np.max(np.abs(back - piece), initial=0))
            largest = max(largest, np.max(np.abs(piece), initial=0))
    return values.astype(dtype) if error <= ROUNDING[dtype.itemsize] * largest else None
