"""Comparison of the bodies of loops over tokens, and the operations in such bodies that the runtime's fusions
recognize.
"""

from __future__ import annotations

from collections.abc import Hashable

from xdsl.ir import Block, Operation, SSAValue

from moir.analysis.constants import constant_of, scalar_of
from moir.dialects.moir import BodyPort
from moir.dialects.opset.control_flow import parameters_of, results_of
from moir.dialects.opset.infrastructure import Parameter
from moir.dialects.opset.movement import Roll
from moir.dialects.opset.reduction import ReductionOp
from moir.dialects.opset.shape import SqueezingOp, Unsqueeze
from moir.dialects.shapes import rank_of
from moir.rewriting.builder import OpBuilder
from moir.rewriting.driver import Rewriter


def write_first_squeezes(rewriter: Rewriter, block: Block) -> None:
    """Replace each Squeeze of a loop body by opset1.Squeeze, the only version that the runtime's fusions recognize."""
    for each in list(block.ops):
        if isinstance(each, SqueezingOp) and each.name != "opset1.Squeeze":
            first = OpBuilder(rewriter.known.of_body(), block, each)["opset1.Squeeze"](*each.operands)
            each.results[0].replace_all_uses_with(first)
            each.detach()
            each.erase()


def computation(block: Block, inputs: list[BodyPort]) -> Hashable:
    """A hashable key of what a loop body computes, equal for bodies that differ only in copies of slices and the signs
    of axes.

    `inputs` are the connections of the body's Parameters.
    """
    known: dict[SSAValue, Hashable] = {
        parameter.results[0]: (port.index, port.back_edge, None if port.slicing is None else port.slicing.axis)
        for parameter, port in zip(parameters_of(block), inputs, strict=True)
    }
    for op in block.ops:
        if isinstance(op, Parameter) or not op.results:
            continue
        array = constant_of(op.results[0])
        if isinstance(op, Roll) and scalar_of(op.operands[1]) == 0:
            known[op.results[0]] = known[op.operands[0]]
        elif array is not None:
            known[op.results[0]] = tuple(array.ravel().tolist())
        else:
            known[op.results[0]] = (op.name, *_operands(op, known))
    return tuple(known[value] for value in results_of(block))


def _operands(op: Operation, known: dict[SSAValue, Hashable]) -> list[Hashable]:
    """The keys of an operation's operands for `computation`, with nonnegative axes; `known` has the keys of values of
    the body.
    """
    facts = [known[operand] for operand in op.operands]
    if isinstance(op, ReductionOp | Unsqueeze | SqueezingOp) and (axes := constant_of(op.operands[1])) is not None:
        shown = op.results[0] if isinstance(op, Unsqueeze) else op.operands[0]
        facts[1] = tuple((axes.ravel() % (rank_of(shown) or 1)).tolist())
        facts.append(rank_of(op.results[0]))
    return facts
