"""Nodes that random testing found to be wrong: recurrent networks."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest

from tests.numerical.onnx.conversion import build, convert, expected_results, node
from tests.numerical.onnx.node_case import COMPLETE, DYNAMIC, WITHOUT_RANK, NodeCase, normal_numbers
from tests.numerical.runtime import compare, run

real = normal_numbers(np.random.default_rng(16))

STATES = {
    "LSTM": NodeCase(
        "LSTM",
        {"x": real(3, 2, 4), "h": real(2, 2, 3)},
        {"w": real(2, 12, 4), "r": real(2, 12, 3), "c": real(2, 2, 3)},
        operands="x w r - - h c",
        attributes={"hidden_size": 3, "direction": "bidirectional"},
        options=DYNAMIC | {"opset": 7},
    ),
    "GRU": NodeCase(
        "GRU",
        {"x": real(4, 3, 2)},
        {"w": real(1, 6, 2), "r": real(1, 6, 2), "h": real(1, 3, 2)},
        operands="x w r - - h",
        attributes={"hidden_size": 2},
        options=DYNAMIC,
    ),
}

CASES: dict[str, NodeCase] = {
    "LSTM with weights of unknown sizes": NodeCase(
        "LSTM", {"x": real(2, 1, 4), "w": real(1, 12, 4), "r": real(1, 12, 3)}, attributes={"hidden_size": 3}
    ),
    **{f"{name} whose state says the batch": case for name, case in STATES.items()},
    "LSTM whose lengths say the batch": NodeCase(
        "LSTM",
        {"x": real(4, 2, 3), "lengths": np.array([4, 2], np.int32)},
        {"w": real(2, 8, 3), "r": real(2, 8, 2)},
        operands="x w r - lengths",
        attributes={"hidden_size": 2, "direction": "bidirectional"},
        options=DYNAMIC | {"opset": 14, "fixed": ["lengths"]},
    ),
    "LSTM with weights of unknown rank": NodeCase(
        "LSTM",
        {"w": real(1, 12, 2), "r": real(1, 12, 3), "p": real(1, 9)},
        {"x": real(4, 2, 2), "b": real(1, 24)},
        operands="x w r b - - - p",
        attributes={"hidden_size": 3},
        options=COMPLETE | WITHOUT_RANK,
    ),
    "LSTM of unknown input size": NodeCase(
        "LSTM",
        {"x": real(4, 3, 1), "n": np.array([1, 1, 1], np.int32)},
        {"w": real(1, 16, 1), "r": real(1, 16, 4)},
        operands="x w r - n",
        attributes={"hidden_size": 4, "direction": "reverse"},
        options=COMPLETE | DYNAMIC,
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_case(case: NodeCase) -> None:
    case.check()


@pytest.mark.parametrize(("kind", "gates"), [("LSTM", 4), ("GRU", 3)])
def test_lengths_of_a_batch_of_unknown_size(kind: str, gates: int) -> None:
    """The number of steps is known."""
    inputs = {"x": real(4, 2, 3), "lengths": np.array([4, 2], np.int32)}
    constants = {"w": real(2, gates * 2, 3), "r": real(2, gates * 2, 2)}
    nodes = [node(kind, ["x", "w", "r", "", "lengths"], ["y", "h"], hidden_size=2, direction="bidirectional")]
    expected = expected_results(build(nodes, inputs, constants=constants, opset=14), inputs, "onnxruntime")
    model = build(nodes, inputs, constants=constants, opset=14, form="dynamic")
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_value = 4
    with TemporaryDirectory() as folder:
        compare(run(convert(model, Path(folder)), inputs), expected)
