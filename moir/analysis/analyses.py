"""The facts about a module that passes share: each is computed when it is first asked for, until the module changes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation

from moir.analysis.dimensions import Dimensions
from moir.dialects.moir import all_blocks


class Analyses:
    """Facts about a module as it is.

    Who changes the module says so with `invalidate`; the passes themselves need not, as their schedule does it for
    every pass that reports a change.

    Args:
        module: the module.
    """

    def __init__(self, module: ModuleOp) -> None:
        self.module = module
        self._dimensions: dict[bool, Dimensions] = {}

    def invalidate(self, *, dimensions: bool = True) -> None:
        """Forget facts: the module has changed.

        Args:
            dimensions: whether those of `dimensions` may not hold any more.
        """
        for name in ("blocks", "classes", "kinds"):
            vars(self).pop(name, None)
        if dimensions:
            self._dimensions.clear()

    @cached_property
    def blocks(self) -> Sequence[Block]:
        """All blocks of the module; a block precedes the blocks of bodies in it."""
        return list(all_blocks(self.module))

    @cached_property
    def classes(self) -> frozenset[type[Operation]]:
        """The classes of the operations in all blocks."""
        return frozenset(type(op) for block in self.blocks for op in block.ops)

    @cached_property
    def kinds(self) -> frozenset[str]:
        """The kinds of the operations in all blocks: their names without the dialect."""
        return frozenset(each.name.partition(".")[2] for each in self.classes)

    def dimensions(self, *, static: bool = False) -> Dimensions:
        """The dimensions of all values, see `Dimensions`."""
        if static not in self._dimensions:
            self._dimensions[static] = Dimensions(static).scan(self.module)
        return self._dimensions[static]
