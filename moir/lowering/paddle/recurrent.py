"""The RNN layer: stacked layers, directions, states, lengths.

Source: rnn_op.cc and rnn_kernel.cc of PaddlePaddle 2.6.
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.element_types import si64
from moir.expansions.layered_recurrence import MODES, Direction, StackedRNN, over_layers
from moir.lowering.binder import LoweringNode
from moir.lowering.paddle.operands import split_lists
from moir.lowering.paddle.table import paddle
from moir.lowering.table import Replacement
from moir.rewriting.builder import OpBuilder
from moir.rewriting.sequences import lengths as whole_lengths

MAXIMUM_LAYERS = 1000


@paddle.lowers("rnn")
def rnn(
    node: LoweringNode,
    op: OpBuilder,
    x: SSAValue,
    lengths: SSAValue | None = None,
    *lists: SSAValue,
    mode_: str,
    hidden_size: int,
    num_layers: int = 1,
    is_bidirec: bool = False,
) -> Replacement:
    """paddle.rnn(x [T, N, I], lengths, states…, weights…) {mode, num_layers, is_bidirec} -> one sequence operation per
    layer

    The weights are the matrices of all layers and directions, then their biases. Results are [T, N, directions · H], a
    state of dropout, and the states [layers · directions, N, H].
    """
    if mode_.lower() not in MODES:
        node.fail(f"mode {mode_!r} does not exist")
    if not 1 <= num_layers <= MAXIMUM_LAYERS or hidden_size < 1:
        node.fail(f"{num_layers} layers of size {hidden_size}")
    mode, directions = MODES[mode_.lower()], 2 if is_bidirec else 1
    initial, weights = split_lists(node, lists, 2)
    count = num_layers * directions
    if len(initial) != mode.state_count or len(weights) != 4 * count:
        node.fail(f"it has {len(initial)} states and {len(weights)} weights, not {mode.state_count} and {4 * count}")
    indices = range(2 * count)
    cells = [Direction(weights[i], weights[i + 1], weights[2 * count + i], weights[2 * count + i + 1]) for i in indices if i % 2 == 0]
    layers = [cells[layer * directions : (layer + 1) * directions] for layer in range(num_layers)]
    batch_first = op.transposed(x, [1, 0, 2])
    every = op.convert(lengths, si64) if lengths is not None else whole_lengths(op, batch_first)
    configuration = StackedRNN(mode, num_layers, directions, 0, hidden_size)
    value, finals = over_layers(op, configuration, batch_first, initial, every, layers)
    rest: list[SSAValue | None] = [None] * (node.result_count - 2 - len(finals))
    return [op.transposed(value, [1, 0, 2]), None, *finals, *rest]
