"""YOLO networks with Model Optimizer's configurations: outputs of RegionYolo against activations of TensorFlow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from moir.errors import ConversionError
from tests.numerical.detection.conversion import configuration, converted, frozen, layer_types, results_of
from tests.numerical.detection.yolo import ANCHORS, CLASSES, COORDS, yolo_v1, yolo_v2, yolo_v3
from tests.numerical.runtime import Array, run

X = np.random.default_rng(3).random((1, 64, 64, 3), np.float32)
ENTRY = COORDS + 1 + CLASSES
HEADS = ("", "_1")
ATTRIBUTES = {"classes": CLASSES, "coords": COORDS, "num": 6, "anchors": ANCHORS, "masks": [[3, 4, 5], [0, 1, 2]]}
NAMES = ["detector/yolo-v3/Conv_6/BiasAdd/YoloRegion", "detector/yolo-v3/Conv_14/BiasAdd/YoloRegion"]


def yolo_v3_entry(entry_points: list[str], **changes: Any) -> dict[str, Any]:
    """The entry of `yolo_v3.json`, for the classes and anchors of the test."""
    return {"id": "TFYOLOV3", "match_kind": "general", "custom_attributes": {**ATTRIBUTES, "entry_points": entry_points, **changes}}


def rows_of(region: Array, anchors: int) -> Array:
    """The activations [images, anchors * entries, rows, columns] in the order of TensorFlow's graphs."""
    images, _, rows, columns = region.shape
    return region.reshape(images, anchors, ENTRY, rows * columns).transpose(0, 3, 1, 2).reshape(images, -1, ENTRY)


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


@pytest.mark.parametrize("entry_points", [["Reshape", "Reshape_1"], ["Reshape_40", "Reshape_41"]], ids=["named", "recognised"])
def test_yolo_v3(entry_points: list[str], tmp_path: Path) -> None:
    graph = yolo_v3()
    path = frozen(graph, ["output_boxes"], tmp_path)
    entry = yolo_v3_entry([f"detector/yolo-v3/{name}" for name in entry_points])
    model = converted(path, transformations_config=configuration(tmp_path, entry))
    assert [output.get_any_name() for output in model.outputs] == NAMES
    # The one of the input.
    assert layer_types(model).count("RegionYolo") == 2
    assert layer_types(model).count("Transpose") == 1
    actual = run(model, {"inputs": X})
    regions = [node for node in model.get_ordered_ops() if node.get_type_name() == "RegionYolo"]
    assert sorted(list(node.get_attributes()["mask"]) for node in regions) == [[0, 1, 2], [3, 4, 5]]
    # Centres, confidence and classes are activated by TensorFlow, sizes are split off as they are.
    sources = [
        f"detector/yolo-v3/{kind}"
        for kind in ("Sigmoid", "split", "Sigmoid_1", "Sigmoid_2", "Sigmoid_3", "split_1", "Sigmoid_4", "Sigmoid_5")
    ]
    tensors = [f"{name}:1" if "split" in name else f"{name}:0" for name in sources]
    with_names = dict(zip(tensors, results_of(graph, tensors, {"inputs": X}), strict=True))
    for head, region in enumerate(actual):
        parts = [with_names[name] for name in tensors[4 * head : 4 * head + 4]]
        np.testing.assert_allclose(rows_of(region, 3), np.concatenate(parts, -1), rtol=1e-4, atol=1e-5)


def test_yolo_v2(tmp_path: Path) -> None:
    graph = yolo_v2()
    attributes = {"classes": CLASSES, "coords": COORDS, "num": 5, "do_softmax": 1, "anchors": [float(each) for each in ANCHORS[:10]]}
    entry = {"id": "TFYOLO", "match_kind": "general", "custom_attributes": attributes}
    model = converted(frozen(graph, ["output"], tmp_path), transformations_config=configuration(tmp_path, entry), batch=1)
    (actual,) = run(model, {"input": X})
    (raw,) = results_of(graph, ["output:0"], {"input": X})
    raw = raw.reshape(1, -1, 5, ENTRY)
    activated = [sigmoid(raw[..., :2]), raw[..., 2:4], sigmoid(raw[..., 4:5])]
    powers = np.exp(raw[..., 5:] - raw[..., 5:].max(-1, keepdims=True))
    expected = np.concatenate([*activated, powers / powers.sum(-1, keepdims=True)], -1)
    np.testing.assert_allclose(actual.reshape(1, 5, ENTRY, -1).transpose(0, 3, 1, 2), expected, rtol=1e-4, atol=1e-5)


def test_a_fully_connected_output_of_yolo_v1_stays(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    graph = yolo_v1()
    attributes = {"classes": CLASSES, "coords": COORDS, "num": 2, "do_softmax": 0}
    entry = {"id": "TFYOLO", "match_kind": "general", "custom_attributes": attributes}
    model = converted(frozen(graph, ["output"], tmp_path), transformations_config=configuration(tmp_path, entry))
    x = X[:, ::2, ::2]
    (actual,) = run(model, {"input": x})
    np.testing.assert_allclose(actual, results_of(graph, ["output:0"], {"input": x})[0], rtol=1e-4, atol=1e-5)
    assert "a matrix, which RegionYolo does not take" in caplog.text


def test_entry_points_that_do_not_exist(tmp_path: Path) -> None:
    path = frozen(yolo_v3(), ["output_boxes"], tmp_path)
    entry = yolo_v3_entry(["detector/yolo-v3/Reshap", "detector/yolo-v3/Reshape_9"], classes=80)
    with pytest.raises(ConversionError, match=r"TFYOLOV3: there is no node 'detector/yolo-v3/Reshap', and 0 convolutions") as raised:
        converted(path, transformations_config=configuration(tmp_path, entry))
    assert "detector/yolo-v3/Reshape" in str(raised.value)


def test_classes_that_the_feature_maps_do_not_have(tmp_path: Path) -> None:
    path = frozen(yolo_v3(), ["output_boxes"], tmp_path)
    entry = yolo_v3_entry(["detector/yolo-v3/Reshape", "detector/yolo-v3/Reshape_1"], classes=80)
    with pytest.raises(ConversionError, match=r"has 27 channels; 80 classes, 4 coordinates and 3 anchors need 255"):
        converted(path, transformations_config=configuration(tmp_path, entry))
