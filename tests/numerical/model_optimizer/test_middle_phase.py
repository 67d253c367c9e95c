"""The middle phase of channel-last models: operations that say their layout are as in the framework until it changes."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tests.numerical.model_optimizer.conversion import Converted, write
from tests.numerical.runtime import Array, compare
from tests.numerical.tensorflow import conversion as tensorflow_conversion

RNG = np.random.default_rng(5)


def numbers(*shape: int) -> Array:
    return RNG.normal(size=shape).astype(np.float32)


IMAGE, VOLUME = numbers(1, 8, 6, 3), numbers(1, 4, 6, 8, 3)
FILTERS, DEPTHWISE, CUBES = numbers(3, 3, 3, 4), numbers(3, 3, 3, 2), numbers(2, 3, 3, 3, 4)
STATISTICS = [np.abs(numbers(4)) for _ in range(4)]


def convolutional(x: Any) -> Any:
    x = tf.nn.bias_add(tf.nn.conv2d(x, FILTERS, 2, "SAME", name="conv"), numbers(4))
    x = tf.nn.relu(tf.compat.v1.nn.fused_batch_norm(x, *STATISTICS, is_training=False)[0], name="relu")
    return tf.nn.space_to_depth(tf.nn.max_pool2d(x, 2, 1, "VALID", name="pool")[:, :2], 2, name="blocks")


def depthwise(x: Any) -> Any:
    return tf.nn.relu(tf.nn.depthwise_conv2d(x, DEPTHWISE, [1, 1, 1, 1], "SAME", name="conv"), name="relu")


def transposed(x: Any) -> Any:
    return tf.nn.relu(tf.nn.conv2d_transpose(x, numbers(3, 3, 5, 3), [1, 16, 12, 5], 2, "SAME", name="conv"), name="relu")


def volumetric(x: Any) -> Any:
    x = tf.nn.relu(tf.nn.conv3d(x, CUBES, [1, 1, 1, 1, 1], "SAME", name="conv"), name="relu")
    return tf.nn.avg_pool3d(x, 2, 2, "VALID", name="pool")


def looped(x: Any) -> Any:
    x = tf.nn.conv2d(x, FILTERS, 1, "SAME", name="conv")
    return tf.while_loop(lambda i, _: i < 2, lambda i, y: (i + 1, tf.nn.max_pool2d(y, 2, 1, "SAME")), (tf.constant(0), x))[1]


NETWORKS = {
    "convolutional": (convolutional, IMAGE),
    "depthwise": (depthwise, IMAGE),
    "transposed": (transposed, IMAGE),
    "5-D": (volumetric, VOLUME),
    "loop": (looped, IMAGE),
    "resized": (lambda x: resized(x), IMAGE),
}

PROBE = """
    import json
    from openvino.tools.mo.{phase}.replacement import {base}

    class Probe({base}):
        enabled = True

        def find_and_replace_pattern(self, graph):
            found = []
            for node in graph.get_op_nodes():
                shapes = [[int(size) for size in port.data.get_shape()] for port in node.in_ports().values() if not port.disconnected()]
                found.append([node.soft_get("name"), node.op, node.soft_get("type"), shapes])
            json.dump([graph.graph["layout"], found], open({path!r}, "w"))
    """

PATTERN = """
    from openvino.tools.mo.middle.replacement import MiddleReplacementPattern

    class CountMatches(MiddleReplacementPattern):
        enabled = True

        def pattern(self):
            return dict(
                nodes=[("conv", dict(kind="op", type="Convolution")), ("data", dict(kind="data")), ("relu", dict(kind="op", op="ReLU"))],
                edges=[("conv", "data"), ("data", "relu")],
            )

        def replace_pattern(self, graph, match):
            match["relu"].name = "matched"
    """

SCALE = """
    import numpy as np
    from openvino.tools.mo.middle.replacement import MiddleReplacementPattern

    class ScaleOutputChannels(MiddleReplacementPattern):
        enabled = True

        def find_and_replace_pattern(self, graph):
            for node in graph.get_op_nodes(type="Convolution"):
                weights = node.in_port(1).data.get_value()
                scales = np.arange(1, weights.shape[-1] + 1, dtype=np.float32)
                node.in_port(1).data.set_value(weights * scales)
    """


def probed(tmp_path: Any, function: Any, data: Array, phase: str = "middle") -> tuple[str, dict[str, list[Any]]]:
    """The layout that a transformation sees in the graph, and of each node `op`, `type` and the shapes of its inputs."""
    base = {"middle": "MiddleReplacementPattern", "back": "BackReplacementPattern"}[phase]
    path = tmp_path / "probe.json"
    extension = write(tmp_path / "ext", {f"{phase}/probe.py": PROBE.format(phase=phase, base=base, path=str(path))})
    graph, _ = tensorflow_conversion.build(function, {"x": data})
    Converted.of(graph, tmp_path, extensions=[extension])
    layout, nodes = json.loads(path.read_text())
    return layout, {name: rest for name, *rest in nodes}


def test_a_convolution_has_the_layout_of_the_framework(tmp_path):
    layout, nodes = probed(tmp_path, convolutional, IMAGE)
    assert layout == "NHWC"
    assert nodes["conv"] == ["Conv2D", "Convolution", [[1, 8, 6, 3], [3, 3, 3, 4]]]
    assert nodes["relu"] == ["ReLU", "ReLU", [[1, 4, 3, 4]]]
    assert nodes["pool"][0] == "MaxPool"
    assert nodes["pool"][2] == [[1, 4, 3, 4]]
    assert nodes["blocks"] == ["SpaceToDepth", "SpaceToDepth", [[1, 2, 2, 4]]]
    assert not any(op == "Transpose" for op, _, _ in nodes.values())


@pytest.mark.parametrize(
    ("function", "data", "op", "shapes"),
    [
        (depthwise, IMAGE, "DepthwiseConv2dNative", [[1, 8, 6, 3], [3, 3, 3, 2]]),
        (volumetric, VOLUME, "Conv3D", [[1, 4, 6, 8, 3], [2, 3, 3, 3, 4]]),
    ],
)
def test_depthwise_and_5d_convolutions(tmp_path, function, data, op, shapes):
    _, nodes = probed(tmp_path, function, data)
    convolution = nodes.get("conv") or nodes["conv/depthwise"]
    assert convolution == [op, "Convolution", shapes]
    assert not any(each == "Transpose" for each, _, _ in nodes.values())


@pytest.mark.parametrize(
    ("function", "op", "types"),
    [
        (convolutional, "Conv2D", ("Convolution",)),
        (depthwise, "DepthwiseConv2dNative", ("Convolution", "GroupConvolution")),
        (lambda x: tf.nn.conv2d(x, FILTERS, 1, "SAME", name="conv"), "Conv2D", ("Convolution",)),
    ],
)
def test_the_back_phase_has_channels_first(tmp_path, function, op, types):
    layout, nodes = probed(tmp_path, function, IMAGE, "back")
    (convolution,) = [each for name, each in nodes.items() if name.rpartition("/")[2] in ("conv", "depthwise")]
    assert layout == "NCHW"
    assert convolution[0] == op
    assert convolution[1] in types
    assert convolution[2][0] == [1, 3, 8, 6]


def resized(x: Any) -> Any:
    x = tf.nn.relu(tf.nn.conv2d(x, FILTERS, 1, "SAME", name="conv"))
    x = tf.compat.v1.image.resize_bilinear(x, [16, 12], name="resize")
    x = tf.image.extract_patches(x, [1, 2, 2, 1], [1, 2, 2, 1], [1, 1, 1, 1], "SAME", name="patches")
    x = tf.image.crop_and_resize(x, [[0.0, 0.0, 1.0, 1.0]], [0], [4, 4], name="crop")
    return tf.nn.local_response_normalization(tf.nn.max_pool_with_argmax(x, 2, 2, "SAME")[0])


def test_operations_on_images_have_no_transpositions_between_them(tmp_path):
    _, nodes = probed(tmp_path, resized, IMAGE)
    assert not any(op == "Transpose" for op, _, _ in nodes.values())
    assert nodes["resize"][2][0] == [1, 8, 6, 4]
    assert nodes["patches"] == ["ExtractImagePatches", "ExtractImagePatches", [[1, 16, 12, 4]]]
    assert nodes["crop"][2][0] == [1, 8, 6, 16]


ATTRIBUTES = """
    import json
    from openvino.tools.mo.{phase}.replacement import {base}

    class Probe({base}):
        def find_and_replace_pattern(self, graph):
            (node,) = graph.get_op_nodes(op={op!r})
            names = {names!r}
            found = {{name: getattr(node[name], "tolist", lambda: node[name])() for name in names if node.has_valid(name)}}
            json.dump(found, open({path!r}, "w"))
    """


def attributes(tmp_path: Any, function: Any, data: Array, op: str, names: list[str], phase: str = "middle") -> dict[str, Any]:
    """What a transformation sees of the only node of an `op`."""
    base = {"middle": "MiddleReplacementPattern", "back": "BackReplacementPattern"}[phase]
    path = tmp_path / "probe.json"
    text = ATTRIBUTES.format(phase=phase, base=base, op=op, names=names, path=str(path))
    graph, _ = tensorflow_conversion.build(function, {"x": data})
    Converted.of(graph, tmp_path, extensions=[write(tmp_path / "ext", {f"{phase}/probe.py": text})])
    return json.loads(path.read_text())


def test_pads_of_same_follow_from_sizes(tmp_path):
    names = ["pad", "pad_spatial_shape", "auto_pad", "stride", "dilation", "kernel_spatial", "output_spatial_shape", "output", "group"]
    actual = attributes(tmp_path, convolutional, IMAGE, "Conv2D", [*names, "kernel_spatial_idx", "input_feature_channel"])
    assert actual == {
        "pad": [[0, 0], [0, 1], [0, 1], [0, 0]],
        "pad_spatial_shape": [[0, 1], [0, 1]],
        "auto_pad": "same_upper",
        "stride": [1, 2, 2, 1],
        "dilation": [1, 1, 1, 1],
        "kernel_spatial": [3, 3],
        "output_spatial_shape": [4, 3],
        "output": 4,
        "group": 1,
        "kernel_spatial_idx": [0, 1],
        "input_feature_channel": 2,
    }


def test_pads_in_the_back_phase(tmp_path):
    actual = attributes(tmp_path, convolutional, IMAGE, "Conv2D", ["pad", "spatial_dims", "layout"], "back")
    assert actual == {"pad": [[0, 0], [0, 0], [0, 1], [0, 1]], "spatial_dims": [2, 3], "layout": "NCHW"}


def test_pads_and_groups_of_volumes_and_depthwise_convolutions(tmp_path):
    actual = attributes(tmp_path, volumetric, VOLUME, "Conv3D", ["pad", "kernel_spatial", "layout", "output_feature_channel"])
    assert actual["pad"] == [[0, 0], [0, 1], [1, 1], [1, 1], [0, 0]]
    assert [actual["kernel_spatial"], actual["layout"], actual["output_feature_channel"]] == [[2, 3, 3], "NDHWC", 4]
    actual = attributes(tmp_path, depthwise, IMAGE, "DepthwiseConv2dNative", ["group", "input_feature_channel", "output"])
    assert actual == {"group": 3, "input_feature_channel": 2, "output": 6}


IN_BODIES = """
    import json
    from openvino.tools.mo.middle.replacement import MiddleReplacementPattern

    class Probe(MiddleReplacementPattern):
        run_not_recursively = False

        def find_and_replace_pattern(self, graph):
            for node in graph.get_op_nodes(op="MaxPool"):
                shape = [int(size) for size in node.in_port(0).data.get_shape()]
                json.dump([shape, [each.op for each in graph.get_op_nodes(op="Transpose")]], open({path!r}, "w"))
    """


def test_operations_in_bodies_of_loops_have_the_layout_of_the_framework(tmp_path):
    path = tmp_path / "probe.json"
    extension = write(tmp_path / "ext", {"middle/probe.py": IN_BODIES.format(path=str(path))})
    graph, names = tensorflow_conversion.build(looped, {"x": IMAGE})
    converted = Converted.of(graph, tmp_path, extensions=[extension])
    assert json.loads(path.read_text()) == [[1, 8, 6, 4], []]
    results = tensorflow_conversion.ordered_results(converted.model, names, {"x": IMAGE})
    compare(results, tensorflow_conversion.expected_results(graph, names, {"x": IMAGE}))


OWN = {
    "ops/own.py": """
        from mo.ops.op import Op

        class Own(Op):
            op = "Own"

            def __init__(self, graph, attrs):
                own = {"type": "Own", "op": "Own", "version": "extension", "infer": Own.infer, "in_ports_count": 1}
                super().__init__(graph, own, attrs)

            def backend_attrs(self):
                return ["seen"]

            @staticmethod
            def infer(node):
                shape = node.in_port(0).data.get_shape()
                node["seen"] = ",".join(str(int(size)) for size in shape)
                node.out_port(0).data.set_shape(shape)
        """,
    "front/own.py": """
        from mo.front.common.replacement import FrontReplacementOp
        from ext.ops.own import Own

        class Replace(FrontReplacementOp):
            op = "ReLU"

            def replace_op(self, graph, node):
                own = Own(graph, {"name": "own"}).create_node()
                node.in_port(0).get_connection().set_destination(own.in_port(0))
                return [own.id]
        """,
}


@pytest.mark.parametrize("phase", ["middle", "back"])
def test_an_operation_of_the_user_between_operations_with_layouts(tmp_path, phase):
    path = tmp_path / "probe.json"
    base = {"middle": "MiddleReplacementPattern", "back": "BackReplacementPattern"}[phase]
    probe = {f"{phase}/probe.py": PROBE.format(phase=phase, base=base, path=str(path))}
    graph, _ = tensorflow_conversion.build(
        lambda x: tf.nn.max_pool2d(tf.nn.relu(tf.nn.conv2d(x, FILTERS, 1, "SAME", name="conv")), 2, 2, "SAME", name="pool"), {"x": IMAGE}
    )
    converted = Converted.of(graph, tmp_path, extensions=[write(tmp_path / "ext", {**OWN, **probe})])
    nodes = {name: rest for name, *rest in json.loads(path.read_text())[1]}
    assert nodes["own"] == ["Own", "Own", [[1, 8, 6, 4]] if phase == "middle" else [[1, 4, 8, 6]]]
    assert nodes["conv"][0] == "Conv2D"
    if phase == "middle":
        assert not any(op == "Transpose" for op, _, _ in nodes.values())
    assert converted.attributes("Own") == {"seen": "1,8,6,4"}
    assert converted.shape("Own") == [1, 4, 8, 6]
    assert len(converted.all("Transpose")) == 2


@pytest.mark.parametrize("network", NETWORKS)
def test_a_transformation_that_changes_nothing_leaves_the_model_as_it_is(tmp_path, network):
    function, data = NETWORKS[network]
    probe = PROBE.format(phase="middle", base="MiddleReplacementPattern", path=str(tmp_path / "probe.json"))
    extension = write(tmp_path / "ext", {"middle/probe.py": probe})
    graph, names = tensorflow_conversion.build(function, {"x": data})
    plain = Converted.of(graph, tmp_path)
    types, bytes_ = plain.types, plain.path.with_suffix(".bin").read_bytes()
    converted = Converted.of(graph, tmp_path, extensions=[extension])
    assert converted.types == types
    assert converted.path.with_suffix(".bin").read_bytes() == bytes_
    results = tensorflow_conversion.ordered_results(converted.model, names, {"x": data})
    compare(results, tensorflow_conversion.expected_results(graph, names, {"x": data}))


def test_a_pattern_of_a_convolution_and_its_neighbour_matches(tmp_path):
    extension = write(tmp_path / "ext", {"middle/count.py": PATTERN})
    graph, _ = tensorflow_conversion.build(depthwise, {"x": IMAGE})
    assert Converted.of(graph, tmp_path, extensions=[extension]).names("ReLU") == ["matched"]


@pytest.mark.parametrize(
    ("function", "data", "filters"),
    [(lambda x, w: tf.nn.conv2d(x, w, 1, "SAME"), IMAGE, FILTERS), (lambda x, w: tf.nn.conv3d(x, w, [1] * 5, "SAME"), VOLUME, CUBES)],
    ids=["4-D", "5-D"],
)
def test_scaling_the_last_axis_of_weights_scales_output_channels(tmp_path, function, data, filters):
    extension = write(tmp_path / "ext", {"middle/scale.py": SCALE})
    graph, _ = tensorflow_conversion.build(lambda x: function(x, filters), {"x": data})
    scaled, names = tensorflow_conversion.build(lambda x: function(x, filters * np.float32([1, 2, 3, 4])), {"x": data})
    converted = Converted.of(graph, tmp_path, extensions=[extension])
    compare(converted.run({"x": data}), tensorflow_conversion.expected_results(scaled, names, {"x": data}))


def test_a_replacement_of_its_data_is_inferred(tmp_path):
    """The shapes after a convolution follow what a transformation puts before it."""
    extension = write(
        tmp_path / "ext",
        {
            "middle/crop.py": """
                import numpy as np
                from openvino.tools.mo.front.tf.graph_utils import create_op_with_const_inputs
                from openvino.tools.mo.middle.replacement import MiddleReplacementPattern
                from openvino.tools.mo.ops.slice import Slice

                class Crop(MiddleReplacementPattern):
                    enabled = True

                    def find_and_replace_pattern(self, graph):
                        (conv,) = graph.get_op_nodes(op="Conv2D")
                        inputs = {1: np.int64([0]), 2: np.int64([4]), 3: np.int64([1]), 4: np.int64([1])}
                        crop = create_op_with_const_inputs(graph, Slice, inputs, {"name": "crop"})
                        conv.in_port(0).get_connection().insert_node(crop)

                class Look(MiddleReplacementPattern):
                    enabled = True

                    def run_after(self):
                        return [Crop]

                    def find_and_replace_pattern(self, graph):
                        (conv,) = graph.get_op_nodes(op="Conv2D")
                        assert conv.out_port(0).data.get_shape().tolist() == [1, 4, 6, 4]
                """
        },
    )
    graph, _ = tensorflow_conversion.build(lambda x: tf.nn.conv2d(x, FILTERS, 1, "SAME"), {"x": IMAGE})
    cropped, names = tensorflow_conversion.build(lambda x: tf.nn.conv2d(x[:, :4], FILTERS, 1, "SAME"), {"x": IMAGE})
    converted = Converted.of(graph, tmp_path, extensions=[extension])
    compare(converted.run({"x": IMAGE}), tensorflow_conversion.expected_results(cropped, names, {"x": IMAGE}))


DERIVED = {
    "ops/own.py": """
        import numpy as np
        from {module} import {base}

        class Own({base}):
            op = "Own"

            def __init__(self, graph, attrs):
                super().__init__(graph, {{**attrs, "type": "Own", "op": "Own", "version": "extension"}})
        """,
    "front/own.py": """
        import numpy as np
        from mo.front.common.replacement import FrontReplacementOp
        from mo.front.tf.graph_utils import create_op_with_const_inputs
        from ext.ops.own import Own

        class Replace(FrontReplacementOp):
            op = "ReLU"

            def replace_op(self, graph, node):
                own = create_op_with_const_inputs(graph, Own, {inputs}, dict(name="own", {attributes}))
                node.in_port(0).get_connection().set_destination(own.in_port(0))
                return [own.id]
        """,
}

POOLED = "window=np.array([1, 2, 2, 1]), stride=np.array([1, 2, 2, 1]), pad=np.zeros((4, 2), int), pool_method='max', "
POOLED += "channel_dims=np.array([3]), batch_dims=np.array([0]), spatial_dims=None, layout='NHWC'"


@pytest.mark.parametrize(
    ("base", "attributes", "inputs", "written", "shape"),
    [
        ("mo.ops.softmax.Softmax", "axis=3", "{}", {"axis": "1"}, [1, 4, 8, 6]),
        ("mo.ops.pooling.Pooling", POOLED, "{}", {"kernel": "2,2", "strides": "2,2", "pads_begin": "0,0", "pads_end": "0,0"}, [1, 4, 4, 3]),
        ("extensions.ops.ReduceOps.ReduceMax", "keep_dims=True", "{1: np.int64([3])}", {"keep_dims": "true"}, [1, 1, 8, 6]),
    ],
    ids=lambda value: value.rpartition(".")[2] if isinstance(value, str) and "." in value else "",
)
def test_an_operation_derived_from_one_of_model_optimizer(tmp_path, base, attributes, inputs, written, shape):
    """Its attributes and inputs that count axes follow its data."""
    module, _, name = base.rpartition(".")
    files = {path: text.format(module=module, base=name, attributes=attributes, inputs=inputs) for path, text in DERIVED.items()}
    graph, _ = tensorflow_conversion.build(lambda x: tf.abs(tf.nn.relu(tf.nn.conv2d(x, FILTERS, 1, "SAME"))), {"x": IMAGE})
    converted = Converted.of(graph, tmp_path, extensions=[write(tmp_path / "ext", files)])
    assert converted.attributes("Own").items() >= written.items()
    assert converted.shape("Own") == shape
    constants = [
        np.frombuffer(converted.path.with_suffix(".bin").read_bytes(), np.int64, 1, int(data.get("offset", "0")))[0]
        for layer in converted.all("Const")
        if (data := layer.find("data")) is not None and data.get("shape") == "1"
    ]
    assert constants == ([1] if "ReduceMax" in base else [])


MADE = """
    import numpy as np
    from mo.middle.replacement import MiddleReplacementPattern
    from mo.ops.pooling import Pooling

    class AddPool(MiddleReplacementPattern):
        def find_and_replace_pattern(self, graph):
            (relu,) = graph.get_op_nodes(op="ReLU")
            window = dict(window=np.array([1, 2, 2, 1]), stride=np.array([1, 2, 2, 1]), pad=np.zeros((4, 2), int), layout="NHWC")
            pool = Pooling(graph, dict(name="pooled", pool_method="max", **window)).create_node()
            relu.out_port(0).get_connection().set_source(pool.out_port(0))
            pool.in_port(0).connect(relu.out_port(0))

    class Look(MiddleReplacementPattern):
        def run_after(self):
            return [AddPool]

        def find_and_replace_pattern(self, graph):
            (pool,) = graph.get_op_nodes(op="Pooling")
            assert pool.in_port(0).get_source().node.op == "ReLU"
            assert pool.out_port(0).data.get_shape().tolist() == [1, 4, 3, 4]
            assert not graph.get_op_nodes(op="Transpose")
    """


def test_a_pooling_that_a_transformation_makes_says_its_layout(tmp_path):
    extension = write(tmp_path / "ext", {"middle/made.py": MADE})
    graph, _ = tensorflow_conversion.build(lambda x: tf.tanh(tf.nn.relu(tf.nn.conv2d(x, FILTERS, 1, "SAME"))), {"x": IMAGE})
    pooled, names = tensorflow_conversion.build(
        lambda x: tf.tanh(tf.nn.max_pool2d(tf.nn.relu(tf.nn.conv2d(x, FILTERS, 1, "SAME")), 2, 2, "VALID")), {"x": IMAGE}
    )
    converted = Converted.of(graph, tmp_path, extensions=[extension])
    assert converted.types == ["Convolution", "MaxPool", "ReLU", "Tanh", "Transpose", "Transpose"]
    compare(converted.run({"x": IMAGE}), tensorflow_conversion.expected_results(pooled, names, {"x": IMAGE}))


CONCATENATED = """
    from mo.front.common.replacement import FrontReplacementPattern
    from mo.ops.concat import Concat

    class Join(FrontReplacementPattern):
        def find_and_replace_pattern(self, graph):
            (tanh,) = graph.get_op_nodes(op="Tanh")
            concat = Concat(graph, {"name": "cat", "axis": 3, "in_ports_count": 2}).create_node()
            source = tanh.in_port(0).get_source()
            tanh.in_port(0).get_connection().set_destination(concat.in_port(0))
            source.connect(concat.in_port(1))
            concat.out_port(0).connect(tanh.in_port(0))
    """


def test_a_concat_of_the_front_phase_follows_the_layout(tmp_path):
    extension = write(tmp_path / "ext", {"front/join.py": CONCATENATED})
    graph, _ = tensorflow_conversion.build(lambda x: tf.tanh(tf.nn.relu(tf.nn.conv2d(x, FILTERS, 1, "SAME"))), {"x": IMAGE})
    joined, names = tensorflow_conversion.build(
        lambda x: tf.tanh(tf.concat([tf.nn.relu(tf.nn.conv2d(x, FILTERS, 1, "SAME"))] * 2, 3)), {"x": IMAGE}
    )
    converted = Converted.of(graph, tmp_path, extensions=[extension])
    assert converted.attributes("Concat") == {"axis": "1"}
    assert converted.shape("Concat") == [1, 8, 8, 6]
    compare(converted.run({"x": IMAGE}), tensorflow_conversion.expected_results(joined, names, {"x": IMAGE}))
