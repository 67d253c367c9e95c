"""Recognises boxes that a TensorFlow graph decodes from offsets to anchors, by the computation.

    width, height = x_max - x_min, y_max - y_min                       of an anchor
    y, x = ty / 10 * height + y_min + height / 2, …                    the centre of the box
    h, w = exp(th / 5) * height, exp(tw / 5) * width                   its size
    boxes = transpose(stack([y - h / 2, x - w / 2, y + h / 2, x + w / 2]))

This is the coding of Faster R-CNN, which the SSD models use as well: Ren et al., "Faster R-CNN: Towards Real-Time
Object Detection with Region Proposal Networks".
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.analysis.constants import constant_of
from moir.dialects.frameworks.tensorflow import origin, origin_of_kind
from moir.model_optimizer.detection.expressions import (
    Bindings,
    Named,
    Scaled,
    difference,
    exponential,
    product,
    row,
    scaled_origin,
    sum_of,
)
from moir.support.records import Record


class CodedBoxes(Record):
    """Boxes that are decoded from offsets to anchors.

    Args:
        codes: the box offsets [n, 4] (ty, tx, th, tw).
        anchors: the anchors [n, 4] (y_min, x_min, y_max, x_max).
        variances: the factors of the four offsets.
        is_tiled: whether the anchors are repeated for each image of a batch.
    """

    codes: SSAValue
    anchors: SSAValue
    variances: tuple[float, ...]
    is_tiled: bool


def decoded_from(value: SSAValue) -> CodedBoxes | None:
    """The offsets and anchors from which boxes [n, 4] are decoded; None if they are computed in another way."""
    transposed = origin_of_kind(value, "Transpose")
    packed = None if transposed is None else origin_of_kind(transposed.operands[0], "Pack")
    if packed is None or len(packed.operands) != 4:
        return None
    bindings: Bindings = {}
    lines = (
        difference(Named("y"), Scaled(Named("h"), 0.5)),
        difference(Named("x"), Scaled(Named("w"), 0.5)),
        sum_of(Named("y"), Scaled(Named("h"), 0.5)),
        sum_of(Named("x"), Scaled(Named("w"), 0.5)),
    )
    if not all(line.match(operand, bindings) for line, operand in zip(lines, packed.operands, strict=True)):
        return None
    parts = {
        "y": sum_of(product(Named("code0"), Named("height")), sum_of(row(0, Named("anchors")), Scaled(Named("height"), 0.5))),
        "x": sum_of(product(Named("code1"), Named("width")), sum_of(row(1, Named("anchors")), Scaled(Named("width"), 0.5))),
        "h": product(exponential(Named("code2")), Named("height")),
        "w": product(exponential(Named("code3")), Named("width")),
        "height": difference(row(2, Named("anchors")), row(0, Named("anchors"))),
        "width": difference(row(3, Named("anchors")), row(1, Named("anchors"))),
    }
    if not all(part.match(bindings[name], bindings) for name, part in parts.items()):
        return None
    variances: list[float] = []
    for number in range(4):
        code, factor = scaled_origin(bindings[f"code{number}"])
        if not row(number, Named("codes")).match(code, bindings):
            return None
        variances.append(factor)
    anchors, is_tiled = untiled(bindings["anchors"])
    return CodedBoxes(bindings["codes"], anchors, tuple(variances), is_tiled)


def untiled(anchors: SSAValue) -> tuple[SSAValue, bool]:
    """Anchors [n, 4] without their repetition for each image of a batch, and whether such a repetition was found.

    reshape(tile(expand_dims(anchors, 0), [images, 1, 1]), [-1, 4]) -> anchors
    """
    reshaped = origin_of_kind(anchors, "Reshape")
    tiled = None if reshaped is None else origin_of_kind(reshaped.operands[0], "Tile")
    expanded = None if tiled is None else origin_of_kind(tiled.operands[0], "ExpandDims")
    if expanded is None or (axis := constant_of(origin(expanded.operands[1]))) is None or axis.reshape(-1)[0] != 0:
        return anchors, True
    return origin(expanded.operands[0]), False
