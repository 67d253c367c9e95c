"""Constants of element types that numpy does not have, and operations that compute in them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

import moir
from moir.errors import ModelFileError
from tests.numerical.runtime import core


def converted(body: str, folder: Path, result: str) -> ModuleOp:
    (folder / "a.mlir").write_text(f"module {{\n  func.func @main(%x: tensor<5xf32>) -> {result} {{\n{body}\n  }}\n}}\n")
    return moir.convert_model(folder / "a.mlir")


CONSTANTS = {
    "i4": ("[-8, 7, 0, -1, 3]", [-8, 7, 0, -1, 3]),
    "ui4": ("[15, 7, 0, 1, 3]", [15, 7, 0, 1, 3]),
    "i2": ("[-2, 1, 0, -1, 1]", [-2, 1, 0, -1, 1]),
    "ui2": ("[3, 2, 0, 1, 1]", [3, 2, 0, 1, 1]),
    "f4E2M1FN": ("[6.0, -0.5, 0.0, 1.5, -3.0]", [6, -0.5, 0, 1.5, -3]),
    "f8E4M3B11FNUZ": ("[30.0, -0.5, 0.0, 1.5, -3.0]", [30, -0.5, 0, 1.5, -3]),
    "f8E3M4": ('"0x7F38B80001"', None),
    "f6E2M3FN": ("[7.5, -0.5, 0.0, 1.5, -3.0]", [7.5, -0.5, 0, 1.5, -3]),
}


@pytest.mark.parametrize("name", CONSTANTS)
def test_constants(name: str, tmp_path: Path) -> None:
    text, expected = CONSTANTS[name]
    if expected is None:
        # 1.5 and -1.5 have the exponent 3, which is the bias; the last one is the smallest subnormal number.
        expected = [np.nan, 1.5, -1.5, 0, 2**-6]
    body = f"""
    %c = stablehlo.constant dense<{text}> : tensor<5x{name}>
    %0 = stablehlo.reverse %c, dims = [0] : tensor<5x{name}>
    %1 = stablehlo.convert %0 : (tensor<5x{name}>) -> tensor<5xf32>
    %2 = stablehlo.add %x, %1 : tensor<5xf32>
    return %2 : tensor<5xf32>"""
    compiled = core().compile_model(moir.to_openvino(converted(body, tmp_path, "tensor<5xf32>")), "CPU")
    np.testing.assert_array_equal(compiled(np.zeros(5, np.float32))[0], np.array(expected, np.float32)[::-1])


ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "add": np.add,
    "and": np.bitwise_and,
    "maximum": np.maximum,
    "multiply": np.multiply,
    "subtract": np.subtract,
    "xor": np.bitwise_xor,
}


@pytest.mark.parametrize("name", ARITHMETIC)
@pytest.mark.parametrize("element", ["i2", "ui2", "i4", "ui4"])
def test_arithmetic_wraps_around(element: str, name: str, tmp_path: Path) -> None:
    """Integers of less than 8 bits are computed modulo 2ⁿ."""
    bits, is_signed = int(element[-1]), element[0] == "i"
    lowest = -(1 << bits - 1) if is_signed else 0
    values = np.arange(lowest, lowest + (1 << bits))
    a, b = (each.reshape(-1) for each in np.meshgrid(values, values))
    texts = [f"dense<{each.tolist()}> : tensor<{a.size}x{element}>" for each in (a, b)]
    body = f"""
    %a = stablehlo.constant {texts[0]}
    %b = stablehlo.constant {texts[1]}
    %0 = stablehlo.{name} %a, %b : tensor<{a.size}x{element}>
    %1 = stablehlo.convert %0 : (tensor<{a.size}x{element}>) -> tensor<{a.size}xi32>
    return %1 : tensor<{a.size}xi32>"""
    compiled = core().compile_model(moir.to_openvino(converted(body, tmp_path, f"tensor<{a.size}xi32>")), "CPU")
    actual = compiled([np.zeros(5, np.float32)] if compiled.inputs else [])[0]
    np.testing.assert_array_equal(actual, (ARITHMETIC[name](a, b) - lowest) % (1 << bits) + lowest)


def test_arithmetic_at_run_time(tmp_path: Path) -> None:
    body = """
    %0 = stablehlo.convert %x : (tensor<5xf32>) -> tensor<5xi4>
    %1 = stablehlo.iota dim = 0 : tensor<5xi4>
    %c = stablehlo.constant dense<0> : tensor<i4>
    %4 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i4>) -> tensor<5xi4>
    %5 = stablehlo.add %1, %4 : tensor<5xi4>
    %2 = stablehlo.add %0, %5 : tensor<5xi4>
    %3 = stablehlo.convert %2 : (tensor<5xi4>) -> tensor<5xf32>
    return %3 : tensor<5xf32>"""
    compiled = core().compile_model(moir.to_openvino(converted(body, tmp_path, "tensor<5xf32>")), "CPU")
    np.testing.assert_array_equal(compiled([np.array([7, 7, -8, 6, -3], np.float32)])[0], [7, -8, -6, -7, 1])


@pytest.mark.parametrize("element", ["i4", "ui4"])
def test_inputs_and_results_of_4_bits(element: str, tmp_path: Path) -> None:
    """They have the element type of the program, whose elements the runtime moves in bytes."""
    (tmp_path / "a.mlir").write_text(f"""module {{ func.func @main(%x: tensor<6x{element}>) -> tensor<6x{element}> {{
      %0 = stablehlo.reverse %x, dims = [0] : tensor<6x{element}>
      return %0 : tensor<6x{element}>
    }} }}""")
    model = moir.to_openvino(moir.convert_model(tmp_path / "a.mlir"))
    assert [each.element_type.get_type_name() for each in (model.inputs[0], model.outputs[0])] == [element.replace("ui", "u")] * 2


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("%1 = stablehlo.convert %x : (tensor<5xf32>) -> tensor<5xf8E3M4>", "convert: it converts to f8E3M4, which the IR does not have"),
        (
            "%c = stablehlo.constant dense<1> : tensor<5xi2>\n    %1 = stablehlo.popcnt %c : tensor<5xi2>",
            "popcnt: it computes in i2, which the IR does not have; convert the tensor to float32 or int32",
        ),
        (
            "%c = stablehlo.constant dense<1.0> : tensor<5xf8E3M4>\n"
            "    %1 = stablehlo.bitcast_convert %c : (tensor<5xf8E3M4>) -> tensor<5xi8>",
            "bitcast_convert: it computes in f8E3M4",
        ),
    ],
)
def test_operations_that_compute_in_narrow_types(body: str, reason: str, tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match=reason):
        converted(f"    {body}\n    return %x : tensor<5xf32>", tmp_path, "tensor<5xf32>")
