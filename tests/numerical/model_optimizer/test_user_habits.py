"""What files of users rely on without saying so: element types of constants, names and attributes of nodes, ports."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import helper

from moir.errors import ConversionError
from tests.numerical.model_optimizer.conversion import Converted, X, convert, write
from tests.numerical.onnx.conversion import build, expected_results, node
from tests.numerical.runtime import compare
from tests.numerical.tensorflow import conversion as tensorflow_conversion

RELU = [node("Relu", ["x"], ["y"], "relu")]


def after_relu(phase: str, lines: str, imports: str = "") -> dict[str, str]:
    """A transformation that runs `lines` with `relu`, a node."""
    base = phase.capitalize()
    module = "front.common" if phase == "front" else phase
    text = f"""
import numpy as np
from mo.{module}.replacement import {base}ReplacementPattern
from mo.front.common.partial_infer.utils import float_array, int64_array
from mo.front.tf.graph_utils import create_op_with_const_inputs
from mo.ops.const import Const
from extensions.ops.elementwise import *
from extensions.ops.activation_ops import *
{imports}

class After({base}ReplacementPattern):
    enabled = True

    def find_and_replace_pattern(self, graph):
        for relu in graph.get_op_nodes(op='ReLU'):
"""
    text += "".join(f"            {line}\n" for line in lines.strip().splitlines())
    return {f"{phase}/after.py": text}


@pytest.mark.parametrize("phase", ["front", "middle", "back"])
@pytest.mark.parametrize("value", ["2.0", "float_array([2.0])", "np.array(2)", "np.float16(2)"])
def test_a_constant_takes_the_element_type_of_what_it_meets(tmp_path, phase, value):
    lines = f"""
made = Mul(graph, {{'name': 'doubled'}}).create_node()
constant = Const(graph, {{'value': {value}}}).create_node()
relu.out_port(0).get_connection().set_source(made.out_port(0))
made.in_port(0).connect(relu.out_port(0))
made.in_port(1).get_connection().set_source(constant.out_port(0))
"""
    converted = convert(tmp_path, after_relu(phase, lines), RELU)
    assert converted.types == ["Multiply", "ReLU"]
    compare(converted.run({"x": X}), [2 * np.maximum(X, 0)])


def test_a_fraction_beside_integers_is_no_integer(tmp_path):
    files = after_relu("front", "made = create_op_with_const_inputs(graph, Mul, {1: 0.5}, {}, relu)\nmade.out_port(0)")
    files["front/after.py"] += "            relu.out_port(0).get_connection().get_destinations()[0].connect(made.out_port(0))\n"
    with pytest.raises(ConversionError, match="f64"):
        convert(tmp_path, files, RELU, {"x": np.ones((2, 3), np.int64)})


def test_floats_beside_no_tensor_are_of_single_precision(tmp_path):
    scales = "create_op_with_const_inputs(graph, Interpolate, {1: int64_array([8, 8]), 2: float_array([2, 2]), 3: int64_array([2, 3])},"
    lines = f"""
made = {scales} dict(mode='nearest', shape_calculation_mode='sizes', coordinate_transformation_mode='asymmetric',
    nearest_mode='floor', antialias=0, pads_begin=[0], pads_end=[0], cube_coeff=-0.75, version='opset4', in_ports_count=4))
relu.out_port(0).get_connection().set_source(made.out_port(0))
made.in_port(0).connect(relu.out_port(0))
"""
    for phase in ("front", "middle"):
        (directory := tmp_path / phase).mkdir()
        files = after_relu(phase, lines, "from extensions.ops.interpolate import Interpolate")
        converted = convert(directory, files, RELU, {"x": IMAGE})
        compare(converted.run({"x": IMAGE}), [POSITIVE.repeat(2, 2).repeat(2, 3)])


UNPOOL = """
from mo.front.extractor import FrontExtractorOp
from mo.ops.op import Op


class {name}(Op):
    op = '{name}'

    def __init__(self, graph, attrs):
        super().__init__(graph, {{'type': self.op, 'op': self.op, 'infer': {name}.infer, 'in_ports_count': 1, 'out_ports_count': 1}}, attrs)

    def supported_attrs(self):
        return ['mode', 'padding_mode', 'align_corners']

    @staticmethod
    def infer(node):
        node.out_port(0).data.set_shape(node.in_port(0).data.get_shape())


