"""RNN layers whose sequence lengths the CPU plugin ignores for dynamic shapes."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from moir.analysis.analyses import Analyses
from moir.analysis.dimensions import Dimensions
from moir.dialects.opset.recurrent import (
    GRUSequence,
    LSTMSequence,
    RNNSequence,
    SequenceOp,
)
from moir.dialects.shapes import shape_of
from moir.rewriting.driver import Pattern, Rewriter, rewrite
from moir.targets.openvino_cpu.recurrent.steps import are_whole, stepped
from moir.targets.record import Fault, Form


class PaddedSequences(Pattern):
    """Replaces a sequence operation with lengths and dynamic dimensions by a TensorIterator for each direction.

        %y, %h, %c = opset5.LSTMSequence(%x, %h0, %c0, %lengths, …)      // %x: [?, ?, I]
    ->  %runs = opset1.Less([0, 1, … T - 1], %lengths)
        %h, %c, %y = opset1.TensorIterator(%x, %runs, %h0, %c0) ({
          %1, %2 = opset4.LSTMCell(a step of %x, %h, %c, …)
          %h = opset1.Select(the step of %runs, %1, %h)                  // and so on
        })

    The plugin computes all T steps of each sequence if the number of sequences or T is unknown.

    Args:
        known: the dimensions of the module.
    """

    roots = (GRUSequence, LSTMSequence, RNNSequence)

    def __init__(self, known: Dimensions) -> None:
        self.known = known

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, SequenceOp)
        if has_unknown_sizes(op) and not are_whole(op, self.known):
            rewriter.replace_with(op, stepped(rewriter.op, op))


def has_unknown_sizes(op: SequenceOp) -> bool:
    """Whether the number of sequences or the number of steps T is dynamic."""
    return min((shape_of(op.operands[0]) or (-1,))[:2]) < 0


def _step_through_sequences(module: ModuleOp, analyses: Analyses) -> bool:
    if not any(has_unknown_sizes(op) for op in analyses.operations(SequenceOp)):
        return False
    return rewrite(module, [PaddedSequences(analyses.dimensions())], analyses=analyses)


FORMS = (
    Form(
        "step-through-sequences",
        summary="Computes recurrent sequences with individual lengths and dynamic dimensions by loops over steps.",
        run=_step_through_sequences,
        roots=(GRUSequence, LSTMSequence, RNNSequence),
        after=("compute-gates",),
        faults=(
            Fault(
                "sequence-lengths",
                "LSTMSequence, GRUSequence and RNNSequence of a dynamic number of sequences or steps, with lengths below that of the steps",
                "has all steps of each sequence",
            ),
        ),
    ),
)
