"""Views: the operations that share memory with their operand, and the effect of a write to a view on its tensor.

    %v = aten.select.int(%x) {dim = 0, index = 1}
    write of %n to %v  ->  %x' = aten.select_scatter.default(%x, %n) {dim = 0, index = 1}

If there is no such operation for a view, the write is a scatter: the same view of the flat indices of all elements
gives the indices to write to.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from xdsl.ir import Attribute, Operation, SSAValue

from moir.dialects.element_types import si64
from moir.dialects.framework import COMPLEX_OPERANDS, FrameworkOp, operation_class
from moir.dialects.locations import located
from moir.dialects.names import name_of
from moir.dialects.properties import attribute_of, integers_attribute, strings_attribute, value_of
from moir.dialects.shapes import element_of, tensor
from moir.errors import UnsupportedOperationError
from moir.frameworks.traits import RESHAPED_VIEW, VIEWS, WHOLE_VIEW, kinds_with

DIALECT = "aten"

_SCATTERS = {"slice.Tensor": "slice_scatter.default", "select.int": "select_scatter.default"}
_CONJUGATING = frozenset(("adjoint.default", "mH.default", "matrix_H.default"))
_SELF_INVERSE = frozenset(("transpose.int", "t.default", "swapaxes.default", "swapdims.default", "mT.default"))

Insert = Callable[[Operation], Operation]
"""A function that builds an operation before the write that is raised."""


def is_undecided(view: FrameworkOp) -> bool:
    """Whether the file does not determine if the result of an operation is a view or a copy."""
    return "undecided" in view.properties


def is_view(op: Operation) -> bool:
    """Whether the results of an operation share memory with its first operand."""
    return (
        isinstance(op, FrameworkOp)
        and op.dialect_name() == DIALECT
        and op.KIND in kinds_with(DIALECT, *VIEWS)
        and "copies" not in op.properties
        and bool(op.operands)
    )


def new_operation(
    kind: str, operands: Mapping[str, SSAValue], properties: Mapping[str, Attribute], elements: Sequence[Attribute], like: Operation
) -> Operation:
    """Build the operation `kind` of the dialect, whose results have these element types; its location is that of
    `like`.
    """
    op = operation_class(DIALECT, kind).create(
        operands=list(operands.values()),
        properties={**properties, "arguments": strings_attribute(list(operands))},
        result_types=[tensor(None, element) for element in elements],
    )
    op.location = located(like)
    return op


def applied(view: FrameworkOp, source: SSAValue, insert: Insert) -> Sequence[SSAValue]:
    """Apply the operation of a view to the tensor `source`; `insert` inserts it. Returns the results."""
    copy = type(view).create(
        operands=[source, *view.operands[1:]],
        properties=dict(view.properties),
        result_types=[tensor(None, element_of(source)) for _ in view.results],
    )
    copy.location = located(view)
    return insert(copy).results


def written_through(view: FrameworkOp, index: int, source: SSAValue, value: SSAValue, insert: Insert) -> SSAValue:
    """The tensor of which a view was taken, after writing a value to result `index` of the view.

    Args:
        view: the view.
        index: the index of the result that is written.
        source: the tensor before the write.
        value: the result of the view after the write.
        insert: inserts new operations.

    Raises UnsupportedOperationError for a view that conjugates complex numbers.
    """
    element = element_of(source)
    is_complex = COMPLEX_OPERANDS in view.properties and 0 in value_of(view.properties[COMPLEX_OPERANDS])

    def build(kind: str, operands: Mapping[str, SSAValue], **properties: object) -> SSAValue:
        attributes = {name: attribute_of(each) for name, each in properties.items()}
        if is_complex and not kind.startswith("moir."):
            attributes[COMPLEX_OPERANDS] = integers_attribute(tuple(range(len(operands))))
        return insert(new_operation(kind, operands, attributes, [element], view)).results[0]

    kind = view.KIND
    if is_complex and kind in _CONJUGATING:
        raise UnsupportedOperationError(
            f"it writes to the result of {kind}, whose complex numbers are the conjugates of its operand's",
            operation=view.name,
            node=name_of(view),
            hint="write to a copy: tensor.clone() before it",
        )
    if kind in kinds_with(DIALECT, WHOLE_VIEW):
        return value
    if kind in kinds_with(DIALECT, RESHAPED_VIEW):
        return build("view_as.default", {"self": value, "other": source})
    if kind in _SELF_INVERSE:
        return applied(view, value, insert)[0]
    if kind == "permute.default":
        dims = value_of(view.properties["dims"])
        rank = len(dims)
        order = [axis % rank for axis in dims]
        return build("permute.default", {"self": value}, dims=[order.index(axis) for axis in range(rank)])
    if kind in _SCATTERS:
        names = value_of(view.properties["arguments"])
        others = dict(zip(names[1:], view.operands[1:], strict=False))
        kept = {name: each for name, each in view.properties.items() if name != "arguments"}
        operands = {"self": source, "src": value, **others}
        if is_complex:
            kept[COMPLEX_OPERANDS] = integers_attribute((0, 1))
        return insert(new_operation(_SCATTERS[kind], operands, kept, [element], view)).results[0]
    if kind == "unbind.int":
        dim = value_of(view.properties.get("dim", attribute_of(0)))
        return build("select_scatter.default", {"self": source, "src": value}, dim=dim, index=index)
    positions = insert(new_operation("moir.positions", {"self": source}, {}, [si64], view)).results[0]
    tensor = applied(view, positions, insert)[index]
    return build("moir.write_positions", {"self": source, "positions": tensor, "src": value})