class {name}Extractor(FrontExtractorOp):
    op = '{name}'
    enabled = True

    @classmethod
    def extract(cls, node):
        {name}.update_node_stat(node, {{'mode': 'bilinear'}})
        return cls.enabled
"""


@pytest.mark.parametrize("kind", ["GridSample", "Multinomial", "RMSNorm"])
def test_an_own_operation_without_version_is_an_extension(tmp_path, kind):
    custom = helper.make_node(kind, ["x"], ["y"], "mine")
    converted = convert(tmp_path, {"front/onnx/mine.py": UNPOOL.format(name=kind)}, [custom])
    assert converted.layer(kind).get("version") == "extension"
    assert converted.attributes(kind) == {"mode": "bilinear"}


def test_names_and_attributes_of_the_front_phase(tmp_path):
    lines = """
found = {node.name: node for node in graph.get_op_nodes()}
pool, clip, root, pad = (found[name] for name in ('pool', 'clip', 'root', 'pad'))
assert [node.op for node in (pool, clip, root, pad)] == ['MaxPool', 'AttributedClamp', 'AttributedPower', 'AttributedPad']
assert pool.window.tolist() == [1, 1, 2, 3] and pool.stride.tolist() == [1, 1, 2, 1] and pool.pool_method == 'max'
assert pool.pad.tolist() == [[0, 0], [0, 0], [1, 0], [0, 1]] and pool.spatial_dims.tolist() == [2, 3] and not pool.global_pool
assert (clip.min, clip.max) == (-1.0, 1.0) and root.power == 0.5 and pad.mode == 'reflect' and pad.pads.tolist()[2] == [1, 0]
assert graph.get_op_nodes(op='Pooling', pool_method='max') == [pool] == graph.get_op_nodes(op='MaxPool')
assert graph.get_op_nodes(op='AttributedPower') == graph.get_op_nodes(op='Sqrt') == [root]
power, = graph.get_op_nodes(op='Pow')
assert power == root and power.in_port(1).get_source().node.value == 0.5
mean, = graph.get_op_nodes(op='ReduceMean')
assert mean.axis.tolist() == [2, 3] and mean.in_port(1).disconnected()
assert mean.in_port(1).get_source().node.value.tolist() == [2, 3]
slices = graph.get_op_nodes(op='AttributedSlice')
assert [node.starts.tolist() for node in slices] == [[1]] and len(graph.get_op_nodes(op='Slice')[0].in_nodes()) == 5
mean['name'] = 'seen'
"""
    x = np.random.default_rng(0).normal(size=(1, 4, 6, 6)).astype(np.float32)
    nodes = [
        node("MaxPool", ["x"], ["p"], "pool", kernel_shape=[2, 3], strides=[2, 1], pads=[1, 0, 0, 1]),
        node("Clip", ["p"], ["c"], "clip", min=-1.0, max=1.0),
        node("Relu", ["c"], ["r"], "relu"),
        node("Sqrt", ["r"], ["s"], "root"),
        node("Slice", ["s"], ["l"], "slice", axes=[1], starts=[1], ends=[4]),
        node("Pad", ["l"], ["d"], "pad", mode="reflect", pads=[0, 0, 1, 0, 0, 0, 0, 1]),
        node("ReduceMean", ["d"], ["y"], "mean", axes=[2, 3], keepdims=0),
    ]
    extension = write(tmp_path / "my_extension", after_relu("front", lines))
    model = build(nodes, {"x": x}, opset=9)
    plain = Converted.of(model, tmp_path)
    converted = Converted.of(model, tmp_path, extensions=[extension])
    assert converted.names("ReduceMean") == ["seen"]
    compare(converted.run({"x": x}), plain.run({"x": x}))


def test_an_own_operation_without_extractor(tmp_path):
    """The class wins over moir's own lowering of the kind, since it says that the operation is its own."""
    text = UNPOOL.format(name="GridSample").partition("class GridSampleExtractor")[0]
    custom = helper.make_node("GridSample", ["x", "grid"], ["y"], "mine")
    inputs = {"x": X[:, None], "grid": np.zeros((2, 3, 3, 2), np.float32)}
    converted = convert(tmp_path, {"ops/grid_sample.py": text}, [custom], inputs)
    assert converted.layer("GridSample").get("version") == "extension"


