"""`moir compare` and `moir.compare`: a model and its IR on samples of data."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from PIL import Image

import moir
from moir.errors import ConversionError, ExecutionError, UsageError
from moir.tools.agreement.statistics import AgreementOfTensor
from moir.tools.convert import main

RNG = np.random.default_rng(3)
WEIGHTS = RNG.normal(size=(4, 8)).astype(np.float32)
CONVOLUTION = RNG.normal(size=(4, 3, 3, 3)).astype(np.float32)


def save(path: str, nodes: list[onnx.NodeProto], shape: list[Any], weights: Mapping[str, Any]) -> None:
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)]
    initializers = [numpy_helper.from_array(array, name) for name, array in weights.items()]
    graph = helper.make_graph(nodes, "g", inputs, outputs, initializers)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


@pytest.fixture(autouse=True)
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model of rows and one of images; the IR of another model whose weights are a hundredth larger."""
    monkeypatch.chdir(tmp_path)
    nodes = [helper.make_node("MatMul", ["x", "w"], ["h"]), helper.make_node("Relu", ["h"], ["y"])]
    save("m.onnx", nodes, ["n", 4], {"w": WEIGHTS})
    save("larger.onnx", nodes, ["n", 4], {"w": WEIGHTS * np.float32(1.01)})
    save("images.onnx", [helper.make_node("Conv", ["x", "w"], ["y"])], [1, 3, 6, 8], {"w": CONVOLUTION})
    for name in ("m", "larger", "images"):
        moir.save_model(moir.convert_model(f"{name}.onnx"), f"{name}.xml")
    np.savez("samples.npz", x=RNG.normal(size=(5, 4)).astype(np.float32))


def test_an_ir_agrees_with_its_model(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "m.onnx", "m.xml", "--data", "samples.npz", "--tolerance", "1e-5"]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[0].startswith("outputs on 5 samples: OpenVINO Runtime")
    assert printed[2].split()[:2] == ["y", "f32[1,8]"]


def test_floats_of_another_width_are_rounded() -> None:
    np.savez("wide.npz", x=np.load("samples.npz")["x"].astype(np.float64))
    (wide,), (narrow,) = (moir.compare("m.onnx", "larger.xml", name).outputs for name in ("wide.npz", "samples.npz"))
    assert wide.relative == narrow.relative


def test_an_ir_that_differs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "m.onnx", "larger.xml", "--data", "samples.npz", "--tolerance", "0.001", "--json", "--tensors"]) == 1
    result = json.loads(capsys.readouterr().out)
    (output,) = result["outputs"]
    assert output["relative"] == pytest.approx(0.01, rel=1e-3)
    assert output["samples"] == result["samples"] == 5
    assert output["same_largest"] == 1.0
    (inner,) = result["tensors"]
    assert (inner["name"], inner["operation"]) == ("h", "opset1.MatMul")


def test_the_agreement_in_python() -> None:
    samples = [{"x": RNG.normal(size=(2, 4)).astype(np.float32)} for _ in range(3)]
    agreement = moir.compare("m.onnx", "larger.xml", samples, definitions=True)
    assert agreement.samples == 3
    assert agreement.relative == pytest.approx(0.01, rel=1e-3)
    assert agreement.reference == "moir's definitions of the operations"
    assert moir.compare("m.onnx", "m.xml", "samples.npz", samples=2).samples == 2


@pytest.mark.parametrize("kind", ["npy", "npz"])
def test_a_folder_of_arrays(kind: str) -> None:
    Path("data").mkdir()
    for index in range(3):
        array = RNG.normal(size=(index + 1, 4)).astype(np.float32)
        np.save(f"data/{index}.npy", array) if kind == "npy" else np.savez(f"data/{index}.npz", x=array)
    agreement = moir.compare("m.onnx", "m.xml", "data")
    assert (agreement.samples, agreement.outputs[0].type) == (3, "f32[3,8]")


def test_a_folder_of_images() -> None:
    Path("photos").mkdir()
    for index in range(2):
        Image.fromarray(RNG.integers(0, 256, (12, 10, 3), dtype=np.uint8)).save(f"photos/{index}.png")
    Image.fromarray(RNG.integers(0, 256, (6, 8), dtype=np.uint8)).save("photos/gray.png")
    agreement = moir.compare("images.onnx", "images.xml", "photos", image_mean=[120.0, 110.0, 100.0], image_scale=50.0)
    assert agreement.samples == 3
    assert agreement.relative < 1e-5


