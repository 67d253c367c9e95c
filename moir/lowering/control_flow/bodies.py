"""Lowering of a node's regions to bodies: a region is cloned, the Parameters of the clone get types, and the clone is
lowered.

A body that runs repeatedly is lowered for the types of its first iteration. If a loop-carried value does not fit its
Parameter, the Parameter gets a wider type and a fresh clone is lowered, so that the body does not depend on a shape
that changes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.ir import Attribute, Block, Region, SSAValue

from moir.dialects.data import DataAttr
from moir.dialects.inference import set_type
from moir.dialects.opset.control_flow import parameters_of, results_of
from moir.dialects.opset.infrastructure import Constant, Parameter, Result
from moir.dialects.shapes import element_of, join_shapes, merge_elements, rank_of, shape_of, tensor, unknown_dimensions
from moir.errors import ConversionError
from moir.lowering.binder import LoweringNode
from moir.rewriting.dead_code import eliminate_dead
from moir.rewriting.operations_with_bodies import known_value

EXACT_NESTING = 2
"""The largest nesting of bodies that is lowered for static dimensions first; deeper bodies start from dynamic
dimensions.

Each attempt lowers all nested bodies again.
"""

RANKED_NESTING = 5
"""The largest nesting of bodies that is lowered for static ranks first; deeper bodies start from dynamic ranks."""


def graph_of(node: LoweringNode, attribute: str) -> Region:
    """The region of an attribute that is a graph. Raises ConversionError if the node has no such attribute."""
    names = node.texts("graph_attributes", ())
    if attribute not in names or len(names) != len(node.op.regions):
        node.fail(f"the graph {attribute} is missing")
    return node.op.regions[names.index(attribute)]


def captured_values(node: LoweringNode) -> list[SSAValue]:
    """The operands of a node that are values of the enclosing block, which the node's regions use."""
    count = node.integer("captured", 0)
    return list(node.op.operands[len(node.op.operands) - count :])


def own_operands(node: LoweringNode) -> list[SSAValue | None]:
    """The operands of a node except the captured values; None for absent ones."""
    count = len(node.op.operands) - node.integer("captured", 0)
    return [node.optional(index) for index in range(count)]


@dataclass
class Body:
    """A lowered body.

    `parameters` has, for each Parameter of the framework's body, in order, the Parameter of the lowered body; None if a
    constant replaced it.
    """

    region: Region
    parameters: list[Parameter | None]

    @property
    def block(self) -> Block:
        """The block of the body."""
        return self.region.block

    @property
    def results(self) -> list[Result]:
        """The Results of the body."""
        return [op for op in self.block.ops if isinstance(op, Result)]

    def values(self) -> list[SSAValue]:
        """The operands of the Results."""
        return results_of(self.block)

    def drop(self, index: int) -> None:
        """Erase the Parameter at an index."""
        if (parameter := self.parameters[index]) is not None:
            parameter.detach()
            parameter.erase()
        self.parameters[index] = None

    def is_used(self, index: int) -> bool:
        """Whether the Parameter at an index exists and has uses."""
        parameter = self.parameters[index]
        return parameter is not None and bool(parameter.results[0].uses)

    def is_passed_through(self, parameter: int, result: int) -> bool:
        """Whether the operand of Result `result` is the value of Parameter `parameter`."""
        argument = self.parameters[parameter]
        return argument is not None and self.results[result].operands[0] is argument.results[0]


def lowered_body(
    node: LoweringNode,
    region: Region,
    inputs: Sequence[SSAValue | Attribute],
    prepare: Callable[[list[Parameter]], None] | None = None,
    needed: Sequence[int | None] = (),
    *,
    in_place: bool = False,
) -> Body:
    """Lower a region of a node to a body: a clone of it, or the region itself.

    Args:
        node: the node with the region.
        region: the region; it is not changed unless it is lowered `in_place`.
        inputs: for each Parameter the value or data that it has in every iteration, or else its type. A known value
            becomes a constant of the body.
        prepare: called with the Parameters before any operation is lowered.
        needed: the rank that is needed of each result; None if no rank is needed.
        in_place: whether the region itself is lowered, which the node then loses. For regions that are lowered once,
            this avoids cloning nested regions at each level.

    Raises ConversionError if the region has another number of Parameters.
    """
    clone = _detached(region) if in_place else region.clone()
    parameters = parameters_of(clone.block)
    if len(parameters) != len(inputs):
        node.fail(f"a graph has {len(parameters)} inputs where {len(inputs)} are given")
    for parameter, argument in zip(parameters, inputs, strict=True):
        if isinstance(argument, DataAttr):
            continue
        type_ = argument.type if isinstance(argument, SSAValue) else argument
        declared = element_of(parameter.results[0])
        set_type(parameter.results[0], tensor(shape_of(type_), merge_elements(element_of(type_), declared)))
    if prepare is not None:
        prepare(parameters)
    kept: list[Parameter | None] = []
    for parameter, argument in zip(parameters, inputs, strict=True):
        value = known_value(node.known, argument)
        if value is None:
            kept.append(parameter)
            continue
        kept.append(None)
        constant = Constant.create(properties={"value": value}, result_types=[tensor(value.shape, value.element)])
        clone.block.insert_op_before(constant, parameter)
        parameter.results[0].replace_all_uses_with(constant.results[0])
        parameter.detach()
        parameter.erase()
    need_ranks(clone.block, needed)
    node.run.block(clone.block)
    # Nested bodies have been cleaned when they were lowered.
    eliminate_dead(clone.block, in_bodies=False)
    return Body(clone, kept)


