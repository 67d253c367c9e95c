"""Operations that are applied to the real and imaginary parts of complex numbers separately."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from xdsl.dialects.builtin import ComplexType
from xdsl.ir import Attribute, SSAValue

from moir.dialects.framework import COMPLEX_OPERANDS, REAL_RESULTS
from moir.dialects.shapes import element_of, tensor
from moir.expansions.complex_numbers import paired, part
from moir.lowering.binder import LoweringNode
from moir.lowering.handlers import BoundHandler, Replacement
from moir.rewriting.builder import OpBuilder

UNCHANGED: Mapping[str, Attribute] = MappingProxyType({})


def real_type(value: Attribute) -> Attribute:
    """The element type of the parts of a complex element type; any other attribute is returned unchanged."""
    return value.parameters[0] if isinstance(value, ComplexType) else value


class PartNode(LoweringNode):
    """A node that computes with real tensors in place of the complex operands of another node.

    Args:
        whole: the node with complex operands.
        operands: the operands, with real tensors instead of the complex ones.
        changed: the properties that differ from those of `whole`.
    """

    def __init__(self, whole: LoweringNode, operands: Sequence[SSAValue], changed: Mapping[str, Attribute]) -> None:
        marks = (COMPLEX_OPERANDS, REAL_RESULTS)
        real: dict[str, Attribute] = {name: real_type(value) for name, value in whole.op.properties.items() if name not in marks}
        types = [tensor(None, element_of(result)) for result in whole.op.results]
        op = type(whole.op).create(operands=operands, properties=real | dict(changed), attributes=whole.op.attributes, result_types=types)
        super().__init__(op, whole.version, whole.run)
        self.whole = whole

    def is_used(self, index: int) -> bool:
        """Whether a result of the complex node exists and has uses."""
        return self.whole.is_used(index)


def results_for(
    node: LoweringNode,
    op: OpBuilder,
    handler: BoundHandler,
    operands: Sequence[SSAValue],
    changed: Mapping[str, Attribute] = UNCHANGED,
) -> Sequence[SSAValue | None]:
    """Call the handler for real numbers with other operands than the node's; returns its results.

    Args:
        node: the node with complex operands.
        op: the builder.
        handler: the handler for real numbers.
        operands: the operands, which are real.
        changed: the properties that differ from those of the node.
    """
    real = PartNode(node, operands, changed)
    try:
        results = handler(real, op)
    finally:
        real.op.drop_all_references()
    if results is None:
        node.fail("it computes with complex numbers")
    return [results] if isinstance(results, SSAValue) else results


def computed_by_parts(node: LoweringNode, op: OpBuilder, handler: BoundHandler, complex_operands: Sequence[int]) -> Replacement:
    """Call a handler twice, with the real parts and with the imaginary parts of the operands `complex_operands`.

    Returns the results of both calls, paired in a last dimension of 2.
    """

    def results_of_part(index: int) -> Sequence[SSAValue | None]:
        operands = [part(op, value, index) if operand in complex_operands else value for operand, value in enumerate(node.op.operands)]
        return results_for(node, op, handler, operands)

    real = results_of_part(0)
    return real if REAL_RESULTS in node.op.properties else joined(op, real, results_of_part(1))


def joined(op: OpBuilder, reals: Sequence[SSAValue | None], imaginaries: Sequence[SSAValue | None]) -> Replacement:
    """Pair the real and the imaginary part of each result in a last dimension of 2; a result that is None in both stays
    None.
    """
    return [None if a is None or b is None else paired(op, a, b) for a, b in zip(reals, imaginaries, strict=True)]
