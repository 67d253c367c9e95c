"""`inline-branches`: an If is replaced by a branch where both compute the same, or where its condition is a constant.

    %y = opset8.If(%c, %x) ({                             // %c: any condition
      opset1.Result(opset1.Relu(opset1.Parameter()))
    }, {
      opset1.Result(opset1.Relu(opset1.Parameter()))
    })
->  %y = opset1.Relu(%x)

The condition often says whether a size is known, for which both branches have the same operations in the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.ir import Block, Operation, SSAValue

from moir.analysis.constants import constant_of
from moir.analysis.known_values import KnownValues
from moir.dialects.inference import infer_operation
from moir.dialects.opset.control_flow import If, parameters_of, results_of
from moir.dialects.opset.infrastructure import Parameter, Result
from moir.rewriting.driver import Pattern, PatternPass, Rewriter


def _given(op: If, body: Block, indices: str) -> dict[SSAValue, SSAValue]:
    """For each Parameter of one branch of an If, the operand of the If that it receives.

    `indices` is the property with the indices of the operands.
    """
    numbers = op.integers(indices)
    return {each.results[0]: op.operands[number] for each, number in zip(parameters_of(body), numbers, strict=True)}


def _inner(body: Block) -> list[Operation]:
    """The operations of a branch other than Parameters and Results."""
    return [each for each in body.ops if not isinstance(each, Parameter | Result)]


def compute_the_same(op: If) -> bool:
    """Whether the two branches of an If have equal operations on equal operands in the same order, and no bodies."""
    then, otherwise = op.then_body.block, op.else_body.block
    pairs = list(zip(_inner(then), _inner(otherwise), strict=False))
    if len(pairs) != len(_inner(then)) or len(pairs) != len(_inner(otherwise)):
        return False
    # Values of the else branch -> the equal values of the then branch, or operands of the If.
    own, same = _given(op, then, "then_inputs"), _given(op, otherwise, "else_inputs")

    def are_same(values: Sequence[SSAValue], others: Sequence[SSAValue]) -> bool:
        return [own.get(each, each) for each in values] == [same[each] for each in others]

    for one, other in pairs:
        if one.regions or one.name != other.name or one.properties != other.properties or not are_same(one.operands, other.operands):
            return False
        same.update(zip(other.results, one.results, strict=True))
    return are_same(results_of(then), results_of(otherwise))


class OneBranch(Pattern):
    """Replaces an If by the operations of one branch, if the condition is constant or both branches are equal."""

    roots = (If,)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, If)
        condition = constant_of(op.operands[0])
        if condition is not None and condition.size == 1:
            takes_first = bool(condition.ravel()[0])
        elif compute_the_same(op):
            takes_first = True
        else:
            return
        body, indices = (op.then_body.block, "then_inputs") if takes_first else (op.else_body.block, "else_inputs")
        for value, operand in _given(op, body, indices).items():
            value.replace_all_uses_with(operand)
        results = results_of(body)
        known = KnownValues()
        for each in _inner(body):
            each.detach()
            rewriter.op.insert(each)
            # The operand may have a more precise type than the Parameter.
            infer_operation(each, known)
        # An enclosing If may have equal branches now.
        if isinstance(around := op.parent_op(), If):
            rewriter.touched.append(around)
        rewriter.replace_with(op, results)


class InlineBranchesPass(PatternPass):
    """Replaces an If by one branch if its condition is constant, or if both branches compute the same."""

    name = "inline-branches"

    FIXPOINT: ClassVar[bool] = True

    PATTERNS = (OneBranch,)
