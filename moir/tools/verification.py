"""Verification of modules, with an error that is one line.

xDSL's own verification attaches the text of the whole module to an error, which takes longer than a conversion.
"""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import ErasedSSAValue, Operation, OpResult
from xdsl.utils.exceptions import VerifyException

from moir.dialects.assembly import name_of


def verify_module(module: ModuleOp, after: str | None = None) -> None:
    """Check the invariants of every operation, and that operands are defined before they are used, in the same block.

    Args:
        module: the module.
        after: what was done to it, for the message.

    Raises VerifyException that names the operation.
    """
    try:
        module.verify_()
        for region in module.regions:
            for block in region.blocks:
                for op in block.ops:
                    _verify_tree(op)
    except _OperationError as error:
        op = error.op
        where = f"after {after}: " if after else ""
        name = name_of(op)
        label = f"{op.name} {name!r}" if name else op.name
        raise VerifyException(f"{where}{label}: {error.reason}") from error


class _OperationError(Exception):
    def __init__(self, op: Operation, reason: str) -> None:
        super().__init__(reason)
        self.op = op
        self.reason = reason


def _verify_tree(root: Operation) -> None:
    pending = [root]
    while pending:
        op = pending.pop()
        _verify(op)
        for region in op.regions:
            for block in region.blocks:
                defined: set[Operation] = set()
                for inner in block.ops:
                    _check_order(inner, defined)
                    defined.add(inner)
                    pending.append(inner)


def _verify(op: Operation) -> None:
    if any(isinstance(operand, ErasedSSAValue) for operand in op.operands):
        raise _OperationError(op, "an operand was erased")
    try:
        op.verify_()
    except VerifyException as error:
        raise _OperationError(op, str(error)) from error


def _check_order(op: Operation, defined: set[Operation]) -> None:
    for index, operand in enumerate(op.operands):
        if isinstance(operand, OpResult) and operand.op not in defined:
            raise _OperationError(op, f"operand {index} is not defined before it in its block")
