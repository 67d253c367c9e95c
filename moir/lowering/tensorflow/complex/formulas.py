"""The formula that computes a kind of node for complex numbers."""

from __future__ import annotations

from functools import partial

from moir.lowering.table import BoundHandler
from moir.lowering.tensorflow.complex.functions import BINARY, UNARY, binary, coordinates, equality, unary
from moir.lowering.tensorflow.complex.matrices import (
    determinant,
    inverse,
    matrix_product,
    sign_and_logarithm,
    solution,
    sparse_product,
    summation,
)
from moir.lowering.tensorflow.complex.products import norm, product_of_elements, running_product

HANDLERS: dict[str, BoundHandler] = {
    "BatchMatMul": matrix_product,
    "BatchMatMulV2": matrix_product,
    "BatchMatMulV3": matrix_product,
    "BatchMatrixSolve": solution,
    "Cumprod": running_product,
    "Einsum": summation,
    "Equal": equality,
    "EuclideanNorm": norm,
    "LogMatrixDeterminant": sign_and_logarithm,
    "MatMul": matrix_product,
    "MatrixDeterminant": determinant,
    "MatrixInverse": inverse,
    "MatrixSolve": solution,
    "NotEqual": equality,
    "Prod": product_of_elements,
    "SparseTensorDenseMatMul": sparse_product,
    "Where": coordinates,
}
"""The handler of each kind for complex numbers."""

for kind, function in UNARY.items():
    HANDLERS[kind] = partial(unary, function)
for kind, combination in BINARY.items():
    HANDLERS[kind] = partial(binary, combination)
