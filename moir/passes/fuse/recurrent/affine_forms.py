"""Values of a body as affine forms of some base values: x · W + h · R + b, with constants W, R, b.

The analysis follows sums, products of constant matrices with one base value or with several concatenated ones (Concat),
and slices along the last axis. Thus one matrix for all gates and one matrix per gate give the same forms.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from xdsl.ir import OpResult, SSAValue

from moir.analysis.constants import constant_of
from moir.dialects.data import Array
from moir.dialects.opset.arithmetic import Add, Subtract
from moir.dialects.opset.matrix import MatMul
from moir.dialects.opset.movement import Concat, Split, VariadicSplit
from moir.dialects.opset.slicing import Slice
from moir.dialects.shapes import normalize_axis, shape_of

DEEPEST_FORM = 64
"""Length of the longest chain of operations that is followed."""


@dataclass(frozen=True)
class Affine:
    """The sum of products of base values [N, I] with matrices [I, K], and a bias [K]."""

    weights: Mapping[SSAValue, Array]
    bias: Array

    def __add__(self, other: Affine) -> Affine:
        weights = dict(self.weights)
        for base, matrix in other.weights.items():
            weights[base] = weights[base] + matrix if base in weights else matrix
        return Affine(weights, self.bias + other.bias)

    def columns(self, start: int, end: int) -> Affine:
        """The columns from `start` up to, but not including, `end`."""
        return Affine({base: matrix[:, start:end] for base, matrix in self.weights.items()}, self.bias[start:end])

    @property
    def width(self) -> int:
        """The number of columns K."""
        return len(self.bias)


class AffineForms:
    """Affine forms of the values of a block.

    Args:
        bases: the base values, all [N, I] with I known.
    """

    def __init__(self, *bases: SSAValue) -> None:
        self.bases = bases
        self._forms: dict[SSAValue, Affine | None] = {}

    def of(self, value: SSAValue, depth: int = 0) -> Affine | None:
        """The affine form of a value; None if it is not an affine form of the base values, or `depth` exceeds
        DEEPEST_FORM.
        """
        if value not in self._forms:
            self._forms[value] = self._compute(value, depth) if depth < DEEPEST_FORM else None
        return self._forms[value]

    def _compute(self, value: SSAValue, depth: int) -> Affine | None:
        op = value.owner
        if not isinstance(value, OpResult):
            return None
        if (bias := constant_of(value)) is not None:
            return _row(bias)
        if isinstance(op, MatMul):
            return self._product(op)
        if isinstance(op, Add):
            return self._sum(op.operands[0], op.operands[1], depth) or self._sum(op.operands[1], op.operands[0], depth)
        if isinstance(op, Subtract):
            form, bias = self.of(op.operands[0], depth + 1), constant_of(op.operands[1])
            return None if form is None or bias is None else _with_bias(form, -bias)
        if isinstance(op, Split | VariadicSplit | Slice):
            return self._piece(value, op, depth)
        return None

    def _sum(self, a: SSAValue, b: SSAValue, depth: int) -> Affine | None:
        form = self.of(a, depth + 1)
        if form is None:
            return None
        bias = constant_of(b)
        if bias is not None:
            return _with_bias(form, bias)
        other = self.of(b, depth + 1)
        return None if other is None or other.width != form.width else form + other

    def _product(self, op: MatMul) -> Affine | None:
        matrix = constant_of(op.operands[1])
        if matrix is None or matrix.ndim != 2 or op.flag("transpose_a") or matrix.dtype.kind != "f":
            return None
        matrix = matrix.T if op.flag("transpose_b") else matrix
        data = op.operands[0]
        parts = [data]
        if isinstance(joined := data.owner, Concat):
            rank = len(shape_of(data) or ())
            if rank != 2 or normalize_axis(joined.integer("axis"), rank) != 1:
                return None
            parts = list(joined.operands)
        weights: dict[SSAValue, Array] = {}
        row = 0
        for part in parts:
            shape = shape_of(part)
            if part not in self.bases or part in weights or shape is None or shape[-1] < 0:
                return None
            weights[part] = matrix[row : row + shape[-1]]
            row += shape[-1]
        return Affine(weights, np.zeros_like(matrix[0])) if row == len(matrix) else None

    def _piece(self, value: OpResult, op: Split | VariadicSplit | Slice, depth: int) -> Affine | None:
        form, shape = self.of(op.operands[0], depth + 1), shape_of(value)
        if form is None or shape is None or shape[-1] < 0:
            return None
        if isinstance(op, Slice):
            start, steps, axes = (_integer(op.operands[index]) if len(op.operands) > index else None for index in (1, 3, 4))
            if start is None or steps != 1 or axes not in (1, -1):
                return None
            start = start + form.width if start < 0 else start
            return form.columns(start, start + shape[-1])
        if _integer(op.operands[1]) not in (1, -1):
            return None
        widths = [(shape_of(result) or (-1,))[-1] for result in op.results]
        start = sum(widths[: value.index])
        return form.columns(start, start + widths[value.index]) if min(widths) >= 0 else None


def _integer(value: SSAValue) -> int | None:
    array = constant_of(value)
    return int(array.reshape(-1)[0]) if array is not None and array.size == 1 else None


def _row(bias: Array) -> Affine | None:
    """The affine form of a constant row [K] or [1, K]; None for constants of other shapes."""
    is_row = bias.dtype.kind == "f" and bias.ndim in (1, 2) and bias.size == bias.shape[-1]
    return Affine({}, bias.reshape(-1)) if is_row else None


def _with_bias(form: Affine, bias: Array) -> Affine | None:
    if bias.ndim > 2 or (bias.ndim == 2 and len(bias) != 1) or bias.size not in (1, form.width):
        return None
    return Affine(form.weights, form.bias + bias.reshape(-1))
