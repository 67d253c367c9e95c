"""Mask R-CNN in the structure of maskrcnn-benchmark's exports: regions of four levels, whose nodes have no names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper

from tests.numerical.onnx.generated_models import GraphWriter
from tests.numerical.runtime import Array

SIZE = 512
"""Height and width of the image."""

MARGIN = 30
"""Pixels between a region and the edges of the image."""

CHANNELS = 3
CLASSES = 4
LARGEST_RATIO = 4.135166645050049
"""The largest logarithm of the ratio between a box and its region."""

LEVELS = (2, 3, 4, 5)


class MaskRCNN(GraphWriter):
    """The second stage: `regions` [n, 4] and the maps `level_2` … `level_5` give boxes, labels, scores and masks.

    Args:
        detections: the largest number of detections.

    Attributes:
        names: the custom attributes of `ONNXMaskRCNNReplacement` for this model.
    """

    def __init__(self, detections: int) -> None:
        super().__init__(seed=7)
        self.names: dict[str, Any] = {
            "max_delta_log_wh": LARGEST_RATIO,
            "nms_threshold": 0.5,
            "score_threshold": 0.05,
            "post_nms_count": 2000,
            "max_detections_per_image": detections,
            "num_classes": CLASSES,
        }
        self.levels = [self.add("Relu", f"level_{level}") for level in LEVELS]
        regions = self.add("Identity", "regions")
        pooled = self.pooled(regions, 7)
        hidden = self.add("Relu", self.dense(self.add("Flatten", pooled), CHANNELS * 49, 16))
        offsets = self.dense(hidden, 16, 4 * CLASSES)
        scores = self.add("Softmax", self.dense(hidden, 16, CLASSES, scale=1.5), axis=1)
        detected = self.suppressed(self.decoded(regions, offsets), scores, detections)
        pooled_again = self.pooled(detected[0], 14)
        weight = self.normal(CLASSES, CHANNELS, 1, 1)
        self.outputs = [*detected, self.add("Sigmoid", self.add("Conv", pooled_again, weight))]
        self.names |= {
            "input_fpn_heads": self.levels,
            "ROIFeatureExtractor1_output": pooled_again,
            "ROIFeatureExtractor2_input": regions,
            "ROIFeatureExtractor2_output": pooled,
            "box_regressions_input_node": offsets,
            "class_predicitons_node": scores,
            "do_outputs": detected,
        }

    def save(self, directory: Path) -> Path:
        """The model's file."""
        inputs = [helper.make_tensor_value_info("regions", TensorProto.FLOAT, ["n", 4])]
        for level in LEVELS:
            shape = [1, CHANNELS, SIZE >> level, SIZE >> level]
            inputs.append(helper.make_tensor_value_info(f"level_{level}", TensorProto.FLOAT, shape))
        for node in self.nodes:
            node.name = ""
        types = [TensorProto.FLOAT, TensorProto.INT64, TensorProto.FLOAT, TensorProto.FLOAT]
        model = self.model(inputs, self.outputs, 16)
        for output, type_ in zip(model.graph.output, types, strict=True):
            output.type.tensor_type.elem_type = type_
        path = directory / "mask_rcnn.onnx"
        onnx.save(model, path)
        return path

    def number(self, value: float) -> str:
        return self.array(np.array(value, np.float32))

    def column(self, matrix: str, index: int, step: int) -> str:
        """Each step-th column of a matrix, from one on."""
        return self.add("Slice", matrix, self.integers(index), self.integers(2**31), self.integers(1), self.integers(step))

    def dense(self, x: str, inputs: int, outputs: int, scale: float = 1.0) -> str:
        return self.add("Gemm", x, self.normal(inputs, outputs, scale=scale * inputs**-0.5), self.normal(outputs, scale=0.5))

    def pooled(self, regions: str, size: int) -> str:
        """The features [n, channels, size, size] of regions, each from the level of its size."""
        width, height = (self.add("Sub", self.column(regions, axis + 2, 4), self.column(regions, axis, 4)) for axis in (0, 1))
        length = self.add("Sqrt", self.add("Mul", width, height))
        octaves = self.add("Log", self.add("Add", self.add("Div", length, self.number(224)), self.number(1e-6)))
        level = self.add("Floor", self.add("Add", self.add("Div", octaves, self.number(np.log(2))), self.number(4)))
        level = self.add("Clip", level, self.number(LEVELS[0]), self.number(LEVELS[-1]))
        count = self.add("Slice", self.add("Shape", regions), self.integers(0), self.integers(1))
        features = self.add("ConstantOfShape", self.add("Concat", count, self.integers(CHANNELS, size, size), axis=0))
        for number, data in zip(LEVELS, self.levels, strict=True):
            chosen = self.add("Equal", self.add("Reshape", level, self.integers(-1)), self.number(number))
            places = self.add("Reshape", self.add("NonZero", chosen), self.integers(-1))
            images = self.add("Mul", places, self.integers(0))
            scale = {"spatial_scale": 0.5**number, "sampling_ratio": 2, "output_height": size, "output_width": size}
            part = self.add(
                "RoiAlign", data, self.add("Gather", regions, places), images, coordinate_transformation_mode="output_half_pixel", **scale
            )
            features = self.add("ScatterND", features, self.add("Unsqueeze", places, self.integers(1)), part)
        return features

    def decoded(self, regions: str, offsets: str) -> str:
        """The boxes [classes, n, 4] of regions [n, 4] with offsets [n, 4 * classes]."""
        corners: list[str] = []
        for axis in (0, 1):
            first, last = self.column(regions, axis, 4), self.column(regions, axis + 2, 4)
            length = self.add("Add", self.add("Sub", last, first), self.number(1))
            centre = self.add("Add", first, self.add("Mul", length, self.number(0.5)))
            moved = self.add("Div", self.column(offsets, axis, 4), self.number(10))
            ratio = self.add("Min", self.add("Div", self.column(offsets, axis + 2, 4), self.number(5)), self.number(LARGEST_RATIO))
            centre = self.add("Add", self.add("Mul", moved, length), centre)
            half = self.add("Mul", self.add("Mul", self.add("Exp", ratio), length), self.number(0.5))
            corners.append(self.add("Sub", centre, half))
            corners.append(self.add("Sub", self.add("Add", centre, half), self.number(1)))
        ordered = [self.add("Unsqueeze", corners[each], self.integers(2)) for each in (0, 2, 1, 3)]
        boxes = self.add("Clip", self.add("Concat", *ordered, axis=2), self.number(0), self.number(SIZE - 1))
        return self.add("Transpose", boxes, perm=[1, 0, 2])

    def suppressed(self, boxes: str, scores: str, detections: int) -> list[str]:
        """The best boxes, their labels and scores, highest score first."""
        by_class = self.add("Unsqueeze", self.add("Transpose", scores, perm=[1, 0]), self.integers(1))
        boxes, by_class = (self.add("Slice", each, self.integers(1), self.integers(CLASSES)) for each in (boxes, by_class))
        limits = (self.integers(2000), self.number(0.5), self.number(0.05))
        chosen = self.add("NonMaxSuppression", boxes, by_class, *limits)
        result = self.add("GatherND", by_class, chosen)
        count = self.add("Min", self.add("Shape", result), self.integers(detections))
        best = self.add("TopK", result, count, outputs=2)
        places = self.add("Gather", chosen, f"{best}:1")
        of_box = self.add("Gather", places, self.integers(0, 2), axis=1)
        label = self.add("Add", self.add("Gather", places, self.array(np.array(0)), axis=1), self.integers(1))
        return [self.add("GatherND", boxes, of_box), label, best]


def inputs(regions: int) -> dict[str, Array]:
    """Maps of all levels, and regions of all sizes.

    Regions keep clear of the image's edges: the runtime's DetectionOutput does not cut boxes off at the right and the
    lower one.
    """
    random = np.random.default_rng(3)
    sizes = np.exp(random.uniform(np.log(24), np.log(SIZE - 2 * MARGIN), (regions, 2)))
    sizes[0] = SIZE - 2 * MARGIN
    first = MARGIN + random.uniform(0, 1, (regions, 2)) * (SIZE - 2 * MARGIN - sizes)
    maps = {f"level_{level}": random.standard_normal((1, CHANNELS, SIZE >> level, SIZE >> level)) for level in LEVELS}
    values = {"regions": np.concatenate([first, first + sizes], 1), **maps}
    return {name: value.astype(np.float32) for name, value in values.items()}
