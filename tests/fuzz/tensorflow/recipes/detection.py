"""Detection of TensorFlow, drawn."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.fuzz.draw import Array, Draw
from tests.fuzz.tensorflow.recipe import NO_TYPE, Node, recipe
from tests.fuzz.tensorflow.recipes.image import image

SINGLE = np.float32


def boxes(draw: Draw, shape: list[int]) -> Array:
    """Boxes of a unit square, as their corners; some have them exchanged."""
    corners = np.asarray(draw.random.uniform(0, 0.6, [*shape, 2]))
    ends = corners + np.asarray(draw.random.uniform(0.1, 0.4, [*shape, 2]))
    return np.concatenate([ends, corners] if draw.chance(0.2) else [corners, ends], -1).astype(SINGLE)


def scores(draw: Draw, shape: list[int]) -> Array:
    """Different scores between 0 and 1."""
    count = int(np.prod(shape))
    return ((np.asarray(draw.random.permutation(count)) + 0.5) / max(count, 1)).reshape(shape).astype(SINGLE)


@recipe("CropAndResize")
def crops(draw: Draw, dtype: np.dtype[Any]) -> Node:
    data, count = image(draw, dtype), draw.integer(1, 4)
    operands = {
        "image": data,
        "boxes": boxes(draw, [count]) * SINGLE(draw.one_of((1.0, 1.5))),
        "box_ind": draw.between(np.int32, [count], 0, len(data) - 1),
        "crop_size": np.array(draw.integers(2, 1, 5), np.int32),
    }
    return Node(operands, {"method": draw.one_of(("bilinear", "nearest")), "extrapolation_value": draw.one_of((0.0, 1.5))}, ("crop_size",))


@recipe("NonMaxSuppression", NO_TYPE)
def suppression(draw: Draw, dtype: np.dtype[Any]) -> Node:
    node = suppression_of_operands(draw, dtype)
    return Node(
        {name: node.operands[name] for name in ("boxes", "scores", "max_output_size")}, {"iou_threshold": 0.4}, ("max_output_size",)
    )


@recipe("NonMaxSuppressionV2", NO_TYPE)
def suppression_of_operands(draw: Draw, dtype: np.dtype[Any]) -> Node:
    del dtype
    count = draw.integer(1, 8)
    operands = {
        "boxes": boxes(draw, [count]),
        "scores": scores(draw, [count]),
        "max_output_size": np.array(draw.integer(1, 9), np.int32),
        "iou_threshold": np.array(draw.one_of((0.3, 0.6)), SINGLE),
    }
    return Node(operands, {}, ("max_output_size", "iou_threshold"))


@recipe("NonMaxSuppressionV3 NonMaxSuppressionV4", NO_TYPE)
def suppression_above(draw: Draw, dtype: np.dtype[Any]) -> Node:
    node = suppression_of_operands(draw, dtype)
    threshold = np.array(draw.one_of((-np.inf, 0.3)), SINGLE)
    return Node({**node.operands, "score_threshold": threshold}, {}, (*node.structural, "score_threshold"))


@recipe("NonMaxSuppressionV4", NO_TYPE)
def padded_suppression(draw: Draw, dtype: np.dtype[Any]) -> Node:
    node = suppression_above(draw, dtype)
    return Node(node.operands, {"pad_to_max_output_size": draw.chance(0.5)}, node.structural)


@recipe("NonMaxSuppressionV5", NO_TYPE)
def soft_suppression(draw: Draw, dtype: np.dtype[Any]) -> Node:
    node = padded_suppression(draw, dtype)
    sigma = np.array(draw.one_of((0.0, 0.5)), SINGLE)
    return Node({**node.operands, "soft_nms_sigma": sigma}, node.attributes, (*node.structural, "soft_nms_sigma"))


@recipe("CombinedNonMaxSuppression", NO_TYPE)
def combined_suppression(draw: Draw, dtype: np.dtype[Any]) -> Node:
    del dtype
    batch, count, classes = draw.integer(1, 2), draw.integer(1, 6), draw.integer(1, 3)
    operands = {
        "boxes": boxes(draw, [batch, count, draw.one_of((1, classes))]),
        "scores": scores(draw, [batch, count, classes]),
        "max_output_size_per_class": np.array(draw.integer(1, 5), np.int32),
        "max_total_size": np.array(draw.integer(1, 8), np.int32),
        "iou_threshold": np.array(0.4, SINGLE),
        "score_threshold": np.array(draw.one_of((-np.inf, 0.2)), SINGLE),
    }
    attributes = {"pad_per_class": draw.chance(0.5), "clip_boxes": draw.chance(0.5)}
    structural = ("max_output_size_per_class", "max_total_size", "iou_threshold", "score_threshold")
    return Node(operands, attributes, structural, fixed=("boxes", "scores"))
