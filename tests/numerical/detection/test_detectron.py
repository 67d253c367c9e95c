"""Mask R-CNN of ONNX with Model Optimizer's configurations, compared with ONNX Runtime without them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest

from moir.errors import ConversionError
from tests.numerical.detection.conversion import configuration, converted, layer_types
from tests.numerical.detection.detectron import SIZE, MaskRCNN, inputs
from tests.numerical.runtime import Array, compare, run

IM_INFO = {"im_info": np.array([[SIZE, SIZE, 1]], np.float32)}
POOLING = "ExperimentalDetectronROIFeatureExtractor"
DETECTION = "ExperimentalDetectronDetectionOutput"


def expected(path: Path, given: Mapping[str, Array]) -> list[Array]:
    """ONNX Runtime's boxes, labels, scores and masks."""
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    return [np.asarray(each) for each in session.run(None, dict(given))]


def mask_rcnn(directory: Path, **attributes: Any) -> Path:
    """The configuration of `ONNXMaskRCNNReplacement`."""
    return configuration(directory, entry("ONNXMaskRCNNReplacement", attributes))


def entry(id: str, attributes: Mapping[str, Any]) -> dict[str, Any]:
    return {"id": id, "match_kind": "general", "custom_attributes": attributes}


def test_mask_rcnn(tmp_path: Path) -> None:
    network = MaskRCNN(detections=8)
    path, given = network.save(tmp_path), inputs(24)
    model = converted(path, transformations_config=mask_rcnn(tmp_path, **network.names))
    assert [each for each in layer_types(model) if each.startswith("ExperimentalDetectron")] == [POOLING, DETECTION, POOLING]
    assert "NonMaxSuppression" not in layer_types(model)
    assert [network.outputs[index] in each.names for index, each in enumerate(model.outputs)] == [True] * 4
    wanted = expected(path, given)
    assert wanted[0].shape == (8, 4)
    compare(run(model, {**given, **IM_INFO}), wanted, rtol=1e-3, atol=1e-3)


def test_faster_rcnn_with_fewer_detections_than_it_may_have(tmp_path: Path) -> None:
    network = MaskRCNN(detections=100)
    del network.names["ROIFeatureExtractor1_output"]
    path, given = network.save(tmp_path), inputs(24)
    model = converted(path, transformations_config=mask_rcnn(tmp_path, **network.names), output="{},{},{}".format(*network.outputs))
    assert [each for each in layer_types(model) if each.startswith("ExperimentalDetectron")] == [POOLING, DETECTION]
    wanted = expected(path, given)[:3]
    count = len(wanted[2])
    results = run(model, {**given, **IM_INFO})
    assert 8 < count < 100 == len(results[2])
    # They come class by class.
    order = np.argsort(-results[2])
    compare([each[order][:count] for each in results], wanted, rtol=1e-3, atol=1e-3)
    assert np.count_nonzero(results[2]) == count


def test_pooling_of_person_detection(tmp_path: Path) -> None:
    network = MaskRCNN(detections=8)
    path, given = network.save(tmp_path), inputs(24)
    names = {each: network.names[f"ROIFeatureExtractor2_{each}"] for each in ("input", "output")}
    attributes = {"fpn_heads": network.levels, **{f"ROI_feature_extractor_{each}s": [name] for each, name in names.items()}}
    file = configuration(tmp_path, entry("ONNXPersonDetectionCrossroadReplacement", attributes))
    model = converted(path, transformations_config=file)
    assert layer_types(model).count(POOLING) == 1
    assert "NonMaxSuppression" in layer_types(model)
    compare(run(model, given), expected(path, given), rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"input_fpn_heads": ["Relu_0", "Relu_9"]}, r"there is no node 'Relu_9', which 'input_fpn_heads' names.*did you mean .*Relu_"),
        ({"do_outputs": ["Relu_0"]}, "'do_outputs' names 1 nodes instead of those of boxes, labels and scores"),
        ({"score_threshold": "low"}, "'score_threshold' is 'low', not a number"),
        ({"nms_threshold": None}, "the custom_attributes have no 'nms_threshold'"),
        ({"class_predicitons_node": 5}, "the custom_attributes have no 'class_predicitons_node', the name of a node"),
        ({"num_classes": 7}, "ExperimentalDetectronDetectionOutput"),
    ],
)
def test_a_configuration_of_another_model(changed: Mapping[str, Any], reason: str, tmp_path: Path) -> None:
    network = MaskRCNN(detections=8)
    path = network.save(tmp_path)
    with pytest.raises(ConversionError, match=f"(?s){reason}"):
        converted(path, transformations_config=mask_rcnn(tmp_path, **{**network.names, **changed}))


def test_plain_operations_on_request(tmp_path: Path) -> None:
    network = MaskRCNN(detections=8)
    path, given = network.save(tmp_path), inputs(24)
    model = converted(path, transformations_config=mask_rcnn(tmp_path, **network.names), detection="plain")
    assert DETECTION not in layer_types(model)
    compare(run(model, given), expected(path, given), rtol=1e-3, atol=1e-3)
