"""Operations that change no value, inserted so that the CPU plugin does not merge the operations on both sides."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.analysis.constants import scalar_of
from moir.dialects.opset.arithmetic import Maximum, Minimum
from moir.rewriting.builder import OpBuilder


def computed_identity(op: OpBuilder, value: SSAValue, *, replaced: SSAValue | None = None) -> SSAValue:
    """An identity of a value of floats that the runtime does not remove: Maximum(-inf, value), which keeps NaN, too.

    The plugin computes it together with other elementwise operations. The runtime makes one Clamp of a Maximum and a
    Minimum with constants, and moves quantization through the Clamp; so beside a Minimum the identity is Minimum(inf,
    value).

    Args:
        op: the builder.
        value: the value.
        replaced: the value whose users will use the identity, if it is not `value`.
    """
    uses = () if replaced is None else tuple(replaced.uses)
    is_beside_minimum = isinstance(value.owner, Minimum) or any(isinstance(use.operation, Minimum) for use in uses)
    return op.Minimum(float("inf"), value) if is_beside_minimum else op.Maximum(float("-inf"), value)


def is_computed_identity(value: SSAValue) -> bool:
    """Whether a value is an identity of another value: Maximum with minus infinity, or Minimum with infinity."""
    match value.owner:
        case Maximum() as op:
            return any(scalar_of(each) == float("-inf") for each in op.operands)
        case Minimum() as op:
            return any(scalar_of(each) == float("inf") for each in op.operands)
        case _:
            return False


def rectified_identity(op: OpBuilder, value: SSAValue) -> SSAValue:
    """An identity of a value of floats, of a rank above 0, that the runtime does not remove: a PRelu of slope 1. NaN is
    kept.

    The plugin computes it together with other elementwise operations, or as a part of the convolution before it; but
    the plugin moves quantization through it.
    """
    return op.PRelu(value, op.constant_like([1.0], value))
