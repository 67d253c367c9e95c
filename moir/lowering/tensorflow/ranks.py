"""Rules for the ranks of operands that kinds of TensorFlow share, for inputs of dynamic rank.

    %keep = opset1.Parameter()                           // of dynamic rank
    %0 = tf.AddV2(%keep, tf.RandomUniform(…))            // the threshold of a dropout: %keep is a scalar

Source: the shape functions of the kinds, tensorflow/core/ops
"""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from moir.dialects.framework import FrameworkOp
from moir.dialects.opset.control_flow import parameters_of
from moir.dialects.opset.infrastructure import Constant
from moir.dialects.properties import value_of
from moir.dialects.shapes import element_count, rank_of, shape_of
from moir.lowering.ranks import Ask, Rule, agreed, as_result
from moir.lowering.ranks import broadcast as broadcast_to_result

_LONGEST_CHAIN = 64
"""The maximum depth of the search from a threshold to its random numbers, and from these to the source of their shape.
"""

_COMPARISONS = frozenset(("Greater", "GreaterEqual", "Less", "LessEqual"))
_DRAWING = frozenset(("RandomUniform", "StatelessRandomUniform", "StatelessRandomUniformV2"))
_SHIFTING = frozenset(("Add", "AddV2", "Identity", "Mul", "Sub"))


def _draw(value: SSAValue) -> FrameworkOp | None:
    """The operation that generates the uniform random numbers from which a value is computed, using constants only.

    None if other values take part, or there are no random numbers.
    """
    for _ in range(_LONGEST_CHAIN):
        op = value.owner
        if not isinstance(op, FrameworkOp) or op.KIND not in _DRAWING | _SHIFTING:
            return None
        if op.KIND in _DRAWING:
            return op
        value = next((each for each in op.operands if not isinstance(each.owner, Constant)), op.operands[0])
    return None


def _is_threshold(op: FrameworkOp, index: int) -> bool:
    """Whether an operand is the threshold of a dropout: floor(keep + random) or random >= rate.

    This requires that the shape of the random numbers is computed from other data.
    """
    is_floor = op.KIND in ("Add", "AddV2") and all(getattr(use.operation, "KIND", "") == "Floor" for use in op.results[0].uses)
    if not is_floor and op.KIND not in _COMPARISONS:
        return False
    draw = _draw(op.operands[1 - index])
    return draw is not None and not _is_computed_of(draw.operands[0], op.operands[index])


def _is_computed_of(value: SSAValue, source: SSAValue) -> bool:
    """Whether a value may depend on `source`."""
    pending, seen = [value], {value}
    while pending and len(seen) < _LONGEST_CHAIN:
        if (visited := pending.pop()) is source:
            return True
        if isinstance(visited.owner, Operation):
            pending += [each for each in visited.owner.operands if each not in seen]
            seen.update(visited.owner.operands)
    return bool(pending)


def broadcast(op: FrameworkOp, index: int, ask: Ask) -> int | None:
    """A rule: rank 0 for the threshold of a dropout; else the rank follows from the result and the other operands.

    None if these leave it open.
    """
    return 0 if _is_threshold(op, index) else broadcast_to_result(op, index, ask)


def _length(value: SSAValue) -> int | None:
    """The length of a 1-D tensor; None if it is dynamic, or the value has another rank."""
    shape = shape_of(value)
    return shape[0] if shape is not None and len(shape) == 1 and shape[0] >= 0 else None


def permuted(op: FrameworkOp, index: int, ask: Ask) -> int | None:
    if index:
        return 1
    count = _length(op.operands[1])
    return as_result(op, index, ask) if count is None else count


def sized_by_rows(data: int | None, *others: int | None) -> Rule:
    """A rule for kinds whose operand 0 has as many dimensions as operand 1, a 1-D tensor, has elements.

    If that length is dynamic, operand 0 has rank `data`; if `data` is None, the rank of the result. `others` are the
    ranks of the operands from 1 on, None for any rank.
    """

    def rule(op: FrameworkOp, index: int, ask: Ask) -> int | None:
        if index:
            return others[index - 1] if index <= len(others) else None
        shape = shape_of(op.operands[1])
        return shape[0] if shape and shape[0] >= 0 else as_result(op, index, ask) if data is None else data

    return rule


def reduced(op: FrameworkOp, index: int, ask: Ask) -> int | None:
    result = ask(op.results[0]) if index == 0 else None
    if result is None or ("keep_dims" in op.properties and value_of(op.properties["keep_dims"])):
        return result
    count = element_count(shape_of(op.operands[1])) if isinstance(op.operands[1].owner, Constant) else None
    return None if count is None else result + count


def expanded(op: FrameworkOp, index: int, ask: Ask) -> int | None:
    result = ask(op.results[0]) if index == 0 else None
    return 0 if index else None if not result else result - 1


def squeezed(op: FrameworkOp, index: int, ask: Ask) -> int | None:
    axes = value_of(op.properties["squeeze_dims"]) if "squeeze_dims" in op.properties else ()
    result = ask(op.results[0])
    return None if index or result is None or not axes else result + len(axes)


def with_statistics(op: FrameworkOp, index: int, _ask: Ask) -> int | None:
    layout = value_of(op.properties["data_format"]) if "data_format" in op.properties else "NHWC"
    return len(layout) if index == 0 else 1


def with_bias(op: FrameworkOp, index: int, ask: Ask) -> int | None:
    return 1 if index else as_result(op, index, ask)


def as_members(op: FrameworkOp, index: int, ask: Ask) -> int | None:
    """A rule for a concatenation, all tensors of which have equal ranks; 0 for the axis, the last operand.

    None if no other operand and no use of the result has a static rank.
    """
    if index == len(op.operands) - 1:
        return 0
    rank = agreed(rank_of(each) for position, each in enumerate(op.operands[:-1]) if position != index)
    return ask(op.results[0]) if rank is None else rank


def in_branches(op: FrameworkOp, index: int, ask: Ask) -> int | None:
    """A rule for control flow: a condition, operand 0, is a scalar; another operand has the rank of its argument in the
    functions.

    None if that is dynamic.
    """
    return 0 if index == 0 else in_functions(op, index - 1, ask)


def in_functions(op: FrameworkOp, index: int, ask: Ask) -> int | None:
    parameters = [parameters_of(region.block) for region in op.regions]
    return agreed(ask(each[index].results[0]) for each in parameters if index < len(each))
