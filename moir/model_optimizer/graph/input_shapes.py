"""Shapes of inputs as extensions read them, who may change single entries: `node.shape[1] = 300`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from xdsl.ir import Operation

from moir.dialects.shapes import Shape, shape_of
from moir.model_optimizer.graph.shapes import masked_shape, type_shape


class InputShapes:
    """The arrays that were given out for the shapes of inputs, each with the shape that it had."""

    def __init__(self) -> None:
        self._given: dict[Operation, tuple[Any, Shape]] = {}

    def of(self, op: Operation) -> Any:
        """The shape of an input as an array, the same one until its type changes; None for an unknown rank."""
        shape = shape_of(op.results[0])
        if op not in self._given or self._given[op][1] != shape:
            self._given[op] = masked_shape(shape), shape
        return self._given[op][0]

    def take_changed(self) -> Iterator[tuple[Operation, Any]]:
        """The inputs whose arrays were changed since they were given out, with the arrays."""
        given, self._given = self._given, {}
        for op, (array, shape) in given.items():
            if shape is not None and op.parent is not None and shape_of(op.results[0]) == shape and type_shape(array) != shape:
                yield op, array
