"""Determinants of matrices."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.expansions.linear_algebra.determinants import determinant_of
from moir.lowering.onnx.table import onnx
from moir.rewriting.builder import OpBuilder


@onnx.lowers("Det")
def determinant(op: OpBuilder, x: SSAValue) -> SSAValue:
    """onnx.Det(x) -> the product of the pivots of Gaussian elimination and of the signs of their rows"""
    return determinant_of(op, x)
