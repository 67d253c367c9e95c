"""Matrices of TensorFlow, drawn."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import tensorflow as tf

from tests.fuzz.draw import Array, Draw
from tests.fuzz.tensorflow.recipe import Node, index_type, recipe


@recipe("MatMul")
def product(draw: Draw, dtype: np.dtype[Any]) -> Node:
    rows, inner, columns = (draw.size() for _ in range(3))
    flags = {name: draw.chance(0.4) for name in ("transpose_a", "transpose_b")}
    a, b = ([rows, inner], [inner, columns])
    shapes = [shape[::-1] if flag else shape for shape, flag in zip((a, b), flags.values(), strict=True)]
    return Node({name: draw.array(dtype, shape, special=0.0) for name, shape in zip("ab", shapes, strict=True)}, flags)


@recipe("BatchMatMulV2")
def batch_product(draw: Draw, dtype: np.dtype[Any]) -> Node:
    batch = draw.shape(0, 2)
    rows, inner, columns = (draw.size() for _ in range(3))
    flags = {name: draw.chance(0.4) for name in ("adj_x", "adj_y")}
    shapes = [shape[::-1] if flag else shape for shape, flag in zip(([rows, inner], [inner, columns]), flags.values(), strict=True)]
    leading = (draw.broadcasts_to(batch), batch)
    return Node(
        {name: draw.array(dtype, [*front, *shape], special=0.0) for name, front, shape in zip("xy", leading, shapes, strict=True)}, flags
    )


@recipe("MatrixBandPart")
def band(draw: Draw, dtype: np.dtype[Any]) -> Node:
    index = index_type(draw)
    return Node(
        {
            "input": draw.array(dtype, draw.filled(2, 4)),
            "num_lower": np.array(draw.integer(-1, 1), index),
            "num_upper": np.array(draw.integer(-1, 1), index),
        },
        {},
        ("num_lower", "num_upper"),
    )


@recipe("MatrixDiag")
def diagonal(draw: Draw, dtype: np.dtype[Any]) -> Node:
    return Node({"diagonal": draw.array(dtype, draw.filled(1, 3))})


@recipe("MatrixDiagPart")
def diagonal_part(draw: Draw, dtype: np.dtype[Any]) -> Node:
    return Node({"input": draw.array(dtype, draw.filled(2, 4))})


@recipe("MatrixSetDiag")
def set_diagonal(draw: Draw, dtype: np.dtype[Any]) -> Node:
    data = draw.array(dtype, draw.filled(2, 4))
    return Node({"input": data, "diagonal": draw.array(dtype, [*data.shape[:-2], min(data.shape[-2:])])})


@recipe("Cross")
def cross(draw: Draw, dtype: np.dtype[Any]) -> Node:
    shape = [*draw.shape(0, 2), 3]
    return Node({"a": draw.array(dtype, shape, special=0.0), "b": draw.array(dtype, shape, special=0.0)})


@recipe("BatchMatMul")
def equal_batch_product(draw: Draw, dtype: np.dtype[Any]) -> Node:
    node = batch_product(draw, dtype)
    x, y = (np.asarray(node.operands[name]) for name in "xy")
    return Node({"x": np.broadcast_to(x, [*y.shape[:-2], *x.shape[-2:]]).copy(), "y": y}, node.attributes)


@recipe("BatchMatMulV3", "Ta")
def mixed_batch_product(draw: Draw, dtype: np.dtype[Any]) -> Node:
    node = batch_product(draw, dtype)
    wide = tf.int32 if dtype.itemsize == 1 else tf.as_dtype(dtype)
    return Node(node.operands, {**node.attributes, "Tout": wide})


def invertible(draw: Draw, dtype: np.dtype[Any], batch: list[int], size: int) -> Array:
    noise = draw.array(dtype, [*batch, size, size], special=0.0)
    return (np.clip(noise.real, -1, 1) / 2 + (noise - noise.real) / 4 + size * np.eye(size)).astype(dtype)


@recipe("MatrixDeterminant LogMatrixDeterminant")
def determinant(draw: Draw, dtype: np.dtype[Any]) -> Node:
    return Node({"input": invertible(draw, dtype, draw.filled(0, 2), draw.integer(1, 4))})


@recipe("MatrixInverse")
def matrix_inverse(draw: Draw, dtype: np.dtype[Any]) -> Node:
    return Node({"input": invertible(draw, dtype, draw.filled(0, 2), draw.integer(1, 4))}, {"adjoint": draw.chance(0.5)})


@recipe("MatrixSolve")
def solution(draw: Draw, dtype: np.dtype[Any]) -> Node:
    batch, size = draw.filled(0, 2), draw.integer(1, 4)
    right = draw.array(dtype, [*batch, size, draw.integer(1, 3)], special=0.0)
    return Node({"matrix": invertible(draw, dtype, batch, size), "rhs": right}, {"adjoint": draw.chance(0.5)})


EQUATIONS = (
    "ij,jk->ik", "ij,jk->ki", "bij,bjk->bik", "bij,bkj->bik", "ij->ji", "ij->i", "ij->", "ij,ij->ij", "ij,ij->", "i,j->ij", "ij,j->i",
    "bhqd,bhkd->bhqk", "bqhd,bkhd->bhqk", "bhqk,bkhd->bqhd", "...ij,...jk->...ik", "b...,b...->b...", "...i->...",
    "ii->i", "ii->", "ij,kj->ik", "bij,jk->bik", "bij,jhk->bihk", "bihk,hkj->bij",
)  # fmt: skip


@recipe("Einsum")
def sum_of_products(draw: Draw, dtype: np.dtype[Any]) -> Node:
    equation = draw.one_of(EQUATIONS)
    sizes = {letter: draw.integer(1, 4) for letter in "bdhijkq"}
    dots = draw.filled(0, 2)
    shapes = [
        [size for part in term.replace("...", ".") for size in (dots if part == "." else [sizes[part]])]
        for term in equation.split("->")[0].split(",")
    ]
    return Node({"inputs": [draw.array(dtype, shape, special=0.0) for shape in shapes]}, {"equation": equation})


@recipe("Diag")
def square_of_diagonal(draw: Draw, dtype: np.dtype[Any]) -> Node:
    return Node({"diagonal": draw.array(dtype, draw.filled(1, 2))})


@recipe("DiagPart")
def diagonal_of_square(draw: Draw, dtype: np.dtype[Any]) -> Node:
    half = draw.filled(1, 2)
    return Node({"input": draw.array(dtype, [*half, *half])})


def diagonals(draw: Draw, rows: int, columns: int) -> tuple[list[int], list[int]]:
    """The first and last of some diagonals (one alone as a list of one), and their number and longest length."""
    low = draw.integer(1 - rows, columns - 1)
    high = low if draw.chance(0.4) else draw.integer(low, columns - 1)
    longest = min(rows + min(high, 0), columns - max(low, 0))
    return ([low] if low == high else [low, high]), ([longest] if low == high else [high - low + 1, longest])


def alignment(draw: Draw, kind_has_one: bool) -> dict[str, str]:
    """The side to which shorter diagonals are moved."""
    return {"align": draw.one_of(("RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT", "RIGHT_RIGHT"))} if kind_has_one else {}


def band_parts(draw: Draw, dtype: np.dtype[Any], aligned: bool) -> Node:
    data = draw.array(dtype, draw.filled(2, 4))
    which, _ = diagonals(draw, *data.shape[-2:])
    operands = {"input": data, "k": np.array(which, np.int32), "padding_value": draw.array(dtype, [], special=0.0)}
    return Node(operands, alignment(draw, aligned), ("k", "padding_value"))


def band_matrix(draw: Draw, dtype: np.dtype[Any], aligned: bool) -> Node:
    rows, columns = draw.integers(2, 1, 5)
    which, shape = diagonals(draw, rows, columns)
    said = draw.chance(0.7) or len(which) > 1
    sizes = {"num_rows": np.array(rows if said else -1, np.int32), "num_cols": np.array(columns if said else -1, np.int32)}
    operands = {"diagonal": draw.array(dtype, [*draw.filled(0, 2), *shape]), "k": np.array(which, np.int32), **sizes}
    operands["padding_value"] = draw.array(dtype, [], special=0.0)
    return Node(operands, alignment(draw, aligned), ("k", "num_rows", "num_cols", "padding_value"))


def band_set(draw: Draw, dtype: np.dtype[Any], aligned: bool) -> Node:
    data = draw.array(dtype, draw.filled(2, 4))
    which, shape = diagonals(draw, *data.shape[-2:])
    operands = {"input": data, "diagonal": draw.array(dtype, [*data.shape[:-2], *shape]), "k": np.array(which, np.int32)}
    return Node(operands, alignment(draw, aligned), ("k",))


for name, function in (("MatrixDiagPart", band_parts), ("MatrixDiag", band_matrix), ("MatrixSetDiag", band_set)):
    recipe(f"{name}V2")(partial(function, aligned=False))
    recipe(f"{name}V3")(partial(function, aligned=True))
