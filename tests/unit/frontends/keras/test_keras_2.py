"""Models of Keras 2 in HDF5 files: functions of TensorFlow as layers, numbers of calls of nested models."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import moir
from moir.errors import ModelFileError

h5py: Any = import_module("h5py")


def layer(kind: str, name: str, nodes: list[Any], **config: Any) -> dict[str, Any]:
    """The entry of a layer."""
    return {
        "class_name": kind,
        "name": name,
        "config": {"name": name, "trainable": True, "dtype": "float32", **config},
        "inbound_nodes": nodes,
    }


def saved(path: Path, layers: list[Any], outputs: list[Any]) -> Path:
    """An HDF5 file of a functional model with an input x, without variables."""
    first = layer("InputLayer", "x", [], batch_input_shape=[None, 4])
    config = {"name": "m", "layers": [first, *layers], "input_layers": [["x", 0, 0]], "output_layers": outputs}
    with h5py.File(path, "w") as file:
        file.attrs["model_config"] = json.dumps({"class_name": "Functional", "config": config})
        file.attrs["keras_version"] = "2.15.0"
        file.create_group("model_weights").attrs["layer_names"] = [b"x"]
    return path


def kinds(path: Path) -> list[str]:
    """The kinds of the operations of a model that is read."""
    return [op.name for op in moir.read_model(path).walk() if op.name.startswith("keras.")]


def test_slices(tmp_path: Path) -> None:
    spec = [{"start": None, "stop": None, "step": None}, {"start": 1, "stop": 3, "step": None}]
    layers = [layer("SlicingOpLambda", "part", [["x", 0, 0, {"slice_spec": spec}]], function="__operators__.getitem")]
    module = moir.convert_model(saved(tmp_path / "m.h5", layers, [["part", 0, 0]]))
    assert "tensor<?x2xf32>" in str(module)


def test_matrices_of_tensorflow(tmp_path: Path) -> None:
    layers = [
        layer("TFOpLambda", "product", [["x", 0, 0, {"b": ["x", 0, 0], "transpose_b": True}]], function="linalg.matmul"),
        layer("TFOpLambda", "share", [["product", 0, 0, {}]], function="nn.softmax"),
    ]
    module = moir.convert_model(saved(tmp_path / "m.h5", layers, [["share", 0, 0]]))
    text = str(module)
    assert "transpose_b = true" in text
    # Axis 1, the last one, is the default of the operation.
    assert "opset8.Softmax(%1) {name" in text


def test_functions_of_tensorflow(tmp_path: Path) -> None:
    layers = [
        layer("TFOpLambda", "double", [["x", 0, 0, {"y": 2.0}]], function="math.multiply"),
        layer("TFOpLambda", "rest", [["_CONSTANT_VALUE", -1, 3.0, {"y": ["double", 0, 0]}]], function="math.subtract"),
        layer("TFOpLambda", "mean", [["rest", 0, 0, {"axis": -1, "keepdims": True}]], function="math.reduce_mean"),
        layer("TFOpLambda", "joined", [[["rest", 0, 0, {"axis": 1}], ["mean", 0, 0, {"axis": 1}]]], function="concat"),
        layer("TFOpLambda", "other", [["joined", 0, 0, {}]], function="math.bessel_i0"),
    ]
    path = saved(tmp_path / "m.h5", layers, [["other", 0, 0]])
    assert kinds(path) == ["keras.ops.Multiply", "keras.ops.Subtract", "keras.ops.Mean", "keras.ops.Concatenate", "keras.TFOpLambda"]
    text = str(moir.read_model(path))
    assert 'arguments = [3.0, "%0"]' in text
    assert "keepdims = true" in text


def test_half_of_a_character_is_refused(tmp_path: Path) -> None:
    path = saved(tmp_path / "m.h5", [layer("Dense\udcff", "y", [["x", 0, 0, {}]])], [["y", 0, 0]])
    with pytest.raises(ModelFileError, match="half of a surrogate pair"):
        moir.convert_model(path)
