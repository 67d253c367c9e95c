"""Non-maximum suppression and crops of TensorFlow against TensorFlow itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from moir.errors import ConversionError
from tests.numerical.runtime import Array
from tests.numerical.tensorflow.conversion import build, check, convert_graph

raw = tf.raw_ops


def boxes(count: int, *batch: int) -> Array:
    """Boxes of which many overlap, some with exchanged corners."""
    rng = np.random.default_rng(count)
    starts = rng.random((*batch, count, 2)) * 0.7
    result = np.concatenate([starts, starts + 0.1 + rng.random((*batch, count, 2)) * 0.3], -1).astype(np.float32)
    result[..., 3, :] = result[..., 3, [2, 3, 0, 1]]
    result[..., 5, :] = result[..., 4, :]
    return result


def scores(*shape: int) -> Array:
    return np.random.default_rng(sum(shape)).permutation(int(np.prod(shape))).reshape(shape).astype(np.float32) / np.float32(np.prod(shape))


INPUTS = {"boxes": boxes(40), "scores": scores(40)}


@pytest.mark.parametrize("overlap", [0.0, 0.3, 0.9])
def test_suppression(overlap: float) -> None:
    check(
        lambda boxes, scores: (
            raw.NonMaxSuppression(boxes=boxes, scores=scores, max_output_size=10, iou_threshold=overlap),
            raw.NonMaxSuppressionV2(boxes=boxes, scores=scores, max_output_size=10, iou_threshold=overlap),
            raw.NonMaxSuppressionV3(boxes=boxes, scores=scores, max_output_size=50, iou_threshold=overlap, score_threshold=0.4),
        ),
        INPUTS,
    )


def test_suppression_with_computed_limits() -> None:
    check(
        lambda boxes, scores, limit, overlap: raw.NonMaxSuppressionV3(
            boxes=boxes, scores=scores, max_output_size=limit, iou_threshold=overlap, score_threshold=0.1
        ),
        {**INPUTS, "limit": np.array(7, np.int32), "overlap": np.array(0.35, np.float32)},
    )


@pytest.mark.parametrize("pads", [False, True])
def test_padded_suppression(pads: bool) -> None:
    limits: dict[str, Any] = {"max_output_size": 35, "iou_threshold": 0.4, "score_threshold": 0.2, "pad_to_max_output_size": pads}
    check(lambda boxes, scores: tuple(raw.NonMaxSuppressionV4(boxes=boxes, scores=scores, **limits)), INPUTS)
    check(lambda boxes, scores: tuple(raw.NonMaxSuppressionV5(boxes=boxes, scores=scores, soft_nms_sigma=0.0, **limits)), INPUTS)


@pytest.mark.parametrize(("limit", "threshold"), [(0, 0.1), (3, 100.0), (3, -np.inf)])
def test_extreme_limits(limit: int, threshold: float) -> None:
    """Nothing may be selected, nothing is good enough, everything is."""
    limits: dict[str, Any] = {"max_output_size": limit, "iou_threshold": 0.4, "score_threshold": threshold, "pad_to_max_output_size": True}
    check(lambda boxes, scores: tuple(raw.NonMaxSuppressionV4(boxes=boxes, scores=scores, **limits)), INPUTS)


@pytest.mark.parametrize("overlap", [0.2, 1.0])
def test_soft_suppression(overlap: float) -> None:
    check(
        lambda boxes, scores: tuple(
            raw.NonMaxSuppressionV5(
                boxes=boxes, scores=scores, max_output_size=40, iou_threshold=overlap, score_threshold=0.05, soft_nms_sigma=0.3
            )
        ),
        INPUTS,
    )


def test_half_precision_suppression() -> None:
    check(
        lambda boxes, scores: raw.NonMaxSuppressionV3(
            boxes=boxes,
            scores=scores,
            max_output_size=10,
            iou_threshold=np.float16(0.3),
            score_threshold=np.float16(0.1),
        ),
        {"boxes": INPUTS["boxes"].astype(np.float16), "scores": INPUTS["scores"].astype(np.float16)},
    )


@pytest.mark.parametrize(
    ("own", "per_class", "total", "pads", "clip"), [(1, 5, 12, False, True), (3, 4, 30, True, False), (1, 9, 90, False, False)]
)
def test_combined_suppression(own: int, per_class: int, total: int, pads: bool, clip: bool) -> None:
    """The last case has more rows in the result than there are boxes and classes."""
    shifted = boxes(20, 2, own).transpose(0, 2, 1, 3) * 1.5 - 0.2
    check(
        lambda boxes, scores: tuple(
            raw.CombinedNonMaxSuppression(
                boxes=boxes,
                scores=scores,
                max_output_size_per_class=per_class,
                max_total_size=total,
                iou_threshold=0.3,
                score_threshold=0.2,
                pad_per_class=pads,
                clip_boxes=clip,
            )
        ),
        {"boxes": np.ascontiguousarray(shifted), "scores": scores(2, 20, 3)},
        forms=("static",),
    )


REGIONS = np.array(
    [[0, 0, 1, 1], [0.1, 0.2, 0.7, 0.9], [0.8, 0.7, 0.2, 0.1], [-0.3, 0.2, 1.2, 0.8], [0.5, 0.5, 0.5, 0.5], [1.5, 1.5, 2, 2]], np.float32
)
PLACES = np.array([0, 1, 0, 1, 1, 0], np.int32)
IMAGE = np.random.default_rng(1).random((2, 7, 9, 3), np.float32)


@pytest.mark.parametrize("size", [(4, 5), (1, 3), (1, 1)])
def test_crops(size: tuple[int, int]) -> None:
    check(
        lambda image, boxes, places: raw.CropAndResize(image=image, boxes=boxes, box_ind=places, crop_size=size),
        {"image": IMAGE, "boxes": REGIONS, "places": PLACES},
        operations=7,
    )


def test_no_crops() -> None:
    check(
        lambda image, boxes, places: raw.CropAndResize(image=image, boxes=boxes, box_ind=places, crop_size=(2, 2)),
        {"image": IMAGE, "boxes": REGIONS[:0], "places": PLACES[:0]},
    )


@pytest.mark.parametrize(("method", "outside"), [("bilinear", 0.5), ("nearest", 0.0), ("nearest", -2.0)])
@pytest.mark.parametrize("size", [(4, 5), (1, 3)])
def test_sampled_crops(method: str, outside: float, size: tuple[int, int]) -> None:
    check(
        lambda image, boxes, places: raw.CropAndResize(
            image=image, boxes=boxes, box_ind=places, crop_size=size, method=method, extrapolation_value=outside
        ),
        {"image": IMAGE, "boxes": REGIONS, "places": PLACES},
    )


def test_crops_of_a_computed_size_of_integers() -> None:
    check(
        lambda image, boxes, places, size: raw.CropAndResize(image=image, boxes=boxes, box_ind=places, crop_size=size),
        {
            "image": (IMAGE * 200).astype(np.uint8),
            "boxes": REGIONS,
            "places": PLACES,
            "size": np.array([3, 1], np.int32),
        },
        fixed=["size"],
        rtol=1e-3,
        atol=1e-3,
    )


def test_given_overlaps_are_refused(tmp_path: Any) -> None:
    graph, _ = build(
        lambda overlaps, scores: raw.NonMaxSuppressionWithOverlaps(
            overlaps=overlaps, scores=scores, max_output_size=3, overlap_threshold=0.5, score_threshold=0.1
        ),
        {"overlaps": np.zeros((4, 4), np.float32), "scores": scores(4)},
    )
    with pytest.raises(ConversionError, match="given overlaps"):
        convert_graph(graph, tmp_path)
