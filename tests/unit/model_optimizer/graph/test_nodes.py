"""Attributes and ports of nodes, and the older access to neighbours."""

from __future__ import annotations

import numpy as np
import pytest

from moir.errors import ConversionError
from moir.model_optimizer.api.operations import Concat
from moir.model_optimizer.graph.node import GraphNode
from moir.model_optimizer.graph.session import edit

TF = """
%x = opset1.Parameter() {name = "x"} : tensor<1x4x4x3xf32>
%g = opset1.Constant() {value = #moir.data<tensor<2xf32>, [1.0, 2.0]>, name = "gamma"} : tensor<2xf32>
%a = tf.AddV2(%x, %g) {T = f32, name = "add"} : ?
%b = tf.FusedBatchNormV3(%a, %g, %g, %g, %g) {epsilon = 0.25, name = "fbn"} : ?
%c = tf.Mean(%b, %g) {keep_dims = true, name = "mean"} : ?
%d = tf.Squeeze(%c) {squeeze_dims = [1, 2], name = "squeeze"} : ?
%e = tf.Softmax(%d) {name = "softmax"} : ?
%f = tf.Unheard(%e) {name = "unheard", mode = "fast", count = 3} : ?
opset1.Result(%f) {name = "r"}
"""


@pytest.fixture
def tf(graph_of):
    return graph_of(TF)


def test_names_of_operations(tf, node):
    ops = {each.name: each.op for each in tf.get_op_nodes()}
    assert ops == {
        "x": "Parameter",
        "gamma": "Const",
        "add": "Add",
        "fbn": "FusedBatchNorm",
        "mean": "ReduceMean",
        "squeeze": "Squeeze",
        "softmax": "SoftMax",
        "unheard": "Unheard",
        "r": "Result",
    }
    assert [node(tf, name).type for name in ("gamma", "add", "softmax", "unheard")] == ["Const", "Add", "SoftMax", None]
    assert node(tf, "gamma").version == "opset1"


def test_extracted_attributes(tf, node):
    fbn, mean, squeeze = node(tf, "fbn"), node(tf, "mean"), node(tf, "squeeze")
    assert fbn.eps == 0.25
    assert fbn.epsilon == 0.25
    assert fbn.data_format == b"NHWC"
    assert mean.keep_dims is True
    assert squeeze.squeeze_dims.tolist() == [1, 2]
    assert node(tf, "softmax").axis == -1
    fbn["eps"] = 0.5
    assert fbn.ir_operation.number("epsilon") == 0.5
    del squeeze["squeeze_dims"]
    assert not squeeze.has_valid("squeeze_dims")
    assert "squeeze_dims" not in squeeze.ir_operation.properties
    del node(tf, "softmax")["axis"]
    assert not node(tf, "softmax").has("axis")
    node(tf, "softmax")["axis"] = 2
    assert node(tf, "softmax").axis == 2


def test_attribute_access(tf, node):
    unheard = node(tf, "unheard")
    assert (unheard.mode, unheard["count"]) == ("fast", 3)
    assert unheard.soft_get("name", unheard.id) == "unheard"
    assert unheard.soft_get("absent") == "<UNKNOWN>"
    assert unheard.get("absent") is None
    assert unheard.has("mode")
    assert not unheard.has("absent")
    assert not unheard.has_valid("type")
    assert unheard.has_and_set("count")
    assert not unheard.has_and_set("absent")
    with pytest.raises(KeyError, match="no attribute 'absent'"):
        _ = unheard.absent
    assert not hasattr(unheard, "absent")
    with pytest.raises(AttributeError, match="a new one is set by"):
        unheard.absent = 1
    unheard["infer"] = function = lambda _: None
    unheard["array"] = np.ones((2, 2))
    assert unheard.infer is function
    unheard.count = 4
    assert unheard.ir_operation.integer("count") == 4
    del unheard["array"]
    with pytest.raises(KeyError):
        del unheard["array"]
    assert {"mode", "count", "infer", "op", "name", "id", "kind", "pb"} <= set(unheard.attrs())
    assert len(unheard.attrs()) == len(dict(unheard.attrs()))
    with pytest.raises(ConversionError, match="cannot be changed"):
        unheard["id"] = "other"
    with pytest.raises(ConversionError, match="cannot be deleted"):
        del unheard["op"]


