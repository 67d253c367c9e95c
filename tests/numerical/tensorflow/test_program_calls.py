"""Programs of StableHLO in a node, XlaCallModule, as jax2tf writes them: the runtime computes what TensorFlow does."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import moir
from moir.errors import MoirError
from tests.numerical.runtime import Array
from tests.numerical.tensorflow.conversion import build, check

operations: Any = import_module("tensorflow.compiler.tf2xla.ops.gen_xla_ops")
FIXTURES = Path(__file__).parents[2] / "fixtures" / "stablehlo"
X = np.linspace(-1, 1, 8, dtype=np.float32).reshape(2, 4)


def call(module: bytes, *operands: Any, shapes: Any = ((None, 3),), types: Any = (tf.float32,), platforms: Any = ("CPU",)) -> Any:
    """The results of a program."""
    return operations.xla_call_module(
        args=list(operands), version=9, module=module, Sout=[list(each) for each in shapes], Tout=list(types), platforms=list(platforms)
    )


def bytecode(name: str) -> bytes:
    """The portable artifact of a program."""
    return (FIXTURES / f"{name}.mlirbc").read_bytes()


def test_a_network() -> None:
    """JAX's matrices, activation functions and broadcasts over an unknown batch."""
    check(lambda x: call(bytecode("mlp"), x)[0] + 1.0, {"x": X}, forms=("static", "dynamic"))


def test_programs_within_functions() -> None:
    """Two calls of one function, whose operations have names of their own."""

    @tf.function(input_signature=[tf.TensorSpec([None, 4])], autograph=False)
    def layer(x: Any) -> Any:
        return call(bytecode("mlp"), x)[0]

    check(lambda x: layer(x) * layer(tf.tanh(x)), {"x": X}, forms=("static", "dynamic"))


TWO = b"""
module @two {
  func.func public @main(%arg0: tensor<2x4xf32>, %arg1: tensor<i32>) -> (tensor<4xf32>, tensor<2x4xi1>) {
    %0 = stablehlo.constant dense<0.0> : tensor<f32>
    %1 = stablehlo.reduce(%arg0 init: %0) applies stablehlo.add across dimensions = [0] : (tensor<2x4xf32>, tensor<f32>) -> tensor<4xf32>
    %2 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<f32>) -> tensor<2x4xf32>
    %4 = stablehlo.compare GT, %arg0, %3 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xi1>
    return %1, %4 : tensor<4xf32>, tensor<2x4xi1>
  }
}
"""


def two(x: Any, i: Any) -> Any:
    """Two results of a program in text form."""
    return call(TWO, x, i, shapes=[[4], [2, 4]], types=[tf.float32, tf.bool])


def test_several_results() -> None:
    inputs: dict[str, Array] = {"x": X, "i": np.array(0, np.int32)}
    check(two, inputs, expected=[X.sum(0), X > 0], forms=("static",))


def test_one_of_several_results() -> None:
    check(lambda x: two(x, tf.constant(0))[1], {"x": X}, expected=[X > 0], forms=("static",))


@pytest.mark.parametrize(
    ("module", "operands", "reason"),
    [
        (b"", 1, "it has no module of StableHLO"),
        (b"\xff\xff", 1, "its program: .*UTF-8"),
        (b"ML\xefRx", 1, "its program: "),
        (b"module {", 1, "its program: "),
        (TWO, 1, "its program has 2 arguments, and it has 1 operands"),
    ],
)
def test_damaged_programs(module: bytes, operands: int, reason: str, tmp_path: Path) -> None:
    graph, _ = build(lambda x: call(module, *[x] * operands)[0], {"x": X})
    path = tmp_path / "m.pb"
    path.write_bytes(graph.as_graph_def().SerializeToString())
    with pytest.raises(MoirError, match=reason) as raised:
        moir.read_model(path)
    assert "XlaCallModule" in str(raised.value)
