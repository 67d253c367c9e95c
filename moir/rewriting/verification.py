"""Verification of modules with one-line errors.

xDSL's own verification attaches the text of the whole module to an error, which takes longer than a conversion.
"""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Block, ErasedSSAValue, Operation, OpResult, SSAValue
from xdsl.utils.exceptions import VerifyException

from moir.dialects.names import name_of
from moir.rewriting.verified_form import form_of


def verify_module(module: ModuleOp, after: str | None = None, before: Snapshot | None = None) -> None:
    """Verify every operation, and that operands are defined before their use, in the same block.

    Args:
        module: the module.
        after: the step after which the module is verified, for the message.
        before: snapshot of the module when it was valid; then only operations that have changed are verified.

    Raises OperationVerifyException.
    """
    try:
        _verify_tree(module, before)
    except _OperationError as error:
        raise failure_after(after, error.op, error.reason) from error


def failure_after(after: str | None, op: Operation, reason: str) -> OperationVerifyException:
    """The error for an operation that is not valid.

    Args:
        after: the step after which the module was verified; None to name none.
        op: the operation.
        reason: the reason, as a clause.
    """
    from moir.analysis.provenance import origin

    where = f"after {after}: " if after else ""
    name, nodes = name_of(op), origin(op)
    label = " ".join((op.name, *((repr(name),) if name else ()), *((f"(from {nodes})",) if nodes else ())))
    return OperationVerifyException(f"{where}{label}: {reason}", op)


class OperationVerifyException(VerifyException):
    """An operation is not valid. The message names the operation and its node.

    Args:
        message: the message.
        subject: the operation.
    """

    def __init__(self, message: str, subject: Operation) -> None:
        super().__init__(message)
        self.subject = subject
        self.location: str | None = None
        """The position of the operation in a text; set by tools that parsed the text."""

    def __str__(self) -> str:
        text = super().__str__()
        return f"{self.location}: {text}" if self.location else text


class Snapshot:
    """The contents of all operations of a module at one time.

    Attributes are immutable, so comparing them by identity suffices.

    Args:
        module: the module.
    """

    def __init__(self, module: ModuleOp) -> None:
        self._contents = {op: _contents(op) for op in module.walk()}

    def has_changed(self, op: Operation) -> bool:
        """Whether an operation is new or has changed, or has bodies."""
        return bool(op.regions) or self._contents.get(op) != _contents(op)


def _contents(op: Operation) -> tuple[tuple[SSAValue, ...], dict[str, Attribute], list[Attribute]]:
    return tuple(op.operands), dict(op.properties), [result.type for result in op.results]


class _OperationError(Exception):
    def __init__(self, op: Operation, reason: str) -> None:
        super().__init__(reason)
        self.op = op
        self.reason = reason


def _verify_tree(root: Operation, before: Snapshot | None) -> None:
    pending = [root]
    while pending:
        op = pending.pop()
        if before is None or before.has_changed(op):
            _verify(op)
        for region in op.regions:
            for block in region.blocks:
                # The stack is popped from its end, so the operations are pushed in reverse: the first error in the text
                # is reported.
                pending.extend(reversed(_with_operands(block)))


def _verify(op: Operation) -> None:
    form = form_of(type(op))
    try:
        if form is None or not form.fits(op):
            op.verify_()
        else:
            checked: Any = op
            checked.check_invariants()
    except VerifyException as error:
        raise _OperationError(op, str(error)) from error


def _with_operands(block: Block) -> list[Operation]:
    """The operations of a block.

    Raises OperationVerifyException unless each operand is an argument of the block or a result of an earlier operation.
    """
    defined: dict[int, Operation] = {}
    for op in block.ops:
        for index, operand in enumerate(op.operands):
            # Neither class has subclasses, so that the slow check against the abstract base is not needed.
            if type(operand) is OpResult:
                if id(operand.op) not in defined:
                    raise _OperationError(op, f"operand {index} is not defined before it in its block")
            elif type(operand) is ErasedSSAValue:
                raise _OperationError(op, "an operand was erased")
            elif operand.owner is not block:
                raise _OperationError(op, f"operand {index} is an argument of another block")
        defined[id(op)] = op
    return list(defined.values())
