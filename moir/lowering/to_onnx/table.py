"""The table of lowerings from the opset dialects to the `onnx` dialect.

    @opset.lowers("Gelu", since=20)
    def gelu(op: OnnxBuilder, x: SSAValue, *, approximation_mode: str = "ERF") -> SSAValue: ...

A key is the kind of an operation (`Gelu`), for all of its versions, or the name of one version (`opset1.Broadcast`),
which precedes it. `since` is the first version of ONNX's operator set that a handler is for. The parameters after `*`
are properties of the operation.
"""

from __future__ import annotations

from moir.errors import UsageError
from moir.lowering.table import LoweringTable

opset = LoweringTable("opset", "moir.lowering.to_onnx")

OLDEST, NEWEST = 13, 28
"""The versions of ONNX's operator set that can be written."""

PREFERRED = 25
"""The version that is written by default: runtimes implement newer ones in part only."""


def check_version(version: int) -> None:
    """Raises UsageError for a version of the operator set that cannot be written."""
    if not OLDEST <= version <= NEWEST:
        raise UsageError(f"version {version} of ONNX's operator set cannot be written", hint=f"give one of {OLDEST} to {NEWEST}")
