"""Threading the values of variables through a model that writes them.

The value that a variable has when an inference begins is a ReadValue, the one it has at the end goes into an Assign. In
between, each operation that accesses the variable gets its present value as an operand instead of the handle, and the
result of one that writes it is the next value. Functions of If, Case and While get the values as further arguments and
return those that they write. If every read follows a write, the variable is not a state.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from xdsl.ir import SSAValue

from moir.dialects import element_types, opset
from moir.dialects.data import DataAttr
from moir.dialects.framework import FrameworkOp
from moir.dialects.names import name_of
from moir.dialects.properties import string_attribute
from moir.dialects.shapes import element_of, format_shape, shape_of, tensor
from moir.frontends.tensorflow.attributes import dimensions
from moir.frontends.tensorflow.frames import Frame
from moir.frontends.tensorflow.state.nodes import (
    ASSIGNING_KINDS,
    READING_KINDS,
    REFERENCE_KINDS,
    VARIABLE_KINDS,
    Resource,
    is_writing,
    resource_of,
)
from moir.frontends.tensorflow.tensors import DATA_TYPES

if TYPE_CHECKING:
    from moir.frontends.tensorflow.state.order import FrameOrder, StateOrder

_MAXIMUM_SHOWN = 4


def handle_owner(value: SSAValue) -> FrameworkOp | None:
    """The framework operation that computes a value, skipping Identity operations; None if another operation computes
    it."""
    while isinstance(value.owner, FrameworkOp) and value.owner.KIND == "Identity":
        value = value.owner.operands[0]
    return value.owner if isinstance(value.owner, FrameworkOp) else None


class State:
    """The current values of the threaded variables while a graph is imported."""

    def __init__(self) -> None:
        self.order: StateOrder | None = None
        """The variables, and the order in which they are accessed; None if there are none."""
        self.handles: dict[SSAValue, Resource] = {}
        """The variable of each handle, copies of handles in functions included."""
        self.values: dict[Resource, SSAValue] = {}
        """The present value of each variable that was accessed."""
        self.initial: dict[Resource, SSAValue] = {}
        """The ReadValue of each variable whose value at the beginning is used."""
        self._nodes: dict[Resource, tuple[Any, SSAValue]] = {}

    def frame_order(self, prefix: str, function: str) -> FrameOrder | None:
        """The order of the nodes of the frame with a prefix and a function; None if it accesses no threaded
        variable.
        """
        return None if self.order is None else self.order.frames.get((prefix, function))

    def accesses(self, frame: Frame, node: Any) -> dict[Resource, bool]:
        """The threaded variables that a node accesses, and whether it writes them."""
        return {} if frame.state is None else frame.state.accesses.get(node.name, {})

    def handle(self, value: SSAValue) -> Resource | None:
        """The threaded variable of which a value is the handle; None if the value is not such a handle."""
        if not self.handles or (owner := handle_owner(value)) is None:
            return None
        return self.handles.get(owner.results[0])

    def argument(self, frame: Frame, value: SSAValue) -> SSAValue:
        """The value of an argument of a called function; for a variable of TensorFlow 1, its current value."""
        resource = self.handle(value)
        return value if resource is None or not self._is_reference(resource) else self.value(frame, resource)

    def value(self, frame: Frame, resource: Resource) -> SSAValue:
        """The current value of a variable; the value at the beginning of an inference if nothing has written it yet."""
        if resource not in self.values:
            self.values[resource] = self.initial[resource] = self._read(frame, resource)
        return self.values[resource]

    def operands(self, frame: Frame, node: Any, values: Sequence[SSAValue]) -> Sequence[SSAValue]:
        """The operands of a node with the values of variables in place of their handles.

        Raises ModelFileError if a handle comes to the node in a way that cannot be expressed.
        """
        accesses = self.accesses(frame, node)
        if not accesses:
            return values
        operands = list(values)
        # Operands that are references to variables of TensorFlow 1 stand for their values already.
        unmet = {resource for resource in accesses if not self._is_reference(resource)}
        for index, value in enumerate(values):
            resource = self.handle(value)
            is_accessed = index == 0 and (node.op in READING_KINDS or is_writing(node.op))
            if resource is None or not (is_accessed or self._is_reference(resource)):
                continue
            unmet.discard(resource)
            operands[index] = self.value(frame, resource) if index or node.op not in ASSIGNING_KINDS else frame.operations.absent()
        if unmet:
            name = min(unmet)[1]
            raise frame.error(f"the variable {name!r}, which is written, comes to it through control flow of TensorFlow 1", node)
        return operands

    def _is_reference(self, resource: Resource) -> bool:
        return resource in self._nodes and self._nodes[resource][0].op in REFERENCE_KINDS

    def built(self, frame: Frame, node: Any, operands: Sequence[SSAValue], results: Sequence[SSAValue]) -> None:
        """Update the state after a node is built: the handle of a variable that the node creates, or the value that it
        writes.
        """
        if self.order is None:
            return
        if node.op in VARIABLE_KINDS:
            if (resource := resource_of(node)) in self.order.variables:
                self.handles[results[0]] = resource
                self._nodes.setdefault(resource, (node, results[0]))
        elif is_writing(node.op):
            for resource, writes in self.accesses(frame, node).items():
                if writes:
                    self.values[resource] = results[0]

    def copied(self, handle: SSAValue, copy: SSAValue) -> None:
        """Register `copy`, a copy of `handle` for the region of a function, as a handle of the same variable."""
        if (resource := self.handle(handle)) is not None:
            self.handles[copy] = resource

    def _read(self, frame: Frame, resource: Resource) -> SSAValue:
        """The value of a variable at the beginning of an inference.

        Raises ModelFileError for an element type that a state cannot have.
        """
        node, handle = self._nodes[resource]
        owner = handle.owner
        assert isinstance(owner, FrameworkOp)
        row = DATA_TYPES.get(frame.attribute(node, "dtype").type if "dtype" in node.attr else 0)
        if row is None or row.element is None or row.is_complex or row.element == element_types.string:
            name = "unknown" if row is None else row.name
            raise frame.error(f"it is a variable of type {name} that is written, which the state of a model cannot hold", node)
        declared = frame.attribute(node, "shape")
        shape = None if declared is None else dimensions(declared.shape)
        value = owner.properties.get("value")
        if shape is None and isinstance(value, DataAttr):
            shape = (-1,) * len(value.shape)
        properties = {
            "variable_id": string_attribute(self.name(resource)),
            "variable_type": row.element,
            "variable_shape": string_attribute("..." if shape is None else ",".join("?" if size < 0 else str(size) for size in shape)),
        }
        op = opset.operation("opset6.ReadValue").create(
            operands=[handle],
            result_types=[tensor(shape, row.element)],
            properties=properties,
            attributes={"name": string_attribute(f"{name_of(owner)}/ReadValue")},
        )
        frame.operations.append(op)
        return op.results[0]

    def name(self, resource: Resource) -> str:
        """The id of a variable in the module: its name, made unique if another container has a variable of that
        name.
        """
        assert self.order is not None
        is_unique = sum(other[1] == resource[1] for other in self.order.variables) == 1
        return resource[1] if is_unique else "/".join(resource)

    def finish(self, frame: Frame) -> list[str]:
        """Write the final values of variables that are states; returns notes about them."""
        described: list[str] = []
        for resource, value in self.initial.items():
            name = self.name(resource)
            op = opset.operation("opset6.Assign").create(
                operands=[self.values[resource]],
                result_types=[value.type],
                properties={"variable_id": string_attribute(name)},
                attributes={"name": string_attribute(f"{self._nodes[resource][0].name}/Assign")},
            )
            frame.operations.append(op)
            described.append(f"{name} {_described(value)}")
        for _, handle in self._nodes.values():
            if handle.first_use is None and isinstance(handle.owner, FrameworkOp):
                frame.operations.list.remove(handle.owner)
        if not described:
            return []
        more = f" and {len(described) - _MAXIMUM_SHOWN} more" if len(described) > _MAXIMUM_SHOWN else ""
        shown = ", ".join(described[:_MAXIMUM_SHOWN])
        return [f"the model has a state, which an infer request keeps until reset_state(): {shown}{more}"]


def _described(value: SSAValue) -> str:
    """A value's element type and shape."""
    return f"{element_types.describe(element_of(value)).xml}{format_shape(shape_of(value))}"