def test_attributes_of_windows_can_be_set(tmp_path):
    lines = """
for pool in graph.get_op_nodes(op='Pooling'):
    pool['stride'] = int64_array([1, 1, 1, 1])
    pool.window = int64_array([1, 1, 3, 1])
"""
    x = np.random.default_rng(0).normal(size=(1, 2, 6, 6)).astype(np.float32)
    nodes = [*RELU, node("MaxPool", ["y"], ["p"], "pool", kernel_shape=[2, 2], strides=[2, 2])]
    converted = convert(tmp_path, after_relu("front", lines), nodes, {"x": x})
    expected = np.maximum(np.lib.stride_tricks.sliding_window_view(x, 3, 2).max(-1), 0)
    compare(converted.run({"x": x}), [expected])


def test_another_op_does_not_change_what_a_node_is(tmp_path):
    lines = """
relu['op'] = 'Rectifier'
assert graph.get_op_nodes(op='Rectifier') == [relu]
split = Split(graph, {'op': 'MySplit', 'num_splits': 3}).create_node()
assert list(split.out_ports()) == [0, 1, 2]
"""
    converted = convert(tmp_path, after_relu("front", lines, "from mo.ops.split import Split"), RELU)
    assert converted.types == ["ReLU"]


def test_the_order_of_a_transpose_may_become_an_input(tmp_path):
    files = {
        "front/order.py": """
            from mo.front.common.partial_infer.utils import int64_array
            from mo.front.common.replacement import FrontReplacementPattern
            from mo.ops.const import Const

            class OtherOrder(FrontReplacementPattern):
                enabled = True

                def find_and_replace_pattern(self, graph):
                    for node in graph.get_op_nodes(op='Transpose'):
                        order = Const(graph, {'value': int64_array([2, 0, 1])}).create_node()
                        node.add_input_port(1, skip_if_exist=True)
                        node.in_port(1).connect(order.out_port(0))
            """
    }
    converted = convert(tmp_path, files, [node("Transpose", ["x"], ["y"], "t", perm=[1, 0, 2])])
    compare(converted.run({"x": X}), [X.transpose(2, 0, 1)])


def test_an_input_that_an_operation_does_not_take_is_an_error(tmp_path):
    lines = """
constant = Const(graph, {'value': int64_array([1])}).create_node()
relu.add_input_port(1)
relu.in_port(1).connect(constant.out_port(0))
"""
    with pytest.raises(ConversionError, match=r"relu.*input port 1 is connected"):
        convert(tmp_path, after_relu("front", lines), RELU)


def test_eltwise_aligned_at_an_axis(tmp_path):
    lines = """
scaled = Eltwise(graph, {'operation': 'mul', 'axis': 1}).create_node()
relu.out_port(0).get_connection().set_source(scaled.out_port(0))
scaled.in_port(0).connect(relu.out_port(0))
scaled.in_port(1).connect(Const(graph, {'value': np.array([1.0, 2.0, 3.0])}).create_node().out_port(0))
"""
    converted = convert(tmp_path, after_relu("middle", lines, "from mo.ops.eltwise import Eltwise"), RELU)
    compare(converted.run({"x": X}), [np.maximum(X, 0) * np.float32([[1], [2], [3]])])


