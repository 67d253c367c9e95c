"""Parts of a module, in any dialect."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Block, Operation, OpResult, SSAValue

from moir.dialects import opset
from moir.dialects.data import DataAttr
from moir.dialects.element_types import dynamic, from_numpy
from moir.dialects.interface import operations_of
from moir.dialects.memory_map import Array
from moir.dialects.moir import ModelOp, is_none
from moir.dialects.names import name_of, names_of, tensor_names
from moir.dialects.opset.infrastructure import Constant, Parameter, Result
from moir.dialects.properties import string_attribute
from moir.dialects.shapes import element_of, shape_of, tensor
from moir.execution.ports import only_model
from moir.reduction.reduced import Candidate

FEW = 64
"""The largest number of elements of a cut 1-D tensor of integers that becomes a constant: such a tensor is a shape or
axes more often than data.
"""

RANDOM_FROM = 16
"""The minimum number of elements of weights that are replaced by random values: smaller ones reveal little, and the
failure may depend on them.
"""


def with_producers(kept: frozenset[int], producers_of: Callable[[int], Iterable[int]]) -> frozenset[int]:
    """The nodes `kept` with those that `producers_of` gives for them, transitively."""
    closure, pending = set(kept), list(kept)
    while pending:
        new = set(producers_of(pending.pop())) - closure
        closure |= new
        pending += new
    return frozenset(closure)


class ModuleGraph:
    """The operations of a module, of which any subset is a model.

    Args:
        module: the module; it is not changed.
        recorded: arrays of its values in a run. A value without an array is not cut: its operation is kept.
    """

    def __init__(self, module: ModuleOp, recorded: Mapping[SSAValue, Array]) -> None:
        self._model = only_model(module)
        self._recorded = recorded
        self.operations: list[Operation] = computed_operations(module)
        self._numbers = {op: index for index, op in enumerate(self.operations)}

    def number(self, op: Operation) -> int | None:
        """The id of an operation within the module; None for constants, inputs and outputs."""
        return self._numbers.get(op)

    @property
    def neighbours(self) -> list[list[int]]:
        """For each operation, the ids of those that compute its operands or use its results, in the order of
        `operations`.
        """
        return [[self._numbers[each] for each in self._connected(op) if each in self._numbers] for op in self.operations]

    def _connected(self, op: Operation) -> Sequence[Operation]:
        producers = [operand.op for operand in op.operands if isinstance(operand, OpResult)]
        return [*producers, *(use.operation for result in op.results for use in result.uses)]

    def closed(self, kept: frozenset[int]) -> frozenset[int]:
        """The operations `kept` and, transitively, the producers of their operands; values that can become inputs are
        not followed.
        """
        return with_producers(kept, self._needed_producers)

    def _needed_producers(self, number: int) -> Iterator[int]:
        for operand in self.operations[number].operands:
            producer = self._numbers.get(operand.op) if isinstance(operand, OpResult) else None
            if producer is not None and operand not in self._recorded:
                yield producer

    def part(self, kept: frozenset[int], *, random: frozenset[int] = frozenset()) -> Candidate:
        """A model of some operations.

        Its inputs are values of other operations, its outputs the results that none of its operations uses.

        Args:
            kept: the ids of the operations.
            random: the ids of the constants that get random values instead of their own.
        """
        kept = self.closed(kept)
        operations = [self.operations[number] for number in sorted(kept)]
        chosen = set(operations)
        block, copies = Block(), dict[SSAValue, SSAValue]()
        inputs: dict[str, Array] = {}
        expected: dict[str, Array] = {}
        constants = 0
        for op in operations:
            for operand in op.operands:
                if operand in copies:
                    continue
                owner = operand.owner
                if isinstance(owner, Constant) or is_none(owner):
                    assert isinstance(owner, Operation)
                    copy = owner.clone()
                    if isinstance(copy, Constant) and _is_weight(copy):
                        if constants in random:
                            _randomize(copy, constants)
                        constants += 1
                    block.add_op(copy)
                    copies[operand] = copy.results[0]
                else:
                    copies[operand] = self._cut(block, operand, inputs)
            block.add_op(op.clone(copies))
        for op in operations:
            if not any(use.operation in chosen for result in op.results for use in result.uses):
                self._results(block, op, copies, expected)
        model = ModelOp.of(self._model.sym_name.data, block, dict(self._model.attributes))
        part = ModuleOp([model])
        return Candidate(part, inputs, {} if random else expected, sum(1 for _ in operations_of(part)))

    def weights(self, kept: frozenset[int]) -> int:
        """The number of weights (large floating-point constants) in the model of the operations with the ids `kept`."""
        part = self.part(kept)
        assert isinstance(part.model, ModuleOp)
        return sum(isinstance(op, Constant) and _is_weight(op) for op in only_model(part.model).block.ops)

    def _cut(self, block: Block, value: SSAValue, inputs: dict[str, Array]) -> SSAValue:
        """Replace a value computed outside of the extracted model: build a Parameter with its recorded array as input.

        An integer scalar or short 1-D tensor, such as a shape, becomes a Constant instead. Returns the new value.
        """
        array = self._recorded[value]
        is_list = array.dtype.kind in "iu" and array.ndim <= 1 and array.size <= FEW and not isinstance(value.owner, Parameter)
        name = _name(value, len(inputs))
        if is_list:
            constant = opset.operation("opset1.Constant").create(
                properties={"value": DataAttr.of(array, _element(value, array))}, result_types=[tensor(array.shape, _element(value, array))]
            )
            block.add_op(constant)
            return constant.results[0]
        while name in inputs:
            name += "_"
        shape = shape_of(value) if element_of(value) is not dynamic and shape_of(value) is not None else array.shape
        attributes = {"name": string_attribute(name), "tensor_names": tensor_names(name)}
        parameter = opset.operation("opset1.Parameter").create(
            attributes=dict[str, Attribute](attributes), result_types=[tensor(shape, _element(value, array))]
        )
        block.add_op(parameter)
        inputs[name] = array
        return parameter.results[0]

    def _results(self, block: Block, op: Operation, copies: Mapping[SSAValue, SSAValue], expected: dict[str, Array]) -> None:
        for result in op.results:
            name = _name(result, len(expected))
            while name in expected:
                name += "_"
            attributes = {"name": string_attribute(name)}
            copy = opset.operation("opset1.Result").create(operands=[copies[result]], attributes=dict[str, Attribute](attributes))
            block.add_op(copy)
            if result in self._recorded:
                expected[name] = self._recorded[result]


def computed_operations(module: ModuleOp) -> list[Operation]:
    """The operations of a module's model, without constants, inputs and outputs."""
    skipped = (Parameter, Constant, Result)
    return [op for op in only_model(module).block.ops if not isinstance(op, skipped) and not is_none(op)]


def computed_values(module: ModuleOp) -> list[SSAValue]:
    """The values that the operations of a module compute, in order."""
    return [result for op in computed_operations(module) for result in op.results]


def _name(value: SSAValue, number: int) -> str:
    names = names_of(value)
    node = name_of(value.op) if isinstance(value, OpResult) else None
    return names[0] if names else node or f"tensor_{number}"


def _element(value: SSAValue, array: Array) -> Attribute:
    element = element_of(value)
    return from_numpy(array.dtype) if element is dynamic else element


def _is_weight(op: Constant) -> bool:
    values = op.value.data.values
    return values is not None and values.dtype.kind in "fV" and values.size >= RANDOM_FROM


def _randomize(op: Constant, seed: int) -> None:
    """Give a constant random values with the mean and the standard deviation of its own; `seed` determines them."""
    values = op.value.data.values
    assert values is not None
    array = np.asarray(values).astype(np.float32)
    drawn = np.random.default_rng(seed).normal(array.mean(), array.std(), array.shape)
    if array.min() >= 0:
        drawn = np.abs(drawn) + 1e-3
    op.properties["value"] = DataAttr.of(drawn.astype(values.dtype), op.value.element)
