"""The values of a block by the names of tensors."""

from __future__ import annotations

from xdsl.ir import Block, SSAValue

from moir.dialects.names import name_of, names_of
from moir.dialects.opset.infrastructure import Constant, Result


def named_values(block: Block, *, constants: bool = True, nodes: bool = True) -> dict[str, SSAValue]:
    """The values of a block by the names of tensors, in the order of the block.

    Args:
        block: the block.
        constants: whether to include constants.
        nodes: whether to include, after the others, values by the names of their nodes, where no tensor has the name.
            Such a value need not be the tensor of the framework: it may be in another layout.
    """
    values: dict[str, SSAValue] = {}
    of_nodes: dict[str, SSAValue] = {}
    for op in block.ops:
        if isinstance(op, Result) or (isinstance(op, Constant) and not constants):
            continue
        for result in op.results:
            for name in names_of(result):
                values.setdefault(name, result)
        if nodes and len(op.results) == 1 and (name := name_of(op)) is not None and not names_of(op.results[0]):
            of_nodes.setdefault(name, op.results[0])
    return values | {name: value for name, value in of_nodes.items() if name not in values}
