"""`check-lowered`: verifies that no operation of a framework dialect is left. Changes nothing.

    %y = onnx.com.example.HardTanh(%x) {name = "tanh"}
->  error: no lowering for 1 kind of operation: onnx.com.example.HardTanh ('tanh')

One error lists every remaining kind with its count and its first nodes. An operation that an extension built without a
`type` may stay if it has a function `infer`: a transformation of a later phase has to replace it.
"""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from moir.analysis.analyses import Analyses
from moir.analysis.remaining_operations import kinds_and_names, remaining_operations
from moir.dialects.framework import MODEL_OPTIMIZER, FrameworkOp
from moir.dialects.moir import RESULT, ModuleLevel, all_blocks, model_around
from moir.dialects.names import name_of
from moir.dialects.opset.infrastructure import Constant
from moir.dialects.python_object import python_entries
from moir.errors import UnsupportedOperationError
from moir.frameworks import FRAMEWORKS, load
from moir.rewriting.reporting_pass import ReportingPass
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


class CheckLoweredPass(ReportingPass):
    """Raises UnsupportedOperationError if operations of the framework are left."""

    name = "check-lowered"

    def run(self, module: ModuleOp, analyses: Analyses) -> bool:
        if not any(issubclass(each, FrameworkOp) for each in analyses.classes):
            return False
        left = remaining_operations(module, must_go)
        if not left:
            return False
        first = next(each for block in all_blocks(module) for each in block.ops if must_go(each))
        error = UnsupportedOperationError(
            f"no lowering for {len(left)} kind{'s' if len(left) > 1 else ''} of operation: {kinds_and_names(left)}",
            hint=hint(left) + _cut_before(first),
        )
        error.subject = first
        raise error


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
