"""Policies of element types: a layer converts its inputs and variables to the type that it computes in.

keras.Dense(%x: f32, %w: f32) {dtype = "mixed_float16"}  ->  MatMul(Convert(%x, f16), Convert(%w, f16))
"""

from __future__ import annotations

from functools import update_wrapper
from typing import TYPE_CHECKING

from xdsl.ir import Attribute

from moir.dialects.element_types import REAL_TYPES, bf16, f16, f32, f64, si64
from moir.dialects.shapes import element_of
from moir.lowering.binder import LoweringNode
from moir.rewriting.builder import OpBuilder

if TYPE_CHECKING:
    from moir.lowering.table import BoundHandler, Replacement

_COMPUTED: dict[str, Attribute] = {
    "bfloat16": bf16,
    "float16": f16,
    "float32": f32,
    "float64": f64,
    "mixed_bfloat16": bf16,
    "mixed_float16": f16,
}
"""For each policy, the element type in which its layers compute."""

QUANTIZED_KINDS = frozenset(("Dense", "EinsumDense", "Embedding", "ReversibleEmbedding"))
"""The layers that have quantized forms."""


UNCONVERTED = frozenset(("Embedding", "ReversibleEmbedding"))
"""The layers whose operands keep their element types, unless they are quantized."""


def computed_type(node: LoweringNode) -> Attribute:
    """The element type that a layer computes in."""
    policy = node.text("dtype", "float32")
    _, _, source = policy.partition("_from_")
    return _COMPUTED.get(source or policy, f32)


def quantization(node: LoweringNode) -> str:
    """The mode of a quantized layer, such as `int8`; empty for any other."""
    policy = node.text("dtype", "float32")
    mode, separator, _ = policy.partition("_from_")
    return mode if separator else ""


def adapted(kind: str, handler: BoundHandler) -> BoundHandler:
    """Wrap the handler of a layer: inputs and variables are first converted to the type that the layer computes in.

    Functions of `keras.ops` and wrappers of layers keep their handler. The new handler raises ConversionError for a
    quantized layer of an unsupported kind.
    """
    if kind.startswith("ops.") or kind in ("TimeDistributed", "TFOpLambda"):
        return handler

    def call(node: LoweringNode, op: OpBuilder) -> Replacement | None:
        if kind in UNCONVERTED and not quantization(node):
            return handler(node, op)
        if (mode := quantization(node)) and (kind not in QUANTIZED_KINDS):
            node.fail(f"a {kind} that is quantized to {mode} is not supported", hint="save the model before model.quantize()")
        element = computed_type(node)
        converted = {
            index: op.convert(value, element)
            for index in range(len(node.values))
            if (value := node.optional(index)) is not None and _is_other(value.type, element)
        }
        return handler(node.with_operands(converted) if converted else node, op)

    return update_wrapper(call, handler)


def _is_other(type_: Attribute, element: Attribute) -> bool:
    own_element = element_of(type_)
    return own_element in REAL_TYPES and own_element != element


def counted_type(node: LoweringNode) -> Attribute:
    """The element type of the vectors that a lookup layer returns: that of its indices, but in Keras 2 that of the
    layer.
    """
    return computed_type(node) if node.version < 3 else si64


def weighted_type(node: LoweringNode) -> Attribute:
    """The element type of the weighted counts that a lookup layer returns: f32, but in Keras 2 that of the layer."""
    return computed_type(node) if node.version < 3 else f32
