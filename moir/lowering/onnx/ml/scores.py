"""Scores of classifiers and regressors: their transformation, and the labels of classes.

Where the definition of an operation is ambiguous, ONNX Runtime is followed: a single score of two classes becomes
two, and a single score is not transformed unless by PROBIT.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.data import Array
from moir.dialects.element_types import si64
from moir.expansions.extremes import first_extremes
from moir.expansions.lookups import encoded, selected_string
from moir.lowering.binder import LoweringNode
from moir.rewriting.builder import OpBuilder

NEGLIGIBLE = 1e-7
"""Scores up to this magnitude count as zero in SOFTMAX_ZERO."""


def probit(op: OpBuilder, x: SSAValue) -> SSAValue:
    """The inverse of the normal distribution function, by the approximation that ONNX Runtime uses."""
    centred = op.Subtract(op.Multiply(x, 2.0), 1.0)
    logarithm = op.Log(op.Multiply(op.Subtract(1.0, centred), op.Add(centred, 1.0)))
    half = op.Add(op.Multiply(logarithm, 0.5), 2 / (3.14159 * 0.147))
    root = op.Sqrt(op.Subtract(op.Multiply(half, half), op.Multiply(logarithm, 1 / 0.147)))
    size = op.Multiply(op.Sqrt(op.Subtract(root, half)), 2**0.5)
    return op.Select(op.Less(centred, 0.0), op.Negative(size), size)


def _softmax_of_nonzero(op: OpBuilder, x: SSAValue) -> SSAValue:
    """SOFTMAX_ZERO: the softmax of the nonzero scores; zero scores stay zero."""
    largest = op.ReduceMax(x, [-1], keep_dims=True)
    counts = op.Less(NEGLIGIBLE, op.Abs(x))
    powers = op.Exp(op.Subtract(x, largest))
    total = op.ReduceSum(op.Select(counts, powers, 0.0), [-1], keep_dims=True)
    return op.Divide(op.Select(counts, powers, op.Multiply(x, op.Exp(op.Negative(largest)))), total)


TRANSFORMS: Mapping[str, Callable[[OpBuilder, SSAValue], SSAValue]] = {
    "NONE": lambda _, x: x,
    "SOFTMAX": lambda op, x: op.Softmax(x, axis=-1),
    "LOGISTIC": lambda op, x: op.Sigmoid(x),
    "SOFTMAX_ZERO": _softmax_of_nonzero,
    "PROBIT": probit,
}
"""The transformations of several scores, by the value of `post_transform`."""


def transform_of(node: LoweringNode) -> str:
    """The attribute `post_transform`. Raises ConversionError for an unknown transformation."""
    name = node.text("post_transform", "NONE")
    if name not in TRANSFORMS:
        node.fail(f"post_transform {name!r} does not exist")
    return name


def transformed(op: OpBuilder, x: SSAValue, transform: str, count: int) -> SSAValue:
    """Scores x [N, count] transformed by the function that `transform`, a value of the attribute `post_transform`,
    names.
    """
    return TRANSFORMS[transform](op, x) if count > 1 or transform == "PROBIT" else x


def complemented(op: OpBuilder, x: SSAValue, transform: str) -> SSAValue:
    """The scores [N, 2] of two classes, from the probability [N, 1] of the second one, or for LOGISTIC from its
    logit.
    """
    return opposed(op, x, transform) if transform == "LOGISTIC" else op.Concat(op.Subtract(1.0, x), x, axis=1)


def opposed(op: OpBuilder, x: SSAValue, transform: str) -> SSAValue:
    """The scores [N, 2] of two classes: x and its negative, where x [N, 1] is positive for the second class."""
    both = op.Concat(op.Negative(x), x, axis=1)
    return op.Sigmoid(both) if transform == "LOGISTIC" else both


def best(op: OpBuilder, x: SSAValue) -> SSAValue:
    """The index [N] of the first largest score in each row."""
    return op.Squeeze(first_extremes(op, x, 1, "max")[1], [1])


def class_labels(node: LoweringNode, integers: str) -> Array:
    """The labels of the classes: strings if the node has them, or else the integers of the attribute `integers`."""
    texts = node.texts("classlabels_strings", ())
    return np.array(texts, object) if texts else np.array(node.integers(integers, ()), np.int64)


def labelled(op: OpBuilder, position: SSAValue, labels: Array) -> SSAValue:
    """Gather the labels at indices `position`, of type i64 or strings."""
    if labels.dtype == object:
        return selected_string(op, position, encoded(labels))
    if np.array_equal(labels, np.arange(labels.size)):
        return op.convert(position, si64)
    return op.Gather(op.constant(labels, si64), position, 0)


def one_of_two(op: OpBuilder, second: SSAValue, labels: Array) -> SSAValue:
    """For each row, the second of two labels where the booleans `second` [N, 1] are true, else the first."""
    return labelled(op, op.Squeeze(op.Convert(second, destination_type=si64), [1]), labels)


def default_labels(labels: Array) -> Array:
    """The labels 0 and 1 in the type of `labels`, for a model of two classes that names none."""
    return np.array(["0", "1"], object) if labels.dtype == object else np.arange(2, dtype=np.int64)
