"""Layers of the core: products with weights, embeddings, activations, identities."""

from __future__ import annotations

from math import prod
from typing import NoReturn

from xdsl.ir import SSAValue

from moir.dialects.element_types import boolean, f16, si32
from moir.dialects.shapes import element_of, rank_of, shape_of
from moir.expansions.shape_values import dimension_list
from moir.lowering.binder import LoweringNode
from moir.lowering.keras.activations import activated, layer_function
from moir.lowering.keras.attributes import Arguments, axis_list, config_of, variables
from moir.lowering.keras.policies import computed_type, quantization
from moir.lowering.keras.quantization import dequantized_embedding, quantized_product
from moir.lowering.keras.table import keras
from moir.rewriting.builder import OpBuilder


@keras.lowers("Dense")
def dense(node: LoweringNode, op: OpBuilder, inputs: SSAValue, *, activation: object | None = None, use_bias: bool = True) -> SSAValue:
    """keras.Dense(x, kernel, bias) {activation} -> activation(opset1.MatMul(x, kernel) + bias)"""
    found = variables(node)
    data = op.convert(inputs, computed_type(node))
    if mode := quantization(node):
        return activated(node, op, quantized_product(node, op, data, found, mode, use_bias=use_bias), activation)
    if len(found) < 1 + use_bias:
        node.fail("its kernel or bias is not in the file", hint="the file is damaged, or of a layer that was not built")
    if len(found) == 3 + use_bias or len(found) == 4:
        node.fail("a kernel with the factors of LoRA is not supported", hint="merge them: layer.enable_lora's weights into the kernel")
    result = op.MatMul(data, found[0], transpose_a=False, transpose_b=False)
    return activated(node, op, op.Add(result, found[1]) if use_bias else result, activation)


@keras.lowers("EinsumDense")
def einsum_dense(node: LoweringNode, op: OpBuilder, inputs: SSAValue, *, equation: str, activation: object | None = None) -> SSAValue:
    """keras.EinsumDense(x, kernel, bias) {equation} -> activation(opset1.MatMul(x, kernel) + bias), or opset7.Einsum"""
    if mode := quantization(node):
        node.fail(f"an EinsumDense that is quantized to {mode} is not supported", hint="save the model before model.quantize()")
    found = variables(node)
    if not found:
        node.fail("its kernel is not in the file")
    equation = equation.replace(" ", "")
    terms = equation.replace("->", ",").split(",")
    data = op.convert(inputs, computed_type(node))
    result = contracted(op, data, found[0], terms) if len(terms) == 3 else None
    if result is None:
        result = op.Einsum(data, found[0], equation=equation)
    return activated(node, op, op.Add(result, found[1]) if len(found) > 1 else result, activation)


def contracted(op: OpBuilder, x: SSAValue, kernel: SSAValue, terms: list[str]) -> SSAValue | None:
    """A product of the last dimensions of x with the first ones of a kernel; None if the terms say another one."""
    data, weights, result = (term.replace("...", ".") for term in terms)
    count = next((count for count in range(len(data), 0, -1) if data[-count:] == weights[:count]), 0)
    if not count or result != data[:-count] + weights[count:] or rank_of(kernel) != len(weights):
        return None
    return projected(op, x, kernel, count)


def projected(op: OpBuilder, x: SSAValue, kernel: SSAValue, count: int) -> SSAValue | None:
    """The product of the last `count` dimensions of x with the first ones of a kernel; None if a rank is unknown."""
    rank, kernel_rank = rank_of(x), rank_of(kernel)
    if rank is None or kernel_rank is None:
        return None
    sizes = list(shape_of(kernel) or ())
    outer = rank - count
    if outer < 1 or min(sizes, default=0) < 1:
        return None
    if count > 1 or kernel_rank - count != 1:
        kernel = op.Reshape(kernel, [prod(sizes[:count]), prod(sizes[count:])], special_zero=False)
    if count > 1:
        x = op.Reshape(x, [*(0,) * outer, prod(sizes[:count])], special_zero=True)
    found = op.MatMul(x, kernel, transpose_a=False, transpose_b=False)
    if kernel_rank - count == 1:
        return found
    return op.Reshape(found, [*(0,) * outer, *sizes[count:]], special_zero=True)


@keras.lowers("Embedding", "ReversibleEmbedding")
def embedding(node: LoweringNode, op: OpBuilder, inputs: SSAValue) -> SSAValue:
    """keras.Embedding(i, table) -> opset8.Gather(table, i, 0)"""
    found = variables(node)
    if not found:
        node.fail("its table is not in the file")
    if node.op.KIND == "ReversibleEmbedding" and Arguments(node, "inputs", "reverse").flag("reverse"):
        table = found[-1] if not node.flag("tie_weights", True) else None
        return op.MatMul(inputs, found[0], transpose_b=True) if table is None else op.MatMul(inputs, table)
    indices = op.convert(inputs, si32)
    if mode := quantization(node):
        return dequantized_embedding(node, op, indices, found, mode)
    return op.convert(op.Gather(found[0], indices, 0), computed_type(node))


@keras.lowers("Activation")
def activation_layer(node: LoweringNode, op: OpBuilder, inputs: SSAValue, *, activation: object | None = None) -> SSAValue:
    """keras.Activation(x) {activation} -> the function"""
    return activated(node, op, inputs, activation)


