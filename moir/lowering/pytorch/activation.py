"""Activations, softmax, and dropout in inference."""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from moir.expansions.constant_forms import along_channels
from moir.expansions.functions import selu as selu_of
from moir.frameworks.traits import ELEMENTWISE
from moir.lowering.binder import LoweringNode
from moir.lowering.complex.kinds import by_function
from moir.lowering.pytorch.arguments import Scalar, axis_from_front
from moir.lowering.pytorch.promotion import inferred_element
from moir.lowering.pytorch.table import aten
from moir.rewriting.builder import OpBuilder


def _known(node: LoweringNode, value: Scalar, name: str) -> float:
    if isinstance(value, SSAValue):
        node.fail(f"{name} is computed when the model runs")
    return float(value)


aten.lowers_each({"silu.default": lambda op, self: op.Swish(self)}, complex=by_function(), traits=(ELEMENTWISE,))

aten.lowers_each(
    {
        "relu.default": lambda op, self: op.Relu(self),
        "relu6.default": lambda op, self: op.Clamp(self, min=0.0, max=6.0),
        "hardswish.default": lambda op, self: op.HSwish(self),
        "hardsigmoid.default": lambda op, self: op.HSigmoid(self),
        "mish.default": lambda op, self: op.Mish(self),
        "selu.default": lambda op, self: selu_of(op, self),
    },
    traits=(ELEMENTWISE,),
)
aten.lowers_each({"log_sigmoid.default log_sigmoid_forward.default": lambda op, self: op.Negative(op.SoftPlus(op.Negative(self)))})


@aten.lowers("gelu.default", traits=(ELEMENTWISE,))
def gelu(op: OpBuilder, self: SSAValue, *, approximate: str = "none") -> SSAValue:
    """aten.gelu.default(x) {approximate} -> opset7.Gelu(x) {approximation_mode}"""
    return op.Gelu(self, approximation_mode="TANH" if approximate == "tanh" else "ERF")


@aten.lowers("hardtanh.default", traits=(ELEMENTWISE,))
def hardtanh(node: LoweringNode, op: OpBuilder, self: SSAValue, *, min_val: Scalar = -1, max_val: Scalar = 1) -> SSAValue:
    """aten.hardtanh.default(x) {min_val, max_val} -> opset1.Clamp(x) {min, max}"""
    return op.Clamp(self, min=_known(node, min_val, "min_val"), max=_known(node, max_val, "max_val"))


@aten.lowers("leaky_relu.default", traits=(ELEMENTWISE,))
def leaky_relu(node: LoweringNode, op: OpBuilder, self: SSAValue, *, negative_slope: Scalar = 0.01) -> SSAValue:
    """aten.leaky_relu.default(x) {negative_slope} -> opset1.PRelu(x, [negative_slope])"""
    slope = np.array([_known(node, negative_slope, "negative_slope")])
    return op.PRelu(self, op.constant_like(slope, self))


@aten.lowers("rrelu.default", "rrelu_with_noise.default", "rrelu_with_noise_functional.default")
def rrelu(
    node: LoweringNode, op: OpBuilder, self: SSAValue, *, lower: Scalar = 0.125, upper: Scalar = 1 / 3, training: bool = False
) -> SSAValue:
    """aten.rrelu.default(x) {lower, upper} -> opset1.PRelu(x, [middle of both]), as in inference; `rrelu_with_noise`
    likewise
    """
    if training:
        node.fail("it is in training mode", hint="export the model after model.eval()")
    middle = (_known(node, lower, "lower") + _known(node, upper, "upper")) / 2
    return op.PRelu(self, op.constant_like(np.array([middle]), self))


@aten.lowers("elu.default", traits=(ELEMENTWISE,))
def elu(node: LoweringNode, op: OpBuilder, self: SSAValue, *, alpha: Scalar = 1, scale: Scalar = 1, input_scale: Scalar = 1) -> SSAValue:
    """aten.elu.default(x) {alpha, scale, input_scale} -> scale · Elu(x) {alpha}"""
    a, s, i = (_known(node, each, "an argument") for each in (alpha, scale, input_scale))
    if i == 1:
        activated = op.Elu(self, alpha=a)
    else:
        activated = op.Select(op.Greater(self, 0), self, op.Multiply(op.Subtract(op.Exp(op.Multiply(self, i)), 1), a))
    return activated if s == 1 else op.Multiply(activated, s)


@aten.lowers("celu.default", traits=(ELEMENTWISE,))
def celu(node: LoweringNode, op: OpBuilder, self: SSAValue, *, alpha: Scalar = 1.0) -> SSAValue:
    """aten.celu.default(x) {alpha = a} -> a · Elu(x / a)"""
    a = _known(node, alpha, "alpha")
    return op.Elu(self, alpha=1.0) if a == 1 else op.Multiply(op.Elu(op.Divide(self, a), alpha=1.0), a)


@aten.lowers("prelu.default", "_prelu_kernel.default")
def prelu(node: LoweringNode, op: OpBuilder, self: SSAValue, weight: SSAValue) -> SSAValue:
    """aten.prelu.default(x, w [C]) -> opset1.PRelu(x, w); `_prelu_kernel` likewise"""
    shape, rank = node.shape(1), node.known_rank(0)
    if node.op.KIND.startswith("_") or shape in ((1,), ()) or rank <= 2:
        return op.PRelu(self, weight)
    return op.PRelu(self, along_channels(op, weight, rank - 2))


