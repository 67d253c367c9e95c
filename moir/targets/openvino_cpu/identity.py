"""An identity that the CPU plugin computes, which keeps it from merging operations that it merges wrongly."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.rewriting.builder import OpBuilder


def computed_identity(op: OpBuilder, value: SSAValue) -> SSAValue:
    """The maximum of minus infinity and a value of floats: the value itself, also NaN, as it is the second operand.

    Nothing in the runtime removes it, and the plugin computes it together with other elementwise operations.
    """
    return op.Maximum(float("-inf"), value)
