"""Arguments of nodes: operands by their names in the schema, and the types of arguments that only PyTorch has.

In signatures, beside those of `moir.lowering.signatures`:

    Size | None    an integer, constant or computed
    Sizes          a list of them
    Scalar         a number, constant or computed
    Tensors        a list of tensors, in which None stands for an absent one
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, cast

from xdsl.ir import SSAValue

from moir.dialects.element_types import si64
from moir.dialects.shapes import normalize_axis
from moir.errors import InferenceError
from moir.expansions.shape_values import as_list, as_scalar
from moir.lowering.binder import LoweringNode
from moir.lowering.signatures import Reader, Signature
from moir.rewriting.builder import OpBuilder

Size: TypeAlias = "int | SSAValue"
Sizes: TypeAlias = "Sequence[int | SSAValue]"
Scalar: TypeAlias = "int | float | bool | SSAValue"
Tensors: TypeAlias = "Sequence[SSAValue | None]"

LAST = 2**63 - 1
"""The `end` of a slice that takes all elements up to the last one."""


def names_of_operands(node: LoweringNode) -> tuple[str, ...]:
    """The names of the operands of a node."""
    return node.texts("arguments", ())


class ExportedNode(LoweringNode):
    """A node whose operands have names: an argument may be a property or an operand."""

    def has(self, attribute: str) -> bool:
        return super().has(attribute) or attribute in names_of_operands(self)


def arranged(node: LoweringNode, signature: Signature) -> LoweringNode:
    """The node with its operands in the order of a signature, matched by name.

    If no argument has a name of the signature, as for operations of extensions, the order stays.
    """
    names = names_of_operands(node)
    wanted = [each.name for each in signature.operands]
    by_name = dict(zip(names, node.op.operands, strict=False))
    arguments = [by_name.get(name) for name in wanted]
    known = {*wanted, *(each.name for each in signature.attributes)}
    # An argument that a list holds has its index after its name.
    is_named = any(name.partition(".")[0] in known for name in names) or all(each.is_optional for each in signature.operands)
    # An argument that is None has an operand, which counts as absent.
    values = cast("Sequence[SSAValue]", arguments) if wanted and is_named else None
    return ExportedNode(node.op, node.version, node.run, values)


def named_operand(node: LoweringNode, name: str) -> SSAValue | None:
    """The operand called `name`; None if the node has no such operand."""
    names = names_of_operands(node)
    return node.op.operands[names.index(name)] if name in names else None


def _size(node: LoweringNode, name: str, default: int | None) -> Size:
    value = named_operand(node, name)
    return node.integer(name, default) if value is None else value


def _scalar(node: LoweringNode, name: str, default: float | None) -> Scalar:
    value = named_operand(node, name)
    if value is not None:
        return value
    scalar: Any = node.attribute(name, None)
    scalar = default if scalar is None else scalar
    if not isinstance(scalar, int | float):
        node.fail(f"its argument {name} is not a number")
    return scalar


def _sizes(node: LoweringNode, name: str, default: Sequence[int] | None) -> Sizes:
    sizes: Any = node.attribute(name, None)
    if isinstance(sizes, int):
        sizes = (sizes,)
    known: list[Size] = list(sizes if sizes is not None else default or ())
    for position, value in zip(names_of_operands(node), node.op.operands, strict=False):
        stem, _, index = position.rpartition(".")
        if stem == name and index.isdecimal() and int(index) < len(known):
            known[int(index)] = value
    return known


def _tensors(node: LoweringNode, name: str, _: object) -> Tensors:
    tensors: dict[int, SSAValue] = {}
    for position, value in zip(names_of_operands(node), node.op.operands, strict=False):
        stem, _, index = position.rpartition(".")
        if stem == name and index.isdecimal():
            tensors[int(index)] = value
    return [tensors.get(index) for index in range(max(tensors, default=-1) + 1)]


def _integers(node: LoweringNode, name: str, default: Sequence[int] | None) -> tuple[int, ...]:
    integers = _sizes(node, name, default)
    if not all(isinstance(each, int) for each in integers):
        node.fail(f"the argument {name} is computed when the model runs")
    return tuple(cast("Sequence[int]", integers))


def _integer(node: LoweringNode, name: str, default: int | None) -> int:
    value = named_operand(node, name)
    if value is None:
        return node.integer(name, default)
    known = node.known.integers(value)
    if known is None:
        node.fail(f"the argument {name} is computed when the model runs")
    return known[0]


READERS: Mapping[str, Reader] = {
    "Size": _size,
    "Sizes": _sizes,
    "Scalar": _scalar,
    "Tensors": _tensors,
    "int": _integer,
    "tuple[int, ...]": _integers,
}
"""How an argument is read, by the annotation of the handler's parameter."""


def present(node: LoweringNode, values: Tensors) -> list[SSAValue]:
    """The tensors of a list as values. Raises ConversionError if one is absent (None)."""
    operands = [value for value in values if value is not None]
    if not operands or len(operands) < len(values):
        node.fail("a tensor of its list is absent")
    return operands


def size_scalar(op: OpBuilder, size: Size) -> SSAValue:
    """An integer as a scalar of type i64."""
    return op.constant(size) if isinstance(size, int) else as_scalar(op, op.convert(size, si64))


def size_list(op: OpBuilder, size: Size) -> SSAValue:
    """An integer as a 1-D tensor of one element of type i64."""
    return op.constant([size]) if isinstance(size, int) else as_list(op, op.convert(size, si64))


def shape_value(op: OpBuilder, sizes: Sizes, least: int | None = None) -> SSAValue:
    """Integers as a 1-D tensor of type i64. Raises InferenceError for an integer below `least`."""
    if least is not None and any(isinstance(each, int) and each < least for each in sizes):
        raise InferenceError(f"a size of {min(each for each in sizes if isinstance(each, int))}")
    if all(isinstance(each, int) for each in sizes):
        return op.constant(list(cast("Sequence[int]", sizes)))
    parts = [size_list(op, each) for each in sizes]
    return op.Concat(*parts, axis=0) if len(parts) > 1 else parts[0]


def axes_from_front(node: LoweringNode, axes: Sequence[int], rank: int) -> list[int]:
    """Axes of a tensor of rank `rank` as nonnegative integers. Raises ConversionError for an axis out of range."""
    for axis in axes:
        if not -max(rank, 1) <= axis < max(rank, 1):
            node.fail(f"axis {axis} of a tensor of {rank} dimensions")
    return [normalize_axis(axis, rank) for axis in axes] if rank else [0] * len(axes)


def axis_from_front(node: LoweringNode, axis: int, rank: int) -> int:
    """An axis of a tensor of rank `rank` as a nonnegative integer. Raises ConversionError if it is out of range."""
    return axes_from_front(node, [axis], rank)[0]
