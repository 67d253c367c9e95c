"""Tensors generated from sizes and numbers: ranges, tensors filled with a number, identity matrices."""

from __future__ import annotations

from math import floor
from typing import Literal, overload

from xdsl.ir import Attribute, SSAValue

from moir.dialects.element_types import f64, si64
from moir.dialects.shapes import shape_of
from moir.expansions.number_ranges import counted_range, is_whole, known_number, length_of_range
from moir.frameworks.traits import ELEMENTWISE
from moir.lowering.binder import LoweringNode
from moir.lowering.complex.kinds import with_handler
from moir.lowering.pytorch.arguments import Scalar, Size, Sizes, shape_value, size_list, size_scalar
from moir.lowering.pytorch.complex.rules import JOINED
from moir.lowering.pytorch.promotion import as_element, inferred_element, is_integral
from moir.lowering.pytorch.table import aten
from moir.rewriting.builder import OpBuilder


@aten.lowers("arange.default", "arange.start", "arange.start_step")
def arange(node: LoweringNode, op: OpBuilder, *, start: Scalar = 0, end: Scalar, step: Scalar = 1) -> SSAValue:
    """aten.arange.start_step() {start, end, step} -> opset4.Range(start, end, step)

    For floats -> start + step · opset4.Range(0, ⌈(end - start) / step⌉, 1), whose length is computed in f64.
    """
    element = inferred_element(node)
    if element == si64:
        # The length follows from the bounds as integers, which is not so for other types of integers.
        start, end, step = (_truncated(op, each) for each in (start, end, step))
    if all(is_whole(op, each) for each in (start, end, step)):
        return op.Range(*(_truncated(op, each, as_value=True) for each in (start, end, step)), output_type=element)
    return _counted(op, start, end, step, element)


@aten.lowers("range.default", "range.step")
def range_with_end(node: LoweringNode, op: OpBuilder, *, start: Scalar, end: Scalar, step: Scalar = 1) -> SSAValue:
    """aten.range.step() {start, end, step} -> start + step · opset4.Range(0, ⌊(end - start) / step⌋ + 1, 1)"""
    return _counted(op, start, end, step, inferred_element(node), has_end=True)


def _counted(op: OpBuilder, start: Scalar, end: Scalar, step: Scalar, element: Attribute, *, has_end: bool = False) -> SSAValue:
    """The numbers start, start + step, … below `end`, or up to and including it with `has_end`.

    For integer element types, start and step are truncated.
    """
    known = [known_number(op, each) for each in (start, end, step)]
    if is_integral(element):
        first, distance = (_truncated(op, each) for each in (start, step))
    else:
        first, distance = start, step
    if known[0] is not None and known[1] is not None and known[2] is not None:
        count = floor((known[1] - known[0]) / known[2]) + 1 if has_end else length_of_range(known[0], known[1], known[2])
        return counted_range(op, first, distance, count, element)
    low, high, each = as_element(op, f64, start, end, step)
    length = op.Divide(op.Subtract(high, low), each)
    length = op.Add(op.Floor(length), 1.0) if has_end else op.Ceiling(length)
    return counted_range(op, first, distance, op.convert(op.Maximum(length, 0.0), si64), element)


@overload
def _truncated(op: OpBuilder, value: Scalar, *, as_value: Literal[True]) -> SSAValue: ...
@overload
def _truncated(op: OpBuilder, value: Scalar, *, as_value: bool = False) -> Scalar: ...
def _truncated(op: OpBuilder, value: Scalar, *, as_value: bool = False) -> Scalar:
    """A number truncated to an integer: a Python integer, or a value of type i64 if it is computed or `as_value` is
    set.
    """
    if isinstance(value, SSAValue):
        return size_scalar(op, value)
    return op.constant(int(value), si64) if as_value else int(value)


def _full(op: OpBuilder, sizes: Sizes, number: SSAValue) -> SSAValue:
    """A tensor filled with one number; a constant if it is small."""
    return op.Broadcast(number, shape_value(op, sizes, 0)) if sizes else number


@aten.lowers("zeros.default", "empty.memory_format", "full.default", "scalar_tensor.default", complex=JOINED)
@aten.lowers("ones.default", complex=with_handler("pytorch.complex.elements:ones"))
@aten.lowers("empty_strided.default", "empty_permuted.default", "prims.scalar_tensor.default")
def full(node: LoweringNode, op: OpBuilder, *, size: Sizes = (), fill_value: Scalar = 0, s: Scalar = 0) -> SSAValue:
    """aten.full.default() {size, fill_value} -> opset3.Broadcast(fill_value, size); likewise `zeros`, `ones` and
    `empty`
    """
    kind = node.op.KIND
    number = 1 if kind.startswith("ones") else s if "scalar_tensor" in kind else fill_value
    return _full(op, size, as_element(op, inferred_element(node), number)[0])


@aten.lowers(
    "zeros_like.default", "empty_like.default", "full_like.default", "fill.Scalar", "fill.Tensor", complex=JOINED, traits=(ELEMENTWISE,)
)
@aten.lowers("ones_like.default", complex=with_handler("pytorch.complex.elements:ones"), traits=(ELEMENTWISE,))
def full_like(node: LoweringNode, op: OpBuilder, self: SSAValue, *, fill_value: Scalar = 0, value: Scalar = 0) -> SSAValue:
    """aten.full_like.default(x) {fill_value} -> opset3.Broadcast(fill_value, ShapeOf(x)); likewise `zeros_like`,
    `ones_like` and `empty_like`
    """
    kind = node.op.KIND
    number = 1 if kind.startswith("ones") else value if kind.startswith("fill") else fill_value
    return op.Broadcast(as_element(op, inferred_element(node), number)[0], op.ShapeOf(self))


@aten.lowers("copy.default", complex=JOINED)
def copy(node: LoweringNode, op: OpBuilder, self: SSAValue, *, src: Scalar) -> SSAValue:
    """aten.copy.default(x, y) -> y as the element type and in the shape of x"""
    (copied,) = as_element(op, inferred_element(node), src)
    mine, shape = shape_of(self), shape_of(copied)
    return copied if mine is not None and mine == shape and -1 not in mine else op.Broadcast(copied, op.ShapeOf(self))


@aten.lowers("new_zeros.default", "new_empty.default", "new_full.default", complex=JOINED)
@aten.lowers("new_ones.default", complex=with_handler("pytorch.complex.elements:ones"))
def new_full(node: LoweringNode, op: OpBuilder, *, size: Sizes = (), fill_value: Scalar = 0) -> SSAValue:
    """aten.new_full.default(x) {size, fill_value} -> opset3.Broadcast(fill_value, size); likewise `new_zeros`,
    `new_ones` and `new_empty`
    """
    number = 1 if node.op.KIND.startswith("new_ones") else fill_value
    return _full(op, size, as_element(op, inferred_element(node), number)[0])


@aten.lowers("eye.default", "eye.m")
def eye(node: LoweringNode, op: OpBuilder, *, n: Size, m: Size | None = None) -> SSAValue:
    """aten.eye.m() {n, m} -> opset9.Eye(n, m, 0)"""
    rows, columns = size_list(op, n), size_list(op, n if m is None else m)
    return op.Eye(rows, columns, [0], output_type=inferred_element(node))
