"""Shapes, operations that change only the shape, and identities.

    %y = tf.Shape(%x) {out_type = si32}
->  %y = opset3.ShapeOf(%x) {output_type = si32}
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Attribute, SSAValue

from moir.dialects.element_types import si32, si64
from moir.dialects.opset.infrastructure import Parameter
from moir.dialects.shapes import element_of, is_static, rank_of, shape_of
from moir.expansions.shape_values import as_list, without_ones
from moir.frameworks.traits import FORWARDS
from moir.lowering.binder import LoweringNode
from moir.lowering.complex.kinds import PAIRS, PAIRS_TO_REAL
from moir.lowering.ranks import as_result, fixed
from moir.lowering.tensorflow.complex.types import is_complex, real_axis
from moir.lowering.tensorflow.ranks import expanded, squeezed
from moir.lowering.tensorflow.table import tf
from moir.rewriting.builder import OpBuilder

_UNCHANGED = "Copy CopyHost DebugGradientIdentity DeepCopy GuaranteeConst Identity PreventGradient RefIdentity Snapshot StopGradient"


@tf.lowers("EnsureShape", complex=PAIRS, traits=(FORWARDS,))
@tf.lowers("PlaceholderWithDefault", "Print", complex=PAIRS)
@tf.lowers(*_UNCHANGED.split(), rank=as_result, complex=PAIRS, traits=(FORWARDS,))
def identity(x: SSAValue) -> SSAValue:
    """tf.Identity(x) -> x; likewise a placeholder with a default becomes its default"""
    return x


@tf.lowers("CheckNumerics", "CheckNumericsV2")
def unchecked(tensor: SSAValue) -> SSAValue:
    """tf.CheckNumerics(x) -> x: the converted model does not fail for NaN"""
    return tensor


@tf.lowers("IdentityN", complex=PAIRS)
def identities(node: LoweringNode, *input: SSAValue) -> Sequence[SSAValue]:
    """tf.IdentityN(a, b) -> a, b"""
    return input[: node.result_count]


# Shapes as values


def dimensions(node: LoweringNode, op: OpBuilder, value: SSAValue, element: Attribute) -> SSAValue:
    """The shape of a value in TensorFlow: without the last dimension if complex numbers are stored as pairs."""
    shape = op.ShapeOf(value, output_type=element)
    return op.Slice(shape, [0], [-1], [1], [0]) if is_complex(node) else shape


@tf.lowers("Shape", complex=PAIRS_TO_REAL)
def shape(node: LoweringNode, op: OpBuilder, input: SSAValue, *, out_type: Attribute = si32) -> SSAValue:
    """tf.Shape(x) {out_type = si32} -> opset3.ShapeOf(x) {output_type}"""
    return dimensions(node, op, input, out_type)


@tf.lowers("ShapeN", complex=PAIRS_TO_REAL)
def shapes(node: LoweringNode, op: OpBuilder, *input: SSAValue, out_type: Attribute = si32) -> Sequence[SSAValue]:
    """tf.ShapeN(a, b) {out_type = si32} -> opset3.ShapeOf(a), opset3.ShapeOf(b)"""
    return [dimensions(node, op, value, out_type) for value in input[: node.result_count]]


@tf.lowers("Size", complex=PAIRS_TO_REAL)
def size(node: LoweringNode, op: OpBuilder, input: SSAValue, *, out_type: Attribute = si32) -> SSAValue:
    """tf.Size(x) {out_type = si32} -> opset1.ReduceProd(opset3.ShapeOf(x), 0)"""
    if shape_of(input) == ():
        return op.constant(1, out_type)
    return op.ReduceProd(dimensions(node, op, input, out_type), [0], keep_dims=False)


@tf.lowers("Rank", complex=PAIRS_TO_REAL)
def rank(node: LoweringNode, op: OpBuilder, input: SSAValue) -> SSAValue:
    """tf.Rank(x) -> a constant; opset3.ShapeOf(opset3.ShapeOf(x)) if the rank is dynamic"""
    known = rank_of(input)
    if known is not None:
        return op.constant(known - is_complex(node), si32)
    inner = dimensions(node, op, input, si32)
    return op.Squeeze(op.ShapeOf(inner, output_type=si32), [0])


# Changes of the shape


GIVE_LENGTH = "give the input that says the shape a static length"


def refuse_dynamic_rank(node: LoweringNode) -> None:
    """Raise ConversionError if operand 1, the shape of the result, has a dynamic length.

    The error names the inputs of dynamic rank: static ranks may determine the length.
    """
    lengths = node.shape(1)
    if lengths is not None and -1 in lengths and all(rank_of(value) is not None for value in inputs_of(node)):
        node.fail("its shape has a dynamic number of entries, so that the rank of the result is dynamic", hint=GIVE_LENGTH)


def inputs_of(node: LoweringNode) -> list[SSAValue]:
    """The inputs of the model, or of the body that contains a node."""
    block = node.op.parent_block()
    return [] if block is None else [op.results[0] for op in block.ops if isinstance(op, Parameter)]


@tf.lowers("Reshape", rank=fixed(None, 1), complex=PAIRS)
def reshape(node: LoweringNode, op: OpBuilder, tensor: SSAValue, shape: SSAValue) -> SSAValue:
    """tf.Reshape(x, shape) -> opset1.Reshape(x, shape) {special_zero = false}"""
    target = shape
    if is_complex(node):
        target = op.Concat(shape, op.constant([2], element_of(shape)), axis=0)
    refuse_dynamic_rank(node)
    known = op.known.lasting_integers(target)
    if known is not None and -1 not in known and known == shape_of(tensor):
        return tensor
    return op.Reshape(tensor, target, special_zero=False)


@tf.lowers("Squeeze", rank=squeezed, complex=PAIRS)
def squeeze(node: LoweringNode, op: OpBuilder, input: SSAValue, *, squeeze_dims: tuple[int, ...] = ()) -> SSAValue:
    """tf.Squeeze(x) {squeeze_dims}
    -> opset15.Squeeze(x, squeeze_dims); a Reshape to the rank that users require if dimensions are dynamic
    """
    shape = shape_of(input)
    # A value of dynamic rank is squeezed at run time: it may be a scalar, such as the condition of a loop.
    if not squeeze_dims and shape is not None and not is_static(shape):
        # The module of these rules is imported only for the few models that have inputs of dynamic rank.
        from moir.lowering.ranks import rank_by_use

        if not is_complex(node) and (rank := rank_by_use(node.op.results[0], tf.rank)) is not None:
            return without_ones(op, input, rank)
        node.fail(
            "which dimensions are 1 is unknown, and so the rank of the result", hint="give the inputs static shapes, or the node axes"
        )
    return op.Squeeze(input, [real_axis(node, axis) for axis in squeeze_dims] if squeeze_dims else None)


@tf.lowers("ExpandDims", rank=expanded, complex=PAIRS)
def expand(node: LoweringNode, op: OpBuilder, input: SSAValue, dim: SSAValue) -> SSAValue:
    """tf.ExpandDims(input, axis) -> opset1.Unsqueeze(input, axis); opset1.Reshape(input) if the axis is computed"""
    axis = op.known.integers(dim)
    if axis is not None and len(axis) == 1:
        return op.Unsqueeze(input, [real_axis(node, axis[0])])
    if rank_of(input) == 0:
        return op.Unsqueeze(input, [0])
    if is_complex(node):
        node.fail("the axis is computed when the model runs", hint="make the axis a constant")
    return op.Reshape(input, _with_one(op, input, dim), special_zero=False)


def _with_one(op: OpBuilder, x: SSAValue, axis: SSAValue) -> SSAValue:
    """The shape of x with a 1 inserted at a computed axis; its length is static if the rank of x is."""
    whole, known = op.ShapeOf(x), rank_of(x)
    rank = op.Squeeze(op.ShapeOf(whole), [0]) if known is None else op.constant(known)
    positions = op.Range(0, op.Add(rank, 1), 1, output_type=si64) if known is None else op.constant(list(range(known + 1)))
    # A negative axis counts from the end of the result.
    axis_index = op.FloorMod(op.convert(as_list(op, axis), si64), op.Add(rank, 1))
    # The dimension of 1 is taken from the end of the concatenation.
    sources = op.Select(op.Equal(positions, axis_index), rank, op.Subtract(positions, 1))
    sources = op.Select(op.Less(positions, axis_index), positions, sources)
    return op.Gather(op.Concat(whole, [1], axis=0), sources, 0)
