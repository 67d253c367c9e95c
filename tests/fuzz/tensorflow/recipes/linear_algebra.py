"""Systems of linear equations, factors and eigenvalues of TensorFlow, drawn."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.fuzz.draw import Array, Draw
from tests.fuzz.tensorflow.recipe import Node, recipe


def regular(draw: Draw, dtype: np.dtype[Any], shape: list[int]) -> Array:
    """Matrices that are far from singular: larger on the diagonal than elsewhere."""
    size = shape[-1]
    return (draw.random.uniform(-1, 1, (*shape, size)) + (size + 1) * np.eye(size)).astype(dtype)


@recipe("Cholesky")
def definite(draw: Draw, dtype: np.dtype[Any]) -> Node:
    return Node({"input": regular(draw, dtype, draw.filled(1, 3))}, fixed=("input",))


@recipe("MatrixTriangularSolve")
def triangular(draw: Draw, dtype: np.dtype[Any]) -> Node:
    shape = draw.filled(1, 3)
    flags = {"lower": draw.chance(0.5), "adjoint": draw.chance(0.5)}
    return Node({"matrix": regular(draw, dtype, shape), "rhs": draw.array(dtype, [*shape, draw.integer(1, 3)], special=0.0)}, flags)


@recipe("BandedTriangularSolve")
def banded(draw: Draw, dtype: np.dtype[Any]) -> Node:
    size, count = draw.integer(2, 5), draw.integer(1, 2)
    flags = {"lower": draw.chance(0.5), "adjoint": draw.chance(0.5)}
    bands = draw.random.uniform(-1, 1, (count, size))
    bands[0 if flags["lower"] else -1] += 3
    operands = {"matrix": bands.astype(dtype), "rhs": draw.array(dtype, [size, draw.integer(1, 3)], special=0.0)}
    return Node(operands, flags, fixed=("matrix",))


@recipe("TridiagonalSolve")
def tridiagonal(draw: Draw, dtype: np.dtype[Any]) -> Node:
    batch, size = draw.filled(0, 2), draw.integer(1, 5)
    diagonals = draw.random.uniform(-1, 1, (*batch, 3, size)) + np.array([[0], [3], [0]])
    return Node({"diagonals": diagonals.astype(dtype), "rhs": draw.array(dtype, [*batch, size, draw.integer(1, 3)], special=0.0)})


@recipe("TridiagonalMatMul")
def tridiagonal_product(draw: Draw, dtype: np.dtype[Any]) -> Node:
    batch, size = draw.filled(0, 2), draw.integer(1, 5)
    diagonals = {name: draw.array(dtype, [*batch, 1, size], special=0.0) for name in ("superdiag", "maindiag", "subdiag")}
    return Node({**diagonals, "rhs": draw.array(dtype, [*batch, size, draw.integer(1, 3)], special=0.0)})


@recipe("MatrixSolveLs")
def least_squares(draw: Draw, dtype: np.dtype[Any]) -> Node:
    batch, (rows, columns) = draw.filled(0, 1), draw.integers(2, 1, 4)
    matrix = draw.random.uniform(-1, 1, (*batch, rows, columns)) + 3 * np.eye(rows, columns)
    operands = {"matrix": matrix.astype(dtype), "rhs": draw.array(dtype, [*batch, rows, draw.integer(1, 3)], special=0.0)}
    regularizer = np.array(draw.one_of((0.0, 0.5)), np.float64)
    return Node({**operands, "l2_regularizer": regularizer}, {"fast": True}, ("l2_regularizer",), fixed=("matrix",))


@recipe("Qr")
def orthogonal(draw: Draw, dtype: np.dtype[Any]) -> Node:
    # TensorFlow computes halves in halves, with errors of some percent.
    dtype = np.dtype(np.float32) if dtype == np.float16 else dtype
    data = draw.array(dtype, draw.filled(2, 3), special=0.0)
    return Node({"input": data}, {"full_matrices": draw.chance(0.5)}, fixed=("input",))


@recipe("Lu")
def pivoted(draw: Draw, dtype: np.dtype[Any]) -> Node:
    return Node({"input": regular(draw, dtype, draw.filled(1, 3))}, fixed=("input",))


@recipe("SelfAdjointEigV2")
def eigenvalues(draw: Draw, dtype: np.dtype[Any]) -> Node:
    return Node({"input": regular(draw, dtype, draw.filled(1, 3))}, {"compute_v": False}, results=1, fixed=("input",))


@recipe("Svd")
def singular_values(draw: Draw, dtype: np.dtype[Any]) -> Node:
    return Node({"input": draw.array(dtype, draw.filled(2, 3), special=0.0)}, {"compute_uv": False}, results=1, fixed=("input",))
