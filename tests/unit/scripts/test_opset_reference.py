"""What the script of the reference asks the runtime, on a few operations."""

from __future__ import annotations

import json
import os

import pytest

from scripts.opset_interface import Call, calls
from scripts.opset_reference import REFERENCE, apart, attributes, described, fewest_operands, limited, members
from scripts.opset_samples import SAMPLES

CANDIDATES = ("EXPLICIT", "explicit", "valid", "same_upper", "same_lower", "bilinear", "max", "none", "numpy", "pdpd", "unheard")


@pytest.fixture(scope="module")
def python_interface() -> dict[tuple[str, str], Call]:
    """The calls of the Python interface by operation set and kind."""
    return {(call.opset, call.kind): call for call in calls()}


@pytest.mark.parametrize("name", ["opset1.Add", "opset1.Convolution", "opset2.ROIPooling", "opset6.ReadValue", "opset1.VariadicSplit"])
def test_the_file_is_what_the_runtime_says(name: str, python_interface: dict[tuple[str, str], Call]) -> None:
    opset, _, kind = name.partition(".")
    expected = json.loads(REFERENCE.read_text(encoding="utf-8"))["operations"][name]
    assert described(name, python_interface.get((opset, kind)), CANDIDATES, {}) == expected


def test_every_sample_is_in_the_file() -> None:
    operations = json.loads(REFERENCE.read_text(encoding="utf-8"))["operations"]
    assert [name for name in SAMPLES if "sample" not in operations[name]] == []


def test_required_attributes_and_defaults(python_interface: dict[tuple[str, str], Call]) -> None:
    call = python_interface["opset11", "TopK"]
    assert call.operands == (2, 2)
    assert call.defaults == {"axis": None, "mode": None, "sort": None, "index_element_type": "i32", "stable": False}
    assert python_interface["opset1", "Concat"].operands == (1, None)
    assert python_interface["opset4", "Swish"].operands == (1, 2)
    assert python_interface["opset8", "PriorBox"].defaults == {"offset": None}


def test_words() -> None:
    assert members("Convolution", "opset1", "auto_pad", CANDIDATES) == ["explicit", "same_lower", "same_upper", "valid"]
    assert limited("ROIPooling", "opset2", SAMPLES["opset2.ROIPooling"], "method", 0, CANDIDATES) == ["bilinear", "max"]


def test_operands() -> None:
    assert fewest_operands("StridedSlice", "opset1", SAMPLES["opset1.StridedSlice"]) == 3


def test_a_crash_is_survived() -> None:
    assert attributes("ReadValue", "opset6") is None
    assert apart(os.abort) is None
    assert apart(lambda: [1, "two"]) == [1, "two"]
