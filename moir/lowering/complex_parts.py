"""Operations that are applied to the real and imaginary parts of complex numbers separately."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ComplexType
from xdsl.ir import Attribute, SSAValue

from moir.expansions.complex_numbers import paired
from moir.lowering.binder import LoweringNode
from moir.lowering.table import BoundHandler, Replacement
from moir.rewriting.builder import OpBuilder


def real_type(value: Attribute) -> Attribute:
    """The element type of the parts of a complex type; any other attribute is returned unchanged."""
    return value.parameters[0] if isinstance(value, ComplexType) else value


class PartNode(LoweringNode):
    """A node that applies a kind to the real or to the imaginary parts only.

    Args:
        whole: the node with complex operands.
        operands: the operands, with a part in place of each complex operand.
    """

    def __init__(self, whole: LoweringNode, operands: Sequence[SSAValue]) -> None:
        real: dict[str, Attribute] = {name: real_type(value) for name, value in whole.op.properties.items()}
        types = [result.type for result in whole.op.results]
        op = type(whole.op).create(operands=operands, properties=real, attributes=whole.op.attributes, result_types=types)
        super().__init__(op, whole.version, whole.run)
        self.whole = whole

    def is_used(self, index: int) -> bool:
        """Whether a result of the complex node exists and has uses."""
        return self.whole.is_used(index)


def computed_by_parts(node: LoweringNode, op: OpBuilder, handler: BoundHandler, complex_operands: Sequence[int]) -> Replacement:
    """The results of a handler for the real and for the imaginary parts, joined as pairs in a last dimension."""
    found: list[Sequence[SSAValue | None]] = []
    for index in (0, 1):
        operands = [op.Gather(value, index, -1) if place in complex_operands else value for place, value in enumerate(node.op.operands)]
        part = PartNode(node, operands)
        try:
            results = handler(part, op)
        finally:
            part.op.drop_all_references()
        assert results is not None
        found.append([results] if isinstance(results, SSAValue) else results)
    return [None if real is None or imaginary is None else paired(op, real, imaginary) for real, imaginary in zip(*found, strict=True)]
