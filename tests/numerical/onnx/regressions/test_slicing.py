"""Nodes that random testing found to be wrong: slices."""

from __future__ import annotations

import numpy as np
import pytest

from tests.numerical.onnx.conversion import check, node
from tests.numerical.onnx.node_case import COMPLETE, DYNAMIC, WITH_RANK, NodeCase, normal_numbers

real = normal_numbers(np.random.default_rng(21))


CASES: dict[str, NodeCase] = {
    "Slice along computed axes": NodeCase(
        "Slice",
        {"x": real(3, 5, 4), "a": np.array([-1, 0])},
        {"b": np.array([1, 2]), "e": np.array([9, 0]), "s": np.array([2, -1])},
        operands="x b e a s",
    ),
    **{
        f"Slice backwards from before {size} rows": NodeCase(
            "Slice",
            {"x": real(size, 3)},
            {"starts": np.array([-2]), "ends": np.array([-2]), "axes": np.array([0]), "steps": np.array([-1])},
            options=WITH_RANK,
        )
        for size in (1, 3)
    },
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_case(case: NodeCase) -> None:
    case.check()


def test_a_backward_slice_that_ends_in_front_of_the_data() -> None:
    """The runtime infers that it has nothing, once it knows a limit of the size."""
    constants = {name: np.array([value]) for name, value in (("a", 0), ("m", -1), ("e", 2**31 - 1), ("p", 1), ("f", -4))}
    nodes = [node("Slice", ["x", "m", "e", "a", "p"], ["last"]), node("Slice", ["last", "a", "f", "a", "m"], ["y"])]
    check(nodes, {"x": real(6)}, constants=constants, **COMPLETE, **DYNAMIC)
