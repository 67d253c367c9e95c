"""Operations that change no value, inserted so that the CPU plugin does not merge the operations on both sides."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.analysis.constants import scalar_of
from moir.dialects.opset.arithmetic import Maximum, Minimum
from moir.rewriting.builder import OpBuilder


def computed_identity(op: OpBuilder, value: SSAValue, *, replaced: SSAValue | None = None) -> SSAValue:
    """The maximum of minus infinity and a value of floats: the value itself, also NaN, as it is the second operand.

    Nothing in the runtime removes it, and the plugin computes it together with other elementwise operations. But the
    runtime makes one Clamp of a Maximum and a Minimum with constants, through which it moves quantization. So beside a
    Minimum the identity is the minimum of infinity and the value.

    Args:
        op: the builder.
        value: the value.
        replaced: the value whose users will use the identity, if it is not `value`.
    """
    uses = () if replaced is None else tuple(replaced.uses)
    is_beside_minimum = isinstance(value.owner, Minimum) or any(isinstance(use.operation, Minimum) for use in uses)
    return op.Minimum(float("inf"), value) if is_beside_minimum else op.Maximum(float("-inf"), value)


def is_computed_identity(value: SSAValue) -> bool:
    """Whether a value is the maximum of minus infinity and another one, or the minimum of infinity and another one."""
    match value.owner:
        case Maximum() as op:
            return any(scalar_of(each) == float("-inf") for each in op.operands)
        case Minimum() as op:
            return any(scalar_of(each) == float("inf") for each in op.operands)
        case _:
            return False


def rectified_identity(op: OpBuilder, value: SSAValue) -> SSAValue:
    """A PRelu of slope 1 of a value of floats and of a rank above 0: the value itself, also NaN.

    Nothing in the runtime removes it. The plugin computes it together with other elementwise operations, or as a part
    of the convolution before it; but it moves quantization through it.
    """
    return op.PRelu(value, op.constant_like([1.0], value))
