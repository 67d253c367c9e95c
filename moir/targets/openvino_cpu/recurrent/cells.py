"""Recurrent cells written out as elementary operations of their gates."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from moir.dialects.opset.recurrent import (
    CellOp,
    GRUCell,
    GRUSequence,
    RecurrentOp,
)
from moir.expansions.loops.recurrent_cells import Activation, RecurrentCell
from moir.rewriting.builder import OpBuilder


def needs_decomposed_gates(op: RecurrentOp) -> bool:
    """Whether a cell or sequence has to be written out as operations of its gates: an activation is HardSigmoid.

    The plugin has no kernel for a cell with it.
    """
    return "hardsigmoid" in op.texts("activations")


def contribution(op: OpBuilder, cell: RecurrentOp, x: SSAValue, w: SSAValue, r: SSAValue, b: SSAValue) -> list[SSAValue]:
    """Build the contribution of the inputs to the gates, which can be computed for all steps at once.

    Args:
        op: the builder.
        cell: the cell or sequence.
        x: the inputs.
        w, r, b: the weights of the inputs and of the state, and the bias.

    Returns the contribution, r, and for some GRUs the part of the bias that belongs to the product of the state.
    """
    inputs = op.MatMul(x, w, transpose_b=True)
    if not _has_last_bias(cell):
        return [op.Add(inputs, b), r]
    gates = 3 * cell.integer("hidden_size")
    of_input, last = op.VariadicSplit.parts(2, b, 0, [gates, cell.integer("hidden_size")])
    return [op.Add(inputs, of_input), r, last]


def _has_last_bias(cell: RecurrentOp) -> bool:
    return isinstance(cell, GRUCell | GRUSequence) and cell.flag("linear_before_reset")


def gates(op: OpBuilder, cell: RecurrentOp, weights: Sequence[SSAValue]) -> RecurrentCell:
    """The `RecurrentCell` that builds the operations of a step of `cell`, with its activations, clip and hidden size.

    `weights` are those of the state, and for some GRUs the bias of their product.
    """
    alphas, betas = (cell.numbers(f"activations_{name}") for name in ("alpha", "beta"))
    activations = [
        Activation(name, *(given[index] if index < len(given) else default for given, default in ((alphas, 0.2), (betas, 0.5))))
        for index, name in enumerate(cell.texts("activations"))
    ]
    return RecurrentCell(
        op,
        type(cell).__name__[: -len("Cell")] if isinstance(cell, CellOp) else type(cell).__name__[: -len("Sequence")],
        cell.integer("hidden_size"),
        activations,
        weights[0],
        clip=cell.number("clip"),
        linear_before_reset=_has_last_bias(cell),
        last_bias=weights[1] if len(weights) > 1 else None,
    )
