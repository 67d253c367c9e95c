"""The inspection of one node: its attributes, its operands and results, and its neighbours on both sides."""

from __future__ import annotations

from collections.abc import Collection
from io import StringIO
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import UnregisteredOp
from xdsl.ir import Attribute, Operation, OpResult, SSAValue
from xdsl.printer import Printer

from moir.analysis.provenance import origin, sources
from moir.dialects.assembly import print_value
from moir.dialects.data import INLINE_BYTES, DataAttr
from moir.dialects.element_types import describe, dynamic, is_element_type
from moir.dialects.moir import ModelOp, all_blocks
from moir.dialects.names import name_of, names_of
from moir.dialects.shapes import element_of, shape_of
from moir.errors import UsageError
from moir.inspection.records import Neighbour, NodeInspection, NodeOperand, NodeResult
from moir.support.suggestions import did_you_mean

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

_NAMES = ("name", "tensor_names")
_LONGEST = 200


def inspect_node(module: ModuleOp, name: str, unknown: Collection[str] = ()) -> tuple[NodeInspection, ...]:
    """The inspection of each operation whose node, or one of whose tensors, has a name.

    Args:
        module: the module.
        name: the name.
        unknown: the kinds of operations that cannot be converted.

    Raises UsageError if there is none.
    """
    operations = [op for block in all_blocks(module) for op in block.ops]
    matching = [op for op in operations if name_of(op) == name] or [
        op for op in operations if any(name in names_of(result) for result in op.results)
    ]
    if not matching:
        known = {each for op in operations for each in (name_of(op), *(n for result in op.results for n in names_of(result))) if each}
        raise UsageError(f"there is no node or tensor {name!r}", hint=did_you_mean(name, known))
    return tuple(_inspection(op, unknown) for op in matching)


def _inspection(op: Operation, unknown: Collection[str]) -> NodeInspection:
    around = op.parent_op()
    return NodeInspection(
        node=name_of(op) or "",
        operation=_kind(op),
        convertible=_kind(op) not in unknown,
        attributes={name: attribute_text(each) for name, each in (*op.properties.items(), *op.attributes.items()) if name not in _NAMES},
        operands=tuple(
            NodeOperand(type_text(operand), tuple(names_of(operand)), _producer(operand) if isinstance(operand, OpResult) else None)
            for operand in op.operands
        ),
        results=tuple(
            NodeResult(
                type_text(result),
                tuple(names_of(result)),
                tuple(Neighbour(name_of(use.operation) or "", _kind(use.operation), use.index) for use in result.uses),
            )
            for result in op.results
        ),
        sources=() if origin(op) is None else tuple(map(str, sources(op))),
        around=None if around is None or isinstance(around, ModelOp) else name_of(around) or around.name,
    )


def _kind(op: Operation) -> str:
    return op.op_name.data if isinstance(op, UnregisteredOp) else op.name


def type_text(value: SSAValue) -> str:
    """The type of a tensor as `f32[?,3]`: `[...]` for a dynamic rank, `?` for an unknown element type."""
    shape, element = shape_of(value), element_of(value)
    known = describe(element).xml if is_element_type(element) else str(element)
    dimensions = "..." if shape is None else ",".join(str(each) if each >= 0 else "?" for each in shape)
    return f"{'?' if element is dynamic else known}[{dimensions}]"


def _producer(value: OpResult) -> Neighbour:
    return Neighbour(name_of(value.op) or "", _kind(value.op), value.index)


def attribute_text(attribute: Attribute) -> str:
    """An attribute as in the text form, cut where it is long; for a large value only its type."""
    if isinstance(attribute, DataAttr) and (attribute.data.values is None or attribute.nbytes > INLINE_BYTES):
        return f"#moir.data<{','.join(map(str, attribute.shape))} x {attribute.element}>"
    text = StringIO()
    print_value(Printer(text), attribute)
    text_form = text.getvalue()
    return text_form if len(text_form) <= _LONGEST else f"{text_form[: _LONGEST - 1]}…"
