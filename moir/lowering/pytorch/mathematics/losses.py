"""Losses: their mean, their sum, or one loss for each element.

Source: Loss.cpp and LossNLL.cpp of PyTorch 2.13.
"""

from __future__ import annotations

from math import log, pi

from xdsl.ir import SSAValue

from moir.dialects.element_types import si64
from moir.dialects.shapes import element_of
from moir.expansions.shape_values import all_axes
from moir.lowering.binder import LoweringNode
from moir.lowering.pytorch.arguments import Scalar
from moir.lowering.pytorch.mathematics.distances import distance
from moir.lowering.pytorch.promotion import as_element, inferred_element, is_integral, product_of, promoted
from moir.lowering.pytorch.table import aten
from moir.lowering.table import Replacement
from moir.rewriting.builder import OpBuilder

MEAN, SUM = 1, 2


def reduced(node: LoweringNode, op: OpBuilder, loss: SSAValue, reduction: int) -> SSAValue:
    """The mean or sum of a loss (`reduction` MEAN or SUM), or the loss itself, in the element type of the result."""
    loss = op.convert(loss, inferred_element(node))
    if reduction == MEAN:
        return op.ReduceMean(loss, all_axes(op, loss), keep_dims=False)
    return op.ReduceSum(loss, all_axes(op, loss), keep_dims=False) if reduction == SUM else loss


def _operands(node: LoweringNode, op: OpBuilder, *values: SSAValue) -> list[SSAValue]:
    return as_element(op, inferred_element(node), *values)


@aten.lowers("mse_loss.default", "l1_loss.default")
def mse_loss(node: LoweringNode, op: OpBuilder, self: SSAValue, target: SSAValue, *, reduction: int = MEAN) -> SSAValue:
    """aten.mse_loss.default(x, y) {reduction} -> mean of (x - y)²; `l1_loss` of |x - y|"""
    x, y = _operands(node, op, self, target)
    difference = op.Subtract(x, y)
    loss = op.Multiply(difference, difference) if node.op.KIND.startswith("mse") else op.Abs(difference)
    return reduced(node, op, loss, reduction)


@aten.lowers("smooth_l1_loss.default")
def smooth_l1_loss(
    node: LoweringNode, op: OpBuilder, self: SSAValue, target: SSAValue, *, reduction: int = MEAN, beta: float = 1.0
) -> SSAValue:
    """aten.smooth_l1_loss.default(x, y) {beta = b} -> mean of d² / 2b for d = |x - y| < b, else of d - b / 2"""
    x, y = _operands(node, op, self, target)
    distance = op.Abs(op.Subtract(x, y))
    if beta == 0:
        return reduced(node, op, distance, reduction)
    near = op.Multiply(op.Multiply(distance, distance), 0.5 / beta)
    return reduced(node, op, op.Select(op.Less(distance, beta), near, op.Subtract(distance, 0.5 * beta)), reduction)


@aten.lowers("huber_loss.default")
def huber_loss(
    node: LoweringNode, op: OpBuilder, self: SSAValue, target: SSAValue, *, reduction: int = MEAN, delta: float = 1.0
) -> SSAValue:
    """aten.huber_loss.default(x, y) {delta = b} -> mean of d² / 2 for d = |x - y| ≤ b, else of b · (d - b / 2)"""
    x, y = _operands(node, op, self, target)
    distance = op.Abs(op.Subtract(x, y))
    near, far = op.Multiply(op.Multiply(distance, distance), 0.5), op.Multiply(op.Subtract(distance, 0.5 * delta), delta)
    return reduced(node, op, op.Select(op.LessEqual(distance, delta), near, far), reduction)


@aten.lowers("binary_cross_entropy.default")
def binary_cross_entropy(
    node: LoweringNode, op: OpBuilder, self: SSAValue, target: SSAValue, weight: SSAValue | None = None, *, reduction: int = MEAN
) -> SSAValue:
    """aten.binary_cross_entropy.default(p, y, w) -> mean of -w · (y · log p + (1 - y) · log(1 - p))"""
    p, y = _operands(node, op, self, target)
    one = op.constant_like(1, p)
    yes, no = op.Maximum(op.Log(p), -100), op.Maximum(op.Log(op.Subtract(one, p)), -100)
    loss = op.Negative(op.Add(op.Multiply(y, yes), op.Multiply(op.Subtract(one, y), no)))
    return reduced(node, op, loss if weight is None else op.Multiply(loss, op.convert(weight, element_of(loss))), reduction)


