"""Networks whose inputs have symbolic sizes stay reshapable: `model.reshape` of the runtime gives them any other size.

What a network computes from the shapes of its inputs must not have become a constant while it was converted. ONNX
Runtime computes the same network for the new sizes.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import openvino
import pytest

import moir
from tests.numerical.onnx.test_networks import NETWORKS, TOLERANCE, samples
from tests.numerical.runtime import Array, core

SIZES: dict[str, dict[str, int]] = {
    "bert": {"batch": 3, "length": 11},
    "gpt": {"batch": 3, "length": 4, "past": 5},
    "iterated": {"batch": 5},
    "llama": {"batch": 3, "length": 9},
    "lstm": {"batch": 4, "length": 9},
    "mobilenet": {"batch": 3},
    "shuffle_net": {"batch": 3, "height": 48, "width": 80},
    "super_resolution": {"batch": 2, "height": 7, "width": 13},
    "t5": {"batch": 3, "length": 9},
    "torch_encoder": {"batch": 5},
    "unet": {"batch": 3, "height": 24, "width": 40},
}
"""What becomes of the symbolic sizes of each network that has any."""


def symbols(value: onnx.ValueInfoProto) -> list[str | int]:
    """The sizes of an input, symbols for those that the model leaves open."""
    return [each.dim_param or each.dim_value for each in value.type.tensor_type.shape.dim]


def inputs_of(name: str) -> dict[str, Array]:
    """The inputs of the fixture, repeated or cut to the other sizes."""
    graph = onnx.load(NETWORKS / f"{name}.onnx").graph
    given, _ = samples(name)[0]
    sizes = SIZES[name]
    return {
        value.name: np.resize(given[value.name], [sizes[each] if isinstance(each, str) else each for each in symbols(value)])
        for value in graph.input
        if value.name in given
    }


def test_every_network_with_symbolic_sizes_is_reshaped() -> None:
    named = {
        path.stem
        for path in NETWORKS.glob("*.onnx")
        if any(isinstance(size, str) for value in onnx.load(path).graph.input for size in symbols(value))
    }
    assert named == set(SIZES)


@pytest.mark.parametrize("name", SIZES)
def test_a_reshaped_network_computes_the_same(name: str, tmp_path: Path) -> None:
    path, inputs = NETWORKS / f"{name}.onnx", inputs_of(name)
    moir.save_model(moir.convert_model(path), tmp_path / "network.xml")
    model = core().read_model(tmp_path / "network.xml")
    model.reshape({port.any_name: openvino.PartialShape(list(inputs[port.any_name].shape)) for port in model.inputs})
    assert all(port.partial_shape.is_static for port in model.inputs)
    compiled = core().compile_model(model, "CPU")
    results = compiled({port.any_name: inputs[port.any_name] for port in model.inputs})
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    expected = session.run(None, {each.name: inputs[each.name] for each in session.get_inputs()})
    for port, wanted in zip(session.get_outputs(), expected, strict=True):
        actual = results[port.name]
        assert actual.shape == wanted.shape
        assert np.max(np.abs(actual - wanted)) <= TOLERANCE * np.max(np.abs(wanted)), port.name
