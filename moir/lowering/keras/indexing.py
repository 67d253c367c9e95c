"""Embeddings: rows of a table."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.element_types import si32
from moir.lowering.binder import LoweringNode
from moir.lowering.keras.attributes import Arguments, variables
from moir.lowering.keras.policies import computed_type, quantization
from moir.lowering.keras.promotion import promoted
from moir.lowering.keras.quantization import dequantized_embedding, product_with_table
from moir.lowering.keras.table import keras
from moir.rewriting.builder import OpBuilder


@keras.lowers("Embedding", "ReversibleEmbedding")
def embedding(node: LoweringNode, op: OpBuilder, inputs: SSAValue) -> SSAValue:
    """keras.Embedding(i, table) -> opset8.Gather(table, i, 0)"""
    weights = variables(node)
    if not weights:
        node.fail("its table is not in the file")
    mode = quantization(node)
    if node.op.KIND == "ReversibleEmbedding" and Arguments(node, "inputs", "reverse").flag("reverse"):
        if mode:
            return product_with_table(node, op, op.convert(inputs, computed_type(node)), weights, mode)
        is_tied = node.flag("tie_weights", True)
        # Keras converts the table alone to the type of the layer.
        x, table = promoted(op, [inputs, op.convert(weights[0 if is_tied else -1], computed_type(node))])
        logits = op.MatMul(x, table, transpose_b=is_tied)
        limit = node.attribute("logit_soft_cap", None)
        if limit is not None:
            logits = op.Multiply(op.Tanh(op.Divide(logits, float(limit))), float(limit))
        return logits if node.text("reverse_dtype", "") else op.convert(logits, computed_type(node))
    indices = op.convert(inputs, si32)
    if mode:
        return dequantized_embedding(node, op, indices, weights, mode)
    return op.convert(op.Gather(weights[0], indices, 0), computed_type(node))
