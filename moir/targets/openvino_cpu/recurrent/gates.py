"""Recurrent cells and sequences with an activation that the CPU plugin does not have."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from moir.analysis.analyses import Analyses
from moir.analysis.dimensions import Dimensions
from moir.dialects.opset.recurrent import (
    CellOp,
    GRUCell,
    GRUSequence,
    LSTMCell,
    LSTMSequence,
    RecurrentOp,
    RNNCell,
    RNNSequence,
    SequenceOp,
)
from moir.rewriting.driver import Pattern, Rewriter, rewrite
from moir.targets.openvino_cpu.recurrent.cells import contribution, gates, needs_decomposed_gates
from moir.targets.openvino_cpu.recurrent.steps import are_whole, stepped
from moir.targets.record import Fault, Form


class GatesOfSequence(Pattern):
    """Replaces a sequence operation with the activation HardSigmoid by a TensorIterator for each direction.

        %y, %h, %c = opset5.LSTMSequence(%x, %h0, %c0, %lengths, %w, %r, %b) {activations = ["hardsigmoid", …]}
    ->  %0 = opset1.Add(opset1.MatMul(%x, %w), %b)
        %h, %c, %y = opset1.TensorIterator(%0, %h0, %c0) ({ the gates })

    The plugin has no cell with this activation, and does not compile the sequence.

    Args:
        known: the dimensions of the module.
    """

    roots = (GRUSequence, LSTMSequence, RNNSequence)

    def __init__(self, known: Dimensions) -> None:
        self.known = known

    def may_match(self, op: Operation) -> bool:
        assert isinstance(op, SequenceOp)
        return needs_decomposed_gates(op)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, SequenceOp)
        rewriter.replace_with(op, stepped(rewriter.op, op, is_whole=are_whole(op, self.known)))


class GatesOfCell(Pattern):
    """Replaces a cell with the activation HardSigmoid by operations of its gates.

        %h = opset1.RNNCell(%x, %h0, %w, %r, %b) {activations = ["hardsigmoid"]}
    ->  %0 = opset1.Add(opset1.Add(opset1.MatMul(%h0, %r), opset1.MatMul(%x, %w)), %b)
        %h = opset1.Minimum(opset1.Maximum(opset1.Add(opset1.Multiply(%0, alpha), beta), 0.0), 1.0)

    The plugin does not compile it.
    """

    roots = (GRUCell, LSTMCell, RNNCell)

    def may_match(self, op: Operation) -> bool:
        assert isinstance(op, CellOp)
        return needs_decomposed_gates(op)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, CellOp)
        (x, *states), (w, r, b) = op.operands[:-3], op.operands[-3:]
        inputs, *weights = contribution(rewriter.op, op, x, w, r, b)
        rewriter.replace_with(op, list(gates(rewriter.op, op, weights).step(states, inputs)))


def _compute_gates(module: ModuleOp, analyses: Analyses) -> bool:
    if not any(needs_decomposed_gates(op) for op in analyses.operations(RecurrentOp)):
        return False
    return rewrite(module, [GatesOfSequence(analyses.dimensions()), GatesOfCell()], analyses=analyses)


FORMS = (
    Form(
        "compute-gates",
        summary="Computes recurrent cells and sequences with the activation HardSigmoid by operations of their gates.",
        run=_compute_gates,
        after=("state-sequence-sizes",),
        roots=(GRUCell, LSTMCell, RNNCell, GRUSequence, LSTMSequence, RNNSequence),
        faults=(
            Fault(
                "hard-sigmoid-cells",
                "RNNCell, GRUCell, LSTMCell, RNNSequence, GRUSequence and LSTMSequence with the activation HardSigmoid",
                "are not compiled",
            ),
        ),
    ),
)
