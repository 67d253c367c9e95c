"""Handlers of the four older frameworks whose signature has neither operands nor attributes: each has a reason.

A handler of a kind without operands and attributes needs none. All others say in their signature what they read of a
node, unless one of these reasons holds.
"""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from moir.lowering.signatures import Signature, signature_of
from tests.unit.lowering.test_schemas import registered

FRAMEWORKS = ("onnx", "tf", "mxnet", "caffe")

REASONS: Mapping[str, str] = {
    "it refuses its kinds, whatever the node has": """
        onnx.image.sampling.image_decoder onnx.microsoft.refusals.refused onnx.ml.maps.refused onnx.strings.extensions.refused
        tensorflow.detection.suppression.suppression_with_overlaps
        tensorflow.image.refusals.refused tensorflow.image.sampling.extract_glimpse
        tensorflow.linear_algebra.decompositions.refused tensorflow.random.distributions.refused
        tensorflow.strings.refusals.refused tensorflow.xla.refusals.refused caffe.convolution.binary_convolution
        caffe.flow.filter_
    """,
    "the values that its graphs capture follow its operands": """
        onnx.control_flow.loop onnx.sequences.loops.sequence_map tensorflow.control_flow.while_ mxnet.control_flow.cond
    """,
    "its operands are two lists, of which a signature can have one": """
        tensorflow.indexing.dynamic_stitch tensorflow.quantization.operations.concat
        tensorflow.recurrent.cudnn_weights.joined
    """,
    "scales, zero points or limits are at an index after the operand that they belong to, for any operand": """
        onnx.microsoft.experts.mixture_of_experts onnx.microsoft.experts.mixture_of_quantized_experts
        onnx.microsoft.integers.integer_multiplication onnx.microsoft.quantization.binary onnx.microsoft.quantization._unary.<locals>.lower
        tensorflow.quantization.operations.add tensorflow.quantization.operations.used_range
        tensorflow.quantization.products.convolution tensorflow.quantization.products.depthwise_convolution
        tensorflow.quantization.uniform_products.product tensorflow.quantization.uniform_products.hybrid_product
        tensorflow.quantization.uniform_products.convolution mxnet.quantization.dequantize mxnet.quantization.requantize
        mxnet.quantization.quantized_convolution mxnet.quantization.quantized_fully_connected
        mxnet.quantization.quantized_flatten mxnet.quantization.quantized_add
    """,
    "other handlers share the function that reads the whole node": """
        onnx.microsoft.quantization.recurrent onnx.ml.tree_ensembles.classifier onnx.recurrent.operations.RNN
        onnx.recurrent.operations.GRU onnx.recurrent.operations.LSTM tensorflow.random.numbers.key_and_counter
        tensorflow.random.numbers.StatelessRandomUniform tensorflow.random.numbers.StatelessRandomUniformV2
        tensorflow.random.numbers.stateless_integers tensorflow.random.numbers.StatelessMultinomial tensorflow.recurrent.cells.lstm_sequence
        tensorflow.recurrent.cells.lstm_sequence_without_forget_bias tensorflow.recurrent.cudnn_weights.size
        tensorflow.signal.transforms.complex_transform.<locals>.handler
        mxnet.array.split_along mxnet.convolution.convolution mxnet.matrix.fully_connected mxnet.matrix.batch_dot
        mxnet.normalization.batch_norm mxnet.normalization.batch_norm_with_relu mxnet.pooling.pooling
    """,
    "its operand is a table, a list or a variable that exists only while converting": """
        tensorflow.resources.lookup_tables.hash_table tensorflow.resources.lookup_tables.size
        tensorflow.resources.tensor_lists.empty tensorflow.resources.tensor_lists.pop_back
        tensorflow.resources.tensor_lists.concat tensorflow.resources.variables.variable
        tensorflow.resources.variables.is_initialized
    """,
    "weights follow its operands, whose number it checks": """
        caffe.arithmetic.axpy caffe.flow.flow_warp caffe.movement.concat
    """,
    "its kinds have no operands and no attributes": """
        onnx.sequences.operations.sequence_empty tensorflow.random.numbers.generator
    """,
}
"""The handlers that take a node alone, by the reason for it."""


def without_schema(framework: str) -> set[str]:
    """The handlers of a framework whose signatures have neither operands nor attributes."""
    results: set[str] = set()
    for entry in registered(framework):
        signature: Signature = signature_of(entry.handler)
        if not signature.operands and not signature.attributes:
            # A formula in a table has the name of its kind.
            name = entry.kind if entry.handler.__qualname__ == "<lambda>" else entry.handler.__qualname__
            results.add(f"{entry.handler.__module__.removeprefix('moir.lowering.')}.{name}")
    return results


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_a_handler_that_takes_a_node_alone_has_a_reason(framework: str) -> None:
    listed = {name for names in REASONS.values() for name in names.split()}
    assert sorted(without_schema(framework) - listed) == []


def test_each_reason_is_needed() -> None:
    actual = {name for framework in FRAMEWORKS for name in without_schema(framework)}
    assert [name for names in REASONS.values() for name in names.split() if name not in actual] == []
