"""`raise-tensor-arrays`: the tensor arrays of TensorFlow 1 become the tensor lists of TensorFlow 2.

The list takes the place of the flow value, which orders the accesses to an array.

    %handle, %flow = tf.TensorArrayV3(%size)                   %list = tf.TensorListReserve(%shape, %size)
    %next = tf.TensorArrayWriteV3(%handle, %i, %x, %flow)  ->  %next = tf.TensorListSetItem(%list, %i, %x)
    %y = tf.TensorArrayReadV3(%handle, %i, %next)              %y = tf.TensorListGetItem(%next, %i, %shape)

Accesses to all elements at once, whose indices are a Range 0, 1, …, become TensorListFromTensor and TensorListStack.
A constant replaces the handle, which a list does not need. An array with `dynamic_size` grows when an element beyond
its end is written; its writes have `resize_if_index_out_of_bounds`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from xdsl.dialects.builtin import BoolAttr, ModuleOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from moir.analysis.analyses import Analyses
from moir.dialects.element_types import dynamic
from moir.dialects.framework import FrameworkOp
from moir.dialects.frameworks.tensorflow import (
    erase,
    integer_of,
    is_set,
    kind_of,
    new_integers,
    new_node,
    origin,
    origin_of_kind,
    unsupported,
)
from moir.dialects.locations import located
from moir.dialects.moir import all_blocks
from moir.dialects.names import inherit_names
from moir.dialects.opset.infrastructure import Constant
from moir.raising.tensorflow.handed_on import handed_on
from moir.rewriting.reporting_pass import Needs, ReportingPass, needs_of_roots
from moir.support.records import Record


class RaiseTensorArraysPass(ReportingPass):
    """Raises arrays of tensors to lists of tensors."""

    name = "raise-tensor-arrays"

    @classmethod
    def needs(cls) -> Needs | None:
        return needs_of_roots(tuple(f"tf.{kind}" for kind in REWRITES))

    def run(self, module: ModuleOp, analyses: Analyses) -> bool:
        changed = False
        blocks = list(all_blocks(module))
        arrays = arrays_of_accesses(blocks)
        for block in blocks:
            for each in list(block.ops):
                kind = kind_of(each)
                rewrite = REWRITES.get(kind) if kind.startswith("TensorArray") else None
                if rewrite is not None:
                    assert isinstance(each, FrameworkOp)
                    function, operands, results = rewrite
                    used = [result.index for result in each.results if result.first_use is not None]
                    if len(each.operands) != operands or any(index >= results for index in used):
                        raise unsupported(each, f"it has {operands} operands and {results} results, the graph another number")
                    function(Access(each, arrays.get(each)))
                    changed = True
        return changed


class Array(Record):
    """What the node that creates an array declares: whether the array grows, and the shape of its elements, if
    stated.
    """

    grows: bool
    element_shape: tuple[int, ...] | None


def arrays_of_accesses(blocks: Sequence[Block]) -> dict[Operation, Array]:
    """For each node that accesses a TensorArray, the array, followed through the Parameters of regions."""
    arrays: dict[Operation, Array] = {}
    for op in (op for block in blocks for op in block.ops if kind_of(op) == "TensorArrayV3"):
        assert isinstance(op, FrameworkOp)
        shape = op.integers("element_shape") if "element_shape" in op.properties else None
        array = Array(is_set(op, "dynamic_size"), shape)
        pending: list[SSAValue] = [op.results[0]]
        handles = set[SSAValue]()
        while pending:
            handle = pending.pop()
            if handle in handles:
                continue
            handles.add(handle)
            for use in handle.uses:
                arrays[use.operation] = array
                pending += handed_on(use)
    return arrays


class Access:
    """A node that creates or accesses an array, while it is rewritten.

    Args:
        op: the node.
        array: the array that it accesses, None if it is not known, or if the node creates one.
    """

    def __init__(self, op: FrameworkOp, array: Array | None) -> None:
        self.op = op
        self.grows = array is not None and array.grows
        self.declared_shape = None if array is None else array.element_shape

    def insert(self, op: Operation) -> SSAValue:
        """Insert a new operation before the node; returns its first result."""
        assert self.op.parent is not None
        op.location = located(self.op)
        self.op.parent.insert_op_before(op, self.op)
        return op.results[0]

    def element(self) -> dict[str, Attribute]:
        """The element type of the array as the property of a list operation."""
        return {"element_dtype": self.op.properties.get("dtype", self.op.properties.get("T", dynamic))}

    def element_shape(self) -> SSAValue:
        """The shape of an element as the operand of a list operation; -1 for a dynamic rank."""
        own = self.op.integers("element_shape") if "element_shape" in self.op.properties else self.declared_shape
        return self.insert(new_integers(-1 if own is None else own))

    def replace(self, kind: str, operands: Sequence[SSAValue], properties: dict[str, Attribute] | None = None) -> None:
        """Replace the node by a new node of another kind, with these operands and properties, and erase it."""
        op = new_node(kind, operands, properties, results=len(self.op.results))
        self.insert(op)
        self.replace_with(list(op.results))

    def replace_with(self, values: Sequence[SSAValue]) -> None:
        """Replace the results of the node by values, and erase the node."""
        values = values[: len(self.op.results)]
        inherit_names(self.op, values)
        for result, value in zip(self.op.results, values, strict=True):
            result.replace_all_uses_with(value)
        erase(self.op)


def _are_all(indices: SSAValue, flow: SSAValue) -> bool:
    """Whether indices are 0, 1, …, n - 1, where n is the length of the list that the value `flow` became."""
    count = _counted(indices)
    length = None if count is None else origin_of_kind(count, "TensorListLength")
    return length is not None and length.operands[0] is flow


def _counted(indices: SSAValue) -> SSAValue | None:
    """The number of indices if they are a Range from 0 with step 1, else None."""
    numbers = origin_of_kind(indices, "Range")
    if numbers is None or integer_of(numbers.operands[0]) != 0 or integer_of(numbers.operands[2]) != 1:
        return None
    return numbers.operands[1]


def _array(access: Access) -> None:
    """Replace an access TensorArrayV3(size) by a constant, the handle, and TensorListReserve(element_shape, size)."""
    op = access.op
    reserve = new_node("TensorListReserve", [access.element_shape(), op.operands[0]], access.element())
    if (name := op.attributes.get("name")) is not None:
        reserve.attributes["name"] = name
    values = [access.insert(new_integers(0)), access.insert(reserve)]
    for result, value in zip(op.results, values, strict=False):
        result.replace_all_uses_with(value)
    erase(op)


def _write(access: Access) -> None:
    _, index, value, flow = access.op.operands
    grows: dict[str, Attribute] = {"resize_if_index_out_of_bounds": BoolAttr.from_bool(True)} if access.grows else {}
    access.replace("TensorListSetItem", [flow, index, value], access.element() | grows)


def _read(access: Access) -> None:
    _, index, flow = access.op.operands
    access.replace("TensorListGetItem", [flow, index, access.element_shape()], access.element())


def _gather(access: Access) -> None:
    _, indices, flow = access.op.operands
    if _are_all(indices, flow):
        access.replace("TensorListStack", [flow, access.element_shape()], access.element())
    else:
        access.replace("TensorListGather", [flow, indices, access.element_shape()], access.element())


def _pack(access: Access) -> None:
    _, flow = access.op.operands
    access.replace("TensorListStack", [flow, access.element_shape()], access.element())


def _scatter(access: Access) -> None:
    _, indices, value, flow = access.op.operands
    if _writes_all(indices, flow):
        access.replace("TensorListFromTensor", [value, access.element_shape()], access.element())
    else:
        access.replace("TensorListScatterIntoExistingList", [flow, value, indices], access.element())


def _writes_all(indices: SSAValue, flow: SSAValue) -> bool:
    """Whether a write at 0, 1, … replaces all elements of a list that was only reserved.

    A length that is computed is taken for the number of indices: an array is made as long as what is written to it.
    """
    reserved = origin_of_kind(flow, "TensorListReserve")
    if reserved is None:
        return False
    length, owner = integer_of(reserved.operands[1]), origin(indices).owner
    if isinstance(owner, Constant):
        numbers = owner.value.array
        return np.array_equal(numbers, np.arange(numbers.size)) and (length is None or length <= numbers.size)
    count = _counted(indices)
    if count is None:
        return False
    number = integer_of(count)
    return not length or (number is not None and length <= number)


def _unpack(access: Access) -> None:
    _, value, _ = access.op.operands
    access.replace("TensorListFromTensor", [value, access.element_shape()], access.element())


def _size(access: Access) -> None:
    _, flow = access.op.operands
    access.replace("TensorListLength", [flow])


def _concat(access: Access) -> None:
    _, flow = access.op.operands
    if "element_shape_except0" in access.op.properties:
        rest = access.op.integers("element_shape_except0")
    else:
        # An element without dimensions cannot be concatenated.
        rest = access.declared_shape[1:] if access.declared_shape else None
    shape = access.insert(new_integers(-1 if rest is None else (-1, *rest)))
    access.replace("TensorListConcatV2", [flow, shape, access.insert(new_integers(()))], access.element())


def _split(access: Access) -> None:
    _, value, lengths, _ = access.op.operands
    access.replace("TensorListSplit", [value, access.insert(new_integers(-1)), lengths], access.element())


def _close(access: Access) -> None:
    erase(access.op)


REWRITES: dict[str, tuple[Callable[[Access], None], int, int]] = {
    "TensorArrayV3": (_array, 1, 2),
    "TensorArrayWriteV3": (_write, 4, 1),
    "TensorArrayReadV3": (_read, 3, 1),
    "TensorArrayGatherV3": (_gather, 3, 1),
    "TensorArrayPack": (_pack, 2, 1),
    "TensorArrayScatterV3": (_scatter, 4, 1),
    "TensorArrayUnpack": (_unpack, 3, 1),
    "TensorArraySizeV3": (_size, 2, 1),
    "TensorArrayConcatV3": (_concat, 2, 2),
    "TensorArraySplitV3": (_split, 4, 1),
    "TensorArrayCloseV3": (_close, 1, 0),
}
"""The rewrite of each kind, with its numbers of operands and results.

Kinds of version 2 are not raised: their array has no flow result.
"""
