"""RNN layers, as loops over their steps.

    %y, %h, %c = tflite.UNIDIRECTIONAL_SEQUENCE_LSTM(%x, …)
->  %h, %c, %y = opset1.TensorIterator(%x, %h0, %c0) ({ one step })

The states are operands, which keep their values from one inference to the next, and further results after those of the
operator: the frontend makes them states of the model.

In shapes: T time, N batch, I input, H cells, P outputs (H without projection).

Source: the kernels lstm_eval.cc, rnn_eval.h (`kernel_utils.cc`) and svdf.h of TensorFlow Lite 2.21.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from moir.dialects.element_types import INTEGER_TYPES
from moir.dialects.moir import Slicing
from moir.dialects.shapes import element_of, is_static, shape_of
from moir.expansions.loops.built_loops import Cut, Step, repeated_steps
from moir.lowering.binder import LoweringNode
from moir.lowering.table import Replacement
from moir.lowering.tflite.fused_activation import ACTIVATIONS
from moir.lowering.tflite.integer_kernels import IntegerKernel, saturated
from moir.lowering.tflite.table import tflite
from moir.rewriting.builder import OpBuilder
from moir.support.records import Record

GATES = 4
"""The gates of an LSTM: input, forget, cell, output."""

INPUT, FORGET, CELL, OUTPUT = range(GATES)

NORMALIZATION_EPSILON = 1e-8


class Lstm(Record):
    """The operands of one direction of an LSTM; tuples have an element for each gate, None for an absent operand.

    Args:
        weights: the weights of the inputs [H, I].
        recurrent: the weights of the outputs of the previous step [H, P].
        peepholes: the weights of the cell states [H]; the cell gate has none.
        biases: the biases [H].
        projection: the weights [P, H] and the bias [P] of the projection.
        norms: the scales of layer normalization [H].
    """

    weights: tuple[SSAValue | None, ...]
    recurrent: tuple[SSAValue | None, ...]
    peepholes: tuple[SSAValue | None, ...]
    biases: tuple[SSAValue | None, ...]
    projection: tuple[SSAValue | None, SSAValue | None]
    norms: tuple[SSAValue | None, ...]

    @staticmethod
    def of(node: LoweringNode, first: int, norms: int | None) -> Lstm:
        """The operands of one direction of an LSTM, which begin at index `first`.

        `norms` is the index of the first scale of layer normalization; None if there are none.
        """

        def listed(operand: int | None, count: int) -> tuple[SSAValue | None, ...]:
            return (None,) * count if operand is None else tuple(node.optional(operand + index) for index in range(count))

        peepholes = listed(first + 8, 3)
        return Lstm(
            listed(first, GATES),
            listed(first + 4, GATES),
            (peepholes[0], peepholes[1], None, peepholes[2]),
            listed(first + 11, GATES),
            (node.optional(first + 15), node.optional(first + 16)),
            listed(norms, GATES),
        )

    @property
    def gates(self) -> list[int]:
        """The indices of the gates that have weights. An input gate without weights is 1 minus the forget gate."""
        return [gate for gate in range(GATES) if self.weights[gate] is not None]


@tflite.lowers("UNIDIRECTIONAL_SEQUENCE_LSTM")
def lstm_sequence(node: LoweringNode, op: OpBuilder, *, time_major: bool = False) -> Replacement:
    """tflite.UNIDIRECTIONAL_SEQUENCE_LSTM(x, weights…, h0, c0) -> a loop; the results are y, and the states after it"""
    if node.flag("diagonal_recurrent_tensors"):
        node.fail("recurrent weights that are diagonals are not supported")
    lstm = Lstm.of(node, 1, 20)
    output, *states = _lstm(node, op, node.operand(0), lstm, (node.operand(18), node.operand(19)), time_major)
    return [output, *states]


@tflite.lowers("LSTM")
def lstm_step(node: LoweringNode, op: OpBuilder) -> Replacement:
    """tflite.LSTM(x [N, I], weights…, h0, c0) -> one step; the results are y, or in old files a scratch tensor, h, c
    and y
    """
    if node.text("kernel_type", "FULL") == "BASIC":
        return _basic_step(IntegerKernel.of(node), op, *(node.operand(operand) for operand in range(5)))
    lstm = Lstm.of(node, 1, 20)
    steps = op.Unsqueeze(node.operand(0), [0])
    output, *states = _lstm(node, op, steps, lstm, (node.operand(18), node.operand(19)), True)
    return [op.Squeeze(output, [0]), *states]


def _basic_step(
    kernel: IntegerKernel | None, op: OpBuilder, x: SSAValue, hidden: SSAValue, weights: SSAValue, bias: SSAValue, cell: SSAValue
) -> Replacement:
    """One step of the basic kernel: h, the cell state, the concatenation of x and h before the step, and the gates.

    Weights are [4 H, I + H], with the gates in the order input, cell, forget, output. With a `kernel`, sums and states
    are clamped as its integers are.
    """
    joined = op.Concat(x, hidden, axis=1)
    gates = op.Add(op.MatMul(joined, weights, transpose_b=True), bias)
    gates = gates if kernel is None else kernel.sum(op, gates, INPUT)
    enter, candidate, forget, leave = op.Split.parts(GATES, gates, 1, num_splits=GATES)
    following = op.Add(op.Multiply(op.Sigmoid(enter), op.Tanh(candidate)), op.Multiply(op.Sigmoid(forget), cell))
    following = following if kernel is None else kernel.state(op, following)
    return [op.Multiply(op.Sigmoid(leave), op.Tanh(following)), following, joined, gates]


@tflite.lowers("BIDIRECTIONAL_SEQUENCE_LSTM")
def lstm_of_both_directions(node: LoweringNode, op: OpBuilder, *, time_major: bool = False, merge_outputs: bool = False) -> Replacement:
    """tflite.BIDIRECTIONAL_SEQUENCE_LSTM(x, weights…) -> two loops; the results are y forwards and y backwards

    With `merge_outputs` one result replaces them, their concatenation along the last axis. The states after both loops
    follow. Raises ConversionError for an auxiliary input.
    """
    if node.optional(39) is not None:
        node.fail("auxiliary inputs of an LSTM are not supported")
    x, directions = node.operand(0), [Lstm.of(node, first, None) for first in (1, 18)]
    _refuse_integers(node, [bias for each in directions for bias in each.biases])
    forwards = _lstm(node, op, x, directions[0], (node.operand(35), node.operand(36)), time_major)
    backwards = _lstm(node, op, x, directions[1], (node.operand(37), node.operand(38)), time_major, is_reversed=True)
    outputs = [op.Concat(forwards[0], backwards[0], axis=2)] if merge_outputs else [forwards[0], backwards[0]]
    return [*outputs, *forwards[1:], *backwards[1:]]


def _lstm(
    node: LoweringNode,
    op: OpBuilder,
    x: SSAValue,
    lstm: Lstm,
    states: tuple[SSAValue, SSAValue],
    time_major: bool,
    *,
    is_reversed: bool = False,
) -> list[SSAValue]:
    """The outputs of all steps of one direction, and the states h and c after the last step.

    `lstm` has the operands, `states` is h and c before the first step. Raises ConversionError if a gate other than the
    input gate has no weights.
    """
    gates = lstm.gates
    clips = node.number("cell_clip", 0.0), node.number("proj_clip", 0.0)
    if not {FORGET, CELL, OUTPUT} <= set(gates):
        node.fail("it lacks the weights of a gate")
    time = 0 if time_major else 1
    kernel = IntegerKernel.of(node)
    fixed: list[SSAValue] = []

    def kept(value: SSAValue | None) -> int | None:
        """Add a value to the invariants of the body, and return its index among them; None for an absent value."""
        if value is None:
            return None
        fixed.append(value)
        return len(fixed) - 1

    operands = {
        name: [kept(value) for value in getattr(lstm, name)]
        for name in ("weights", "recurrent", "peepholes", "biases", "projection", "norms")
    }

    def body(inside: OpBuilder, current: list[SSAValue], slices: list[SSAValue], values: list[SSAValue]) -> Step:
        hidden, cell = current
        step = inside.Squeeze(slices[0], [time])

        def value(name: str, gate: int) -> SSAValue | None:
            operand = operands[name][gate]
            return None if operand is None else values[operand]

        def partial(gate: int, total: SSAValue) -> SSAValue:
            return total if kernel is None else kernel.sum(inside, total, gate)

        def gate_of(gate: int, state: SSAValue) -> SSAValue:
            norm, bias = value("norms", gate), value("biases", gate)
            total = inside.MatMul(step, value("weights", gate), transpose_b=True)
            if kernel is not None and norm is None and bias is not None:
                # The bias belongs to the first of the sums that saturate.
                total, bias = inside.Add(total, bias), None
            total = partial(gate, total)
            total = partial(gate, inside.Add(total, inside.MatMul(hidden, value("recurrent", gate), transpose_b=True)))
            if (peephole := value("peepholes", gate)) is not None:
                total = partial(gate, inside.Add(total, inside.Multiply(state, peephole)))
            if norm is not None:
                total = inside.MVN(total, [-1], normalize_variance=True, eps=NORMALIZATION_EPSILON, eps_mode="INSIDE_SQRT")
                total = inside.Multiply(total, norm)
            total = total if bias is None else inside.Add(total, bias)
            return total if kernel is None or norm is None else kernel.activated_operand(inside, total)

        forget = inside.Sigmoid(gate_of(FORGET, cell))
        enter = inside.Sigmoid(gate_of(INPUT, cell)) if INPUT in gates else inside.Subtract(1.0, forget)
        candidate = _activation(node, inside, gate_of(CELL, cell))
        following = inside.Add(inside.Multiply(forget, cell), inside.Multiply(enter, candidate))
        following = following if kernel is None else kernel.state(inside, following)
        if clips[0] > 0:
            following = inside.Clamp(following, min=-clips[0], max=clips[0])
        leave = inside.Sigmoid(gate_of(OUTPUT, following))
        shown = inside.Multiply(leave, _activation(node, inside, following))
        shown = shown if kernel is None else kernel.output(inside, shown)
        if (projection := value("projection", 0)) is not None:
            shown = inside.MatMul(shown, projection, transpose_b=True)
            shown = shown if (bias := value("projection", 1)) is None else inside.Add(shown, bias)
            if clips[1] > 0:
                shown = inside.Clamp(shown, min=-clips[1], max=clips[1])
        return Step([shown, following], [inside.Unsqueeze(shown, [time])])

    slicing = Slicing(time, -1, 0, -1) if is_reversed else Slicing(time)
    hidden, cell, every = repeated_steps(op, body, states, cuts=[Cut(x, slicing)], invariants=fixed, joins=[slicing])
    return [every, hidden, cell]


def _refuse_integers(node: LoweringNode, biases: Sequence[SSAValue | None]) -> None:
    """Raise UnsupportedOperationError if one of the biases is a tensor of integers, which no kernel of TensorFlow Lite
    supports.
    """
    if any(element_of(bias) in INTEGER_TYPES for bias in biases if bias is not None):
        hint = "quantize the weights of the model only"
        node.fail("it has biases of integers, and no kernel of TensorFlow Lite computes it with integers", hint=hint)


def _activation(node: LoweringNode, op: OpBuilder, value: SSAValue) -> SSAValue:
    """A value with the fused activation of a layer. Raises ConversionError for an unknown activation."""
    kind = node.text("fused_activation_function", "NONE")
    if kind == "NONE":
        return value
    if kind not in ACTIVATIONS:
        node.fail(f"the activation {kind} is not supported")
    return ACTIVATIONS[kind](op, value)


def _rnn(
    node: LoweringNode,
    op: OpBuilder,
    x: SSAValue,
    operands: Sequence[SSAValue],
    time: int,
    *,
    is_reversed: bool = False,
) -> list[SSAValue]:
    """The outputs of all steps and the last state of an RNN.

    `operands` are weights [H, I], recurrent weights [H, H], a bias and a state; `time` is the axis of the steps.
    """
    weights, recurrent, bias, state = operands
    _refuse_integers(node, [bias])

    def body(inside: OpBuilder, states: list[SSAValue], slices: list[SSAValue], fixed: list[SSAValue]) -> Step:
        own = inside.MatMul(inside.Squeeze(slices[0], [time]), fixed[0], transpose_b=True)
        total = inside.Add(inside.Add(own, inside.MatMul(states[0], fixed[1], transpose_b=True)), fixed[2])
        following = _activation(node, inside, total)
        return Step([following], [inside.Unsqueeze(following, [time])])

    slicing = Slicing(time, -1, 0, -1) if is_reversed else Slicing(time)
    last, every = repeated_steps(op, body, [state], cuts=[Cut(x, slicing)], invariants=[weights, recurrent, bias], joins=[slicing])
    return [every, last]


@tflite.lowers("UNIDIRECTIONAL_SEQUENCE_RNN")
def rnn_sequence(node: LoweringNode, op: OpBuilder, input: SSAValue, *operands: SSAValue, time_major: bool = False) -> Replacement:
    """tflite.UNIDIRECTIONAL_SEQUENCE_RNN(x, w, r, b, h0) -> a loop; the results are y, and h after it"""
    return _rnn(node, op, input, operands[:4], 0 if time_major else 1)


@tflite.lowers("RNN")
def rnn_step(node: LoweringNode, op: OpBuilder, input: SSAValue, *operands: SSAValue) -> Replacement:
    """tflite.RNN(x [N, I], w, r, b, h0) -> act(x · wᵀ + h0 · rᵀ + b), which is also the next state"""
    weights, recurrent, bias, state = operands[:4]
    _refuse_integers(node, [bias])
    own = op.MatMul(input, weights, transpose_b=True)
    following = _activation(node, op, op.Add(op.Add(own, op.MatMul(state, recurrent, transpose_b=True)), bias))
    return [following, following]


@tflite.lowers("BIDIRECTIONAL_SEQUENCE_RNN")
def rnn_of_both_directions(node: LoweringNode, op: OpBuilder, *, time_major: bool = False, merge_outputs: bool = False) -> Replacement:
    """tflite.BIDIRECTIONAL_SEQUENCE_RNN(x, …) -> two loops; the results are y forwards and y backwards

    With `merge_outputs` one result replaces them, their concatenation along the last axis. The states after both loops
    follow. Raises ConversionError for an auxiliary input.
    """
    if any(node.optional(operand) is not None for operand in range(9, 12)):
        node.fail("auxiliary inputs are not supported")
    x, time = node.operand(0), 0 if time_major else 1
    forwards = _rnn(node, op, x, [node.operand(operand) for operand in range(1, 5)], time)
    backwards = _rnn(node, op, x, [node.operand(operand) for operand in range(5, 9)], time, is_reversed=True)
    outputs = [op.Concat(forwards[0], backwards[0], axis=2)] if merge_outputs else [forwards[0], backwards[0]]
    return [*outputs, forwards[1], backwards[1]]


@tflite.lowers("SVDF")
def svdf(
    node: LoweringNode,
    op: OpBuilder,
    input: SSAValue,
    weights_feature: SSAValue,
    weights_time: SSAValue,
    _bias: SSAValue,
    state: SSAValue,
    *,
    rank: int = 0,
) -> Replacement:
    """tflite.SVDF(x [N, I], w [F, I], t [F, M], b [F / rank], state [N, F · M])
    -> act(the sum over the rank of (state, shifted, with x · wᵀ at its end) · t, plus b); the shifted state

    Nakkiran et al., "Compressing Deep Neural Networks Using a Rank-Constrained Topology".
    """
    shape = shape_of(weights_time)
    if rank < 1 or shape is None or not is_static(shape) or shape[0] % rank:
        node.fail(f"its rank {rank} does not divide the number of its filters")
    filters, memory = shape
    features = op.Unsqueeze(op.MatMul(input, weights_feature, transpose_b=True), [2])
    features = saturated(op, features, node.number("state_scale")) if node.has("state_scale") else features
    before = op.Slice(op.Reshape(state, [-1, filters, memory], special_zero=False), [1], [memory], [1], [2])
    current = op.Concat(before, features, axis=2)
    sums = op.ReduceSum(op.Multiply(current, op.Unsqueeze(weights_time, [0])), [2], keep_dims=False)
    total = op.ReduceSum(op.Reshape(sums, [-1, filters // rank, rank], special_zero=False), [2], keep_dims=False)
    total = total if (bias := node.optional(3)) is None else op.Add(total, bias)
    return [_activation(node, op, total), op.Reshape(current, [-1, filters * memory], special_zero=False)]
