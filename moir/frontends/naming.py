"""The names of tensors on operations, and the operations of a block while it is built."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects.builtin import ArrayAttr, StringAttr
from xdsl.ir import Operation, OpResult, SSAValue

from moir.dialects.moir import NoneOp
from moir.dialects.properties import string_attribute, value_of


def tensor_name(name: str) -> StringAttr:
    """A name as an entry of `tensor_names`, which separates names by commas."""
    return string_attribute(name.replace(",", "\\,") if "," in name else name)


def tensor_names(*names: str) -> ArrayAttr[StringAttr]:
    """The attribute `tensor_names` of an operation whose results have these names."""
    return ArrayAttr([tensor_name(name) for name in names])


def several_tensor_names(names: Iterable[Iterable[str]]) -> ArrayAttr[StringAttr]:
    """The attribute `tensor_names` of an operation whose results have any number of names each."""
    return ArrayAttr([string_attribute(",".join(tensor_name(name).data for name in each)) for each in names])


def add_tensor_name(value: SSAValue, name: str) -> None:
    """Give a value another name."""
    op = value.owner
    if not isinstance(op, Operation) or not isinstance(value, OpResult):
        return
    names = op.attributes.get("tensor_names")
    texts = list(value_of(names)) if names is not None else [""] * len(op.results)
    added = tensor_name(name).data
    texts[value.index] = f"{texts[value.index]},{added}" if texts[value.index] else added
    op.attributes["tensor_names"] = ArrayAttr([string_attribute(text) for text in texts])


class Operations:
    """The operations of a block, in order, while they are collected."""

    def __init__(self) -> None:
        self.list: list[Operation] = []
        self._absent: SSAValue | None = None

    def append(self, op: Operation) -> None:
        """Add an operation at the end."""
        self.list.append(op)

    def absent(self) -> SSAValue:
        """What stands for an absent operand, one for all of the block."""
        if self._absent is None:
            op = NoneOp.of()
            self.list.append(op)
            self._absent = op.result
        return self._absent
