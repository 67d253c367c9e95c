"""Detection of objects: types against OpenVINO Runtime."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.unit.dialects.opset.variations import (
    Case,
    Impossible,
    Operands,
    check_refused,
    check_types,
    integers,
    typed,
)

DETECT = {"keep_top_k": [-1], "nms_threshold": 0.4, "normalized": True}
CLASSWISE = {"share_location": False, "normalized": False}
DETECTIONS = typed((2, 40), (2, 20), (1, 2, 40))
BOXES = typed((2, 10, 4), (2, 3, 10))
PRIOR = {"min_size": [30.0], "max_size": [60.0], "aspect_ratio": [2.0], "flip": True, "offset": 0.5, "variance": [0.1, 0.1, 0.2, 0.2]}
PRIOR_VARIANTS: list[dict[str, Any]] = [
    {"flip": False},
    {"max_size": []},
    {"aspect_ratio": []},
    {"aspect_ratio": [1.0, 2.0, 2.0, 0.5, 3.0]},
    {"min_size": [30.0, 40.0], "max_size": [60.0, 70.0]},
    {"min_size": [30.0, 40.0], "max_size": [60.0, 70.0], "scale_all_sizes": False},
    {"scale_all_sizes": False},
    {"fixed_size": [10.0, 20.0], "density": [2.0, 3.0]},
    {"fixed_size": [10.0, 20.0], "density": [2.7, 3.0], "fixed_ratio": [1.0, 2.0]},
    {"fixed_size": [10.0], "density": [2.0], "scale_all_sizes": False},
    {"fixed_size": [10.0, 20.0], "min_size": [], "max_size": []},
    {"fixed_size": [10.0], "density": [2.0], "fixed_ratio": [1.0, 2.0], "aspect_ratio": [3.0, 4.0]},
]
REGIONS = {"pooled_h": 2, "pooled_w": 3, "sampling_ratio": 2, "spatial_scale": 1.0, "mode": "avg"}

CASES = [
    *(Case("opset8.DetectionOutput", DETECTIONS, {**DETECT, **kept}) for kept in ({}, {"top_k": 5}, {"keep_top_k": [7]})),
    Case("opset8.DetectionOutput", typed((2, 40), (2, 20), (2, 1, 40)), {**DETECT, "variance_encoded_in_target": True}),
    *(
        Case("opset8.DetectionOutput", typed((2, 80), (2, 20), (1, 2, 50), *first_stage), {**DETECT, **CLASSWISE})
        for first_stage in ((), ((2, 20), (2, 80)))
    ),
    Case("opset8.MatrixNms", BOXES, {"keep_top_k": 3}, 3),
    Case("opset8.MatrixNms", typed((1, 10, 4), (1, 0, 10)), {"output_type": "i32"}, 3),
    Case("opset8.MulticlassNms", BOXES, {"nms_top_k": 3, "output_type": "i32"}, 3),
    Case("opset9.NonMaxSuppression", BOXES, {}, 3),
    *(Case("opset9.NonMaxSuppression", (*BOXES, np.array(limit)), {"output_type": "i32"}, 3) for limit in (3, 30, 0, -1)),
    Case("opset9.NonMaxSuppression", (*BOXES, integers(0), *typed((), (1,), ())), {}, 3),
    Case("opset9.NonMaxSuppression", (*BOXES, integers(3), *typed((), (2,), ())), {}, 3),
    Case("opset9.NonMaxSuppression", (*BOXES, ("i64", ())), {}, 3),
    *(Case("opset8.PriorBox", (integers(2, 3), integers(32, 32)), {**PRIOR, **variant}) for variant in PRIOR_VARIANTS),
    Case("opset8.PriorBox", (integers(0, 3), ("i64", (2,))), PRIOR),
    Case("opset8.PriorBox", (("i64", (2,)), integers(32, 32)), PRIOR),
    Case("opset1.PriorBoxClustered", (integers(2, 3), integers(32, 32)), {"width": [1.0, 2.0], "height": [3.0, 4.0], "offset": 0.5}),
    Case("opset1.PriorBoxClustered", (integers(2, 3), integers(32, 32)), {"width": [1.0, 2.0], "height": [3.0], "offset": 0.5}),
    Case("opset9.ROIAlign", (*typed((1, 8, 7, 6), (2, 4)), ("i32", (2,))), REGIONS),
]

STRICTER = {
    "PriorBox": "layer_shape must have two entries even where they are not known",
    "PriorBoxClustered": "as PriorBox",
}
"""What moir refuses and the runtime accepts, by kind."""


LAXER = {
    "DetectionOutput": "the runtime finds 0 location classes where their number is not known",
    "MulticlassNms": "the runtime fails internally if only the rank of the scores is unknown",
}
"""What the runtime refuses and moir accepts, for types may still become more precise."""


@pytest.mark.parametrize("case", CASES, ids=str)
def test_types_are_those_of_the_runtime(case: Case) -> None:
    check_types(case, STRICTER, laxer=LAXER)


IMPOSSIBLE: list[Impossible] = [
    ("opset8.PriorBox", (integers(2, 3), integers(32, 32)), {**PRIOR, "density": [float("inf")]}, "positive"),
    ("opset8.PriorBox", (integers(2, 3), integers(32, 32)), {**PRIOR, "aspect_ratio": [0.0]}, "positive"),
]


@pytest.mark.parametrize(("name", "operands", "properties", "reason"), IMPOSSIBLE, ids=lambda item: item if isinstance(item, str) else None)
def test_impossible_properties_are_inference_errors(name: str, operands: Operands, properties: dict[str, Any], reason: str) -> None:
    check_refused(name, operands, properties, reason)
