"""Caffe networks for tests: their two files, their conversion, and their results in OpenCV's dnn module."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import openvino

import moir
from moir.frontends.caffe.messages import MESSAGES
from tests.numerical.runtime import Array, core

Weights = Mapping[str, Sequence[Array]]


def caffemodel(weights: Weights, name: str = "net", *, is_old: bool = False, double: bool = False) -> bytes:
    """The bytes of a `.caffemodel` with the weights of layers; old ones have blobs of four dimensions."""
    model = MESSAGES.message_class("NetParameter")(name=name.encode())
    for layer, arrays in weights.items():
        added: Any = model.layers.add(name=layer.encode()) if is_old else model.layer.add(name=layer.encode(), type=b"Any")
        for array in arrays:
            blob = added.blobs.add()
            if is_old:
                shape = (1,) * (4 - array.ndim) + array.shape
                blob.num, blob.channels, blob.height, blob.width = shape
            else:
                blob.shape.dim.extend(array.shape)
            if double:
                blob.double_data.extend(array.reshape(-1).tolist())
            else:
                blob.data.extend(array.reshape(-1).tolist())
    return model.SerializeToString()


def write(folder: Path, text: str, weights: Weights, **options: Any) -> Path:
    """Write a network; returns the path of the `.caffemodel`."""
    path = folder / "net.caffemodel"
    path.write_bytes(caffemodel(weights, **options))
    path.with_suffix(".prototxt").write_text(text)
    return path


def input_layer(**shapes: Sequence[int]) -> str:
    """Input layers as text."""
    return "".join(
        f'layer {{ name: "{name}" type: "Input" top: "{name}" input_param {{ shape {{ {" ".join(f"dim: {d}" for d in shape)} }} }} }}\n'
        for name, shape in shapes.items()
    )


def layer(type_: str, parameters: str = "", bottoms: Sequence[str] = ("x",), tops: Sequence[str] = ("y",), name: str = "layer") -> str:
    """A layer as text."""
    ends = " ".join([*(f'bottom: "{each}"' for each in bottoms), *(f'top: "{each}"' for each in tops)])
    return f'layer {{ name: "{name}" type: "{type_}" {ends} {parameters} }}\n'


def converted(path: Path, **options: Any) -> openvino.Model:
    """The model that moir makes of a file, as the runtime sees it."""
    return moir.to_openvino(moir.convert_model(path, **options))


def results(model: openvino.Model, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """The results of a model in the runtime, by the names of its outputs."""
    compiled = core().compile_model(model, "CPU")
    outputs = compiled(dict(inputs))
    return {name: np.array(outputs[output]) for output in compiled.outputs for name in output.names}


def opencv_result(path: Path, inputs: Mapping[str, Array]) -> Array:
    """The result of a network with one output in OpenCV."""
    import cv2

    net = cv2.dnn.readNetFromCaffe(str(path.with_suffix(".prototxt")), str(path))
    net.setPreferableBackend(cv2.dnn.DNN_BACKEND_OPENCV)
    for name, value in inputs.items():
        net.setInput(value, name)
    return np.asarray(net.forward())


def random_inputs(seed: int = 0, **shapes: Sequence[int]) -> dict[str, Array]:
    """Random inputs in f32 of given shapes, from -1 to 1."""
    generator = np.random.default_rng(seed)
    return {name: generator.uniform(-1, 1, shape).astype(np.float32) for name, shape in shapes.items()}
