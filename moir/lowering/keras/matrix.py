"""Layers that multiply by weights.

%y = keras.Dense(%x, %kernel, %bias)  ->  %y = opset1.Add(opset1.MatMul(%x, %kernel), %bias)
"""

from __future__ import annotations

from typing import Any, cast

from xdsl.ir import SSAValue

from moir.dialects.shapes import rank_of
from moir.lowering.binder import LoweringNode
from moir.lowering.keras.activation_functions import activated
from moir.lowering.keras.attributes import variables
from moir.lowering.keras.policies import computed_type, quantization
from moir.lowering.keras.projections import projected, summed_dimensions
from moir.lowering.keras.quantization import quantized_product
from moir.lowering.keras.table import keras
from moir.rewriting.builder import OpBuilder


@keras.lowers("Dense")
def dense(node: LoweringNode, op: OpBuilder, inputs: SSAValue, *, activation: object | None = None, use_bias: bool = True) -> SSAValue:
    """keras.Dense(x, kernel, bias) {activation} -> activation(opset1.MatMul(x, kernel) + bias)"""
    weights = variables(node)
    data = op.convert(inputs, computed_type(node))
    if mode := quantization(node):
        return activated(node, op, quantized_product(node, op, data, weights, mode, use_bias=use_bias), activation)
    if len(weights) < 1 + use_bias:
        node.fail("its kernel or bias is not in the file", hint="the file is damaged, or of a layer that was not built")
    if len(weights) == 3 + use_bias or len(weights) == 4:
        node.fail("a kernel with the factors of LoRA is not supported", hint="merge them: layer.enable_lora's weights into the kernel")
    result = op.MatMul(data, weights[0], transpose_a=False, transpose_b=False)
    return activated(node, op, op.Add(result, weights[1]) if use_bias else result, activation)


@keras.lowers("EinsumDense")
def einsum_dense(
    node: LoweringNode, op: OpBuilder, inputs: SSAValue, *, equation: str, activation: object | None = None, output_shape: object = ()
) -> SSAValue:
    """keras.EinsumDense(x, kernel, bias) {equation} -> activation(opset1.MatMul(x, kernel) + bias), or opset7.Einsum"""
    weights = variables(node)
    if not weights:
        node.fail("its kernel is not in the file")
    equation = equation.replace(" ", "")
    terms = equation.replace("->", ",").split(",")
    data = op.convert(inputs, computed_type(node))
    count = summed_dimensions(terms) if len(terms) == 3 else 0
    if mode := quantization(node):
        if not count:
            node.fail(f"a product {equation!r} that is quantized to {mode} is not supported", hint="save the model before model.quantize()")
        sizes = cast("tuple[Any, ...]", output_shape if isinstance(output_shape, tuple) else (output_shape,))
        outer = sizes[len(sizes) - (len(terms[1]) - count) :]
        use_bias = node.has("bias_axes")
        return activated(
            node, op, quantized_product(node, op, data, weights, mode, use_bias=use_bias, count=count, outer=outer), activation
        )
    result = projected(op, data, weights[0], count) if count and rank_of(weights[0]) == len(terms[1].replace("...", ".")) else None
    if result is None:
        result = op.Einsum(data, weights[0], equation=equation)
    return activated(node, op, op.Add(result, weights[1]) if len(weights) > 1 else result, activation)
