"""Heads of detection networks and their kin, written as ONNX, compute what OpenVINO Runtime computes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numpy as np
import openvino
import pytest
from openvino import opset1, opset2, opset6, opset8

import moir
from moir.errors import UnsupportedOperationError
from tests.numerical.onnx.round_trip import session_of
from tests.numerical.runtime import core

GENERATOR = np.random.default_rng(31)


def both(folder: Path, build: Callable[..., Any], *inputs: np.ndarray, opset: int = 21) -> list[tuple[np.ndarray, np.ndarray]]:
    """What the runtime computes, and what the model as ONNX computes, for each output."""
    parameters = [opset8.parameter(list(each.shape), each.dtype) for each in inputs]
    model: Any = openvino.Model(build(*parameters).outputs(), parameters)
    openvino.save_model(model, folder / "m.xml", compress_to_fp16=False)
    expected: list[Any] = list(core().compile_model(model, "CPU")(list(inputs)).values())
    moir.save_onnx(moir.convert_model(folder / "m.xml", target="none"), folder / "m.onnx", opset=opset)
    session = session_of(folder / "m.onnx")
    actual = cast("list[Any]", session.run(None, {port.name: each for port, each in zip(session.get_inputs(), inputs, strict=True)}))
    return list(zip(expected, actual, strict=True))


def rows_of(detections: np.ndarray) -> np.ndarray:
    """The rows before the one that begins with -1."""
    rows = detections.reshape(-1, 7)
    ends = np.flatnonzero(rows[:, 0] == -1)
    return rows[: ends[0]] if ends.size else rows


def random_head() -> tuple[dict[str, Any], list[np.ndarray]]:
    """The attributes and operands of a random head."""
    draw = GENERATOR.integers
    batch, priors, classes = int(draw(1, 4)), int(draw(3, 30)), int(draw(1, 6))
    is_encoded, is_shared = bool(draw(2)), bool(draw(2))
    is_normalized = not is_encoded or bool(draw(2))
    attributes = {
        "background_label_id": int(draw(-1, classes)),
        "top_k": int(GENERATOR.choice([-1, 2, 5, 100])),
        "variance_encoded_in_target": is_encoded,
        "keep_top_k": [int(GENERATOR.choice([-1, 1, 4, 200]))],
        "code_type": f"caffe.PriorBoxParameter.{'CENTER_SIZE' if draw(2) else 'CORNER'}",
        "share_location": is_shared,
        "nms_threshold": float(GENERATOR.choice([0.3, 0.45, 0.7])),
        "confidence_threshold": float(GENERATOR.choice([0.0, 0.3])),
        "clip_after_nms": bool(draw(2)),
        "clip_before_nms": bool(draw(2)),
        "normalized": is_normalized,
        "input_height": 1 if is_normalized else 30,
        "input_width": 1 if is_normalized else 40,
    }
    logits = 0.3 * GENERATOR.standard_normal((batch, priors * (1 if is_shared else classes) * 4))
    center, size = GENERATOR.random((priors, 2)), GENERATOR.random((priors, 2)) * 0.3 + 0.05
    boxes = np.concatenate([center - size / 2, center + size / 2], axis=1)
    if not is_normalized:
        boxes = np.concatenate([np.zeros((priors, 1)), boxes * [40, 30, 40, 30]], axis=1)
    proposals = boxes.reshape(1, 1, -1)
    if not is_encoded:
        proposals = np.concatenate([proposals, np.tile([0.1, 0.1, 0.2, 0.2], priors).reshape(1, 1, -1)], axis=1)
    operands = [logits, GENERATOR.random((batch, priors * classes)), np.repeat(proposals, batch if draw(2) else 1, axis=0)]
    return attributes, [each.astype(np.float32) for each in operands]


@pytest.mark.parametrize("case", range(12))
def test_heads(case: int, tmp_path: Path) -> None:
    attributes, operands = random_head()
    ((expected, actual),) = both(tmp_path, lambda *values: opset8.detection_output(*values, attributes), *operands)
    assert actual.shape == expected.shape, case
    np.testing.assert_allclose(rows_of(actual), rows_of(expected), atol=1e-5)


PRIOR = {"min_size": [8.0, 12.0], "max_size": [16.0, 20.0], "aspect_ratio": [2.0, 3.0], "flip": True, "offset": 0.5, "variance": [0.1]}
CLUSTERED = {"width": [8.0, 9.0], "height": [7.0, 6.0], "offset": 0.5, "variance": [0.1, 0.1, 0.2, 0.2]}
PRIORS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "sizes": (opset8.prior_box, {**PRIOR, "clip": True}),
    "ratios-first": (opset8.prior_box, {**PRIOR, "min_max_aspect_ratios_order": False, "step": 5.0}),
    "one-version": (opset1.prior_box, {**PRIOR, "max_size": [], "flip": False, "variance": []}),
    "scaled-last": (opset8.prior_box, {**PRIOR, "scale_all_sizes": False, "min_size": [0.2, 0.4], "max_size": []}),
    "dense": (opset8.prior_box, {**PRIOR, "min_size": [], "max_size": [], "fixed_size": [8.0, 16.0], "density": [2.0, 3.0]}),
    "clustered": (opset1.prior_box_clustered, CLUSTERED),
    "clustered-steps": (opset1.prior_box_clustered, {**CLUSTERED, "step_w": 4.0, "step_h": 3.0, "clip": True}),
    "clustered-one-step": (opset1.prior_box_clustered, {**CLUSTERED, "step_w": 4.0}),
}


@pytest.mark.parametrize("name", PRIORS)
def test_priors(name: str, tmp_path: Path) -> None:
    """The size of the feature map is that of an input with a dynamic batch."""
    function, attributes = PRIORS[name]

    def build(x: Any) -> Any:
        x.set_partial_shape(openvino.PartialShape([-1, 4, 2, 3]))
        layer = opset8.gather(opset8.shape_of(x), opset8.constant([2, 3]), opset8.constant(0))
        return function(layer, opset8.constant([32, 48]), attributes)

    ((expected, actual),) = both(tmp_path, build, np.zeros((1, 4, 2, 3), np.float32))
    np.testing.assert_allclose(actual, expected, atol=1e-5)


def test_priors_of_computed_sizes(tmp_path: Path) -> None:
    def build(x: Any) -> Any:
        x.set_partial_shape(openvino.PartialShape([1, 4, -1, 3]))
        layer = opset8.gather(opset8.shape_of(x), opset8.constant([2, 3]), opset8.constant(0))
        return opset1.prior_box_clustered(layer, opset8.constant([32, 48]), CLUSTERED)

    with pytest.raises(UnsupportedOperationError, match="the sizes of its feature map or image are computed; give static shapes"):
        both(tmp_path, build, np.zeros((1, 4, 2, 3), np.float32))


@pytest.mark.parametrize("size", [(2, 3), (1, 4), (5, 1)])
def test_regions(size: tuple[int, int], tmp_path: Path) -> None:
    """Interpolated samples, some of them outside of the image, and maxima."""
    x = GENERATOR.standard_normal((2, 3, 6, 7)).astype(np.float32)
    corners = np.sort(GENERATOR.random((5, 2, 2)), axis=1).reshape(5, 4)
    images = GENERATOR.integers(0, 2, (5, 1))
    for method, scaled in (("bilinear", corners * 1.2 - 0.1), ("max", corners * 7)):
        regions = np.concatenate([images, scaled], axis=1).astype(np.float32)
        ((expected, actual),) = both(tmp_path, lambda a, b, how=method: opset2.roi_pooling(a, b, size, 0.5, how), x, regions)
        np.testing.assert_allclose(actual, expected, atol=1e-4)


@pytest.mark.parametrize(("do_softmax", "axis"), [(True, 1), (True, 0), (True, 2), (False, 1)])
def test_heads_of_yolo(do_softmax: bool, axis: int, tmp_path: Path) -> None:
    x = GENERATOR.standard_normal((2, 27, 4, 5)).astype(np.float32)
    ((expected, actual),) = both(tmp_path, lambda a: opset1.region_yolo(a, 4, 4, 3, do_softmax, [0, 1, 2], axis, 3, []), x)
    np.testing.assert_allclose(actual, expected, atol=1e-5)
    x = GENERATOR.standard_normal((2, 18, 6, 9)).astype(np.float32)
    ((expected, actual),) = both(tmp_path, lambda a: opset2.reorg_yolo(a, [3]), x)
    np.testing.assert_array_equal(actual, expected)


@pytest.mark.parametrize("merges", [True, False])
@pytest.mark.parametrize("blank", [None, 0, 1])
def test_best_paths(merges: bool, blank: int | None, tmp_path: Path) -> None:
    data = GENERATOR.random((7, 3, 4)).astype(np.float32)
    lengths = GENERATOR.integers(0, 8, 3)
    if blank is None:
        mask = (np.arange(7)[:, None] < lengths).astype(np.float32)
        ((expected, actual),) = both(tmp_path, lambda a, b: opset1.ctc_greedy_decoder(a, b, merges), data, mask)
        np.testing.assert_array_equal(actual, expected)
    index = [] if blank is None else [opset8.constant(np.array(blank, np.int32))]

    def build(a: Any, b: Any) -> Any:
        return opset6.ctc_greedy_decoder_seq_len(a, b, *index, merge_repeated=merges)

    for expected, actual in both(tmp_path, build, data.transpose(1, 0, 2).copy(), lengths.astype(np.int32)):
        np.testing.assert_array_equal(actual, expected)