@aten.lowers("binary_cross_entropy_with_logits.default")
def binary_cross_entropy_with_logits(
    node: LoweringNode,
    op: OpBuilder,
    self: SSAValue,
    target: SSAValue,
    weight: SSAValue | None = None,
    pos_weight: SSAValue | None = None,
    *,
    reduction: int = MEAN,
) -> SSAValue:
    """aten.binary_cross_entropy_with_logits.default(x, y, w, p)
    -> mean of w · ((1 - y) · x - (1 + (p - 1) · y) · log sigmoid x)
    """
    x, y = _operands(node, op, self, target)
    one = op.constant_like(1, x)
    likelihood = op.Negative(op.SoftPlus(op.Negative(x)))
    if pos_weight is not None:
        factor = op.Add(op.Multiply(op.Subtract(op.convert(pos_weight, element_of(x)), one), y), one)
        likelihood = op.Multiply(factor, likelihood)
    loss = op.Subtract(op.Multiply(op.Subtract(one, y), x), likelihood)
    return reduced(node, op, loss if weight is None else op.Multiply(loss, op.convert(weight, element_of(loss))), reduction)


@aten.lowers("kl_div.default")
def kl_div(
    node: LoweringNode, op: OpBuilder, self: SSAValue, target: SSAValue, *, reduction: int = MEAN, log_target: bool = False
) -> SSAValue:
    """aten.kl_div.default(x, y) -> mean of y · (log y - x), 0 where y is 0; with `log_target` of exp(y) · (y - x)"""
    x, y = _operands(node, op, self, target)
    if log_target:
        return reduced(node, op, op.Multiply(op.Exp(y), op.Subtract(y, x)), reduction)
    zero = op.constant_like(0, y)
    is_zero = op.Equal(y, 0)
    own = op.Select(is_zero, zero, op.Multiply(y, op.Log(op.Select(is_zero, op.constant_like(1, y), y))))
    return reduced(node, op, op.Subtract(own, op.Multiply(y, x)), reduction)


@aten.lowers("soft_margin_loss.default")
def soft_margin_loss(node: LoweringNode, op: OpBuilder, self: SSAValue, target: SSAValue, *, reduction: int = MEAN) -> SSAValue:
    """aten.soft_margin_loss.default(x, y) -> mean of log(1 + exp(-y · x))"""
    x, y = _operands(node, op, self, target)
    return reduced(node, op, op.SoftPlus(op.Negative(op.Multiply(x, y))), reduction)


@aten.lowers("hinge_embedding_loss.default")
def hinge_embedding_loss(
    node: LoweringNode, op: OpBuilder, self: SSAValue, target: SSAValue, *, margin: float = 1.0, reduction: int = MEAN
) -> SSAValue:
    """aten.hinge_embedding_loss.default(x, y) -> mean of x for y = 1, of max(0, margin - x) for y = -1"""
    (x,) = _operands(node, op, self)
    zero = op.constant_like(0, x)
    far = op.Select(op.NotEqual(target, 1), op.Maximum(op.Subtract(op.constant_like(margin, x), x), 0), zero)
    near = op.Select(op.NotEqual(target, -1), x, zero)
    return reduced(node, op, op.Add(far, near), reduction)


@aten.lowers("margin_ranking_loss.default")
def margin_ranking_loss(
    node: LoweringNode, op: OpBuilder, input1: SSAValue, input2: SSAValue, target: SSAValue, *, margin: float = 0.0, reduction: int = MEAN
) -> SSAValue:
    """aten.margin_ranking_loss.default(a, b, y) {margin} -> mean of max(0, -y · (a - b) + margin)

    Products and differences of integers wrap around, here and in the losses below, before they become floats.
    """
    difference = op.Subtract(*as_element(op, promoted([input1, input2]), input1, input2))
    loss = op.convert(product_of(op, op.Negative(target), difference), inferred_element(node))
    return reduced(node, op, op.Maximum(op.Add(loss, margin), 0), reduction)