IMAGE = np.random.default_rng(1).normal(size=(1, 3, 4, 4)).astype(np.float32)
POSITIVE = np.maximum(IMAGE, 0)
MADE = {
    "Interpolate with axes": (
        "from extensions.ops.interpolate import Interpolate",
        "create_op_with_const_inputs(graph, Interpolate, {1: int64_array([8, 8])}, dict(axes=int64_array([2, 3]), mode='nearest'))",
        POSITIVE.repeat(2, 2).repeat(2, 3),
    ),
    "TopK of a list": (
        "from extensions.ops.topk import TopK",
        "create_op_with_const_inputs(graph, TopK, {1: int64_array([2])}, dict(axis=2, mode='max', sort='value'))",
        -np.sort(-POSITIVE, axis=2)[:, :, :2],
    ),
    "Split": (
        "from openvino.tools.mo.ops.split import Split",
        "create_op_with_const_inputs(graph, Split, {1: int64_array(2)}, {'num_splits': 4})",
        POSITIVE[:, :, :1],
    ),
    "ArgMax": (
        "from extensions.ops.argmax import ArgMaxOp",
        "create_op_with_const_inputs(graph, ArgMaxOp, {1: np.int64(2)}, dict(keepdims=0, output_type=np.int64, top_k=1, out_max_val=0))",
        POSITIVE.argmax(2),
    ),
    "reduction without axes": (
        "from extensions.ops.ReduceOps import ReduceMean",
        "ReduceMean(graph, dict(keep_dims=True)).create_node()",
        POSITIVE.mean(keepdims=True),
    ),
    "FullyConnected": (
        "from extensions.ops.MatMul import FullyConnected",
        "create_op_with_const_inputs(graph, FullyConnected, {1: np.ones((2, 4)), 2: np.ones(2)}, {'out-size': 2})",
        POSITIVE @ np.ones((4, 2), np.float32) + np.float32(1),
    ),
}


SCALE, SHIFT, MEAN, VARIANCE = np.float32([[1.5, 0.5, 2], [1, 2, 3], [0.1, 0.2, 0.3], [0.5, 1, 2]])
KERNEL = np.random.default_rng(2).normal(size=(3, 2, 3, 3)).astype(np.float32)
MADE |= {
    "Pad without mode": (
        "from mo.ops.pad import Pad",
        "create_op_with_const_inputs(graph, Pad, {1: int64_array([0, 0, 1, 0]), 2: int64_array([0, 0, 0, 2]), 3: np.float32(0)})",
        np.pad(POSITIVE, [(0, 0), (0, 0), (1, 0), (0, 2)]),
    ),
    "Interpolate to height and width": (
        "from extensions.ops.interpolate import Interpolate",
        "Interpolate(graph, dict(version='opset1', height=8, width=12, axes=[2, 3], mode='nearest', align_corners=0)).create_node()",
        POSITIVE.repeat(2, 2).repeat(3, 3),
    ),
    "adaptive pooling": (
        "from extensions.ops.adaptive_avg_pooling import AdaptiveAvgPooling",
        "AdaptiveAvgPooling(graph, dict(output_size=[2, 1])).create_node()",
        POSITIVE.reshape(1, 3, 2, 2, 4).mean((3, 4))[..., None],
    ),
    "adaptive pooling to no divisor": (
        "from extensions.ops.adaptive_avg_pooling import AdaptiveAvgPooling",
        "AdaptiveAvgPooling(graph, dict(output_size=[3, 4])).create_node()",
        np.stack([POSITIVE[:, :, 0:2].mean(2), POSITIVE[:, :, 1:3].mean(2), POSITIVE[:, :, 2:4].mean(2)], 2),
    ),
}


@pytest.mark.parametrize(("imports", "made", "expected"), MADE.values(), ids=MADE)
def test_ports_and_defaults_of_operations(tmp_path, imports, made, expected):
    lines = f"""
made = {made}
relu.out_port(0).get_connection().set_source(made.out_port(0))
made.in_port(0).connect(relu.out_port(0))
"""
    converted = convert(tmp_path, after_relu("middle", lines, imports), RELU, {"x": IMAGE})
    compare(converted.run({"x": IMAGE}), [expected])


