"""Padding: the pads of operations in various forms, and data padded by them."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.data import Array
from moir.dialects.element_types import si64
from moir.dialects.shapes import element_count, rank_of, shape_of
from moir.dialects.symbols import integer_array
from moir.errors import InferenceError
from moir.expansions.shape_values import rank_value
from moir.lowering.binder import LoweringNode
from moir.rewriting.builder import OpBuilder, Operand


def mirror_mode(node: LoweringNode) -> str:
    """The value of `pad_mode` for the attribute `mode`. Raises ConversionError for an unknown mode."""
    modes = {"REFLECT": "reflect", "SYMMETRIC": "symmetric"}
    mode = node.text("mode")
    if mode not in modes:
        node.fail(f"mode {mode!r} is neither REFLECT nor SYMMETRIC")
    return modes[mode]


def sides_of(widths: Array) -> tuple[list[int], list[int]]:
    """The first column and the second column of an array of rows [begin, end].

    Raises InferenceError for another shape.
    """
    if widths.ndim != 2 or widths.shape[1] != 2:
        raise InferenceError(f"widths are rows of a begin and an end, not a tensor of shape {list(widths.shape)}")
    begins, ends = integer_array(widths).T.tolist()
    return begins, ends


def padded(op: OpBuilder, data: SSAValue, widths: SSAValue, mode: str, value: SSAValue | None) -> SSAValue:
    """Data padded by `widths`, which has a row [begin, end] for each dimension; the data itself if all widths are 0.

    `mode` is the `pad_mode` of opset12.Pad, `value` the padding value; None for the default, or a mode without one.
    """
    known = op.known.lasting(widths)
    if known is None:
        begin, end = (op.Gather(widths, side, 1) for side in (0, 1))
        return op.Pad(data, begin, end, value, pad_mode=mode)
    if not known.any():
        return data
    begin, end = sides_of(known)
    return op.Pad(data, begin, end, value, pad_mode=mode)


def around_block(op: OpBuilder, data: SSAValue, entries: SSAValue, filler: int) -> Operand:
    """A 1-D tensor with an element for each dimension of the data: `entries` for the spatial dimensions, `filler` for
    all others.

    The batch dimension comes before the spatial dimensions, the remaining dimensions after them.
    """
    rank, count, known = rank_of(data), element_count(shape_of(entries)), op.known.integers(entries)
    if rank is not None and known is not None and rank > len(known):
        return [filler, *known, *[filler] * (rank - 1 - len(known))]
    entries = op.convert(entries, si64)
    if rank is not None and count is not None and rank > count:
        return op.Concat([filler], entries, [filler] * (rank - 1 - count), axis=0)
    rest = op.Subtract(rank_value(op, data), op.ShapeOf(entries) if count is None else count)
    return op.Pad(entries, [1], op.Subtract(rest, 1), op.constant(filler, si64), pad_mode="constant")
