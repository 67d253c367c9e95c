"""The end of an SSD as a DetectionOutput: the rows that MXNet keeps, in the form of the layer."""

from __future__ import annotations

import json
from itertools import takewhile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import moir
from moir.errors import ConversionError
from tests.numerical.mxnet.models import results, write
from tests.numerical.mxnet.test_operations import CASES
from tests.numerical.runtime import Array


def detection_symbol(name: str, **attributes: str) -> dict[str, Any]:
    """The symbol of a case with other attributes of its MultiBoxDetection."""
    symbol: dict[str, Any] = json.loads(bytes(CASES[name]["symbol"]))
    next(node for node in symbol["nodes"] if node["op"] == "_contrib_MultiBoxDetection")["attrs"].update(attributes)
    return symbol


def inputs(name: str) -> dict[str, Array]:
    return {key: value for key, value in CASES[name].items() if key.startswith("x")}


def test_rows(tmp_path: Path) -> None:
    case = CASES["MultiBoxDetection"]
    (expected,) = (value for key, value in case.items() if key.startswith("="))
    path = write(tmp_path, detection_symbol("MultiBoxDetection"), {})
    detections = next(iter(results(moir.to_openvino(moir.convert_model(path, detection="output")), inputs("MultiBoxDetection")).values()))
    kept = [(image, *row) for image, rows in enumerate(expected) for row in rows if row[0] >= 0]
    assert detections.shape[:2] == (1, 1)
    # Image -1 ends the list.
    rows = list(takewhile(lambda row: row[0] >= 0, detections.reshape(-1, 7)))
    np.testing.assert_allclose(sorted(map(tuple, rows)), sorted(kept), rtol=1e-4, atol=1e-5)
    assert len(rows) > 10


def test_suppression_of_any_class(tmp_path: Path) -> None:
    path = write(tmp_path, detection_symbol("MultiBoxDetection", force_suppress="True"), {})
    with pytest.raises(ConversionError, match="suppresses boxes of one class only"):
        moir.convert_model(path, detection="output")


def test_another_network(tmp_path: Path) -> None:
    path = write(tmp_path, json.loads(bytes(CASES["relu"]["symbol"])), {})
    with pytest.raises(ConversionError, match="no detection head was recognised: SSD: there are 0 _contrib_MultiBoxDetection"):
        moir.convert_model(path, detection="output")
