"""How kinds of PyTorch compute with complex numbers where some operands may be real."""

from __future__ import annotations

from typing import TYPE_CHECKING

from moir.lowering.complex.kinds import Complex, with_handler

if TYPE_CHECKING:
    from moir.lowering.binder import LoweringNode
    from moir.lowering.handlers import BoundHandler, Replacement
    from moir.rewriting.builder import OpBuilder

SUMMED = with_handler("pytorch.complex.elements:terms")
"""The rule of kinds all operands of which are elements of the results, as in sums."""

JOINED = with_handler("pytorch.complex.elements:elements")
"""The rule of kinds of which certain operands are elements of the results; the others are indices or conditions."""


def bilinear_in(first: str, second: str, added: str | None = None, *, conjugates: bool = False) -> Complex:
    """The record that a kind is bilinear in two operands, given by their names; the operand `added` is added to the
    result.

    With `conjugates`, the first operand is conjugated.
    """

    def compute(node: LoweringNode, op: OpBuilder, handler: BoundHandler) -> Replacement:
        from moir.lowering.pytorch.complex.functions import bilinear_result

        return bilinear_result(node, op, handler, (first, second, added), conjugates=conjugates)

    return Complex(compute)
