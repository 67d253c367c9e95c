"""GroupQueryAttention of the domain com.microsoft, against ONNX Runtime."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from moir.errors import ConversionError
from tests.numerical.onnx.conversion import check, node
from tests.numerical.runtime import Array

RANDOM = np.random.default_rng(12)
HEADS, OWN, SIZE, LONGEST = 4, 2, 16, 12
ANGLES = np.outer(np.arange(LONGEST), 0.3 ** np.arange(SIZE // 2)).astype(np.float32)
CACHES = {"cos": np.cos(ANGLES), "sin": np.sin(ANGLES)}


def random(*shape: int) -> Array:
    return RANDOM.standard_normal(shape).astype(np.float32)


def compare(past: int, lengths: list[int], count: int, packed: bool = False, results: int = 3, **attributes: Any) -> None:
    """Compare `count` new tokens after past ones; `lengths` are those of the sequences with the new tokens."""
    batch, total = len(lengths), max(lengths)
    inputs: dict[str, Array] = {"q": random(batch, count, (HEADS + 2 * OWN * packed) * SIZE)}
    if not packed:
        inputs |= {"k": random(batch, count, OWN * SIZE), "v": random(batch, count, OWN * SIZE)}
    inputs |= {"past_k": random(batch, OWN, past, SIZE), "past_v": random(batch, OWN, past, SIZE)}
    inputs |= {"last": np.array(lengths, np.int32) - 1}
    constants = {"total": np.array(total, np.int32)} | (CACHES if attributes.get("do_rotary") else {})
    names = ["q", "" if packed else "k", "" if packed else "v", "past_k", "past_v", "last", "total"]
    names += ["cos", "sin"] if attributes.get("do_rotary") else []
    nodes = [
        node(
            "GroupQueryAttention",
            names,
            ["y", "present_k", "present_v"],
            domain="com.microsoft",
            num_heads=HEADS,
            kv_num_heads=OWN,
            **attributes,
        )
    ]
    check(nodes, inputs, constants=constants, forms=["static", "dynamic"], atol=1e-4, outputs=["y", "present_k", "present_v"][:results])


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize(
    "attributes",
    [{}, {"do_rotary": 1}, {"do_rotary": 1, "rotary_interleaved": 1}, {"scale": 0.5}, {"local_window_size": 3}, {"softcap": 2.0}],
)
def test_first_tokens_and_the_next_one(attributes: dict[str, Any], packed: bool) -> None:
    compare(0, [5, 5], 5, packed, **attributes)
    compare(7, [8, 8], 1, packed, **attributes)


def test_sequences_of_different_lengths() -> None:
    """The next token of a shorter sequence stands after its own past; what the cache has after that is not defined."""
    compare(7, [8, 6], 1, results=1, do_rotary=1)


def test_sinks_are_refused() -> None:
    names = ["q", "k", "v", "", "", "last", "total", "", "", "", "", "sinks"]
    nodes = [node("GroupQueryAttention", names, ["y"], domain="com.microsoft", num_heads=1, kv_num_heads=1)]
    inputs = {"q": random(1, 2, 8), "k": random(1, 2, 8), "v": random(1, 2, 8), "last": np.array([1], np.int32)}
    with pytest.raises(ConversionError, match="sinks are not supported"):
        check(nodes, inputs, constants={"total": np.array(2, np.int32), "sinks": random(1)}, expected=[])
