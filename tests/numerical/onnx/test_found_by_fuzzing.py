"""Single nodes that random testing found to be wrong, rejected by the runtime or refused without need.

A case is the kind, the attributes, the inputs and the constants by the names of the operands in order, and what differs
from the defaults of `check`. An operand that is in neither is absent.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import moir
from tests.numerical.onnx.conversion import build, check, expected_results, node
from tests.numerical.runtime import compare, core, run

RANDOM = np.random.default_rng(11)


def real(*shape: int) -> Any:
    """Random f32 data."""
    return RANDOM.standard_normal(shape).astype(np.float32)


@dataclass
class Case:
    """A node. `operands` has the names of all operands, "" for absent ones."""

    kind: str
    inputs: dict[str, Any]
    constants: dict[str, Any] = field(default_factory=dict)
    operands: str = ""
    options: dict[str, Any] = field(default_factory=dict)
    attributes: dict[str, Any] = field(default_factory=dict)


def integers(dtype: type) -> dict[str, Any]:
    """Two operands whose sums, differences and products overflow 8 bits."""
    info = np.iinfo(dtype)
    a, b = (RANDOM.integers(info.min, info.max, 40, endpoint=True).astype(dtype) for _ in range(2))
    a[:2] = info.min, info.max
    return {"a": a, "b": np.where(b == 0, 3, b).astype(dtype)}


NARROW = {f"{kind} of {dtype.__name__}": Case(kind, integers(dtype))
          for kind in ("Add", "Sub", "Mul", "Div") for dtype in (np.int8, np.uint8)}  # fmt: skip

ZERO_PARAMETERS = {f"{kind} with {name} = 0": Case(kind, {"x": real(5)}, attributes={name: 0.0})
                   for kind, name in (("HardSigmoid", "alpha"), ("HardSigmoid", "beta"), ("Selu", "alpha"), ("Selu", "gamma"))}  # fmt: skip

RANGES = {f"Range of {start}, {limit}, {delta}": Case("Range", {"a": np.array(start), "b": np.array(limit), "c": np.array(delta)})
          for start, limit, delta in ((0, 5, -1), (0, -5, 1), (3, 3, 1), (0, 5, 2), (5.0, 0.0, -2.0), (0.0, 5.0, -2.0))}  # fmt: skip

REFERENCE_ONLY = {"reference": "onnx", "forms": ["static", "dynamic"]}

SMALLER_INDICES = {
    f"GatherElements along {axis}": Case(
        "GatherElements", {"x": real(3, 4, 5), "i": RANDOM.integers(0, 3, shape)}, attributes={"axis": axis}
    )
    for axis, shape in ((0, (2, 3, 2)), (1, (2, 6, 5)), (-1, (3, 2, 2)))
}

KERNELS: dict[str, Any] = {
    f"{kind} with filters of unknown sizes, {name}": Case(
        kind, {"x": x, "w": w, "b": real(4)}, options={"forms": ["static", "dynamic"], "opset": 11, "atol": 1e-4}, attributes=attributes
    )
    for kind, name, x, w, attributes in (
        ("Conv", "strided", real(2, 3, 7, 6), real(4, 3, 3, 2), {"strides": [2, 1], "pads": [1, 0, 2, 1]}),
        ("Conv", "in groups", real(2, 4, 7), real(4, 2, 3), {"group": 2, "dilations": [2]}),
        ("Conv", "same", real(1, 3, 5, 6, 4), real(4, 3, 2, 3, 1), {"auto_pad": "SAME_LOWER", "strides": [2, 2, 1]}),
        ("ConvTranspose", "strided", real(2, 3, 4, 5), real(3, 4, 3, 2), {"strides": [2, 3], "pads": [1, 0, 0, 1]}),
        ("ConvTranspose", "in groups", real(1, 4, 5), real(4, 2, 3), {"group": 2, "dilations": [2], "strides": [2], "output_padding": [1]}),
    )
}  # fmt: skip

SHAPES = {"forms": ["static", "dynamic"]}
WORDS = np.array([["a", "Bc", ""], ["Ä", "x y", "e"]], dtype=object)
STRINGS = {
    "Split": Case("Split", {"x": WORDS}, options=SHAPES | {"opset": 13}, attributes={"axis": 0}),
    "Tile": Case("Tile", {"x": WORDS}, {"n": np.array([2, 1])}, options=REFERENCE_ONLY),
    "Expand": Case("Expand", {"x": WORDS}, {"n": np.array([2, 2, 3])}, options=REFERENCE_ONLY),
    "GatherElements": Case("GatherElements", {"x": WORDS, "i": np.array([[0, 1, 1], [1, 0, 1]])}, options=SHAPES),
    "GatherND": Case("GatherND", {"x": WORDS}, {"i": np.array([[0, 2], [1, 0]])}, options=SHAPES),
    "ScatterND": Case(
        "ScatterND", {"x": WORDS, "i": np.array([[0, 2], [1, 0]]), "u": np.array(["new", ""], object)}, options=REFERENCE_ONLY
    ),
    "Pad": Case("Pad", {"x": WORDS}, {"p": np.array([0, 1, 1, 0])}, options=REFERENCE_ONLY, attributes={"mode": "edge"}),
}

REFERENCE = {"reference": "onnx"}
RANKED = REFERENCE | {"forms": ["static", "dynamic"]}

CASES: dict[str, Case] = {
    **NARROW,
    **ZERO_PARAMETERS,
    **RANGES,
    **SMALLER_INDICES,
    **KERNELS,
    **{f"{name} of strings": case for name, case in STRINGS.items()},
    "LRN of an unknown number of channels": Case("LRN", {"x": real(2, 6, 2, 5)}, attributes={"size": 5, "bias": 2.0, "alpha": 0.5}),
    "IsNaN of 8-bit floats": Case("IsNaN", {"x": real(2, 3).astype(ml_dtypes.float8_e5m2)}, options=REFERENCE_ONLY | {"opset": 20}),
    "Compress by nothing": Case("Compress", {"x": real(2, 3)}, {"c": np.array([False, False])}, attributes={"axis": 1}),
    "Slice along computed axes": Case(
        "Slice",
        {"x": real(3, 5, 4), "a": np.array([-1, 0])},
        {"b": np.array([1, 2]), "e": np.array([9, 0]), "s": np.array([2, -1])},
        "x b e a s",
    ),
    "CenterCropPad": Case(
        "CenterCropPad",
        {"x": real(2, 5, 4)},
        {"s": np.array([3, 7], np.int32)},
        options=REFERENCE_ONLY | {"opset": 18},
        attributes={"axes": [1, 2]},
    ),
    "Upsample of booleans": Case(
        "Upsample",
        {"x": np.eye(3, dtype=bool)[None, None]},
        {"s": np.array([1, 1, 2, 2], np.float32)},
        options=SHAPES | {"opset": 9, "expected": [np.kron(np.eye(3), np.ones((2, 2))).astype(bool)[None, None]]},
        attributes={"mode": "nearest"},
    ),
    "Unique of nothing": Case("Unique", {"x": np.zeros((0, 3), np.float32)}, options={"forms": ["static"]}),
    "Erf of integers": Case("Erf", {"x": np.arange(-3, 4)}, options=REFERENCE),
    "OneHot of 8-bit indices": Case(
        "OneHot", {"x": np.array([0, 3, -1, 7], np.int8)}, {"d": np.array(5), "v": real(2)}, "x d v", options=REFERENCE
    ),
    "Hardmax of a list": Case("Hardmax", {"x": real(4)}, attributes={"axis": 0}),
    "LSTM with weights of unknown sizes": Case(
        "LSTM", {"x": real(2, 1, 4), "w": real(1, 12, 4), "r": real(1, 12, 3)}, attributes={"hidden_size": 3}
    ),
    "NonMaxSuppression of boxes of unknown size": Case(
        "NonMaxSuppression", {"b": np.abs(real(1, 6, 4)), "s": real(1, 1, 6)}, {"m": np.array([3]), "i": np.array([0.5], np.float32)}
    ),
    "DFT, onesided, longer than the data": Case(
        "DFT", {"x": real(1, 10, 1)}, {"n": np.array(16)}, "x n", RANKED | {"opset": 19, "atol": 1e-4}, {"onesided": 1}
    ),
    "DFT of f64": Case("DFT", {"x": real(1, 10, 1).astype(np.float64)}, options=RANKED | {"opset": 19, "atol": 1e-4}),
    "DFT of complex numbers": Case("DFT", {"x": real(2, 6, 2)}, options=RANKED | {"opset": 19}),
    "DFT along a computed axis": Case("DFT", {"x": real(2, 6, 5, 2), "a": np.array(-3)}, {}, "x  a", RANKED | {"opset": 20}),
    "STFT with a step of i32": Case(
        "STFT", {"x": real(1, 64, 1)}, {"s": np.array(8, np.int32), "w": np.hanning(16).astype(np.float32)}, options=REFERENCE
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_case(case: Case) -> None:
    names = case.operands.split(" ") if case.operands else [*case.inputs, *case.constants]
    check([node(case.kind, names, ["y"], **case.attributes)], case.inputs, constants=case.constants, **case.options)


VECTOR = np.array([0.5, -1, 2], np.float32)

GRAPHS: dict[str, tuple[list[Any], dict[str, Any], dict[str, Any]]] = {
    "Max and Min with constants of a higher rank": (
        [node("Max", ["x", "low"], ["m"]), node("Min", ["m", "high"], ["y"])],
        {"x": real(5)},
        {"low": np.full((1, 1), -0.5, np.float32), "high": np.array(0.5, np.float32)},
    ),
    "SoftPlus with a constant of a higher rank": (
        [node("Exp", ["x"], ["e"]), node("Add", ["e", "one"], ["s"]), node("Log", ["s"], ["y"])],
        {"x": real(4)},
        {"one": np.ones((1, 1, 1), np.float32)},
    ),
    "Split into uneven parts of an unknown size": (
        [node("Split", ["x"], ["a", "b", "c"], axis=0, num_outputs=3), node("Concat", ["c", "a", "b"], ["y"], axis=0)],
        {"x": real(7, 2)},
        {},
    ),
    "a product with a constant vector, and a factor": (
        [node("MatMul", ["x", "v"], ["p"]), node("Add", ["p", "b"], ["s"]), node("Mul", ["s", "f"], ["y"])],
        {"x": real(2, 5, 3)},
        {"v": VECTOR, "b": np.array([1.5], np.float32), "f": np.array(0.25, np.float32)},
    ),
}


@pytest.mark.parametrize("name", GRAPHS)
def test_graph(name: str) -> None:
    nodes, inputs, constants = GRAPHS[name]
    with TemporaryDirectory() as folder:
        for form in ("static", "dynamic"):
            model = build(nodes, inputs, constants=constants, form=form)
            source = Path(folder) / f"{form}.onnx"
            source.write_bytes(model.SerializeToString())
            moir.save_model(moir.convert_model(source), source.with_suffix(".xml"))
            results = run(core().read_model(source.with_suffix(".xml")), inputs)
            compare(results, expected_results(model, inputs, "onnxruntime"))