@aten.lowers("softplus.default", traits=(ELEMENTWISE,))
def softplus(node: LoweringNode, op: OpBuilder, self: SSAValue, *, beta: Scalar = 1, threshold: Scalar = 20) -> SSAValue:
    """aten.softplus.default(x) {beta = b, threshold} -> SoftPlus(b · x) / b, above the threshold x"""
    b = _known(node, beta, "beta")
    scaled = self if b == 1 else op.Multiply(self, b)
    soft = op.SoftPlus(scaled) if b == 1 else op.Divide(op.SoftPlus(scaled), b)
    limit = _known(node, threshold, "threshold")
    # From 20 on the difference is below the precision of f32.
    return soft if limit >= 20 else op.Select(op.Greater(scaled, limit), self, soft)


@aten.lowers("threshold.default", traits=(ELEMENTWISE,))
def threshold_(node: LoweringNode, op: OpBuilder, self: SSAValue, *, threshold: Scalar, value: Scalar) -> SSAValue:
    """aten.threshold.default(x) {threshold, value} -> x above the threshold, elsewhere the value"""
    limit, other = (op.constant_like(_known(node, each, "an argument"), self) for each in (threshold, value))
    return op.Select(op.Greater(self, limit), self, other)


@aten.lowers("hardshrink.default", traits=(ELEMENTWISE,))
def hardshrink(node: LoweringNode, op: OpBuilder, self: SSAValue, *, lambd: Scalar = 0.5) -> SSAValue:
    """aten.hardshrink.default(x) {lambd} -> x where |x| > lambd, else 0"""
    limit = op.constant_like(_known(node, lambd, "lambd"), self)
    return op.Select(op.LessEqual(op.Abs(self), limit), op.constant_like(0, self), self)


@aten.lowers("softshrink.default", traits=(ELEMENTWISE,))
def softshrink(node: LoweringNode, op: OpBuilder, self: SSAValue, *, lambd: Scalar = 0.5) -> SSAValue:
    """aten.softshrink.default(x) {lambd} -> sign(x) · max(|x| - lambd, 0)"""
    limit = op.constant_like(_known(node, lambd, "lambd"), self)
    return op.Multiply(op.Sign(self), op.Relu(op.Subtract(op.Abs(self), limit)))


@aten.lowers("glu.default")
def glu(op: OpBuilder, self: SSAValue, *, dim: int = -1) -> SSAValue:
    """aten.glu.default(x) {dim} -> first half · Sigmoid(second half)"""
    first, second = op.Split.parts(2, self, op.constant(dim), num_splits=2)
    return op.Multiply(first, op.Sigmoid(second))


@aten.lowers("logit.default", traits=(ELEMENTWISE,))
def logit(node: LoweringNode, op: OpBuilder, self: SSAValue, *, eps: Scalar | None = None) -> SSAValue:
    """aten.logit.default(x) {eps} -> Log(x / (1 - x)), x clamped to [eps, 1 - eps]"""
    x = op.convert(self, inferred_element(node))
    if eps is not None:
        margin = _known(node, eps, "eps")
        x = op.Select(op.Less(x, margin), op.constant_like(margin, x), op.Minimum(x, 1 - margin))
    return op.Log(op.Divide(x, op.Subtract(op.constant_like(1, x), x)))


@aten.lowers("softmax.int", "_softmax.default", "special_softmax.int", "log_softmax.int", "_log_softmax.default", "_safe_softmax.default")
def softmax(node: LoweringNode, op: OpBuilder, self: SSAValue, *, dim: int) -> SSAValue:
    """aten.softmax.int(x) {dim} -> opset8.Softmax(x) {axis}, `log_softmax` -> opset5.LogSoftmax; `_safe_softmax` is 0
    where all of a row is -∞
    """
    rank = node.known_rank(0)
    x = op.convert(self, inferred_element(node))
    if rank == 0:
        x = op.Unsqueeze(x, [0])
    axis = axis_from_front(node, dim, rank)
    probabilities = op.LogSoftmax(x, axis=axis) if "log_softmax" in node.op.KIND else op.Softmax(x, axis=axis)
    if node.op.KIND.startswith("_safe"):
        hidden = op.Equal(op.ReduceMax(x, [axis], keep_dims=True), op.constant_like(-np.inf, x))
        probabilities = op.Select(hidden, op.constant_like(0, x), probabilities)
    return op.Squeeze(probabilities, [0]) if rank == 0 else probabilities


@aten.lowers("alpha_dropout.default", "feature_alpha_dropout.default")
def alpha_dropout(node: LoweringNode, input: SSAValue, *, p: float = 0.5, train: bool = False) -> SSAValue:
    """aten.alpha_dropout.default(x) -> x, as in inference; `feature_alpha_dropout` likewise"""
    if train and p:
        node.fail("it is in training mode", hint="export the model after model.eval()")
    return input


@aten.lowers("dropout.default", "feature_dropout.default", "native_dropout.default")
def dropout(node: LoweringNode, op: OpBuilder, input: SSAValue, *, p: float = 0.5, train: bool = False) -> list[SSAValue]:
    """aten.dropout.default(x) -> x, as in inference; in training zeros if it drops everything; `native_dropout` also a
    mask
    """
    if train and p not in (0, 1):
        node.fail("it is in training mode", hint="export the model after model.eval()")
    is_kept = not (train and p)
    dropped = input if is_kept else op.Broadcast(op.constant_like(0, input), op.ShapeOf(input))
    if node.result_count == 1:
        return [dropped]
    return [dropped, op.Broadcast(op.constant(np.array(is_kept)), op.ShapeOf(input))]
