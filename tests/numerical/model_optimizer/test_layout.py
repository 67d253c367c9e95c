"""Operations of extensions in channel-last models: [N, C, H, W] as in Model Optimizer, or as in the framework."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tests.numerical.model_optimizer.conversion import Converted, write
from tests.numerical.model_optimizer.kernels import Attributes, kernel, run_with
from tests.numerical.runtime import Array, compare
from tests.numerical.tensorflow import conversion as tensorflow_conversion

# A file of 2018: attributes that are axes are listed, shapes are those of data nodes, no operation has a version.
OF_2018 = {
    "ops/log_probability.py": """
        import numpy as np
        from mo.front.common.partial_infer.elemental import copy_shape_infer
        from mo.graph.graph import Node
        from mo.ops.op import Op

        class LogProbability(Op):
            op = 'LogProbability'
            enabled = True

            def __init__(self, graph, attrs):
                super().__init__(graph, {
                    'type': __class__.op,
                    'op': __class__.op,
                    'axis': 3,
                    'dim_attrs': ['axis'],
                    'infer': copy_shape_infer
                }, attrs)

            def supported_attrs(self):
                return ['axis', ('channels', lambda node: node.in_node(0).shape[node.axis])]
        """,
    "front/tf/log_softmax_ext.py": """
        import numpy as np
        from mo.front.extractor import FrontExtractorOp
        from mo.ops.op import Op

        class LogSoftmaxExtractor(FrontExtractorOp):
            op = 'LogSoftmax'
            enabled = True

            @staticmethod
            def extract(node):
                attrs = {'op': __class__.op, 'axis': np.int(3)}
                Op.get_op_class_by_name('LogProbability').update_node_stat(node, attrs)
                return __class__.enabled
        """,
}

# Files of 2021 and of 2022: `infer` registers what changes with the layout.
PORTS = """
    import numpy as np
    from {op} import Op, PermuteAttrs

    class LogProbability(Op):
        op = 'LogProbability'
        {attribute}

        def __init__(self, graph, attrs):
            super().__init__(graph, {{'type': self.op, 'op': self.op, 'version': 'extension', 'axis': -1, 'infer': self.infer,
                                     'in_ports_count': 1, 'out_ports_count': 1}}, attrs)

        def backend_attrs(self):
            return ['axis', ('channels', lambda node: node.in_port(0).data.get_shape()[node.axis])]

        @staticmethod
        def infer(node):
            assert node.in_port(0).data.get_shape().tolist() == [1, 6, 5, 4] and node.graph.graph['layout'] == 'NHWC'
            node.out_port(0).data.set_shape(node.in_port(0).data.get_shape())
            PermuteAttrs.create_permute_attrs(node, attrs=[('axis', 'input:0')])
    """
EXTRACTOR = """
    from {front} import FrontExtractorOp
    from my_extension.ops.log_probability import LogProbability

    class LogSoftmaxExtractor(FrontExtractorOp):
        op = 'LogSoftmax'
        enabled = True

        @classmethod
        def extract(cls, node):
            LogProbability.update_node_stat(node, {{'axis': 3}})
            return cls.enabled
    """


def with_ports(op: str, front: str, attribute: str = "enabled = True") -> dict[str, str]:
    return {
        "ops/log_probability.py": PORTS.format(op=op, attribute=attribute),
        "front/tf/log_softmax_ext.py": EXTRACTOR.format(front=front),
    }


def log_probability(attributes: Attributes, inputs: list[Array]) -> Array:
    """The logarithm of the softmax along an axis."""
    x, axis = inputs[0].astype(np.float64), attributes["axis"]
    assert x.shape[axis] == attributes["channels"]
    return x - np.log(np.exp(x).sum(axis=axis, keepdims=True))


LogProbability = kernel("LogProbability", {"axis": 0, "channels": 0}, lambda _, shapes: shapes[0], log_probability)

RNG = np.random.default_rng(3)
X = RNG.normal(size=(1, 6, 5, 3)).astype(np.float32)
WEIGHTS = [RNG.normal(size=size).astype(np.float32) for size in ((3, 3, 3, 4), (1, 1, 4, 2))]


def convolved(x: Any) -> Any:
    x = tf.nn.relu(tf.nn.conv2d(x, WEIGHTS[0], 1, "SAME"))
    return tf.nn.conv2d(tf.nn.log_softmax(x), WEIGHTS[1], 1, "SAME")


def converted_and_checked(tmp_path: Any, files: dict[str, str], function: Any = convolved, **options: Any) -> Converted:
    graph, names = tensorflow_conversion.build(function, {"x": X})
    extension = write(tmp_path / "my_extension", files)
    converted = Converted.of(graph, tmp_path, extensions=[extension], **options)
    compare(run_with(converted, {"x": X}, LogProbability), tensorflow_conversion.expected_results(graph, names, {"x": X}))
    return converted


@pytest.mark.parametrize(
    "files",
    [
        OF_2018,
        with_ports("mo.ops.op", "mo.front.extractor"),
        with_ports("openvino.tools.mo.ops.op", "openvino.tools.mo.front.extractor"),
    ],
    ids=["2018", "2021", "2022"],
)
def test_an_operation_between_convolutions_gets_channels_first(tmp_path, caplog, files):
    converted = converted_and_checked(tmp_path, files)
    assert converted.attributes("LogProbability") == {"axis": "1", "channels": "4"}
    assert converted.shape("LogProbability") == [1, 4, 6, 5]
    assert converted.names("LogProbability") == ["LogSoftmax"]
    # What is around the operation cancels with what is around the convolutions: the input and the output remain.
    assert converted.types == ["Convolution", "Convolution", "LogProbability", "ReLU", "Transpose", "Transpose"]
    assert "layout" not in caplog.text


@pytest.mark.parametrize(
    ("attribute", "options"),
    [("enabled = True", {"extension_layout": "framework"}), ("data_layout = 'framework'", {})],
    ids=["option", "class"],
)
def test_the_layout_of_the_framework_on_request(tmp_path, attribute, options):
    files = with_ports("mo.ops.op", "mo.front.extractor", attribute)
    converted = converted_and_checked(tmp_path, files, **options)
    assert converted.attributes("LogProbability") == {"axis": "3", "channels": "4"}
    assert converted.shape("LogProbability") == [1, 6, 5, 4]


def test_a_model_without_convolutions_keeps_its_layout(tmp_path):
    files = {name: text.replace("[1, 6, 5, 4]", "[1, 6, 5, 3]") for name, text in with_ports("mo.ops.op", "mo.front.extractor").items()}
    converted = converted_and_checked(tmp_path, files, lambda x: tf.nn.log_softmax(x))
    assert converted.attributes("LogProbability") == {"axis": "3", "channels": "3"}
    assert converted.types == ["LogProbability"]


def test_the_model_is_reshaped(tmp_path):
    """`infer` gets data in the layout of the framework again."""
    files = with_ports("mo.ops.op", "mo.front.extractor")
    text = files["ops/log_probability.py"].replace("[1, 6, 5, 4] and", "[node.in_port(0).data.get_shape()[0], 6, 5, 4] and")
    graph, _ = tensorflow_conversion.build(convolved, {"x": X})
    extension = write(tmp_path / "my_extension", {**files, "ops/log_probability.py": text})
    converted = Converted.of(graph, tmp_path, extensions=[extension], input="x[4,6,5,3]")
    assert converted.shape("LogProbability") == [4, 4, 6, 5]


MIDDLE_AND_BACK = """
    import numpy as np
    from openvino.tools.mo.{phase}.replacement import {base}ReplacementPattern
    from my_extension.ops.log_probability import LogProbability

    class Replace{base}({base}ReplacementPattern):
        enabled = True

        def find_and_replace_pattern(self, graph):
            assert graph.graph['layout'] == '{layout}'
            for node in graph.get_op_nodes(op='ReLU'):
                assert node.in_port(0).data.get_shape().tolist() == {shape}
                made = LogProbability(graph, {{'axis': {axis}, 'name': 'mine'}}).create_node()
                node.out_port(0).get_connection().insert_node(made)
    """


def with_relu(x: Any) -> Any:
    return tf.nn.conv2d(tf.nn.relu(tf.nn.conv2d(x, WEIGHTS[0], 1, "SAME")), WEIGHTS[1], 1, "SAME")


@pytest.mark.parametrize(
    ("phase", "layout", "shape", "axis"),
    [("middle", "NHWC", [1, 6, 5, 4], 3), ("back", "NCHW", [1, 4, 6, 5], 1)],
)
def test_operations_made_in_later_phases(tmp_path, phase, layout, shape, axis):
    operation = with_ports("openvino.tools.mo.ops.op", "openvino.tools.mo.front.extractor")["ops/log_probability.py"]
    transformation = MIDDLE_AND_BACK.format(phase=phase, base=phase.capitalize(), layout=layout, shape=shape, axis=axis)
    checked = operation.replace("[1, 6, 5, 4]", str(shape)).replace("'NHWC'", f"'{layout}'")
    extension = write(tmp_path / "my_extension", {"ops/log_probability.py": checked, f"{phase}/mine.py": transformation})
    graph, _ = tensorflow_conversion.build(with_relu, {"x": X})
    converted = Converted.of(graph, tmp_path, extensions=[extension])
    assert converted.attributes("LogProbability") == {"axis": "1", "channels": "4"}
    assert converted.types == ["Convolution", "Convolution", "LogProbability", "ReLU", "Transpose", "Transpose"]
    reference, names = tensorflow_conversion.build(convolved, {"x": X})
    compare(run_with(converted, {"x": X}, LogProbability), tensorflow_conversion.expected_results(reference, names, {"x": X}))


def test_attributes_that_change_in_the_back_phase_are_written(tmp_path):
    change = """
        from mo.back.replacement import BackReplacementPattern

        class OtherAxis(BackReplacementPattern):
            enabled = True

            def find_and_replace_pattern(self, graph):
                for node in graph.get_op_nodes(type='LogProbability'):
                    assert node.axis == 1
                    node['axis'] = 2
        """
    files = {**with_ports("mo.ops.op", "mo.front.extractor"), "back/other_axis.py": change}
    graph, _ = tensorflow_conversion.build(convolved, {"x": X})
    converted = Converted.of(graph, tmp_path, extensions=[write(tmp_path / "my_extension", files)])
    assert converted.attributes("LogProbability") == {"axis": "2", "channels": "6"}
