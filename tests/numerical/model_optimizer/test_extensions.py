"""Extensions in the style users wrote for Model Optimizer."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import TensorProto, helper

from moir.errors import ConversionError
from tests.numerical.model_optimizer.conversion import RELU, Converted, X, convert, write
from tests.numerical.onnx.conversion import build, expected_results, node
from tests.numerical.runtime import compare

BLUR = {
    "ops/blur.py": """
        import numpy as np
        from mo.front.common.partial_infer.utils import int64_array
        from mo.ops.op import Op

        class Blur(Op):
            op = 'Blur'

            def __init__(self, graph, attrs):
                mandatory = {'type': 'Blur', 'op': 'Blur', 'version': 'custom_opset', 'infer': Blur.infer, 'type_infer': Blur.type_infer,
                             'in_ports_count': 2, 'out_ports_count': 2}
                super().__init__(graph, mandatory, attrs)

            def backend_attrs(self):
                return ['sigma', 'absent', ('kernel-size', 'kernel'), ('mode', lambda node: node.soft_get('mode').upper())]

            @staticmethod
            def infer(node):
                shape = node.in_port(0).data.get_shape()
                node.out_port(0).data.set_shape(shape)
                node.out_port(1).data.set_shape(int64_array([*shape[:1], *node.in_port(1).data.get_value()]))

            @staticmethod
            def type_infer(node):
                node.out_port(0).set_data_type(node.in_port(0).get_data_type())
                node.out_port(1).set_data_type(np.int32)
        """,
    "front/onnx/blur_ext.py": """
        from mo.front.extractor import FrontExtractorOp
        from mo.front.onnx.extractors.utils import onnx_attr
        from my_extension.ops.blur import Blur

        class BlurExtractor(FrontExtractorOp):
            op = 'Blur'
            enabled = True

            @classmethod
            def extract(cls, node):
                attrs = {'sigma': onnx_attr(node, 'sigma', 'f', 1.0), 'kernel': onnx_attr(node, 'kernel', 'ints'),
                         'mode': onnx_attr(node, 'mode', 's', b'same').decode()}
                Blur.update_node_stat(node, attrs)
                return cls.enabled
        """,
}


def test_custom_operation_with_extractor_and_infer(tmp_path):
    blur = helper.make_node("Blur", ["x", "size"], ["y", "indices"], "blur", domain="my.domain", sigma=0.5, kernel=[3, 5])
    nodes = [blur, node("Relu", ["y"], ["z"], "relu"), node("Add", ["indices", "one"], ["i"], "sum")]
    constants = {"size": np.array([6, 7]), "one": np.array(1, np.int32)}
    converted = convert(tmp_path, BLUR, nodes, constants=constants, outputs=["z", "i"])
    assert converted.types == ["Add", "Blur", "ReLU"]
    layer = converted.layer("Blur")
    assert (layer.get("name"), layer.get("version")) == ("blur", "custom_opset")
    assert converted.attributes("Blur") == {"sigma": "0.5", "kernel-size": "3,5", "mode": "SAME"}
    outputs = layer.findall("output/port")
    assert [(port.get("precision"), [dim.text for dim in port.findall("dim")]) for port in outputs] == [
        ("FP32", ["2", "3", "4"]),
        ("I32", ["2", "6", "7"]),
    ]
    assert (converted.shape("ReLU"), converted.shape("Add")) == ([2, 3, 4], [2, 6, 7])


def test_front_replacement_of_an_unsupported_operation(tmp_path):
    """An operation with two outputs becomes operations of the internal kinds; the outputs are named by tuples."""
    files = {
        "front/onnx/sum_and_difference.py": """
            from mo.front.common.replacement import FrontReplacementOp
            from mo.ops.eltwise import Eltwise
            from mo.ops.power import Power

            class SumAndDifference(FrontReplacementOp):
                op = 'SumAndDifference'
                enabled = True

                def replace_op(self, graph, node):
                    negated = Power(graph, dict(scale=-1, name=node.name + '/negated')).create_node([node.in_node(1)])
                    total = Eltwise(graph, dict(operation='sum', name=node.name + '/sum')).create_node([node.in_node(0), node.in_node(1)])
                    rest = Eltwise(graph, dict(operation='sum', name=node.name + '/difference')).create_node([node.in_node(0), negated])
                    scaled = Power(graph, dict(scale=node.factor, shift=1)).create_node([rest])
                    return [total.id, (scaled.id, 0)]
            """
    }
    custom = helper.make_node("SumAndDifference", ["x", "z"], ["s", "d"], "pair", domain="my.domain", factor=3.0)
    inputs = {"x": X, "z": X[::-1].copy()}
    converted = convert(tmp_path, files, [custom, node("Relu", ["d"], ["r"])], inputs, outputs=["s", "r"])
    compare(converted.run(inputs, ["s", "r"]), [X + X[::-1], np.maximum(3 * (X - X[::-1]) + 1, 0)])
    assert {"pair/negated", "pair/sum"} <= {layer.get("name") for layer in converted.layers}


MIDDLE_SWISH = {
    "middle/swish.py": """
        from extensions.ops.activation_ops import Swish
        from mo.middle.replacement import MiddleReplacementPattern

        class SwishFusion(MiddleReplacementPattern):
            enabled = True

            def pattern(self):
                return dict(
                    nodes=[('input', dict(kind='data', shape=lambda shape: shape is not None and len(shape) == 3)),
                           ('sigmoid', dict(kind='op', op='Sigmoid')), ('sigmoid_data', dict(kind='data')),
                           ('mul', dict(kind='op', op='Mul')), ('mul_data', dict(kind='data'))],
                    edges=[('input', 'sigmoid', {'in': 0}), ('sigmoid', 'sigmoid_data', {'out': 0}), ('sigmoid_data', 'mul', {'in': 1}),
                           ('input', 'mul', {'in': 0}), ('mul', 'mul_data')])

            def replace_pattern(self, graph, match):
                assert match['input'].shape.tolist() == [2, 3, 4] and match['input'].value is None
                swish = Swish(graph, dict(name=match['mul'].name + '/swish')).create_node()
                match['mul'].in_port(0).get_source().connect(swish.in_port(0))
                assert match['mul'].out_port(0).data.get_shape().tolist() == [2, 3, 4]
                match['mul'].out_port(0).get_connection().set_source(swish.out_port(0))
        """
}


def test_middle_pattern_with_data_nodes(tmp_path):
    nodes = [node("Sigmoid", ["x"], ["s"]), node("Mul", ["x", "s"], ["p"], "product"), node("Relu", ["p"], ["y"])]
    converted = convert(tmp_path, MIDDLE_SWISH, nodes)
    assert converted.types == ["ReLU", "Swish"]
    assert converted.names("Swish") == ["product/swish"]
    compare(converted.run({"x": X}), [np.maximum(X / (1 + np.exp(-X)), 0)])
    # The other way round it does not match: edges say which inputs are meant. What fuses it then is moir's own pass.
    swapped = [node("Sigmoid", ["x"], ["s"]), node("Mul", ["s", "x"], ["p"], "product"), node("Relu", ["p"], ["y"])]
    assert convert(tmp_path / "swapped", MIDDLE_SWISH, swapped).names("Swish") == ["product"]


def test_back_transformation_renames_outputs(tmp_path):
    files = {
        "back/rename.py": """
            from mo.back.replacement import BackReplacementPattern
            from mo.graph.graph import rename_nodes

            class RenameOutputs(BackReplacementPattern):
                enabled = True
                graph_condition = [lambda graph: graph.graph['fw'] == 'onnx' and graph.stage == 'back']

                def find_and_replace_pattern(self, graph):
                    for number, result in enumerate(graph.get_op_nodes(type='Result')):
                        port = result.in_port(0).get_source()
                        port.add_tensor_names(['tensor_%d' % number])
                        rename_nodes([(port.node, 'last_%d' % number), (result, 'result_%d' % number)])
            """
    }
    nodes = [*RELU, node("Sigmoid", ["x"], ["z"], "sigmoid")]
    converted = convert(tmp_path, files, nodes, outputs=["y", "z"])
    assert converted.names("Result") == ["result_0", "result_1"]
    assert converted.names("ReLU") + converted.names("Sigmoid") == ["last_0", "last_1"]
    assert [sorted(output.get_names()) for output in converted.model.outputs] == [["tensor_0", "y"], ["tensor_1", "z"]]
    compare(converted.run({"x": X}, ["tensor_1"]), [1 / (1 + np.exp(-X))])


def loop() -> list:
    """`y`: x doubled and cut off at zero 3 times."""
    value = helper.make_tensor_value_info
    body = helper.make_graph(
        [node("Identity", ["go"], ["go_on"]), node("Add", ["v", "v"], ["w"], "twice"), node("Relu", ["w"], ["v_out"], "inner")],
        "body",
        [value("i", TensorProto.INT64, []), value("go", TensorProto.BOOL, []), value("v", TensorProto.FLOAT, [2, 3, 4])],
        [value("go_on", TensorProto.BOOL, []), value("v_out", TensorProto.FLOAT, [2, 3, 4])],
    )
    return [node("Relu", ["x"], ["r"], "outer"), node("Loop", ["trips", "", "r"], ["y"], "loop", body=body)]


@pytest.mark.parametrize("phase", ["Front", "Middle", "Back"])
@pytest.mark.parametrize("is_recursive", [False, True])
def test_recursion_into_the_body_of_a_loop(tmp_path, phase, is_recursive):
    module = {"Front": "mo.front.common.replacement", "Middle": "mo.middle.replacement", "Back": "mo.back.replacement"}[phase]
    files = {
        f"{phase.lower()}/tanh.py": f"""
            from {module} import {phase}ReplacementPattern
            from mo.ops.activation_ops import Tanh

            class ReluToTanh({phase}ReplacementPattern):
                run_not_recursively = {not is_recursive}

                def find_and_replace_pattern(self, graph):
                    for relu in graph.get_op_nodes(op='ReLU'):
                        tanh = Tanh(graph, dict(name=relu.name + '/tanh')).create_node()
                        relu.in_port(0).get_connection().set_destination(tanh.in_port(0))
                        relu.out_port(0).get_connection().set_source(tanh.out_port(0))
            """
    }
    converted = convert(tmp_path, files, loop(), constants={"trips": np.array(3)})
    wanted = np.tanh(X)
    for _ in range(3):
        wanted = np.tanh(2 * wanted) if is_recursive else np.maximum(2 * wanted, 0)
    compare(converted.run({"x": X}), [wanted])
    assert sorted(str(name) for name in converted.names("Tanh")) == (["inner/tanh", "outer/tanh"] if is_recursive else ["outer/tanh"])


def test_style_of_2019(tmp_path):
    """Nodes by id, `in_node`, `out_node`, edges of networkx and attributes in `graph.node`."""
    files = {
        "front/old.py": """
            import logging as log
            import networkx as nx
            from mo.front.common.replacement import FrontReplacementPattern
            from mo.graph.graph import Node, create_edge
            from mo.ops.clamp import Clamp

            class OldStyle(FrontReplacementPattern):
                enabled = True

                def find_and_replace_pattern(self, graph: nx.MultiDiGraph):
                    for id, attrs in list(graph.nodes(data=True)):
                        if attrs.get('op') != 'ReLU6':
                            continue
                        node = Node(graph, id)
                        source, consumer = node.in_node(0), node.out_node(0)
                        assert graph.node[id]['name'] == 'cut' and node.in_edge(0)['in'] == 0 and graph.has_node(source.id)
                        clamp = Clamp(graph, dict(min=0, max=6, name='clamp')).create_node([source])
                        port = [data['in'] for _, v, data in graph.out_edges(id, data=True) if v == consumer.id][0]
                        graph.remove_edge(id, consumer.id)
                        create_edge(clamp, consumer, 0, port)
                        graph.remove_node(id)
                        log.debug('replaced %s', id)
            """
    }
    custom = helper.make_node("Relu6", ["x"], ["c"], "cut", domain="my.domain")
    files["front/onnx/relu6_ext.py"] = """
            from mo.front.extractor import FrontExtractorOp
            from mo.ops.op import Op

            class Relu6Extractor(FrontExtractorOp):
                op = 'Relu6'

                @staticmethod
                def extract(node):
                    Op.update_node_stat(node, dict(op='ReLU6'))
                    return __class__.enabled
            """
    converted = convert(tmp_path, files, [custom, node("Sub", ["x", "c"], ["y"])])
    assert converted.types == ["Clamp", "Subtract"]
    compare(converted.run({"x": X}), [X - np.clip(X, 0, 6)])


def test_flatten_by_shape_operations(tmp_path):
    """The transformation the documents describe in words: Flatten by ShapeOf, ReduceProd, Concat and Reshape, for any shape."""
    files = {
        "front/onnx/flatten.py": """
            from openvino.tools.mo.front.common.partial_infer.utils import int64_array
            from openvino.tools.mo.front.common.replacement import FrontReplacementPattern
            from openvino.tools.mo.front.tf.graph_utils import create_op_node_with_second_input, create_op_with_const_inputs
            from openvino.tools.mo.graph.graph import Graph, rename_nodes
            from openvino.tools.mo.ops.concat import Concat
            from openvino.tools.mo.ops.const import Const
            from openvino.tools.mo.ops.gather import Gather
            from openvino.tools.mo.ops.ReduceOps import ReduceProd
            from openvino.tools.mo.ops.reshape import Reshape
            from openvino.tools.mo.ops.shape import Shape

            class FlattenToReshape(FrontReplacementPattern):
                enabled = True

                def find_and_replace_pattern(self, graph: Graph):
                    for flatten in graph.get_op_nodes(op='Flatten'):
                        name = flatten.soft_get('name', flatten.id)
                        source = flatten.in_port(0).get_source()
                        shape = Shape(graph, {'name': name + '/Shape'}).create_node()
                        shape.in_port(0).connect(source)
                        first = create_op_with_const_inputs(
                            graph, Gather, {1: int64_array(range(flatten.axis)), 2: int64_array(0)}, {'name': name + '/First'}, shape)
                        product = create_op_node_with_second_input(
                            graph, ReduceProd, int64_array([0]), {'name': name + '/Product', 'keep_dims': True}, first)
                        rest = Const(graph, {'value': int64_array([-1])}).create_node()
                        target = Concat(graph, {'axis': 0, 'in_ports_count': 2, 'name': name + '/Target'}).create_node([product, rest])
                        reshape = Reshape(graph, {'name': name + '/Reshape'}).create_node()
                        flatten.in_port(0).get_connection().set_destination(reshape.in_port(0))
                        target.out_port(0).connect(reshape.in_port(1))
                        flatten.out_port(0).get_connection().set_source(reshape.out_port(0))
                        rename_nodes([(flatten, name + '/TBR'), (reshape, name)])
            """
    }
    converted = convert(tmp_path, files, [node("Flatten", ["x"], ["y"], "flatten", axis=2)])
    assert converted.names("Reshape") == ["flatten"]
    assert {"ShapeOf", "Gather", "ReduceProd", "Concat"} <= set(converted.types)
    compare(converted.run({"x": X}), [X.reshape(6, 4)])


def test_force_clean_up_and_values_in_the_middle_phase(tmp_path):
    """Values and shapes of ports, partly known ones too; what is computed of constants is a constant after the clean-up."""
    files = {
        "middle/fold.py": """
            import numpy as np
            from mo.front.common.partial_infer.utils import int64_array, is_fully_defined
            from mo.graph.graph import Graph
            from mo.middle.replacement import MiddleReplacementPattern
            from mo.ops.const import Const
            from extensions.ops.elementwise import Mul

            class ScaleByConstants(MiddleReplacementPattern):
                force_clean_up = True
                force_shape_inference = True

                def find_and_replace_pattern(self, graph: Graph):
                    relu, = graph.get_op_nodes(op='ReLU')
                    shape = relu.in_port(0).data.get_shape()
                    assert not is_fully_defined(shape) and shape[1:].tolist() == [3, 4]
                    two, three = (Const(graph, dict(name='c%d' % n, value=np.float32(n))).create_node() for n in (2, 3))
                    six = Mul(graph, dict(name='six')).create_node([two, three])
                    mul = Mul(graph, dict(name='scaled')).create_node()
                    relu.out_port(0).get_connection().insert_node(mul)
                    six.out_port(0).connect(mul.in_port(1))
                    assert two.out_port(0).data.get_value() == 2
                    relu['need_shape_inference'] = True
            """,
        "back/check.py": """
            from mo.back.replacement import BackReplacementPattern

            class Check(BackReplacementPattern):
                def find_and_replace_pattern(self, graph):
                    six, = [node for node in graph.get_op_nodes(op='Const') if node.value.size == 1]
                    assert six.value == 6 and graph.get_op_nodes(op='Mul')[0].in_port(1).data.get_value() == 6
                    assert len(graph.get_op_nodes()) == 5
            """,
    }
    extension = write(tmp_path / "my_extension", files)
    model = build(RELU, {"x": X})
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "batch"
    converted = Converted.of(model, tmp_path, extensions=[extension])
    assert converted.names("Multiply") == ["scaled"]
    compare(converted.run({"x": X}), [6 * np.maximum(X, 0)])


POINTS = """
    [
        {
            "id": "GeluReplacement",
            "match_kind": "points",
            "instances": {"start_points": ["%s"], "end_points": ["gelu/product"]},
            "custom_attributes": {"approximation": "erf"}
        }
    ]
    """


def test_configured_replacement_in_onnx(tmp_path):
    """Names of nodes are all a configuration file needs, whatever the framework."""
    files = {
        "front/onnx/gelu.py": """
            from mo.front.common.replacement import FrontReplacementFromConfigFileSubGraph
            from mo.ops.gelu import GeLUOP

            class GeluReplacement(FrontReplacementFromConfigFileSubGraph):
                replacement_id = 'GeluReplacement'

                def generate_sub_graph(self, graph, match):
                    attributes = match.custom_replacement_desc.custom_attributes
                    return {'gelu': GeLUOP(graph, dict(name='gelu', approximation_mode=attributes['approximation'])).create_node()}

                def input_edges_match(self, graph, match, new_sub_graph):
                    node, port = match.single_input_node(0)
                    return {(node.id, port): (new_sub_graph['gelu'].id, 0)}

                def output_edges_match(self, graph, match, new_sub_graph):
                    return {match.output_node(0)[0].id: new_sub_graph['gelu'].id}
            """,
        "points.json": POINTS % "gelu/start",
        "wrong.json": POINTS % "gelu/stat",
    }
    nodes = [
        node("Identity", ["x"], ["i"], "gelu/start"),
        node("Div", ["i", "root"], ["d"], "gelu/divided"),
        node("Erf", ["d"], ["e"], "gelu/erf"),
        node("Add", ["e", "one"], ["a"], "gelu/sum"),
        node("Mul", ["i", "a"], ["m"], "gelu/half"),
        node("Mul", ["m", "half"], ["p"], "gelu/product"),
        node("Relu", ["p"], ["y"]),
    ]
    constants = {"root": np.float32(2**0.5), "one": np.float32(1), "half": np.float32(0.5)}
    configuration = tmp_path / "my_extension" / "points.json"
    converted = convert(tmp_path, files, nodes, constants=constants, transformations_config=configuration)
    assert (converted.types, converted.names("Gelu")) == (["Gelu", "ReLU"], ["gelu"])
    assert converted.attributes("Gelu") == {"approximation_mode": "ERF"}
    compare(converted.run({"x": X}), expected_results(build(nodes, {"x": X}, constants=constants), {"x": X}, "onnxruntime"))
    with pytest.raises(ConversionError, match=r"wrong\.json:\d+:\d+: .*no node 'gelu/stat'; .*gelu/start"):
        convert(tmp_path, files, nodes, constants=constants, transformations_config=configuration.with_name("wrong.json"))