OWN_FORMS = {
    "front/onnx/forms.py": """
        import numpy as np
        from openvino.tools.mo.front.extractor import FrontExtractorOp
        from openvino.tools.mo.ops.convolution import Convolution
        from openvino.tools.mo.ops.op import Op

        class MyBatchNorm(Op):
            op = 'BatchNorm'

            def __init__(self, graph, attrs):
                super().__init__(graph, {'type': self.op, 'op': self.op, 'in_ports_count': 5, 'infer': MyBatchNorm.infer}, attrs)

            @staticmethod
            def infer(node):
                node.out_port(0).data.set_shape(node.in_port(0).data.get_shape())

        class Normalizing(FrontExtractorOp):
            op = 'Normalizing'
            enabled = True

            @classmethod
            def extract(cls, node):
                MyBatchNorm.update_node_stat(node, {'eps': 1e-3})
                return cls.enabled

        class Unconvolving(FrontExtractorOp):
            op = 'Unconvolving'
            enabled = True

            @classmethod
            def extract(cls, node):
                Convolution.update_node_stat(node, {
                    'type': 'Deconvolution', 'pad': np.array([[0, 0], [0, 0], [1, 1], [1, 1]]), 'stride': np.array([1, 1, 2, 2]),
                    'dilation': np.array([1, 1, 1, 1]), 'group': 1, 'kernel_spatial': np.array([3, 3]), 'output': 2, 'layout': 'NCHW',
                    'channel_dims': np.array([1]), 'batch_dims': np.array([0]), 'in_ports_count': 2,
                })
                return cls.enabled
    """,
}


def test_forms_that_model_optimizer_knew_by_their_op_or_type(tmp_path):
    constants = {"scale": SCALE, "shift": SHIFT, "mean": MEAN, "variance": VARIANCE, "kernel": KERNEL}
    nodes = [
        node("Normalizing", ["x", "scale", "shift", "mean", "variance"], ["n"], "n"),
        node("Unconvolving", ["n", "kernel"], ["y"], "y"),
    ]
    converted = convert(tmp_path, OWN_FORMS, nodes, {"x": IMAGE}, constants=constants)
    assert converted.all("ConvolutionBackpropData")
    assert "BatchNorm" not in converted.types
    equal = [
        node("BatchNormalization", ["x", "scale", "shift", "mean", "variance"], ["n"], "n", epsilon=1e-3),
        node("ConvTranspose", ["n", "kernel"], ["y"], "y", strides=[2, 2], pads=[1, 1, 1, 1]),
    ]
    compare(converted.run({"x": IMAGE}), expected_results(build(equal, {"x": IMAGE}, constants=constants), {"x": IMAGE}, "onnxruntime"))


def test_a_pooling_whose_indices_nothing_takes_has_one_output(tmp_path):
    lines = """
pool, = graph.get_op_nodes(op='Pooling')
assert list(pool.out_ports()) == [0] and pool.out_node().kind == 'data'
"""
    nodes = [node("MaxPool", ["x"], ["p"], "pool", kernel_shape=[4, 4]), node("Relu", ["p"], ["y"], "relu")]
    converted = convert(tmp_path, after_relu("middle", lines), nodes, {"x": IMAGE})
    compare(converted.run({"x": IMAGE}), [POSITIVE.max((2, 3), keepdims=True)])


def test_names_that_numpy_removed(tmp_path):
    lines = "relu['name'] = str(np.int(3.7)) + np.float(1).hex() + str(np.product([2, 3]))\nassert np.object is object"
    assert convert(tmp_path, after_relu("front", lines), RELU).names("ReLU") == ["30x1.0000000000000p+06"]
    assert "product" not in vars(np)


def test_missing_names_are_listed_at_once(tmp_path):
    imports = "from mo.ops.op import Op, Opp\nfrom mo.utils.utils import nothing_here\nfrom mo.elsewhere import thing"
    with pytest.raises(ConversionError, match=r"lacks 3 names.*line \d+: mo\.ops\.op\.Opp; .*nothing_here; .*mo\.elsewhere\.thing"):
        convert(tmp_path, after_relu("front", "pass", imports), RELU)


def test_a_pattern_for_another_form_says_so(tmp_path, caplog):
    files = {
        "front/pattern.py": """
            from mo.front.common.replacement import FrontReplacementSubgraph

            class ClampToRelu(FrontReplacementSubgraph):
                enabled = True

                def pattern(self):
                    return dict(nodes=[('clamp', dict(op='AttributedClamp'))], edges=[])

                def replace_sub_graph(self, graph, match):
                    raise AssertionError
            """
    }
    convert(tmp_path, files, [node("Clip", ["x", "low"], ["y"], "c")], constants={"low": np.float32(0)})
    assert "ClampToRelu matches nothing: no node has op 'AttributedClamp'; nearest Clamp" in caplog.text
    caplog.clear()
    convert(tmp_path / "other", files, [node("Celu", ["x"], ["y"], "c")])
    assert "ClampToRelu" not in caplog.text


