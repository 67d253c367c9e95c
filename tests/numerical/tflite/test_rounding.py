"""Sums of quantized convolutions and products are rounded as the interpreter's kernels round them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import moir
from tests.numerical.runtime import IN_FLOATS, core
from tests.numerical.tflite.files import Operator, Tensor, file_of

tf: Any = pytest.importorskip("tensorflow")

CHANNELS = 1200
FACTORS = (0.37, 0.2, 0.11, 0.03)
"""Scales of products in integers of the result: with the largest the kernels' first rounding matters most."""

STEPS = {"StrideW": 1, "StrideH": 1, "Padding": 1}
DILATIONS = {"DilationWFactor": 1, "DilationHFactor": 1}
KINDS: dict[str, tuple[str, dict[str, int], tuple[int, ...], int]] = {
    "CONV_2D": ("Conv2DOptions", STEPS | DILATIONS, (CHANNELS, 1, 1, 1), 0),
    "DEPTHWISE_CONV_2D": ("DepthwiseConv2DOptions", STEPS | DILATIONS | {"DepthMultiplier": CHANNELS}, (1, 1, 1, CHANNELS), 3),
    "TRANSPOSE_CONV": ("TransposeConvOptions", STEPS, (CHANNELS, 1, 1, 1), 0),
    "FULLY_CONNECTED": ("FullyConnectedOptions", {}, (CHANNELS, 1), 0),
}
"""Kind -> the table of options, its fields, the shape of the weights and their dimension of channels."""


def product(kind: str, factor: float) -> bytes:
    """A model of one operator whose result has every sum in some range, by its biases."""
    options, fields, shape, axis = KINDS[kind]
    step, sizes = max(1, int(60 / factor / CHANNELS)), [0.25] * (CHANNELS if kind != "FULLY_CONNECTED" else 1)
    biases = (np.arange(CHANNELS) - CHANNELS // 2).astype(np.int32) * step
    x = np.zeros((1, 1) if kind == "FULLY_CONNECTED" else (1, 1, 1, 1), np.int8)
    tensors = [
        Tensor("shape", np.array([1, 1, 1, CHANNELS], np.int32), is_constant=True),
        Tensor("x", x, scale=[0.5], zero=[3]),
        Tensor("w", np.full(shape, 7, np.int8), is_constant=True, scale=sizes, axis=axis),
        Tensor("b", biases, is_constant=True, scale=[0.5 * each for each in sizes]),
        Tensor("y", np.zeros((*x.shape[:-1], CHANNELS), np.int8), scale=[0.5 * 0.25 / factor], zero=[5]),
    ]
    operands = ["shape", "w", "x", "b"] if kind == "TRANSPOSE_CONV" else ["x", "w", "b"]
    return file_of(tensors, [Operator(kind, operands, ["y"], options, fields)], ["x"], ["y"])


@pytest.mark.parametrize("kind", KINDS)
def test_sums_are_rounded_as_the_kernels_round_them(tmp_path: Path, kind: str) -> None:
    for factor in FACTORS:
        path = tmp_path / f"{factor}.tflite"
        path.write_bytes(product(kind, factor))
        moir.save_model(moir.convert_model(path), tmp_path / "m.xml")
        request = core().compile_model(tmp_path / "m.xml", "CPU", dict(IN_FLOATS)).create_infer_request()
        interpreter = interpreter_of(path.read_bytes())
        for value in (-9, 4, 60):
            x = np.full((1, 1) if kind == "FULLY_CONNECTED" else (1, 1, 1, 1), value, np.int8)
            expected = interpreter(x)
            assert len(np.unique(expected)) > 30
            found = request.infer([x])[0].astype(np.int32)
            # A sum in the very middle between two integers is not what this is about: f32 does not have it exactly.
            assert np.mean(found != expected) < 0.003


def interpreter_of(model: bytes) -> Any:
    """A function of the input that computes the output of a model."""
    resolver = tf.lite.experimental.OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    interpreter = tf.lite.Interpreter(model_content=model, experimental_op_resolver_type=resolver)
    interpreter.allocate_tensors()

    def compute(x: Any) -> Any:
        interpreter.set_tensor(interpreter.get_input_details()[0]["index"], x)
        interpreter.invoke()
        return interpreter.get_tensor(interpreter.get_output_details()[0]["index"]).astype(np.int32)

    return compute
