"""Extractors that describe known kinds as Model Optimizer's own extractors did, without its later transformations."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf
from onnx import TensorProto, helper

from tests.numerical.model_optimizer.conversion import Converted, X, convert, write
from tests.numerical.onnx.conversion import node
from tests.numerical.runtime import Array, compare
from tests.numerical.tensorflow import conversion as tensorflow_conversion

IMAGE = np.random.default_rng(5).normal(size=(1, 6, 5, 4)).astype(np.float32)
FILTERS = np.random.default_rng(6).normal(size=(3, 3, 4, 2)).astype(np.float32)


def extractor(kind: str, described: str, attrs: str, framework: str = "tf") -> dict[str, str]:
    """A file with the extractor of a kind, which describes nodes by a class, given as "module.Class", and attributes."""
    module, _, name = described.rpartition(".")
    return {
        f"front/{framework}/my_ext.py": f"""
            import numpy as np
            from mo.front.common.partial_infer.utils import int64_array
            from mo.front.extractor import FrontExtractorOp
            from mo.front.onnx.extractors.utils import onnx_attr
            from mo.front.tf.extractors.utils import tf_dtype_extractor
            from {module} import {name}

            class MyExtractor(FrontExtractorOp):
                op = '{kind}'
                enabled = True

                @classmethod
                def extract(cls, node):
                    {name}.update_node_stat(node, {attrs})
                    return cls.enabled
        """
    }


TENSORFLOW = {
    "depthwise": (
        extractor(
            "DepthwiseConv2dNative",
            "mo.ops.convolution.Convolution",
            """{
                        'op': cls.op, 'type': 'Convolution', 'auto_pad': 'same_upper', 'layout': 'NHWC',
                        'stride': int64_array([1, 1, 1, 1]), 'dilation': int64_array([1, 1, 1, 1]),
                        'channel_dims': int64_array([3]), 'batch_dims': int64_array([0]),
                        'kernel_spatial_idx': int64_array([0, 1]), 'input_feature_channel': 2, 'output_feature_channel': 2}""",
        ),
        lambda x: tf.nn.depthwise_conv2d(x, FILTERS, [1, 1, 1, 1], "SAME"),
    ),
    "groups": (
        extractor(
            "Conv2D",
            "mo.ops.convolution.Convolution",
            """{
                        'op': cls.op, 'type': 'Convolution', 'auto_pad': 'valid', 'layout': 'NHWC',
                        'stride': int64_array([1, 1, 1, 1]), 'dilation': int64_array([1, 1, 1, 1]),
                        'channel_dims': int64_array([3]), 'batch_dims': int64_array([0]),
                        'input_feature_channel': 2, 'output_feature_channel': 3}""",
        ),
        lambda x: tf.nn.conv2d(x, FILTERS.transpose(0, 1, 3, 2), 1, "VALID"),
    ),
    "split": (
        extractor("Split", "mo.ops.split.Split", "{'num_splits': node.pb.attr['num_split'].i, 'input_port': 1}"),
        lambda x: tf.raw_ops.Split(axis=3, value=x, num_split=2)[1],
    ),
    "split by sizes": (
        extractor("SplitV", "mo.ops.split.VariadicSplit", "{'out_ports_count': 2, 'swap_axis_and_split_size_inputs': True}"),
        lambda x: tf.raw_ops.SplitV(value=x, size_splits=[1, 3], axis=3, num_split=2)[1],
    ),
    "unpack": (
        extractor("Unpack", "mo.ops.split.AttributedSplit", "{'axis': 3, 'num_splits': 4, 'squeeze_axis': True}"),
        lambda x: tf.raw_ops.Unpack(value=x, num=4, axis=3)[2] + 1,
    ),
    "select": (
        extractor("Select", "extensions.ops.select.Select", "{'format': 'tf'}"),
        lambda x: tf.raw_ops.Select(condition=x[0, :, 0, 0] > 0, x=x[0], y=-x[0]),
    ),
    "resize": (
        extractor(
            "ResizeBilinear",
            "extensions.ops.TFResize.TFResize",
            """{
                        'align_corners': node.pb.attr['align_corners'].b, 'mode': 'linear',
                        'half_pixel_centers': node.pb.attr['half_pixel_centers'].b}""",
        ),
        lambda x: tf.raw_ops.ResizeBilinear(images=x, size=[8, 9], half_pixel_centers=True),
    ),
    "identities": (
        extractor("IdentityN", "extensions.ops.identity.IdentityN", "{'data_types': [np.float32, np.float32]}"),
        lambda x: tf.add(*tf.raw_ops.IdentityN(input=[x, 2 * x])),
    ),
}


@pytest.mark.parametrize("name", TENSORFLOW)
def test_extractors_of_tensorflow(tmp_path, name):
    files, function = TENSORFLOW[name]
    graph, names = tensorflow_conversion.build(function, {"x": IMAGE})
    converted = Converted.of(graph, tmp_path, extensions=[write(tmp_path / "my_extension", files)])
    compare(converted.run({"x": IMAGE}), tensorflow_conversion.expected_results(graph, names, {"x": IMAGE}), rtol=1e-4)


def test_a_loop_of_nodes_that_extractors_described(tmp_path):
    """The passes that raise loops and recognise their counters see the framework's operations."""
    files = extractor("AddV2", "extensions.ops.elementwise.Add", "{'data_type': tf_dtype_extractor(node.pb.attr['T'].type)}")

    def function(x):
        return tf.while_loop(lambda i, _: i < 3, lambda i, s: (i + 1, s + tf.cast(i, tf.float32)), (0, x))[1]

    graph, names = tensorflow_conversion.build(function, {"x": X})
    converted = Converted.of(graph, tmp_path, extensions=[write(tmp_path / "my_extension", files)])
    assert converted.types.count("Loop") == 1
    compare(converted.run({"x": X})[-1:], tensorflow_conversion.expected_results(graph, names, {"x": X}))


