"""Live uses of values.

An operation that a pattern has replaced stays in the block until `eliminate-dead`. Until then it still uses its
operands, but these uses are not live.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Operation, SSAValue, Use

from moir.dialects.opset.interfaces.operation import OpsetOp


def live_uses(value: SSAValue) -> Iterator[Use]:
    """The uses of a value by live operations: those that have effects, or whose own results are used."""
    for use in value.uses:
        user = use.operation
        if not isinstance(user, OpsetOp) or user.EFFECTS or any(result.uses for result in user.results):
            yield use


def has_one_live_use(value: SSAValue) -> bool:
    """Whether a value has exactly one live use."""
    uses = live_uses(value)
    return next(uses, None) is not None and next(uses, None) is None


def sole_user(value: SSAValue) -> Operation | None:
    """The operation of the only live use of a value; None if there are several uses, or none."""
    uses = live_uses(value)
    first = next(uses, None)
    return None if first is None or next(uses, None) is not None else first.operation
