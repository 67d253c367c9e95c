"""Custom operators in MediaPipe's networks for faces and hands: landmarks, and crops of images around them.

    points --Landmarks2TransformMatrix--> matrix;  image, matrix --TransformTensorBilinear--> part of the image
    points of the part, matrix --TransformLandmarks--> points of the image

A matrix [1, 4, 4] maps points (x, y, 0, 1) in pixels of the part to points of the image: its third row and column are
those of the identity.

Source: mediapipe/util/tflite/operations.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import f32
from moir.dialects.shapes import is_static, rank_of, shape_of
from moir.expansions.complex_numbers import angle_of
from moir.lowering.binder import LoweringNode
from moir.lowering.tensorflow.attributes.data_format import channel_first, channel_last
from moir.lowering.tflite.table import tflite
from moir.rewriting.builder import OpBuilder

SIZES = "say the shapes of the inputs with --input"


@tflite.lowers("TransformLandmarks")
def transform_landmarks(
    node: LoweringNode, op: OpBuilder, landmarks: SSAValue, matrix: SSAValue, *, dimensions: int = 0, scale: float = 1.0
) -> SSAValue:
    """tflite.TransformLandmarks(points, matrix [1, 4, 4])
    -> opset1.MatMul(x and y, the linear part of the matrix) + its translation; a third coordinate is unchanged

    Points are [1, n, d], and need no options. In the first version they are [1, h, w, n · d], and the translation is
    multiplied by a scale.
    """
    rank, shape = rank_of(landmarks), shape_of(landmarks)
    if rank == 3 and shape is not None:
        declared = shape_of(node.op.results[0]) or shape
        dimensions = max(shape[-1], declared[-1])
    if dimensions not in (2, 3) or rank not in (3, 4) or shape is None:
        node.fail(f"points of {dimensions} coordinates in a tensor of rank {rank} are not supported")
    factor = scale if rank == 4 else 1.0
    rows = op.Reshape(matrix, [4, 4], special_zero=False)
    turn = op.Slice(op.Slice(rows, [0], [2], [1], [0]), [0], [2], [1], [1])
    shift = op.Reshape(op.Slice(op.Slice(rows, [0], [2], [1], [0]), [3], [4], [1], [1]), [2], special_zero=False)
    shift = shift if factor == 1.0 else op.Multiply(shift, factor)
    points = op.Reshape(landmarks, [-1, dimensions], special_zero=False)
    flat = points if dimensions == 2 else op.Slice(points, [0], [2], [1], [1])
    moved = op.Add(op.MatMul(flat, turn, transpose_b=True), shift)
    result = moved if dimensions == 2 else op.Concat(moved, op.Slice(points, [2], [3], [1], [1]), axis=1)
    return op.Reshape(result, op.ShapeOf(landmarks) if not is_static(shape) else list(shape), special_zero=False)


# Matrices


def turning(op: OpBuilder, angle: SSAValue) -> SSAValue:
    """The rotation matrix [2, 2] for an angle [1]."""
    cosine, sine = op.Cos(angle), op.Sin(angle)
    return op.Reshape(op.Concat(cosine, op.Negative(sine), sine, cosine, axis=0), [2, 2], special_zero=False)


def embedded(op: OpBuilder, linear: SSAValue, shift: SSAValue) -> SSAValue:
    """The matrix [1, 4, 4] of a linear part [2, 2] and a translation [2]."""
    upper = op.Concat(linear, op.constant(np.zeros((2, 1), np.float32)), op.Reshape(shift, [2, 1], special_zero=False), axis=1)
    whole = op.Concat(upper, op.constant(np.eye(4, dtype=np.float32)[2:]), axis=0)
    return op.Unsqueeze(whole, [0])


class Turned:
    """A rectangle around landmarks, rotated so that the line between two other landmarks has a given angle.

    Args:
        op: builds the operations.
        points: the landmarks [n, 2].
        subset: the indices of the landmarks that the rectangle encloses.
        angle: the angle by which the landmarks are turned [1].
    """

    def __init__(self, op: OpBuilder, points: SSAValue, subset: Sequence[int], angle: SSAValue) -> None:
        self.back = turning(op, op.Negative(angle))
        turned = op.MatMul(op.Gather(points, list(subset), 0), self.back)
        largest, smallest = (reduce(turned, [0], keep_dims=False) for reduce in (op.ReduceMax, op.ReduceMin))
        self.size = op.Subtract(largest, smallest)
        middle = op.Multiply(op.Add(largest, smallest), 0.5)
        self.middle = op.Squeeze(op.MatMul(op.Unsqueeze(middle, [0]), self.back, transpose_b=True), [0])


@tflite.lowers("Landmarks2TransformMatrix")
def landmarks_to_matrix(node: LoweringNode, op: OpBuilder, landmarks: SSAValue) -> SSAValue:
    """tflite.Landmarks2TransformMatrix(points [1, n, 3]) -> the matrix of the turned rectangle around some points

    In the first version, whose options have a range of the landmarks, points are [1, 1, 1, 3n].
    """
    first = node.has("landmarks_range")
    subset = node.integers("subset" if first else "subset_idxs", ())
    sides = [node.integer(f"{side}_rotation_idx", -1) for side in ("left", "right")]
    shape = shape_of(landmarks)
    count = int(np.prod(shape)) // 3 if shape is not None and is_static(shape) else None
    if count is None:
        node.fail("the number of its points is unknown", hint=SIZES)
    if not subset or min(*subset, *sides) < 0 or max(*subset, *sides) >= count:
        node.fail(f"its options number points that are not among {count}", hint="the file is damaged")
    points = op.Slice(op.Reshape(landmarks, [-1, 3], special_zero=False), [0], [2], [1], [1])
    left, right = (op.Gather(points, side, 0) for side in sides)
    x, y = (op.Gather(op.Subtract(right, left), [column], 0) for column in (0, 1))
    return _first(node, op, points, subset, x, y) if first else _second(node, op, points, subset, x, y)


def _first(node: LoweringNode, op: OpBuilder, points: SSAValue, subset: Sequence[int], x: SSAValue, y: SSAValue) -> SSAValue:
    """The matrix [1, 4, 4] of a Landmarks2TransformMatrix of version 1; (x, y) is the vector between two landmarks.

    `subset` has the indices of the landmarks that the rectangle encloses. Raises ConversionError for missing options.
    """
    span, factor = node.number("landmarks_range"), node.number("bbox_size_multiplier", 0.0)
    sizes = [node.integers(name, ()) for name in ("input_hw", "output_hw")]
    if span <= 0 or factor == 0 or any(len(each) != 2 or min(each) < 2 for each in sizes) or node.integer("dimensions", 0) != 3:
        node.fail("its options have no range, sizes or multiplier", hint="the file is damaged")
    (height, width), (rows, columns) = sizes
    turned = Turned(op, points, subset, op.Negative(op.Atan(op.Divide(y, x))))
    scale = op.Multiply(turned.size, factor / span)
    whole = op.constant(np.array([(width - 1) / 2, (height - 1) / 2], np.float32))
    step = op.constant(np.array([2 / (columns - 1), 2 / (rows - 1)], np.float32))
    scaled = op.Multiply(turned.back, op.Unsqueeze(scale, [0]))
    linear = op.Multiply(op.Multiply(scaled, op.Unsqueeze(step, [0])), op.Unsqueeze(whole, [1]))
    corner = op.Subtract(op.Multiply(turned.middle, 2 / span), op.ReduceSum(scaled, [1], keep_dims=False))
    return embedded(op, linear, op.Multiply(corner, whole))


def _second(node: LoweringNode, op: OpBuilder, points: SSAValue, subset: Sequence[int], x: SSAValue, y: SSAValue) -> SSAValue:
    """The matrix [1, 4, 4] of a Landmarks2TransformMatrix of version 2; (x, y) is the vector between two landmarks.

    `subset` has the indices of the landmarks that the rectangle encloses. Raises ConversionError for missing options.
    """
    size = [node.integer(f"output_{side}", 0) for side in ("width", "height")]
    scale = [node.number(f"scale_{axis}", 0.0) for axis in "xy"]
    if min(size) <= 0 or min(scale) <= 0:
        node.fail("its options have no sizes or scales", hint="the file is damaged")
    turned = Turned(op, points, subset, op.Subtract(node.number("target_rotation_radians", 0.0), angle_of(op, y, x)))
    steps = op.Multiply(turned.size, op.constant(np.array([a / b for a, b in zip(scale, size, strict=True)], np.float32)))
    linear = op.Multiply(turned.back, op.Unsqueeze(steps, [0]))
    half = op.constant(np.array(size, np.float32).reshape(2, 1) / 2)
    return embedded(op, linear, op.Subtract(turned.middle, op.Squeeze(op.MatMul(linear, half), [1])))


# Images


@tflite.lowers("TransformTensor", "TransformTensorBilinear")
def transform_image(node: LoweringNode, op: OpBuilder, image: SSAValue, matrix: SSAValue) -> SSAValue:
    """tflite.TransformTensorBilinear(x [1, h, w, c], matrix [1, 4, 4])
    -> Transpose(opset9.GridSample(Transpose(x), points)), zero where a point lies outside of the image

    The first version, whose options have an output_size, samples at the corners of pixels, the second at their
    centres.
    """
    size, shape = node.integers("output_size", ()), shape_of(image)
    from_corners = len(size) == 2
    rows, columns = size if from_corners else (node.integer(f"output_{side}", 0) for side in ("height", "width"))
    if min(rows, columns) < 1 or node.text("mode", "bilinear") != "bilinear":
        node.fail("its options have no size, or another mode than bilinear", hint="the file is damaged")
    if shape is None or len(shape) != 4 or not is_static(shape[1:3]):
        node.fail("the height or width of its input is unknown", hint=SIZES)
    margin = 0.0 if from_corners else 0.5
    grid = np.stack(np.meshgrid(np.arange(columns), np.arange(rows)), axis=-1).reshape(-1, 2).astype(np.float32) + margin
    points = op.constant(np.concatenate([grid, np.ones((len(grid), 1))], 1).astype(np.float32))
    used = op.Gather(op.Slice(op.Reshape(matrix, [4, 4], special_zero=False), [0], [2], [1], [0]), [0, 1, 3], 1)
    moved = op.Subtract(op.MatMul(points, used, transpose_b=True), margin)
    last = np.array([shape[2] - 1, shape[1] - 1], np.float32)
    is_inside = op.ReduceLogicalAnd(op.LogicalAnd(op.GreaterEqual(moved, 0.0), op.LessEqual(moved, op.constant(last))), [1], keep_dims=True)
    # Coordinates of opset9.GridSample are from -1, the edge of the first pixel, to 1.
    lines = op.Subtract(op.Multiply(op.Add(moved, 0.5), op.constant(2 / (last + 1))), 1.0)
    sampled = op.GridSample(
        channel_first(op, op.convert(image, f32), 4),
        op.Reshape(lines, [1, rows, columns, 2], special_zero=False),
        align_corners=False,
        mode="bilinear",
        padding_mode="border",
    )
    return op.Select(op.Reshape(is_inside, [1, rows, columns, 1], special_zero=False), channel_last(op, sampled, 4), 0.0)
