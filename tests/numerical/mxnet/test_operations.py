"""Operations by themselves against the results of MXNet 1.9.1, with known shapes of inputs and with their ranks only.

`tests/fixtures/mxnet/generate.py` says what they are and computed the results.
"""

from __future__ import annotations

import ast
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.numerical.mxnet.models import converted, write
from tests.numerical.runtime import Array, arrays_by_port, run_together

FILE = Path(__file__).parents[2] / "fixtures/mxnet/operations.npz"

STATIC_ONLY = {
    "interleaved attention",
    "interleaved self-attention",
    "Correlation",
    "MultiBoxDetection",
    "MultiBoxDetection of any class",
    "GroupNorm",
    "SpatialTransformer",
    "gather_nd",
    *("linalg_det", "linalg_det of one", "linalg_slogdet", "linalg_potrf"),
    *("linalg_extracttrian", "linalg_extracttrian above", "linalg_maketrian", "linalg_maketrian above"),
    *(f"cells {kind}" for kind in ("LSTM", "LSTM time first", "LSTM both", "GRU", "GRU both", "RNN")),
    *(f"RNN {mode} {layers}" for mode in ("lstm", "gru", "rnn_tanh", "rnn_relu") for layers in ("1 one", "2 both")),
}
"""The cases that need static sizes."""


def read() -> dict[str, dict[str, Array]]:
    """The arrays of each case."""
    cases: dict[str, dict[str, Array]] = defaultdict(dict)
    with np.load(FILE) as file:
        for key in file.files:
            name, _, part = key.rpartition("/")
            cases[name][part] = file[key]
    return dict(cases)


CASES = read()


def without_sizes(symbol: dict[str, Any]) -> dict[str, Any]:
    """A symbol that says the ranks of inputs, but not their sizes."""
    for node in symbol["nodes"]:
        if (shape := node.get("attrs", {}).get("__shape__")) is not None:
            node["attrs"]["__shape__"] = str((0,) * len(ast.literal_eval(shape)))
    return symbol


@pytest.mark.parametrize("name", CASES)
def test_operation(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    weights = {key: value for key, value in case.items() if key.startswith("w")}
    inputs = {key: value for key, value in case.items() if key.startswith("x")}
    symbols = [json.loads(bytes(case["symbol"]))]
    if name not in STATIC_ONLY:
        symbols.append(without_sizes(json.loads(bytes(case["symbol"]))))
    models = [converted(write(tmp_path, symbol, weights)) for symbol in symbols]
    for model, results in zip(models, run_together(models, [arrays_by_port(model, inputs) for model in models]), strict=True):
        outputs = {name: result for port, result in zip(model.outputs, results, strict=True) for name in port.get_names()}
        for key, expected in case.items():
            if key.startswith("="):
                assert outputs[key[1:]].shape == expected.shape
                np.testing.assert_allclose(outputs[key[1:]].astype(np.float64), expected, rtol=1e-4, atol=2e-5, equal_nan=True)
