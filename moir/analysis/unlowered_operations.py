"""Operations of a framework that nothing lowers, and the error that names them."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from xdsl.ir import Operation

from moir.analysis.backward_slice import backward_slice
from moir.analysis.remaining_operations import kinds_and_names, remaining_operations
from moir.dialects.framework import MODEL_OPTIMIZER, FrameworkOp
from moir.dialects.moir import RESULT, ModuleLevel, model_around
from moir.dialects.names import name_of
from moir.dialects.opset.infrastructure import Constant
from moir.dialects.python_object import python_entries
from moir.errors import UnsupportedOperationError
from moir.frameworks import FRAMEWORKS, load
from moir.suggestions import alternatives, nearest


def _layout_kinds(dialect: str) -> frozenset[str]:
    framework = FRAMEWORKS.get(dialect)
    return frozenset() if framework is None else framework.layout_kinds


def may_stay(op: FrameworkOp) -> bool:
    """Whether an operation was built by an extension and infers its own types, or stays until the layout change."""
    if op.KIND in _layout_kinds(op.dialect_name()) and (model := model_around(op)) is not None:
        return ModuleLevel.KEEPS_LAYOUTS in model.attributes
    return op.name.startswith(f"{MODEL_OPTIMIZER}.") and callable(python_entries(op).get("infer"))


_HINT = "add a lowering for each in an extension; `moir new-extension DIR` writes one to start from"
_HINT_FOR_EXTENSIONS = "give each operation a type, or replace it in a transformation that runs later"
_SIMILARITY = 0.75
"""Minimum similarity of a suggested kind: many kinds differ in a suffix only, so less similar ones are other
operations."""


def hint(left: Iterable[str]) -> str:
    """What the user can do about kinds without a lowering: correct a misspelt name, or add a lowering."""
    kinds = list(left)
    if all(kind.startswith(f"{MODEL_OPTIMIZER}.") for kind in kinds):
        return _HINT_FOR_EXTENSIONS
    near = {kind: found for kind in kinds if (found := _nearest_kinds(kind))}
    meant = [f"{alternatives(found)}{f' for {kind}' if len(kinds) > 1 else ''}" for kind, found in near.items()]
    return f"did you mean {', '.join(meant)}? {_HINT}" if near else _HINT


def _nearest_kinds(operation: str) -> list[str]:
    """Supported operations of the same framework whose names resemble that of an unsupported one."""
    dialect, _, kind = operation.partition(".")
    framework = FRAMEWORKS.get(dialect)
    if framework is None or framework.lowering is None:
        return []
    lowered = list(load(framework.lowering).kinds())
    # A kind that is lowered in other versions is spelt correctly.
    return [] if kind in lowered else [f"{dialect}.{each}" for each in nearest(kind, lowered, similarity=_SIMILARITY)]


def without_lowering(left: dict[str, list[str]], first: Operation) -> UnsupportedOperationError:
    """The error for operations without a lowering.

    Args:
        left: names of the nodes by the names of the operations.
        first: the first of these operations.
    """
    error = UnsupportedOperationError(
        f"no lowering for {len(left)} kind{'s' if len(left) > 1 else ''} of operation: {kinds_and_names(left)}",
        hint=hint(left) + _cut_before(first),
    )
    error.subject = first
    return error


def unlowered_before(op: Operation, is_unlowered: Callable[[Operation], bool], *, is_definite: bool) -> UnsupportedOperationError | None:
    """The error for operations without a lowering if an operation depends on one, so that types of its operands are
    unknown; else None.

    Args:
        op: the operation, which could not be lowered.
        is_unlowered: whether an operation has no lowering.
        is_definite: whether this also holds for operations that do not precede `op`; the error names them, too.
    """
    before = [each for each in backward_slice(op) if is_unlowered(each)]
    model = model_around(op)
    if not before or model is None:
        return None
    return without_lowering(remaining_operations(model, is_unlowered if is_definite else before.__contains__), before[-1])


def _cut_before(op: Operation) -> str:
    """The hint how to cut off an operation that only outputs follow; empty for any other operation."""
    if not op.results or any(use.operation.name != RESULT for result in op.results for use in result.uses):
        return ""
    names = [name_of(value.owner) for value in op.operands if isinstance(value.owner, Operation) and not isinstance(value.owner, Constant)]
    named = list(dict.fromkeys(name for name in names if name))
    return f"; or end the model before it: --output {','.join(named)}" if named else ""


def must_go(op: Operation) -> bool:
    """Whether an operation belongs to a framework, so that the IR cannot represent it."""
    return isinstance(op, FrameworkOp) and not may_stay(op)