def quantized(x: Array) -> Array:
    return np.clip(np.rint(x / np.float32(0.1)), -128, 127).astype(np.float32) * np.float32(0.1)


def test_extractors_of_onnx(tmp_path):
    files = {
        **extractor("DequantizeLinear", "extensions.ops.DequantizeLinear.DequantizeLinear", "{'axis': None}", "onnx"),
        "front/onnx/fill_ext.py": extractor(
            "ConstantOfShape", "mo.ops.constant_of_shape.ConstantOfShape",
            "{'fill_value': onnx_attr(node, 'value', 't', dst_type=lambda t: __import__('onnx').numpy_helper.to_array(t))}", "onnx",
        )["front/onnx/my_ext.py"],
    }  # fmt: skip
    seven = helper.make_tensor("seven", TensorProto.FLOAT, [1], [7.0])
    nodes = [
        node("QuantizeLinear", ["x", "scale", "zero"], ["q"], "quantize"),
        node("DequantizeLinear", ["q", "scale", "zero"], ["d"], "dequantize"),
        node("ConstantOfShape", ["sizes"], ["c"], "fill", value=seven),
        node("Add", ["d", "c"], ["y"], "sum"),
    ]
    constants = {"scale": np.array(0.1, np.float32), "zero": np.array(0, np.int8), "sizes": np.array([3, 4])}
    converted = convert(tmp_path, files, nodes, constants=constants)
    compare(converted.run({"x": X}), [quantized(X) + 7])


def test_an_attribute_that_an_extractor_changed_is_not_lost(tmp_path):
    """What differs from the framework's operation stays a node of Model Optimizer's, which nothing lowers."""
    from moir.errors import ConversionError

    files = extractor("ResizeBilinear", "extensions.ops.TFResize.TFResize", "{'align_corners': True, 'mode': 'linear'}")
    graph, _ = tensorflow_conversion.build(lambda x: tf.raw_ops.ResizeBilinear(images=x, size=[8, 9]), {"x": IMAGE})
    with pytest.raises(ConversionError, match=r"mo\.TFResize"):
        Converted.of(graph, tmp_path, extensions=[write(tmp_path / "my_extension", files)])


def test_the_attribute_value_of_a_constant_without_axes_is_a_number(tmp_path):
    files = extractor("Constant", "mo.ops.const.Const", "{'value': cls.read(node)}", "onnx")
    files["front/onnx/my_ext.py"] += """
                @staticmethod
                def read(node):
                    from onnx import numpy_helper
                    value = onnx_attr(node, 'value', 't', dst_type=numpy_helper.to_array)
                    assert value.shape == (), value
                    return value
    """
    constant = node("Constant", [], ["c"], "c", value=helper.make_tensor("c", TensorProto.FLOAT, [], [2.0]))
    converted = convert(tmp_path, files, [constant, node("Mul", ["x", "c"], ["y"], "product")])
    compare(converted.run({"x": X}), [2 * X])
