"""Matrices of TensorFlow, drawn."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.fuzz.draw import Draw
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
