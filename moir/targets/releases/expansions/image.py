"""Resizing by the version with separate operands for sizes and scales."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects import opset
from moir.dialects.element_types import f32, si64
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.shapes import rank_of, shape_of
from moir.rewriting.builder import OpBuilder
from moir.targets.releases.expansions.expansion import Expansion

MODES = ("cubic", "linear", "linear_onnx", "nearest")
"""The modes of both versions."""


def interpolate(op: OpBuilder, node: OpsetOp) -> SSAValue | None:
    """Interpolate with an operand that does not count: scales where sizes are given, and sizes where scales are.

    %y = opset11.Interpolate(%x, %sizes, %axes) {shape_calculation_mode = "sizes"}   // %sizes: [2]
    ->  %y = opset4.Interpolate(%x, %sizes, [1.0, 1.0], %axes) {shape_calculation_mode = "sizes"}

    None for other modes, and if the number of axes is not known.
    """
    data, target = node.operands[:2]
    axes = node.optional_operand(2)
    lengths, rank = shape_of(target), rank_of(data)
    if node.text("mode") not in MODES or rank is None or lengths is None or len(lengths) != 1 or lengths[0] < 0:
        return None
    if axes is None:
        axes = op.constant(list(range(rank)))
    if node.text("shape_calculation_mode") == "sizes":
        operands = [data, op.convert(target, si64), op.constant(np.ones(lengths, np.float32), f32), axes]
    else:
        operands = [data, op.constant(np.ones(lengths, np.int64), si64), op.convert(target, f32), axes]
    return op.create(opset.operation("opset4.Interpolate"), operands, dict(node.properties)).results[0]


EXPANSIONS: Mapping[str, Expansion] = {"opset11.Interpolate": interpolate}
