"""Repetition: broadcasting to a shape, tiles."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.shapes import element_count, rank_of, shape_of
from moir.expansions.repetition import repeated
from moir.lowering.binder import LoweringNode
from moir.lowering.complex.kinds import by_parts
from moir.lowering.tensorflow.ranks import sized_by_rows
from moir.lowering.tensorflow.shape import refuse_dynamic_rank
from moir.lowering.tensorflow.table import tf
from moir.rewriting.builder import OpBuilder


@tf.lowers("Tile", rank=sized_by_rows(None, 1), complex=by_parts(0))
def tile(node: LoweringNode, op: OpBuilder, input: SSAValue, multiples_: SSAValue) -> SSAValue:
    """tf.Tile(x, multiples) -> opset1.Tile(x, multiples); x if nothing is repeated

    Computed multiples become opset3.Broadcast if only dimensions of size 1 are repeated, otherwise Gathers.
    """
    data, multiples = input, op.known.lasting_integers(multiples_)
    if multiples is None and op.known.integers(multiples_) is not None:
        return op.Tile(data, multiples_)
    if multiples is not None:
        return data if all(count == 1 for count in multiples) else op.Tile(data, multiples)
    shape, entries = shape_of(input), node.known.elements(multiples_)
    if shape is not None:
        once = [False] * len(shape) if entries is None else [entry == 1 for entry in entries.ravel()]
        if len(once) == len(shape) and all(size == 1 or stays for size, stays in zip(shape, once, strict=True)):
            return op.Broadcast(data, multiples_, mode="bidirectional")
    rank = rank_of(data)
    if rank is None:
        rank = element_count(shape_of(multiples_))
    if rank is None:
        node.fail("the rank of the data is dynamic", hint="give the model's inputs a static rank")
    for axis, count in enumerate([op.Gather(multiples_, axis, 0) for axis in range(rank)]):
        data = repeated(op, data, axis, count)
    return data


@tf.lowers("BroadcastArgs")
def broadcast_arguments(op: OpBuilder, s0: SSAValue, s1: SSAValue) -> SSAValue:
    """tf.BroadcastArgs(a, b) -> opset1.Select(a = 1, b, a), where the shorter one is extended by leading ones"""
    a, b = s0, s1
    lengths = [shape_of(each) for each in (a, b)]
    if lengths[0] is None or lengths[0] != lengths[1] or -1 in lengths[0]:
        counts = [op.ShapeOf(each) for each in (a, b)]
        longest = op.Maximum(*counts)
        a, b = (
            op.Concat(op.Broadcast(op.constant_like([1], each), op.Subtract(longest, count)), each, axis=0)
            for each, count in zip((a, b), counts, strict=True)
        )
    return op.Select(op.Equal(a, 1), b, a)


@tf.lowers("BroadcastTo", complex=by_parts(0))
def broadcast(node: LoweringNode, op: OpBuilder, input: SSAValue, shape: SSAValue) -> SSAValue:
    """tf.BroadcastTo(x, shape) -> opset3.Broadcast(x, shape)"""
    refuse_dynamic_rank(node)
    return op.Broadcast(input, shape)
