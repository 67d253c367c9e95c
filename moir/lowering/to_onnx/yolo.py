"""The head of YOLO networks, and the blocks of pixels that they move into channels.

Sources: Redmon and Farhadi, "YOLO9000: Better, Faster, Stronger", 2017; the specifications of opset1.RegionYolo and
opset2.ReorgYolo.
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.shapes import is_fixed, normalize_axis, shape_of
from moir.lowering.binder import LoweringNode
from moir.lowering.to_onnx.builder import OnnxBuilder
from moir.lowering.to_onnx.table import opset


@opset.lowers("RegionYolo")
def region_yolo(
    node: LoweringNode,
    op: OnnxBuilder,
    x: SSAValue,
    *,
    axis: int,
    end_axis: int,
    coords: int,
    classes: int,
    num: int,
    do_softmax: bool = True,
    mask: tuple[int, ...] = (),
) -> SSAValue:
    """opset1.RegionYolo(x [N, C, H, W]) -> onnx.Sigmoid of positions and confidences, onnx.Softmax of classes

    The channels of a box are x, y, further coordinates, its confidence and its classes. Without `do_softmax` the
    classes have sigmoids, too.
    """
    shape = shape_of(x)
    size, boxes = coords + classes + 1, num if do_softmax else len(mask)
    if shape is None or shape[1] != size * boxes:
        node.fail(f"its operand does not have {boxes} boxes of {size} channels, which its attributes say")
    parts = op.Reshape(x, op.joined(op.sizes(x, 0, 1), [boxes, size], op.sizes(x, 2)))
    position, extent, confidence = (op.Slice(parts, [start], [end], [2]) for start, end in ((0, 2), (2, coords), (coords, coords + 1)))
    of_classes = op.Slice(parts, [coords + 1], [size], [2])
    of_classes = op.Softmax(of_classes, axis=2) if do_softmax else op.Sigmoid(of_classes)
    result = op.Concat(op.Sigmoid(position), extent, op.Sigmoid(confidence), of_classes, axis=2)
    if not do_softmax:
        return op.Reshape(result, op.Shape(x))
    first, last = normalize_axis(axis, 4), normalize_axis(end_axis, 4)
    return op.Reshape(result, op.joined(op.sizes(x, 0, first), [-1], op.sizes(x, last + 1)))


@opset.lowers("ReorgYolo")
def reorg_yolo(node: LoweringNode, op: OnnxBuilder, x: SSAValue, *, stride: tuple[int, ...]) -> SSAValue:
    """opset2.ReorgYolo(x [N, C, H, W]) {stride = s} -> onnx.Transpose of the elements as [N, C / s², H, s, W, s]

    Its blocks are those of an image of C / s² channels that is s times as high and wide, as in Darknet; ONNX's
    SpaceToDepth moves those of x.
    """
    step, shape = stride[0], shape_of(x)
    if shape is None or not all(map(is_fixed, shape[1:])):
        node.fail("its channels, height or width are dynamic", hint="give static shapes with --static-shape")
    _, channels, height, width = shape
    if channels % step**2 or height % step or width % step:
        node.fail(f"its {channels} channels of {height} x {width} are not blocks of {step} x {step}")
    batch, depth = op.sizes(x, 0, 1), channels // step**2
    blocks = op.Reshape(x, op.joined(batch, [depth, height, step, width, step]))
    moved = op.Transpose(blocks, perm=(0, 3, 5, 1, 2, 4))
    return op.Reshape(moved, op.joined(batch, [channels * step**2, height // step, width // step]))
