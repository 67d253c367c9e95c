"""Kinds that TensorFlow removed, and one that only reads variables of TensorFlow 1.

    %y = tf.BatchMatrixInverse(%x)   // computes what MatrixInverse does

TensorFlow 2 makes no graph of them: a graph of the kind that computes the same gets their names.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from moir.conversion import save_model
from moir.interface import convert_model
from tests.numerical.runtime import Array, compare, core
from tests.numerical.tensorflow.conversion import build, expected_results, ordered_results

RANDOM = np.random.default_rng(43)
raw = tf.raw_ops

MATRICES = RANDOM.normal(size=(2, 3, 3)).astype(np.float32) + 4 * np.eye(3, dtype=np.float32)
SIDES = RANDOM.normal(size=(2, 3, 2)).astype(np.float32)
SYMMETRIC = MATRICES @ MATRICES.swapaxes(-1, -2)


def transformed(kind: str) -> Callable[..., Any]:
    """Both parts of a Fourier transform of the numbers x + 2 x i."""

    def function(x: tf.Tensor) -> list[tf.Tensor]:
        result = getattr(raw, kind)(input=tf.complex(x, 2 * x))
        return [tf.math.real(result), tf.math.imag(result)]

    return function


KINDS: dict[str, tuple[Callable[..., Any], dict[str, Array]]] = {
    "BatchMatrixDeterminant": (lambda x: raw.MatrixDeterminant(input=x), {"x": MATRICES}),
    "BatchMatrixInverse": (lambda x: raw.MatrixInverse(input=x, adjoint=True), {"x": MATRICES}),
    "BatchMatrixSetDiag": (lambda x, d: raw.MatrixSetDiag(input=x, diagonal=d), {"x": MATRICES, "d": SIDES[:, :, 0]}),
    "BatchMatrixSolve": (lambda x, b: raw.MatrixSolve(matrix=x, rhs=b, adjoint=True), {"x": MATRICES, "b": SIDES}),
    "BatchMatrixSolveLs": (lambda x, b: raw.MatrixSolveLs(matrix=x, rhs=b, l2_regularizer=0.5), {"x": MATRICES, "b": SIDES}),
    "BatchMatrixTriangularSolve": (lambda x, b: raw.MatrixTriangularSolve(matrix=x, rhs=b, lower=False), {"x": MATRICES, "b": SIDES}),
    "BatchCholesky": (lambda x: raw.Cholesky(input=x), {"x": SYMMETRIC}),
    "RefIdentity": (lambda x: raw.Identity(input=x) * 2, {"x": SIDES}),
    **{f"Batch{kind}": (transformed(kind), {"x": MATRICES}) for kind in ("FFT", "FFT2D", "FFT3D", "IFFT", "IFFT2D", "IFFT3D")},
}  # fmt: skip


def renamed_results(function: Callable[..., Any], inputs: dict[str, Array], former: str, kind: str, folder: Path) -> list[Array]:
    """Results of the converted graph of a function, in which the node of the kind `former` became one of another kind."""
    graph, names = build(function, inputs)
    definition = graph.as_graph_def()
    # The outputs of the graph are Identity nodes, too.
    (node,) = [each for each in definition.node if each.op == former and "out_" not in each.name]
    node.op = kind
    node.attr.pop("Tcomplex", None)
    source = folder / "model.pb"
    source.write_bytes(definition.SerializeToString())
    save_model(convert_model(source), folder / "model.xml")
    return ordered_results(core().read_model(folder / "model.xml"), names, inputs)


@pytest.mark.parametrize("kind", KINDS)
def test_former_kind(kind: str, tmp_path: Path) -> None:
    function, inputs = KINDS[kind]
    graph, names = build(function, inputs)
    results = renamed_results(function, inputs, kind.removeprefix("Batch").removeprefix("Ref"), kind, tmp_path)
    compare(results, expected_results(graph, names, inputs), 1e-4, 1e-5)


@pytest.mark.parametrize("size", [1, 3, 6])
@pytest.mark.parametrize("scale", [0.1, 1, 4])
def test_exponential(size: int, scale: float, tmp_path: Path) -> None:
    x = (RANDOM.normal(size=(3, size, size)) * np.array([1, 0.3, 0]).reshape(3, 1, 1) * scale).astype(np.float32)
    for each in (x, x[0]):
        expected = tf.linalg.expm(each.astype(np.float64)).numpy().astype(np.float32)
        results = renamed_results(lambda x: raw.MatrixInverse(input=x), {"x": each}, "MatrixInverse", "MatrixExponential", tmp_path)
        compare(results, [expected], 1e-3, 1e-5 * float(np.abs(expected).max()))