@aten.lowers("cosine_embedding_loss.default")
def cosine_embedding_loss(
    node: LoweringNode, op: OpBuilder, input1: SSAValue, input2: SSAValue, target: SSAValue, *, margin: float = 0.0, reduction: int = MEAN
) -> SSAValue:
    """aten.cosine_embedding_loss.default(a, b, y) -> mean of 1 - cos for y = 1, of max(0, cos - margin) for -1"""

    def dot(a: SSAValue, b: SSAValue) -> SSAValue:
        return op.ReduceSum(op.convert(product_of(op, a, b), inferred_element(node)), [-1], keep_dims=False)

    norms = [op.Add(dot(each, each), 1e-12) for each in (input1, input2)]
    cosine = op.Divide(dot(input1, input2), op.Sqrt(op.Multiply(*norms)))
    zero = op.constant_like(0, cosine)
    same = op.Select(op.Equal(target, 1), op.Subtract(op.constant_like(1, cosine), cosine), zero)
    other = op.Select(op.Equal(target, -1), op.Maximum(op.Subtract(cosine, margin), 0), zero)
    return reduced(node, op, op.Add(same, other), reduction)


@aten.lowers("poisson_nll_loss.default")
def poisson_nll_loss(
    node: LoweringNode, op: OpBuilder, input: SSAValue, target: SSAValue, *, log_input: bool, full: bool, eps: float, reduction: int
) -> SSAValue:
    """aten.poisson_nll_loss.default(x, y) -> mean of exp(x) - y · x; of x - y · log(x + eps) without `log_input`"""
    x, y = _operands(node, op, input, target)
    products = op.convert(product_of(op, target, input), element_of(x))
    loss = op.Subtract(op.Exp(x), products) if log_input else op.Subtract(x, op.Multiply(y, op.Log(op.Add(x, eps))))
    if full:
        above = op.Greater(y, 1)
        safe = op.Select(above, y, op.constant_like(2, y))
        stirling = op.Add(op.Subtract(op.Multiply(safe, op.Log(safe)), safe), op.Multiply(op.Log(op.Multiply(safe, 2 * pi)), 0.5))
        loss = op.Add(loss, op.Select(above, stirling, op.constant_like(0, y)))
    return reduced(node, op, loss, reduction)


@aten.lowers("triplet_margin_loss.default")
def triplet_margin_loss(
    node: LoweringNode,
    op: OpBuilder,
    anchor: SSAValue,
    positive: SSAValue,
    negative: SSAValue,
    *,
    margin: float = 1.0,
    p: float = 2.0,
    eps: float = 1e-6,
    swap: bool = False,
    reduction: int = MEAN,
) -> SSAValue:
    """aten.triplet_margin_loss.default(a, p, n) -> mean of max(0, margin + |a - p| - |a - n|)"""
    element = inferred_element(node)
    own, other = (distance(op, element, anchor, each, p, eps) for each in (positive, negative))
    if swap:
        other = op.Minimum(other, distance(op, element, positive, negative, p, eps))
    return reduced(node, op, op.Maximum(op.Add(op.Subtract(own, other), margin), 0), reduction)


@aten.lowers("multilabel_margin_loss.default", "multilabel_margin_loss_forward.default")
def multilabel_margin_loss(node: LoweringNode, op: OpBuilder, self: SSAValue, target: SSAValue, *, reduction: int = MEAN) -> Replacement:
    """aten.multilabel_margin_loss.default(x [N, C], classes [N, C])
    -> mean of the sums of max(0, 1 - x_y + x_i) / C over the classes y up to the first -1 and all others i
    """
    rank = node.known_rank(0)
    x, classes = (op.Reshape(each, [1, -1], special_zero=False) if rank < 2 else each for each in (self, target))
    classes = op.convert(classes, si64)
    is_class = op.Equal(op.CumSum(op.convert(op.Less(classes, 0), si64), op.constant(1)), 0)
    count = op.Gather(op.ShapeOf(x), op.constant(1), 0)
    class_indices = op.Range(op.constant(0), count, op.constant(1), output_type=si64)
    hits = op.LogicalAnd(op.Equal(op.Unsqueeze(classes, [2]), class_indices), op.Unsqueeze(is_class, [2]))
    is_target = op.ReduceLogicalOr(hits, [1], keep_dims=False)
    own = op.GatherElements(x, op.Maximum(classes, 0), axis=1)
    above = op.Maximum(op.Add(op.Subtract(op.Unsqueeze(x, [1]), op.Unsqueeze(own, [2])), 1), 0)
    counted = op.LogicalAnd(op.Unsqueeze(is_class, [2]), op.Unsqueeze(op.LogicalNot(is_target), [1]))
    held = op.Select(counted, above, op.constant_like(0, above))
    loss = op.Divide(op.ReduceSum(held, [1, 2], keep_dims=False), op.convert(count, element_of(x)))
    if rank < 2 and reduction not in (MEAN, SUM):
        loss = op.Squeeze(loss, [0])
    results = [reduced(node, op, loss, reduction), op.Reshape(is_target, op.ShapeOf(target), special_zero=False)]
    return list(results[: node.result_count])