GENERATED = {
    "ops/Cells.py": """
        import numpy as np
        from mo.front.common.partial_infer.elemental import copy_shape_infer
        from mo.graph.graph import Node
        from mo.ops.op import Op

        class Cells(Op):
            op = 'Cells'

            def __init__(self, graph, attrs):
                mandatory_props = dict(type=__class__.op, op=__class__.op, infer=Cells.infer)
                super().__init__(graph, mandatory_props, attrs)

            def supported_attrs(self):
                return ['scale', 'labels']

            @staticmethod
            def infer(node: Node):
                return copy_shape_infer(node)
        """,
    "front/tf/Cells_ext.py": """
        import numpy as np
        from mo.front.extractor import FrontExtractorOp
        from mo.front.tf.extractors.utils import *
        from mo.ops.op import Op

        class CellsFrontExtractor(FrontExtractorOp):
            op = 'LeakyRelu'
            enabled = True

            @staticmethod
            def extract(node):
                proto_layer = node.pb
                param = proto_layer.attr
                attrs = collect_tf_attrs(param)
                Op.get_op_class_by_name('Cells').update_node_stat(node, {'scale': attrs['alpha'], 'labels': attrs['T'].__name__})
                return __class__.enabled
        """,
}


def test_files_of_the_generator_of_2018(tmp_path):
    import tensorflow as tf

    graph, _ = tensorflow_conversion.build(lambda x: tf.nn.leaky_relu(x, 0.25), {"x": X})
    converted = Converted.of(graph, tmp_path, extensions=[write(tmp_path / "my_extension", GENERATED)])
    assert converted.layer("Cells").get("version") == "extension"
    assert converted.attributes("Cells") == {"scale": "0.25", "labels": "float32"}


def test_a_slice_has_its_axes_before_its_steps_in_the_middle_phase(tmp_path):
    """Found by its type it is that of the operation set, which has the steps first."""
    lines = """
opset_slice, = graph.get_op_nodes(type='Slice')
assert opset_slice.in_port(3).data.get_value().tolist() == [2]
found, = graph.get_op_nodes(op='Slice')
assert found.in_port(3).data.get_value().tolist() == [1] and found.in_port(4).data.get_value().tolist() == [2]
starts = Const(graph, {'value': int64_array([1]), 'name': 'starts'}).create_node()
found.in_port(1).get_connection().set_source(starts.out_port(0))
"""
    x = np.random.default_rng(0).normal(size=(2, 5)).astype(np.float32)
    bounds = {name: np.array([value]) for name, value in (("begin", 0), ("end", 5), ("axis", 1), ("step", 2))}
    nodes = [*RELU, node("Slice", ["y", *bounds], ["z"])]
    converted = convert(tmp_path, after_relu("middle", lines), nodes, {"x": x}, constants=bounds)
    compare(converted.run({"x": x}), [np.maximum(x, 0)[:, 1::2]])


def test_nodes_of_operation_sets_are_inferred_by_their_attribute(tmp_path):
    lines = """
source = relu.in_port(0).get_source()
add = Add(graph, {'name': 'sum'}).create_node()
source.connect(add.in_port(0))
source.connect(add.in_port(1))
relu.in_port(0).get_connection().set_source(add.out_port(0))
assert relu.has_valid('infer') and 'infer' not in list(relu.attrs())
add.infer(add)
relu.infer(relu)
sizes = [port.data.get_shape().tolist() for port in (relu.out_port(0), relu.in_port(0))]
assert sizes == [[2, 3, 4]] * 2
"""
    converted = convert(tmp_path, after_relu("middle", lines), RELU, {"x": X})
    compare(converted.run({"x": X}), [np.maximum(2 * X, 0)])
