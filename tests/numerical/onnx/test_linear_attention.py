"""LinearAttention of com.microsoft, against ONNX Runtime."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import moir
from moir.errors import ConversionError
from tests.numerical.onnx.conversion import check, node
from tests.numerical.runtime import Array

RANDOM = np.random.default_rng(17)
microsoft = partial(node, domain="com.microsoft")
BATCH, TOKENS, KEY, VALUE = 2, 5, 8, 4


def random(*shape: int) -> Array:
    return RANDOM.standard_normal(shape).astype(np.float32) * np.float32(0.5)


@pytest.mark.parametrize("rule", ["linear", "gated", "delta", "gated_delta"])
@pytest.mark.parametrize(("queries", "heads"), [(2, 2), (4, 2), (2, 4)])
@pytest.mark.parametrize("has_state", [False, True])
@pytest.mark.parametrize("by_key", [False, True])
def test_rules(rule: str, queries: int, heads: int, has_state: bool, by_key: bool) -> None:
    if by_key and "gated" not in rule:
        pytest.skip("there is no gate")
    inputs = {
        "q": random(BATCH, TOKENS, queries * KEY),
        "k": random(BATCH, TOKENS, heads * KEY),
        "v": random(BATCH, TOKENS, heads * VALUE),
    }
    names = ["q", "k", "v", "", "", ""]
    if has_state:
        inputs["s"], names[3] = random(BATCH, heads, KEY, VALUE), "s"
    if "gated" in rule:
        inputs["d"], names[4] = -np.abs(random(BATCH, TOKENS, heads * (KEY if by_key else 1))), "d"
    if "delta" in rule:
        inputs["b"], names[5] = np.abs(random(BATCH, TOKENS, heads)), "b"
    model = [microsoft("LinearAttention", names, ["y", "state"], q_num_heads=queries, kv_num_heads=heads, update_rule=rule)]
    check(model, inputs, forms=["static"], atol=1e-4)


def test_scale_and_common_strength() -> None:
    inputs = {name: random(BATCH, TOKENS, 2 * size) for name, size in (("q", KEY), ("k", KEY), ("v", VALUE))}
    inputs |= {"b": np.abs(random(BATCH, TOKENS, 1))}
    model = [
        microsoft(
            "LinearAttention", ["q", "k", "v", "", "", "b"], ["y", "s"], q_num_heads=2, kv_num_heads=2, scale=0.3, update_rule="delta"
        )
    ]
    check(model, inputs, forms=["static"], atol=1e-4)


def test_texts_of_any_length(tmp_path: Path) -> None:
    widths = {"q": 2 * KEY, "k": 2 * KEY, "v": 2 * VALUE, "d": 2, "b": 2}
    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", "tokens", width]) for name, width in widths.items()]
    outputs = [helper.make_empty_tensor_value_info(name) for name in ("y", "s")]
    model = microsoft("LinearAttention", ["q", "k", "v", "", "d", "b"], ["y", "s"], q_num_heads=2, kv_num_heads=2)
    graph = helper.make_graph([model], "g", inputs, outputs)
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
    path = tmp_path / "m.onnx"
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=10), path)
    for batch, tokens in ((1, 1), (2, 7)):
        arrays = {name: random(batch, tokens, width) for name, width in widths.items()}
        results, expected = (moir.run(path, arrays, runtime=runtime) for runtime in ("openvino", "framework"))
        for name, array in expected.items():
            np.testing.assert_allclose(results[name], array, atol=1e-4)


def test_missing_operands() -> None:
    inputs = {name: random(BATCH, TOKENS, 2 * size) for name, size in (("q", KEY), ("k", KEY), ("v", VALUE))}
    with pytest.raises(ConversionError, match="decay or beta"):
        check([microsoft("LinearAttention", ["q", "k", "v"], ["y"], q_num_heads=2, kv_num_heads=2)], inputs, expected=[inputs["v"]])
