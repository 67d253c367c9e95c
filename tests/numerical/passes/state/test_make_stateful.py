"""Consecutive inferences of a network with a cache as its state, and the network to which the cache is handed."""

from __future__ import annotations

from typing import Any

import numpy as np
import openvino
import pytest

import moir
from tests.numerical.onnx.test_networks import NETWORKS
from tests.numerical.runtime import core

PAIR = {"past": "present"}


def compiled(**options: Any) -> openvino.CompiledModel:
    return core().compile_model(moir.to_openvino(moir.convert_model(NETWORKS / "gpt.onnx", **options)), "CPU")


@pytest.fixture(scope="module")
def stateless() -> openvino.CompiledModel:
    return compiled()


@pytest.mark.parametrize(
    "options",
    [{"stateful": PAIR}, {"stateful": "past=present"}, {"transform": "MakeStateful[param_res_names={'past':'present'}]"}],
)
def test_a_language_model_with_its_cache_as_state(stateless: openvino.CompiledModel, options: dict[str, Any]) -> None:
    stateful = compiled(**options)
    assert [port.any_name for port in stateful.inputs] == ["tokens"]
    assert [port.any_name for port in stateful.outputs] == ["logits"]
    random = np.random.default_rng(0)
    request = stateful.create_infer_request()
    # The batch is that of the tokens, also of other ones after a reset.
    for batch, lengths in ((1, (4, 1, 1)), (3, (2, 5, 1, 1))):
        past = np.zeros((2, batch, 4, 0, 8), np.float32)
        for length in lengths:
            tokens = random.integers(0, 40, (batch, length))
            expected = stateless({"tokens": tokens, "past": past})
            past = expected["present"]
            np.testing.assert_allclose(request.infer({"tokens": tokens})["logits"], expected["logits"], rtol=1e-4, atol=1e-5)
        (state,) = request.query_state()
        assert state.name == "pastpresent"
        np.testing.assert_allclose(state.state.data, past, rtol=1e-4, atol=1e-5)
        request.reset_state()


def test_the_state_matters() -> None:
    request = compiled(stateful=PAIR).create_infer_request()
    tokens = np.array([[1, 2, 3]])
    first, second = (request.infer({"tokens": tokens})["logits"].copy() for _ in range(2))
    assert not np.allclose(first, second, rtol=1e-3)
    request.reset_state()
    np.testing.assert_array_equal(request.infer({"tokens": tokens})["logits"], first)
