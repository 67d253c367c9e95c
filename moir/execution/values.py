"""The values of a block by the names of tensors."""

from __future__ import annotations

from xdsl.ir import Block, SSAValue

from moir.dialects.names import name_of, names_of
from moir.dialects.opset.infrastructure import Constant, Result


def named_values(block: Block, *, constants: bool = True) -> dict[str, SSAValue]:
    """The values of a block by their names: those of tensors, and of nodes with one result where no tensor has them.

    They are in the order of the block.

    Args:
        block: the block.
        constants: whether to include constants.
    """
    found: dict[str, SSAValue] = {}
    nodes: dict[str, SSAValue] = {}
    for op in block.ops:
        if isinstance(op, Result) or (isinstance(op, Constant) and not constants):
            continue
        for result in op.results:
            for name in names_of(result):
                found.setdefault(name, result)
        if len(op.results) == 1 and (name := name_of(op)) is not None and not names_of(op.results[0]):
            nodes.setdefault(name, op.results[0])
    return found | {name: value for name, value in nodes.items() if name not in found}
