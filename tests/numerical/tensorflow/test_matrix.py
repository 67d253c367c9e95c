"""Matrix products, inverses, determinants, diagonals and bands of TensorFlow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tests.numerical.tensorflow.conversion import Build, check

RANDOM = np.random.default_rng(11)
raw = tf.raw_ops


def real(*shape: int) -> Any:
    return RANDOM.normal(size=shape).astype(np.float32)


def i32(*values: Any) -> Any:
    return np.array(values, np.int32)


PRODUCTS: dict[str, tuple[Build, tuple[int, ...], tuple[int, ...]]] = {
    "MatMul": (lambda a, b: raw.MatMul(a=a, b=b), (2, 3), (3, 4)),
    "MatMul transposed": (lambda a, b: raw.MatMul(a=a, b=b, transpose_a=True, transpose_b=True), (3, 2), (4, 3)),
    "BatchMatMul": (lambda a, b: raw.BatchMatMul(x=a, y=b, adj_x=True), (2, 3, 2), (2, 3, 4)),
    "BatchMatMulV2": (lambda a, b: raw.BatchMatMulV2(x=a, y=b, adj_y=True), (5, 1, 2, 3), (2, 4, 3)),
    "BatchMatMulV3": (lambda a, b: raw.BatchMatMulV3(x=a, y=b, Tout=tf.float32), (2, 2, 3), (3, 4)),
    "Einsum": (lambda a, b: raw.Einsum(inputs=[a, b], equation="BTNH,BFNH->BNFT"), (2, 3, 2, 4), (2, 5, 2, 4)),
    "Einsum ellipsis": (lambda a, b: raw.Einsum(inputs=[a, b], equation="...ij,jk->...ik"), (2, 2, 3), (3, 4)),
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_product(name: str) -> None:
    function, a, b = PRODUCTS[name]
    check(function, {"a": real(*a), "b": real(*b)}, operations=3 if name == "Einsum" else 1, forms=("static", "dynamic"))


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float16, np.float64])
def test_product_element_types(dtype: Any) -> None:
    a, b = (RANDOM.integers(-5, 5, shape).astype(dtype) for shape in ((2, 3), (3, 4)))
    check(lambda a, b: raw.MatMul(a=a, b=b), {"a": a, "b": b}, rtol=1e-2, forms=("static", "dynamic"))


def test_product_of_integers_to_wider_ones() -> None:
    a, b = (RANDOM.integers(-5, 5, shape).astype(np.int8) for shape in ((2, 3), (3, 4)))
    check(lambda a, b: raw.BatchMatMulV3(x=a, y=b, Tout=tf.int32), {"a": a, "b": b}, forms=("static", "dynamic"))


FUSED: dict[str, tuple[tuple[str, ...], Any]] = {
    "BiasAdd": (("BiasAdd",), lambda x: x),
    "Relu": (("BiasAdd", "Relu"), tf.nn.relu),
    "Relu6": (("BiasAdd", "Relu6"), tf.nn.relu6),
    "Elu": (("BiasAdd", "Elu"), tf.nn.elu),
    "Tanh": (("BiasAdd", "Tanh"), tf.tanh),
    "LeakyRelu": (("BiasAdd", "LeakyRelu"), lambda x: tf.nn.leaky_relu(x, 0.3)),
    "GeluApproximate": (("BiasAdd", "GeluApproximate"), lambda x: tf.nn.gelu(x, approximate=True)),
}


@pytest.mark.parametrize("name", FUSED)
def test_fused_product(name: str) -> None:
    """The node that TensorFlow's optimizer makes of a product, a bias and an activation."""
    kinds, activation = FUSED[name]
    a, b, bias = real(2, 3), real(3, 4), real(4)

    def fused(a: Any, b: Any) -> Any:
        node = tf.compat.v1.get_default_graph().create_op(
            "_FusedMatMul",
            [a, b, tf.constant(bias)],
            [tf.float32],
            name="fused",
            attrs={
                name: tf.compat.v1.AttrValue(**{kind: value})
                for name, kind, value in (
                    ("T", "type", 1),
                    ("num_args", "i", 1),
                    ("leakyrelu_alpha", "f", 0.3),
                    ("fused_ops", "list", tf.compat.v1.AttrValue.ListValue(s=[kind.encode() for kind in kinds])),
                )
            },
        )
        return node.outputs[0]

    expected = activation(tf.constant(a @ b + bias)).numpy()
    check(fused, {"a": a, "b": b}, expected=[expected], operations=len(kinds) + 1, forms=("static",))


