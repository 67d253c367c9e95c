"""Sequences of tensors and optional values, which exist only while converting.

The operation sets have only tensors. During the lowering, a sequence with known members is an `onnx.SequenceConstruct`;
operations on the sequence are replaced by operations on its members, and the sequence is erased with its last use. A
sequence that remains (the result of a model, the state of a loop) is reported as not lowered.

    %s = onnx.SequenceConstruct(%a, %b); %y = onnx.SequenceAt(%s, 1)  ->  %b
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from moir.dialects.element_types import si64
from moir.dialects.framework import FrameworkOp, operation_class
from moir.dialects.shapes import UNKNOWN, is_static, normalize_axis, shape_of
from moir.expansions.loops import pieces
from moir.expansions.shape_values import as_scalar
from moir.lowering.binder import LoweringNode
from moir.lowering.onnx.sequences.pieces import KIND as PIECES
from moir.lowering.onnx.sequences.pieces import joined as joined_pieces
from moir.lowering.onnx.sequences.pieces import length as length_of_pieces
from moir.lowering.onnx.sequences.pieces import new_pieces, pieces_of
from moir.lowering.onnx.sequences.stacked import joined, length, member, stack_of
from moir.lowering.onnx.table import onnx
from moir.rewriting.builder import OpBuilder

HINT = "the operation sets have no sequences: they are resolved where their members and positions are known while converting"

MAXIMUM_MEMBERS = 10_000


def new_sequence(op: OpBuilder, members: Sequence[SSAValue], kind: str = "SequenceConstruct") -> SSAValue:
    """Build the operation that stands for a sequence of known members; `kind` is its kind."""
    construct = operation_class("onnx", kind).create(operands=members, result_types=[UNKNOWN])
    op.insert(construct)
    return construct.results[0]


def members_of(node: LoweringNode, index: int) -> list[SSAValue]:
    """The members of a sequence operand. Raises ConversionError if they are unknown."""
    producer = node.operand(index).owner
    if not isinstance(producer, FrameworkOp) or producer.KIND != "SequenceConstruct":
        node.fail("the members of the sequence are not known", HINT)
    return list(producer.operands)


def release(node: LoweringNode, index: int) -> None:
    """Erase the sequence or optional value that is operand `index` of a node, unless it has other uses."""
    producer = node.operand(index).owner
    if isinstance(producer, FrameworkOp) and producer.KIND in ("SequenceConstruct", "SequenceStack", PIECES, "Optional"):
        node.run.release(producer)


def known_position(node: LoweringNode, index: int, count: int) -> int:
    """The constant operand `index`, an index among `count` members, counted from the front.

    Raises ConversionError if it is not constant or out of range.
    """
    position = node.constant_integers(index)
    if position is None or len(position) != 1:
        node.fail("the position in the sequence is not a constant", HINT)
    if not -count <= position[0] < count:
        node.fail(f"position {position[0]} is outside a sequence of {count} members")
    return normalize_axis(position[0], count)


@onnx.lowers("SequenceConstruct")
def sequence_construct(node: LoweringNode, op: OpBuilder, *inputs: SSAValue) -> Sequence[SSAValue]:
    """onnx.SequenceConstruct(a, b) stays until its uses are lowered."""
    return [new_sequence(op, inputs)] if node.is_used(0) else []


@onnx.lowers("SequenceEmpty")
def sequence_empty(node: LoweringNode, op: OpBuilder) -> Sequence[SSAValue]:
    """onnx.SequenceEmpty() -> onnx.SequenceConstruct()"""
    return [new_sequence(op, [])] if node.is_used(0) else []


@onnx.lowers("SequenceAt")
def sequence_at(node: LoweringNode, op: OpBuilder, input_sequence: SSAValue, position: SSAValue) -> SSAValue:
    """onnx.SequenceAt(onnx.SequenceConstruct(a, b), 1) -> b"""
    if (stack := stack_of(input_sequence)) is not None:
        element = member(node, op, stack, position)
        release(node, 0)
        return element
    if (element := pieces_of(op, input_sequence)) is not None:
        release(node, 0)
        return pieces.piece(op, element, position)
    members = members_of(node, 0)
    if op.known.integers(position) is None and members and _are_alike(members):
        element = op.Gather(op.Concat(*(op.Unsqueeze(each, [0]) for each in members), axis=0), as_scalar(op, position), 0)
    else:
        element = members[known_position(node, 1, len(members))]
    release(node, 0)
    return element


def _are_alike(members: Sequence[SSAValue]) -> bool:
    """Whether all members are known to have one shape."""
    shapes = {shape_of(each) for each in members}
    return len(shapes) == 1 and all(shape is not None and is_static(shape) for shape in shapes)


@onnx.lowers("SequenceLength")
def sequence_length(node: LoweringNode, op: OpBuilder, input_sequence: SSAValue) -> SSAValue:
    """onnx.SequenceLength(onnx.SequenceConstruct(a, b)) -> 2"""
    if (stack := stack_of(input_sequence)) is not None:
        release(node, 0)
        return length(op, stack)
    if (sequence_pieces := pieces_of(op, input_sequence)) is not None:
        release(node, 0)
        return length_of_pieces(op, sequence_pieces)
    members = members_of(node, 0)
    release(node, 0)
    return op.constant(len(members), si64)


@onnx.lowers("SequenceInsert")
def sequence_insert(
    node: LoweringNode, op: OpBuilder, _input_sequence: SSAValue, tensor: SSAValue, position_: SSAValue | None = None
) -> SSAValue:
    """onnx.SequenceInsert(onnx.SequenceConstruct(a), b, 0) -> onnx.SequenceConstruct(b, a)"""
    if (sequence_pieces := pieces_of(op, node.operand(0))) is not None and position_ is None:
        release(node, 0)
        return new_pieces(op, [], pieces.joined(op, sequence_pieces, pieces.of_tensors(op, [tensor], sequence_pieces.axis)))
    members = members_of(node, 0)
    if len(members) >= MAXIMUM_MEMBERS:
        node.fail(f"the sequence has more than {MAXIMUM_MEMBERS} members")
    position = len(members)
    if position_ is not None and op.known.integers(position_) != (position,):
        position = known_position(node, 2, len(members))
    members.insert(position, tensor)
    release(node, 0)
    return new_sequence(op, members)


@onnx.lowers("SequenceErase")
def sequence_erase(node: LoweringNode, op: OpBuilder, _input_sequence: SSAValue, position: SSAValue | None = None) -> SSAValue:
    """onnx.SequenceErase(onnx.SequenceConstruct(a, b), 0) -> onnx.SequenceConstruct(b)"""
    members = members_of(node, 0)
    del members[-1 if position is None else known_position(node, 1, len(members))]
    release(node, 0)
    return new_sequence(op, members)


@onnx.lowers("ConcatFromSequence")
def concat_from_sequence(node: LoweringNode, op: OpBuilder, input_sequence: SSAValue, *, axis: int, new_axis: bool = False) -> SSAValue:
    """onnx.ConcatFromSequence(onnx.SequenceConstruct(a, b)) {axis, new_axis} -> opset1.Concat(a, b) {axis}"""
    if (stack := stack_of(input_sequence)) is not None:
        release(node, 0)
        return joined(node, op, stack, axis, new_axis)
    if (sequence_pieces := pieces_of(op, input_sequence)) is not None:
        release(node, 0)
        return joined_pieces(node, op, sequence_pieces, axis, new_axis)
    members = members_of(node, 0)
    if not members:
        node.fail("the sequence is empty")
    release(node, 0)
    if new_axis:
        members = [op.Unsqueeze(member, [axis]) for member in members]
    return members[0] if len(members) == 1 else op.Concat(*members, axis=axis)


@onnx.lowers("SplitToSequence")
def split_to_sequence(
    node: LoweringNode, op: OpBuilder, input: SSAValue, split: SSAValue | None = None, *, axis: int = 0, keepdims: bool = True
) -> SSAValue:
    """onnx.SplitToSequence(x, lengths) {axis = 0, keepdims = 1}
    -> onnx.SequenceConstruct of the results of opset1.VariadicSplit
    """
    shape = shape_of(input)
    lengths_constant = node.constant(1)
    if shape is not None:
        axis = normalize_axis(axis, len(shape))
    elif lengths_constant is None or lengths_constant.ndim != 1:
        node.fail("the rank of operand 0 is dynamic", HINT)
    size = -1 if shape is None else shape[axis]
    if lengths_constant is not None and lengths_constant.ndim == 1:
        lengths = [int(entry) for entry in lengths_constant]
    elif lengths_constant is not None and lengths_constant.size != 1:
        node.fail(f"the lengths of the parts have {lengths_constant.ndim} dimensions, not at most 1")
    else:
        part = 1 if split is None else -1 if lengths_constant is None else int(lengths_constant.item())
        if size < 0 and part == 1:
            return _single_elements(node, op, input, axis, node.known_rank(0))
        if size < 0 or part < 1:
            node.fail("the number of parts is not known", HINT)
        lengths = [min(part, size - start) for start in range(0, size, part)] if -(-size // part) <= MAXIMUM_MEMBERS else []
    if not 0 < len(lengths) <= MAXIMUM_MEMBERS:
        node.fail(f"the data is split into {len(lengths) or 'too many'} parts")
    parts = op.VariadicSplit.parts(len(lengths), input, axis, lengths) if len(lengths) > 1 or size < 0 else (input,)
    if split is None and not keepdims:
        parts = [op.Squeeze(part, [axis]) for part in parts]
    return new_sequence(op, parts)


def _single_elements(node: LoweringNode, op: OpBuilder, data: SSAValue, axis: int, rank: int) -> SSAValue:
    """The sequence of the elements of data along an axis of dynamic size."""
    rest = op.transposed(data, [axis, *(each for each in range(rank) if each != axis)])
    if node.optional(1) is not None or node.flag("keepdims", True):
        rest = op.Unsqueeze(rest, [axis + 1])
    return new_sequence(op, [rest], "SequenceStack")


# Optional values: a present value is represented by itself, an empty one by an onnx.Optional without operands.


def is_empty_optional(node: LoweringNode) -> bool:
    """Whether operand 0 is an empty optional value."""
    value = node.optional(0)
    return value is None or (isinstance(value.owner, FrameworkOp) and value.owner.KIND == "Optional")


@onnx.lowers("Optional")
def optional(node: LoweringNode, op: OpBuilder, input: SSAValue | None = None) -> Sequence[SSAValue]:
    """onnx.Optional(x) -> x; without operand the operation stays until its uses are lowered."""
    if input is not None:
        return [node.operand(0)]
    return [new_sequence(op, [], "Optional")] if node.is_used(0) else []


@onnx.lowers("OptionalHasElement")
def optional_has_element(node: LoweringNode, op: OpBuilder, input: SSAValue | None = None) -> SSAValue:
    """onnx.OptionalHasElement(x) -> true"""
    present = not is_empty_optional(node)
    if input is not None:
        release(node, 0)
    return op.constant(present)


@onnx.lowers("OptionalGetElement")
def optional_get_element(node: LoweringNode, input: SSAValue) -> SSAValue:
    """onnx.OptionalGetElement(x) -> x"""
    if is_empty_optional(node):
        node.fail("the optional value is empty")
    return input
