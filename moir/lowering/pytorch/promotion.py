"""The promotion of element types. The program states the types of results; the types in which comparisons are computed
follow from PyTorch's rules.

A type is of a category: boolean < integer < float. The result has the type of the tensors with dimensions, unless a
scalar tensor has a higher category, or a number a higher category than both.

Source: result_type and combine_categories in TypeProperties.cpp of PyTorch 2.9.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import update_wrapper

import numpy as np
from xdsl.ir import Attribute, SSAValue

from moir.dialects.element_types import REAL_TYPES, boolean, dynamic, f32, f64, is_element_type, si64, to_numpy
from moir.dialects.element_types import from_numpy as element_of_dtype
from moir.dialects.shapes import element_of, rank_of
from moir.lowering.binder import LoweringNode
from moir.lowering.pytorch.arguments import Scalar
from moir.lowering.table import BoundHandler, Replacement
from moir.rewriting.builder import OpBuilder


def inferred_element(node: LoweringNode, index: int = 0) -> Attribute:
    """The element type that the program states for a result. Raises ConversionError if it states none."""
    element = element_of(node.op.results[index])
    if element is dynamic or not is_element_type(element):
        node.fail("its result is not a tensor of real numbers", hint="cut the model before this node: operations have real numbers only")
    return element


def with_inferred_elements(_kind: str, handler: BoundHandler) -> BoundHandler:
    """The handler that calls `handler` and converts its values to the element types that the program states for
    results.
    """

    def call(node: LoweringNode, op: OpBuilder) -> Replacement | None:
        results = handler(node, op)
        if results is None:
            return None
        values = [results] if isinstance(results, SSAValue) else list(results)
        for index, (result, value) in enumerate(zip(node.op.results, values, strict=False)):
            element = element_of(result)
            if value is not None and element is not dynamic:
                values[index] = op.convert(value, element)
        return values

    return update_wrapper(call, handler)


def as_element(op: OpBuilder, element: Attribute, *values: Scalar) -> list[SSAValue]:
    """Tensors and numbers as tensors of one element type."""
    return [number_of(op, value, element) if not isinstance(value, SSAValue) else op.convert(value, element) for value in values]


def number_of(op: OpBuilder, value: float, element: Attribute) -> SSAValue:
    """A number as a scalar of an element type, rounded to the nearest number of that type."""
    with np.errstate(all="ignore"):
        return op.constant(np.asarray(value).astype(to_numpy(element)), element)


def category(element: Attribute) -> int:
    """The category of an element type: 0 for boolean, 1 for integers, 2 for floats."""
    return 0 if element == boolean else 2 if element in REAL_TYPES else 1


def promoted(values: Sequence[Scalar]) -> Attribute:
    """The element type in which PyTorch computes an operation on these tensors and numbers."""
    with_dimensions = [element_of(each) for each in values if isinstance(each, SSAValue) and rank_of(each) != 0]
    scalars = [element_of(each) for each in values if isinstance(each, SSAValue) and rank_of(each) == 0]
    numbers = [_of_number(each) for each in values if not isinstance(each, SSAValue)]
    result: Attribute | None = None
    for group in (with_dimensions, scalars, numbers):
        element: Attribute | None = None
        for each in group:
            element = each if element is None else promote(element, each)
        result = element if result is None else result if element is None else _combined(result, element)
    assert result is not None
    return result


def product_of(op: OpBuilder, a: SSAValue, b: SSAValue) -> SSAValue:
    """The product in the common element type of two tensors, in which products of integers wrap around."""
    return op.Multiply(*as_element(op, promoted([a, b]), a, b))


def _of_number(value: float) -> Attribute:
    return boolean if isinstance(value, bool) else si64 if isinstance(value, int) else f32


def _combined(higher: Attribute, lower: Attribute) -> Attribute:
    return promote(higher, lower) if category(lower) > category(higher) else higher


def promote(a: Attribute, b: Attribute) -> Attribute:
    """The element type to which the element types of two tensors with dimensions are promoted."""
    if a == b:
        return a
    if category(a) != category(b):
        return max(a, b, key=category)
    if category(a) == 2:
        return f64 if f64 in (a, b) else f32
    return element_of_dtype(np.promote_types(to_numpy(a), to_numpy(b)))


def is_integral(element: Attribute) -> bool:
    """Whether an element type is an integer or boolean one."""
    return category(element) < 2
