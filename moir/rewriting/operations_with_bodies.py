"""Building operations that have bodies: If, Loop, TensorIterator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.ir import Attribute, OpResult, Region, SSAValue, SSAValues

from moir.analysis.known_values import KnownValues
from moir.dialects.data import DataAttr
from moir.dialects.moir import BodyPort
from moir.dialects.opset.control_flow import If, Loop, RepeatingOp, parameters_of
from moir.dialects.opset.infrastructure import Constant
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.interfaces.properties import property_table
from moir.dialects.shapes import element_of, shape_of, tensor
from moir.rewriting.builder import OpBuilder


def known_value(known: KnownValues, value: SSAValue | Attribute) -> DataAttr | None:
    """The constant data of an input of a body; None if the input is not completely known."""
    if not isinstance(value, SSAValue):
        return value if isinstance(value, DataAttr) else None
    if isinstance(value.owner, Constant):
        return value.owner.value
    array = known.constant(value)
    return None if array is None else DataAttr.of(array, element_of(value))


def create_with_bodies(
    op: OpBuilder,
    operation: type[OpsetOp],
    operands: Sequence[SSAValue],
    properties: dict[str, Any],
    regions: Sequence[Region],
) -> list[SSAValue]:
    """Build an operation that has bodies, and return its results.

    Args:
        op: the builder.
        operation: the class of the operation.
        operands: its operands.
        properties: its properties.
        regions: its bodies.
    """
    table = property_table(operation)
    attributes = {name: table.specs[name].kind.attribute(value) for name, value in properties.items()}
    created = operation.create(operands=operands, properties=attributes, regions=regions)
    # Types in the branches are not inferred again: for nested operations that would take quadratic time.
    types = created.types_of_results(op.known) if isinstance(created, If) and _are_inferred(created) else created.infer(op.known)
    # The types of the results are inferred from the connections, which also determine the number of results.
    created.results = SSAValues(OpResult(type_, created, index) for index, type_ in enumerate(types))
    op.insert(created)
    return list(created.results)


def _are_inferred(op: If) -> bool:
    """Whether the Parameters of both branches of an If have the types of its operands, so that inference can be
    skipped.
    """
    return all(
        parameter.results[0].type == op.operands[index].type
        for name, body in (("then_inputs", op.then_body), ("else_inputs", op.else_body))
        for index, parameter in zip(op.integers(name), parameters_of(body.block), strict=True)
    )


def create_repeating(
    op: OpBuilder, operation: type[RepeatingOp], operands: list[SSAValue], inputs: list[BodyPort], outputs: list[BodyPort], region: Region
) -> list[SSAValue]:
    """Build a Loop, whose condition is the first Result of the body, or a TensorIterator, and return its results.

    Args:
        op: the builder.
        operation: the class of the operation.
        operands: its operands.
        inputs: the connections of operands and Parameters.
        outputs: the connections of Results and results.
        region: the body.
    """
    properties: dict[str, object] = {"inputs": inputs, "outputs": outputs}
    if operation is Loop:
        properties["condition"] = 0
    return create_with_bodies(op, operation, operands, properties, [region])


def slice_type(value: SSAValue, axis: int = 0) -> Attribute:
    """The type of one slice of a value along an axis, in which that axis has size 1."""
    shape = shape_of(value)
    return tensor(None if shape is None else (*shape[:axis], 1, *shape[axis + 1 :]), element_of(value))
