"""The memory of a conversion does not grow with the weights, whatever is computed from them."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import moir

COUNT = 4


def write_model(path: Path, kind: str, width: int) -> None:
    """A chain of linear operations whose weights of [width, width] the passes scale, convert or transpose."""
    random = np.random.default_rng(0)
    nodes: list[onnx.NodeProto] = []
    weights: list[onnx.TensorProto] = []

    def vector() -> np.ndarray:
        return random.uniform(0.5, 1.5, width).astype(np.float32)

    def apply(operation: str, *operands: str | np.ndarray, **attributes: object) -> str:
        names: list[str] = []
        for operand in operands:
            if isinstance(operand, np.ndarray):
                weights.append(numpy_helper.from_array(operand, f"w{len(weights)}"))
                operand = weights[-1].name
            names.append(operand)
        nodes.append(helper.make_node(operation, names, [f"v{len(nodes)}"], name=f"node{len(nodes)}", **attributes))
        return nodes[-1].output[0]

    value = "x"
    for _ in range(COUNT):
        matrix = random.standard_normal((width, width)).astype(np.float32)
        match kind:
            case "scale":
                value = apply("Add", apply("Mul", apply("MatMul", value, matrix), vector()), vector())
            case "alpha":
                value = apply("Gemm", value, matrix, vector(), transB=1, alpha=0.5)
            case "transpose":
                value = apply("MatMul", apply("Mul", value, vector()), apply("Transpose", matrix, perm=[1, 0]))
            case "half":
                value = apply("MatMul", value, apply("Cast", matrix.astype(np.float16), to=TensorProto.FLOAT))
            case _:
                value = apply("Conv", value, matrix.reshape(width, width, 1, 1))
                value = apply("BatchNormalization", value, vector(), vector(), vector(), vector())
        value = apply("Relu", value)
    shape = ["n", width, 3, 3] if kind == "normalization" else ["n", width]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)
    graph = helper.make_graph(nodes, "weights", [x], [helper.make_empty_tensor_value_info(value)], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


COMPRESSIONS: dict[str, tuple[dict[str, object], float]] = {
    "none": ({}, 4),
    "fp16": ({"compress_to_fp16": True}, 2),
    "int8": ({"compress_weights": "int8"}, 1),
    "int4": ({"compress_weights": "int4_sym:128:1"}, 0.5),
}
"""Options of a conversion, and the bytes that a weight has then."""


def convert(source: Path, compression: str) -> None:
    moir.save_model(moir.convert_model(source, **COMPRESSIONS[compression][0]), source.with_suffix(".xml"))


@pytest.mark.parametrize(
    ("kind", "compress"),
    [
        *((kind, each) for kind in ("scale", "alpha", "transpose", "half", "normalization") for each in ("none", "fp16")),
        *((kind, each) for kind in ("scale", "transpose", "half") for each in ("int8", "int4")),
    ],
)
def test_computed_weights_do_not_stand_in_memory(tmp_path: Path, kind: str, compress: str) -> None:
    width = 1408
    # What is imported and cached is not counted.
    write_model(tmp_path / "small.onnx", kind, 8)
    convert(tmp_path / "small.onnx", compress)
    source = tmp_path / "large.onnx"
    write_model(source, kind, width)
    tracemalloc.start()
    try:
        convert(source, compress)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert source.with_suffix(".bin").stat().st_size >= COUNT * width * width * COMPRESSIONS[compress][1]
    assert peak < 15e6, f"{peak / 1e6:.1f} MB of a model of {COUNT * width * width * 4 / 1e6:.0f} MB"