SQUARES: dict[str, tuple[Build, dict[str, Any]]] = {
    "MatrixInverse": (lambda x: raw.MatrixInverse(input=x), {"x": real(2, 3, 3) + 4 * np.eye(3, dtype=np.float32)}),
    "MatrixInverse adjoint": (lambda x: raw.MatrixInverse(input=x, adjoint=True), {"x": real(3, 3) + 4 * np.eye(3, dtype=np.float32)}),
    "MatrixSolve": (
        lambda x, b: raw.MatrixSolve(matrix=x, rhs=b),
        {"x": real(2, 3, 3) + 4 * np.eye(3, dtype=np.float32), "b": real(2, 3, 2)},
    ),
    "MatrixSolve adjoint": (
        lambda x, b: raw.MatrixSolve(matrix=x, rhs=b, adjoint=True),
        {"x": real(3, 3) + 4 * np.eye(3, dtype=np.float32), "b": real(3, 1)},
    ),
    "Cross": (lambda a, b: raw.Cross(a=a, b=b), {"a": real(2, 3), "b": real(2, 3)}),
}  # fmt: skip


@pytest.mark.parametrize("name", SQUARES)
def test_squares(name: str) -> None:
    function, inputs = SQUARES[name]
    check(function, inputs, rtol=1e-3, forms=("static", "dynamic"))


@pytest.mark.parametrize("size", [0, 1, 2, 3, 6, 12])
def test_determinant(size: int) -> None:
    check(lambda x: raw.MatrixDeterminant(input=x), {"x": real(2, size, size)}, rtol=1e-3, forms=("static",))
    check(lambda x: raw.LogMatrixDeterminant(input=x), {"x": real(2, size, size)}, rtol=1e-3, forms=("static",))


@pytest.mark.parametrize("size", [1, 4, 33])
def test_determinant_of_many_rows_or_an_unknown_number(size: int) -> None:
    x = {"x": real(2, size, size)}
    check(lambda x: raw.MatrixDeterminant(input=x), x, rtol=2e-3, forms=("dynamic",))
    check(lambda x: raw.LogMatrixDeterminant(input=x), x, rtol=2e-3, forms=("static", "dynamic"))


# Bands and diagonals

FILL = np.array(-1, np.float32)


def diag(x: Any, k: Any, rows: int = -1, columns: int = -1, **attributes: str) -> Any:
    return raw.MatrixDiagV3(diagonal=x, k=k, num_rows=rows, num_cols=columns, padding_value=FILL, **attributes)


def part(x: Any, k: Any, **attributes: str) -> Any:
    return raw.MatrixDiagPartV3(input=x, k=k, padding_value=FILL, **attributes)


