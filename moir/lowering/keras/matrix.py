"""Layers that multiply by weights.

%y = keras.Dense(%x, %kernel, %bias)  ->  %y = opset1.Add(opset1.MatMul(%x, %kernel), %bias)
"""

from __future__ import annotations

from math import prod

from xdsl.ir import SSAValue

from moir.dialects.shapes import rank_of, shape_of
from moir.lowering.binder import LoweringNode
from moir.lowering.keras.activation_functions import activated
from moir.lowering.keras.attributes import variables
from moir.lowering.keras.policies import computed_type, quantization
from moir.lowering.keras.quantization import quantized_product
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
