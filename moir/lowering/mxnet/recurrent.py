"""The fused RNN layer: stacked layers, directions, states.

Source: rnn-inl.h and rnn_impl.h of MXNet 1.9.
"""

from __future__ import annotations

from moir.dialects.element_types import si64
from moir.dialects.shapes import shape_of
from moir.expansions.layered_recurrence import MODES, StackedRNN, computed
from moir.lowering.binder import LoweringNode
from moir.lowering.mxnet.table import mxnet
from moir.lowering.table import Replacement
from moir.rewriting.builder import OpBuilder
from moir.rewriting.sequences import lengths

MAXIMUM_LAYERS = 1000


@mxnet.lowers("RNN", "_npx_rnn")
def rnn(
    node: LoweringNode,
    op: OpBuilder,
    *,
    use_sequence_length: bool = False,
    mode_: str,
    state_size: int,
    num_layers: int,
    bidirectional: bool = False,
) -> Replacement:
    """mxnet.RNN(x [T, N, I], parameters, states …) {mode, state_size, num_layers, bidirectional} -> one sequence
    operation per layer

    Results are [T, N, directions · H] and, with `state_outputs`, the states [layers · directions, N, H].
    """
    if mode_ not in MODES:
        node.fail(f"mode {mode_!r} does not exist")
    if node.has("projection_size"):
        node.fail("a projection of the hidden state is not supported")
    if node.has("lstm_state_clip_min") or node.has("lstm_state_clip_max"):
        node.fail("limits of the cell state are not supported")
    if not 1 <= num_layers <= MAXIMUM_LAYERS or state_size < 1:
        node.fail(f"{num_layers} layers of size {state_size}")
    mode, directions = MODES[mode_], 2 if bidirectional else 1
    x, parameters = node.operand(0), node.operand(1)
    width = (shape_of(x) or (-1,))[-1]
    if width < 0:
        node.fail("the number of features is dynamic", hint="MXNet's files have no shapes of inputs; give them: --input NAME[5,1,16]")
    configuration = StackedRNN(mode, num_layers, directions, width, state_size)
    batch_first = op.transposed(x, [1, 0, 2])
    batch = op.Gather(op.ShapeOf(batch_first), [0], 0)
    full = op.Concat(op.constant([num_layers * directions]), batch, op.constant([state_size]), axis=0)
    # Initial states of zeros may have a batch of 1.
    states = [op.Broadcast(node.operand(2 + index), full, mode="bidirectional") for index in range(mode.state_count)]
    every = op.convert(node.operand(2 + mode.state_count), si64) if use_sequence_length else lengths(op, batch_first)
    value, finals = computed(op, configuration, batch_first, states, every, parameters)
    return [op.transposed(value, [1, 0, 2]), *finals]
