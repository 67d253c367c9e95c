"""Nodes that random testing found to be wrong: matrix products."""

from __future__ import annotations

import numpy as np
import pytest

from moir.errors import ConversionError
from tests.numerical.onnx.conversion import check, node
from tests.numerical.onnx.node_case import COMPLETE, DYNAMIC, EVALUATED, WITH_RANK, WITHOUT_RANK, NodeCase, normal_numbers

RANDOM = np.random.default_rng(11)
real = normal_numbers(RANDOM)


CASES: dict[str, NodeCase] = {
    **{
        f"Det of {name} of unknown size": NodeCase("Det", {"x": x}, options=DYNAMIC | EVALUATED | {"opset": 22, "rtol": 1e-3})
        for name, x in (
            ("a matrix whose rows are exchanged", np.array([[0, 1, 2], [1, 0, 3], [4, 5, 0]], np.float32)),
            ("matrices without elements", np.zeros((3, 0, 0), np.float32)),
            ("no matrix", np.zeros((0, 2, 2), np.float32)),
        )
    },
    "MatMul with nothing": NodeCase("MatMul", {"a": real(2, 3)}, {"b": np.zeros((3, 0), np.float32)}, options=WITH_RANK),
    "MatMul over nothing": NodeCase("MatMul", {"a": np.zeros((2, 0), np.float32)}, {"b": np.zeros((3, 0, 4), np.float32)}, options=DYNAMIC),
    "MatMul of a matrix and constant ones": NodeCase("MatMul", {"a": real(5, 2)}, {"b": real(3, 2, 4)}, options=DYNAMIC),
    "MatMulInteger of a matrix and constant ones": NodeCase(
        "MatMulInteger",
        {"a": RANDOM.integers(-9, 9, (5, 2)).astype(np.int8)},
        {"b": RANDOM.integers(-9, 9, (2, 3, 2, 4)).astype(np.int8)},
        options=DYNAMIC,
    ),
    "Gemm whose number of columns is that of a constant": NodeCase(
        "Gemm", {"a": real(2, 3), "b": real(4, 2)}, {"c": real(4)}, attributes={"transA": 1, "transB": 1}, options=DYNAMIC
    ),
    "Einsum over nothing": NodeCase(
        "Einsum",
        {"a": np.zeros((4, 0), np.float32)},
        {"b": np.zeros((0, 1), np.float32)},
        attributes={"equation": "ij,jk->ik"},
        options=DYNAMIC,
    ),
    "Gemm of empty matrices": NodeCase(
        "Gemm",
        {"b": real(3, 4), "c": real(3)},
        {"a": np.zeros((0, 4), np.float32)},
        operands="a b c",
        attributes={"transB": 1},
        options=WITHOUT_RANK,
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_case(case: NodeCase) -> None:
    case.check()


def test_a_product_without_elements_needs_the_rank() -> None:
    with pytest.raises(ConversionError, match="the rank of the other one is unknown"):
        check([node("MatMul", ["a", "b"], ["y"])], {"b": real(5)}, constants={"a": np.zeros((0, 2, 5), np.float32)}, forms=["rank"])


def test_products_of_bytes_wrap() -> None:
    a, b, c = (np.arange(first, first + 4, dtype=np.uint8).reshape(2, 2) for first in (8, 16, 5))
    inputs = {"a": a, "b": b, "c": c}
    check([node("Einsum", ["a", "b", "c"], ["y"], equation="ij,jk,kl->il")], inputs, reference="onnx")


def test_products_over_nothing_of_an_unknown_number_of_matrices() -> None:
    nodes = [node("Slice", ["x", "o", "o", "i"], ["n"]), node("Einsum", ["c", "n"], ["y"], equation="bqc,bkc->bqk")]
    constants = {"o": np.array([0]), "i": np.array([1]), "c": real(1, 2, 3)}
    check(nodes, {"x": real(4, 5, 3)}, constants=constants, **COMPLETE, **DYNAMIC)
