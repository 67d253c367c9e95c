"""`lower-onnx`: the `onnx` dialect -> opset dialects, one file per operation family.

    %y = onnx.Elu(%x) {alpha = 1.0, name = "act"} : tensor<*x!moir.dynamic>
->  %y = opset1.Elu(%x) {alpha = 1.0, name = "act"} : tensor<1x8xf32>
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from moir.lowering.driver import lower
from moir.lowering.onnx.table import onnx


@dataclass(frozen=True)
class LowerOnnxPass(ModulePass):
    """Lowers ONNX operations; a kind without lowering stays and is reported by `check-lowered`."""

    name = "lower-onnx"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        lower(op, onnx)
