"""Nodes that random testing found to be wrong: convolutions."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.numerical.onnx.conversion import check, node
from tests.numerical.onnx.node_case import COMPLETE, DYNAMIC, EVALUATED, STATIC, WITH_RANK, NodeCase, normal_numbers

real = normal_numbers(np.random.default_rng(5))

KERNELS: dict[str, Any] = {
    f"{kind} with filters of unknown sizes, {name}": NodeCase(
        kind, {"x": x, "w": w, "b": real(4)}, attributes=attributes, options=WITH_RANK | {"opset": 11, "atol": 1e-4}
    )
    for kind, name, x, w, attributes in (
        ("Conv", "strided", real(2, 3, 7, 6), real(4, 3, 3, 2), {"strides": [2, 1], "pads": [1, 0, 2, 1]}),
        ("Conv", "in groups", real(2, 4, 7), real(4, 2, 3), {"group": 2, "dilations": [2]}),
        ("Conv", "same", real(1, 3, 5, 6, 4), real(4, 3, 2, 3, 1), {"auto_pad": "SAME_LOWER", "strides": [2, 2, 1]}),
        ("ConvTranspose", "strided", real(2, 3, 4, 5), real(3, 4, 3, 2), {"strides": [2, 3], "pads": [1, 0, 0, 1]}),
        ("ConvTranspose", "in groups", real(1, 4, 5), real(4, 2, 3), {"group": 2, "dilations": [2], "strides": [2], "output_padding": [1]}),
    )
}

CASES: dict[str, NodeCase] = {
    **KERNELS,
    **{
        f"ConvTranspose with filters of unknown sizes, {name}": NodeCase(
            "ConvTranspose",
            {"x": real(2, 4, *sizes), "w": real(4, 3, 3, 2)},
            {"b": real(6)},
            attributes={"group": 2, "strides": [2, 3], "kernel_shape": [3, 2]} | given,
            options=DYNAMIC | {"opset": 11, "atol": 1e-4},
        )
        for name, sizes, given in (
            ("to a shape", (4, 5), {"output_shape": [7, 14]}),
            ("to a larger shape", (2, 2), {"output_shape": [6, 5], "auto_pad": "SAME_UPPER"}),
            ("padded automatically", (4, 3), {"auto_pad": "SAME_LOWER", "strides": [1, 2]}),
        )
    },
    "ConvTranspose to fewer columns than the kernel has": NodeCase(
        "ConvTranspose",
        {"x": real(1, 3, 4, 1)},
        {"w": real(3, 1, 1, 3), "b": real(1)},
        attributes={"output_shape": [8, 2], "strides": [2, 2], "kernel_shape": [1, 3]},
        options=DYNAMIC,
    ),
    "ConvTranspose of bf16 with gaps": NodeCase(
        "ConvTranspose",
        {"w": real(2, 2, 2, 1).astype(ml_dtypes.bfloat16)},
        {"x": real(1, 2, 4, 5).astype(ml_dtypes.bfloat16), "b": real(2).astype(ml_dtypes.bfloat16)},
        operands="x w b",
        attributes={"strides": [1, 3]},
        options=STATIC | EVALUATED | {"opset": 22, "rtol": 0.01, "atol": 0.02},
    ),
    "ConvTranspose with filters of unknown sizes": NodeCase(
        "ConvTranspose", {"x": real(2, 2, 3, 4), "w": real(2, 3, 2, 2)}, attributes={"kernel_shape": [2, 2]}, options=COMPLETE | DYNAMIC
    ),
    "ConvTranspose in groups with filters of unknown sizes": NodeCase(
        "ConvTranspose",
        {"x": real(2, 4, 3, 4), "w": real(4, 3, 2, 2)},
        attributes={"kernel_shape": [2, 2], "group": 2},
        options=COMPLETE | DYNAMIC,
    ),
    **{
        f"Conv of {name} of one channel to one column": NodeCase(
            "Conv", {"x": real(3, 1, *sizes)}, {"w": real(4, 1, *kernel)}, attributes={"strides": strides}, options=COMPLETE | STATIC
        )
        for name, sizes, kernel, strides in (
            ("images", (10, 6), (2, 5), [1, 2]),
            ("images of the kernel's width", (10, 5), (2, 5), [1, 3]),
            ("volumes", (7, 4, 4), (2, 3, 3), [1, 1, 2]),
        )
    },
    "Conv of volumes in bf16 to one column": NodeCase(
        "Conv",
        {"x": real(2, 3, 4, 4, 2).astype(ml_dtypes.bfloat16)},
        {"w": real(3, 3, 2, 2, 2).astype(ml_dtypes.bfloat16)},
        attributes={"strides": [1, 1, 2]},
        options=COMPLETE | STATIC | EVALUATED | {"opset": 22},
    ),
    "Conv of volumes in bf16 in groups to one column": NodeCase(
        "Conv",
        {"x": real(2, 4, 4, 4, 2).astype(ml_dtypes.bfloat16)},
        {"w": real(6, 2, 2, 2, 2).astype(ml_dtypes.bfloat16)},
        attributes={"strides": [1, 1, 2], "group": 2},
        options=COMPLETE | STATIC | EVALUATED | {"opset": 22},
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_case(case: NodeCase) -> None:
    case.check()


@pytest.mark.parametrize(("has_state", "activation"), [(True, "silu"), (False, "none")])
def test_causal_convolution(has_state: bool, activation: str) -> None:
    inputs = {"x": real(2, 3, 5), "w": real(3, 1, 4), "b": real(3)} | ({"past": real(2, 3, 3)} if has_state else {})
    nodes = [node("CausalConvWithState", list(inputs), ["y", "present"], activation=activation)]
    check(nodes, inputs, opset=27, reference="onnx", forms=["static", "dynamic"])
    constants = {name: inputs.pop(name) for name in ("w", "b")}
    check(nodes, inputs, constants=constants, opset=27, reference="onnx", forms=["static", "dynamic"])
