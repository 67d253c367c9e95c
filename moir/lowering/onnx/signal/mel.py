"""Mel filters: triangles over the frequency bins of a spectrum."""

from __future__ import annotations

import numpy as np
from xdsl.ir import Attribute, SSAValue

from moir.dialects.element_types import f32, si64, to_numpy
from moir.expansions.shape_values import as_scalar
from moir.lowering.binder import LoweringNode
from moir.lowering.onnx.table import onnx
from moir.rewriting.builder import OpBuilder

MAXIMUM_FILTERS = 1 << 24
"""Largest number of elements of a mel matrix."""


@onnx.lowers("MelWeightMatrix", since=17)
def mel_weight_matrix(
    node: LoweringNode,
    op: OpBuilder,
    num_mel_bins: SSAValue,
    dft_length: SSAValue,
    sample_rate: SSAValue,
    lower_edge_hertz: SSAValue,
    upper_edge_hertz: SSAValue,
    *,
    output_datatype: Attribute = f32,
) -> SSAValue:
    """onnx.MelWeightMatrix(bins, length, rate, lower, upper) {output_datatype} -> a matrix [length // 2 + 1, bins]

    Column i is a triangle over the frequency bins of the edges i, i + 1, i + 2, which are equidistant on the mel scale
    2595 * log10(1 + f / 700).
    """
    values = [
        op.known.constant(num_mel_bins),
        op.known.constant(dft_length),
        op.known.constant(sample_rate),
        op.known.constant(lower_edge_hertz),
        op.known.constant(upper_edge_hertz),
    ]
    if any(value is None for value in values):
        return _computed(node, op, output_datatype)
    if any(value is None or value.size != 1 for value in values):
        node.fail("an operand is not a number")
    bins, length, rate, lower, upper = (float(value.reshape(())) for value in values if value is not None)
    count = int(bins)
    spectrum = int(length) // 2 + 1
    if count < 1 or length < 1 or rate <= 0 or min(lower, upper) < 0 or count * spectrum > MAXIMUM_FILTERS:
        node.fail(f"no matrix of {spectrum} x {count} filters from {lower} to {upper} hertz can be made")
    low, high = (2595 * np.log10(1 + edge / 700) for edge in (lower, upper))
    # The definition of ONNX divides the range into bins + 2 intervals.
    mel = np.arange(count + 2) * ((high - low) / (count + 2)) + low
    edges = np.floor((length + 1) * (700 * (10 ** (mel / 2595) - 1)) / rate).astype(np.int64)
    matrix = np.zeros((spectrum, count))
    frequency = np.arange(spectrum)
    for column in range(count):
        left, center, right = edges[column : column + 3]
        rising = (frequency >= left) & (frequency <= center)
        falling = (frequency >= center) & (frequency < right)
        matrix[rising, column] = 1 if center == left else (frequency[rising] - left) / (center - left)
        if right > center:
            matrix[falling, column] = (right - frequency[falling]) / (right - center)
        if center == left and center < spectrum:
            matrix[center, column] = 1
    return op.constant(matrix.astype(to_numpy(output_datatype)), output_datatype)


def _computed(node: LoweringNode, op: OpBuilder, element: Attribute) -> SSAValue:
    """The mel matrix for parameters that are computed when the model runs, in f32, converted to an element type."""
    bins, length, rate, lower, upper = (op.convert(as_scalar(op, node.operand(index)), f32) for index in range(5))
    low, high = (op.Multiply(op.Log(op.Add(op.Divide(edge, 700.0), 1.0)), 2595 / np.log(10)) for edge in (lower, upper))
    count = op.convert(bins, si64)
    bands = op.convert(op.Range(0, op.Add(count, 2), 1, output_type=si64), f32)
    mel = op.Add(op.Multiply(bands, op.Divide(op.Subtract(high, low), op.Add(bins, 2.0))), low)
    hertz = op.Multiply(op.Subtract(op.Exp(op.Multiply(mel, np.log(10) / 2595)), 1.0), 700.0)
    edges = op.Floor(op.Divide(op.Multiply(op.Add(length, 1.0), hertz), rate))
    left, center, right = (op.Slice(edges, [start], [start - 2 or np.iinfo(np.int32).max], [1], [0]) for start in (0, 1, 2))
    spectrum = op.Add(op.convert(op.Floor(op.Divide(length, 2.0)), si64), 1)
    spectrum_bins = op.Unsqueeze(op.convert(op.Range(0, spectrum, 1, output_type=si64), f32), [1])
    flat = op.Equal(center, left)
    rise = op.Divide(op.Subtract(spectrum_bins, left), op.Select(flat, 1.0, op.Subtract(center, left)))
    fall = op.Divide(op.Subtract(right, spectrum_bins), op.Maximum(op.Subtract(right, center), 1.0))
    is_rising = op.LogicalAnd(op.LessEqual(left, spectrum_bins), op.LessEqual(spectrum_bins, center))
    is_falling = op.LogicalAnd(op.LessEqual(center, spectrum_bins), op.Less(spectrum_bins, right))
    triangle = op.Select(is_falling, fall, op.Select(is_rising, rise, 0.0))
    return op.convert(op.Select(op.LogicalAnd(flat, op.Equal(spectrum_bins, center)), 1.0, triangle), element)
