"""Operations that the CPU plugin fuses into the operation before them."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Operation, OpResult, SSAValue

from moir.analysis.uses import live_uses
from moir.dialects.opset.activation import PRelu
from moir.dialects.opset.infrastructure import Constant
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.shape import ShapeOf
from moir.dialects.shapes import shape_of
from moir.rewriting.driver import Pattern, Rewriter
from moir.targets.record import Form
from moir.targets.stages import PREFERRED


class ShapeBeforeActivation(Pattern):
    """Takes a shape from the end of a chain of elementwise operations with constants.

        %1 = opset1.Convolution(%x, %w)
        %s = opset3.ShapeOf(%1)
        %2 = opset1.Relu(opset1.Add(%1, %bias))              // the results of both have no other uses
    ->  %1 = opset1.Convolution(%x, %w)
        %2 = opset1.Relu(opset1.Add(%1, %bias))
        %s = opset3.ShapeOf(%2)

    The plugin fuses such operations into the operation before them, if nothing else uses its result.
    """

    roots = (ShapeOf,)

    def may_match(self, op: Operation) -> bool:
        value = op.operands[0]
        return isinstance(value, OpResult) and bool(value.op.operands) and value.has_more_than_one_use()

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        source = op.operands[0]
        chain = list(elementwise_chain(source))
        if not chain:
            return
        # A user of the shape may come before operations of the chain, whose other operands are constants.
        assert isinstance(source, OpResult)
        assert op.parent is not None
        place = source.op
        for each in chain:
            for index, operand in enumerate(each.operands):
                if isinstance(constant := operand.owner, Constant):
                    if operand.has_more_than_one_use():
                        # Other users of the constant may be before this operation.
                        constant = constant.clone()
                        each.operands[index] = constant.results[0]
                    else:
                        constant.detach()
                    op.parent.insert_op_after(constant, place)
                    place = constant
            each.detach()
            op.parent.insert_op_after(each, place)
            place = each
        op.operands[0] = chain[-1].results[0]
        rewriter.has_done_action = True


def elementwise_chain(value: SSAValue) -> Iterator[Operation]:
    """The elementwise operations after a value, as long as each result has exactly one user, which is
    elementwise, too.
    """
    while True:
        users = list(dict.fromkeys(use.operation for use in live_uses(value) if not isinstance(use.operation, ShapeOf)))
        if len(users) != 1 or users[0].parent is not value.owner.parent or not keeps_shape(users[0], value):
            return
        yield users[0]
        value = users[0].results[0]


def keeps_shape(op: Operation, value: SSAValue) -> bool:
    """Whether each element of an operation's result is computed from the element of `value` at the same index, and from
    constants.
    """
    if not isinstance(op, OpsetOp):
        return False
    others = [operand for operand in op.operands if operand is not value]
    if not all(isinstance(each.owner, Constant) for each in others) or len(op.operands) != len(others) + 1:
        return False
    if isinstance(op, PRelu) or (op.POINTWISE and not others):
        return True
    return op.BROADCASTS and all(fits(shape_of(each), shape_of(value)) for each in others)


def fits(constant: tuple[int, ...] | None, shape: tuple[int, ...] | None) -> bool:
    """Whether a constant's shape surely broadcasts to a value's shape without enlarging it; dynamic dimensions may have
    any size.

    False if either shape has a dynamic rank (None).
    """
    if constant is None or shape is None or len(constant) > len(shape):
        return False
    return all(size in (1, known) for size, known in zip(reversed(constant), reversed(shape), strict=False))


FORMS = (Form("read-final-shapes", (ShapeBeforeActivation,), stage=PREFERRED),)
