"""Inner tensors: which is the first one with wrong, or with NaN or infinite, elements."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from moir.bisection.state_execution import StateExecution
from moir.dialects.memory_map import Array
from moir.dialects.opset.infrastructure import Parameter
from moir.errors import MoirError
from moir.execution.comparison import Difference, difference, first_not_finite, is_permuted, with_infinities_of
from moir.execution.ports import only_model
from moir.execution.values import named_values
from moir.support.records import Record


class TensorDifference(Record):
    """An inner tensor that differs from its reference.

    Args:
        name: its name.
        difference: its difference from the reference.
        value: the value in the module that computes it.
        expected: its correct value.
    """

    name: str
    difference: Difference
    value: SSAValue
    expected: Array


def inner_values(module: ModuleOp) -> dict[str, SSAValue]:
    """The values in a module in opset dialects that operations compute, by tensor name and in order."""
    values = named_values(only_model(module).block, constants=False, nodes=False)
    return {name: value for name, value in values.items() if not isinstance(value.owner, Parameter)}


def inner_arrays(execution: StateExecution, module: ModuleOp, names: Iterable[str] | None = None) -> dict[str, Array]:
    """The arrays of computed values of a module, by name; empty if the runtime does not run it with further outputs.

    Args:
        execution: the inputs.
        module: the module.
        names: the names that are wanted; None for all.
    """
    values = inner_values(module)
    if names is not None:
        values = {name: values[name] for name in names if name in values}
    unique = list(dict.fromkeys(values.values()))
    try:
        _, arrays = execution.run(module, unique)
    except MoirError:
        return {}
    array_by_value = dict(zip(unique, arrays, strict=True))
    return {name: array_by_value[value] for name, value in values.items()}


def differing(
    module: ModuleOp, arrays: Mapping[str, Array], expected: Mapping[str, Array], tolerance: float | None = None
) -> list[TensorDifference]:
    """The tensors of a module that differ from their reference, in the order of the module.

    A transposition of the reference counts as equal, and so does a tensor with the largest finite numbers in place of
    infinities, as in masks of attention.

    Args:
        module: the module.
        arrays: arrays of its tensors, by name.
        expected: the reference, by name.
        tolerance: the relative tolerance for floats; None for those of the element types.
    """
    differences: list[TensorDifference] = []
    for name, value in inner_values(module).items():
        if name not in arrays or name not in expected:
            continue
        array, wanted = arrays[name], expected[name]
        if (apart := difference(with_infinities_of(wanted, array), wanted, tolerance)).exceeds and not is_permuted(
            array, wanted, tolerance
        ):
            differences.append(TensorDifference(name, apart, value, wanted))
    return differences


def not_finite(module: ModuleOp, arrays: Mapping[str, Array], expected: Mapping[str, Array]) -> str | None:
    """A sentence on the first tensor of a module that has NaN or infinite elements; None if there is none.

    Args:
        module: the module.
        arrays: arrays of its tensors, by name.
        expected: the reference, by name.
    """
    for name, value in inner_values(module).items():
        kind = first_not_finite(arrays[name]) if name in arrays else None
        if kind is None:
            continue
        known = first_not_finite(expected[name]) if name in expected else None
        operation = value.owner.name if isinstance(value.owner, Operation) else "an input"
        same = " as in the reference" if known == kind else ", which the reference is not" if name in expected else ""
        return f"{name!r}, of {operation}, is the first tensor with elements that are {kind}{same}"
    return None
