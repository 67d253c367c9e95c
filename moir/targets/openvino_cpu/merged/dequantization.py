"""Scales of quantized values that the CPU plugin moves behind operations, or applies twice, wrongly."""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from moir.analysis.constants import is_quantized_weight
from moir.dialects.element_types import INTEGER_TYPES, REAL_TYPES
from moir.dialects.opset.convolution import (
    Convolution,
    ConvolutionBackpropData,
    GroupConvolution,
    GroupConvolutionBackpropData,
)
from moir.dialects.opset.data_types import Convert
from moir.dialects.opset.image.resampling import InterpolateOp
from moir.dialects.opset.infrastructure import Constant
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.interfaces.spatial import ConvolutionOp
from moir.dialects.opset.matrix import MatMul
from moir.dialects.opset.pooling import PoolingOp
from moir.dialects.opset.quantization import FakeQuantize
from moir.dialects.opset.reduction import ReductionOp
from moir.dialects.shapes import element_of, is_static, rank_of, shape_of
from moir.rewriting.driver import Pattern, Rewriter
from moir.targets.openvino_cpu.merged.fake_quantize import merged_before
from moir.targets.openvino_cpu.merged.operands import rounding_of
from moir.targets.openvino_cpu.neighbours.identity import computed_identity, is_computed_identity, rectified_identity
from moir.targets.openvino_cpu.quantized_values import MOVED, is_of_bytes
from moir.targets.record import Fault, Form

_REDUCED = frozenset(("ReduceMax", "ReduceMean", "ReduceMin", "ReduceSum"))
"""Reductions before which the plugin takes scales away, and multiplies by them after them."""


class SharedSums(Pattern):
    """Computes an identity behind a quantized sum of dynamic shape that several operations use.

        %0 = opset1.Convolution(%x, %w)                          // [?, 8, 32, 32]; %x and %w are quantized
        %1 = opset1.Relu(%0)
        %2 = opset1.Sigmoid(%0)
    ->  %3 = opset1.Maximum(-inf, %0)
        %1 = opset1.Relu(%3)
        %2 = opset1.Sigmoid(%3)

    The plugin moves the scale of the sum behind some of the users and leaves it before the others; then it merges both
    into the sum, and a result is scaled twice.
    """

    roots = (Convolution, GroupConvolution, ConvolutionBackpropData, GroupConvolutionBackpropData, MatMul)
    companions = ((FakeQuantize,),)

    def may_match(self, op: Operation) -> bool:
        value = op.results[0]
        if value.has_one_use() or not value.uses or is_static(shape_of(value)):
            return False
        data, weights, *_ = op.operands
        is_quantized = _is_quantized(weights) or (isinstance(op, MatMul) and rounding_of(weights) is not None)
        return is_quantized and rounding_of(data) is not None

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, OpsetOp)
        same = rewriter.op.create(type(op), list(op.operands), dict(op.properties)).results[0]
        rewriter.replace_with(op, computed_identity(rewriter.op, same, replaced=op.results[0]))


class WindowsOfProducts(Pattern):
    """Separates windows over quantized matrix products from the products.

        %0 = opset1.MatMul(%x, %w)                               // [2, 8, 7, 7]; %x and %w are quantized
        %y = opset1.MaxPool(%0) {kernel = [2, 2]}
    ->  %y = opset1.MaxPool(opset1.Maximum(-inf, %0)) {kernel = [2, 2]}

    The columns of a product have scales of their own. The plugin multiplies by them behind the windows, which have
    elements of several columns, or does not compile the model. It implements the strides of a convolution with kernels
    of one element by a MaxPool before it; such a convolution gets a PRelu of slope 1 before it, through which strides
    are not moved.
    """

    roots = (PoolingOp, InterpolateOp, Convolution)
    companions = ((MatMul,), (FakeQuantize,))

    def may_match(self, op: Operation) -> bool:
        if isinstance(op, Convolution) and not (max(op.integers("strides")) > 1 and has_single_elements(op)):
            return False
        product = merged_before(op.operands[0], MOVED).owner
        return isinstance(product, MatMul) and _is_quantized(product.operands[1]) and rounding_of(product.operands[0]) is not None

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, OpsetOp)
        data, *others = op.operands
        same = (rectified_identity if isinstance(op, Convolution) else computed_identity)(rewriter.op, data)
        rewriter.replace_with(op, rewriter.op.create(type(op), [same, *others], dict(op.properties)).results)


class SumsOfRows(Pattern):
    """Separates reductions and matrix products from quantization with other limits for each row.

        %0 = opset1.FakeQuantize(%x, %low, %high, %low, %high)   // [3, 16, 4]; %low: [1, 16, 1]
        %y = opset1.ReduceMin(%0, [0])
    ->  %y = opset1.ReduceMin(opset1.Maximum(-inf, %0), [0])

    The plugin reduces integers and multiplies by the scales after that. For data of three dimensions it reads these out
    of bounds; in products of dynamic shape it takes them for those of another axis. It does not compile products of
    static shape by quantized weights whose quantized values have zero points.
    """

    roots = (ReductionOp, MatMul)

    def may_match(self, op: Operation) -> bool:
        data = op.operands[0]
        if is_computed_identity(data) or not _has_levels_of_rows(data):
            return False
        if not isinstance(op, MatMul):
            return rank_of(data) == 3
        other = op.operands[1]
        return not is_static(shape_of(data)) or _is_quantized(other) or rounding_of(other) is not None

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, OpsetOp)
        data, other = op.operands
        rewriter.replace_with(op, rewriter.op.create(type(op), [computed_identity(rewriter.op, data), other], dict(op.properties)).results)


