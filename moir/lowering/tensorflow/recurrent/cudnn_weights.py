"""The vector of all weights of a stacked RNN of cuDNN: concatenated from matrices and biases, and split into them.

    %v = tf.CudnnRNNCanonicalToParams(layers, units, inputs, %w0, …, %b0, …)
->  %v = opset1.Concat(Reshape(%w0, [-1]), …, %b0, …)

The matrices of all layers precede all biases, both in the order in which
`moir.expansions.layered_recurrence` reads them.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.ir import Attribute, SSAValue

from moir.dialects.element_types import si32
from moir.expansions.layered_recurrence import MODES
from moir.lowering.binder import LoweringNode
from moir.lowering.tensorflow.table import tf
from moir.rewriting.builder import OpBuilder


def matrix_shapes(node: LoweringNode) -> list[tuple[int, int]]:
    """The shapes of all matrices: for each layer and direction those of the input, then those of the hidden state.

    Raises ConversionError for sizes that are computed, and for projections.
    """
    sizes = [node.constant_integers(0), node.constant_integers(1), node.constant_integers(2)]
    mode = node.text("rnn_mode", "lstm")
    if any(size is None or len(size) != 1 or size[0] < 1 for size in sizes):
        node.fail("its numbers of layers, units and inputs are not positive constants", hint="make them constants")
    is_linear = node.text("input_mode", "linear_input") in ("linear_input", "auto_select")
    if mode not in MODES or not is_linear or node.integer("num_proj", 0):
        node.fail(f"mode {mode} with its attributes is not supported")
    layers, units, inputs = (size[0] for size in sizes if size is not None)
    directions = 2 if node.text("direction", "unidirectional") == "bidirectional" else 1
    gates = len(MODES[mode].order)
    widths = [inputs, *[directions * units] * (layers - 1)]
    return [(units, columns) for width in widths for _ in range(directions) for columns in [width] * gates + [units] * gates]


@tf.lowers("CudnnRNNParamsSize")
def size(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """tf.CudnnRNNParamsSize(layers, units, inputs) -> the number of all weights, a constant [1]"""
    element: Attribute = node.element_attribute("S", si32)
    return op.constant([sum(rows * columns + rows for rows, columns in matrix_shapes(node))], element)


@tf.lowers("CudnnRNNCanonicalToParams", "CudnnRNNCanonicalToParamsV2")
def joined(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """tf.CudnnRNNCanonicalToParams(layers, units, inputs, matrices…, biases…) -> opset1.Concat of all, flattened"""
    shapes = matrix_shapes(node)
    parts = node.operands[3:]
    if len(parts) != 2 * len(shapes):
        node.fail(f"it has {len(parts)} matrices and biases, not {2 * len(shapes)}")
    return op.Concat(*[op.Reshape(part, [-1], special_zero=False) for part in parts], axis=0)


@tf.lowers("CudnnRNNParamsToCanonical", "CudnnRNNParamsToCanonicalV2")
def parted(
    node: LoweringNode, op: OpBuilder, _num_layers: SSAValue, _num_units: SSAValue, _input_size: SSAValue, params: SSAValue
) -> Sequence[SSAValue]:
    """tf.CudnnRNNParamsToCanonical(layers, units, inputs, vector)
    -> opset1.Reshape of the parts of opset1.VariadicSplit(vector), which are matrices and then biases
    """
    shapes = matrix_shapes(node)
    lengths = [*map(prod, shapes), *(rows for rows, _ in shapes)]
    parts = op.VariadicSplit.parts(len(lengths), params, 0, lengths)
    matrices = [op.Reshape(part, list(shape), special_zero=False) for part, shape in zip(parts, shapes, strict=False)]
    return [*matrices, *parts[len(shapes) :]][: node.result_count]
