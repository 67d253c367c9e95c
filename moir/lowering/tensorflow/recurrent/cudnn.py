"""Stacked RNNs in the format of cuDNN: one vector contains all weights."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.element_types import si32
from moir.dialects.shapes import element_of
from moir.expansions.layered_recurrence import MODES, StackedRNN, computed
from moir.lowering.binder import LoweringNode
from moir.lowering.table import Replacement
from moir.lowering.tensorflow.table import tf
from moir.rewriting.builder import OpBuilder
from moir.rewriting.sequences import lengths


@tf.lowers("CudnnRNN", "CudnnRNNV2", "CudnnRNNV3")
def stacked_rnn(
    node: LoweringNode,
    op: OpBuilder,
    *,
    time_major: bool = True,
    rnn_mode: str = "lstm",
    direction: str = "unidirectional",
    num_proj: int = 0,
    input_mode: str = "linear_input",
) -> Replacement:
    """tf.CudnnRNNV3(x, h, c, weights, lengths) {rnn_mode = lstm}
    -> opset5.LSTMSequence(Transpose(x), h, c, lengths, W, R, B) for each layer; likewise the other modes

    Raises ConversionError for a projection, computed weights, or dynamic sizes other than those of batch and time.
    """
    if rnn_mode not in MODES or input_mode not in ("linear_input", "auto_select") or num_proj:
        node.fail(f"mode {rnn_mode} with its attributes is not supported")
    mode, directions = MODES[rnn_mode], 2 if direction == "bidirectional" else 1
    params, data, state = node.constant(3), node.shape(0), node.shape(1)
    if params is None or data is None or state is None or not len(data) == len(state) == 3 or min(data[2], state[2]) < 1:
        node.fail(
            "its weights are computed, or its sizes are dynamic", hint="freeze the model and give it static sizes but for batch and time"
        )
    depth = state[0 if time_major else 1] // directions
    if depth < 1:
        node.fail("the number of layers is dynamic", hint="give the initial states a static shape")
    stacked = StackedRNN(mode, depth, directions, data[2], state[2])
    if params.size != stacked.weight_count:
        node.fail(f"it has {params.size} weights, not {stacked.weight_count}")
    x, states = node.operand(0), [node.operand(index) for index in range(1, 1 + mode.state_count)]
    x, states = (op.Transpose(x, [1, 0, 2]), states) if time_major else (x, [op.Transpose(each, [1, 0, 2]) for each in states])
    weights = op.constant(params.reshape(-1), element_of(x))
    value, finals = computed(op, stacked, x, states, sequence_lengths(node, op, x), weights)
    results = [op.Transpose(value, [1, 0, 2]), *finals] if time_major else [value, *(op.Transpose(each, [1, 0, 2]) for each in finals)]
    return [*results, *[None] * (3 - len(results))][: node.result_count]


def sequence_lengths(node: LoweringNode, op: OpBuilder, data: SSAValue) -> SSAValue:
    """The lengths of the sequences [N]; T for each sequence if the node has no operand for them."""
    if node.op.KIND == "CudnnRNNV3":
        return op.convert(node.operand(4), si32)
    return lengths(op, data)
