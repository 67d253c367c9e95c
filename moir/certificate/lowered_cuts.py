"""Further cuts, besides those at tensor names, for a model that is compared with its own lowered form.

Language models name nodes, and hardly any tensor. A replacement inherits the name of the node that it replaces, so that
a node of the lowered model and one of the IR with the same name have the same result. States have the same identifiers
on both sides: what a state begins with, its value and what is assigned to it are tensors of both.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TypeAlias

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, OpResult, SSAValue

from moir.dialects.names import name_of, names_of, tensor_names
from moir.dialects.opset.infrastructure import Constant, Parameter, Result, VariableOp
from moir.dialects.shapes import element_of, shape_of
from moir.execution.ports import only_model
from moir.execution.values import named_values

Pair: TypeAlias = tuple[str, SSAValue, SSAValue]
"""The name of a tensor, its value in the IR, and that in the lowered model."""


def is_assignment(op: Operation) -> bool:
    """Whether an operation assigns to a state."""
    return isinstance(op, VariableOp) and op.name.endswith(".Assign")


def state_of(op: Operation) -> str:
    """The identifier of the state that an operation reads or assigns to."""
    assert isinstance(op, VariableOp)
    return op.text("variable_id")


def pairs_of_lowered(lowered: ModuleOp, module: ModuleOp) -> Iterator[Pair]:
    """Yields the values that a lowered model and an IR have in common, by node names and states, as `cuts_of` takes
    them.

    Each is a name, the value of the IR, and the value of the lowered model, which gets a tensor name if it has none.

    Args:
        lowered: the lowered model.
        module: the converted model.
    """
    taken = named_values(only_model(lowered).block, nodes=False)
    others = {**_by_node(lowered), **_by_state(lowered)}
    for name, value in {**_by_node(module), **_by_state(module)}.items():
        if name in others and name not in taken and _may_be_equal(value, others[name]):
            yield _named(name, value, others[name])


def _by_state(module: ModuleOp) -> Mapping[str, SSAValue]:
    """The values around the variables of a model, by `state ID` (read), `next ID` (assigned) and `first ID`
    (initial).
    """
    values: dict[str, SSAValue] = {}
    for op in only_model(module).block.ops:
        if not isinstance(op, VariableOp):
            continue
        name = state_of(op)
        if is_assignment(op):
            values[f"next {name}"] = op.operands[0]
        else:
            values[f"state {name}"] = op.results[0]
            values.update((f"first {name}", operand) for operand in op.operands)
    return {name: value for name, value in values.items() if not isinstance(value.owner, Constant | Parameter) and _is_only_result(value)}


def _by_node(module: ModuleOp) -> Mapping[str, SSAValue]:
    """The result of each operation with one result, by the name of its node; names that several nodes have are left
    out.
    """
    named = [(op, name) for op in only_model(module).block.ops if (name := name_of(op)) and not isinstance(op, Result)]
    counts = Counter(name for _, name in named)
    kinds = (Constant, Parameter, VariableOp)
    return {name: op.results[0] for op, name in named if counts[name] == 1 and len(op.results) == 1 and not isinstance(op, kinds)}


def _is_only_result(value: SSAValue) -> bool:
    return isinstance(value, OpResult) and len(value.op.results) == 1


def _may_be_equal(value: SSAValue, other: SSAValue) -> bool:
    """Whether two values may have equal arrays: their element types and shapes are compatible."""
    shape, known = shape_of(value), shape_of(other)
    if element_of(value) != element_of(other) or (shape is not None and known is not None and len(shape) != len(known)):
        return False
    return shape is None or known is None or all(a == b or min(a, b) < 0 for a, b in zip(shape, known, strict=True))


def _named(name: str, value: SSAValue, other: SSAValue) -> Pair:
    if not names_of(other):
        assert isinstance(other, OpResult)
        other.op.attributes["tensor_names"] = tensor_names(name)
    return names_of(other)[0], value, other
