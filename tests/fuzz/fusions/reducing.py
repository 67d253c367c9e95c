"""The smallest part of a model that shows what the whole model shows."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import onnx

from moir.reduction.onnx_graph import OnnxGraph
from moir.reduction.reduce import reduced
from moir.reduction.reduced import Candidate
from tests.fuzz.draw import NoCase
from tests.fuzz.fusions.execution import Switches
from tests.fuzz.fusions.judging import Conversion, Model, Verdict, judged, model_of_onnx, recorded

SECONDS = 40.0
PART = 0.25
"""How large the error of a part has to be in comparison with that of the whole, so that it is the same one."""


def smallest(model: Model, conversion: Conversion, switches: Switches, whole: Verdict) -> Model:
    """A part of a model that has the same outcome; the model itself if it takes too long."""

    def as_model(candidate: Candidate) -> Model:
        assert isinstance(candidate.model, bytes)
        return model_of_onnx(onnx.load_from_string(candidate.model), candidate.inputs)

    def fails(candidate: Candidate) -> bool:
        try:
            actual = judged(as_model(candidate), conversion, switches)
        except NoCase:
            return False
        if actual.judgement.outcome != whole.judgement.outcome or (whole.of_floats and not actual.of_floats):
            return False
        return not np.isfinite(whole.error) or actual.error >= PART * min(1.0, whole.error)

    with TemporaryDirectory() as folder:
        graph = OnnxGraph(model.source.save(Path(folder)), recorded(model.proto, model.inputs))
        try:
            return as_model(reduced(graph, fails, seconds=SECONDS, keeps_weights=True).candidate)
        except Exception:
            # What does not fail twice is reported as it is.
            return model
