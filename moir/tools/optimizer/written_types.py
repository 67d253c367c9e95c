"""The types that a text gives to the results of operations, checked against type inference.

A written type has to follow from the operation: it is the inferred type, or a less refined one. A type that is more
refined is an error as well, even if it does not contradict the inferred one: the dimension that it adds may have come
from an operand that was edited since, and folding ShapeOf to it would make a model that is wrong without a message.

Two kinds of types are not checked: those of Parameters of a model and of operations that no operation set
defines, from which inference starts; and those that depend on the value of a constant that was left out of the text.
"""

from __future__ import annotations

import math
from typing import cast

from xdsl.dialects.builtin import ModuleOp, TensorType, UnrankedTensorType
from xdsl.ir import Attribute, Block, Operation, OpResult, SSAValue

from moir.analysis.known_values import MAXIMUM_ELEMENTS, KnownValues
from moir.dialects.data import DataAttr
from moir.dialects.element_types import dynamic
from moir.dialects.inference import infer_operation, set_type
from moir.dialects.moir import models_of
from moir.dialects.names import name_of
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.shapes import element_count, element_of, merge_elements, merge_shapes, refines, shape_of, tensor
from moir.errors import ConversionError, InferenceError
from moir.rewriting.failing_operation import failing_operation

_HINT = "write a type that follows, or replace the written types with --reinfer-types"


def check_written_types(module: ModuleOp, *, replace: bool = False) -> None:
    """Check the types of all results of operations of opset dialects, in time linear in the number of operations.

    Args:
        module: a module that verifies.
        replace: whether to set the inferred types instead of checking the written ones.

    Without `replace` no type is changed, even if inference gives a more precise one: the passes of a
    conversion do not refine them either, and a dump has to end in the same files. Raises InferenceError, with the
    operation as its `subject`.
    """
    blocks = [model.block for model in models_of(module)]
    for block in blocks:
        check = _Check(replace)
        check.block(block, blocks)
        check.restore()


class _Check:
    """Infers the types of a block in order, in place, and compares them with the written ones."""

    def __init__(self, replace: bool) -> None:
        self._replace = replace
        self._known = KnownValues()
        self._written: dict[SSAValue, Attribute] = {}
        self._left_out: set[SSAValue] = set()

    def block(self, block: Block, blocks: list[Block]) -> None:
        """Check a block; blocks of operations of other dialects in it are appended to `blocks`."""
        for op in block.ops:
            if isinstance(op, OpsetOp):
                self._operation(op)
            else:
                blocks.extend(inner for region in op.regions for inner in region.blocks)

    def restore(self) -> None:
        """Give the values their written types again."""
        if not self._replace:
            for value, type_ in self._written.items():
                set_type(value, type_)

    def _operation(self, op: OpsetOp) -> None:
        inner: list[Operation] = list(op.walk()) if op.regions else [op]
        for each in inner:
            for result in each.results:
                self._written[result] = result.type
                if not isinstance(result.type, TensorType | UnrankedTensorType):
                    raise _error(each, f"the type of a result is a tensor type, not {result.type}")
        self._infer(op, inner)
        unknown = self._depends_on_left_out(op) or any(_is_left_out(each) for each in inner if each is not op)
        for each in inner:
            if isinstance(each, OpsetOp) and not self._replace:
                for result in each.results:
                    self._compare(each, result, more_is_fine=unknown)

    def _infer(self, op: OpsetOp, inner: list[Operation]) -> None:
        try:
            infer_operation(op, self._known)
        except ConversionError as error:
            # The operation that fails may be in a body of this one.
            failing = failing_operation(error.__traceback__)
            named = [each for each in inner if each.name == error.operation and name_of(each) == error.node]
            error.subject = failing if failing in named else next(iter(named), op)
            raise
        except (MemoryError, RecursionError):
            raise
        except Exception as error:
            failing = failing_operation(error.__traceback__)
            reason = f"its operands and properties do not fit together ({type(error).__name__}: {error})"
            raise _error(failing if failing is not None and failing in inner else op, reason) from error

    def _depends_on_left_out(self, op: OpsetOp) -> bool:
        """Whether values of operands are unknown for no other reason than that the text leaves out a constant."""
        if _is_left_out(op):
            self._left_out.add(op.results[0])
        if not any(operand in self._left_out for operand in op.operands):
            return False
        if all(operand in self._left_out or self._known.elements(operand) is not None for operand in op.operands):
            self._left_out.update(result for result in op.results if (element_count(shape_of(result)) or 0) <= MAXIMUM_ELEMENTS)
        return True

    def _compare(self, op: OpsetOp, result: OpResult, *, more_is_fine: bool) -> None:
        written, inferred = self._written[result], result.type
        if written is inferred or written == inferred:
            return
        try:
            shape = merge_shapes(shape_of(written), shape_of(inferred))
            element = merge_elements(element_of(written), element_of(inferred))
        except InferenceError:
            raise _contradiction(op, result, written) from None
        if more_is_fine:
            set_type(result, tensor(cast("tuple[int, ...] | None", shape), element))
        elif not refines(shape_of(inferred), shape_of(written)) or (element_of(written) is not dynamic and element_of(inferred) is dynamic):
            raise _contradiction(op, result, written)


def _is_left_out(op: Operation) -> bool:
    """Whether an operation is a constant whose elements the text leaves out, and which could be a shape, axes or
    sizes.
    """
    data = op.properties.get("value")
    return isinstance(data, DataAttr) and data.data.values is None and math.prod(data.shape) <= MAXIMUM_ELEMENTS


def _contradiction(op: Operation, result: OpResult, written: Attribute) -> InferenceError:
    which = f"result {result.index}" if len(op.results) > 1 else "the result"
    return _error(op, f"{which} is written as {written}, but its operands and properties give {result.type}", _HINT)


def _error(op: Operation, reason: str, hint: str | None = None) -> InferenceError:
    error = InferenceError(reason, operation=op.name, node=name_of(op), hint=hint)
    error.subject = op
    return error