@aten.lowers("multi_margin_loss.default")
def multi_margin_loss(
    node: LoweringNode,
    op: OpBuilder,
    self: SSAValue,
    target: SSAValue,
    weight: SSAValue | None = None,
    *,
    p: Scalar = 1,
    margin: Scalar = 1,
    reduction: int = MEAN,
) -> SSAValue:
    """aten.multi_margin_loss.default(x [N, C], classes [N]) -> mean of the sums of max(0, margin - x_y + x_i)ᵖ / C"""
    if isinstance(p, SSAValue) or isinstance(margin, SSAValue):
        node.fail("its power or its margin is computed when the model runs")
    x = op.Unsqueeze(self, [0]) if node.known_rank(0) == 1 else self
    classes = op.Reshape(target, [-1, 1], special_zero=False)
    above = op.Maximum(op.Add(op.Subtract(x, op.GatherElements(x, classes, axis=1)), margin), 0)
    above = op.Multiply(above, above) if p == 2 else above
    if weight is not None:
        above = op.Multiply(above, op.Gather(weight, classes, 0))
    count = op.Gather(op.ShapeOf(x), op.constant(1), 0)
    others = op.NotEqual(op.Range(op.constant(0), count, op.constant(1), output_type=si64), op.convert(classes, si64))
    held = op.Select(others, above, op.constant_like(0, above))
    loss = op.Divide(op.ReduceSum(held, [1], keep_dims=False), op.convert(count, element_of(x)))
    if node.known_rank(0) == 1 and reduction not in (MEAN, SUM):
        loss = op.Squeeze(loss, [0])
    return reduced(node, op, loss, reduction)


def _picked(op: OpBuilder, x: SSAValue, target: SSAValue, axis: int) -> SSAValue:
    """For each element of `target`, a class, the element of x at this index along an axis."""
    return op.Squeeze(op.GatherElements(x, op.Unsqueeze(target, [axis]), axis=axis), [axis])


def _likelihood(
    node: LoweringNode, op: OpBuilder, x: SSAValue, target: SSAValue, weight: SSAValue | None, reduction: int, ignored: int
) -> list[SSAValue]:
    """The negative log-likelihoods of the classes in `target`, reduced, and the sum of the classes' weights.

    `x` has the logarithms of probabilities; the class `ignored` is left out of both.
    """
    rank = node.known_rank(0)
    axis = 0 if rank == 1 else 1
    known = op.NotEqual(target, ignored)
    classes = op.Select(known, target, op.constant_like(0, target))
    mass = op.convert(known, element_of(x))
    if weight is not None:
        mass = op.Multiply(mass, op.Gather(op.convert(weight, element_of(x)), classes, 0))
    # An ignored class may stand where the probability is 0.
    likelihoods = op.Select(known, _picked(op, x, classes, axis), op.constant_like(0, x))
    loss = op.Negative(op.Multiply(likelihoods, mass))
    total = op.ReduceSum(mass, all_axes(op, mass), keep_dims=False)
    if reduction == MEAN:
        return [op.Divide(op.ReduceSum(loss, all_axes(op, loss), keep_dims=False), total), total]
    return [op.ReduceSum(loss, all_axes(op, loss), keep_dims=False) if reduction == SUM else loss, total]


@aten.lowers("nll_loss.default", "nll_loss_nd.default", "nll_loss2d.default", "nll_loss_forward.default", "nll_loss2d_forward.default")
def nll_loss(
    node: LoweringNode,
    op: OpBuilder,
    self: SSAValue,
    target: SSAValue,
    weight: SSAValue | None = None,
    *,
    reduction: int = MEAN,
    ignore_index: int = -100,
) -> Replacement:
    """aten.nll_loss.default(x [N, C], classes [N], w) -> -sum of w · x at the classes / sum of w; `_forward` also the
    latter
    """
    losses = _likelihood(node, op, self, target, weight, reduction, ignore_index)
    return losses[: node.result_count]


