"""Operands of ONNX nodes in the form that opset operations require: broadcastable shapes, axes, sizes as values."""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from moir.analysis.input_dependence import is_computed_of_inputs
from moir.dialects.element_types import si64
from moir.dialects.names import name_of
from moir.dialects.opset.infrastructure import Constant, Parameter
from moir.dialects.shapes import element_count, normalize_axis, rank_of, shape_of
from moir.expansions.constant_forms import with_dimensions_after
from moir.lowering.binder import LoweringNode
from moir.rewriting.builder import OpBuilder


def aligned(node: LoweringNode, op: OpBuilder, value: SSAValue, axis: int | None, broadcast: bool) -> SSAValue:
    """The second operand of a binary node, reshaped to broadcast with the first one by the rules of numpy.

    Before operator set 7 its dimensions correspond to those of the first one from `axis` on; then dimensions of 1 are
    appended to it. Raises ConversionError if that requires a rank that is unknown.
    """
    if node.version >= 7 or not broadcast or axis is None:
        return value
    rank, own = node.known_rank(0), node.known_rank(1)
    after = rank - own - normalize_axis(axis, max(rank, 1))
    if after < 0:
        node.fail(f"a shape of rank {own} does not fit at axis {axis} of one of rank {rank}")
    return with_dimensions_after(op, value, after)


def reshaped_like(op: OpBuilder, value: SSAValue, like: SSAValue, kept: int = 0) -> SSAValue:
    """A value reshaped to the shape of `like`, with which it shares the first `kept` dimensions."""
    shape = shape_of(like)
    if shape is not None and len(shape) == kept + 1 and shape[kept] != 0:
        return op.Reshape(value, [*(0,) * kept, -1], special_zero=bool(kept))
    if shape is not None and isinstance(like.owner, Constant):
        return op.Reshape(value, list(shape), special_zero=False)
    return op.Reshape(value, op.ShapeOf(like), special_zero=False)


def declared_rank(node: LoweringNode) -> int | None:
    """The rank that the model declares for result 0; None if it declares none."""
    return rank_of(node.op.results[0])


def of_length(op: OpBuilder, value: SSAValue, count: int | None) -> SSAValue:
    """A list whose type has a known length, `count` unless the length is known already.

    A shape or axes of unknown length make a result of unknown rank, which the CPU plugin (2026.4) does not compile.
    The result is a Gather, since the plugin would remove a Reshape of a list.
    """
    if count is None or element_count(shape_of(value)) is not None:
        return value
    row = value if count and rank_of(value) == 1 else op.Reshape(value, [-1 if count else 0], special_zero=False)
    return op.Gather(row, list(range(count)), 0) if count else row


def swapping(op: OpBuilder, axis: SSAValue, place: int, rank: int) -> SSAValue:
    """The order of a Transpose that swaps axis `place` with a computed axis [1]; it is its own inverse."""
    axis = op.FloorMod(op.convert(axis, si64), rank)
    order = op.ScatterUpdate(op.constant(list(range(rank))), axis, [place], 0)
    return op.ScatterUpdate(order, [place], axis, 0)


def need_length(node: LoweringNode, index: int) -> None:
    """Refuse a list whose unknown length determines the rank of the result, unless the length depends on shapes only.

    The CPU plugin does not compile a model with such a result. A length that depends on shapes may become known by
    `model.reshape()` of the runtime.
    """
    value = node.operand(index)
    if element_count(shape_of(value)) is not None or declared_rank(node) is not None:
        return
    pending, seen = [value], set[SSAValue]()
    while pending:
        each = pending.pop()
        producer = each.owner
        if each in seen or element_count(shape_of(each)) is not None or not isinstance(producer, Operation):
            continue
        seen.add(each)
        if isinstance(producer, Parameter):
            node.fail(
                f"the length of operand {index} is unknown, and so the rank of the result",
                hint=f"give the input {name_of(producer)} a known shape, or make it an initializer",
            )
        if producer.name.endswith(".Slice") and any(map(is_computed_of_inputs, producer.operands[1:])):
            node.fail(f"values of inputs decide about the length of operand {index}, and so about the rank of the result")
        if not producer.name.endswith(".ShapeOf"):
            pending += producer.operands
