"""The custom operator at the end of detection networks, compared with the interpreter, which has a kernel for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flatbuffers import flexbuffers

import moir
from tests.numerical.runtime import core
from tests.numerical.tflite.files import Operator, Tensor, file_of

tf: Any = pytest.importorskip("tensorflow")

COUNT, CLASSES, LIMIT = 40, 3, 10
OPTIONS = {
    "max_detections": LIMIT, "max_classes_per_detection": 1, "detections_per_class": 5, "nms_score_threshold": 0.3,
    "nms_iou_threshold": 0.4, "num_classes": CLASSES, "y_scale": 10.0, "x_scale": 10.0, "h_scale": 5.0, "w_scale": 5.0,
}  # fmt: skip


@pytest.mark.parametrize("regular", [False, True])
def test_detection_post_process(tmp_path: Path, regular: bool) -> None:
    random = np.random.default_rng(4)
    encodings = random.normal(size=(1, COUNT, 4)).astype(np.float32)
    scores = random.uniform(size=(1, COUNT, CLASSES + 1)).astype(np.float32)
    anchors = np.concatenate([random.uniform(size=(COUNT, 2)), random.uniform(0.1, 0.3, size=(COUNT, 2))], 1).astype(np.float32)
    results = {"boxes": (1, LIMIT, 4), "classes": (1, LIMIT), "scores": (1, LIMIT), "count": (1,)}
    tensors = [
        Tensor("encodings", encodings),
        Tensor("predictions", scores),
        Tensor("anchors", anchors, is_constant=True),
        *(Tensor(name, np.zeros(shape, np.float32)) for name, shape in results.items()),
    ]
    options = bytes(flexbuffers.Dumps({**OPTIONS, "use_regular_nms": regular}))
    operator = Operator("TFLite_Detection_PostProcess", ["encodings", "predictions", "anchors"], list(results), custom=options)
    path = tmp_path / "m.tflite"
    path.write_bytes(file_of(tensors, [operator], ["encodings", "predictions"], list(results)))
    interpreter = tf.lite.Interpreter(str(path))
    interpreter.allocate_tensors()
    for place, value in zip(interpreter.get_input_details(), (encodings, scores), strict=True):
        interpreter.set_tensor(place["index"], value)
    interpreter.invoke()
    expected = [interpreter.get_tensor(each["index"]) for each in interpreter.get_output_details()]
    moir.save_model(moir.convert_model(path), tmp_path / "m.xml")
    actual = core().compile_model(tmp_path / "m.xml", "CPU").create_infer_request().infer([encodings, scores])
    count = int(expected[3][0])
    assert count > 3
    np.testing.assert_array_equal(actual[3], expected[3])
    for number in range(3):
        np.testing.assert_allclose(actual[number][0, :count], expected[number][0, :count], rtol=1e-4, atol=1e-5)
