"""`moir new-extension DIR`: a small extension that works, with its tests, to start from."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from moir.errors import ConversionError
from moir.tools.failures import report_failures

LOWERING = '''\
"""Lowerings of ONNX operations: those moir does not know, or those it is to lower in another way."""

from moir.lowering.onnx.table import onnx


@onnx.lowers("com.example.ScaledTanh")
def scaled_tanh(node, op):
    """onnx.com.example.ScaledTanh(x) {alpha, beta} -> alpha * Tanh(beta * x)"""
    beta = node.number("beta", 1.0)
    return op.Multiply(op.Tanh(op.Multiply(node.operand(0), beta)), node.number("alpha", 1.0))
'''

PASS = '''\
"""`fuse-logistic`: a sigmoid that is written out.

    %n = opset1.Negative(%x)
    %e = opset1.Exp(%n)
    %s = opset1.Add(%e, 1.0)
    %y = opset1.Divide(1.0, %s)
->  %y = opset1.Sigmoid(%x)
"""

from dataclasses import dataclass

from moir.rewriting.rules import FusionRule, RulePass


@dataclass(frozen=True)
class FuseLogistic(RulePass):
    """1 / (1 + exp(-x)) becomes a Sigmoid."""

    name = "fuse-logistic"
    # Behind the layout change and in front of the pass that makes x * sigmoid(x) a Swish; `moir passes` lists all passes.
    run_after = ("choose-layouts",)
    run_before = ("fuse-swish",)

    RULES = (
        FusionRule(
            pattern=lambda op, x: op.Divide(1.0, op.Add(op.Exp(op.Negative(x)), 1.0)),
            rewrite=lambda op, match: op.Sigmoid(match["x"]),
        ),
    )
'''

FILECHECK = """\
// RUN: moir-opt %s --extensions %S/.. -p fuse-logistic,eliminate-dead | filecheck %s

// CHECK-NOT: Exp
// CHECK: opset1.Sigmoid(%x) {name = "y"} : tensor<2x4xf32>
// CHECK-NOT: Divide

moir.model @m {
  %x = opset1.Parameter() {name = "x"} : tensor<2x4xf32>
  %one = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0]>} : tensor<f32>
  %n = opset1.Negative(%x) : tensor<2x4xf32>
  %e = opset1.Exp(%n) : tensor<2x4xf32>
  %s = opset1.Add(%e, %one) : tensor<2x4xf32>
  %y = opset1.Divide(%one, %s) {name = "y"} : tensor<2x4xf32>
  opset1.Result(%y) {name = "r"}
}
"""

PYTEST = '''\
"""`pytest` runs this, `lit` or the line behind RUN the other one."""

from pathlib import Path

import moir
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

EXTENSION = Path(__file__).parent.parent


def test_scaled_tanh(tmp_path):
    node = helper.make_node("ScaledTanh", ["x"], ["y"], domain="com.example", alpha=2.0, beta=0.5)
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 4])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 4])
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("com.example", 1)]
    model = helper.make_model(helper.make_graph([node], "g", [x], [y]), opset_imports=imports, ir_version=9)
    onnx.save(model, tmp_path / "m.onnx")

    module = moir.convert_model(tmp_path / "m.onnx", extensions=[EXTENSION])

    assert "opset1.Tanh" in [op.name for op in module.walk()]
    openvino = pytest.importorskip("openvino")
    values = np.linspace(-2, 2, 8, dtype=np.float32).reshape(2, 4)
    result = openvino.compile_model(moir.to_openvino(module), "CPU")(values)[0]
    np.testing.assert_allclose(result, 2 * np.tanh(0.5 * values), rtol=1e-4)
'''

LIT = '''\
"""Configuration of lit: `lit tests`."""

import os
import sys
from pathlib import Path

import lit.formats

config.name = "extension"
config.test_format = lit.formats.ShTest()
config.suffixes = [".mlir"]
# moir-opt and filecheck are installed beside lit.
config.environment["PATH"] = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", "")))
'''

FILES: dict[str, str] = {
    "front/onnx/scaled_tanh.py": LOWERING,
    "middle/fuse_logistic.py": PASS,
    "tests/fuse_logistic.mlir": FILECHECK,
    "tests/test_scaled_tanh.py": PYTEST,
    "tests/lit.cfg.py": LIT,
}
"""The files of the extension."""


def main(arguments: Sequence[str]) -> int:
    """Run `moir new-extension`; returns the exit status."""
    parser = argparse.ArgumentParser(prog="moir new-extension", description="Write a small extension: a lowering, a pass, and their tests.")
    parser.add_argument("directory", metavar="DIR", help="directory to make; what is in it stays")
    options = parser.parse_args(arguments)
    return report_failures("moir new-extension", lambda: _write(Path(options.directory)))


def _write(directory: Path) -> int:
    for name in FILES:
        if (directory / name).exists():
            raise ConversionError("the file exists", location=str(directory / name), hint="choose another directory")
    for name, text in FILES.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    print("".join(f"{directory / name}\n" for name in FILES), end="")
    print(f"use it:  moir MODEL --extensions {directory}\ntest it: pytest {directory / 'tests'}, lit {directory / 'tests'}")
    print(f"see it:  moir passes --extensions {directory}")
    return 0
