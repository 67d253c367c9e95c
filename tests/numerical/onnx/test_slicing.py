"""Slices whose bounds lie outside of data of unknown sizes."""

from __future__ import annotations

import numpy as np
import pytest

from tests.numerical.onnx.conversion import check, node
from tests.numerical.onnx.node_case import COMPLETE, DYNAMIC, WITH_RANK, NodeCase, normal_numbers


@pytest.mark.parametrize(("start", "end", "step"), [(-4, -4, -1), (-4, -3, -1), (-4, -4, -2), (-4, -5, -1), (5, -2, -1)])
def test_backward_slices_that_may_begin_before_the_first_element(start: int, end: int, step: int) -> None:
    constants = {"s": np.array([start]), "e": np.array([end]), "a": np.array([1]), "d": np.array([step])}
    for size in (1, 3, 5):
        x = np.arange(2 * size, dtype=np.float32).reshape(2, size)
        check([node("Slice", ["x", "s", "e", "a", "d"], ["y"])], {"x": x}, constants=constants)


@pytest.mark.parametrize("opset", [9, 13])
def test_from_the_end_to_a_place_counted_from_the_begin(opset: int) -> None:
    """After another slice, which tells the runtime a limit of the size."""
    names = ["s", "e", "a", "t", "f"]
    starts, ends, axes, starts_after, ends_after = bounds = [2, 0], [2**31 - 1, 2], [1, 0], [0, -3], [1, 4]
    attributes = [{"starts": starts, "ends": ends, "axes": axes}, {"starts": starts_after, "ends": ends_after}]
    first, second = attributes if opset < 10 else ({}, {})
    nodes = [
        node("Slice", ["x", *names[:3]] if opset >= 10 else ["x"], ["v"], **first),
        node("Slice", ["v", *names[3:]] if opset >= 10 else ["v"], ["y"], **second),
    ]
    constants = {name: np.array(value) for name, value in zip(names, bounds, strict=True)} if opset >= 10 else {}
    for size in (3, 6, 9):
        x = np.arange(2 * size, dtype=np.float32).reshape(2, size)
        check(nodes, {"x": x}, constants=constants, opset=opset, outputs=["v", "y"])


real = normal_numbers(np.random.default_rng(21))


NODES: dict[str, NodeCase] = {
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


@pytest.mark.parametrize("case", NODES.values(), ids=NODES)
def test_node(case: NodeCase) -> None:
    case.check()


def test_a_backward_slice_that_ends_in_front_of_the_data() -> None:
    """The runtime infers that it has nothing, once it knows a limit of the size."""
    constants = {name: np.array([value]) for name, value in (("a", 0), ("m", -1), ("e", 2**31 - 1), ("p", 1), ("f", -4))}
    nodes = [node("Slice", ["x", "m", "e", "a", "p"], ["last"]), node("Slice", ["last", "a", "f", "a", "m"], ["y"])]
    check(nodes, {"x": real(6)}, constants=constants, **COMPLETE, **DYNAMIC)
