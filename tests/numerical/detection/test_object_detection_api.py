"""Models in the structure of the TensorFlow Object Detection API, with Model Optimizer's configurations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import openvino
import pytest

from moir.errors import ConversionError
from moir.tools.convert import main
from tests.numerical.detection.conversion import (
    configuration,
    converted,
    detections,
    expected_detections,
    frozen,
    layer_types,
    results_of,
)
from tests.numerical.detection.object_detection_api import EARLY, IMAGE, VERSION_2, Suppression, Version, ssd
from tests.numerical.detection.two_stages import BASE, CROP, PROPOSALS, RATIOS, SCALES, STRIDE, faster_rcnn
from tests.numerical.runtime import Array, core, run

OUTPUTS = ("detection_boxes", "detection_scores", "detection_classes", "num_detections")
SSD_ATTRIBUTES = {
    "code_type": "caffe.PriorBoxParameter.CENTER_SIZE",
    "pad_mode": "caffe.ResizeParameter.CONSTANT",
    "resize_mode": "caffe.ResizeParameter.WARP",
    "clip_before_nms": False,
    "clip_after_nms": True,
}


def images(count: int = 1) -> Array:
    """Random pixels, smooth enough that scores differ."""
    return np.random.default_rng(0).integers(0, 255, (count, IMAGE, IMAGE, 3)).astype(np.uint8)


def points(id: str, start: list[str], end: list[str], **attributes: Any) -> dict[str, Any]:
    """An entry of a configuration whose sub-graph lies between nodes."""
    return {
        "id": id,
        "match_kind": "points",
        "custom_attributes": attributes,
        "include_inputs_to_sub_graph": True,
        "include_outputs_to_sub_graph": True,
        "instances": {"start_points": start, "end_points": end},
    }


def ssd_entry(version: Version) -> dict[str, Any]:
    """The entry of `ssd_v2_support.json`, as it is there, for the names of a version."""
    start = [f"{version.prefix}Postprocessor/{name}" for name in ("Shape", "scale_logits", "Tile", "Reshape_1", version.cast)]
    boxes, scores, _, number = version.outputs
    end = [boxes, scores, number]
    return points("ObjectDetectionAPISSDPostprocessorReplacement", start, end, **SSD_ATTRIBUTES)


def preprocessor_entry(version: Version) -> dict[str, Any]:
    """The entry of the preprocessing, as it is in the files of version 1 or 2."""
    if version.prefix:
        attributes = {"start_nodes": [f"{version.prefix}Preprocessor/unstack"], "end_nodes": [f"{version.prefix}Preprocessor/stack"]}
        return {"id": "ObjectDetectionAPIPreprocessor2Replacement", "match_kind": "general", "custom_attributes": attributes}
    scatter = {"node": "map/TensorArrayUnstack/TensorArrayScatter/TensorArrayScatterV3$", "port": 2}
    return {
        "id": "ObjectDetectionAPIPreprocessorReplacement",
        "match_kind": "scope",
        "custom_attributes": {},
        "instances": [".*Preprocessor/"],
        "inputs": [[{"node": "map/Shape$", "port": 0}, {"node": "map/TensorArrayUnstack/Shape$", "port": 0}, scatter]],
        "outputs": [{"node": "sub$", "port": 0}, {"node": "map/TensorArrayStack_1/TensorArrayGatherV3$", "port": 0}],
    }


def ssd_pipeline(directory: Path, by: Suppression) -> Path:
    """A pipeline.config of an SSD, with fields that a conversion does not need."""
    path = directory / "pipeline.config"
    path.write_text(f"""
