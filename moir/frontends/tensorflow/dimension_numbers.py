"""Serialized dimension numbers -> lists of integers, one property for each field of the message.

    XlaDotV2 {dimension_numbers = "\\n\\x01\\x01\\x12\\x01\\x00"}
->  XlaDotV2 {lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0], …}

XLA uses messages of protobuf to say over which dimensions of its operands a product, a convolution, a gather or a
scatter works. A node has such a message as a string. `precision_config`, another such string, chooses between faster
and more exact kernels and has no counterpart in an IR.

Source: xla/xla_data.proto, and tensorflow/core/util/quantization/uniform_quant_ops_attr.proto.
"""

from __future__ import annotations

from xdsl.ir import Attribute

from moir.dialects.properties import integer_attribute, integers_attribute
from moir.errors import ModelFileError
from moir.files.protobuf.message_table import MessageTable
from moir.support.tables import by_member

ATTRIBUTE = "dimension_numbers"

MESSAGES = MessageTable(
    "xla",
    """
DotDimensionNumbers: 1 lhs_contracting_dimensions *int64, 2 rhs_contracting_dimensions *int64, 3 lhs_batch_dimensions *int64,
    4 rhs_batch_dimensions *int64
ConvolutionDimensionNumbers: 3 kernel_input_feature_dimension int64, 4 kernel_output_feature_dimension int64,
    6 kernel_spatial_dimensions *int64, 7 input_batch_dimension int64, 8 input_feature_dimension int64,
    9 output_batch_dimension int64, 10 output_feature_dimension int64, 11 input_spatial_dimensions *int64,
    12 output_spatial_dimensions *int64
GatherDimensionNumbers: 1 offset_dims *int64, 2 collapsed_slice_dims *int64, 3 start_index_map *int64, 4 index_vector_dim int64,
    5 operand_batching_dims *int64, 6 start_indices_batching_dims *int64
ScatterDimensionNumbers: 1 update_window_dims *int64, 2 inserted_window_dims *int64, 3 scatter_dims_to_operand_dims *int64,
    4 index_vector_dim int64, 5 input_batching_dims *int64, 6 scatter_indices_batching_dims *int64
UniformQuantizedConvolutionDimensionNumbersAttr: 1 input_batch_dimension int64, 2 input_feature_dimension int64,
    3 input_spatial_dimensions *int64, 4 kernel_input_feature_dimension int64, 5 kernel_output_feature_dimension int64,
    6 kernel_spatial_dimensions *int64, 7 output_batch_dimension int64, 8 output_feature_dimension int64,
    9 output_spatial_dimensions *int64
""",
    {},
)
"""The messages in the notation of `MessageTable`."""

MESSAGE_OF_KIND = by_member(
    {
        "ConvolutionDimensionNumbers": "XlaConv XlaConvV2",
        "DotDimensionNumbers": "XlaDot XlaDotV2",
        "GatherDimensionNumbers": "XlaGather",
        "ScatterDimensionNumbers": "XlaScatter",
        "UniformQuantizedConvolutionDimensionNumbersAttr": "UniformQuantizedConvolution UniformQuantizedConvolutionHybrid",
    }
)
"""The type of the message in the attribute `dimension_numbers`, by kind; other kinds have no such attribute."""


def dimension_properties(kind: str, data: bytes) -> dict[str, Attribute]:
    """The fields of the dimension numbers of a node as properties. Raises ModelFileError if the message is damaged."""
    reader = MESSAGES.reader(MESSAGE_OF_KIND[kind])
    try:
        message = reader.FromString(data)
    except ValueError as error:
        raise ModelFileError(f"{ATTRIBUTE} are damaged: their protobuf encoding is invalid") from error
    properties: dict[str, Attribute] = {}
    for field in reader.FIELDS.values():
        value = getattr(message, field.name)
        properties[field.name] = integers_attribute(tuple(map(int, value))) if field.repeated else integer_attribute(int(value))
    return properties
