"""Selection of boxes."""

from __future__ import annotations

import numpy as np

from tests.fuzz.draw import Draw
from tests.fuzz.recipes.image import regions
from tests.fuzz.signature import Signature, Values, recipe


@recipe("NonMaxSuppression")
def suppress(draw: Draw, signature: Signature) -> Values:
    batch, classes, count = draw.integer(1, 2), draw.integer(1, 2), draw.integer(1, 6)
    boxes = np.stack([regions(draw, count, 1) for _ in range(batch)]).astype(np.float32)
    limits = {
        "max_output_boxes_per_class": np.array([draw.integer(0, 4)], np.int64),
        "iou_threshold": np.array([draw.one_of((0.0, 0.3, 0.5))], np.float32),
        "score_threshold": np.array([draw.one_of((0.0, 0.4))], np.float32),
    }
    limits = {name: value if draw.chance(0.7) else value.reshape(()) for name, value in limits.items()}
    return {"boxes": boxes, "scores": draw.random.random((batch, classes, count)).astype(np.float32)} | limits
