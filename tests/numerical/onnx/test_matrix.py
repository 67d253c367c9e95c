"""Matrix products, Einstein summation and triangles of ONNX, against ONNX Runtime."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from moir.errors import ConversionError
from tests.numerical.onnx.conversion import check, node
from tests.numerical.onnx.node_case import COMPLETE, DYNAMIC, EVALUATED, WITH_RANK, WITHOUT_RANK, NodeCase, normal_numbers

RANDOM = np.random.default_rng(6)


def random(*shape: int) -> np.ndarray:
    return RANDOM.standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize(("a", "b"), [((3, 4), (4, 5)), ((2, 3, 4), (4, 5)), ((2, 1, 3, 4), (5, 4, 2)), ((4,), (4, 5)), ((3, 4), (4,))])
def test_matmul(a: tuple[int, ...], b: tuple[int, ...]) -> None:
    check([node("MatMul", ["a", "b"], ["y"])], {"a": random(*a), "b": random(*b)}, opset=9, operations=1)


def test_matmul_of_integers() -> None:
    a, b = RANDOM.integers(-9, 9, (3, 4)).astype(np.int32), RANDOM.integers(-9, 9, (4, 2)).astype(np.int32)
    check([node("MatMul", ["a", "b"], ["y"])], {"a": a, "b": b}, opset=13)


@pytest.mark.parametrize(
    ("attributes", "operations"),
    [
        ({}, 2),
        ({"transA": 1, "transB": 1}, 2),
        ({"alpha": 0.5}, 3),
        ({"alpha": 0.5, "beta": 2.0, "transB": 1}, 4),
        ({"beta": 0.0}, 1),
    ],
)
@pytest.mark.parametrize("constant", [True, False])
@pytest.mark.parametrize("bias", [(5,), (3, 5), (3, 1), ()])
def test_gemm(attributes: dict[str, Any], operations: int, constant: bool, bias: tuple[int, ...]) -> None:
    a = random(4, 3) if attributes.get("transA") else random(3, 4)
    b = random(5, 4) if attributes.get("transB") else random(4, 5)
    weights = {"b": b, "c": np.asarray(random(*bias))}
    check(
        [node("Gemm", ["a", "b", "c"], ["y"], **attributes)],
        {"a": a} if constant else {"a": a, **weights},
        constants=weights if constant else None,
        opset=13,
        operations=min(operations, 2) if constant else operations,
    )


def test_gemm_without_bias() -> None:
    check([node("Gemm", ["a", "b"], ["y"])], {"a": random(3, 4), "b": random(4, 5)}, opset=11, operations=1)


def test_gemm_with_broadcast() -> None:
    inputs = {"a": random(3, 4), "b": random(4, 5), "c": random(5)}
    check([node("Gemm", ["a", "b", "c"], ["y"], broadcast=1)], inputs, opset=6, expected=[inputs["a"] @ inputs["b"] + inputs["c"]])


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [
        ("ij,jk->ik", [(2, 3), (3, 4)]),
        ("bij, bjk -> bik", [(2, 2, 3), (2, 3, 4)]),
        ("...ij,...jk->...ik", [(2, 2, 3), (2, 3, 4)]),
        ("ij->ji", [(2, 3)]),
        ("ij,jk", [(2, 3), (3, 4)]),
        ("i,j->ij", [(2,), (3,)]),
    ],
)
def test_einsum(equation: str, shapes: list[tuple[int, ...]]) -> None:
    inputs = {f"x{index}": random(*shape) for index, shape in enumerate(shapes)}
    forms = ("static", "dynamic") if "..." in equation else ("static", "dynamic", "rank")
    check([node("Einsum", list(inputs), ["y"], equation=equation)], inputs, opset=12, operations=1, forms=forms)


@pytest.mark.parametrize("a_zero", [None, np.array(3, np.uint8), np.array([1, 2, 3], np.uint8), np.array(0, np.uint8)])
@pytest.mark.parametrize("b_zero", [None, np.array(-2, np.int8), np.array([1, 0, -3, 4, 5], np.int8)])
@pytest.mark.parametrize("constant", [True, False])
def test_matmul_integer(a_zero: np.ndarray | None, b_zero: np.ndarray | None, constant: bool) -> None:
    a, b = RANDOM.integers(0, 255, (3, 4)).astype(np.uint8), RANDOM.integers(-128, 127, (4, 5)).astype(np.int8)
    points = {name: value for name, value in (("az", a_zero), ("bz", b_zero)) if value is not None}
    names = ["a", "b", *(name if name in points else "" for name in ("az", "bz"))]
    left = a.astype(np.int32) - (0 if a_zero is None else a_zero.astype(np.int32).reshape(-1, 1))
    right = b.astype(np.int32) - (0 if b_zero is None else b_zero.astype(np.int32))
    check(
        [node("MatMulInteger", names, ["y"])],
        {"a": a, "b": b} if constant else {"a": a, "b": b, **points},
        constants=points if constant else None,
        opset=10,
        expected=[left @ right],
        fixed=list(points),
    )


@pytest.mark.parametrize("upper", [0, 1])
@pytest.mark.parametrize("diagonal", [None, 0, 1, -2, 9, -9, 2**62])
@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.bool_])
def test_trilu(upper: int, diagonal: int | None, dtype: type) -> None:
    x = RANDOM.integers(0, 9, (2, 3, 4)).astype(dtype)
    constants = None if diagonal is None else {"k": np.array(diagonal, np.int64)}
    k = max(-20, min(diagonal or 0, 20))
    expected = np.triu(x, k) if upper else np.tril(x, k)
    forms = ("static",) if abs(diagonal or 0) > 2**31 else ("static", "dynamic", "rank")
    model = [node("Trilu", ["x", "k"][: 1 + (diagonal is not None)], ["y"], upper=upper)]
    check(model, {"x": x}, constants=constants, opset=14, expected=[expected], operations=1, forms=forms)


def test_trilu_with_a_computed_diagonal() -> None:
    x = random(3, 4)
    model = [node("Trilu", ["x", "k"], ["y"])]
    check(model, {"x": x, "k": np.array(1, np.int64)}, opset=14, expected=[np.triu(x, 1)])


NUMBERS = np.random.default_rng(11)
real = normal_numbers(NUMBERS)


NODES: dict[str, NodeCase] = {
    **{
        f"Det of {name} of dynamic size": NodeCase("Det", {"x": x}, options=DYNAMIC | EVALUATED | {"opset": 22, "rtol": 1e-3})
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
        {"a": NUMBERS.integers(-9, 9, (5, 2)).astype(np.int8)},
        {"b": NUMBERS.integers(-9, 9, (2, 3, 2, 4)).astype(np.int8)},
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


@pytest.mark.parametrize("case", NODES.values(), ids=NODES)
def test_node(case: NodeCase) -> None:
    case.check()


def test_a_product_without_elements_needs_the_rank() -> None:
    with pytest.raises(ConversionError, match="the rank of the other one is dynamic"):
        check([node("MatMul", ["a", "b"], ["y"])], {"b": real(5)}, constants={"a": np.zeros((0, 2, 5), np.float32)}, forms=["rank"])


def test_products_of_bytes_wrap() -> None:
    a, b, c = (np.arange(first, first + 4, dtype=np.uint8).reshape(2, 2) for first in (8, 16, 5))
    inputs = {"a": a, "b": b, "c": c}
    check([node("Einsum", ["a", "b", "c"], ["y"], equation="ij,jk,kl->il")], inputs, reference="onnx")


def test_products_over_nothing_of_an_unknown_number_of_matrices() -> None:
    nodes = [node("Slice", ["x", "o", "o", "i"], ["n"]), node("Einsum", ["c", "n"], ["y"], equation="bqc,bkc->bqk")]
    constants = {"o": np.array([0]), "i": np.array([1]), "c": real(1, 2, 3)}
    check(nodes, {"x": real(4, 5, 3)}, constants=constants, **COMPLETE, **DYNAMIC)
