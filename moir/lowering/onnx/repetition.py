"""Repetition: broadcasting to a shape, tiles."""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.shapes import element_count, normalize_axis, shape_of
from moir.dialects.symbols import Symbol
from moir.expansions.repetition import repeated
from moir.expansions.shape_values import as_integer, as_scalar
from moir.lowering.binder import LoweringNode
from moir.lowering.onnx.operands import declared_rank, of_length
from moir.lowering.onnx.strings.movement import moves_strings
from moir.lowering.onnx.table import onnx
from moir.lowering.ranks import fixed
from moir.rewriting.builder import OpBuilder


@onnx.lowers("Tile", since=6, rank=fixed(None, 1))
@moves_strings(0)
def tile(node: LoweringNode, op: OpBuilder, input: SSAValue, repeats_: SSAValue) -> SSAValue:
    """onnx.Tile(x, repeats) -> opset1.Tile(x, repeats); x if nothing is repeated"""
    repeats = op.known.lasting_integers(repeats_)
    if repeats is None:
        return op.Tile(input, of_length(op, repeats_, node.known_rank(0)))
    return input if all(count == 1 for count in repeats) else op.Tile(input, repeats)


@onnx.lowers("Tile")
@moves_strings(0)
def tile_axis(node: LoweringNode, op: OpBuilder, input: SSAValue, tiles_: SSAValue, axis_: SSAValue) -> SSAValue:
    """onnx.Tile(x, tiles, axis) -> opset1.Tile(x, [1, …, tiles, …, 1])"""
    axis = op.known.integers(axis_)
    if axis is None:
        node.fail("the axis is not a constant")
    rank = node.known_rank(0)
    position = normalize_axis(axis[0], rank)
    tiles = op.known.integers(tiles_)
    if tiles is not None:
        return op.Tile(input, [tiles[0] if index == position else 1 for index in range(rank)])
    return repeated(op, input, position, as_scalar(op, as_integer(op, tiles_)))


@onnx.lowers("Expand", since=8, rank=fixed(None, 1))
@moves_strings(0)
def expand(node: LoweringNode, op: OpBuilder, input: SSAValue, shape_: SSAValue) -> SSAValue:
    """onnx.Expand(x, shape) -> opset3.Broadcast(x, shape) {mode = bidirectional}; x if nothing is repeated"""
    target, shape = node.known.elements(shape_), shape_of(input)
    if target is not None and shape is not None and target.size <= len(shape):
        own = [node.known.dimension(input, axis) for axis in range(len(shape) - target.size, len(shape))]
        if all(entry is d or (not isinstance(entry, Symbol) and entry in (1, d)) for entry, d in zip(target.ravel(), own, strict=True)):
            return input
    if element_count(shape_of(shape_)) == 0 or declared_rank(node) == 0:
        return input
    return op.Broadcast(input, _expanded_shape(node, op), mode="bidirectional")


def _expanded_shape(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """The target of an Expand; a target of dynamic length is prefixed by ones up to the result's known rank."""
    target, rank = node.operand(1), declared_rank(node)
    if rank is None or element_count(shape_of(target)) is not None:
        return target
    padded = op.Concat([1] * rank, target, axis=0)
    return of_length(op, op.Slice(padded, [-rank], [np.iinfo(np.int32).max], [1], [0]), rank)
