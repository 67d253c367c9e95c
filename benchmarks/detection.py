"""Inference time of detection networks as plain operations and with a DetectionOutput.

    python benchmarks/detection.py [--repeat 50]

The networks have the structure of the TensorFlow Object Detection API and random weights (`tests/numerical/detection`). Their
backbones are so small that the times are those of the post-processing.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import numpy as np
import openvino
import tensorflow as tf

from tests.numerical.detection.conversion import converted, frozen
from tests.numerical.detection.object_detection_api import Suppression, Version, ssd
from tests.numerical.detection.retinanet import OUTPUTS as RETINANET_OUTPUTS
from tests.numerical.detection.retinanet import retinanet
from tests.numerical.detection.two_stages import PROPOSALS, faster_rcnn

OUTPUTS = ["detection_boxes", "detection_scores", "detection_classes", "num_detections"]
TOTAL = Suppression(score_threshold=0.3, iou_threshold=0.6, max_detections_per_class=100, max_total_detections=100)
ALL = Suppression(score_threshold=1e-8, iou_threshold=0.6, max_detections_per_class=100, max_total_detections=100)
FIRST = Suppression(score_threshold=0.0, iou_threshold=0.7, max_detections_per_class=PROPOSALS, max_total_detections=PROPOSALS)

NETWORKS: dict[str, tuple[Callable[[], tf.Graph], list[str], list[int]]] = {
    "SSD, 90 classes, 3610 anchors, score threshold 0.3": (lambda: ssd(Version(), TOTAL, image=304, classes=90), OUTPUTS, [1, 304, 304, 3]),
    "SSD, 90 classes, 3610 anchors, score threshold 1e-8": (lambda: ssd(Version(), ALL, image=304, classes=90), OUTPUTS, [1, 304, 304, 3]),
    "Faster R-CNN, 3 classes, 256 anchors, 12 proposals": (lambda: faster_rcnn(Version(), FIRST, TOTAL), OUTPUTS, [1, 64, 64, 3]),
    "RetinaNet, 3 classes, 160 anchors": (retinanet, RETINANET_OUTPUTS, [1, 64, 64, 3]),
}


def milliseconds(path: Path, detection: Literal["output", "plain"], shape: list[int], repeat: int) -> tuple[float, int]:
    """The median time of an inference, in milliseconds, and the number of operations of the IR without constants."""
    options: dict[str, Any] = {"input_shape": shape, "detection": detection}
    model = converted(path, **options)
    operations = sum(op.get_type_name() != "Constant" for op in model.get_ordered_ops())
    core = openvino.Core()
    request = core.compile_model(model, "CPU", {"INFERENCE_NUM_THREADS": 1}).create_infer_request()
    element = np.uint8 if model.inputs[0].get_element_type() == openvino.Type.u8 else np.float32
    x = np.random.default_rng(0).random(shape) * 255
    times: list[float] = []
    for _ in range(repeat + 3):
        start = time.perf_counter()
        request.infer({0: x.astype(element)})
        times.append(1e3 * (time.perf_counter() - start))
    return statistics.median(times[3:]), operations


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=50, help="inferences to take the median of")
    repeat: int = parser.parse_args().repeat
    print("| network | plain | output |\n| --- | --- | --- |")
    for title, (build, outputs, shape) in NETWORKS.items():
        with TemporaryDirectory() as directory:
            path = frozen(build(), outputs, Path(directory))
            cells = [
                f"{duration:.2f} ms, {count} operations"
                for duration, count in (milliseconds(path, way, shape, repeat) for way in ("plain", "output"))
            ]
        print(f"| {title} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
