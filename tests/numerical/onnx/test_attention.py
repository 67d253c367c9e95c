"""Attention and rotary embeddings of ONNX, against the reference implementation of ONNX."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from moir.errors import ConversionError
from tests.numerical.onnx.conversion import check, node
from tests.numerical.onnx.node_case import COMPLETE, DYNAMIC, EVALUATED, STATIC, WITHOUT_RANK, NodeCase, normal_numbers

RANDOM = np.random.default_rng(9)


def random(*shape: int) -> np.ndarray:
    return RANDOM.standard_normal(shape).astype(np.float32)


Q, K, V = random(2, 4, 3, 8), random(2, 4, 5, 8), random(2, 4, 5, 6)
INPUTS = {"q": Q, "k": K, "v": V}
MASK = np.tril(np.ones((3, 5), bool), 2)


@pytest.mark.parametrize(
    ("attributes", "operations"),
    [({}, 1), ({"scale": 0.3}, 1), ({"is_causal": 1}, 1), ({"softcap": 2.0}, 7), ({"softcap": 2.0, "is_causal": 1}, 16)],
)
def test_attention(attributes: dict[str, Any], operations: int) -> None:
    check(
        [node("Attention", ["q", "k", "v"], ["y"], **attributes)],
        INPUTS,
        opset=23,
        reference="onnx",
        operations=operations,
        forms=("static",),
    )


@pytest.mark.parametrize("mask", [MASK, random(3, 5), random(2, 1, 3, 5), random(1, 4, 3, 5)])
@pytest.mark.parametrize("attributes", [{}, {"is_causal": 1}, {"softcap": 3.0}])
def test_masks(mask: np.ndarray, attributes: dict[str, Any]) -> None:
    model = [node("Attention", ["q", "k", "v", "m"], ["y"], **attributes)]
    check(model, {**INPUTS, "m": mask}, opset=23, reference="onnx", forms=("static", "dynamic"), fixed=["q", "k", "v"])


def test_a_query_that_sees_no_key_gets_zeros() -> None:
    mask = MASK.copy()
    mask[1] = False
    model = [node("Attention", ["q", "k", "v", "m"], ["y"])]
    check(model, {**INPUTS, "m": mask}, opset=23, reference="onnx", forms=("static",))


def test_shared_heads() -> None:
    inputs = {"q": Q, "k": K[:, :2], "v": V[:, :2]}
    check([node("Attention", ["q", "k", "v"], ["y"])], inputs, opset=23, reference="onnx", forms=("static",))


def test_heads_that_cannot_be_shared() -> None:
    inputs = {"q": Q, "k": K[:, :3], "v": V[:, :3]}
    with pytest.raises(ConversionError, match="4 heads of the query cannot share 3"):
        check([node("Attention", ["q", "k", "v"], ["y"])], inputs, opset=23, expected=[Q])


def test_past_keys() -> None:
    inputs = {**INPUTS, "pk": random(2, 4, 2, 8), "pv": random(2, 4, 2, 6)}
    model = [node("Attention", ["q", "k", "v", "", "pk", "pv"], ["y", "nk", "nv"], is_causal=1)]
    check(model, inputs, opset=23, reference="onnx", forms=("static",))


def test_flat_operands() -> None:
    inputs = {"q": random(2, 3, 32), "k": random(2, 5, 16), "v": random(2, 5, 12)}
    model = [node("Attention", ["q", "k", "v"], ["y"], q_num_heads=4, kv_num_heads=2)]
    check(model, inputs, opset=23, reference="onnx", forms=("static", "dynamic"))


@pytest.mark.parametrize("mode", [0, 1, 3])
def test_scores(mode: int) -> None:
    model = [node("Attention", ["q", "k", "v"], ["y", "", "", "s"], qk_matmul_output_mode=mode)]
    check(model, INPUTS, opset=24, reference="onnx", forms=("static",))


@pytest.mark.parametrize("interleaved", [0, 1])
@pytest.mark.parametrize("flat", [False, True])
@pytest.mark.parametrize("size", [0, 4])
def test_rotary_embedding(interleaved: int, flat: bool, size: int) -> None:
    inputs = {
        "x": random(2, 3, 32) if flat else random(2, 4, 3, 8),
        "cos": random(9, (size or 8) // 2),
        "sin": random(9, (size or 8) // 2),
        "p": np.array([[0, 3, 8], [1, 2, 5]], np.int64),
    }
    attributes = {"num_heads": 4} if flat else {}
    model = [node("RotaryEmbedding", list(inputs), ["y"], interleaved=interleaved, rotary_embedding_dim=size, **attributes)]
    check(model, inputs, opset=23, reference="onnx", forms=("static", "dynamic"))


real = normal_numbers(np.random.default_rng(3))

NODES: dict[str, NodeCase] = {
    "RotaryEmbedding of dynamic rank": NodeCase(
        "RotaryEmbedding", {"x": real(1, 2, 3, 8)}, {"cos": real(1, 3, 4), "sin": real(1, 3, 4)}, options=WITHOUT_RANK | {"opset": 23}
    ),
    "Attention with a window that leaves queries nothing": NodeCase(
        "Attention",
        {"q": real(1, 2, 6, 4), "k": real(1, 2, 3, 4), "v": real(1, 2, 3, 5)},
        attributes={"left_window_size": 1, "softcap": 2.0},
        options=STATIC | {"opset": 25},
    ),
    "Attention to one constant key": NodeCase(
        "Attention",
        {"q": real(1, 1, 2, 4), "v": real(1, 1, 1, 3)},
        {"k": real(1, 1, 1, 4), "n": np.array([1])},
        operands="q k v - - - n",
        attributes={"softcap": 2.0, "scale": 0.1},
        options=COMPLETE | DYNAMIC | EVALUATED | {"opset": 24},
    ),
}


@pytest.mark.parametrize("case", NODES.values(), ids=NODES)
def test_node(case: NodeCase) -> None:
    case.check()
