"""The values of a model that are compared: its outputs, or the operands of operations that select outputs.

    %scores, %indices = opset11.TopK(%logits, 5)    ->  %logits in place of both

After rounding, another one of two nearly equal numbers may be the larger one. Then a selection has other results, or
another number of them, although no operation computes wrongly: the numbers themselves are compared.
"""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, OpResult, SSAValue

from moir.dialects.element_types import REAL_TYPES
from moir.dialects.opset.detection.outputs import DetectionOutputOp
from moir.dialects.opset.detection.proposals import (
    ExperimentalDetectronDetectionOutput,
    ExperimentalDetectronGenerateProposalsSingleImage,
    ExperimentalDetectronTopKROIs,
    GenerateProposals,
    ProposalOp,
)
from moir.dialects.opset.detection.suppression import GreedySuppressionOp, RankedSuppressionOp
from moir.dialects.opset.indexing import NonZero
from moir.dialects.opset.infrastructure import Constant, Result
from moir.dialects.opset.random import Multinomial
from moir.dialects.opset.sort import TopKOp, Unique
from moir.dialects.shapes import element_of
from moir.execution.ports import interface_of, only_model

SELECTING: tuple[type[Operation], ...] = (
    *(DetectionOutputOp, ExperimentalDetectronDetectionOutput, ExperimentalDetectronGenerateProposalsSingleImage),
    *(ExperimentalDetectronTopKROIs, GenerateProposals, ProposalOp, GreedySuppressionOp, RankedSuppressionOp),
    *(Multinomial, NonZero, TopKOp, Unique),
)
"""The operations that select by comparing numbers with each other."""


def compared_values(module: ModuleOp) -> dict[str, SSAValue]:
    """The values of the model's block that are compared, by name: an output, or `TopK 3, operand 0` for an operand.

    Args:
        module: a module in opset dialects.
    """
    block = only_model(module).block
    selected: set[Operation] = set()
    numbers: dict[str, SSAValue] = {}
    for index, op in enumerate(block.ops):
        if any(isinstance(operand, OpResult) and operand.op in selected for operand in op.operands):
            selected.add(op)
        elif isinstance(op, SELECTING):
            selected.add(op)
            numbers |= {f"{op.name.partition('.')[2]} {index}, operand {number}": each for number, each in enumerate(_numbers(op))}
    results = [op for op in block.ops if isinstance(op, Result)]
    ports = interface_of(module).outputs
    outputs = {port.name: op.operands[0] for port, op in zip(ports, results, strict=True) if op not in selected}
    return outputs | numbers


def _numbers(op: Operation) -> list[SSAValue]:
    """The operands of a selecting operation that are not constant: the floats among them if there are any, else all.

    The condition of a Select, for one, is a boolean that a comparison of floats computes.
    """
    computed = [each for each in op.operands if not isinstance(each.owner, Constant)]
    return [each for each in computed if element_of(each) in REAL_TYPES] or computed