class SumsOfBytes(SumsOfRows):
    """Separates reductions from dequantized integers of 8 bits of three dimensions.

        %0 = opset1.Convert(%x) {destination_type = f32}         // of u8 [3, 2, 4], beside a FakeQuantize
        %1 = opset1.Multiply(%0, 0.5)
        %y = opset1.ReduceMean(%1, [1])
    ->  %y = opset1.ReduceMean(opset1.Maximum(-inf, %1), [1])

    The plugin reduces the integers and subtracts and multiplies after that; after a reduction of integers of three
    dimensions it reads other memory instead of all batches but the first. The axes may be any, as it also moves a
    Transpose behind the reduction.
    """

    roots = (ReductionOp,)
    companions = ((FakeQuantize,),)

    def may_match(self, op: Operation) -> bool:
        assert isinstance(op, ReductionOp)
        data = op.operands[0]
        if op.KIND not in _REDUCED or rank_of(data) != 3 or isinstance(data.owner, Convert):
            return False
        return element_of(data) in REAL_TYPES and is_of_bytes(data)


class ProductsOfVectors(Pattern):
    """Separates the product of a quantized vector and quantized weights from the quantization.

        %0 = opset1.FakeQuantize(%x, %low, %high, %low, %high)   // [3]
        %y = opset1.MatMul(%0, %w)                               // %w: [3, 8], dequantized from integers
    ->  %y = opset1.MatMul(opset1.Maximum(-inf, %0), %w)

    The plugin multiplies by the scales of the columns, a matrix of one row, after the product: the result becomes one.
    """

    roots = (MatMul,)

    def may_match(self, op: Operation) -> bool:
        data, weights = op.operands
        if rank_of(data) != 1 or not _is_quantized(weights) or is_computed_identity(data):
            return False
        return rounding_of(merged_before(data, MOVED | _REDUCED)) is not None

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        data, weights = op.operands
        same = computed_identity(rewriter.op, data)
        rewriter.replace_with(op, rewriter.op.create(MatMul, [same, weights], dict(op.properties)).results)


def _has_levels_of_rows(value: SSAValue) -> bool:
    """Whether a value, which is no constant, is quantized, or dequantized from integers, and the limits or scales have
    several elements.
    """
    varies = False
    while isinstance(owner := value.owner, OpsetOp) and owner.operands:
        if isinstance(owner.operands[0].owner, Constant):
            return False
        constants = [each for each in owner.operands if isinstance(each.owner, Constant)]
        varies = varies or any(set(shape_of(each) or ()) - {1} for each in constants)
        if isinstance(owner, FakeQuantize | Convert):
            return varies and (isinstance(owner, FakeQuantize) or element_of(owner.operands[0]) in INTEGER_TYPES)
        computed = [each for each in owner.operands if each not in constants]
        if len(computed) != 1 or not (owner.POINTWISE or owner.BROADCASTS or owner.KIND in ("Clamp", "MaxPool")):
            return False
        (value,) = computed
    return False


def has_single_elements(op: ConvolutionOp) -> bool:
    """Whether the kernels of a convolution have one element, as in a 1x1 convolution."""
    kernel = (shape_of(op.operands[1]) or ())[-len(op.integers("strides")) :]
    return bool(kernel) and all(size == 1 for size in kernel)


def _is_quantized(weights: SSAValue) -> bool:
    """Whether weights are dequantized from integers, or are a FakeQuantize of a constant."""
    while isinstance(weights.owner, OpsetOp) and weights.owner.KIND in ("Reshape", "Transpose"):
        weights = weights.owner.operands[0]
    is_rounded = isinstance(weights.owner, FakeQuantize) and isinstance(weights.owner.operands[0].owner, Constant)
    return is_rounded or is_quantized_weight(weights)


FORMS = (
    Form(
        "keep-dequantization-scales",
        (SharedSums, WindowsOfProducts, SumsOfRows, SumsOfBytes, ProductsOfVectors),
        "Inserts an identity where the plugin moves dequantization scales past operations with which they do not commute.",
        faults=(
            Fault(
                "factors-of-shared-sums",
                "quantized convolutions, and MatMuls of two FakeQuantizes, of dynamic shape, that several operations use",
                "are multiplied by the sizes of the levels twice for some of the operations",
            ),
            Fault(
                "windows-of-products",
                "MaxPool, AvgPool and Interpolate of quantized MatMuls whose columns have levels of their own",
                "multiply by the sizes of the levels after that, or are not compiled",
            ),
            Fault(
                "levels-of-rows",
                "a reduction of three dimensions of a FakeQuantize with limits for single rows",
                "reads the limits out of bounds",
            ),
            Fault(
                "batches-of-bytes",
                "a reduction of three dimensions of integers of 8 bits that are converted to floats, by a constant, in a model that has a "
                "FakeQuantize",
                "is that of the first batch, and other memory for the rest",
            ),
            Fault(
                "products-of-rows",
                "MatMul with quantized weights of a FakeQuantize with several limits",
                "takes limits along another axis if shapes are dynamic, is not compiled if they are static",
            ),
            Fault(
                "quantized-vectors",
                "MatMul of a FakeQuantize of one dimension and weights of 8 bits with scales of columns",
                "has a dimension more",
            ),
        ),
    ),
)
