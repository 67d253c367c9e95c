"""Identities that the CPU plugin computes, which keep it from merging operations that it merges wrongly."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.analysis.constants import scalar_of
from moir.dialects.opset.arithmetic import Maximum
from moir.rewriting.builder import OpBuilder


def computed_identity(op: OpBuilder, value: SSAValue) -> SSAValue:
    """The maximum of minus infinity and a value of floats: the value itself, also NaN, as it is the second operand.

    Nothing in the runtime removes it, and the plugin computes it together with other elementwise operations.
    """
    return op.Maximum(float("-inf"), value)


def is_computed_identity(value: SSAValue) -> bool:
    """Whether a value is the maximum of minus infinity and another one."""
    return isinstance(value.owner, Maximum) and any(scalar_of(each) == float("-inf") for each in value.owner.operands)


def rectified_identity(op: OpBuilder, value: SSAValue) -> SSAValue:
    """A PRelu of slope 1 of a value of floats and of a rank above 0: the value itself, also NaN.

    Nothing in the runtime removes it. The plugin computes it together with other elementwise operations, or as a part
    of the convolution before it; but it moves quantization through it.
    """
    return op.PRelu(value, op.constant_like([1.0], value))
