"""R-FCN of the TensorFlow Object Detection API, with Model Optimizer's configurations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from moir.errors import ConversionError
from tests.numerical.detection.conversion import (
    configuration,
    converted,
    detections,
    expected_detections,
    frozen,
    layer_types,
    results_of,
)
from tests.numerical.detection.object_detection_api import CLASSES, IMAGE, Version
from tests.numerical.detection.test_object_detection_api import (
    FIRST,
    OUTPUTS,
    SECOND,
    images,
    preprocessor_entry,
    proposal_entry,
    second_stage_entry,
)
from tests.numerical.detection.two_stages import BIN_CROP, BINS, faster_rcnn, rfcn
from tests.numerical.runtime import run


def pooling_entry() -> dict[str, Any]:
    """The entry of the crops in `rfcn_support_api_v1.14.json`."""
    unstacked = [{"node": f"TensorArrayUnstack{name}", "port": 0} for name in ("/Shape$", "_1/Shape$")]
    return {
        "id": "ObjectDetectionAPIPSROIPoolingReplacement",
        "match_kind": "scope",
        "custom_attributes": {},
        "instances": ["SecondStageBoxPredictor/map/", "SecondStageBoxPredictor/map_1/"],
        "inputs": [[{"node": "Shape$", "port": 0}, unstacked[0]], [unstacked[1]]],
        "outputs": [{"node": "TensorArrayStack/TensorArrayGatherV3$", "port": 0}],
    }


WAYS = {
    "1.14": [proposal_entry(), second_stage_entry(), pooling_entry()],
    "without the id of the crops": [proposal_entry(), second_stage_entry()],
    "without a configuration": None,
}


@pytest.mark.parametrize("entries", WAYS.values(), ids=WAYS)
def test_rfcn(entries: list[dict[str, Any]] | None, tmp_path: Path) -> None:
    graph = rfcn(Version(), FIRST, SECOND)
    path = frozen(graph, OUTPUTS, tmp_path)
    options: dict[str, Any] = {"detection": "output"}
    if entries is not None:
        options = {"transformations_config": configuration(tmp_path, preprocessor_entry(Version()), *entries)}
    model = converted(path, input=[1, IMAGE, IMAGE, 3], **options)
    types = layer_types(model)
    assert (types.count("DetectionOutput"), types.count("PSROIPooling")) == (2, 2)
    assert not {"NonMaxSuppression", *({"Loop", "TensorIterator"} if entries else ())} & set(types)
    pooled = [op.get_attributes() for op in model.get_ordered_ops() if op.get_type_name() == "PSROIPooling"]
    assert sorted(each["output_dim"] for each in pooled) == [CLASSES + 1, CLASSES * 4]
    for each in pooled:
        assert (each["mode"], each["group_size"], each["spatial_bins_x"], each["spatial_bins_y"]) == ("bilinear", BIN_CROP, BINS, BINS)
    (rows,) = run(model, {"image_tensor": images()})
    expected = expected_detections(*(each[0] for each in results_of(graph, OUTPUTS, {"image_tensor": images()})))
    assert len(expected) >= 5
    np.testing.assert_allclose(detections(rows), expected, rtol=1e-4, atol=2e-5)


def test_a_faster_rcnn_is_no_rfcn(tmp_path: Path) -> None:
    path = frozen(faster_rcnn(Version(), FIRST, SECOND), OUTPUTS, tmp_path)
    with pytest.raises(ConversionError, match="no loop takes the mean of crops of groups of channels") as raised:
        converted(path, transformations_config=configuration(tmp_path, pooling_entry()))
    assert "is it an R-FCN?" in str(raised.value)
