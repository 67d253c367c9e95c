"""Operations whose results consist of, or add, elements of several operands, some of which may be real.

    aten.add.Tensor(%z, %x) {complex_operands = [0]}
->  the sums of z.real and x, and those of z.imaginary and 0, as pairs
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from xdsl.ir import Attribute, SSAValue

from moir.dialects.framework import REAL_RESULTS
from moir.dialects.properties import attribute_of
from moir.expansions.complex_numbers import part
from moir.lowering.binder import LoweringNode
from moir.lowering.complex.kinds import complex_operands
from moir.lowering.complex.parts import joined, results_for
from moir.lowering.handlers import BoundHandler, Replacement
from moir.rewriting.builder import OpBuilder

_ELEMENTS = ("self", "other", "value", "fill_value", "src", "source", "tensors", "values", "s")
"""The names of arguments whose elements become elements of the result; other arguments are indices or conditions."""

_NUMBERS = ("self", "other", "value", "fill_value", "src", "source", "s")
"""The arguments of `_ELEMENTS` that may be numbers instead of tensors."""


def terms(node: LoweringNode, op: OpBuilder, handler: BoundHandler) -> Replacement:
    """The result of a sum or difference for complex operands: `handler` is called for the real and for the imaginary
    parts.

    The imaginary part of a real operand is 0.
    """
    return _by_parts(node, op, handler, lambda _: True)


def elements(node: LoweringNode, op: OpBuilder, handler: BoundHandler) -> Replacement:
    """The result of an operation that joins or fills tensors, for complex operands; `handler` is called for both parts.

    A real operand that supplies elements of the result, such as `src` or `value`, has an imaginary part of 0. Other
    real operands, such as a mask or indices, are the same for both parts.
    """
    names = node.texts("arguments", ())
    return _by_parts(node, op, handler, lambda index: names[index].partition(".")[0] in _ELEMENTS)


def ones(node: LoweringNode, op: OpBuilder, handler: BoundHandler) -> Replacement:
    """A complex tensor of ones: `handler` builds the real part, the imaginary part is 0.

    For a real result that of `handler`.
    """
    names = node.texts("arguments", ())

    def results_of_part(index: int) -> Sequence[SSAValue | None]:
        return results_for(node, op, handler, _operand_parts(node, op, lambda operand: names[operand] in _ELEMENTS, index))

    real = results_of_part(0)
    if REAL_RESULTS in node.op.properties:
        return real
    return joined(op, real, [None if each is None else op.Multiply(each, 0) for each in results_of_part(1)])


def _by_parts(node: LoweringNode, op: OpBuilder, handler: BoundHandler, is_element: Callable[[int], bool]) -> Replacement:
    parts = [
        results_for(node, op, handler, _operand_parts(node, op, is_element, index), _number_parts(node, index))
        for index in ((0,) if REAL_RESULTS in node.op.properties else (0, 1))
    ]
    return parts[0] if len(parts) == 1 else joined(op, *parts)


def _operand_parts(node: LoweringNode, op: OpBuilder, is_element: Callable[[int], bool], index: int) -> list[SSAValue]:
    """The operands for one part of a result: their real parts if `index` is 0, their imaginary parts if it is 1.

    The imaginary part of a real operand is 0 if `is_element` is true for the operand's index; otherwise the operand
    itself is taken.
    """
    pairs = complex_operands(node.op)
    operands: list[SSAValue] = []
    for operand_index, value in enumerate(node.op.operands):
        if operand_index in pairs:
            operands.append(part(op, value, index))
        else:
            operands.append(op.Multiply(value, 0) if index and is_element(operand_index) else value)
    return operands


def _number_parts(node: LoweringNode, index: int) -> dict[str, Attribute]:
    """The properties of a node that are numbers, replaced by their real parts if `index` is 0, by their imaginary parts
    if it is 1.
    """
    properties: dict[str, Attribute] = {}
    for name in _NUMBERS:
        value: object = node.attribute(name, None)
        if isinstance(value, tuple | list) and len(parts := cast("Sequence[float]", value)) == 2:
            properties[name] = attribute_of(float(parts[index]))
        elif isinstance(value, int | float) and index:
            # A number that is added is real, too.
            properties[name] = attribute_of(0.0)
    return properties