def test_an_image_becomes_an_input() -> None:
    from moir.tools.agreement.images import Preparation, read_image

    pixels = RNG.integers(0, 256, (6, 8, 3), dtype=np.uint8)
    Image.fromarray(pixels).save("image.png")
    array = read_image(Path("image.png"), (1, 3, 6, 8), np.dtype(np.float32), Preparation((1.0, 2.0, 3.0), (2.0,)))
    np.testing.assert_allclose(array, ((pixels - np.array([1.0, 2.0, 3.0])) / 2)[None].transpose(0, 3, 1, 2), rtol=1e-6)
    assert read_image(Path("image.png"), (-1, -1, -1, 1), np.dtype(np.uint8), Preparation()).shape == (1, 6, 8, 1)


def test_images_and_numbers_that_do_not_fit() -> None:
    Path("photos").mkdir()
    Image.fromarray(RNG.integers(0, 256, (6, 8, 3), dtype=np.uint8)).save("photos/a.png")
    with pytest.raises(UsageError, match="there are 2 means or scales for images with 3 channels"):
        moir.compare("images.onnx", "images.xml", "photos", image_mean=[1.0, 2.0])
    with pytest.raises(UsageError, match="divided by a scale of 0"):
        moir.compare("images.onnx", "images.xml", "photos", image_scale=0.0)
    Path("photos/a.png").write_bytes(b"no image")
    with pytest.raises(ConversionError, match=r"a\.png: the image cannot be read"):
        moir.compare("images.onnx", "images.xml", "photos")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"x": np.zeros((5, 3, 4, 1), np.float32)}, "the array for x: f32.* has 4 dimensions"),
        ({"x": np.zeros((5, 4), np.int64)}, r"the array for the input x: f32.* is of int64 in wrong\.npz\[0\]"),
        ({"z": np.zeros((5, 4), np.float32), "w": np.zeros(1, np.float32)}, "there is no array for the input 'x'"),
    ],
)
def test_data_that_do_not_fit(data: dict[str, Any], message: str) -> None:
    np.savez("wrong.npz", **data)
    with pytest.raises(UsageError, match=message):
        moir.compare("m.onnx", "m.xml", "wrong.npz")


def test_no_samples() -> None:
    Path("empty").mkdir()
    with pytest.raises(UsageError, match="there are no samples in the folder empty; it needs files of"):
        moir.compare("m.onnx", "m.xml", "empty")
    with pytest.raises(UsageError, match="there is no file or folder absent"):
        moir.compare("m.onnx", "m.xml", "absent")
    with pytest.raises(UsageError, match="there are no samples"):
        moir.compare("m.onnx", "m.xml", [])


def test_outputs_of_other_shapes() -> None:
    save("wide.onnx", [helper.make_node("Concat", ["x", "x"], ["y"], axis=1)], ["n", 4], {})
    save("narrow.onnx", [helper.make_node("Relu", ["x"], ["y"])], ["n", 4], {})
    with pytest.raises(ExecutionError, match=r"samples.npz\[0\]: output 'y': the shape is \[1, 8\], not \[1, 4\]"):
        moir.compare("narrow.onnx", "wide.onnx", "samples.npz")


def test_the_sums_of_a_tensor() -> None:
    tensor = AgreementOfTensor("y")
    tensor.add(np.array([[1.0, 2.0], [3.0, 4.5]]), np.array([[1.0, 2.0], [3.0, 4.0]]))
    tensor.add(np.array([[2.0, 1.0]]), np.array([[1.0, 2.0]]))
    result = tensor.result()
    assert result.largest == 1.0
    assert result.relative == pytest.approx(np.sqrt((0.25 + 1 + 1) / (1 + 4 + 9 + 16 + 1 + 4)))
    assert result.same_largest == pytest.approx(2 / 3)
    assert (result.samples, result.differing) == (2, None)


@pytest.mark.parametrize(
    ("actual", "expected", "differing", "largest"),
    [
        (np.array([1, 2, 3]), np.array([1, 2, 5]), 1 / 3, 2.0),
        (np.array(["a", "b"], object), np.array([b"a", b"c"], object), 0.5, None),
        (np.array([np.inf, np.nan, 1.0]), np.array([np.inf, np.nan, 1.0]), None, 0.0),
        (np.array([np.nan]), np.array([1.0]), None, np.inf),
    ],
)
def test_elements_that_are_no_ordinary_numbers(actual: Any, expected: Any, differing: float | None, largest: float | None) -> None:
    tensor = AgreementOfTensor("y")
    tensor.add(actual, expected)
    assert (tensor.result().differing, tensor.result().largest) == (differing, largest)


def test_axes_in_another_order() -> None:
    expected = RNG.normal(size=(1, 3, 4, 4))
    tensor = AgreementOfTensor("y")
    tensor.add(expected.transpose(0, 2, 3, 1), expected)
    assert tensor.result().largest == 0.0
    with pytest.raises(ValueError, match="the shape is"):
        tensor.add(np.zeros((2, 2)), np.zeros((4,)))
