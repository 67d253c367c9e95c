"""Framework operations without a lowering, and the error that names them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any

from xdsl.ir import Operation

from moir.analysis.backward_slice import backward_slice
from moir.analysis.remaining_operations import kinds_and_names, remaining_operations
from moir.dialects.framework import MODEL_OPTIMIZER, FrameworkOp, decode_kind
from moir.dialects.moir import RESULT, ModuleLevel, model_around
from moir.dialects.names import name_of
from moir.dialects.opset.infrastructure import Constant, Parameter
from moir.dialects.python_object import python_entries
from moir.errors import MissingLoweringError, UnsupportedOperationError
from moir.frameworks import FRAMEWORKS, load
from moir.frameworks.traits import SAYS_LAYOUT, kinds_with
from moir.support.suggestions import alternatives, nearest


def may_stay(op: FrameworkOp) -> bool:
    """Whether an operation without a lowering is allowed: an extension built it, with a type, or it is lowered after
    the layout change.
    """
    if op.KIND in kinds_with(op.dialect_name(), SAYS_LAYOUT) and (model := model_around(op)) is not None:
        return ModuleLevel.KEEPS_LAYOUTS in model.attributes
    return op.name.startswith(f"{MODEL_OPTIMIZER}.") and callable(python_entries(op).get("infer"))


_HINT = "add a lowering for each in an extension; `moir new-extension DIR` writes one to start from"
_HINT_FOR_EXTENSIONS = "give each operation a type, or replace it in a transformation that runs later"
_SIMILARITY = 0.75
"""Minimum similarity of a suggested kind: many kinds differ in a suffix only, so less similar ones are other
operations."""


def hint(left: Iterable[str]) -> str:
    """Advice for the user on kinds without a lowering: correct a misspelt name, or add a lowering."""
    kinds = list(left)
    if all(kind.startswith(f"{MODEL_OPTIMIZER}.") for kind in kinds):
        return _HINT_FOR_EXTENSIONS
    if declining := [kind for kind in kinds if _is_added(kind)]:
        return f"the lowering of {', '.join(declining)} returned None, which leaves the operation as it is: has it a return?"
    if misplaced := [text for kind in kinds for text in _other_domains(kind)]:
        return f"register {', '.join(misplaced)}"
    near = {kind: nearest for kind in kinds if (nearest := _nearest_kinds(kind))}
    meant = [f"{alternatives(names_of_kinds)}{f' for {kind}' if len(kinds) > 1 else ''}" for kind, names_of_kinds in near.items()]
    return f"did you mean {', '.join(meant)}? {_HINT}" if near else _HINT


def _nearest_kinds(operation: str) -> list[str]:
    """Supported operations of the same framework whose names resemble that of an unsupported one."""
    dialect, _, kind = operation.partition(".")
    table = _table(dialect)
    if table is None:
        return []
    lowered = list(table.kinds())
    # A kind that is lowered in other versions is spelt correctly.
    return [] if kind in lowered else [f"{dialect}.{each}" for each in nearest(kind, lowered, similarity=_SIMILARITY)]


def _other_domains(operation: str) -> list[str]:
    """The lowerings that extensions registered under nearly the name of an unsupported operation.

    The name may lack the operation's domain (in Keras its package, in PyTorch its namespace), or have one where the
    operation has none: "the lowering of A for mine.A".
    """
    dialect, _, kind = decode_kind(operation).partition(".")
    table = _table(dialect)
    added: list[str] = [] if table is None else table.added_kinds()
    return [f"the lowering of {each} for {kind}" for each in added if _ends_in(kind, each) or _ends_in(each, kind)]


def _is_added(operation: str) -> bool:
    """Whether an extension lowers operations of this kind."""
    dialect, _, kind = decode_kind(operation).partition(".")
    table = _table(dialect)
    return table is not None and kind in table.added_kinds()


def _ends_in(kind: str, name: str) -> bool:
    return kind.endswith((f".{name}", f">{name}"))


def _table(dialect: str) -> Any:
    """The table of lowerings of a dialect; None if the dialect has none.

    Imported by name, since it is in a higher layer.
    """
    framework = FRAMEWORKS.get(dialect)
    return None if framework is None or framework.lowering is None else load(framework.lowering)


def without_lowering(left: dict[str, list[str]], first: Operation) -> MissingLoweringError:
    """The error for operations without a lowering.

    Args:
        left: the names of nodes without a lowering, by the names of their operations.
        first: the first of these operations.
    """
    error = MissingLoweringError(
        f"no lowering for {len(left)} kind{'s' if len(left) > 1 else ''} of operation: {kinds_and_names(left)}",
        left,
        operation=first.name,
        node=name_of(first),
        hint=hint(left) + _cut_before(first, left),
    )
    error.subject = first
    return error


def unlowered_before(op: Operation, is_unlowered: Callable[[Operation], bool], *, is_definite: bool) -> UnsupportedOperationError | None:
    """The error that names the operations without a lowering on which an operation depends, so that its operand types
    are unknown.

    None if it depends on no such operation.

    Args:
        op: the operation, which could not be lowered.
        is_unlowered: whether an operation has no lowering.
        is_definite: whether `is_unlowered` also holds for operations that do not precede `op`; the error names them,
            too.
    """
    before = [each for each in backward_slice(op) if is_unlowered(each)]
    model = model_around(op)
    if not before or model is None:
        return None
    return without_lowering(remaining_operations(model, is_unlowered if is_definite else before.__contains__), before[-1])


def _cut_before(op: Operation, left: Collection[str]) -> str:
    """The hint how to cut the model before an operation that is followed only by outputs and by operations of the names
    `left`.

    Empty for any other operation, and if no operation would be left before it.
    """
    followers = _followers(op)
    if len(followers) == 1 or not all(each.name == RESULT or (must_go(each) and each.name in left) for each in followers):
        return ""
    owners = (value.owner for value in op.operands)
    before = [each for each in owners if isinstance(each, Operation) and not isinstance(each, Constant | Parameter)]
    names = dict.fromkeys(name for each in before if (name := name_of(each)))
    return f"; or end the model before it: --output {','.join(names)}" if names else ""


def _followers(op: Operation) -> set[Operation]:
    """An operation with all operations that depend on it."""
    followers, visited = {op}, [op]
    while visited:
        uses = (use.operation for result in visited.pop().results for use in result.uses)
        visited += (new := {each for each in uses if each not in followers})
        followers |= new
    return followers


def must_go(op: Operation) -> bool:
    """Whether an operation belongs to a framework's dialect, which the IR cannot represent."""
    return isinstance(op, FrameworkOp) and not may_stay(op)
