"""R-FCN: `ObjectDetectionAPIPSROIPoolingReplacement`. Crops of position-sensitive maps become a PSROIPooling.

A region has rows and columns of bins. The channels of the maps are in as many groups; each bin crops its own group,
and the result of a region is the mean over all crops and their samples. The graph does that in a loop over images:

    maps, boxes -> loop: split(map), bins of the boxes -> CropAndResize each -> AddN / number of bins -> Mean [1, 2]
    maps, boxes -> detection.PSROIPooling

Dai et al., "R-FCN: Object Detection via Region-based Fully Convolutional Networks".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from xdsl.ir import Block, OpResult, SSAValue

from moir.analysis.constants import constant_of
from moir.dialects.framework import FrameworkOp
from moir.dialects.frameworks.detection import new_head
from moir.dialects.frameworks.tensorflow import integer_of, kind_of, origin, origin_of_kind
from moir.dialects.names import name_of
from moir.dialects.opset.infrastructure import Parameter, Result
from moir.dialects.properties import value_of
from moir.model_optimizer.detection.expressions import Bindings, Computed, Expression, Named, Scaled, difference, scaled_origin, sum_of
from moir.model_optimizer.detection.request import Request
from moir.support.records import Record

POOLING = "PSROIPooling"
"""The kind of the head that pools position-sensitive maps."""
"""The kind of the node: operands are the maps [images, height, width, channels] and boxes [images, n, 4]."""

_LOOPS = ("While", "StatelessWhile")
_TOLERANCE = 1e-5

_SPATIAL = (1, 2)
"""The axes of crops [n, height, width, channels] along which the mean is computed."""


class Pooling(Record):
    """The pooling that the body of a loop computes for an image.

    Args:
        maps: the parameter of the body that is the map of an image.
        boxes: the parameter that is its boxes.
        rows: the number of rows of bins.
        columns: the number of columns of bins.
        size: height and width of the crop of a bin.
    """

    maps: SSAValue
    boxes: SSAValue
    rows: int
    columns: int
    size: int


def pool_by_position(request: Request) -> None:
    """The loops that crop position-sensitive maps -> detection.PSROIPooling.

    Raises ConversionError if there are none.
    """
    if not pooled_loops(request):
        crops = [op for loop in request.nodes(*_LOOPS) for op in loop.walk() if kind_of(op) == "CropAndResize"]
        raise request.error("no loop takes the mean of crops of groups of channels", crops[0] if crops else None, hint="is it an R-FCN?")


def pooled_loops(request: Request) -> int:
    """Replace the loops that crop position-sensitive maps by detection.PSROIPooling(maps, boxes).

    Returns their number.
    """
    replaced = 0
    for loop in request.nodes(*_LOOPS):
        joined = _joined(loop)
        pooling = None if joined is None else _pooling_in(loop.regions[0].block)
        if joined is None or pooling is None:
            continue
        parameters: list[SSAValue] = [op.results[0] for op in loop.regions[0].block.ops if isinstance(op, Parameter)]
        lists = [origin_of_kind(loop.operands[parameters.index(each)], "TensorListFromTensor") for each in (pooling.maps, pooling.boxes)]
        operands = [each.operands[0] for each in lists if each is not None]
        if len(operands) < len(lists):
            continue
        properties = {"rows": pooling.rows, "columns": pooling.columns, "size": pooling.size}
        node = new_head(POOLING, operands, properties, name=name_of(joined) or "PSROIPooling")
        request.block.insert_op_before(node, joined)
        joined.results[0].replace_all_uses_with(node.results[0])
        replaced += 1
    return replaced


def _said(node: FrameworkOp, name: str, default: Any) -> Any:
    """The value of an attribute of a node; the default if the node does not have it."""
    return value_of(node.properties[name]) if name in node.properties else default


def _joined(loop: FrameworkOp) -> FrameworkOp | None:
    """The node that stacks or concatenates the results of a loop over images; None for any other loop."""
    if _said(loop, "joined", 0) != 1 or len(loop.results) != 1 or list(_said(loop, "sliced", ())) != [0, 0]:
        return None
    (written,) = _only_user(loop.results[0], "TensorListSetRange") or (None,)
    (joined,) = (None,) if written is None else _only_user(written.results[0], "TensorListGather", "TensorListStack") or (None,)
    return joined


def _only_user(value: SSAValue, *kinds: str) -> tuple[FrameworkOp] | None:
    users = [use.operation for use in value.uses]
    return (cast("FrameworkOp", users[0]),) if len(users) == 1 and kind_of(users[0]) in kinds else None


def _pooling_in(body: Block) -> Pooling | None:
    (result,) = [op for op in body.ops if isinstance(op, Result)]
    mean = origin_of_kind(result.operands[0], "Mean")
    axes = None if mean is None else constant_of(origin(mean.operands[1]))
    if mean is None or axes is None or tuple(axes.reshape(-1).tolist()) != _SPATIAL or not _said(mean, "keep_dims", False):
        return None
    total, factor = scaled_origin(mean.operands[0])
    added = origin_of_kind(total, "AddN")
    if added is None or abs(factor * len(added.operands) - 1) > _TOLERANCE:
        return None
    return _pooling_of([origin_of_kind(each, "CropAndResize") for each in added.operands])


def _pooling_of(crops: list[FrameworkOp | None]) -> Pooling | None:
    """The pooling whose bins are the given crops; None if a crop is not a bin."""
    size = None if crops[0] is None else constant_of(origin(crops[0].operands[3]))
    if size is None or size.size != 2 or size.reshape(-1)[0] != size.reshape(-1)[1]:
        return None
    extent, maps, boxes = int(size.reshape(-1)[0]), set[SSAValue](), list[SSAValue]()
    for index, crop in enumerate(crops):
        if crop is None or not _is_plain(crop, extent):
            return None
        expanded = origin_of_kind(crop.operands[0], "ExpandDims")
        group = None if expanded is None or integer_of(expanded.operands[1]) != 0 else origin(expanded.operands[0])
        if not isinstance(group, OpResult) or group.index != index or kind_of(group.op) != "Split":
            return None
        if integer_of(group.op.operands[0]) not in (2, -1) or len(group.op.results) != len(crops):
            return None
        maps.add(origin(group.op.operands[1]))
        boxes.append(crop.operands[1])
    for rows in range(1, len(crops) + 1):
        columns = len(crops) // rows
        bindings: Bindings = {}
        if rows * columns != len(crops) or not all(_bin(rows, columns, each).match(boxes[each], bindings) for each in range(len(crops))):
            continue
        whole = bindings["boxes"]
        if len(maps) == 1 and all(isinstance(each.owner, Parameter) for each in (*maps, whole)) and _by_corners(whole, boxes):
            return Pooling(maps=maps.pop(), boxes=whole, rows=rows, columns=columns, size=extent)
    return None


def _by_corners(whole: SSAValue, bins: Sequence[SSAValue]) -> bool:
    """Whether the boxes [n, 4] are unstacked into corners, and those of the bins stacked, along the last axis."""
    taken = [use.operation for use in whole.uses if kind_of(use.operation) == "Unpack"]
    put = [origin(each).owner for each in bins]
    return all(_said(cast("FrameworkOp", each), "axis", 0) in (1, -1) for each in (*taken, *put))


def _is_plain(crop: FrameworkOp, extent: int) -> bool:
    """Whether a crop is bilinear, has the given size, is zero outside, and is of the first image."""
    size = constant_of(origin(crop.operands[3]))
    image = origin(crop.operands[2])
    zeros = origin_of_kind(image, "Fill")
    known = constant_of(image)
    is_first = integer_of(zeros.operands[1]) == 0 if zeros is not None else known is not None and not known.any()
    is_alike = size is not None and size.reshape(-1).tolist() == [extent, extent]
    return is_first and is_alike and _said(crop, "method", "bilinear") == "bilinear" and _said(crop, "extrapolation_value", 0.0) == 0


def _bin(rows: int, columns: int, index: int) -> Expression:
    """The pattern of the boxes of bin `index`: stack([y_min + row * height, …], axis=1), height = (y_max - y_min) /
    rows.
    """
    y_min, x_min, y_max, x_max = (Computed(("Unpack",), Named("boxes"), result=corner) for corner in range(4))
    height, width = Scaled(difference(y_max, y_min), 1 / rows), Scaled(difference(x_max, x_min), 1 / columns)
    row, column = divmod(index, columns)
    lines = [(y_min, height, row), (x_min, width, column), (y_min, height, row + 1), (x_min, width, column + 1)]
    return Computed(("Pack",), *(sum_of(first, Scaled(step, factor)) for first, step, factor in lines))