model {{
  ssd {{
    num_classes: 3
    image_resizer {{ fixed_shape_resizer {{ height: {IMAGE} width: {IMAGE} }} }}
    feature_extractor {{ type: "ssd_mobilenet_v2" depth_multiplier: 1.0 }}
    anchor_generator {{
      ssd_anchor_generator {{
        num_layers: 2
        min_scale: 0.2
        max_scale: 0.4
        aspect_ratios: [1.0, 0.5]
        reduce_boxes_in_lowest_layer: false
        interpolated_scale_aspect_ratio: 0.0
      }}
    }}
    matcher {{ argmax_matcher {{ matched_threshold: 0.5 }} }}
    post_processing {{
      batch_non_max_suppression {{
        score_threshold: {by.score_threshold}
        iou_threshold: {by.iou_threshold}
        max_detections_per_class: {by.max_detections_per_class}
        max_total_detections: {by.max_total_detections}
      }}
      score_converter: SIGMOID
    }}
    field_of_a_later_version {{ value: [1, 2] }}
  }}
}}
train_config: {{ batch_size: 24 }}
""")
    return path


@pytest.mark.parametrize(
    ("version", "converter"),
    [
        (Version(), "sigmoid"),
        (EARLY, "softmax"),
        (VERSION_2, "sigmoid"),
    ],
    ids=["1.15", "2017", "2.0"],
)
def test_ssd(version: Version, converter: str, tmp_path: Path) -> None:
    graph = ssd(version, converter=converter)
    names = list(version.outputs)
    entries = configuration(tmp_path, preprocessor_entry(version), ssd_entry(version))
    model = converted(frozen(graph, names, tmp_path), transformations_config=entries)
    assert not {"Loop", "NonMaxSuppression", "Interpolate"} & set(layer_types(model))
    batch = images(2 if version.loops else 1)
    (rows,) = run(model, {"image_tensor": batch})
    actual = results_of(graph, names, {"image_tensor": batch})
    for image in range(len(batch)):
        expected = expected_detections(*(each[image] for each in actual))
        assert len(expected) >= 10
        np.testing.assert_allclose(detections(rows, image), expected, rtol=1e-4, atol=2e-5)


def test_ssd_with_pipeline_config(tmp_path: Path) -> None:
    # The graph says 0.1 and 20: the file changes thresholds, and gives the input its size.
    graph = ssd(Version())
    asked = Suppression(score_threshold=0.3, iou_threshold=0.4, max_detections_per_class=15, max_total_detections=15)
    entries = configuration(tmp_path, preprocessor_entry(Version()), ssd_entry(Version()))
    model = converted(
        frozen(graph, OUTPUTS, tmp_path),
        transformations_config=entries,
        tensorflow_object_detection_api_pipeline_config=ssd_pipeline(tmp_path, asked),
    )
    assert list(model.inputs[0].get_shape()) == [1, IMAGE, IMAGE, 3]
    assert list(model.outputs[0].get_shape()) == [1, 1, 15, 7]
    assert model.outputs[0].get_names() == {"detection_boxes", "detection_boxes:0"}
    (rows,) = run(model, {"image_tensor": images()})
    actual = results_of(ssd(Version(), asked), OUTPUTS, {"image_tensor": images()})
    np.testing.assert_allclose(detections(rows), expected_detections(*(each[0] for each in actual)), rtol=1e-4, atol=2e-5)


FIRST = Suppression(score_threshold=0.0, iou_threshold=0.7, max_detections_per_class=PROPOSALS, max_total_detections=PROPOSALS)
SECOND = Suppression(score_threshold=0.2, iou_threshold=0.6, max_detections_per_class=15, max_total_detections=15)


def scope(id: str, instances: list[str], inputs: list[str], outputs: list[str], **attributes: Any) -> dict[str, Any]:
    """An entry of a configuration whose sub-graph is a scope."""
    return {
        "id": id,
        "match_kind": "scope",
        "custom_attributes": attributes,
        "instances": instances,
        "inputs": [[{"node": name, "port": 0}] for name in inputs],
        "outputs": [{"node": name, "port": 0} for name in outputs],
    }


def proposal_entry() -> dict[str, Any]:
    """The entry of the first stage in `faster_rcnn_support_api_v1.15.json`."""
    return points(
        "ObjectDetectionAPIProposalReplacement",
        ["concat/concat", "concat_1/concat", "GridAnchorGenerator/Identity", "Shape"],
        ["map/TensorArrayStack/TensorArrayGatherV3", "map_2/TensorArrayStack/TensorArrayGatherV3"],
        operation_to_add="Proposal",
        clip_before_nms=False,
        clip_after_nms=True,
    )


def second_stage_entry() -> dict[str, Any]:
    """The entry of the second stage in `faster_rcnn_support_api_v1.15.json`."""
    return scope(
        "ObjectDetectionAPIDetectionOutputReplacement",
        [".*SecondStagePostprocessor/"],
        ["Reshape$", "Reshape_1$", "ExpandDims$"],
        ["BatchMultiClassNonMaxSuppression/map/TensorArrayStack/TensorArrayGatherV3$"],
        clip_before_nms=False,
        clip_after_nms=True,
        do_not_swap_input=True,
    )


@pytest.mark.parametrize(
    ("version", "class_boxes"),
    [(Version(), True), (Version(), False), (VERSION_2, True)],
    ids=["1.15", "shared boxes", "2.0"],
)
def test_faster_rcnn(version: Version, class_boxes: bool, tmp_path: Path) -> None:
    graph = faster_rcnn(version, FIRST, SECOND, class_boxes)
    names = list(version.outputs)
    entries = configuration(tmp_path, preprocessor_entry(version), proposal_entry(), second_stage_entry())
    shape = [1, IMAGE, IMAGE, 3]
    model = converted(frozen(graph, names, tmp_path), transformations_config=entries, input=shape)
    types = layer_types(model)
    assert types.count("DetectionOutput") == 2
    assert not {"Loop", "NonMaxSuppression", "Interpolate"} & set(types)
    (rows,) = run(model, {"image_tensor": images()})
    actual = results_of(graph, names, {"image_tensor": images()})
    expected = expected_detections(*(each[0] for each in actual))
    assert len(expected) >= 5
    np.testing.assert_allclose(detections(rows), expected, rtol=2e-4, atol=5e-5)


def two_stage_pipeline(directory: Path, first: Suppression, second: Suppression, masks: bool = False) -> Path:
    """A pipeline.config of a Faster R-CNN or a Mask R-CNN, with fields that a conversion does not need."""
    mask_predictor = "predict_instance_masks: true mask_height: 7 mask_width: 7" if masks else ""
    path = directory / "pipeline.config"
    path.write_text(f"""
