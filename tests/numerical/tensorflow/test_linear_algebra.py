"""Systems of linear equations, factors, eigenvalues and singular values of TensorFlow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from moir.errors import ConversionError
from tests.numerical.runtime import Array
from tests.numerical.tensorflow.conversion import Build, build, check, convert_graph

RANDOM = np.random.default_rng(47)
raw = tf.raw_ops
FLEXIBLE = ("static", "dynamic")


def real(*shape: int) -> Array:
    return RANDOM.normal(size=shape).astype(np.float32)


def regular(*shape: int) -> Array:
    """Matrices that are far from singular."""
    return real(*shape) + 4 * np.eye(shape[-1], dtype=np.float32)


def positive(size: int) -> Array:
    """Two positive definite matrices."""
    root = real(2, size, size)
    return root @ root.swapaxes(-1, -2) + np.eye(size, dtype=np.float32)


DIAGONALS = real(2, 3, 5) + np.array([[0], [4], [0]])


@pytest.mark.parametrize("size", [1, 2, 5, 12])
def test_cholesky(size: int) -> None:
    check(lambda x: raw.Cholesky(input=x), {"x": positive(size)}, forms=("static",))
    # Only the lower triangle is read.
    check(lambda x: raw.Cholesky(input=x), {"x": np.tril(positive(size)[0])}, forms=("static",))


SYSTEMS: dict[str, tuple[Build, dict[str, Any]]] = {
    **{
        f"triangle {lower} {adjoint}": (
            lambda a, b, lower=lower, adjoint=adjoint: raw.MatrixTriangularSolve(matrix=a, rhs=b, lower=lower, adjoint=adjoint),
            {"a": regular(2, 4, 4), "b": real(2, 4, 3)},
        )
        for lower in (True, False)
        for adjoint in (True, False)
    },
    "triangles and one side": (lambda a, b: raw.MatrixTriangularSolve(matrix=a, rhs=b), {"a": regular(2, 4, 4), "b": real(4, 3)}),
    "tridiagonal": (lambda a, b: raw.TridiagonalSolve(diagonals=a, rhs=b), {"a": DIAGONALS, "b": real(2, 5, 2)}),
    "tridiagonal product": (
        lambda a, b, c, x: raw.TridiagonalMatMul(superdiag=a, maindiag=b, subdiag=c, rhs=x),
        {"a": real(2, 1, 4), "b": real(2, 1, 4), "c": real(2, 1, 4), "x": real(2, 4, 3)},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SYSTEMS)
def test_systems(name: str) -> None:
    function, inputs = SYSTEMS[name]
    check(function, {name: value.astype(np.float32) for name, value in inputs.items()}, rtol=1e-3, forms=FLEXIBLE)


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("adjoint", [True, False])
def test_bands(lower: bool, adjoint: bool) -> None:
    bands = real(2, 3, 5)
    bands[:, 0 if lower else -1] += 5
    check(
        lambda a, b: raw.BandedTriangularSolve(matrix=a, rhs=b, lower=lower, adjoint=adjoint),
        {"a": bands, "b": real(2, 5, 2)},
        rtol=1e-3,
        forms=("static",),
    )
    check(lambda a, b: raw.BandedTriangularSolve(matrix=a, rhs=b, lower=lower), {"a": bands[0, :1] + 9, "b": real(5, 1)}, forms=("static",))


def test_entries_outside_of_the_matrix_are_not_read() -> None:
    diagonals = real(3, 4) + np.array([[0], [4], [0]], np.float32)
    expected = raw.TridiagonalSolve(diagonals=diagonals, rhs=np.eye(4, dtype=np.float32)).numpy()
    diagonals[0, -1] = diagonals[2, 0] = np.nan
    check(
        lambda a: raw.TridiagonalSolve(diagonals=a, rhs=np.eye(4, dtype=np.float32)),
        {"a": diagonals},
        expected=[expected],
        rtol=1e-3,
        forms=FLEXIBLE,
    )


@pytest.mark.parametrize("shape", [(2, 5, 3), (3, 5), (4, 4)])
@pytest.mark.parametrize("regularizer", [0.0, 0.5])
def test_least_squares(shape: tuple[int, ...], regularizer: float) -> None:
    matrix = regular(4, 4) if shape == (4, 4) else real(*shape)
    inputs = {"a": matrix, "b": real(*shape[:-1], 2)}
    check(lambda a, b: raw.MatrixSolveLs(matrix=a, rhs=b, l2_regularizer=regularizer), inputs, rtol=1e-3, atol=1e-4, forms=("static",))


@pytest.mark.parametrize("full", [True, False])
@pytest.mark.parametrize("shape", [(2, 4, 4), (5, 3), (2, 3, 5), (2, 1, 3), (3, 1), (1, 1)])
def test_orthogonal_factors(shape: tuple[int, ...], full: bool) -> None:
    check(lambda x: raw.Qr(input=x, full_matrices=full), {"x": real(*shape)}, atol=1e-4, forms=("static",))


def test_orthogonal_factors_without_reflections() -> None:
    """A column without elements below the diagonal keeps its sign; a matrix of zeros has a q of ones."""
    x = np.array([[[-1, 2, 0], [0, -3, 1], [0, 4, 2]], [[0, 0, 0]] * 3], np.float32)
    check(lambda x: raw.Qr(input=x), {"x": x}, forms=("static",))


@pytest.mark.parametrize("size", [1, 2, 5, 9])
@pytest.mark.parametrize("element", [tf.int32, tf.int64])
def test_triangles_with_pivots(size: int, element: tf.DType) -> None:
    check(lambda x: raw.Lu(input=x, output_idx_type=element), {"x": real(2, size, size)}, rtol=1e-3, atol=1e-4, forms=("static",))
    check(lambda x: raw.Lu(input=x, output_idx_type=element), {"x": real(size, size)}, rtol=1e-3, atol=1e-4, forms=("static",))


@pytest.mark.parametrize("size", [1, 2, 3, 4, 7, 24])
def test_eigenvalues(size: int) -> None:
    """Only the lower triangle is read."""
    check(lambda x: raw.SelfAdjointEigV2(input=x, compute_v=False)[0], {"x": real(2, size, size)}, atol=1e-4, forms=("static",))
    check(lambda x: raw.SelfAdjointEigV2(input=x)[0], {"x": positive(size)[0]}, atol=1e-4, forms=("static",))


def test_equal_eigenvalues() -> None:
    x = np.stack([np.ones((4, 4)), 3 * np.eye(4), np.zeros((4, 4)), np.diag([1, 1, 5, -5.0])]).astype(np.float32)
    check(lambda x: raw.SelfAdjointEigV2(input=x, compute_v=False)[0], {"x": x}, forms=("static",))


@pytest.mark.parametrize("shape", [(2, 4, 4), (5, 3), (2, 3, 6), (1, 4), (4, 1), (20, 17)])
def test_singular_values(shape: tuple[int, ...]) -> None:
    check(lambda x: raw.Svd(input=x, compute_uv=False)[0], {"x": real(*shape)}, forms=("static",))
    x = real(*shape)
    x[..., -1] = x[..., 0]
    check(lambda x: raw.Svd(input=x)[0], {"x": x}, forms=("static",))


REFUSED: dict[str, tuple[Build, dict[str, Array], str]] = {
    "vectors of eigenvalues": (lambda x: raw.SelfAdjointEigV2(input=x)[1], {"x": positive(3)}, "up to their signs"),
    "vectors of singular values": (lambda x: raw.Svd(input=x)[1], {"x": positive(3)}, "up to their signs"),
    "former eigenvalues": (lambda x: tf.math.real(raw.Eig(input=x, Tout=tf.complex64)[0]), {"x": positive(3)}, "not symmetric"),
    "root": (lambda x: raw.MatrixSquareRoot(input=x), {"x": positive(3)}, "Schur"),
    "large": (lambda x: raw.Qr(input=x)[1], {"x": real(33, 40)}, "at most 32"),
    "rank": (lambda x: raw.MatrixSolveLs(matrix=x, rhs=x, l2_regularizer=0.0, fast=False), {"x": positive(3)}, "fast = true"),
    "perturbed": (
        lambda x: raw.TridiagonalSolve(diagonals=x, rhs=np.ones((2, 4, 1), np.float32), perturb_singular=True),
        {"x": real(2, 3, 4)},
        "perturb_singular",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name: str, tmp_path: Any) -> None:
    function, inputs, reason = REFUSED[name]
    graph, _ = build(function, inputs)
    with pytest.raises(ConversionError, match=reason):
        convert_graph(graph, tmp_path)