def test_names_change_and_ids_stay(tf, node):
    unheard = node(tf, "unheard")
    unheard["name"] = "other"
    assert (unheard.name, unheard.id, unheard.node) == ("other", "unheard", "unheard")
    assert tf.get_node_id_by_name("other") == "unheard"


def test_equality_and_lookup(tf, node):
    assert GraphNode(tf, "add") == node(tf, "add")
    assert len({GraphNode(tf, "add"), node(tf, "add"), node(tf, "mean")}) == 2
    with pytest.raises(ConversionError, match="no node 'nowhere'"):
        GraphNode(tf, "nowhere")


def test_another_op_makes_a_foreign_operation(tf, node):
    unheard = node(tf, "unheard")
    operation = unheard.ir_operation
    with edit(tf):
        unheard["op"] = "Mine"
        unheard["type"] = "MyType"
    assert unheard.ir_operation is operation
    assert operation.name == "mo.Mine"
    assert (unheard.op, unheard.type, unheard["count"]) == ("Mine", "MyType", 3)
    assert unheard.pb.op == "Unheard"
    assert [each.name for each in tf.get_op_nodes(op="Mine")] == ["unheard"]
    assert tf.get_op_nodes(op="Unheard") == []


def test_attributes_of_operations_of_an_operation_set(graph_of, node):
    graph = graph_of(
        """
        %x = opset1.Parameter() {name = "x"} : tensor<1x3x8x8xf32>
        %y, %z = opset14.MaxPool(%x) {strides = [2, 2], kernel = [2, 2], pads_begin = [0, 0], pads_end = [0, 0], name = "pool"}
          : tensor<1x3x4x4xf32>, tensor<1x3x4x4xsi64>
        opset1.Result(%y) {name = "r"}
    """,
        "back",
    )
    pool = node(graph, "pool")
    assert (pool.op, pool.type, pool.version) == ("Pooling", "MaxPool", "opset14")
    assert pool.strides.tolist() == [2, 2]
    with edit(graph):
        pool["strides"] = np.array([1, 1])
        assert pool.need_shape_inference
    assert not pool.has("need_shape_inference")
    assert pool.out_port(0).data.get_shape().tolist() == [1, 3, 7, 7]
    with pytest.raises(ConversionError, match=r"MaxPool 'pool': its attribute auto_pad cannot be 'never'"):
        pool["auto_pad"] = "never"
    pool["type"] = "Other"
    assert pool.ir_operation.name == "mo.Pooling"
    assert (pool.type, pool.version, pool.kernel.tolist()) == ("Other", "opset14", [2, 2])


def test_parameter_and_constant(tf, node):
    x, gamma = node(tf, "x"), node(tf, "gamma")
    assert x.shape.tolist() == [1, 4, 4, 3]
    assert x.data_type is np.float32
    x["shape"] = [2, -1, 4, 3]
    x["data_type"] = np.float16
    assert np.ma.getmaskarray(x.shape).tolist() == [False, True, False, False]
    assert x.data_type is np.float16
    assert gamma.shape.tolist() == [2]
    gamma["value"] = np.array([[1, 2, 3]], dtype=np.int64)
    assert gamma.value.tolist() == [[1, 2, 3]]
    assert gamma.shape.tolist() == [1, 3]
    gamma["data_type"] = np.float32
    assert gamma.value.dtype == np.float32