# function, inputs, most operations where sizes are known
DIAGONALS: dict[str, tuple[Build, tuple[tuple[int, ...], ...], int]] = {
    "MatrixBandPart": (lambda x: raw.MatrixBandPart(input=x, num_lower=1, num_upper=2), ((2, 4, 5),), 1),
    "MatrixBandPart lower": (lambda x: raw.MatrixBandPart(input=x, num_lower=-1, num_upper=0), ((3, 3),), 1),
    "MatrixBandPart upper": (lambda x: raw.MatrixBandPart(input=x, num_lower=0, num_upper=np.int32(-1)), ((3, 4),), 1),
    "MatrixBandPart all": (lambda x: raw.MatrixBandPart(input=x, num_lower=-1, num_upper=-1), ((3, 4),), 0),
    "MatrixDiag": (lambda x: raw.MatrixDiag(diagonal=x), ((2, 3),), 2),
    "Diag": (lambda x: raw.Diag(diagonal=x), ((3,),), 2),
    "Diag matrix": (lambda x: raw.Diag(diagonal=x), ((2, 3),), 4),
    "DiagPart": (lambda x: raw.DiagPart(input=x), ((3, 3),), 2),
    "DiagPart matrix": (lambda x: raw.DiagPart(input=x), ((2, 3, 2, 3),), 4),
    "MatrixDiagPart": (lambda x: raw.MatrixDiagPart(input=x), ((2, 3, 4),), 2),
    "MatrixDiagPart high": (lambda x: raw.MatrixDiagPart(input=x), ((4, 3),), 2),
    "MatrixSetDiag": (lambda x, d: raw.MatrixSetDiag(input=x, diagonal=d), ((2, 3, 4), (2, 3)), 2),
    "MatrixSetDiag high": (lambda x, d: raw.MatrixSetDiag(input=x, diagonal=d), ((4, 3), (3,)), 2),
    "MatrixSetDiagV2": (lambda x, d: raw.MatrixSetDiagV2(input=x, diagonal=d, k=-1), ((2, 3, 4), (2, 2)), 2),
    "MatrixSetDiagV3 band": (lambda x, d: raw.MatrixSetDiagV3(input=x, diagonal=d, k=[-1, 1]), ((2, 3, 4), (2, 3, 3)), 3),
    "MatrixDiagV2": (
        lambda x: raw.MatrixDiagV2(diagonal=x, k=1, num_rows=-1, num_cols=-1, padding_value=FILL),
        ((2, 3),),
        2,
    ),
    "MatrixDiagV3 main": (lambda x: diag(x, 0), ((2, 3),), 2),
    "MatrixDiagV3 sizes": (lambda x: diag(x, -1, 4, 5), ((3,),), 2),
    "MatrixDiagV3 rows": (lambda x: diag(x, 1, 3), ((2, 3),), 2),
    "MatrixDiagPartV2": (lambda x: raw.MatrixDiagPartV2(input=x, k=[-1, 1], padding_value=FILL), ((2, 3, 4),), 3),
    "MatrixDiagPartV3 above": (lambda x: part(x, 2), ((2, 3, 5),), 2),
    "MatrixDiagPartV3 below": (lambda x: part(x, -1), ((4, 3),), 2),
}  # fmt: skip

SIZED = ("MatrixSetDiagV3 band", "MatrixDiagV3 sizes")
"""Those of which TensorFlow makes no graph without sizes."""


@pytest.mark.parametrize("name", DIAGONALS)
def test_diagonals(name: str) -> None:
    function, shapes, operations = DIAGONALS[name]
    inputs = dict(zip("xd", (real(*shape) for shape in shapes), strict=False))
    check(function, inputs, operations=operations, forms=("static",))
    if name not in SIZED:
        check(function, inputs, forms=("dynamic",))


@pytest.mark.parametrize("align", ["LEFT_LEFT", "LEFT_RIGHT", "RIGHT_LEFT", "RIGHT_RIGHT"])
@pytest.mark.parametrize("shape", [(3, 4), (4, 3), (5, 2)])
def test_bands(align: str, shape: tuple[int, int]) -> None:
    """Packed diagonals come out of a matrix and make it again."""
    size = min(shape)
    packed = real(2, 3, min(size + (shape[0] != shape[1]), size))
    check(lambda x: part(x, [-2, 1], align=align), {"x": real(2, *shape)}, forms=("static", "dynamic"))
    check(lambda x: diag(x, [-1, 1], *shape, align=align), {"x": packed}, forms=("static",))


def test_computed_band() -> None:
    check(
        lambda x, low, high: raw.MatrixBandPart(input=x, num_lower=low, num_upper=high),
        {"x": real(2, 3, 4), "low": np.array(1), "high": np.array(-1)},
        forms=("static", "dynamic"),
    )


def test_band_element_types() -> None:
    x = RANDOM.integers(0, 2, (3, 4))
    check(lambda x: raw.MatrixBandPart(input=x, num_lower=0, num_upper=1), {"x": x > 0}, operations=1)
    check(lambda x: raw.MatrixBandPart(input=x, num_lower=0, num_upper=1), {"x": x.astype(np.int32)}, operations=1)
    check(lambda x: raw.MatrixDiag(diagonal=x), {"x": x > 0}, forms=("static", "dynamic"))
