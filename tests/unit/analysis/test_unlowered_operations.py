"""What the error about operations without a lowering says can be done."""

from __future__ import annotations

import pytest

from moir.analysis.unlowered_operations import hint
from moir.lowering.onnx.table import onnx
from moir.lowering.pytorch.table import aten
from moir.lowering.table import LoweringTable

NAMES: list[tuple[LoweringTable, str, str, str]] = [
    (onnx, "HardTanh", "onnx.com.example.HardTanh", "register the lowering of HardTanh for com.example.HardTanh"),
    (onnx, "com.example.Own", "onnx.Own", "register the lowering of com.example.Own for Own"),
    (aten, "wave.default", "aten.example.wave.default", "register the lowering of wave.default for example.wave.default"),
    (onnx, "com.example.HardTanh", "onnx.com.example.HardTahn", "did you mean onnx.com.example.HardTanh?"),
    (onnx, "Tanh", "onnx.com.example.HardTanh", "add a lowering"),
]


@pytest.mark.parametrize(("table", "registered", "operation", "expected"), NAMES)
def test_a_lowering_that_is_registered_for_another_domain(table: LoweringTable, registered: str, operation: str, expected: str) -> None:
    with table.extended():
        table.lowers(registered)(lambda op, x: op.Tanh(x))
        assert hint([operation]).startswith(expected)
    assert "register" not in hint([operation])


def test_a_lowering_without_a_return() -> None:
    with onnx.extended():
        onnx.lowers("com.example.HardTanh")(lambda _op, _x: None)
        text = "the lowering of onnx.com.example.HardTanh returned None, which leaves the operation as it is: has it a return?"
        assert hint(["onnx.com.example.HardTanh"]) == text