def test_ports_that_exist(tf, node):
    add, squeeze = node(tf, "add"), node(tf, "squeeze")
    assert list(add.in_ports()) == [0, 1]
    assert list(add.out_ports()) == [0]
    assert squeeze.in_port(1).disconnected()
    assert not squeeze.is_in_port_connected(1)
    assert squeeze.is_in_port_connected(0)
    assert squeeze.is_out_port_connected(0)
    assert not squeeze.is_out_port_connected(3)
    with pytest.raises(ConversionError, match=r"'squeeze': it has no input port 2 \(it has \[0\]\)"):
        squeeze.in_port(2)
    with pytest.raises(ConversionError, match="no output port 1"):
        squeeze.out_port(1)
    assert squeeze.in_port() == squeeze.in_port(0)
    with pytest.raises(ConversionError, match="2 input ports"):
        add.in_port()
    with edit(tf):
        squeeze.in_port(1).connect(node(tf, "gamma").out_port(0))
    assert len(squeeze.in_nodes()) == 2


def test_ports_are_added_and_deleted(tf, node):
    unheard = node(tf, "unheard")
    with edit(tf):
        unheard.add_input_port(1)
        with pytest.raises(ConversionError, match="has an input port 1 already"):
            unheard.add_input_port(1)
        unheard.add_input_port(1, skip_if_exist=True)
        assert list(unheard.in_ports()) == [0, 1]
        unheard.add_output_port(2)
        assert list(unheard.out_ports()) == [0, 2]
        with pytest.raises(ConversionError, match="has an output port 2 already"):
            unheard.add_output_port(2)
        unheard.add_output_port(1)
        assert list(unheard.out_ports()) == [0, 1, 2]
        unheard.delete_output_port(1)
        unheard.delete_output_port(1, skip_if_absent=True)
        with pytest.raises(ConversionError, match="no output port 1"):
            unheard.delete_output_port(1)
        unheard.add_sequence_of_ports("in", range(3))
        unheard.add_sequence_of_ports("out", range(3))
        assert (list(unheard.in_ports()), list(unheard.out_ports())) == ([0, 1, 2], [0, 1, 2])
        unheard.delete_input_port(2)
        with pytest.raises(ConversionError, match="no input port 2"):
            unheard.delete_input_port(2)
        unheard.delete_input_port(2, skip_if_absent=True)
        with pytest.raises(ConversionError, match="not a number of a port"):
            unheard.add_input_port(-1)
    assert list(unheard.in_ports()) == [0]


def test_neighbours_in_the_front_phase(tf, node):
    add, fbn = node(tf, "add"), node(tf, "fbn")
    assert {number: each.name for number, each in fbn.in_nodes().items()} == {0: "add", 1: "gamma", 2: "gamma", 3: "gamma", 4: "gamma"}
    assert fbn.in_node(0) == add
    assert add.out_node(0) == fbn
    assert fbn.in_edge(3) == {"in": 3, "out": 0}
    assert add.out_edge(0) == {"in": 0, "out": 0}
    assert list(fbn.in_edges()) == [0, 1, 2, 3, 4]
    assert list(add.out_nodes()) == list(add.out_edges()) == [0]
    assert fbn.get_sorted_inputs()[1] == ("gamma", {"in": 1, "out": 0})
    assert add.get_outputs({"in": 0}) == [("fbn", {"in": 0, "out": 0})]
    assert add.get_outputs({"in": 1}) == []
    assert fbn.input_ports_with(node(tf, "gamma")) == [1, 2, 3, 4]
    assert add.edge({"in": 1}) == ("gamma", "add", {"in": 1, "out": 0})
    with pytest.raises(ConversionError, match="'add': nothing is connected to its input port 5"):
        add.in_node(5)
    with pytest.raises(ConversionError, match="has 2 edges"):
        add.edge({"in": 0})


def test_neighbours_in_the_middle_phase(graph_of, node):
    from tests.unit.model_optimizer.graph.texts import MIDDLE

    graph = graph_of(MIDDLE, "middle")
    op5, op1 = node(graph, "op5"), node(graph, "op1")
    data = op5.in_node(1)
    assert (data.kind, data.shape.tolist(), data.value.tolist(), data.data_type) == ("data", [2], [0, 1], np.int64)
    assert data.in_node(0) == node(graph, "axis")
    assert data.out_node(0) == op5
    assert data.is_data
    assert data.has_valid("value")
    assert not op5.in_node(0).has_valid("value")
    assert op1.out_node(0).name == "t10"
    assert [each.name for each in op1.out_node(0).out_nodes()] == ["op2", "op3", "op4"]
    assert op1.out_edge(0) == {"out": 0}
    assert op5.in_edge(1) == {"in": 1}
    assert GraphNode(graph, data.id) == data
    data["mark"] = 1
    assert op5.in_node(1).mark == 1
    del data["mark"]
    assert not data.has("mark")
    op1.out_node(0)["shape"] = [5, 3]
    assert op1.out_port(0).data.get_shape().tolist() == [5, 3]
    with pytest.raises(ConversionError, match="neither ports nor an operation"):
        data.in_port(0)
    with pytest.raises(ConversionError, match="cannot be deleted"):
        del data["shape"]


