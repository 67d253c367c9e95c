"""Support vector machines: SVMClassifier, SVMRegressor, and their kernels.

    %y = onnx.ai.onnx.ml.SVMRegressor(%x) {coefficients, kernel_type = "RBF", support_vectors, rho, …}
->  %y = Add(MatMul(Exp(-gamma * squared distances of %x to the support vectors), coefficients), rho)

In shapes: N rows, F features, S support vectors, C classes, P pairs of classes in the order 0-1, 0-2, …, 1-2, ….
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.data import Array
from moir.lowering.binder import LoweringNode
from moir.lowering.onnx.microsoft.distances import squared_distances
from moir.lowering.onnx.ml.pairwise_probabilities import coupled
from moir.lowering.onnx.ml.scores import best, class_labels, complemented, labelled, one_of_two, opposed, transform_of, transformed
from moir.lowering.onnx.ml.trees import rows_of
from moir.lowering.onnx.table import onnx
from moir.lowering.table import Replacement
from moir.rewriting.builder import OpBuilder

EXPANDED_RANGE = 500.0
"""The largest product of gamma and the squared norm of a centred support vector for which distances are computed from
products.

The rounding of the products then changes an RBF kernel by less than 1e-4.
"""


def _numbers(node: LoweringNode, name: str) -> Array:
    return np.array(node.numbers(name, ()), np.float32)


def _products(op: OpBuilder, x: SSAValue, rows: Array) -> SSAValue:
    """The products of rows [N, F] and constant rows [K, F]: [N, K]."""
    return op.MatMul(x, np.ascontiguousarray(rows), transpose_b=True)


def kernels(node: LoweringNode, op: OpBuilder, x: SSAValue, vectors: Array) -> SSAValue:
    """The kernel [N, S] of rows [N, F] and support vectors [S, F], by the attribute `kernel_type`."""
    kind = node.text("kernel_type", "LINEAR")
    parameters = _numbers(node, "kernel_params").tolist()
    if kind not in ("LINEAR", "POLY", "RBF", "SIGMOID"):
        node.fail(f"the kernel {kind!r} does not exist")
    gamma, offset, degree = (*parameters[:3], 0.0, 0.0, 0.0)[:3]
    if kind == "RBF":
        return op.Exp(op.Multiply(squared_distances(op, x, vectors, EXPANDED_RANGE / gamma if gamma else math.inf), -gamma))
    products = _products(op, x, vectors)
    if kind == "LINEAR":
        return products
    products = op.Add(op.Multiply(products, gamma), offset)
    return op.Power(products, degree) if kind == "POLY" else op.Tanh(products)


def _support_vectors(node: LoweringNode, count: int) -> Array:
    vectors = _numbers(node, "support_vectors")
    if not vectors.size or vectors.size % count:
        node.fail(f"its support_vectors are {vectors.size} numbers for {count} vectors")
    return vectors.reshape(count, -1)


@onnx.lowers("ai.onnx.ml.SVMRegressor")
def regressor(node: LoweringNode, op: OpBuilder, *, n_supports: int = 0, one_class: bool = False) -> SSAValue:
    """onnx.ai.onnx.ml.SVMRegressor(x) -> Add(MatMul(kernel of x and the support vectors, coefficients), rho)"""
    x, coefficients, rho = rows_of(node, op), _numbers(node, "coefficients"), _numbers(node, "rho")
    if transform_of(node) != "NONE":
        node.fail("a post_transform of a support vector regression is not supported")
    if not rho.size or not coefficients.size or (n_supports > 0 and coefficients.size != n_supports):
        node.fail(f"it has {coefficients.size} coefficients for {n_supports} support vectors, and {rho.size} offsets")
    kernel_values = kernels(node, op, x, _support_vectors(node, n_supports)) if n_supports > 0 else x
    kernel_values = op.Add(_products(op, kernel_values, coefficients[None]), float(rho[0]))
    return op.Select(op.Less(0.0, kernel_values), op.constant(1.0), op.constant(-1.0)) if one_class else kernel_values


@onnx.lowers("ai.onnx.ml.SVMClassifier")
def classifier(node: LoweringNode, op: OpBuilder, *, vectors_per_class: tuple[int, ...] = ()) -> Replacement:
    """onnx.ai.onnx.ml.SVMClassifier(x)
    -> label, MatMul(kernel of x and the support vectors, coefficients of each pair of classes)

    The label is that of the class that wins most pairs. With `prob_a` and `prob_b` the scores are probabilities.
    """
    labels, transform = class_labels(node, "classlabels_ints"), transform_of(node)
    rho, coefficients = _numbers(node, "rho"), _numbers(node, "coefficients")
    count, classes, x = sum(vectors_per_class), labels.size, rows_of(node, op)
    if not classes or not rho.size:
        node.fail("it has no class labels or no rho")
    if not count:
        return _linear(node, op, x, labels, transform)
    pairs = list(combinations(range(classes), 2))
    if len(vectors_per_class) != classes or classes < 2 or rho.size < len(pairs) or coefficients.size < (classes - 1) * count:
        node.fail(f"its lists do not fit {classes} classes with {count} support vectors")
    matrix = _pair_coefficients(coefficients[: (classes - 1) * count].reshape(classes - 1, count), vectors_per_class, pairs)
    sums = _products(op, kernels(node, op, x, _support_vectors(node, count)), matrix)
    sums = op.Add(sums, rho[None, : len(pairs)])
    label = labelled(op, best(op, _votes(op, sums, pairs, classes)), labels)
    slopes, offsets = _numbers(node, "prob_a"), _numbers(node, "prob_b")
    if slopes.size:
        if slopes.size < len(pairs) or offsets.size < len(pairs):
            node.fail(f"it has {slopes.size} and {offsets.size} parameters of probabilities for {len(pairs)} pairs of classes")
        wins = op.Sigmoid(op.Negative(op.Add(op.Multiply(sums, slopes[None, : len(pairs)]), offsets[None, : len(pairs)])))
        return label, transformed(op, coupled(op, wins, classes), transform, classes)
    if classes > 2:
        return label, transformed(op, sums, transform, len(pairs))
    if transform == "PROBIT":
        node.fail("PROBIT of a single score of two classes is not defined")
    return label, opposed(op, sums, transform) if transform == "NONE" else complemented(op, sums, transform)


def _pair_coefficients(coefficients: Array, sizes: Sequence[int], pairs: Sequence[tuple[int, int]]) -> Array:
    """The coefficients [P, S] of the support vectors in the classifier of each pair of classes.

    Args:
        coefficients: for each support vector its coefficients against the other classes, [C - 1, S].
        sizes: the number of support vectors of each class.
        pairs: the pairs of classes.
    """
    starts = np.concatenate([[0], np.cumsum(sizes)])
    matrix = np.zeros((len(pairs), coefficients.shape[1]), np.float32)
    for row, (one, other) in enumerate(pairs):
        own, others = slice(starts[one], starts[one + 1]), slice(starts[other], starts[other + 1])
        matrix[row, own] = coefficients[other - 1, own]
        matrix[row, others] = coefficients[one, others]
    return matrix


def _votes(op: OpBuilder, sums: SSAValue, pairs: Sequence[tuple[int, int]], classes: int) -> SSAValue:
    """The number of pairs that each class wins [N, C]; the first class of a pair wins if the pair's sum is positive."""
    change, lost = np.zeros((len(pairs), classes), np.float32), np.zeros((1, classes), np.float32)
    for row, (one, other) in enumerate(pairs):
        change[row, one], change[row, other] = 1, -1
        lost[0, other] += 1
    wins = op.Select(op.Less(0.0, sums), op.constant(1.0), op.constant(0.0))
    return op.Add(op.MatMul(wins, change), lost)


def _linear(node: LoweringNode, op: OpBuilder, x: SSAValue, labels: Array, transform: str) -> Replacement:
    """The label and the scores of a classifier without support vectors: the products of features with each class's
    coefficients.
    """
    coefficients, rho, classes = _numbers(node, "coefficients"), _numbers(node, "rho"), labels.size
    if not coefficients.size or coefficients.size % classes:
        node.fail(f"{coefficients.size} coefficients are not rows for {classes} classes")
    sums = op.Add(_products(op, x, coefficients.reshape(classes, -1)), float(rho[0]))
    position = best(op, sums)
    if classes != 2:
        return labelled(op, position, labels), transformed(op, sums, transform, classes)
    # The label is the second one also if the largest sum is positive; at least 0.5, if no coefficient is negative.
    largest = op.ReduceMax(sums, [1], keep_dims=True)
    second = op.LessEqual(0.5, largest) if (coefficients >= 0).all() else op.Less(0.0, largest)
    is_second = op.LogicalOr(second, op.Equal(op.Unsqueeze(position, [1]), 1))
    return one_of_two(op, is_second, labels), transformed(op, sums, transform, classes)
