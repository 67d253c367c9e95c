"""Convolutions of parts of a value, which the CPU plugin takes for one convolution in groups."""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from moir.dialects.opset.convolution import Convolution
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.movement import Concat
from moir.dialects.shapes import normalize_axis, rank_of, shape_of
from moir.rewriting.driver import Pattern, Rewriter
from moir.targets.openvino_cpu.neighbours.identity import computed_identity
from moir.targets.record import Fault, Form

_SPLITS = frozenset(("Split", "VariadicSplit"))


class ConvolvedParts(Pattern):
    """Separates a Concat from convolutions of parts of a value, if they are not equivalent to one grouped convolution.

        %0, %1 = opset1.Split(%x, 1)
        %2 = opset1.Convolution(%1, %v)
        %3 = opset1.Convolution(%0, %w)
        %y = opset1.Concat(%2, %3) {axis = 1}
    ->  %y = opset1.Concat(opset1.Maximum(-inf, %2), %3) {axis = 1}

    The plugin replaces them by a GroupConvolution of %x, for any order of the parts and any axis of the Split and the
    Concat. It does not compile a Concat with an input of the model or a constant after them.
    """

    roots = (Concat,)
    companions = ((Convolution,), ("opset1.Split", "opset1.VariadicSplit"))

    def may_match(self, op: Operation) -> bool:
        return _part_of(op.operands[0]) is not None

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, Concat)
        if _are_groups(op):
            return
        first, *others = op.operands
        rewriter.replace_with(
            op, rewriter.op.create(Concat, [computed_identity(rewriter.op, first), *others], dict(op.properties)).results[0]
        )


def _part_of(value: SSAValue) -> SSAValue | None:
    """The result of a Split to which the convolution that computes a value is applied; None for any other value."""
    if not isinstance(value.owner, Convolution):
        return None
    part = value.owner.operands[0]
    return part if isinstance(part.owner, OpsetOp) and part.owner.KIND in _SPLITS else None


def _are_groups(op: Concat) -> bool:
    """Whether a Concat joins one convolution of each result of one Split, in order, so that it equals a grouped
    convolution.
    """
    parts = [_part_of(each) for each in op.operands]
    split = parts[0].owner if parts[0] is not None else None
    if not isinstance(split, OpsetOp) or parts != list(split.results):
        return False
    convolutions = [each.owner for each in op.operands if isinstance(each.owner, Convolution)]
    rank = rank_of(split.operands[0])
    return (
        rank is not None
        and normalize_axis(op.integer("axis"), rank) == 1
        and rank_of(op.results[0]) == rank
        and len({shape_of(part) for part in parts if part is not None}) == 1
        and _is_split_along_channels(split)
        and len({tuple(sorted((name, str(value)) for name, value in each.properties.items())) for each in convolutions}) == 1
        and len({shape_of(each.operands[1]) for each in convolutions}) == 1
    )


def _is_split_along_channels(split: OpsetOp) -> bool:
    """Whether a value is split along its second axis."""
    whole, part = shape_of(split.operands[0]), shape_of(split.results[0])
    if whole is None or part is None:
        return False
    return part[1] * len(split.results) == whole[1] and part[:1] + part[2:] == whole[:1] + whole[2:]


FORMS = (
    Form(
        "separate-parts",
        (ConvolvedParts,),
        faults=(
            Fault(
                "convolved-parts",
                "Concat of convolutions of parts of a value, in another order, along another axis, or with other values",
                "is that of the convolutions of all parts in order, or is not compiled",
            ),
        ),
    ),
)
