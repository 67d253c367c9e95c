"""Extractors that describe known kinds as Model Optimizer's own extractors did, without its later transformations."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf
from onnx import TensorProto, helper

from moir.errors import ConversionError
from tests.numerical.model_optimizer.conversion import Converted, X, convert, write
from tests.numerical.onnx.conversion import build, node
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
    "regions until 2018": (
        extractor("Max", "mo.ops.reduce.Reduce", "{'reduce_type': 'max', 'keep_dims': node.pb.attr['keep_dims'].b}"),
        lambda x: tf.raw_ops.Max(input=x, axis=[1, 2], keep_dims=True),
    ),
    "sizes until 2018": (
        extractor(
            "ResizeNearestNeighbor",
            "extensions.ops.resample.ResampleOp",
            """{
                        'resample_type': 'caffe.ResampleParameter.NEAREST', 'antialias': 0}""",
        ),
        lambda x: tf.raw_ops.ResizeNearestNeighbor(images=x, size=[12, 10]),
    ),
    "linear sizes until 2018": (
        extractor(
            "ResizeBilinear",
            "extensions.ops.interp.InterpOp",
            """{
                        'pad_beg': 0, 'pad_end': 0, 'align_corners': int(node.pb.attr['align_corners'].b)}""",
        ),
        lambda x: tf.raw_ops.ResizeBilinear(images=x, size=[8, 9], align_corners=True),
    ),
    "activations until 2018": (
        extractor("Sigmoid", "mo.ops.activation.Activation", "{'operation': 'sigmoid'}"),
        lambda x: tf.raw_ops.Sigmoid(x=x),
    ),
    "pads until 2019": (
        extractor("MirrorPad", "mo.ops.pad.Pad", "{'mode': node.pb.attr['mode'].s.decode('utf-8').lower()}"),
        lambda x: tf.raw_ops.MirrorPad(input=x, paddings=[[0, 0], [1, 2], [2, 1], [0, 0]], mode="REFLECT"),
    ),
    "shapes until 2020, without a type": (
        extractor("Shape", "mo.ops.shape.Shape", "{'stop_value_propagation': True}"),
        lambda x: tf.concat([tf.shape(x)[:1], [120]], 0),
    ),
    "identities": (
        extractor("IdentityN", "extensions.ops.identity.IdentityN", "{'data_types': [np.float32, np.float32]}"),
        lambda x: tf.add(*tf.raw_ops.IdentityN(input=[x, 2 * x])),
    ),
    "identities of which one is taken": (
        extractor(
            "IdentityN",
            "extensions.ops.identity.IdentityN",
            """{
                        'data_types': [np.float32, np.float32], 'in_ports_count': 2, 'out_ports_count': 2}""",
        ),
        lambda x: tf.raw_ops.IdentityN(input=[x, 2 * x])[0] + 1,
    ),
}


@pytest.mark.parametrize("name", TENSORFLOW)
def test_extractors_of_tensorflow(tmp_path, name):
    files, function = TENSORFLOW[name]
    graph, names = tensorflow_conversion.build(function, {"x": IMAGE})
    converted = Converted.of(graph, tmp_path, extensions=[write(tmp_path / "my_extension", files)])
    compare(converted.run({"x": IMAGE}), tensorflow_conversion.expected_results(graph, names, {"x": IMAGE}), rtol=1e-4)


def test_a_node_that_a_replacement_keeps(tmp_path):
    """CropAndResize whose boxes get the form of ROIPooling: `nodes_to_remove` says that the node stays."""
    files = extractor("CropAndResize", "mo.ops.roipooling.ROIPooling", "{'spatial_scale': 1, 'op': cls.op, 'method': 'bilinear'}")
    files["front/tf/boxes.py"] = """
        from mo.front.common.partial_infer.utils import int64_array
        from mo.front.common.replacement import FrontReplacementOp
        from mo.front.tf.graph_utils import create_op_node_with_second_input, create_op_with_const_inputs
        from extensions.ops.gather import Gather
        from mo.ops.concat import Concat
        from mo.ops.unsqueeze import Unsqueeze

        class Boxes(FrontReplacementOp):
            op = 'CropAndResize'
            enabled = True

            def nodes_to_remove(self, graph, match):
                return []

            def replace_op(self, graph, node):
                numbers = create_op_node_with_second_input(graph, Unsqueeze, int64_array([1]), {}, node.in_node(2))
                order = create_op_with_const_inputs(graph, Gather, {1: int64_array([1, 0, 3, 2]), 2: int64_array(1)}, {}, node.in_node(1))
                graph.remove_edge(node.in_node(1).id, node.id)
                # Numbers of images are integers beside coordinates, which are none.
                joined = Concat(graph, {'axis': 1, 'in_ports_count': 2}).create_node([numbers, order])
                graph.create_edge(joined, node, 0, 1)
                return []
    """
    boxes = np.array([[0.1, 0.2, 0.7, 0.9], [0, 0, 1, 0.5]], np.float32)
    graph, names = tensorflow_conversion.build(
        lambda x: tf.raw_ops.CropAndResize(image=x, boxes=boxes, box_ind=[0, 0], crop_size=[3, 2]) + 1, {"x": IMAGE}
    )
    converted = Converted.of(graph, tmp_path, extensions=[write(tmp_path / "my_extension", files)])
    compare(converted.run({"x": IMAGE}), tensorflow_conversion.expected_results(graph, names, {"x": IMAGE}))


def test_a_product_that_an_extractor_of_2019_describes(tmp_path):
    files = {
        "front/onnx/matmul_ext.py": """
            from mo.front.common.partial_infer.inner_product import onnx_matmul_infer
            from mo.front.extractor import FrontExtractorOp
            from mo.ops.inner_product import InnerProduct

            class MatMulExtractor(FrontExtractorOp):
                op = 'MatMul'
                enabled = True

                @staticmethod
                def extract(node):
                    InnerProduct.update_node_stat(node, attrs={'op': 'MatMul', 'infer': onnx_matmul_infer, 'type': None})
                    return InnerProduct.enabled
        """
    }
    weights = np.arange(12, dtype=np.float32).reshape(4, 3)
    converted = convert(tmp_path, files, [node("MatMul", ["x", "w"], ["y"], "product")], constants={"w": weights})
    compare(converted.run({"x": X}), [X @ weights])


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
        "front/onnx/quantize_ext.py": extractor(
            "QuantizeLinear", "extensions.ops.quantize_linear.QuantizeLinear", "{'axis': onnx_attr(node, 'axis', 'i', default=1)}", "onnx"
        )["front/onnx/my_ext.py"],
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


@pytest.mark.parametrize(("kind", "described"), [("ReLU", "mo.ops.activation_ops.ReLU"), ("Tanh", "mo.ops.activation_ops.Tanh")])
def test_a_custom_operation_called_as_one_of_model_optimizer(tmp_path, kind, described):
    """There is nothing of the framework to restore: the extractor alone says what the node is."""
    custom = node(kind, ["x"], ["y"], "custom", domain="acme")
    model = build([custom], {"x": X})
    converted = Converted.of(model, tmp_path, extensions=[write(tmp_path / "my_extension", extractor(kind, described, "{}", "onnx"))])
    assert converted.types == [kind]
    assert converted.names(kind) == ["custom"]


OPERATION = """
    from mo.front.common.partial_infer.elemental import copy_shape_infer
    from mo.ops.op import Op

    class Foo(Op):
        op = 'Foo'
        enabled = {enabled}

        def __init__(self, graph, attrs):
            super().__init__(graph, {{'type': self.op, 'op': self.op, 'infer': copy_shape_infer,
                                     'in_ports_count': 1, 'out_ports_count': 1}}, attrs)
    """


def test_an_operation_that_is_not_enabled_is_no_extractor(tmp_path):
    custom = node("Foo", ["x"], ["y"], "custom", domain="acme")
    model = build([custom], {"x": X})
    extensions = {enabled: write(tmp_path / str(enabled), {"ops/foo.py": OPERATION.format(enabled=enabled)}) for enabled in (True, False)}
    assert Converted.of(model, tmp_path, extensions=[extensions[True]]).types == ["Foo"]
    with pytest.raises(ConversionError, match=r"no lowering for 1 kind of operation: onnx\.acme\.Foo"):
        Converted.of(model, tmp_path, extensions=[extensions[False]])
