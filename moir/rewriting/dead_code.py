"""Dead-code elimination: erases operations without uses and effects, and unread inputs of bodies."""

from __future__ import annotations

from dataclasses import replace
from operator import attrgetter

from xdsl.dialects.builtin import ArrayAttr
from xdsl.ir import Block, Operation

from moir.dialects.framework import FrameworkOp
from moir.dialects.moir import BodyPort, BodyPortAttr, NoneOp
from moir.dialects.opset.base import OpsetOp
from moir.dialects.opset.condition import If, RepeatingOp, parameters_of
from moir.dialects.properties import integers_attribute

_first_use = attrgetter("first_use")


def erase(op: Operation) -> None:
    """Erase an operation whose results have no uses.

    The method of xDSL replaces the uses of the results, although there are none. Raises ValueError if there are some.
    """
    if is_used(op):
        raise ValueError(f"{op.name} is erased, but its results are used")
    op.detach()
    op.drop_all_references()


def eliminate_dead(block: Block) -> bool:
    """Erase the dead operations of a block and of the bodies in it; returns whether anything may have changed.

    A block with bodies counts as changed.
    """
    changed = False
    current = block.last_op
    while current is not None:
        # Erasing an operation can remove the last uses of earlier ones, which this walk visits later.
        before = current.prev_op
        if not is_used(current) and is_removable(current):
            erase(current)
            changed = True
        elif current.regions:
            changed = True
            for region in current.regions:
                for body in region.blocks:
                    eliminate_dead(body)
            if isinstance(current, If):
                _prune_if(current)
            elif isinstance(current, RepeatingOp):
                _prune_repeating(current)
        current = before
    return changed


def is_used(op: Operation) -> bool:
    """Whether a result of an operation has a use."""
    return any(map(_first_use, op.results))


def is_removable(op: Operation) -> bool:
    """Whether an operation has no effects, so that it can be erased if no result is used.

    Source nodes count as free of effects, since inference models have no others.
    """
    return not op.EFFECTS if isinstance(op, OpsetOp) else isinstance(op, FrameworkOp | NoneOp)


def _erase_unread(body: Block) -> list[int]:
    """Erase the unread Parameters of a body; returns the indices of the remaining ones."""
    kept: list[int] = []
    for index, parameter in enumerate(parameters_of(body)):
        if parameter.results[0].uses:
            kept.append(index)
        else:
            parameter.detach()
            parameter.erase()
    return kept


def _renumber(op: Operation, used: set[int], first: int) -> dict[int, int]:
    """Erase the operands from index `first` on that are not in `used`; returns the new index of each remaining one."""
    kept = [index for index in range(len(op.operands)) if index < first or index in used]
    if len(kept) < len(op.operands):
        op.operands = [op.operands[index] for index in kept]
    return {old: new for new, old in enumerate(kept)}


def _prune_if(op: If) -> None:
    inputs = {
        name: [op.integers(name)[index] for index in _erase_unread(body.block)]
        for name, body in (("then_inputs", op.then_body), ("else_inputs", op.else_body))
    }
    numbers = _renumber(op, {index for indices in inputs.values() for index in indices}, first=1)
    for name, indices in inputs.items():
        op.properties[name] = integers_attribute(tuple(numbers[index] for index in indices))


def _prune_repeating(op: RepeatingOp) -> None:
    ports = op.ports("inputs")
    # A sliced input determines the number of iterations even if the body does not read it.
    for port, parameter in zip(ports, parameters_of(op.block), strict=True):
        if port.slicing is not None and not parameter.results[0].uses:
            return
    kept: list[BodyPort] = [ports[index] for index in _erase_unread(op.block)]
    numbers = _renumber(op, {port.index for port in kept if port.index is not None}, first=op.FIRST_ARGUMENT)
    renumbered = [port if port.index is None else replace(port, index=numbers[port.index]) for port in kept]
    op.properties["inputs"] = ArrayAttr([BodyPortAttr(port) for port in renumbered])
