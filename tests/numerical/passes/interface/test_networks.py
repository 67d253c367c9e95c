"""Networks whose inputs are preprocessed: the IR computes from the raw data what the framework computed from its input.

The raw data is made of the samples of the networks by numpy: what preprocessing undoes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import openvino
import pytest

import moir
from tests.numerical.onnx.test_networks import NETWORKS, TOLERANCE, samples
from tests.numerical.runtime import IN_FLOATS, Array, core

MEANS = (12.5, 103.94, 0.25, 64.0)
SCALES = (58.4, 57.12, 0.5, 3.0)


def raw(data: Array, layout: str, mean: tuple[float, ...], scale: tuple[float, ...], reverses: bool, target: str) -> Array:
    """What gives `data` when it is brought to the layout, reversed, reduced by the mean and divided."""
    axis = layout.index("c")
    shape = [-1 if letter == "c" else 1 for letter in layout]
    result = data.astype(np.float64)
    result = result * np.array(scale or 1.0).reshape(shape) + np.array(mean or 0.0).reshape(shape)
    result = np.flip(result, axis) if reverses else result
    return np.ascontiguousarray(result.transpose([layout.index(letter) for letter in target]).astype(data.dtype))


def check(name: str, *, mean: int = 0, scale: int = 0, reverses: bool = False, target: str = "nchw", **options: Any) -> openvino.Model:
    """Convert a network with so many means and scales, and compare its outputs for all of its samples."""
    means, scales = MEANS[:mean], SCALES[:scale]
    module = moir.convert_model(
        NETWORKS / f"{name}.onnx",
        mean_values=means,
        scale_values=scales,
        reverse_input_channels=reverses,
        layout=f"nchw->{target}",
        **options,
    )
    module.verify()
    model = moir.to_openvino(module)
    compiled = core().compile_model(model, "CPU")
    assert model.input().get_node().layout == openvino.Layout(target)
    for inputs, outputs in samples(name):
        results = compiled(raw(inputs["image"], "nchw", means, scales, reverses, target))
        for index, expected in enumerate(outputs.values()):
            assert results[index].shape == expected.shape
            assert np.max(np.abs(results[index] - expected)) <= TOLERANCE * np.max(np.abs(expected))
    return model


def kinds(model: openvino.Model) -> list[str]:
    """The kinds of the operations between the input and the first convolution."""
    results = [op.get_type_name() for op in model.get_ordered_ops()]
    return [kind for kind in results[: results.index("Convolution")] if kind not in ("Constant", "Parameter", "Convert")]


@pytest.mark.parametrize("target", ["nchw", "nhwc", "cwhn"])
@pytest.mark.parametrize(("mean", "scale", "reverses"), [(3, 3, True), (1, 0, True), (0, 3, False), (3, 1, False), (0, 0, True)])
def test_combinations(mean: int, scale: int, reverses: bool, target: str) -> None:
    model = check("mobilenet", mean=mean, scale=scale, reverses=reverses, target=target)
    # The first convolution is padded, so that means stay before it; all else is in its filters.
    assert kinds(model) == [*(["Transpose"] if target != "nchw" else []), *(["Subtract"] if mean else [])]


@pytest.mark.parametrize("target", ["nchw", "nhwc"])
@pytest.mark.parametrize(("name", "channels"), [("unet", 1), ("super_resolution", 1), ("dilated", 2), ("shuffle_net", 3), ("resnet", 3)])
def test_channels_and_dynamic_shapes(name: str, channels: int, target: str) -> None:
    check(name, mean=channels, scale=channels, reverses=channels == 3, target=target)


def test_a_convolution_without_padding_takes_the_means() -> None:
    model = check("vision_transformer", mean=3, scale=3, reverses=True)
    assert kinds(model) == []


def test_a_quantized_network_keeps_its_preprocessing() -> None:
    """The step of the quantization is that of the preprocessed data."""
    name = "quantized"
    module = moir.convert_model(NETWORKS / f"{name}.onnx", mean_values=MEANS[:3], scale_values=SCALES[:3], reverse_input_channels=True)
    model = moir.to_openvino(module)
    # In floats: what is tested are the numbers that reach the quantized layers.
    compiled = core().compile_model(model, "CPU", dict(IN_FLOATS))
    for inputs, outputs in samples(name):
        results = compiled(raw(inputs["image"], "nchw", MEANS[:3], SCALES[:3], True, "nchw"))
        for index, expected in enumerate(outputs.values()):
            assert np.max(np.abs(results[index] - expected)) <= 2e-2 * np.max(np.abs(expected))


def test_without_the_layout_change_transpositions_stay() -> None:
    model = check("mobilenet", mean=3, scale=3, reverses=True, target="nhwc", layout_change="none")
    assert kinds(model)[:1] == ["Transpose"]


def test_an_output_in_another_layout() -> None:
    module = moir.convert_model(NETWORKS / "unet.onnx", layout="image(nchw->nhwc),output(nchw->nhwc)")
    model = moir.to_openvino(module)
    compiled = core().compile_model(model, "CPU")
    assert model.output().get_node().layout == openvino.Layout("nhwc")
    assert "output" in model.output().names
    for inputs, outputs in samples("unet"):
        result = compiled(np.ascontiguousarray(inputs["image"].transpose(0, 2, 3, 1)))["output"]
        expected = outputs["output"].transpose(0, 2, 3, 1)
        assert np.max(np.abs(result - expected)) <= TOLERANCE * np.max(np.abs(expected))


def test_fused_dimensions_of_input_and_output() -> None:
    module = moir.convert_model(NETWORKS / "resnet.onnx", layout="image(nchw->[n,c*h,w])", mean_values=MEANS[:3])
    model = moir.to_openvino(module)
    compiled = core().compile_model(model, "CPU")
    assert list(model.input().shape) == [2, 120, 48]
    for inputs, outputs in samples("resnet"):
        data = raw(inputs["image"], "nchw", MEANS[:3], (), False, "nchw")
        result = compiled(data.reshape(2, 120, 48))["output"]
        assert np.max(np.abs(result - outputs["output"])) <= TOLERANCE * np.max(np.abs(outputs["output"]))
