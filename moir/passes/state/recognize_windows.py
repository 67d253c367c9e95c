"""`recognize-windows`: the mask of an attention with a sliding window gets the form that OpenVINO GenAI recognizes.

    %w = opset1.Greater(%keys, opset1.Subtract(%queries, 8))
    %c = opset1.LogicalAnd(opset1.LogicalAnd(%w, opset1.LessEqual(%keys, %queries)), %padding)
    %m = opset1.Select(%c, 0.0, -3.4e38)
->  the operations of `moir/expansions/causal_masks.py`

This is for programs that `keep-caches` changed: their inputs are `attention_mask` and `input_ids`. GenAI's paged
backend recognizes masks by their operations; with any other mask it computes causal attention. So a mask that may be a
window and is not recognized gets a note.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue

from moir.analysis.analyses import Analyses
from moir.analysis.constants import constant_of
from moir.analysis.known_values import KnownValues
from moir.dialects.moir import add_notes, models_of
from moir.dialects.opset.arithmetic import Add, Subtract
from moir.dialects.opset.attention import ScaledDotProductAttention
from moir.dialects.opset.infrastructure import Parameter
from moir.dialects.shapes import shape_of
from moir.expansions.causal_masks import causal_mask
from moir.rewriting.builder import OpBuilder
from moir.rewriting.reporting_pass import ReportingPass
from moir.rewriting.state_pairs import inputs_by_name

_MASK = 3
_AND = ("opset1.LogicalAnd", "opset13.BitwiseAnd")
_ORDER = ("opset1.Greater", "opset1.GreaterEqual", "opset1.Less", "opset1.LessEqual")
_UNSEEN = (
    "the mask of an attention has more than causality, in a form that OpenVINO GenAI's paged backend does not see: "
    'create the pipeline with ATTENTION_BACKEND="SDPA"'
)


@dataclass(frozen=True)
class RecognizeWindowsPass(ReportingPass):
    """Rebuilds masks with sliding windows in the form that OpenVINO GenAI recognizes."""

    name = "recognize-windows"

    def run(self, module: ModuleOp, analyses: Analyses) -> bool:
        changed = False
        for model in models_of(module):
            attentions = [op for op in model.block.ops if isinstance(op, ScaledDotProductAttention) and len(op.operands) > _MASK]
            inputs = inputs_by_name(model.block)
            if not attentions or not {"attention_mask", "input_ids"} <= inputs.keys():
                continue
            by_mask: dict[SSAValue, list[ScaledDotProductAttention]] = {}
            for op in attentions:
                by_mask.setdefault(op.operands[_MASK], []).append(op)
            for mask, readers in by_mask.items():
                window = _window(mask, inputs["attention_mask"].results[0])
                if window:
                    _rewrite(readers, inputs, window)
                    changed = True
                elif _comparisons(mask) > 1:
                    add_notes(model, [_UNSEEN])
        return changed


def _rewrite(readers: Sequence[ScaledDotProductAttention], inputs: Mapping[str, Parameter], window: int) -> None:
    """Replace the masks of attentions by one mask that is causal, within a window of this size, and not padding.

    `inputs` has `attention_mask` and `input_ids`, from which the mask is built.
    """
    first = readers[0]
    assert isinstance(first.parent, Block)
    op = OpBuilder(KnownValues(), first.parent, first)
    mask = causal_mask(op, inputs["attention_mask"].results[0], inputs["input_ids"].results[0], window=window)
    for each in readers:
        each.operands[_MASK] = mask


def _window(mask: SSAValue, attention_mask: SSAValue) -> int:
    """The size of the sliding window of an attention mask (causal and within a window and not padding); 0 for other
    masks.
    """
    leaves = _leaves(_condition(mask))
    causal = [op for op in leaves if op.name == "opset1.LessEqual"]
    near = [op for op in leaves if op.name == "opset1.Greater"]
    others = [op for op in leaves if op not in causal and op not in near]
    if len(causal) != 1 or len(near) != 1 or len(others) != 1:
        return 0
    [padding] = others
    shape = shape_of(padding.results[0])
    if shape is None or len(shape) != 4 or shape[1:3] != (1, 1) or attention_mask not in _sources(padding):
        return 0
    keys, queries = causal[0].operands
    distance = near[0].operands[1].owner
    if near[0].operands[0] is not keys or not isinstance(distance, Add | Subtract) or distance.operands[0] is not queries:
        return 0
    size = constant_of(distance.operands[1])
    if size is None or size.size != 1:
        return 0
    window = int(size.reshape(())) * (1 if isinstance(distance, Subtract) else -1)
    return max(window, 0)


def _condition(mask: SSAValue) -> SSAValue:
    """The boolean condition from which a mask is made by a Select or a product; the mask itself if it is not made so.

    Looks through a Maximum.
    """
    owner = mask.owner
    if isinstance(owner, Operation):
        if owner.name == "opset1.Maximum":
            return _condition(owner.operands[0])
        if owner.name == "opset1.Select" and _is_zero(owner.operands[1]):
            return owner.operands[0]
        if owner.name == "opset1.Multiply":
            return _inverted(owner.operands[0])
    return mask


def _inverted(value: SSAValue) -> SSAValue:
    """The x of Convert(LogicalNot(x)); other values unchanged."""
    owner = value.owner
    if isinstance(owner, Operation) and owner.name == "opset1.Convert":
        inner = owner.operands[0].owner
        if isinstance(inner, Operation) and inner.name == "opset1.LogicalNot":
            return inner.operands[0]
    return value


def _is_zero(value: SSAValue) -> bool:
    array = constant_of(value)
    return array is not None and not array.any()


def _leaves(condition: SSAValue) -> list[Operation]:
    """The operations whose results a condition combines by logical ands; constants that are true are left out."""
    leaves: list[Operation] = []
    pending = [condition]
    while pending:
        value = pending.pop()
        owner = value.owner
        if not isinstance(owner, Operation):
            return []
        array = constant_of(value)
        if array is not None and array.all():
            continue
        if owner.name in _AND:
            pending.extend(owner.operands)
        elif owner not in leaves:
            leaves.append(owner)
    return leaves


def _sources(op: Operation) -> set[SSAValue]:
    """The inputs of a model from which an operation is computed."""
    return {each.results[0] for each in _ancestors(op) if isinstance(each, Parameter)}


def _comparisons(mask: SSAValue) -> int:
    """The number of Less, Greater and similar comparisons from which a mask is computed."""
    owner = mask.owner
    return sum(op.name in _ORDER for op in _ancestors(owner)) if isinstance(owner, Operation) else 0


def _ancestors(op: Operation) -> list[Operation]:
    """An operation and those from which it is computed."""
    seen = [op]
    known = {op}
    for each in seen:
        for operand in each.operands:
            if isinstance(operand.owner, Operation) and operand.owner not in known:
                known.add(operand.owner)
                seen.append(operand.owner)
    return seen