def _detached(region: Region) -> Region:
    """Detach a region from its operation, and return it."""
    return region if (parent := region.parent_op()) is None else parent.detach_region(region)


def need_ranks(block: Block, ranks: Sequence[int | None]) -> None:
    """Give the results of a body that is not lowered yet the required `ranks`; a result whose rank is static
    keeps it.
    """
    for value, rank in zip(results_of(block), ranks, strict=False):
        if rank is not None and rank_of(value) is None:
            set_type(value, tensor(unknown_dimensions(rank), element_of(value)))


def nesting(region: Region) -> int:
    """The number of levels of regions nested in a region."""
    inner = [nesting(each) + 1 for block in region.blocks for op in block.ops for each in op.regions]
    return max(inner, default=0)


def repeated_body(
    node: LoweringNode,
    region: Region,
    types: Sequence[Attribute],
    lower: Callable[[Sequence[Attribute], bool], Body],
    first_result: int,
) -> Body:
    """A body lowered for types that hold in every iteration.

    Args:
        types: types of the loop-carried values before the first iteration.
        lower: lowers the region for given types of these values; the second argument is whether to lower the region
            itself instead of a clone (`in_place`).
        first_result: the index of the Result of the first loop-carried value; the Results of the others follow.

    Raises ConversionError if no types hold in every iteration.
    """
    inner = nesting(region)
    widenings = [_joined, _joined, _dynamic_dimensions, _dynamic_rank, _dynamic_rank]
    current = list(types)
    if inner > EXACT_NESTING:
        widenings = widenings[3:] if inner <= RANKED_NESTING else []
        widen = _dynamic_dimensions if inner <= RANKED_NESTING else _dynamic_rank
        current = [widen(type_, type_) for type_ in current]
    for widening in widenings:
        try:
            body = lower(current, False)
        except ConversionError:
            # An error for the types of the first iteration may disappear for wider types.
            current = [(_dynamic_dimensions if widening is _joined else widening)(type_, type_) for type_ in current]
            continue
        misfits = _misfits(node, current, body, first_result)
        if not misfits:
            return body
        for index, value in misfits.items():
            current[index] = widening(current[index], value.type)
    body = lower(current, not widenings)
    if _misfits(node, current, body, first_result):
        node.fail("no types hold for the values its body hands from iteration to iteration")
    return body


def _misfits(node: LoweringNode, types: Sequence[Attribute], body: Body, first_result: int) -> dict[int, SSAValue]:
    """The loop-carried values after an iteration that do not have the types `types`, by their index.

    `first_result` is the index of the Result of the first loop-carried value.
    """
    values = body.values()[first_result : first_result + len(types)]
    return {index: value for index, value in enumerate(values) if not _covers(node, types[index], value)}


def _covers(node: LoweringNode, type_: Attribute, value: SSAValue) -> bool:
    try:
        merge_elements(element_of(type_), element_of(value))
    except ConversionError as error:
        node.fail(f"the element type of a value changes from iteration to iteration: {error.reason}")
    before, after = shape_of(type_), shape_of(value)
    if before is not None and after is not None and len(before) != len(after):
        node.fail(
            f"a value that its body hands on has {len(before)} dimensions before an iteration and {len(after)} after it",
            hint="give it the same number of dimensions before the first iteration",
        )
    return join_shapes(before, after) == before


def _joined(type_: Attribute, other: Attribute) -> Attribute:
    return tensor(join_shapes(shape_of(type_), shape_of(other)), merge_elements(element_of(type_), element_of(other)))


def _dynamic_dimensions(type_: Attribute, other: Attribute) -> Attribute:
    joined = _joined(type_, other)
    return tensor(unknown_dimensions(rank_of(joined)), element_of(joined))


def _dynamic_rank(type_: Attribute, other: Attribute) -> Attribute:
    return tensor(None, merge_elements(element_of(type_), element_of(other)))
