"""Recurrent layers. In shapes: N batch, T steps, I inputs, H units.

    %y = keras.LSTM(%x, kernel, recurrent kernel, bias)
->  %y = opset1.Squeeze(opset5.LSTMSequence(%x, zeros, zeros, lengths, W, R, B))

A layer with a mask, with other activations than those of the operation sets, or with other cells is a
TensorIterator over its steps. The states of a layer that is `stateful` are variables.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from xdsl.ir import SSAValue

from moir.dialects.element_types import boolean
from moir.dialects.moir import Slicing
from moir.dialects.shapes import rank_of
from moir.expansions.loops.built_loops import Cut, Step, repeated_steps
from moir.lowering.binder import LoweringNode
from moir.lowering.keras.attributes import Arguments, config_of, values_within, variables
from moir.lowering.keras.cells import Cell, cell_of
from moir.lowering.keras.table import keras
from moir.lowering.table import Replacement
from moir.rewriting.builder import OpBuilder
from moir.rewriting.variables import assign_variable, read_variable
from moir.support.records import Record


class Layer(Record):
    """A recurrent layer in one direction.

    Args:
        cell: its cell.
        config: its configuration.
        weights: its variables.
        role: the prefix of the names of its states.
    """

    cell: Cell
    config: dict[str, Any]
    weights: list[SSAValue]
    role: str

    def has(self, name: str) -> bool:
        """Whether an option of the layer is set."""
        return bool(self.config.get(name))


def _layer(node: LoweringNode, kind: str, config: dict[str, Any], weights: list[SSAValue], role: str = "") -> Layer:
    return Layer(cell_of(node, kind, config, weights), config, weights, role)


def _results(
    node: LoweringNode, op: OpBuilder, layer: Layer, x: SSAValue, states: Sequence[SSAValue], mask: SSAValue | None
) -> list[SSAValue]:
    """The output of a layer, all steps or the last one, and the states after it.

    `states` are the initial states among the arguments; without them a stateful layer has those of the last call, any
    other one zeros. `mask` tells which steps count. Raises ConversionError for another number of states than the cell
    has.
    """
    initial = list(states) or layer.cell.zeros(op, x)
    if len(initial) != layer.cell.state_count:
        node.fail(f"{len(initial)} initial states for a cell of {layer.cell.state_count}")
    names = [f"{node.name}/{layer.role}state_{index}" for index in range(layer.cell.state_count)]
    # Initial states among the arguments replace the states of the call before.
    keeps = layer.has("stateful") and not states
    if keeps:
        initial = [read_variable(op, name, value, value) for name, value in zip(names, initial, strict=True)]
    results = _computed(op, layer, x, initial, mask, begins_at_zero=not states and not keeps)
    if keeps:
        for name, value in zip(names, results[1:], strict=True):
            assign_variable(op, name, value)
    return results


def _computed(
    op: OpBuilder, layer: Layer, x: SSAValue, initial: Sequence[SSAValue], mask: SSAValue | None, *, begins_at_zero: bool
) -> list[SSAValue]:
    """The output of a layer from its initial states, and the states after the last step.

    The last output is that of the final states; with `begins_at_zero` it is zero for a sequence whose steps are all
    masked.
    """
    if mask is None and (sequence := layer.cell.sequence(op, x, initial, reverse=layer.has("go_backwards"))) is not None:
        every, *ends = sequence
    else:
        every, ends = _iterated(op, layer, x, initial, mask)
    if layer.has("return_sequences"):
        return [every, *ends]
    if mask is not None and (layer.has("zero_output_for_mask") or not begins_at_zero):
        last = op.Squeeze(op.Gather(every, [-1], 1), [1])
        return [last, *ends]
    return [layer.cell.output(ends), *ends]


def _iterated(
    op: OpBuilder, layer: Layer, x: SSAValue, initial: Sequence[SSAValue], mask: SSAValue | None
) -> tuple[SSAValue, list[SSAValue]]:
    """The outputs of all steps [N, T, …], in the order of the computation, and the states after the last one.

    A masked step does not change the states, and repeats the output before it, or is zero where the layer has
    `zero_output_for_mask`; the output before the first step that is not masked is zero.
    """
    backwards = Slicing(1, start=-1, end=0, stride=-1) if layer.has("go_backwards") else Slicing(1)
    cuts = [Cut(x, backwards)]
    carried = list(initial)
    if mask is not None:
        cuts.append(Cut(op.convert(mask, boolean), backwards))
        carried.append(op.Multiply(layer.cell.output(initial), 0.0))
    keeps = mask is not None and not layer.has("zero_output_for_mask")

    def body(inside: OpBuilder, states: list[SSAValue], slices: list[SSAValue], fixed: list[SSAValue]) -> Step:
        current = states[: len(initial)]
        after = layer.cell.step(inside, inside.Squeeze(slices[0], [1]), current, fixed)
        output = layer.cell.output(after)
        if mask is not None:
            counts = slices[1]
            further = (rank_of(output) or 2) - 2
            counts = inside.Unsqueeze(counts, list(range(2, 2 + further))) if further else counts
            otherwise = states[-1] if keeps else inside.Multiply(output, 0.0)
            output = inside.Select(counts, output, otherwise)
            after = [inside.Select(counts, new, old) for new, old in zip(after, current, strict=True)]
            return Step([*after, output], [inside.Unsqueeze(output, [1])])
        return Step(after, [inside.Unsqueeze(output, [1])])

    results = repeated_steps(op, body, carried, cuts=cuts, invariants=layer.weights, joins=[Slicing(1)])
    return results[-1], results[: len(initial)]


def _initial(arguments: Arguments, first: list[SSAValue]) -> list[SSAValue]:
    """The initial states of a call: the argument `initial_state`, or the tensors that follow the sequence in
    `first`.
    """
    return values_within(arguments.get("initial_state")) or first[1:]


@keras.lowers("LSTM", "GRU", "SimpleRNN", "CuDNNLSTM", "CuDNNGRU", "ConvLSTM1D", "ConvLSTM2D", "ConvLSTM3D", "RNN")
def recurrent_layer(node: LoweringNode, op: OpBuilder) -> Replacement:
    """keras.LSTM(x, kernel, recurrent kernel, bias) -> opset5.LSTMSequence, or a TensorIterator over the steps

    Likewise the other recurrent layers.
    """
    arguments = Arguments(node, "sequences", "initial_state", "mask")
    first = values_within(arguments.get("sequences"))
    if not first:
        node.fail("it has no sequence")
    if node.known_rank(0) < 3:
        node.fail(f"its input has rank {node.rank(0)}, without steps")
    layer = _layer(node, node.op.KIND, config_of(node), variables(node))
    x, mask = first[0], arguments.optional("mask")
    if not layer.has("time_major"):
        return _results(node, op, layer, x, _initial(arguments, first), mask)[: node.result_count]
    mask = None if mask is None else steps_and_batch_swapped(op, mask)
    results = _results(node, op, layer, steps_and_batch_swapped(op, x), _initial(arguments, first), mask)
    if layer.has("return_sequences"):
        results[0] = steps_and_batch_swapped(op, results[0])
    return results[: node.result_count]


@keras.lowers("Bidirectional")
def bidirectional(node: LoweringNode, op: OpBuilder, *, merge_mode: str | None = None) -> Replacement:
    """keras.Bidirectional(x) {layer, backward_layer, merge_mode} -> both directions, merged"""
    arguments = Arguments(node, "sequences", "initial_state", "mask")
    first = values_within(arguments.get("sequences"))
    config = config_of(node)
    inner = config.get("layer")
    if not first or not isinstance(inner, dict):
        node.fail("it has no sequence or no layer")
    forward = cast("dict[str, Any]", inner)
    own = cast("dict[str, Any]", forward.get("config") or {})
    other = cast("dict[str, Any]", config.get("backward_layer") or {"class_name": forward.get("class_name")})
    backward = cast("dict[str, Any]", other.get("config") or {**own, "go_backwards": not own.get("go_backwards")})
    # Keras has zeros for masked steps here, whatever the layers say, if it returns all steps.
    own, backward = ({**each, "zero_output_for_mask": bool(each.get("return_sequences"))} for each in (own, backward))
    layers = [
        _layer(node, str(each.get("class_name")), settings, variables(node, f"{name}_layer/"), f"{name}_")
        for each, settings, name in ((forward, own, "forward"), (other, backward, "backward"))
    ]
    states, mask = _initial(arguments, first), arguments.optional("mask")
    half = len(states) // 2
    results = [_results(node, op, layer, first[0], part, mask) for layer, part in zip(layers, (states[:half], states[half:]), strict=True)]
    (ahead, *ahead_states), (back, *back_states) = results
    if own.get("return_sequences"):
        back = reversed_steps(op, back)
    match merge_mode:
        case "concat":
            merged = [op.Concat(ahead, back, axis=(rank_of(ahead) or 3) - 1)]
        case "sum":
            merged = [op.Add(ahead, back)]
        case "mul":
            merged = [op.Multiply(ahead, back)]
        case "ave":
            merged = [op.Multiply(op.Add(ahead, back), 0.5)]
        case None:
            merged = [ahead, back]
        case _:
            node.fail(f"merge_mode {merge_mode!r} does not exist")
    return [*merged, *ahead_states, *back_states][: node.result_count]


def steps_and_batch_swapped(op: OpBuilder, x: SSAValue) -> SSAValue:
    """[T, N, …] -> [N, T, …], and the reverse."""
    return op.Transpose(x, [1, 0, *range(2, rank_of(x) or 2)])


def reversed_steps(op: OpBuilder, x: SSAValue) -> SSAValue:
    """[N, T, …] with the steps in the opposite order."""
    return op.Slice(x, [-1], [-(2**31)], [-1], [1])
