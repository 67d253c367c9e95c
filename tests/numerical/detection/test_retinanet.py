"""A RetinaNet with Model Optimizer's configuration."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.numerical.detection.conversion import configuration, converted, detections, frozen, layer_types, results_of
from tests.numerical.detection.retinanet import DETECTIONS, IMAGE, OUTPUTS, THRESHOLD, retinanet
from tests.numerical.runtime import run

ENTRY: dict[str, Any] = {
    "id": "RetinaNetFilteredDetectionsReplacement",
    "match_kind": "points",
    "custom_attributes": {
        "code_type": "caffe.PriorBoxParameter.CORNER",
        "pad_mode": "caffe.ResizeParameter.CONSTANT",
        "resize_mode": "caffe.ResizeParameter.WARP",
        "confidence_threshold": THRESHOLD,
        "top_k": 6000,
        "keep_top_k": DETECTIONS,
        "variance": [0.2, 0.2, 0.2, 0.2],
    },
    "include_inputs_to_sub_graph": True,
    "include_outputs_to_sub_graph": True,
    "instances": {
        "end_points": OUTPUTS,
        "start_points": ["regression/concat", "classification/concat", "anchors/concat", "clipped_boxes/Shape"],
    },
}


@pytest.mark.parametrize("has_entry", [True, False], ids=["configuration", "detection=output"])
def test_retinanet(has_entry: bool, tmp_path: Path) -> None:
    graph = retinanet()
    options = {"transformations_config": configuration(tmp_path, ENTRY)} if has_entry else {"detection": "output"}
    model = converted(frozen(graph, OUTPUTS, tmp_path), **options)
    assert not {"Loop", "NonMaxSuppression"} & set(layer_types(model))
    x = np.random.default_rng(5).standard_normal((1, IMAGE, IMAGE, 3)).astype(np.float32)
    (rows,) = run(model, {"input_1": x})
    boxes, scores, labels = (each[0] for each in results_of(graph, OUTPUTS, {"input_1": x}))
    count = int((labels >= 0).sum())
    assert count >= 10
    expected = np.concatenate([labels[:count, None], scores[:count, None], boxes[:count] / IMAGE], 1)
    np.testing.assert_allclose(detections(rows), expected, rtol=1e-4, atol=2e-5)
