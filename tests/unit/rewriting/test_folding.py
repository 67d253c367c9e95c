"""Folding of large constants, which are computed when they are read."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from xdsl.ir import Block, SSAValue

from moir.analysis.constants import values_of
from moir.analysis.folding_budget import FoldingBudget
from moir.analysis.known_values import KnownValues
from moir.dialects.element_types import f16, f32, si32
from moir.dialects.large_arrays import ComputedArray
from moir.dialects.opset.infrastructure import Result
from moir.rewriting.builder import OpBuilder
from moir.rewriting.folding import Folding

RANDOM = np.random.default_rng(0)
W = RANDOM.standard_normal((200, 300)).astype(np.float32)
HALF = W.astype(np.float16)
ROW = RANDOM.uniform(0.5, 2, 300).astype(np.float32)
SQUARE = W[:, :200]
COUNTS = (W * 10).astype(np.int32)

Build = Callable[[OpBuilder], SSAValue]


def folded(build: Build) -> SSAValue:
    """The value that takes the place of what is built, after folding."""
    block = Block()
    op = OpBuilder(KnownValues(), block)
    result = Result.create(operands=[build(op)])
    block.add_op(result)
    Folding(False, FoldingBudget(block.ops)).fold(block.ops)
    return result.operands[0]


DEFERRED: list[tuple[Build, np.ndarray]] = [
    (lambda op: op.Convert(op.constant(HALF), destination_type=f32), HALF.astype(np.float32)),
    (lambda op: op.Convert(op.constant(COUNTS), destination_type=f16), COUNTS.astype(np.float16)),
    (lambda op: op.Multiply(op.constant(W), ROW), W * ROW),
    (lambda op: op.Subtract(op.constant(ROW), op.constant(W)), ROW - W),
    (lambda op: op.Divide(op.constant(HALF), HALF[:1]), (HALF.astype(np.float32) / HALF[:1]).astype(np.float16)),
    (lambda op: op.Multiply(op.Multiply(op.constant(W), ROW), ROW), W * ROW * ROW),
    (lambda op: op.Transpose(op.Multiply(op.constant(W), ROW), np.array([1, 0])), (W * ROW).T),
    (lambda op: op.Reshape(op.Multiply(op.constant(W), ROW), [3, -1], special_zero=False), (W * ROW).reshape(3, -1)),
    (lambda op: op.Unsqueeze(op.Multiply(op.constant(W), ROW), np.array([1])), (W * ROW)[:, None]),
    (lambda op: op.Clamp(op.constant(W), min=-0.5, max=0.5), np.clip(W, np.float32(-0.5), np.float32(0.5))),
]


@pytest.mark.parametrize(("build", "expected"), DEFERRED)
def test_large_results_are_computed_when_they_are_read(build: Build, expected: np.ndarray) -> None:
    values = values_of(folded(build))
    assert isinstance(values, ComputedArray)
    np.testing.assert_array_equal(np.asarray(values), expected, strict=True)


AT_ONCE: list[tuple[Build, np.ndarray]] = [
    (lambda op: op.Multiply(op.constant(SQUARE), op.constant(ROW[:200]), auto_broadcast="pdpd"), SQUARE * ROW[:200, None]),
    (lambda op: op.Convert(op.constant(W), destination_type=si32), W.astype(np.int32)),
    (lambda op: op.Multiply(op.constant(W[:5]), ROW), W[:5] * ROW),
    (lambda op: op.Slice(op.Multiply(op.constant(W), ROW), [1], [3], [1], [0]), (W * ROW)[1:3]),
]


@pytest.mark.parametrize(("build", "expected"), AT_ONCE)
def test_other_results_are_computed_at_once(build: Build, expected: np.ndarray) -> None:
    values = values_of(folded(build))
    assert isinstance(values, np.ndarray)
    np.testing.assert_array_equal(values, expected, strict=True)
