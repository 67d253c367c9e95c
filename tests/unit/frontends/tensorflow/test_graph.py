"""Nodes of a GraphDef -> operations: names, outputs of nodes, order, loops, inputs and outputs of the model."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.dialects.builtin import ArrayAttr, ComplexType, f32, f64

from moir.dialects import element_types
from moir.dialects.data import DataAttr
from moir.dialects.moir import is_none
from moir.dialects.properties import value_of
from moir.dialects.shapes import UNKNOWN, element_of, shape_of
from moir.errors import ModelFileError
from moir.frontends.tensorflow import graph as graph_module
from moir.frontends.tensorflow.graph import GraphImporter
from moir.frontends.tensorflow.tensors import TensorReader
from tests.unit.frontends.tensorflow.samples import (
    FLOAT,
    INT32,
    Call,
    Shape,
    Type,
    constant,
    fill_shape,
    graph,
    imported,
    names,
    node,
    notes,
    operations,
    placeholder,
    properties,
    read,
    tensor_names,
    the,
)


def chain(*nodes):
    """A placeholder `x`, nodes, and an Identity `y` of the node `z`."""
    return graph(placeholder("x"), *nodes, node("y", "Identity", "z"))


def test_a_small_graph(tmp_path):
    module = read(chain(constant("w", [[1, 2]]), node("z", "Mul", "x w", T=FLOAT)), tmp_path)
    x, w, z, y, result = operations(module)
    assert [op.name for op in (x, w, z, y, result)] == ["opset1.Parameter", "opset1.Constant", "tf.Mul", "tf.Identity", "opset1.Result"]
    assert (shape_of(x.results[0]), element_of(x.results[0])) == ((2, -1), element_types.f32)
    assert tuple(z.operands) == (x.results[0], w.results[0])
    assert z.properties == {"T": element_types.f32}
    assert z.results[0].type == UNKNOWN
    assert tensor_names(z) == ["z,z:0"]
    assert tensor_names(x) == ["x,x:0"]
    assert names(module, "opset1.Result") == ["y"]
    assert module.body.block.first_op.sym_name.data == "model"
    assert notes(module) == []


def test_outputs_of_nodes(tmp_path):
    nodes = [node("s", "Split", "x x", num_split=4), node("z", "Add", "s s:2 ^x"), node("c", "a/strange kind", "s:1")]
    module = read(chain(*nodes), tmp_path)
    split, add = the(module, "tf.Split"), the(module, "tf.Add")
    assert tensor_names(split) == ["s,s:0", "s:1", "s:2"]
    assert tuple(add.operands) == (split.results[0], split.results[2])
    assert names(module, "opset1.Result") == ["c", "y"]
    assert [op.KIND for op in operations(module) if op.name.startswith("tf.a")] == ["a/strange kind"]


def test_commas_in_names_do_not_end_them(tmp_path):
    module = read(graph(placeholder("x"), node("a,b", "Relu", "x")), tmp_path)
    assert tensor_names(the(module, "tf.Relu")) == ["a\\,b,a\\,b:0"]


def test_nodes_come_after_what_they_use(tmp_path):
    module = read(graph(node("y", "Neg", "b"), node("b", "Abs", "a"), node("a", "Relu", "x"), placeholder("x")), tmp_path)
    assert [op.name for op in operations(module)] == ["opset1.Parameter", "tf.Relu", "tf.Abs", "tf.Neg", "opset1.Result"]


def test_the_order_of_the_file_stays_otherwise(tmp_path):
    nodes = [node(name, "Relu", "x") for name in "dbca"]
    module = read(graph(placeholder("q"), placeholder("x"), *nodes, node("y", "Pack", "q a b c d")), tmp_path)
    assert names(module, "tf.Relu") == list("dbca")
    assert names(module, "opset1.Parameter") == ["q", "x"]


LOOP = [
    node("e", "Enter", "x", frame_name="loop"),
    node("m", "Merge", "e n"),
    node("c", "LoopCond", "m"),
    node("s", "Switch", "m c"),
    node("n", "NextIteration", "s:1"),
    node("z", "Exit", "s"),
]


def test_loops_are_cut_at_the_back_edge(tmp_path):
    module = read(chain(*LOOP), tmp_path)
    merge, back = the(module, "tf.Merge"), the(module, "tf.NextIteration")
    assert is_none(merge.operands[1].owner)
    assert properties(back) == {"merge": "m", "index": 1}
    assert operations(module).index(merge) < operations(module).index(back)


def test_cycles_are_named(tmp_path):
    content = graph(placeholder("x"), node("a", "Add", "x c"), node("b", "Abs", "a"), node("c", "Neg", "b"), node("y", "Relu", "c"))
    with pytest.raises(ModelFileError, match=r"tf.Add 'a': it needs itself: a -> b -> c -> a; only loops through NextIteration"):
        read(content, tmp_path)


def test_attributes(tmp_path):
    value = np.arange(3, dtype=np.float32)
    attributes = {
        "i": -3,
        "f": 0.1,
        "s": "SAME",
        "raw": b"\xff\x00",
        "b": True,
        "shape": Shape([1, -1]),
        "unknown": Shape(None),
        "t": Type("INT64"),
        "c": Type("COMPLEX64"),
        "d": Type("COMPLEX128"),
        "q": Type("QUINT8"),
        "r": Type("RESOURCE"),
        "ref": Type("FLOAT"),
        "is": [1, 2],
        "fs": [0.5, 0.1],
        "ss": ["a", "b"],
        "bs": [True, False],
        "ts": [FLOAT, INT32],
        "shapes": [Shape([2]), Shape(None)],
        "empty": [],
        "tensor": constant("w", value).attr["value"].tensor,
        "_hidden": 1,
    }
    content = chain(node("z", "Strange", "x", **attributes))
    content.node[1].attr["ref"].type = 101
    content.node[1].attr["unset"].SetInParent()
    actual = the(read(content, tmp_path), "tf.Strange").properties
    array = actual["tensor"].array
    assert array.tolist() == value.tolist()
    raw = actual["raw"]
    assert isinstance(raw, DataAttr)
    assert raw.array.tolist() == [255, 0]
    types = {"t": element_types.si64, "c": ComplexType(f32), "d": ComplexType(f64), "q": element_types.ui8, "r": element_types.dynamic}
    assert {name: actual[name] for name in types} == types
    assert actual["ref"] == element_types.f32
    assert actual["ts"] == ArrayAttr([element_types.f32, element_types.si32])
    plain = {name: value_of(actual[name]) for name in ("i", "f", "s", "b", "shape", "is", "fs", "ss", "bs", "shapes", "empty")}
    assert plain == {
        "i": -3,
        "f": 0.1,
        "s": "SAME",
        "b": True,
        "shape": (1, -1),
        "is": (1, 2),
        "fs": (0.5, 0.1),
        "ss": ("a", "b"),
        "bs": (1, 0),
        "shapes": ((2,), "unknown rank"),
        "empty": (),
    }
    assert not {"_hidden", "unknown", "unset"} & actual.keys()


@pytest.mark.parametrize(
    ("shape", "producer", "expected"),
    [((), 23, None), ((), 24, ()), (None, 1000, None), ((2, -1), 23, (2, -1)), ((0, -7), 1000, (0, -1))],
)
def test_shapes_of_placeholders(tmp_path, shape, producer, expected):
    content = graph(placeholder("x", shape), node("y", "Relu", "x"), producer=producer)
    assert shape_of(the(read(content, tmp_path), "opset1.Parameter").results[0]) == expected


def test_a_placeholder_without_shape(tmp_path):
    module = read(graph(node("x", "Placeholder", dtype=FLOAT), node("y", "Relu", "x")), tmp_path)
    assert shape_of(the(module, "opset1.Parameter").results[0]) is None


def test_complex_inputs_are_pairs(tmp_path):
    module = read(graph(placeholder("x", (3,), Type("COMPLEX128")), node("y", "Real", "x")), tmp_path)
    result = the(module, "opset1.Parameter").results[0]
    assert (shape_of(result), element_of(result)) == ((3, 2), element_types.f64)
    assert notes(module) == ["the input x is complex: its last dimension holds real and imaginary parts"]


def test_inputs_that_are_no_tensors(tmp_path):
    with pytest.raises(ModelFileError, match=r"tf.Placeholder 'x': a model cannot have an input of its type.*freeze it"):
        read(graph(placeholder("x", (), Type("RESOURCE")), node("y", "ReadVariableOp", "x"), node("z", "Relu", "y")), tmp_path)


def test_iterators_and_queues_are_inputs(tmp_path):
    nodes = [
        node("i", "IteratorV2"),
        node("next", "IteratorGetNext", "i", output_types=[FLOAT, INT32], output_shapes=[Shape([2, -1]), Shape(None)]),
        node("q", "FIFOQueueV2", component_types=[FLOAT], shapes=[Shape([4])]),
        constant("n", 8, np.int32),
        node("many", "QueueDequeueManyV2", "q n", component_types=[FLOAT]),
        node("y", "Strange", "next next:1 many"),
    ]
    module = read(graph(*nodes), tmp_path)
    parameters = operations(module, "opset1.Parameter")
    assert names(module, "opset1.Parameter") == ["next", "next:1", "many"]
    assert [tensor_names(op) for op in parameters] == [["next,next:0"], ["next:1"], ["many,many:0"]]
    assert [shape_of(op.results[0]) for op in parameters] == [(2, -1), None, (-1, 4)]
    assert [op.name for op in operations(module)[3:]] == ["tf.Strange", "opset1.Result"]


def test_what_is_there_for_its_effect_is_left_out(tmp_path):
    nodes = [
        placeholder("x"),
        placeholder("unused"),
        node("y", "Relu", "x"),
        node("ok", "Greater", "x x"),
        node("assert", "Assert", "ok x"),
        node("noop", "NoOp", "^y"),
        node("save", "SaveV2", "x"),
        constant("lonely", 1),
        node("h", "HistogramSummary", "x"),
    ]
    module = read(graph(*nodes), tmp_path)
    assert [op.name for op in operations(module)] == ["opset1.Parameter", "tf.Relu", "opset1.Result"]
    assert notes(module) == [
        "left out checks and printing (1 Assert)",
        "left out saving and restoring (1 SaveV2)",
        "left out reports to TensorBoard (1 HistogramSummary)",
        "left out inputs no output depends on (unused)",
    ]


def test_values_within_loops_are_no_outputs(tmp_path):
    nodes = [*LOOP, node("pushed", "Neg", "s:1"), node("saved", "StackPushV2", "x s:1")]
    assert names(read(chain(*nodes), tmp_path), "opset1.Result") == ["y"]


def test_calls_without_outputs_are_no_outputs(tmp_path):
    nodes = [node("z", "Relu", "x"), node("if", "If", "x x", Tout=[], then_branch=Call("f"), else_branch=Call("f"))]
    assert names(read(chain(*nodes), tmp_path), "opset1.Result") == ["y"]


def test_constants_that_are_tied_to_branches(tmp_path):
    """Only control edges tie them to their branches: a Switch says so by data, also for what is computed of them."""
    nodes = [
        placeholder("p", (), Type("BOOL")),
        node("p/pred_id", "Identity", "p"),
        node("pivot", "Switch", "p p/pred_id"),
        node("t", "Identity", "pivot:1"),
        node("f", "Identity", "pivot"),
        constant("a", 1),
        constant("b", 2),
        node("c", "Neg", "b"),
        node("z", "Merge", "c a"),
    ]
    nodes[5].input.append("^t")
    nodes[6].input.append("^f")
    module = read(chain(*nodes), tmp_path)
    switches = [op for op in module.walk() if op.name == "tf.Switch" and not op.attributes]
    [merge] = [op for op in module.walk() if op.name == "tf.Merge"]
    assert [operand.owner for operand in merge.operands] == switches
    assert [operand.index for operand in merge.operands] == [0, 1]
    assert names(module, "opset1.Result") == ["y"]


def test_results_that_are_all_printed_are_outputs(tmp_path):
    module = read(graph(placeholder("x"), node("y", "Relu", "x"), node("print", "PrintV2", "y")), tmp_path)
    assert names(module, "opset1.Result") == ["y"]


def test_all_outputs_of_a_last_node_are_outputs(tmp_path):
    nodes = [
        constant("k", 2, np.int32),
        node("top", "TopKV2", "x k"),
        node("split", "Split", "k x", num_split=3),
        node("bn", "FusedBatchNormV3", "x x x x x"),
    ]
    module = read(graph(placeholder("x"), *nodes), tmp_path)
    assert names(module, "opset1.Result") == ["top", "top:1", "split", "split:1", "split:2", "bn"]


def test_remains_of_control_flow_are_no_outputs(tmp_path):
    nodes = [
        *LOOP,
        node("loop/exit/_7", "Exit", "s"),
        node("body_control", "Identity", "s:1"),
        node("t", "Identity", "s:1"),
        node("noop", "NoOp", "^body_control"),
        constant("w", 1),
        node("dense/ReadVariableOp", "Identity", "w"),
        node("k", "Identity", "w"),
    ]
    module = read(chain(*nodes), tmp_path)
    assert names(module, "opset1.Result") == ["k", "y"]
    assert notes(module) == [
        "results nobody uses that are not outputs, by what computes them (loop/exit/_7, body_control, t, dense/ReadVariableOp)"
    ]


def test_outputs_of_a_graph_with_variables_depend_on_inputs(tmp_path):
    nodes = [
        node("v", "VarHandleOp", dtype=FLOAT, shape=Shape([2])),
        node("read", "ReadVariableOp", "v"),
        node("norm", "L2Loss", "read"),
        placeholder("x"),
        node("y", "Relu", "x"),
        node("lr", "Placeholder", dtype=FLOAT),
        node("train", "ResourceApplyGradientDescent", "v lr read"),
    ]
    module = read(graph(*nodes), tmp_path)
    assert names(module, "opset1.Result") == ["y"]
    assert "left out training (1 ResourceApplyGradientDescent)" in notes(module)


def importer(tmp_path, content):
    """An importer of a graph."""
    return GraphImporter(tmp_path / "m.pb", content, TensorReader(tmp_path / "m.pb"))


def test_declared_inputs_and_outputs(tmp_path):
    content = graph(placeholder("x"), placeholder("b"), node("a", "Relu", "x"), node("y", "Abs", "a"), node("images", "Neg", "a"))
    module = importer(tmp_path, content).module("m", [("unused", "b:0"), ("images", "x:0")], [("two", "a:0"), ("one", "images:0")])
    module.verify()
    first, second = operations(module, "opset1.Parameter")
    assert [tensor_names(op) for op in (first, second)] == [["unused,b,b:0"], ["images,x,x:0"]]
    assert names(module, "opset1.Result") == ["two", "one"]
    assert tensor_names(the(module, "tf.Relu")) == ["a,a:0,two"]
    # The name of an input is no name of anything else.
    assert tensor_names(the(module, "tf.Neg")) == ["images:0,one"]
    assert not operations(module, "tf.Abs")


def test_inputs_inside_a_graph(tmp_path):
    content = graph(placeholder("x"), node("a", "Cast", "x", T=INT32), node("y", "Abs", "a"))
    module = importer(tmp_path, content).module("m", [("inner", "a:0")], [("y", "y:0")])
    assert [op.name for op in operations(module)] == ["opset1.Parameter", "tf.Abs", "opset1.Result"]
    assert element_of(operations(module)[0].results[0]) == element_types.si32


def test_one_tensor_as_two_inputs(tmp_path):
    content = graph(placeholder("x"), node("y", "Abs", "x"))
    module = importer(tmp_path, content).module("m", [("a", "x:0"), ("b", "x")], [("y", "y:0")])
    assert tensor_names(the(module, "opset1.Parameter")) == ["a,x,x:0,b"]


def test_a_graph_of_placeholders_passes_them_on():
    module = imported(graph(placeholder("x"), placeholder("y")))
    assert [op.name for op in operations(module)] == ["opset1.Parameter"] * 2 + ["opset1.Result"] * 2


def test_variables_and_tables():
    value = DataAttr.of(np.ones(2, np.float32))
    nodes = [node("v", "VarHandleOp"), node("u", "VariableV2"), node("t", "HashTableV2"), node("y", "Strange", "v u t")]
    module = imported(graph(*nodes), variables={"v": value}, node_properties={"t": {"keys": value}}, notes=["said"])
    assert the(module, "tf.VarHandleOp").properties == {"value": value}
    assert the(module, "tf.VariableV2").properties == {}
    assert the(module, "tf.HashTableV2").properties == {"keys": value}
    assert notes(module) == ["said"]


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ([], "the graph has no outputs"),
        ([placeholder("x"), constant("c", [1])], "the graph has no outputs; the model consists of"),
        (
            [placeholder("x"), node("y", "Abs", "missing:1")],
            "tf.Abs 'y': it uses 'missing:1', but the graph has no node 'missing'; the graph",
        ),
        ([placeholder("x"), node("y", "Abs", "x:70000")], "tf.Placeholder 'x': 'x:70000' is not an output of it"),
        ([placeholder("x"), node("y", "Abs", "x:-1")], "'x:-1' is not an output of it"),
        ([placeholder("x"), node("y", "Abs", "x:output:0")], "'x:output:0' is not an output of it"),
        ([placeholder("x"), node("x", "Abs", "x")], "tf.Abs 'x': two nodes of the graph have this name"),
        ([placeholder("x"), node("", "Abs", "x")], "a node of the graph has no name"),
        ([placeholder("x"), node("y", "", "x")], "'y': a node of the graph has no kind"),
        ([node("x", "Const"), node("y", "Abs", "x")], "tf.Const 'x': a Const has an attribute 'value'"),
        ([placeholder("x"), node("y", "Split", "x", num_split=10**12)], "tf.Split 'y': it cannot have 1000000000000 outputs"),
        ([node("i", "IteratorGetNext", output_types=[FLOAT]), node("y", "Abs", "i:1")], "output_types does not say the type of output 1"),
        ([placeholder("x"), node("f", "PartitionedCall", "x", f="f"), node("y", "Abs", "f")], "attribute 'f' that is a function"),
    ],
)
def test_contradictions(tmp_path, nodes, message):
    with pytest.raises(ModelFileError) as caught:
        read(graph(*nodes), tmp_path)
    assert message in str(caught.value)
    assert "model.pb" in str(caught.value)


def test_references_cannot_eat_memory(tmp_path, monkeypatch):
    assert graph_module.MAXIMUM_RESULTS <= 1_000_000
    monkeypatch.setattr(graph_module, "MAXIMUM_RESULTS", 70_000)
    nodes = [node(f"s{index}", "Strange", "x x") for index in range(10)]
    users = [node(f"y{index}", "Abs", f"s{index}:60000") for index in range(10)]
    with pytest.raises(ModelFileError, match="it is used as if it had 60001 outputs"):
        read(graph(placeholder("x"), *nodes, *users), tmp_path)


def test_long_names_cannot_eat_memory(tmp_path):
    name = "n" * 100_000
    with pytest.raises(ModelFileError, match="it is used as if it had 60001 outputs"):
        read(graph(placeholder("x"), node(name, "Strange", "x x"), node("y", "Abs", f"{name}:60000")), tmp_path)


def test_deep_chains(tmp_path):
    nodes = [node(f"n{index}", "Abs", f"n{index - 1}" if index else "x") for index in range(3000)]
    assert len(operations(read(graph(placeholder("x"), *reversed(nodes)), tmp_path), "tf.Abs")) == 3000


def test_unknown_rank_of_a_constant(tmp_path):
    content = chain(constant("w", 1), node("z", "Add", "x w"))
    fill_shape(content.node[1].attr["value"].tensor.tensor_shape, None)
    with pytest.raises(ModelFileError, match=r"tf.Const 'w': tensor 'w': its shape is unknown"):
        read(content, tmp_path)
