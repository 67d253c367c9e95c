"""Fourier transforms of real numbers by those of complex numbers."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.ir import SSAValue

from moir.analysis.constants import constant_of
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.shapes import rank_of
from moir.expansions.shape_values import LARGEST_SIZE
from moir.rewriting.builder import OpBuilder
from moir.targets.releases.expansions.expansion import Expansion


def real_transform(op: OpBuilder, node: OpsetOp) -> SSAValue | None:
    """The transform of numbers with imaginary parts of zero, and of its last axis the first half.

    %y = opset9.RDFT(%x, [1])                                                       // %x: [2, 8]
    ->  %0 = opset7.DFT(opset1.Concat(%x, 0) {axis = 2}, [1])                       // %x: [2, 8, 1]
        %y = opset8.Slice(%0, [0], [5], [1], [1])

    None if the axes are not constant, the rank is dynamic, or the size of the last axis is.
    """
    x, axes, rank = node.operands[0], constant_of(node.operands[1]), rank_of(node.operands[0])
    shape = None if rank is None else node.shape(0)
    if axes is None or rank is None or shape is None:
        return None
    positive = [int(axis) % rank for axis in axes.ravel()]
    sizes = constant_of(node.operands[2]) if len(node.operands) > 2 else None
    if len(node.operands) > 2 and sizes is None:
        return None
    size = shape[positive[-1]] if sizes is None or sizes.ravel()[-1] < 0 else int(sizes.ravel()[-1])
    if size < 0:
        return None
    real = op.Unsqueeze(x, [rank])
    pairs = op.Concat(real, op.Multiply(real, 0.0), axis=rank)
    transformed = op.DFT(pairs, positive, *([] if sizes is None else [sizes]))
    return op.Slice(transformed, [0], [min(size // 2 + 1, LARGEST_SIZE)], [1], [positive[-1]])


EXPANSIONS: Mapping[str, Expansion] = {"opset9.RDFT": real_transform}
