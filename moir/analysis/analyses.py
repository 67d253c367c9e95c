"""Facts about a module that passes share: each is computed at its first use, and forgotten when the module changes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property
from itertools import chain
from typing import TypeVar, cast

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation

from moir.analysis.dimensions import Dimensions
from moir.analysis.folding_budget import FoldingBudget
from moir.analysis.known_values import KnownValues
from moir.dialects.element_types import describe, is_element_type
from moir.dialects.moir import models_of
from moir.dialects.shapes import element_of

AnyOperation = TypeVar("AnyOperation", bound=Operation)


class Analyses:
    """Facts about the current state of a module.

    Code that changes the module calls `invalidate`. Passes need not: the pass schedule calls it after every pass that
    reports a change.

    Args:
        module: the module.
    """

    def __init__(self, module: ModuleOp) -> None:
        self.module = module
        self._dimensions: dict[bool, Dimensions] = {}
        self.folding_budget = FoldingBudget(self.operations(Operation))
        """The budget that all foldings of constants of this module share."""

    def invalidate(self, *, operations: bool = True, dimensions: bool = True) -> None:
        """Forget facts: the module has changed.

        Args:
            operations: whether operations were added or erased, or element types changed.
            dimensions: whether the results of `dimensions` may be out of date.
        """
        for name in ("known_values", *(("contents", "classes", "kinds", "elements", "_operations_by_class") if operations else ())):
            vars(self).pop(name, None)
        if dimensions:
            self._dimensions.clear()

    @cached_property
    def contents(self) -> Sequence[tuple[Block, Sequence[Operation]]]:
        """The blocks of the models in the module, each with its operations; a block comes before the blocks nested in
        it.
        """
        contents: list[tuple[Block, Sequence[Operation]]] = []
        pending = [block for model in models_of(self.module) for region in model.regions for block in region.blocks]
        for block in pending:
            operations: list[Operation] = []
            op = block.first_op
            while op is not None:
                operations.append(op)
                if op.regions:
                    pending.extend(inner for region in op.regions for inner in region.blocks)
                op = op.next_op
            contents.append((block, operations))
        return contents

    @cached_property
    def classes(self) -> frozenset[type[Operation]]:
        """The classes of the operations in all blocks of the module."""
        return frozenset[type[Operation]]().union(*(map(type, operations) for _, operations in self.contents))

    @cached_property
    def kinds(self) -> frozenset[str]:
        """The kinds of the operations in all blocks of the module: their names without the dialect."""
        return frozenset(each.name.partition(".")[2] for each in self.classes)

    @cached_property
    def elements(self) -> frozenset[str]:
        """The names of the element types of the values in all blocks of the module; unknown element types are
        left out.
        """
        # Types are interned, so that they are compared by identity: hashing one takes longer.
        types = {id(each.type): each.type for _, operations in self.contents for op in operations for each in op.results}
        return frozenset(describe(each).xml for each in map(element_of, types.values()) if is_element_type(each))

    @cached_property
    def _operations_by_class(self) -> tuple[Sequence[Operation], Mapping[type[Operation], Sequence[int]]]:
        """The operations in the order of `contents`, and for each class the ascending indices of its operations."""
        ordered: list[Operation] = []
        for _, operations in self.contents:
            ordered += operations
        indices: dict[type[Operation], list[int]] = {each: [] for each in self.classes}
        for index, class_ in enumerate(map(type, ordered)):
            indices[class_].append(index)
        return ordered, indices

    def of_classes(self, classes: AbstractSet[type[Operation]]) -> Sequence[Operation]:
        """The operations of some classes, without those of subclasses, in the order of `contents`."""
        operations, indices = self._operations_by_class
        # Lists that ascend are merged in linear time.
        return [*map(operations.__getitem__, sorted(chain.from_iterable(indices.get(each, ()) for each in classes)))]

    def operations(self, *wanted: type[AnyOperation]) -> Iterator[AnyOperation]:
        """The operations of some classes, and of subclasses of them, in the order of `contents`."""
        return cast("Iterator[AnyOperation]", iter(self.of_classes({each for each in self.classes if issubclass(each, wanted)})))

    @cached_property
    def known_values(self) -> KnownValues:
        """Operand values that are known at compile time. A pass may use them while it changes the module."""
        return KnownValues()

    def dimensions(self, *, static: bool = False) -> Dimensions:
        """The dimensions of all values, see `Dimensions`."""
        if static not in self._dimensions:
            self._dimensions[static] = Dimensions(static).scan(self.operations(Operation))
        return self._dimensions[static]

    @property
    def lists_operations(self) -> bool:
        """Whether the result of `contents` is cached."""
        return "contents" in vars(self)

    @property
    def held_dimensions(self) -> Mapping[bool, Dimensions]:
        """The cached results of `dimensions`, by the argument `static`."""
        return self._dimensions

    @property
    def held_values(self) -> KnownValues | None:
        """The cached `known_values`; None if they are not cached."""
        return vars(self).get("known_values")