@aten.lowers("cross_entropy_loss.default")
def cross_entropy_loss(
    node: LoweringNode,
    op: OpBuilder,
    self: SSAValue,
    target: SSAValue,
    weight: SSAValue | None = None,
    *,
    reduction: int = MEAN,
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
) -> SSAValue:
    """aten.cross_entropy_loss.default(x [N, C], classes or probabilities) -> nll_loss of LogSoftmax(x)"""
    rank = node.known_rank(0)
    axis = 0 if rank == 1 else 1
    x = op.LogSoftmax(self, axis=axis)
    factors = None
    if weight is not None:
        shape = [1] * rank
        shape[axis] = -1
        factors = op.Reshape(op.convert(weight, element_of(x)), shape, special_zero=False)
    if not is_integral(element_of(target)):
        y = op.convert(target, element_of(x))
        if label_smoothing:
            count = op.convert(op.Gather(op.ShapeOf(x), op.constant(axis), 0), element_of(x))
            y = op.Add(op.Multiply(y, 1 - label_smoothing), op.Divide(op.constant_like(label_smoothing, x), count))
        products = op.Multiply(x, y)
        loss = op.Negative(op.ReduceSum(products if factors is None else op.Multiply(products, factors), [axis], keep_dims=False))
        if reduction == MEAN and rank > 1:
            total = op.ReduceSum(loss, all_axes(op, loss), keep_dims=False)
            sizes = op.ReduceProd(op.ShapeOf(loss), [0], keep_dims=False)
            return op.Divide(total, op.convert(sizes, element_of(x)))
        return reduced(node, op, loss, reduction)
    loss, total = _likelihood(node, op, x, target, weight, reduction, ignore_index)
    if not label_smoothing:
        return loss
    known = op.NotEqual(target, ignore_index)
    smooth = op.Negative(op.ReduceSum(x if factors is None else op.Multiply(x, factors), [axis], keep_dims=False))
    smooth = op.Select(known, smooth, op.constant_like(0, smooth))
    count = op.convert(op.Gather(op.ShapeOf(x), op.constant(axis), 0), element_of(x))
    if reduction:
        smooth = op.ReduceSum(smooth, all_axes(op, smooth), keep_dims=False)
        smooth = op.Divide(smooth, total) if reduction == MEAN else smooth
    return op.Add(op.Multiply(loss, 1 - label_smoothing), op.Divide(op.Multiply(smooth, label_smoothing), count))


@aten.lowers("gaussian_nll_loss.default")
def gaussian_nll_loss(
    node: LoweringNode,
    op: OpBuilder,
    input: SSAValue,
    target: SSAValue,
    var: SSAValue,
    *,
    full: bool = False,
    eps: float = 1e-6,
    reduction: int = MEAN,
) -> SSAValue:
    """aten.gaussian_nll_loss.default(x, y, v) -> mean of (log v + (x - y)² / v) / 2 for v ≥ eps"""
    x, y, v = _operands(node, op, input, target, var)
    v = op.Maximum(v, eps)
    difference = op.Subtract(x, y)
    loss = op.Multiply(op.Add(op.Log(v), op.Divide(op.Multiply(difference, difference), v)), 0.5)
    return reduced(node, op, op.Add(loss, 0.5 * log(2 * pi)) if full else loss, reduction)


_CHUNKED = "torch_nn._linear_cross_entropy_batch_chunked"


@aten.lowers(f"{_CHUNKED}.default", f"{_CHUNKED}_no_reduction.default")
def linear_cross_entropy(
    node: LoweringNode,
    op: OpBuilder,
    input: SSAValue,
    linear_weight: SSAValue,
    target: SSAValue,
    linear_bias: SSAValue | None = None,
    weight: SSAValue | None = None,
    *,
    reduction: str = "none",
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
) -> Replacement:
    """aten.torch_nn._linear_cross_entropy_batch_chunked.default(x, w, classes, b) -> the cross entropy of x · wᵀ + b

    Its other results are gradients, which are absent in inference.
    """
    x = op.MatMul(input, linear_weight, transpose_b=True)
    x = x if linear_bias is None else op.Add(x, linear_bias)
    how = {"none": 0, "mean": MEAN, "sum": SUM}[reduction]
    loss = cross_entropy_loss(node, op, x, target, weight, reduction=how, ignore_index=ignore_index, label_smoothing=label_smoothing)
    return [loss, *[None] * (node.result_count - 1)]
