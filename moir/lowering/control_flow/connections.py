"""The connections of a loop: operands with Parameters of the body, and Results of the body with results of the
operation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from xdsl.ir import Block, Operation, SSAValue

from moir.analysis.dimensions import Dimensions
from moir.analysis.iteration_sizes import varying_axes
from moir.dialects.moir import BodyPort, Slicing
from moir.dialects.opset.control_flow import If, Loop, RepeatingOp, results_of
from moir.dialects.opset.infrastructure import Result
from moir.dialects.shapes import is_static, rank_of, shape_of
from moir.expansions.loops.carried_pieces import carrying
from moir.expansions.loops.pieces import Pieces, stacked
from moir.lowering.binder import LoweringNode
from moir.lowering.control_flow.bodies import Body
from moir.rewriting.builder import OpBuilder
from moir.rewriting.dead_code import eliminate_dead
from moir.rewriting.operations_with_bodies import create_repeating

MakeValue = Callable[[OpBuilder, Pieces], SSAValue]
"""Builds the value of a node's result from a sequence of tensors that differ in size."""


NO_AXES: Mapping[int, int] = MappingProxyType({})
NO_MAKERS: Mapping[int, MakeValue] = MappingProxyType({})


@dataclass
class Connections:
    """The connections of a Loop or TensorIterator around a lowered body.

    The Result at index `first_result` + i of the body belongs to result i of the node. Earlier Results belong to no
    result of the node and are kept.
    """

    node: LoweringNode
    body: Body
    operands: list[SSAValue]
    first_parameter: int
    first_result: int
    inputs: list[BodyPort] = field(default_factory=list[BodyPort])
    outputs: list[tuple[int, BodyPort]] = field(default_factory=list[tuple[int, BodyPort]])
    values: dict[int, SSAValue] = field(default_factory=dict[int, SSAValue])
    results: list[Result] = field(default_factory=list[Result])
    joins: dict[int, SSAValue] = field(default_factory=dict[int, SSAValue])
    axes: dict[int, int] = field(default_factory=dict[int, int])
    makers: dict[int, MakeValue] = field(default_factory=dict[int, MakeValue])
    runs: bool = field(init=False)

    def __post_init__(self) -> None:
        """Determine whether a Loop certainly has an iteration, from the trip count and the first condition."""
        limits = [self.node.known.constant(value) for value in self.operands]
        self.runs = bool(limits) and all(each is not None and bool(each.all()) for each in limits)

    def drop_unused(self, states: int) -> None:
        """Erase the Results without uses and the operations of the body that only they use.

        The first `states` results of the node are loop-carried values; those whose Parameters are used are kept.
        """
        self.results = self.body.results
        for index in range(self.node.result_count):
            if not self.node.is_used(index) and (index >= states or not self.body.is_used(self.first_parameter + index)):
                self._drop_result(index)
        eliminate_dead(self.body.block)

    def _drop_result(self, index: int) -> None:
        result = self.results[self.first_result + index]
        result.detach()
        result.erase()

    def _number(self, index: int) -> int | None:
        """The index of the Result of the body that belongs to result `index` of the node; None if it was dropped."""
        result = self.results[self.first_result + index]
        return None if result.parent is None else self.body.results.index(result)

    def _operand(self, value: SSAValue) -> int:
        self.operands.append(value)
        return len(self.operands) - 1

    def add_states(self, states: Sequence[SSAValue]) -> None:
        """Connect the initial values of loop-carried values, with their Parameters and Results.

        A value that the body does not change becomes an invariant. A value that the body does not read becomes an
        output only, if the loop has at least one iteration.
        """
        changed: list[tuple[int, SSAValue]] = []
        for index, value in enumerate(states):
            output, parameter = self._number(index), self.first_parameter + index
            if output is not None and self.body.is_passed_through(parameter, output):
                self.values[index] = value
                self._drop_result(index)
                output = None
            if output is not None or self.body.is_used(parameter):
                changed.append((index, value))
            else:
                self.body.drop(parameter)
        for index, value in changed:
            output, parameter = self._number(index), self.first_parameter + index
            if self.runs and not self.body.is_used(parameter):
                self.body.drop(parameter)
            else:
                self.inputs.append(BodyPort(self._operand(value), output))
            if output is not None and self.node.is_used(index):
                self.outputs.append((index, BodyPort(output)))

    def add_slices(self, operands: Sequence[SSAValue], slicings: Sequence[Slicing]) -> None:
        """Connect the Parameters after those of the loop-carried values with slices of operands."""
        self.inputs.extend(BodyPort(self._operand(value), slicing=slicing) for value, slicing in zip(operands, slicings, strict=True))

    def add_invariants(self, first: int, operands: Sequence[SSAValue]) -> None:
        """Connect Parameters, from index `first` on, with operands that do not change between iterations."""
        for parameter, value in enumerate(operands, first):
            if self.body.is_used(parameter):
                self.inputs.append(BodyPort(self._operand(value)))
            else:
                self.body.drop(parameter)

    def add_joined(
        self, first: int, slicings: Sequence[Slicing], axes: Mapping[int, int] = NO_AXES, makers: Mapping[int, MakeValue] = NO_MAKERS
    ) -> None:
        """Connect results of the node, from index `first` on, that stack a value of all iterations along an axis.

        Args:
            first: the index of the first of these results.
            slicings: the order of the concatenation of each of them.
            axes: the dimension in which the values of a result may differ, by its index; by default the only one whose
                size may change between iterations.
            makers: for results whose values differ in size, by index, the function that builds the result; by default
                the values are stacked.
        """
        self.axes.update(axes)
        self.makers.update(makers)
        for index, slicing in enumerate(slicings, first):
            output = self._number(index)
            if output is None:
                continue
            result = self.results[self.first_result + index]
            inside = OpBuilder(self.node.known, self.body.block, result)
            self._check_rank(index, result.operands[0])
            self.joins[index] = result.operands[0]
            result.operands[0] = inside.Unsqueeze(result.operands[0], slicing.axis)
            self.outputs.append((index, BodyPort(output, slicing=slicing)))

    def _check_rank(self, index: int, value: SSAValue) -> None:
        """Raises ConversionError if a value is the result of an If whose branches give it different ranks.

        `index` is the index of the output of the node, for the message.
        """
        producer = value.owner
        if not isinstance(producer, If) or rank_of(value) is not None:
            return
        result = producer.results.index(value)
        ranks = [rank_of(results_of(body.block)[result]) for body in (producer.then_body, producer.else_body)]
        if None not in ranks:
            self.node.fail(f"output {index} collects values of {ranks[0]} dimensions and of {ranks[1]}")

    def add_last(self, first: int, count: int) -> None:
        """Connect results of the node, from index `first` on, that are values of the last iteration."""
        for index in range(first, first + count):
            output = self._number(index)
            if output is not None:
                self.outputs.append((index, BodyPort(output)))

    def create(self, op: OpBuilder, operation: type[RepeatingOp]) -> list[SSAValue | None]:
        """Build the operation and return the values of the node's results; None for results without a connection.

        A value whose size changes between iterations is no concatenated output: its concatenation is a state. Raises
        ConversionError if that is not possible.
        """
        if self.outputs:
            created = create_repeating(op, operation, self.operands, self.inputs, [port for _, port in self.outputs], self.body.region)
            if varying := self._varying(created[0].owner):
                created = self._carrying(op, created, varying)
            else:
                self.values.update((index, value) for (index, _), value in zip(self.outputs, created, strict=True))
            if operation is Loop:
                self._check_sizes(created)
        return [self.values.get(index) for index in range(self.node.result_count)]

    def _varying(self, loop: Operation | Block) -> dict[int, list[int]]:
        """The dimensions of concatenated values that may change between iterations, by the index of the output."""
        assert isinstance(loop, RepeatingOp)
        known = self.node.run.state("dimensions around loops", lambda: Dimensions(static=True))
        return varying_axes(loop, known) if self.joins else {}

    def _carrying(self, op: OpBuilder, created: list[SSAValue], varying: Mapping[int, list[int]]) -> list[SSAValue]:
        """Rebuild the operation for outputs whose values differ in size: a state holds their concatenation.

        `created` are the results of the operation, `varying` the dimensions that differ, by the index of the output.
        Returns the results of the new operation.
        """
        loop = created[0].owner
        assert isinstance(loop, RepeatingOp)
        axes: dict[int, int] = {}
        for output, differing in varying.items():
            index, port = self.outputs[output]
            assert port.slicing is not None
            axes[output] = self._axis(index, [axis - (axis > port.slicing.axis) for axis in differing])
        created, joined = carrying(op, loop, {output: self.joins[self.outputs[output][0]] for output in axes}, axes)
        for output, ((index, port), value) in enumerate(zip(self.outputs, created, strict=True)):
            self.values[index] = value
            if output in joined and port.slicing is not None:
                make, rank = self.makers.get(index), rank_of(self.joins[index])
                self.values[index] = make(op, joined[output]) if make else stacked(op, joined[output], rank or 1, port.slicing.axis)
        return created

    def _axis(self, index: int, axes: list[int]) -> int:
        """The dimension in which the values of a result may differ, given `axes`, those that may change.

        Stacked values must have equal sizes when the model runs, so any of the dimensions is returned for them. Raises
        ConversionError for other values if there are several.
        """
        rank, stated = rank_of(self.joins[index]), self.axes.get(index)
        if stated is None and len(axes) > 1 and index in self.makers:
            self.node.fail(
                f"output {index} collects values of which {len(axes)} dimensions may change from iteration to iteration",
                hint="give the model's inputs static shapes, or the values one shape",
            )
        return axes[0] if stated is None or not rank else stated % rank

    def _check_sizes(self, created: Sequence[SSAValue]) -> None:
        """Raises ConversionError for a state whose size changes in a loop that may have no iterations.

        The results of opset5.Loop have the types that the body gives, even if no iteration runs.
        """
        if self.runs:
            return
        initial = {port.back_edge: self.operands[port.index] for port in self.inputs if port.index is not None}
        for (index, port), value in zip(self.outputs, created, strict=False):
            after, before = shape_of(value), shape_of(initial.get(port.index, value))
            if before is None or after is None or port.slicing is not None:
                continue
            if any(-1 not in sizes and sizes[0] != sizes[1] for sizes in zip(before, after, strict=False)):
                self.node.fail(
                    f"output {index} begins with the shape {list(before)}, gets {list(after)} in the body, and the loop may not run",
                    hint="give the initial value the shape that the body computes, or a condition that is constant",
                )


def results_without_iterations(
    node: LoweringNode,
    op: OpBuilder,
    states: Sequence[SSAValue],
    values: Sequence[SSAValue],
    joined: int | None = None,
    unknown: Callable[[], SSAValue] | None = None,
) -> list[SSAValue | None] | None:
    """The results of a loop whose body never runs: its initial states, empty lists, and zeros.

    Args:
        node: the loop.
        op: the builder.
        states: the initial values of the states, which are the first results.
        values: the values of the body for the other results.
        joined: how many of them are stacked along a new first axis, by default all; the others are last values.
            unknown: builds an empty concatenation of values of dynamic shape.

    Returns None if the shape of a result that is used is dynamic.
    """
    results: list[SSAValue | None] = [*states]
    for index, value in enumerate(values):
        shape, is_joined = shape_of(value), joined is None or index < joined
        if not node.is_used(len(results)):
            results.append(None)
        elif shape is None or not is_static(shape):
            if unknown is None or not is_joined:
                return None
            results.append(unknown())
        else:
            lead = (0,) if is_joined else ()
            results.append(op.filled_like((*lead, *shape), 0.0, value))
    return results
