"""`fuse-unrolled-cells`: recurrent cells that are written out for each step of a sequence become one operation.

    %x0, %x1 = opset1.Split(%x, 1) {num_splits = 2}
    %h1, %c1 = { LSTM of %x0, %h0, %c0 }
    %h2, %c2 = { LSTM of %x1, %h1, %c1 }
    %y = opset1.Concat(%h1, %h2) {axis = 1}
->  %y, %h2, %c2 = opset5.LSTMSequence(%x, %h0, %c0, %lengths, W, R, B) {direction = "forward", hidden_size = 32}

`unrolled_cells` finds the steps. Nothing else may use the cell states between them, and the data of a step may not
depend on the steps before it, as in a decoder. A Concat of values that belong to each step, in the order of the
sequence, becomes the sequence: of hidden states, of those of two directions, and of sums of them. Cells of relu are
recognised only beside others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, OpResult, SSAValue

from moir.analysis.analyses import Analyses
from moir.analysis.constants import constant_of, scalar_of
from moir.analysis.known_values import KnownValues
from moir.analysis.order import sort_block
from moir.analysis.recurrent_cells import Cell
from moir.analysis.unrolled_cells import Chain, chains_of
from moir.dialects.names import inherit_names
from moir.dialects.opset.arithmetic import Add
from moir.dialects.opset.indexing import Gather, Gather1, Gather7
from moir.dialects.opset.matrix import MatMul
from moir.dialects.opset.movement import Concat, Split
from moir.dialects.opset.shape import Squeeze, Squeeze1, Unsqueeze
from moir.dialects.opset.slicing import Slice
from moir.dialects.shapes import element_of, normalize_axis, rank_of, shape_of
from moir.errors import InferenceError
from moir.passes.fuse.fuse_recurrent_cells import lengths, reversal_of
from moir.rewriting.builder import OpBuilder
from moir.rewriting.dead_code import eliminate_dead
from moir.rewriting.reporting_pass import ReportingPass

RANK = 3
"""Dimensions of a sequence: batch, time, and features."""


class FuseUnrolledCellsPass(ReportingPass):
    """Fuses recurrent cells that are written out for each step."""

    name = "fuse-unrolled-cells"

    ROOTS = (MatMul,)
    COMPANIONS = (("opset1.Sigmoid", "opset1.Tanh"),)

    def run(self, module: ModuleOp, analyses: Analyses) -> bool:
        changed = False
        for block, operations in analyses.contents:
            if _repeats_weights(operations):
                changed |= _fuse(block, operations, analyses.known_values)
        return changed


def _repeats_weights(operations: Iterable[Operation]) -> bool:
    """Whether two matrix products have the same second operand, as those of steps have."""
    seen: set[SSAValue] = set()
    for op in operations:
        if isinstance(op, MatMul):
            if op.operands[1] in seen:
                return True
            seen.add(op.operands[1])
    return False


def _fuse(block: Block, operations: Sequence[Operation], known: KnownValues) -> bool:
    ends: list[tuple[SSAValue, SSAValue]] = []
    replaced: dict[SSAValue, SSAValue] = {}
    for chain in chains_of(operations):
        # Its data may be the states of another chain.
        chain.substitute(replaced)
        if _is_closed(chain) and not _depends_on_itself(chain):
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
    """Read the last hidden state from the result that is it, if no other part of the sequence is used."""
    piece = last.owner
    if not last.uses or not isinstance(piece, Operation) or piece.parent is None:
        return
    parts = piece.operands[0].owner
    if isinstance(parts, Split) and all(part is piece.operands[0] or not part.uses for part in parts.results):
        state = OpBuilder(known, piece.parent, piece).Squeeze(end, [1])
        inherit_names(piece, [state])
        last.replace_all_uses_with(state)


def _is_closed(chain: Chain) -> bool:
    """Whether only steps of the chain use its cell states, except for the last."""
    if chain.cell.kind != "LSTM":
        return True
    following = [states[1] for states in chain.following]
    # Each is multiplied with the output gate behind its activation, and with the forget gate of the next step.
    return all(len(list(state.uses)) == 2 for state in following[:-1])


def _depends_on_itself(chain: Chain) -> bool:
    """Whether the data of a step, or a state in front of the first, depend on a state of the chain."""
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
    """Replace a chain by a sequence operation, unless type inference rejects the latter.

    Adds the states to `replaced`. Returns the hidden state behind the last step, [N, H], and the result of the
    operation that has it, [N, 1, H].
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
    x, direction = _joined(op, chain.data), "forward"
    if x is None and (x := _joined(op, chain.data[::-1])) is not None:
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
    """A state [N, H] in front of the first step; None stands for zeros."""
    if state is not None and (shape := shape_of(state)) is not None and len(shape) == 2 and constant_of(state) is None:
        return state
    value = op.constant(0.0, element_of(x)) if state is None else state
    batch = (shape_of(x) or (-1,))[0]
    first = op.constant([batch]) if batch >= 0 else op.Gather(op.ShapeOf(x), [0], 0)
    return op.Broadcast(value, op.Concat(first, op.constant([cell.hidden_size]), axis=0))


