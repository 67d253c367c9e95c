"""Functions of each element, and operations that only matter in training.

Source: activation_op.cc and ops.yaml of PaddlePaddle 3.3.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from xdsl.ir import Attribute, SSAValue

from moir.dialects.element_types import boolean, f32
from moir.dialects.shapes import element_of
from moir.expansions.formulas import FORMULAS
from moir.expansions.functions import operation
from moir.expansions.quantization import half_away_from_zero
from moir.lowering.binder import LoweringNode
from moir.lowering.complex.kinds import PAIRS, by_formula
from moir.lowering.paddle.operands import is_integer, known_number
from moir.lowering.paddle.table import paddle
from moir.rewriting.builder import OpBuilder


def _truncated(op: OpBuilder, x: SSAValue) -> SSAValue:
    return x if is_integer(x) else op.Multiply(op.Sign(x), op.Floor(op.Abs(x)))


_OWN: dict[str, Callable[[OpBuilder, SSAValue], SSAValue]] = {
    "round": lambda op, x: x if is_integer(x) else half_away_from_zero(op, x),
    "trunc": _truncated,
    "lgamma": lambda op, x: FORMULAS["gammaln"](op, x),
    "logsigmoid": lambda op, x: op.Negative(op.SoftPlus(op.Negative(x))),
    "tanh_shrink": lambda op, x: op.Subtract(x, op.Tanh(x)),
    "silu": lambda op, x: op.Swish(x),
    "relu6": lambda op, x: op.Clamp(x, min=0.0, max=6.0),
}
"""Functions that PaddlePaddle alone has, or defines in its own way."""

_KINDS = (
    "acos acosh asin asinh atan atanh ceil cos cosh digamma erf erfinv exp expm1 floor lgamma log log10 log1p log2 logsigmoid reciprocal "
    "relu relu6 round rsqrt sigmoid sign silu sin sinh softsign sqrt square tan tanh tanh_shrink trunc"
)


@paddle.lowers("abs", complex=by_formula("paddle.complex.operations:magnitude", is_real=True))
@paddle.lowers(*_KINDS.split())
def function(node: LoweringNode, op: OpBuilder, x: SSAValue) -> SSAValue:
    """paddle.asin(x) -> opset1.Asin(x), and so on

    Integers are converted to f32 for functions of real numbers.
    """
    name = node.op.KIND
    if name in _OWN:
        return _OWN[name](op, x)
    if name in ("abs", "ceil", "floor", "relu", "sign"):
        return x if is_integer(x) and name in ("ceil", "floor") else operation(op, name)(x)
    x = op.convert(x, f32) if is_integer(x) and name != "square" else x
    return FORMULAS[name](op, x) if name in FORMULAS else operation(op, name)(x)


@paddle.lowers("isfinite_v2", "isinf_v2", "isnan_v2")
def number_test(node: LoweringNode, op: OpBuilder, x: SSAValue) -> SSAValue:
    """paddle.isnan_v2(x) -> opset10.IsNaN(x), and so on"""
    x = op.convert(x, f32) if is_integer(x) else x
    return {"isfinite_v2": op.IsFinite, "isinf_v2": op.IsInf, "isnan_v2": op.IsNaN}[node.op.KIND](x)


paddle.lowers_each(
    {
        "logical_not": lambda op, x: op.LogicalNot(op.convert(x, boolean)),
        "bitwise_not": lambda op, x: op.LogicalNot(x) if element_of(x) is boolean else op.BitwiseNot(x),
    }
)


@paddle.lowers("assign", "lod_reset", "print", "share_data", "memcpy", "memcpy_d2h", "memcpy_h2d", complex=PAIRS)
def identity(x: SSAValue) -> SSAValue:
    """paddle.assign(x) -> x; likewise `print`, `share_data`, `memcpy` and others without effect on values"""
    return x


@paddle.lowers("rrelu")
def random_relu(node: LoweringNode, op: OpBuilder, x: SSAValue, *, lower: float = 0.125, upper: float = 1 / 3) -> list[SSAValue | None]:
    """paddle.rrelu(x) -> x where positive, else x times the mean slope"""
    return [op.PRelu(x, op.constant_like(np.array([(lower + upper) / 2]), x)), *[None] * (node.result_count - 1)]


@paddle.lowers("dropout")
def dropout(
    node: LoweringNode, op: OpBuilder, x: SSAValue, _seed: SSAValue, _p: SSAValue, *, dropout_implementation: str = "downgrade_in_infer"
) -> list[SSAValue | None]:
    """paddle.dropout(x) -> x; with downgrade_in_infer x · (1 - p)"""
    rest: list[SSAValue | None] = [None] * (node.result_count - 1)
    if dropout_implementation == "upscale_in_train":
        return [x, *rest]
    if dropout_implementation != "downgrade_in_infer":
        node.fail(f"dropout_implementation {dropout_implementation!r} does not exist")
    kept = 1.0 - known_number(node, 2, "dropout_prob", 0.5)
    return [x if kept == 1 else op.Multiply(x, kept), *rest]


@paddle.lowers("fused_dropout_add")
def dropout_add(node: LoweringNode, op: OpBuilder, x: SSAValue, y: SSAValue) -> list[SSAValue | None]:
    """paddle.fused_dropout_add(x, y) -> opset1.Add(x, y)"""
    if node.text("mode", "upscale_in_train") != "upscale_in_train":
        node.fail("a mode other than upscale_in_train is not supported")
    return [op.Add(x, y), *[None] * (node.result_count - 1)]


@paddle.lowers("cast")
def cast(op: OpBuilder, x: SSAValue, *, out_dtype: Attribute) -> SSAValue:
    """paddle.cast(x) {out_dtype} -> opset1.Convert(x); a boolean result is x != 0"""
    if out_dtype == boolean and element_of(x) != boolean:
        return op.NotEqual(x, 0)
    return op.convert(x, out_dtype)


@paddle.lowers("label_smooth")
def label_smooth(op: OpBuilder, x: SSAValue, prior: SSAValue | None = None, *, epsilon: float = 0.0) -> SSAValue:
    """paddle.label_smooth(x, prior) -> (1 - epsilon) · x + epsilon · prior, where the prior is by default 1 / the
    number of classes
    """
    scaled = op.Multiply(x, 1.0 - epsilon)
    if prior is not None:
        return op.Add(scaled, op.Multiply(prior, epsilon))
    count = op.ConvertLike(op.Gather(op.ShapeOf(x), -1, 0), x)
    return op.Add(scaled, op.Divide(op.constant_like(epsilon, x), count))