model {{
  faster_rcnn {{
    num_classes: 3
    image_resizer {{ fixed_shape_resizer {{ height: {IMAGE} width: {IMAGE} }} }}
    first_stage_anchor_generator {{
      grid_anchor_generator {{
        scales: {list(SCALES)}
        aspect_ratios: {list(RATIOS)}
        height: {BASE}
        width: {BASE}
        height_stride: {STRIDE}
        width_stride: {STRIDE}
      }}
    }}
    first_stage_nms_score_threshold: {first.score_threshold}
    first_stage_nms_iou_threshold: {first.iou_threshold}
    first_stage_max_proposals: {first.max_total_detections}
    initial_crop_size: {CROP}
    maxpool_kernel_size: 2
    maxpool_stride: 2
    second_stage_box_predictor {{ mask_rcnn_box_predictor {{ use_dropout: false {mask_predictor} }} }}
    second_stage_post_processing {{
      batch_non_max_suppression {{
        score_threshold: {second.score_threshold}
        iou_threshold: {second.iou_threshold}
        max_detections_per_class: {second.max_detections_per_class}
        max_total_detections: {second.max_total_detections}
      }}
      score_converter: SOFTMAX
    }}
  }}
}}
train_config {{ batch_size: 1 optimizer {{ momentum_optimizer {{ use_moving_average: false }} }} }}
""")
    return path


def command_line(path: Path, entries: Path, pipeline: Path) -> openvino.Model:
    """The IR that the command line of Model Optimizer gives, with its two files."""
    files = ["--transformations_config", str(entries), "--tensorflow_object_detection_api_pipeline_config", str(pipeline)]
    assert main(["--input_model", str(path), *files, "--output_dir", str(path.parent), "--silent"]) == 0
    return core().read_model(path.with_suffix(".xml"))


def test_faster_rcnn_with_pipeline_config(tmp_path: Path) -> None:
    # The graph has other thresholds: those of the file go first.
    path = frozen(faster_rcnn(Version(), FIRST, SECOND), OUTPUTS, tmp_path)
    first = Suppression(score_threshold=0.0, iou_threshold=0.6, max_detections_per_class=PROPOSALS, max_total_detections=PROPOSALS)
    second = Suppression(score_threshold=0.3, iou_threshold=0.5, max_detections_per_class=8, max_total_detections=8)
    entries = configuration(tmp_path, preprocessor_entry(Version()), proposal_entry(), second_stage_entry())
    model = command_line(path, entries, two_stage_pipeline(tmp_path, first, second))
    assert list(model.inputs[0].get_shape()) == [1, IMAGE, IMAGE, 3]
    assert list(model.outputs[0].get_shape()) == [1, 1, 8, 7]
    (rows,) = run(model, {"image_tensor": images()})
    actual = results_of(faster_rcnn(Version(), first, second), OUTPUTS, {"image_tensor": images()})
    expected = expected_detections(*(each[0] for each in actual))
    assert len(expected) >= 3
    np.testing.assert_allclose(detections(rows), expected, rtol=2e-4, atol=5e-5)


def test_faster_rcnn_without_configuration(tmp_path: Path) -> None:
    graph = faster_rcnn(Version(), FIRST, SECOND)
    model = converted(frozen(graph, OUTPUTS, tmp_path), detection="output", input=[1, IMAGE, IMAGE, 3])
    assert layer_types(model).count("DetectionOutput") == 2
    (rows,) = run(model, {"image_tensor": images()})
    actual = results_of(graph, OUTPUTS, {"image_tensor": images()})
    np.testing.assert_allclose(detections(rows), expected_detections(*(each[0] for each in actual)), rtol=2e-4, atol=5e-5)


def test_plain_operations_whatever_the_configuration_says(tmp_path: Path) -> None:
    entries = configuration(tmp_path, preprocessor_entry(Version()), ssd_entry(Version()))
    model = converted(frozen(ssd(Version()), OUTPUTS, tmp_path), transformations_config=entries, detection="plain")
    assert all(name in output.get_names() for name, output in zip(OUTPUTS, model.outputs, strict=True))
    assert "DetectionOutput" not in layer_types(model)


def test_the_second_stage_needs_the_first(tmp_path: Path) -> None:
    path = frozen(faster_rcnn(Version(), FIRST, SECOND), OUTPUTS, tmp_path)
    with pytest.raises(ConversionError, match="the proposals are not a DetectionOutput") as raised:
        converted(path, transformations_config=configuration(tmp_path, second_stage_entry()))
    assert "add ObjectDetectionAPIProposalReplacement" in str(raised.value)


def test_a_model_of_two_stages_is_no_ssd(tmp_path: Path) -> None:
    path = frozen(faster_rcnn(Version(), FIRST, SECOND), OUTPUTS, tmp_path)
    with pytest.raises(ConversionError, match="the anchors are selected by another suppression") as raised:
        converted(path, transformations_config=configuration(tmp_path, ssd_entry(Version())))
    assert "NonMaxSuppression" in str(raised.value)
    assert "--detection=plain" in str(raised.value)


@pytest.mark.parametrize("has_pipeline", [False, True])
def test_mask_rcnn(has_pipeline: bool, tmp_path: Path) -> None:
    graph = faster_rcnn(Version(), FIRST, SECOND, masks=True)
    names = [*OUTPUTS, "detection_masks"]
    crops = points(
        "ObjectDetectionAPIMaskRCNNROIPoolingSecondReplacement",
        ["CropAndResize_1/CropAndResize", "CropAndResize_1/Shape_1"],
        ["Reshape_10"],
    )
    general = [
        ("MaskRCNNSigmoidReplacement", {"masks_node_prefix_name": "SecondStageBoxPredictor"}),
        ("OutputReplacement", {"outputs": "SecondStageBoxPredictor_1/Conv_3/BiasAdd|SecondStageBoxPredictor_1/Conv_1/BiasAdd"}),
        ("ConstValueOverride", {"replacements": [["mul/y", "first_stage_max_proposals"]]}),
    ]
    others = [{"id": f"ObjectDetectionAPI{name}", "match_kind": "general", "custom_attributes": attributes} for name, attributes in general]
    entries = configuration(tmp_path, preprocessor_entry(Version()), proposal_entry(), second_stage_entry(), crops, *others)
    path = frozen(graph, names, tmp_path)
    if has_pipeline:
        model = command_line(path, entries, two_stage_pipeline(tmp_path, FIRST, SECOND, masks=True))
    else:
        model = converted(path, transformations_config=entries, input=[1, IMAGE, IMAGE, 3])
    types = layer_types(model)
    assert types.count("DetectionOutput") == 2
    assert types.count("ROIPooling") == 2
    assert not {"Loop", "NonMaxSuppression"} & set(types)
    assert [output.get_any_name() for output in model.outputs] == ["reshape_do_2d", "masks"]
    rows, masks = run(model, {"image_tensor": images()})
    *actual, expected_masks = results_of(graph, names, {"image_tensor": images()})
    expected = expected_detections(*(each[0] for each in actual))
    order = np.argsort(-rows[: len(expected), 2], kind="stable")
    assert len(expected) >= 5
    assert masks.shape[:2] == (15, 3)
    np.testing.assert_allclose(detections(rows), expected, rtol=2e-4, atol=5e-5)
    labels = rows[order, 1].astype(int)
    np.testing.assert_allclose(masks[order, labels - 1], expected_masks[0][: len(expected)], rtol=1e-3, atol=1e-4)
