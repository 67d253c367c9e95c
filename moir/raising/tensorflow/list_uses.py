"""How the nodes of a module create, extend and read TensorLists, and what follows for the shapes of their elements."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Block, Operation, SSAValue, Use

from moir.dialects.frameworks.tensorflow import (
    erase,
    forwards,
    integer_of,
    integers_of,
    kind_of,
    origin,
    origin_of_kind,
)
from moir.dialects.opset.infrastructure import Result
from moir.dialects.properties import attribute_of
from moir.raising.tensorflow.handed_on import handed_on

LISTS = ("TensorListReserve", "EmptyTensorList")


READERS = {"TensorListStack": 1, "TensorListGetItem": 2, "TensorListGather": 2}
"""For kinds that read a list, the index of the operand that states the shape of elements."""

EXTENDING = ("TensorListSetItem", "TensorListPushBack", "TensorListScatterIntoExistingList", "TensorListResize")
"""Kinds that return an updated version of the list which is their first operand."""


def declare_read_shapes(block: Block) -> None:
    """Give new lists the element shape that readers of the list state, as the attribute `read_shape`.

    TensorFlow infers this shape from the written elements, even if the list was created without one.
    """
    for op in block.ops:
        if kind_of(op) != "TensorListReserve":
            continue
        pending, seen = [op.results[0]], set[SSAValue]()
        while pending and "read_shape" not in op.properties:
            value = pending.pop()
            if value in seen:
                continue
            seen.add(value)
            for use in value.uses:
                kind = kind_of(use.operation)
                shape = integers_of(use.operation.operands[READERS[kind]]) if kind in READERS else None
                if shape is not None and -1 not in shape:
                    op.properties["read_shape"] = attribute_of(list(shape))
                pending += [use.operation.results[0]] if kind in EXTENDING and use.index == 0 else handed_on(use)


def drop_unwritten_results(block: Block) -> None:
    """Erase the Results that are newly created lists: a frontend adds a Result for every value without uses."""
    results = [op for op in block.ops if isinstance(op, Result)]
    unwritten = [op for op in results if kind_of(op.operands[0].owner) in LISTS]
    if len(unwritten) < len(results):
        for op in unwritten:
            erase(op)


def uses_of(value: SSAValue) -> Iterator[Use]:
    """The uses of a value, and of the results of identities of it."""
    pending = list(value.uses)
    while pending:
        use = pending.pop()
        if forwards(use.operation):
            pending.extend(use.operation.results[0].uses)
        else:
            yield use


def is_length(index: SSAValue, handle: SSAValue) -> bool:
    """Whether an index is the length of the list `handle`."""
    length = origin_of_kind(index, "TensorListLength")
    return length is not None and origin(length.operands[0]) is handle


def are_lengths_for(uses: list[Use], written: Operation) -> bool:
    """Whether all uses of a list are TensorListLengths whose results only `written` reads, a node that writes to the
    list.
    """
    lengths = [use.operation for use in uses]
    return all(kind_of(op) == "TensorListLength" and all(use.operation is written for use in uses_of(op.results[0])) for op in lengths)


def is_single(value: SSAValue) -> bool:
    """Whether a value is a newly created list of one element."""
    owner = origin(value).owner
    return kind_of(owner) == "TensorListReserve" and isinstance(owner, Operation) and integer_of(owner.operands[1]) == 1
