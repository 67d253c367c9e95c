"""Recurrent cells and sequences: types against OpenVINO Runtime."""

from __future__ import annotations

import pytest

from tests.unit.dialects.opset.variations import (
    Case,
    Operands,
    check_types,
    typed,
)


def cell(gates: int, states: int, bias_gates: int) -> Operands:
    """Operands of a cell of hidden size 4."""
    return typed((2, 3), *((2, 4),) * states, (gates * 4, 3), (gates * 4, 4), (bias_gates * 4,))


def sequence(gates: int, states: int, bias_gates: int, directions: int) -> Operands:
    """Operands of a sequence of hidden size 4."""
    weights = typed((directions, gates * 4, 3), (directions, gates * 4, 4), (directions, bias_gates * 4))
    return (*typed((2, 5, 3), *((2, directions, 4),) * states), ("i32", (2,)), *weights)


SIZE = {"hidden_size": 4}
RESET = {**SIZE, "linear_before_reset": True}
DIRECTIONS = (("forward", 1), ("bidirectional", 2))

CASES = [
    Case("opset1.RNNCell", cell(1, 1, 1), SIZE),
    Case("opset3.GRUCell", cell(3, 1, 3), SIZE),
    Case("opset3.GRUCell", cell(3, 1, 4), RESET),
    Case("opset4.LSTMCell", cell(4, 2, 4), SIZE, 2),
    *(Case("opset5.RNNSequence", sequence(1, 1, 1, n), {**SIZE, "direction": name}, 2) for name, n in DIRECTIONS),
    *(Case("opset5.GRUSequence", sequence(3, 1, 3, n), {**SIZE, "direction": name}, 2) for name, n in DIRECTIONS),
    *(Case("opset5.GRUSequence", sequence(3, 1, 4, n), {**RESET, "direction": name}, 2) for name, n in DIRECTIONS),
    *(Case("opset5.LSTMSequence", sequence(4, 2, 4, n), {**SIZE, "direction": name}, 3) for name, n in DIRECTIONS),
]

STRICTER = dict.fromkeys(
    ("RNNCell", "GRUCell", "LSTMCell", "RNNSequence", "GRUSequence", "LSTMSequence"), "the input size of data and W must agree"
)
"""What moir refuses and the runtime accepts, by kind."""


@pytest.mark.parametrize("case", CASES, ids=str)
def test_types_are_those_of_the_runtime(case: Case) -> None:
    check_types(case, STRICTER)
