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
        found = getattr(raw, kind)(input=tf.complex(x, 2 * x))
        return [tf.math.real(found), tf.math.imag(found)]

    return function


KINDS: dict[str, tuple[Callable[..., Any], dict[str, Array]]] = {
    "BatchMatrixDeterminant": (lambda x: raw.MatrixDeterminant(input=x), {"x": MATRICES}),
    "BatchMatrixInverse": (lambda x: raw.MatrixInverse(input=x, adjoint=True), {"x": MATRICES}),
    "BatchMatrixSetDiag": (lambda x, d: raw.MatrixSetDiag(input=x, diagonal=d), {"x": MATRICES, "d": SIDES[:, :, 0]}),
    "BatchMatrixSolve": (lambda x, b: raw.MatrixSolve(matrix=x, rhs=b, adjoint=True), {"x": MATRICES, "b": SIDES}),
    "RefIdentity": (lambda x: raw.Identity(input=x) * 2, {"x": SIDES}),
    **{f"Batch{kind}": (transformed(kind), {"x": MATRICES}) for kind in ("FFT", "FFT2D", "FFT3D", "IFFT", "IFFT2D", "IFFT3D")},
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_former_kind(kind: str, tmp_path: Path) -> None:
    function, inputs = KINDS[kind]
    graph, names = build(function, inputs)
    expected = expected_results(graph, names, inputs)
    definition = graph.as_graph_def()
    # The outputs of the graph are Identity nodes, too.
    renamed = [node for node in definition.node if node.op == kind.removeprefix("Batch").removeprefix("Ref") and "out_" not in node.name]
    assert len(renamed) == 1
    renamed[0].op = kind
    renamed[0].attr.pop("Tcomplex", None)
    source = tmp_path / "model.pb"
    source.write_bytes(definition.SerializeToString())
    save_model(convert_model(source), tmp_path / "model.xml")
    compare(ordered_results(core().read_model(tmp_path / "model.xml"), names, inputs), expected, 1e-4, 1e-5)
