"""Replacing recurrent cells that are unrolled, one cell for each step, by an operation for the whole sequence.

`moir.passes.fuse.recurrent.unrolled_cells` recognizes the cells; the docstring of `fuse-unrolled-cells` shows the form
before and after.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import Block, Operation, OpResult, SSAValue

from moir.analysis.constants import constant_of
from moir.analysis.known_values import KnownValues
from moir.analysis.order import sort_block
from moir.dialects.names import inherit_names
from moir.dialects.opset.movement import Concat, Split
from moir.dialects.opset.shape import Unsqueeze
from moir.dialects.opset.slicing import Slice
from moir.dialects.shapes import element_of, normalize_axis, rank_of, shape_of
from moir.errors import InferenceError
from moir.passes.fuse.recurrent.recurrent_cells import Cell
from moir.passes.fuse.recurrent.unrolled_cells import Chain, chains_of
from moir.rewriting.builder import OpBuilder
from moir.rewriting.dead_code import eliminate_dead
from moir.rewriting.sequences import RANK, joined, lengths, reversal_of


def fuse_unrolled_cells(block: Block, operations: Sequence[Operation], known: KnownValues) -> bool:
    """Replace the chains of steps among the operations of a block; returns whether there were any."""
    ends: list[tuple[SSAValue, SSAValue]] = []
    replaced: dict[SSAValue, SSAValue] = {}
    for chain in chains_of(operations):
        # The data of a chain may be the states of another chain.
        chain.substitute(replaced)
        if _is_closed(chain) and _has_one_batch(chain) and not _depends_on_itself(chain):
            ends += _replace(chain, block, known, replaced)
            sort_block(block)
    if not ends:
        return False
    for op in list(block.ops):
        if isinstance(op, Concat):
            _join(op, known)
    eliminate_dead(block)
    for last, end in ends:
        _read_end(last, end, known)
    eliminate_dead(block)
    return True


def _read_end(last: SSAValue, end: SSAValue, known: KnownValues) -> None:
    """Let the users of the last hidden state read it from `end`, if no other hidden state of the sequence is used.

    Args:
        last: the state as a slice of a Split of the whole sequence.
        end: the result of the sequence operation that has the last state, [N, 1, H].
        known: known values, for the builder.
    """
    piece = last.owner
    if not last.uses or not isinstance(piece, Operation) or piece.parent is None:
        return
    parts = piece.operands[0].owner
    if isinstance(parts, Split) and all(part is piece.operands[0] or not part.uses for part in parts.results):
        state = OpBuilder(known, piece.parent, piece).Squeeze(end, [1])
        inherit_names(piece, [state])
        last.replace_all_uses_with(state)


def _is_closed(chain: Chain) -> bool:
    """Whether the cell states of a chain, except the last one, are used only by steps of the chain."""
    if chain.cell.kind != "LSTM":
        return True
    following = [states[1] for states in chain.following]
    # Each has two uses: its activation is multiplied with the output gate, and it is multiplied with the next forget
    # gate.
    return all(len(list(state.uses)) == 2 for state in following[:-1])


def _has_one_batch(chain: Chain) -> bool:
    """Whether the initial states have a dynamic batch size if the data have one.

    The operations of a cell broadcast states of one row, which opset5.LSTMSequence and the others do not. Constant
    states are broadcast when the sequence is built.
    """
    if all((shape := shape_of(x)) is not None and shape[0] != -1 for x in chain.data):
        return True
    shapes = [shape_of(state) for state in chain.states if state is not None and constant_of(state) is None]
    return all(shape is None or shape[0] == -1 for shape in shapes)


def _depends_on_itself(chain: Chain) -> bool:
    """Whether the data of a step, or a state before the first, depend on a state of the chain."""
    own = {state for states in chain.following for state in states}
    pending = [*chain.data, *(state for state in chain.states if state is not None)]
    seen: set[Operation] = set()
    while pending:
        value = pending.pop()
        if value in own:
            return True
        if isinstance(value, OpResult) and value.op not in seen:
            seen.add(value.op)
            pending.extend(value.op.operands)
    return False


def _replace(chain: Chain, block: Block, known: KnownValues, replaced: dict[SSAValue, SSAValue]) -> list[tuple[SSAValue, SSAValue]]:
    """Replace a chain by a sequence operation, and add to `replaced` what replaces each state.

    Returns a list of one pair: the hidden state after the last step, [N, H], and the result of the operation that has
    it, [N, 1, H]. The list is empty, with nothing replaced, if type inference rejects the operation.
    """
    op = OpBuilder(known, block, block.last_op)
    op.inserted = []
    try:
        end, replacements = _sequence(op, chain)
    except InferenceError:
        for built in reversed(op.inserted):
            built.detach()
            built.erase()
        return []
    for old, new in replacements:
        if isinstance(old, OpResult):
            inherit_names(old.op, [new])
        old.replace_all_uses_with(new)
        replaced[old] = new
    return [end]


def _sequence(op: OpBuilder, chain: Chain) -> tuple[tuple[SSAValue, SSAValue], list[tuple[SSAValue, SSAValue]]]:
    cell, steps = chain.cell, len(chain.data)
    x, direction = joined(op, chain.data), "forward"
    if x is None and (x := joined(op, chain.data[::-1])) is not None:
        direction = "reverse"
    if x is None:
        x = op.Concat(*(op.Unsqueeze(each, [1]) for each in chain.data), axis=1)
    states = [op.Unsqueeze(_initial(op, state, x, cell), [1]) for state in chain.states]
    weights = [op.constant(np.ascontiguousarray(each)[np.newaxis], element_of(x)) for each in (cell.w, cell.r, cell.b)]
    properties = {"direction": direction, "hidden_size": cell.hidden_size, "activations": cell.activations}
    if cell.kind == "GRU":
        properties["linear_before_reset"] = cell.linear_before_reset
    hidden, *ends = op[f"opset5.{cell.kind}Sequence"].results(x, *states, lengths(op, x), *weights, **properties)
    parts = op.Split.parts(steps, op.Squeeze(hidden, [1]), op.constant(1), num_splits=steps)
    pieces = [op.Squeeze(part, [1]) for part in (parts if direction == "forward" else parts[::-1])]
    replacements = [(states[0], piece) for states, piece in zip(chain.following, pieces, strict=True)]
    if cell.kind == "LSTM":
        replacements.append((chain.following[-1][1], op.Squeeze(ends[1], [1])))
    return (pieces[-1], ends[0]), replacements


def _initial(op: OpBuilder, state: SSAValue | None, x: SSAValue, cell: Cell) -> SSAValue:
    """The state [N, H] before the first step: `state`, broadcast to N rows where it is constant; zeros if it
    is None.
    """
    if state is not None and (shape := shape_of(state)) is not None and len(shape) == 2 and constant_of(state) is None:
        return state
    value = op.constant(0.0, element_of(x)) if state is None else state
    batch = (shape_of(x) or (-1,))[0]
    first = op.constant([batch]) if batch >= 0 else op.Gather(op.ShapeOf(x), [0], 0)
    return op.Broadcast(value, op.Concat(first, op.constant([cell.hidden_size]), axis=0))


def _join(concat: Concat, known: KnownValues) -> None:
    """Replace a Concat of the slices of a sequence by the sequence, or by its rows, [T · N, K].

    If the slices are in reverse order, the reversal of the Concat is replaced.
    """
    rank, block = rank_of(concat.results[0]), concat.parent
    if rank is None or block is None:
        return
    axis, values = normalize_axis(concat.integer("axis"), rank), list(concat.operands)
    if rank == RANK and axis in (0, 1):
        axes = [constant_of(each.owner.operands[1]) if isinstance(each.owner, Unsqueeze) else None for each in values]
        if any(each is None or each.size != 1 or normalize_axis(int(each.reshape(-1)[0]), RANK) != axis for each in axes):
            return
        values = [each.owner.operands[0] for each in values if isinstance(each.owner, Operation)]
    elif rank != RANK - 1 or axis != 0:
        return
    op = OpBuilder(known, block, concat)
    replaced = [concat.results[0]]
    replacement = joined(op, values)
    if replacement is None and rank == RANK:
        users = [use.operation for use in concat.results[0].uses]
        replaced = [each.results[0] for each in users if isinstance(each, Slice) and reversal_of(each.results[0], axis) is not None]
        replacement = joined(op, values[::-1]) if replaced else None
    width = (shape_of(replacement) or (-1,))[-1] if replacement is not None else -1
    if replacement is None or width < 0:
        return
    result = replacement if axis == 1 else op.transposed(replacement, [1, 0, 2])
    if rank == RANK - 1:
        result = op.Reshape(result, [-1, width], special_zero=False)
    for old in replaced:
        inherit_names(old.op, [result])
        old.replace_all_uses_with(result)
