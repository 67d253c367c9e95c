"""Determinants of matrices, and the logarithms of their magnitudes."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from moir.expansions.linear_algebra.determinants import determinant_of, sign_and_logarithm_of
from moir.lowering.complex.kinds import by_formula
from moir.lowering.tensorflow.table import tf
from moir.rewriting.builder import OpBuilder


@tf.lowers("BatchMatrixDeterminant", "MatrixDeterminant", complex=by_formula("tensorflow.complex.matrices:determinant"))
def determinant(op: OpBuilder, input: SSAValue) -> SSAValue:
    """tf.MatrixDeterminant(x) -> the product of the pivots of an elimination"""
    return determinant_of(op, input)


@tf.lowers("LogMatrixDeterminant", complex=by_formula("tensorflow.complex.matrices:sign_and_logarithm"))
def logarithm_of_determinant(op: OpBuilder, input: SSAValue) -> Sequence[SSAValue]:
    """tf.LogMatrixDeterminant(x) -> the product of the signs of the pivots, and the sum of their logarithms"""
    return sign_and_logarithm_of(op, input)
