"""Following values through operations that pass them on unchanged: identities, conditionals and loops."""

from __future__ import annotations

from xdsl.ir import SSAValue, Use

from moir.dialects.frameworks.tensorflow import forwards, is_branching, kind_of
from moir.dialects.moir import ModelOp
from moir.dialects.opset.control_flow import parameters_of
from moir.dialects.opset.infrastructure import Result


def handed_on(use: Use) -> list[SSAValue]:
    """The values to which the operand of a use is passed on unchanged; empty if the operation computes with the
    operand.
    """
    op = use.operation
    if forwards(op):
        return [op.results[0]]
    if isinstance(op, Result):
        return _result_of_region(op)
    # The first operand of a conditional is its condition, which no Parameter stands for.
    index = use.index - is_branching(kind_of(op))
    return [parameters_of(region.block)[index].results[0] for region in op.regions if 0 <= index < len(parameters_of(region.block))]


def _result_of_region(result: Result) -> list[SSAValue]:
    """The result of an If, Case or While that gets the value of a Result of a branch or body, as a list; empty for a
    condition.
    """
    block = result.parent
    owner = None if block is None else block.parent_op()
    if block is None or owner is None or isinstance(owner, ModelOp):
        return []
    index = [each for each in block.ops if isinstance(each, Result)].index(result)
    return [owner.results[index]] if index < len(owner.results) else []
