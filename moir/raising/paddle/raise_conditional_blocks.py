"""`raise-conditional-blocks`: two conditional blocks of which one runs, and the selection between their results,
become an `if`.

    %a = paddle.conditional_block(%not) { … %x }                     // %not = paddle.logical_not(%c)
    %b = paddle.conditional_block(%c) { … %y }                  ->   %z = paddle.if(%c) { … %y } { … %x }
    %z = paddle.select_input(paddle.cast(%c), %a, %b)

A program has no conditional with two branches: `paddle.static.nn.cond` writes it in this form. Blocks whose results
are used elsewhere, too, stay.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, OpResult, Region, SSAValue

from moir.analysis.analyses import Analyses
from moir.dialects.framework import FrameworkOp, operation_class
from moir.dialects.locations import located
from moir.dialects.moir import all_blocks
from moir.dialects.names import inherit_names, name_of
from moir.dialects.opset.control_flow import parameters_of, results_of
from moir.dialects.opset.infrastructure import Parameter, Result
from moir.dialects.properties import string_attribute, value_of
from moir.dialects.shapes import UNKNOWN
from moir.rewriting.reporting_pass import Needs, ReportingPass, needs_of_roots

_SELECTION, _BLOCK = "paddle.select_input", "paddle.conditional_block"


class Pair(NamedTuple):
    """The two blocks between which a selection chooses: the block for false, then the block for true."""

    otherwise: FrameworkOp
    then: FrameworkOp


class RaiseConditionalBlocksPass(ReportingPass):
    """Raises pairs of conditional blocks to conditionals with two branches."""

    name = "raise-conditional-blocks"

    @classmethod
    def needs(cls) -> Needs | None:
        return needs_of_roots((_SELECTION,))

    def run(self, module: ModuleOp, analyses: Analyses) -> bool:
        changed = False
        # The innermost first: the branches of a conditional are copies of the blocks.
        for block in list(all_blocks(module))[::-1]:
            pairs: dict[Pair, list[FrameworkOp]] = {}
            for op in block.ops:
                if op.name == _SELECTION and (pair := _pair_of(op)) is not None:
                    assert isinstance(op, FrameworkOp)
                    pairs.setdefault(pair, []).append(op)
            for pair, selections in pairs.items():
                _raise(pair, selections)
                changed = True
        return changed


def _block_of(value: SSAValue) -> FrameworkOp | None:
    """The conditional block that computes a value; None if none does."""
    op = value.owner
    return op if isinstance(op, FrameworkOp) and op.name == _BLOCK else None


def _pair_of(selection: Operation) -> Pair | None:
    """The two conditional blocks of a select_input, if exactly one of them runs; None otherwise. Mask 0 selects the
    first block.
    """
    if len(selection.operands) != 3:
        return None
    otherwise, then = (_block_of(value) for value in selection.operands[1:])
    if otherwise is None or then is None:
        return None
    condition = _truth(selection.operands[0])
    refused = _truth(otherwise.operands[0]).owner
    is_pair = (
        _truth(then.operands[0]) is condition
        and isinstance(refused, Operation)
        and refused.name == "paddle.logical_not"
        and _truth(refused.operands[0]) is condition
    )
    return Pair(otherwise, then) if is_pair else None


def _truth(value: SSAValue) -> SSAValue:
    """The boolean from which a value is computed by conversions to and from numbers; the value itself if there are
    none.
    """
    while isinstance(value.owner, Operation) and value.owner.name in ("paddle.cast", "paddle.assign"):
        value = value.owner.operands[0]
    return value


def _captured(op: FrameworkOp) -> list[SSAValue]:
    """The operands of a block that its region may capture."""
    earlier = value_of(op.properties["earlier"])
    return list(op.operands[1 + earlier :])


def _raise(pair: Pair, selections: Sequence[FrameworkOp]) -> None:
    """Replace the select_input operations `selections` between two blocks by one paddle.if, inserted before the first
    of them.
    """
    values = [*_captured(pair.then), *_captured(pair.otherwise)]
    count = len(_captured(pair.then))
    regions: list[Region] = []
    for branch, position, before, after in ((pair.then, 2, 0, len(values) - count), (pair.otherwise, 1, count, 0)):
        chosen = [_index(selection.operands[position]) for selection in selections]
        regions.append(_branch(branch.regions[0].clone(), chosen, before, after))
    conditional = operation_class("paddle", "if").create(
        operands=[pair.then.operands[0], *values],
        attributes={"name": string_attribute(name_of(selections[0]) or "if")},
        result_types=[UNKNOWN] * len(selections),
        regions=regions,
        location=located(selections[0]),
    )
    parent = selections[0].parent
    assert parent is not None
    parent.insert_op_before(conditional, selections[0])
    for selection, result in zip(selections, conditional.results, strict=True):
        inherit_names(selection, [result])
        selection.results[0].replace_all_uses_with(result)
        selection.detach()
        selection.erase()
    for block in pair:
        if all(result.first_use is None for result in block.results):
            block.detach()
            block.erase()


def _index(value: SSAValue) -> int:
    assert isinstance(value, OpResult)
    return value.index


def _branch(region: Region, chosen: Sequence[int], before: int, after: int) -> Region:
    """Turn the region of a block into the region of a branch, and return it.

    `before` and `after` are the numbers of Parameters without uses that are added before and after its own. Only the
    Results at the indices `chosen` stay, in that order.
    """
    block: Block = region.block
    own, values = parameters_of(block), results_of(block)
    for op in [each for each in block.ops if isinstance(each, Result)]:
        op.detach()
        op.erase()
    for index in chosen:
        block.add_op(Result.create(operands=[values[index]]))
    start = block.first_op
    assert start is not None
    end = own[-1].next_op if own else start
    for _ in range(before):
        block.insert_op_before(Parameter.create(result_types=[UNKNOWN]), start)
    for _ in range(after):
        created = Parameter.create(result_types=[UNKNOWN])
        if end is None:
            block.add_op(created)
        else:
            block.insert_op_before(created, end)
    return region
