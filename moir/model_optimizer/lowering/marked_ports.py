"""Operations of the API whose ports are marked as being in the layout of the IR, on data of a channel-last network.

    %y = mo.Reshape(%image : 1x8x8x6, [0, 3, 2, -1]) {correct_in_data_layout = {0, 1}, correct_out_data_layout = {0}}
->  %1 = opset1.Transpose(%image, [0, 3, 1, 2])
    %2 = opset1.Reshape(%1, [0, 3, 2, -1]) : 1x3x2x64
    %y = opset1.Transpose(%2, [0, 2, 3, 1])

In Model Optimizer the images of a network were [N, C, spatial…] after the middle phase. A marked port takes or returns
such data unchanged, whereas other ports had transpositions or permuted attributes. The attribute `nchw_layout` marks
all ports of data. Here values have the layout of the framework, so that marked ports get transpositions, which
`choose-layouts` cancels between two of them.

Data that is not an image, because the network has reshaped it, is not transposed: extensions mark all ports from there
on.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

from xdsl.ir import Operation, SSAValue

from moir.dialects.opset.interfaces.elementwise import BroadcastingOp, UnaryOp
from moir.dialects.opset.movement import Transpose
from moir.dialects.shapes import rank_of, shape_of
from moir.lowering.table import Replacement
from moir.model_optimizer.graph.attribute_permutation import channel_first_order, inverse
from moir.model_optimizer.lowering.node import MoLoweringNode
from moir.rewriting.builder import OpBuilder

MARKED_INPUTS, MARKED_OUTPUTS, ALL_MARKED = "correct_in_data_layout", "correct_out_data_layout", "nchw_layout"
"""The attributes that mark ports: two with sets of port indices, and one that says whether all ports of data are
marked.
"""

_ORDERED = frozenset(("Transpose", "Permute"))
"""The kinds whose data is [N, C, spatial…] if input 1, their order, is marked."""


class MarkedPorts:
    """The marked ports of an operation whose data becomes [N, C, spatial…].

    Args:
        node: the operation.

    Attributes:
        inputs: the indices of the operands that are to be transposed.
        outputs: the indices of the results that are to be transposed back.
        target_order: the order for the entries of a Reshape's target, if the target is not marked; None if they keep
            their order.
    """

    def __init__(self, node: MoLoweringNode) -> None:
        operands, results = node.op.operands, node.op.results
        marked, given = frozenset(node.get(MARKED_INPUTS, ())), frozenset(node.get(MARKED_OUTPUTS, ()))
        everywhere = bool(node.get(ALL_MARKED))
        if node.kind in _ORDERED and 1 in marked:
            marked |= {0}
        images = [index for index in range(len(operands)) if (everywhere or index in marked) and is_image(node, operands[index])]
        self.inputs = images if node.is_channel_last else []
        self.outputs = [each.index for each in results if self.inputs and (everywhere or each.index in given)]
        self.target_order: tuple[int, ...] | None = None
        if node.kind == "Reshape" and self.outputs and 1 not in marked and len(operands) > 1 and (shape := shape_of(operands[1])):
            self.target_order = channel_first_order(shape[0])

    @contextmanager
    def presented(self, node: MoLoweringNode, op: OpBuilder) -> Generator[None]:
        """A context in which the operands `inputs` of the operation are transposed from [N, spatial…, C] to [N, C,
        spatial…], and the target of a Reshape has the order `target_order`. At its end the operation gets its own
        operands back.
        """
        before = tuple(node.op.operands)
        for index in self.inputs:
            node.op.operands[index] = op.transposed(before[index], _order(before[index]))
        if self.target_order is not None:
            node.op.operands[1] = op.Gather(before[1], list(self.target_order), 0)
        try:
            yield
        finally:
            node.op.operands = before

    def as_given(self, op: OpBuilder, replacement: Replacement) -> Replacement:
        """The values `replacement`, those of the results `outputs` transposed from [N, C, spatial…] back to
        [N, spatial…, C]; None stays for results without a value.
        """
        values = [replacement] if isinstance(replacement, SSAValue) else list(replacement)
        return [
            op.transposed(value, inverse(_order(value))) if value is not None and index in self.outputs else value
            for index, value in enumerate(values)
        ]


def in_marked_layout(node: MoLoweringNode, op: OpBuilder, build: Callable[[MoLoweringNode, OpBuilder], Any]) -> Any:
    """Call `build` while operands at marked ports are transposed to [N, C, spatial…]; returns its results, of which
    those at marked ports are transposed back to [N, spatial…, C].

    Only marked operands that are images are transposed: those that a Transpose from [N, C, spatial…] computes, perhaps
    through elementwise operations (`is_image`). Without one, `build` is called with unchanged operands and its results
    are returned as they are; `NotImplemented` always is.

    Args:
        node: the operation.
        op: the builder.
        build: builds the operations that replace the operation, from the node and the builder.
    """
    ports = MarkedPorts(node)
    if not ports.inputs:
        return build(node, op)
    with ports.presented(node, op):
        replacement = build(node, op)
    return replacement if replacement is NotImplemented else ports.as_given(op, replacement)


def _order(value: SSAValue) -> tuple[int, ...]:
    order = channel_first_order(rank_of(value))
    return () if order is None else order


def is_image(node: MoLoweringNode, value: SSAValue) -> bool:
    """Whether a value is an image: a Transpose from [N, C, spatial…], or computed from one by elementwise
    operations.
    """
    order = channel_first_order(rank_of(value))
    pending, seen = [value] if order is not None else [], set[SSAValue]()
    while pending:
        current = pending.pop()
        owner = current.owner
        if current in seen or not isinstance(owner, Operation):
            continue
        seen.add(current)
        if isinstance(owner, Transpose):
            known = node.known.constant(owner.operands[1])
            if known is not None and order is not None and tuple(known.tolist()) == inverse(order):
                return True
        elif isinstance(owner, UnaryOp | BroadcastingOp):
            pending.extend(each for each in owner.operands if rank_of(each) == rank_of(value))
    return False
