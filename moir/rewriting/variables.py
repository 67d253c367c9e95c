"""Building the operations of variables, whose values persist between inferences."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.shapes import Shape, element_of, shape_of
from moir.errors import ConversionError
from moir.rewriting.builder import OpBuilder


def read_variable(op: OpBuilder, variable: str, like: SSAValue, initial: SSAValue) -> SSAValue:
    """Build a ReadValue.

    Args:
        op: the builder.
        variable: the id of the variable.
        like: a value with the element type of the variable, and a shape that all of its values have.
        initial: the value before the first Assign.
    """
    shape = shape_of(like)
    text = "..." if shape is None else ",".join("?" if size < 0 else str(size) for size in shape)
    return op.ReadValue(initial, variable_id=variable, variable_type=element_of(like), variable_shape=text)


def assign_variable(op: OpBuilder, variable: str, value: SSAValue) -> None:
    """Build an Assign of a value to a variable. The variable must be read, too."""
    op.Assign(value, variable_id=variable)


class VariableNames:
    """Chooses unique ids for variables."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def unique(self, wanted: str) -> str:
        """The id `wanted`, with a number appended if another variable has it."""
        identifier, number = wanted, 1
        while identifier in self._taken:
            identifier, number = f"{wanted}_{number}", number + 1
        self._taken.add(identifier)
        return identifier


def check_variable_type(variable: str, value: SSAValue, assigned: SSAValue) -> None:
    """Raises ConversionError if `assigned` cannot be assigned to a variable that has the type of `value`."""
    shape, other = shape_of(value), shape_of(assigned)
    if element_of(value) != element_of(assigned) or not _covers(shape, other):
        raise ConversionError(
            f"the values of variable {variable!r} have different types: it is read as {value.type}, assigned as {assigned.type}",
            hint="dimensions that change from one inference to the next must be unknown in the input",
        )


def _covers(shape: Shape, other: Shape) -> bool:
    """Whether a value of the shape `other` always has the shape `shape`, too, which may have dynamic dimensions."""
    if shape is None or other is None:
        return True
    return len(shape) == len(other) and all(a < 0 or b in (a, -1) for a, b in zip(shape, other, strict=True))
