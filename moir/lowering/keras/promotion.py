"""The element type that Keras computes in where operands have several, or are Python numbers.

Booleans become integers, these become f32; of two floats, or of two integers, the wider one counts. A Python number
takes the type of the tensor, unless it is a float beside integers, which become f32.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from xdsl.ir import Attribute, SSAValue

from moir.dialects.element_types import REAL_TYPES, boolean, describe, dynamic, f32, si8, si16, si32, si64
from moir.dialects.shapes import element_of
from moir.lowering.keras.attributes import is_tensor, numbers_of
from moir.rewriting.builder import OpBuilder

_SIGNED = {8: si8, 16: si16, 32: si32, 64: si64}


def common_type(elements: Sequence[Attribute]) -> Attribute:
    """The common element type of tensors with these element types."""
    known = [each for each in elements if each is not dynamic]
    if not known:
        return dynamic
    reals = [each for each in known if each in REAL_TYPES]
    if reals:
        widths = {describe(each).bits for each in reals}
        widest = max(reals, key=lambda each: describe(each).bits)
        # Neither f16 nor bf16 represents all values of the other.
        return f32 if len({each for each in reals if describe(each).bits == max(widths)}) > 1 else widest
    integers = [each for each in known if each != boolean]
    if not integers:
        return boolean
    signed = [each for each in integers if describe(each).xml.startswith("i")]
    unsigned = [each for each in integers if each not in signed]
    width = max((describe(each).bits for each in signed), default=0)
    largest = max((describe(each).bits for each in unsigned), default=0)
    if not signed:
        return max(unsigned, key=lambda each: describe(each).bits)
    if largest >= 64:
        return f32
    return _SIGNED[max(width, 2 * largest if largest >= width else width)]


def promoted(op: OpBuilder, values: Sequence[SSAValue]) -> list[SSAValue]:
    """Tensors converted to their common element type."""
    element = common_type([element_of(each) for each in values])
    return list(values) if element is dynamic else [op.convert(each, element) for each in values]


def operands(op: OpBuilder, *values: Any, least: Attribute | None = None) -> list[SSAValue]:
    """Tensors and Python numbers, converted to their common element type; `least` takes part in finding it, as a
    further tensor's type.
    """
    tensors = [each for each in values if is_tensor(each)]
    numbers = [numbers_of(each) for each in values if not is_tensor(each)]
    elements = [element_of(each) for each in tensors]
    element = common_type(elements) if elements else None
    if element is None or (element not in REAL_TYPES and element is not dynamic and any(each.dtype.kind == "f" for each in numbers)):
        element = f32 if element is not None or any(each.dtype.kind == "f" for each in numbers) else si32
    if element == boolean and any(each.dtype.kind == "i" for each in numbers):
        element = si32
    if least is not None and element is not dynamic:
        element = common_type([element, least]) if element not in REAL_TYPES else element
    return [
        (each if element is dynamic else op.convert(each, element)) if is_tensor(each) else _constant(op, each, element, tensors)
        for each in values
    ]


def _constant(op: OpBuilder, number: Any, element: Attribute, tensors: Sequence[SSAValue]) -> SSAValue:
    if element is dynamic:
        return op.constant_like(number, tensors[0])
    return op.constant(np.asarray(number), element)
