"""Conversions of the element type."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Attribute, SSAValue

from moir.dialects.element_types import f32, to_numpy
from moir.lowering.binder import LoweringNode
from moir.lowering.mxnet.table import mxnet
from moir.rewriting.builder import OpBuilder


@mxnet.lowers("amp_multicast")
def amp_multicast(node: LoweringNode, op: OpBuilder, first: SSAValue, *others: SSAValue, cast_narrow: bool = False) -> Sequence[SSAValue]:
    """mxnet.amp_multicast(a, b, …) {cast_narrow = false} -> all in the widest or narrowest of their types"""
    values = [first, *others]
    widths = [to_numpy(node.element(index)).itemsize for index in range(len(values))]
    wanted = node.element(widths.index((min if cast_narrow else max)(widths)))
    return [op.convert(value, wanted) for value in values]


@mxnet.lowers("Cast", "cast", "amp_cast", "_npx_cast", "_npi_cast")
def cast(op: OpBuilder, x: SSAValue, *, dtype: Attribute = f32) -> SSAValue:
    """mxnet.Cast(x) {dtype} -> opset1.Convert(x)"""
    return op.convert(x, dtype)
