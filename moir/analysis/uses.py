"""Uses that count. What a pattern has replaced stays in the block until `eliminate-dead`, and still uses its operands."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import SSAValue, Use

from moir.dialects.opset.base import OpsetOp


def live_uses(value: SSAValue) -> Iterator[Use]:
    """The uses of a value by operations that have effects or whose own results are used."""
    for use in value.uses:
        user = use.operation
        if not isinstance(user, OpsetOp) or user.EFFECTS or any(result.uses for result in user.results):
            yield use


def has_one_live_use(value: SSAValue) -> bool:
    """Whether exactly one use of a value counts."""
    uses = live_uses(value)
    return next(uses, None) is not None and next(uses, None) is None
