"""Col2Im: columns, each a flattened block, are added to an image at the position of the block.

    %y = onnx.Col2Im(%x, [5, 5], [1, 5]) {pads = [0, 0, 0, 0]}
->  %y = opset15.Col2Im(%x, [5, 5], [1, 5]) {pads_begin = [0, 0], pads_end = [0, 0]}

For images that do not have two axes the operation sets have no such operation. With static sizes they become a
transposed convolution, with computed sizes a product with a matrix for each axis, which has a 1 where an element of a
block corresponds to an element of the image.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import REAL_TYPES, boolean, f32, si64
from moir.dialects.shapes import element_count, element_of, shape_of
from moir.expansions.windows import padded_window
from moir.lowering.binder import LoweringNode
from moir.lowering.onnx.operands import declared_rank, of_length
from moir.lowering.onnx.sliding_window import axis_attribute
from moir.lowering.onnx.table import onnx
from moir.rewriting.builder import OpBuilder
from moir.rewriting.constant_sizes import check_constant_size


@onnx.lowers("Col2Im", since=18)
def column_to_image(node: LoweringNode, op: OpBuilder, input: SSAValue, image_shape: SSAValue, block_shape: SSAValue) -> SSAValue:
    """onnx.Col2Im(x, image_shape, block_shape) {dilations, pads, strides}
    -> opset15.Col2Im(x, image_shape, block_shape)
    """
    axes = _axes(node)
    if axes != 2 or element_of(input) not in REAL_TYPES:
        return _column_to_volume(node, op, axes)
    strides, dilations, pads = _steps(node, 2)
    window = padded_window(None, strides, pads[:2], pads[2:], dilations)
    return op.Col2Im(input, of_length(op, image_shape, 2), of_length(op, block_shape, 2), **window)


def _axes(node: LoweringNode) -> int:
    """The number of spatial axes, from the attributes, the lengths of operands or the declared rank of the result.

    Raises ConversionError if none of these is known.
    """
    lists = [len(node.integers(name, ())) for name in ("strides", "dilations")]
    lengths = [element_count(shape_of(node.operand(index))) for index in (1, 2)]
    rank = declared_rank(node)
    counts = [*lists, len(node.integers("pads", ())) // 2, *lengths, None if rank is None else rank - 2]
    count_of_axes = next((count for count in counts if count), 0)
    return count_of_axes or node.fail(
        "the number of axes of the images is unknown", hint="make image_shape an initializer, or give the strides"
    )


def _column_to_volume(node: LoweringNode, op: OpBuilder, axes: int) -> SSAValue:
    """Lower a Col2Im of images with `axes` spatial axes, other than two."""
    image, kernel = node.constant_integers(1), node.constant_integers(2)
    if image is None or kernel is None or not 1 <= axes <= 3 or element_of(node.operand(0)) not in REAL_TYPES:
        return _placed_by_matrices(node, op, axes)
    if len(image) != axes or len(kernel) != axes:
        node.fail(f"blocks of {len(kernel)} axes of images of {len(image)} axes are not supported")
    strides, dilations, pads = _steps(node, axes)
    size = math.prod(kernel)
    extents = [dilation * (length - 1) + 1 for dilation, length in zip(dilations, kernel, strict=True)]
    spaces = [image[axis] + pads[axis] + pads[axes + axis] - extents[axis] for axis in range(axes)]
    blocks = [space // stride + 1 for space, stride in zip(spaces, strides, strict=True)]
    check_constant_size(size, size)
    filters = op.constant_like(np.eye(size).reshape(size, 1, *kernel), node.operand(0))
    channels = op.Reshape(node.operand(0), [-1, size, *blocks], special_zero=False)
    volumes = op.ConvolutionBackpropData(
        channels,
        filters,
        **padded_window(None, strides, pads[:axes], pads[axes:], dilations),
        output_padding=[space % stride for space, stride in zip(spaces, strides, strict=True)],
    )
    lead = op.Slice(op.ShapeOf(node.operand(0)), [0], [-2], [1], [0])
    return op.Reshape(volumes, op.Concat(lead, [-1, *image], axis=0), special_zero=False)


def _steps(node: LoweringNode, axes: int) -> tuple[Sequence[int], Sequence[int], Sequence[int]]:
    """The attributes strides, dilations and pads (begins of all axes first). Raises ConversionError for lists of other
    lengths.
    """
    strides, dilations = (axis_attribute(node, name, axes, 1, lowest=1) for name in ("strides", "dilations"))
    return strides, dilations, axis_attribute(node, "pads", 2 * axes, 0)


def _placed_by_matrices(node: LoweringNode, op: OpBuilder, axes: int) -> SSAValue:
    """Lower a Col2Im with computed sizes, or of integers, by a product with a matrix for each axis.

    x is reshaped to [batch, channels, block sizes, numbers of blocks]; then, axis by axis, the size of a block and the
    number of blocks become the size of the image.
    """
    x = node.operand(0)
    element = element_of(x)
    strides, dilations, pads = _steps(node, axes)
    image, kernel = (op.convert(of_length(op, node.operand(index), axes), si64) for index in (1, 2))
    extents = op.Add(op.Multiply(op.Subtract(kernel, 1), list(dilations)), 1)
    spaces = op.Subtract(op.Add(image, [begin + end for begin, end in zip(pads[:axes], pads[axes:], strict=True)]), extents)
    blocks = op.Add(op.Divide(spaces, list(strides)), 1)
    batch = op.Gather(op.ShapeOf(x), [0], 0)
    # The number of channels is inferred by the Reshape.
    value = op.Reshape(
        x if element in REAL_TYPES else op.convert(x, f32), op.Concat(batch, [-1], kernel, blocks, axis=0), special_zero=False
    )
    one = op.constant(1, si64)
    for axis in range(axes):
        size, length, count = (op.Gather(each, axis, 0) for each in (image, kernel, blocks))
        inside, first = (op.Range(op.constant(0, si64), stop, one, output_type=si64) for stop in (length, count))
        begins = op.Subtract(op.Multiply(first, strides[axis]), pads[axis])
        positions = op.Add(op.Unsqueeze(op.Multiply(inside, dilations[axis]), [1]), begins)
        cells = op.Unsqueeze(op.Range(op.constant(0, si64), size, one, output_type=si64), [0])
        matrix = op.convert(op.Equal(op.Reshape(positions, [-1, 1], special_zero=False), cells), element_of(value))
        # [batch, channels, remaining sizes of blocks, remaining numbers of blocks, sizes of the image]
        left = axes - axis
        order = [0, 1, *range(3, 2 + left), *range(3 + left, 2 + 2 * left), *range(2 + 2 * left, 2 + axes + left), 2, 2 + left]
        moved = op.Transpose(value, order)
        lead = op.Slice(op.ShapeOf(moved), [0], [-2], [1], [0])
        rows = op.Reshape(
            moved, op.Concat(lead, op.Reshape(op.Multiply(length, count), [1], special_zero=False), axis=0), special_zero=False
        )
        value = op.MatMul(rows, matrix)
    return op.convert(value, element) if element != boolean else op.NotEqual(value, 0)
