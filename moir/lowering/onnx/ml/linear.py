"""Linear models: LinearClassifier, LinearRegressor.

    %label, %scores = onnx.ai.onnx.ml.LinearClassifier(%x) {coefficients, intercepts, post_transform = "SOFTMAX", …}
->  %sums = Add(MatMul(%x, coefficients), intercepts)
    %scores = Softmax(%sums)
    %label = Gather(labels, TopK(%sums, 1))
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from moir.lowering.binder import LoweringNode
from moir.lowering.onnx.ml.scores import (
    best,
    class_labels,
    complemented,
    default_labels,
    labelled,
    one_of_two,
    transform_of,
    transformed,
)
from moir.lowering.onnx.ml.trees import rows_of
from moir.lowering.onnx.table import onnx
from moir.lowering.table import Replacement
from moir.rewriting.builder import OpBuilder


def _sums(node: LoweringNode, op: OpBuilder, count: int) -> SSAValue:
    """The products of rows and coefficients [N, count], plus the intercepts if there are `count` of them."""
    coefficients = np.array(node.numbers("coefficients", ()), np.float32)
    if count < 1 or not coefficients.size or coefficients.size % count:
        node.fail(f"{coefficients.size} coefficients are not rows for {count} scores")
    products = op.MatMul(rows_of(node, op), np.ascontiguousarray(coefficients.reshape(count, -1)), transpose_b=True)
    intercepts = np.array(node.numbers("intercepts", ()), np.float32)
    return op.Add(products, intercepts[None]) if intercepts.size == count and intercepts.any() else products


@onnx.lowers("ai.onnx.ml.LinearRegressor")
def regressor(node: LoweringNode, op: OpBuilder, *, targets: int = 1) -> SSAValue:
    """onnx.ai.onnx.ml.LinearRegressor(x) -> Add(MatMul(x, coefficients), intercepts)"""
    return transformed(op, _sums(node, op, targets), transform_of(node), targets)


@onnx.lowers("ai.onnx.ml.LinearClassifier")
def classifier(node: LoweringNode, op: OpBuilder, *, intercepts: tuple[float, ...] = ()) -> Replacement:
    """onnx.ai.onnx.ml.LinearClassifier(x) -> Gather(labels, TopK(sums, 1)), Softmax(sums)

    A single sum decides between two classes by its sign, and becomes the scores 1 - sum and sum.
    """
    labels, transform = class_labels(node, "classlabels_ints"), transform_of(node)
    count = len(intercepts) or labels.size
    sums = _sums(node, op, count)
    if count > 1:
        if labels.size < count:
            node.fail(f"it has {labels.size} class labels for {count} scores")
        return labelled(op, best(op, sums), labels), transformed(op, sums, transform, count)
    label = one_of_two(op, op.Less(0.0, sums), labels if labels.size == 2 else default_labels(labels))
    if labels.size != 2:
        return label, transformed(op, sums, transform, 1)
    if transform == "PROBIT":
        node.fail("PROBIT of a single score of two classes is not defined")
    return label, complemented(op, sums, transform)
