"""Nodes that later random testing found: numbers of 16 bits that overflow, gaps, quantization of unknown ranks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest

import moir
from moir.errors import ConversionError
from tests.numerical.onnx.conversion import build, check, expected_results, node
from tests.numerical.onnx.test_found_by_fuzzing import Case, real
from tests.numerical.runtime import Array, compare, core, run

STATIC: dict[str, Any] = {"forms": ["static"]}
LARGE = np.array([8.5, 65504, -0.25, -2.45, 2], np.float16)


def celu(x: Array, alpha: float) -> Array:
    """The definition of Celu, in f64."""
    wide = x.astype(np.float64)
    with np.errstate(over="ignore"):
        return (np.maximum(wide, 0) + np.minimum(alpha * (np.exp(wide / alpha) - 1), 0)).astype(x.dtype)


CASES: dict[str, Case] = {
    **{
        f"Celu of f16 with alpha {alpha}": Case(
            "Celu", {}, {"x": LARGE}, options=STATIC | {"expected": [celu(LARGE, alpha)]}, attributes={"alpha": alpha}
        )
        for alpha in (1e-5, -0.2)
    },
    "LpNormalization of f16 whose sum is infinite": Case(
        "LpNormalization", {}, {"x": np.array([65504, 0, -60000, 1], np.float16)}, options=STATIC, attributes={"p": 1}
    ),
    "ConvTranspose of bf16 with gaps": Case(
        "ConvTranspose",
        {"w": real(2, 2, 2, 1).astype(ml_dtypes.bfloat16)},
        {"x": real(1, 2, 4, 5).astype(ml_dtypes.bfloat16), "b": real(2).astype(ml_dtypes.bfloat16)},
        "x w b",
        STATIC | {"reference": "onnx", "opset": 22, "rtol": 1e-2, "atol": 2e-2},
        {"strides": [1, 3]},
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_case(case: Case) -> None:
    names = case.operands.split() or [*case.inputs, *case.constants]
    check([node(case.kind, names, ["y"], **case.attributes)], case.inputs, constants=case.constants, **case.options)


LEVELS = np.arange(-12, 12).reshape(2, 3, 4)
SCALES = np.array([0.5, 2, 0.25], np.float32)
ZEROS = np.array([2, -1, 3], np.int8)


@pytest.mark.parametrize("axis", [1, -2])
@pytest.mark.parametrize("constant", [(), ("scale",), ("zero",)])
@pytest.mark.parametrize("kind", ["QuantizeLinear", "DequantizeLinear"])
def test_quantization_along_an_axis_of_unknown_ranks(kind: str, constant: tuple[str, ...], axis: int) -> None:
    x = (LEVELS * 0.7).astype(np.float32) if kind == "QuantizeLinear" else LEVELS.astype(np.int8)
    operands = {"x": x, "scale": SCALES, "zero": ZEROS}
    inputs = {name: value for name, value in operands.items() if name not in constant}
    constants = {name: operands[name] for name in constant}
    check([node(kind, ["x", "scale", "zero"], ["y"], axis=axis)], inputs, constants=constants, forms=["rank"])


@pytest.mark.parametrize("shape", [(), (3,), (2, 3)])
def test_one_scale_for_data_of_unknown_ranks(shape: tuple[int, ...]) -> None:
    inputs = {"x": np.full(shape, 5, np.int8), "scale": np.array(0.5, np.float32)}
    check([node("DequantizeLinear", ["x", "scale"], ["y"])], inputs, forms=["rank"])


def test_members_without_elements_are_joined() -> None:
    """The runtime leaves out constants without elements, and what it computes of them."""
    nodes = [
        node("SequenceConstruct", ["x", "y"], ["s"]),
        node("ConcatFromSequence", ["s"], ["z"], axis=0),
    ]
    x, y = np.zeros((2, 0), np.float32), np.zeros((4, 0), np.float32)
    check(nodes, {"x": x}, constants={"y": y}, forms=["dynamic"])


def test_dequantized_weights_of_four_dimensions(tmp_path: Path) -> None:
    operands = ["x", "xs", "xz", "w", "ws", "wz", "ys", "yz"]
    inputs = {"x": np.array([[[[1, -3], [5, 7]]]], np.int8), "ys": np.array(0.7, np.float32)}
    constants = {
        "xs": np.array(1.3, np.float32),
        "xz": np.array(2, np.int8),
        "w": np.array([[[[6, 1, -1], [0, -6, 3]]]], np.int8),
        "ws": np.array(0.4, np.float32),
        "wz": np.array(4, np.int8),
        "yz": np.array(-3, np.int8),
    }
    model = build([node("QLinearMatMul", operands, ["y"])], inputs, constants=constants)
    (tmp_path / "model.onnx").write_bytes(model.SerializeToString())
    moir.save_model(moir.convert_model(tmp_path / "model.onnx"), tmp_path / "model.xml")
    compare(run(core().read_model(tmp_path / "model.xml"), inputs), expected_results(model, inputs, "onnxruntime"))


def test_exponents_that_the_base_has_not() -> None:
    """Of a negative number, a power with an exponent beside 1 is none."""
    x, y = np.array([-2, 2, 3], ml_dtypes.bfloat16), np.array([0.9995, 0.9995, 2], np.float32)
    check([node("Pow", ["x", "y"], ["z"])], {"x": x, "y": y}, expected=[np.array([np.nan, 2, 9], ml_dtypes.bfloat16)])


def test_a_product_without_elements_needs_the_rank() -> None:
    with pytest.raises(ConversionError, match="the rank of the other one is unknown"):
        check([node("MatMul", ["a", "b"], ["y"])], {"b": real(5)}, constants={"a": np.zeros((0, 2, 5), np.float32)}, forms=["rank"])


def test_normalization_of_equal_halves() -> None:
    """With an epsilon that f16 does not have, as that of BERT."""
    inputs = {"x": np.full((2, 4), 2.738, np.float16), "s": np.ones(4, np.float16), "b": np.arange(4).astype(np.float16)}
    check([node("LayerNormalization", ["x", "s", "b"], ["y"], epsilon=1e-12)], inputs, atol=1e-2)


def test_products_of_bytes_wrap() -> None:
    a, b, c = (np.arange(first, first + 4, dtype=np.uint8).reshape(2, 2) for first in (8, 16, 5))
    inputs = {"a": a, "b": b, "c": c}
    check([node("Einsum", ["a", "b", "c"], ["y"], equation="ij,jk,kl->il")], inputs, reference="onnx")


def test_a_number_or_a_list_that_values_choose_is_refused() -> None:
    """In the runtime both are lists."""
    output = onnx.helper.make_empty_tensor_value_info
    bodies = [onnx.helper.make_graph([node("Identity", [name], ["z"])], name, [], [output("z")]) for name in ("list", "number")]
    nodes = [node("If", ["c"], ["y"], then_branch=bodies[0], else_branch=bodies[1])]
    constants = {"list": real(3), "number": np.array(2, np.float32)}
    with pytest.raises(ConversionError, match="1 dimensions in one branch and 0 in the other"):
        check(nodes, {"c": np.array(True)}, constants=constants, forms=["static"])