@keras.lowers("ReLU", "LeakyReLU", "ELU", "ThresholdedReLU")
def activation_function(node: LoweringNode, op: OpBuilder, inputs: SSAValue) -> SSAValue:
    """keras.ReLU(x) {max_value, negative_slope, threshold} -> opset1.Relu, opset1.Clamp, opset1.PRelu, opset1.Elu"""
    found = layer_function(node, op, inputs, node.op.KIND, config_of(node))
    assert found is not None
    return found


@keras.lowers("PReLU")
def parametric_relu(node: LoweringNode, op: OpBuilder, inputs: SSAValue) -> SSAValue:
    """keras.PReLU(x, alpha) -> opset1.Relu(x) - alpha · opset1.Relu(-x)"""
    found = variables(node)
    if not found:
        node.fail("its slopes are not in the file")
    slopes = found[0]
    if rank_of(slopes) == 1 and rank_of(inputs) == 2:
        return op.PRelu(inputs, slopes)
    return op.Subtract(op.Relu(inputs), op.Multiply(slopes, op.Relu(op.Negative(inputs))))


@keras.lowers("Softmax")
def softmax(node: LoweringNode, op: OpBuilder, inputs: SSAValue, *, axis: object | None = -1) -> SSAValue:
    """keras.Softmax(x) {axis} -> opset8.Softmax(x); a mask adds the lowest number"""
    mask = Arguments(node, "inputs", "mask").optional("mask")
    if mask is not None:
        lowest = -3e4 if element_of(inputs) == f16 else -3e38
        inputs = op.Select(op.convert(mask, boolean), inputs, op.constant_like(lowest, inputs))
    axes = axis_list(node, axis, node.known_rank(0))
    if len(axes) == 1:
        return op.Softmax(inputs, axis=axes[0])
    shifted = op.Exp(op.Subtract(inputs, op.ReduceMax(inputs, axes, keep_dims=True)))
    return op.Divide(shifted, op.ReduceSum(shifted, axes, keep_dims=True))


TRAINED_ONLY = (
    *("Dropout", "AlphaDropout", "GaussianDropout", "GaussianNoise", "SpatialDropout1D", "SpatialDropout2D", "SpatialDropout3D"),
    *("ActivityRegularization", "Identity", "RandomBrightness", "RandomContrast", "RandomFlip", "RandomHeight", "RandomHue"),
    *("RandomRotation", "RandomSaturation", "RandomSharpness", "RandomShear", "RandomTranslation", "RandomWidth", "RandomZoom"),
    *("RandomColorDegeneration", "RandomColorJitter", "RandomErasing", "RandomElasticTransform", "RandomGaussianBlur"),
    *("RandomGrayscale", "RandomInvert", "RandomPerspective", "RandomPosterization", "RandAugment", "AugMix", "AutoContrast"),
    *("CutMix", "MixUp"),
)
"""Layers that do nothing at inference."""


@keras.lowers(*(kind for kind in TRAINED_ONLY if kind not in ("RandomGrayscale", "AutoContrast")))
def identity(inputs: SSAValue) -> SSAValue:
    """keras.Dropout(x) -> x"""
    return inputs


@keras.lowers("Masking")
def masking(op: OpBuilder, inputs: SSAValue, *, mask_value: float = 0.0) -> SSAValue:
    """keras.Masking(x) -> x where a feature of the step differs from the value, else 0"""
    differs = op.ReduceLogicalOr(op.NotEqual(inputs, mask_value), [-1], keep_dims=True)
    return op.Multiply(inputs, op.convert(differs, element_of(inputs)))


@keras.lowers("Lambda")
def function_layer(node: LoweringNode, op: OpBuilder, inputs: SSAValue, *, function: object | None = None) -> SSAValue:
    """keras.Lambda(x): refused, unless its function is one of Keras by name"""
    if isinstance(function, str) and function != "a function as bytecode":
        return activated(node, op, inputs, function)
    refuse_function(node)


def refuse_function(node: LoweringNode) -> NoReturn:
    """Raise the error about a layer whose program is bytecode."""
    node.fail(
        f"the layer {node.name!r} is a Lambda, whose function is bytecode of one version of Python and is never executed",
        hint="write a lowering for this layer, or replace it by operations of keras.ops and save the model again",
    )


@keras.lowers("TimeDistributed")
def time_distributed(node: LoweringNode, op: OpBuilder, inputs: SSAValue, original: SSAValue | None = None, *, part: str) -> SSAValue:
    """keras.TimeDistributed(x [N, T, …]) {part = "steps"} -> opset1.Reshape(x, [N · T, …])

    keras.TimeDistributed(y [N · T, …], x) {part = "sequence"} -> opset1.Reshape(y, [N, T, …])
    """
    rank = node.known_rank(0)
    if part == "steps":
        return merged_steps(node, op, inputs, rank)
    if original is None:
        node.fail("the sequence is missing")
    steps = dimension_list(op, original, 1)
    rest = [dimension_list(op, inputs, axis) for axis in range(1, rank)]
    if op.known.integers(steps) is not None:
        return op.Reshape(inputs, op.Concat([-1], steps, *rest, axis=0), special_zero=False)
    return op.Reshape(inputs, op.Concat(dimension_list(op, original, 0), steps, *rest, axis=0), special_zero=False)


def merged_steps(node: LoweringNode, op: OpBuilder, inputs: SSAValue, rank: int) -> SSAValue:
    """[N, T, …] -> [N · T, …]"""
    if rank < 2:
        node.fail("its input has no steps")
    rest = [dimension_list(op, inputs, axis) for axis in range(2, rank)]
    return op.Reshape(inputs, op.Concat([-1], *rest, axis=0) if rest else [-1], special_zero=False)