class Piece(NamedTuple):
    """An entry of a value along an axis: the one at `place` of `size`."""

    source: SSAValue
    axis: int
    place: int
    size: int


def _piece(value: SSAValue) -> Piece | None:
    """What a value without the axis is an entry of; None if it is none."""
    op = value.owner
    if isinstance(op, Gather | Gather1 | Gather7):
        source, index, axis = op.operands[0], constant_of(op.operands[1]), scalar_of(op.operands[2])
        shape = shape_of(source)
        if index is None or index.ndim or axis is None or shape is None or shape[int(axis)] < 0:
            return None
        count = shape[int(axis)]
        return Piece(source, int(axis) % len(shape), int(index) % count, count) if -count <= int(index) < count else None
    if not isinstance(op, Squeeze | Squeeze1) or len(op.operands) < 2 or not isinstance(part := op.operands[0], OpResult):
        return None
    split, axes, rank = part.owner, constant_of(op.operands[1]), rank_of(part)
    if not isinstance(split, Split) or axes is None or axes.size != 1 or rank is None:
        return None
    axis, split_axis = normalize_axis(int(axes.reshape(-1)[0]), rank), scalar_of(split.operands[1])
    if split_axis is None or normalize_axis(int(split_axis), rank) != axis or (shape_of(part) or ())[axis] != 1:
        return None
    return Piece(split.operands[0], axis, part.index, len(split.results))


def _joined(op: OpBuilder, values: Sequence[SSAValue]) -> SSAValue | None:
    """The sequence [N, T, K] of which values [N, K] are the entries, in order; None if there is none.

    Entries may also be the same Concats or sums of entries of several sequences.
    """
    pieces = [_piece(value) for value in values]
    first = pieces[0]
    if first is not None:
        if [(first.source, first.axis, index, len(values)) for index in range(len(values))] != pieces or rank_of(first.source) != RANK:
            return None
        order = {0: [1, 0, 2], 1: [0, 1, 2]}.get(first.axis)
        return None if order is None else op.transposed(first.source, order)
    producers = [value.owner for value in values if isinstance(value.owner, Concat | Add)]
    if len(producers) < len(values):
        return None
    if all(isinstance(each, Concat) and normalize_axis(each.integer("axis"), 2) == 1 for each in producers):
        return _combined(op, producers, lambda parts: op.Concat(*parts, axis=2))
    if all(isinstance(each, Add) and each.text("auto_broadcast") == "numpy" for each in producers):
        return _combined(op, producers, lambda parts: op.Add(*parts))
    return None


def _combined(op: OpBuilder, producers: Sequence[Operation], combine: Callable[[list[SSAValue]], SSAValue]) -> SSAValue | None:
    """What `combine` makes of the sequences of the operands of operations; None unless each is a sequence."""
    if len({len(each.operands) for each in producers}) != 1:
        return None
    columns = zip(*(each.operands for each in producers), strict=True)
    joined = [found for column in columns if (found := _joined(op, column)) is not None]
    return combine(joined) if len(joined) == len(producers[0].operands) else None


def _join(concat: Concat, known: KnownValues) -> None:
    """Replace a Concat of the entries of a sequence by the sequence, or by its rows, [T · N, K].

    Of entries in reverse order it is the reversal of the Concat that is replaced.
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
    joined = _joined(op, values)
    if joined is None and rank == RANK:
        users = [use.operation for use in concat.results[0].uses]
        replaced = [each.results[0] for each in users if isinstance(each, Slice) and reversal_of(each.results[0], axis) is not None]
        joined = _joined(op, values[::-1]) if replaced else None
    width = (shape_of(joined) or (-1,))[-1] if joined is not None else -1
    if joined is None or width < 0:
        return
    result = joined if axis == 1 else op.transposed(joined, [1, 0, 2])
    if rank == RANK - 1:
        result = op.Reshape(result, [-1, width], special_zero=False)
    for old in replaced:
        inherit_names(old.op, [result])
        old.replace_all_uses_with(result)
