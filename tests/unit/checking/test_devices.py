"""The documented limits of devices."""

from __future__ import annotations

import numpy as np
import pytest

from moir.checking.check import check_module
from moir.targets.devices.registry import DEVICES
from tests.unit.conftest import Parse

TEXT = """
    %x = opset1.Parameter() {{name = "x"}} : tensor<{type}>
    %y = opset1.Relu(%x) {{name = "y"}} : tensor<{type}>
    opset1.Result(%y) {{name = "out"}}
"""

CASES = {
    ("NPU", "2x3xf32"): {},
    ("NPU", "?x3xf32"): {"dynamic-shapes": True},
    ("NPU", "*xf32"): {"dynamic-shapes": True},
    ("NPU", "2x3xf64"): {"element-types": False},
    ("GPU", "2x3xf32"): {},
    ("GPU", "?x3xf32"): {"dynamic-shapes": False},
    ("GPU", "*xf32"): {"dynamic-rank": True, "dynamic-shapes": False},
    ("CPU", "*xf32"): {},
}


@pytest.mark.parametrize(("device", "type_"), CASES, ids=lambda each: each)
def test_limits(parse: Parse, device: str, type_: str) -> None:
    record = DEVICES[device]
    x = np.ones((2, 3), np.float64 if "f64" in type_ else np.float32)
    check = check_module(parse(TEXT.format(type=type_)), [{"x": x}], record.precision, record)
    assert {each.limit: each.refused for each in check.violations} == CASES[device, type_]
    assert all("documentation" in each.source for each in check.violations)
    assert check.is_clean is not bool(CASES[device, type_])
    assert check.static_shapes == ("x[1,3]" if type_ == "?x3xf32" and device != "CPU" else None)


def test_a_shape_that_depends_on_data(parse: Parse) -> None:
    module = parse("""
        %x = opset1.Parameter() {name = "x"} : tensor<2x3xf32>
        %y = opset3.NonZero(%x) {name = "positions", output_type = si64} : tensor<2x?xsi64>
        opset1.Result(%y) {name = "y"}
    """)
    (violation,) = check_module(module, [{"x": np.ones((2, 3), np.float32)}], "f16", DEVICES["NPU"]).violations
    assert (violation.limit, violation.refused) == ("data-dependent-shapes", True)
    assert "'positions'" in violation.subject
