"""Operations of one dialect that are replaced by operations of another, lowered by the handlers of that dialect.

tflite.CUMSUM(%x, %axis) {exclusive = true}  ->  what tf.Cumsum(%x, %axis) {exclusive = true} lowers to
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.ir import Attribute, Region, SSAValue

from moir.dialects.framework import FrameworkOp, operation_class
from moir.dialects.names import name_of
from moir.dialects.properties import attribute_of, string_attribute
from moir.errors import UnsupportedOperationError
from moir.lowering.binder import LoweringNode, LoweringRun
from moir.lowering.table import NEWEST, LoweringTable
from moir.rewriting.builder import OpBuilder


class _Substitute(LoweringNode):
    """A node of another dialect that replaces a node; its results are used where those of the replaced node are."""

    def __init__(self, op: FrameworkOp, run: LoweringRun, node: LoweringNode) -> None:
        super().__init__(op, NEWEST, run)
        self._original = node

    def is_used(self, index: int) -> bool:
        """Whether a result has uses; a result that the replaced node does not have counts as used."""
        return self._original.is_used(index) or index >= self._original.result_count

    @property
    def name(self) -> str:
        return self._original.name


FEWEST = {"AddN": 1, "ConcatV2": 2, "Pack": 1}
"""The minimum number of operands of variadic operations; for ConcatV2 this includes the axis.
"""


def lowered_by(
    table: LoweringTable,
    node: LoweringNode,
    op: OpBuilder,
    kind: str,
    operands: Sequence[SSAValue],
    attributes: Mapping[str, object],
    types: Sequence[Attribute],
    regions: Sequence[Region] = (),
) -> list[SSAValue | None]:
    """The values to which an operation of another dialect is lowered: one for each result, None for a result without
    uses.

    Args:
        table: the handlers of the dialect.
        node: the node that the operation replaces.
        op: the builder.
        kind: the kind of the operation.
        operands: its operands.
        attributes: its attributes.
        types: the types of its results.
        regions: its regions.

    Raises ConversionError if the operation cannot be lowered.
    """
    if len(operands) < FEWEST.get(kind, 0):
        node.fail("it has no operands")
    handler = table.handler(kind, NEWEST)
    if handler is None:
        reason = f"the operation {table.framework}.{kind} is not supported"
        node.fail(reason, hint="write a lowering for this node, or cut the model before it")
    substitute = operation_class(table.framework, kind).create(
        operands=operands,
        properties={name: attribute_of(value) for name, value in attributes.items()},
        attributes={"name": string_attribute(name_of(node.op) or "")},
        result_types=types,
        regions=regions,
    )
    try:
        results = handler(_Substitute(substitute, node.run, node), op)
    except UnsupportedOperationError as error:
        raise UnsupportedOperationError(error.reason, operation=node.op.name, node=node.name, hint=error.hint) from error
    finally:
        substitute.drop_all_references()
    if results is None:
        node.fail(f"the operation {table.framework}.{kind} is not supported in this form")
    return [results] if isinstance(results, SSAValue) else list(results)