def test_copy_node(tf, node):
    copy = node(tf, "unheard").copy_node({"name": "twin", "count": 9})
    assert (copy.name, copy["count"], copy.mode) == ("twin", 9, "fast")
    assert node(tf, "unheard")["count"] == 3
    assert copy.in_port(0).disconnected()


def test_python_attributes_of_a_clone_are_its_own(tf, node):
    unheard = node(tf, "unheard")
    unheard["extra"] = [1]
    copy = unheard.copy_node()
    copy["extra"] = [2]
    assert unheard.extra == [1]


def test_bodies(graph_of, node):
    graph = graph_of(
        """
        %x = opset1.Parameter() {name = "x"} : tensor<2xf32>
        %c = opset1.Constant() {value = #moir.data<tensor<i1>, [true]>, name = "c"} : tensor<i1>
        %y = opset8.If(%c, %x) {then_inputs = [1], else_inputs = [1], name = "if"} ({
          %p = opset1.Parameter() {name = "p"} : tensor<2xf32>
          %q = opset1.Relu(%p) {name = "relu"} : tensor<2xf32>
          opset1.Result(%q) {name = "q"}
        }, {
          %p = opset1.Parameter() {name = "p"} : tensor<2xf32>
          opset1.Result(%p) {name = "q"}
        }) : tensor<2xf32>
        opset1.Result(%y) {name = "r"}
    """,
        "back",
    )
    choice = node(graph, "if")
    assert choice.sub_graphs == ["then_graph", "else_graph"]
    assert [each.name for each in choice.then_graph.get_op_nodes()] == ["p", "relu", "q"]
    assert choice.then_graph is choice["then_graph"]
    assert len(graph.body_graphs()) == 2
    with edit(graph):
        body = choice.then_graph
        body.erase_node(node(body, "relu"))
    assert [each.name for each in choice.then_graph.get_op_nodes()] == ["p", "q"]
    graph.module.verify()
    with pytest.raises(ConversionError, match="its body had 1 outputs and has 0 now"), edit(graph):
        choice.then_graph.remove_node("q")


def test_the_operation_of_an_eltwise_is_its_function(graph_of, node):
    graph = graph_of("""
%x = opset1.Parameter() {name = "x"} : tensor<3xf32>
%a = tf.AddN(%x, %x) {N = 2, T = f32, name = "sum"} : ?
opset1.Result(%a) {name = "r"}
""")
    assert (node(graph, "sum").op, node(graph, "sum").operation) == ("EltwiseN", "sum")
    assert node(graph, "sum").has("operation")
    assert not node(graph, "x").has("operation")


def test_ports_in_front_of_an_added_one_do_not_exist(tf):
    """As extensions that connect the entries of a shape in any order expect."""
    concat = Concat(tf, {"axis": 0}).create_node()
    concat.add_input_port(2)
    assert list(concat.in_ports()) == [2]
    concat.add_input_port(0)
    assert list(concat.in_ports()) == [0, 2]
    with pytest.raises(ConversionError, match="input port 2 already"):
        concat.add_input_port(2)


def test_the_data_node_of_a_port_that_lost_its_consumers(graph_of, node):
    graph = graph_of(TF, "middle")
    add = node(graph, "add")
    data = add.out_node(0)
    add.out_port(0).get_connection().set_source(node(graph, "x").out_port(0))
    assert add.out_node(0) == data
    assert add.out_port(0).disconnected()
