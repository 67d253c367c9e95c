"""Functions of a GraphDef: calls that are inlined, and functions that become regions."""

from __future__ import annotations

import numpy as np
import pytest

from moir.dialects import element_types
from moir.dialects.names import name_of
from moir.dialects.shapes import element_of
from moir.errors import ModelFileError
from moir.frontends.tensorflow import graph as graph_module
from tests.unit.frontends.tensorflow.samples import (
    FLOAT,
    INT32,
    Call,
    Placeholder,
    Shape,
    Type,
    constant,
    function,
    graph,
    imported,
    names,
    node,
    operations,
    placeholder,
    properties,
    read,
    tensor_names,
    the,
)

DOUBLE = function("double", "a:FLOAT", "twice:FLOAT", [node("add", "AddV2", "a a", T=FLOAT)], {"twice": "add:z:0"})


def call(name, target, inputs, **attributes):
    """A node that calls a function."""
    return node(name, "StatefulPartitionedCall", inputs, f=Call(target, attributes))


def body_operations(region):
    """The operations of a region."""
    return list(region.block.ops)


def test_calls_are_inlined(tmp_path):
    nodes = [placeholder("x"), call("one", "double", "x"), node("two", "double", "one"), node("y", "Relu", "two:0")]
    module = read(graph(*nodes, functions=[DOUBLE]), tmp_path)
    assert names(module, "tf.AddV2") == ["one/add", "two/add"]
    first, second = operations(module, "tf.AddV2")
    assert second.operands[0] is first.results[0]
    assert tensor_names(first) == ["one/add,one/add:0,one,one:0"]


def test_calls_on_other_devices_are_inlined(tmp_path):
    nodes = [placeholder("x"), constant("device", 0), node("y", "RemoteCall", "device x", f=Call("double"), Tout=[FLOAT])]
    module = read(graph(*nodes, functions=[DOUBLE]), tmp_path)
    assert the(module, "tf.AddV2").operands[0] is the(module, "opset1.Parameter").results[0]
    assert names(module, "opset1.Result") == ["y"]


def test_functions_call_functions(tmp_path):
    outer = function("outer", "b", "r", [call("in", "double", "b"), node("neg", "Neg", "in:output:0")], {"r": "neg:y:0"})
    module = read(graph(placeholder("x"), call("f", "outer", "x"), functions=[outer, DOUBLE]), tmp_path)
    assert [op.name for op in operations(module)] == ["opset1.Parameter", "tf.AddV2", "tf.Neg", "opset1.Result"]
    assert names(module, "tf.AddV2") == ["f/in/add"]
    assert names(module, "opset1.Result") == ["f"]


def test_only_outputs_that_are_used_are_inlined(tmp_path):
    nodes = [node("a", "Abs", "p"), node("n", "Neg", "p")]
    both = function("both", "p", "first second", nodes, {"first": "a:y:0", "second": "n:y:0"})
    module = read(graph(placeholder("x"), call("f", "both", "x"), node("y", "Relu", "f:1"), functions=[both]), tmp_path)
    assert [op.name for op in operations(module)] == ["opset1.Parameter", "tf.Neg", "tf.Relu", "opset1.Result"]


def test_an_argument_that_is_an_output(tmp_path):
    same = function("same", "p", "r", [], {"r": "p"})
    module = read(graph(placeholder("x"), call("f", "same", "x"), node("y", "Relu", "f"), functions=[same]), tmp_path)
    assert tensor_names(the(module, "opset1.Parameter")) == ["x,x:0,f,f:0"]
    assert the(module, "tf.Relu").operands[0] is the(module, "opset1.Parameter").results[0]


@pytest.mark.parametrize(
    ("kind", "reference", "number", "attributes"),
    [
        ("TopKV2", "n:values:0", 0, {}),
        ("TopKV2", "n:indices:0", 1, {}),
        ("Split", "n:output:2", 2, {"num_split": 3}),
        ("FusedBatchNormV3", "n:reserve_space_3:0", 5, {}),
        ("CTCBeamSearchDecoder", "n:decoded_values:1", 3, {"top_paths": 2, "beam_width": 4}),
        ("CTCBeamSearchDecoder", "n:log_probability:0", 6, {"top_paths": 2, "beam_width": 4}),
        ("ParseExample", "n:dense_values:0", 4, {"Nsparse": 1, "sparse_types": [FLOAT, FLOAT]}),
        ("Custom", "n:whatever:1", 1, {}),
    ],
)
def test_named_outputs(tmp_path, kind, reference, number, attributes):
    operands = "p p p p p" if kind == "FusedBatchNormV3" else "p p"
    inner = function("f", "p", "r", [node("n", kind, operands, **attributes), node("i", "Identity", reference)], {"r": "i:output:0"})
    module = read(graph(placeholder("x"), call("c", "f", "x"), functions=[inner]), tmp_path)
    assert the(module, "tf.Identity").operands[0].index == number


def test_attributes_of_a_call(tmp_path):
    nodes = [
        node("n", "Cast", "p", DstT=Placeholder("T"), axis=Placeholder("axis")),
        call("in", "inner", "n:y:0", A=Placeholder("axis")),
    ]
    outer = function("outer", "p:$T", "r", nodes, {"r": "in:output:0"}, axis=7)
    inner = function("inner", "p", "r", [node("s", "Strange", "p", a=Placeholder("A"))], {"r": "s:y:0"})
    content = graph(placeholder("x"), call("c", "outer", "x", T=INT32), functions=[outer, inner])
    module = read(content, tmp_path)
    assert properties(the(module, "tf.Cast")) == {"DstT": element_types.si32, "axis": 7}
    assert properties(the(module, "tf.Strange")) == {"a": 7}
    del content.node[1].attr["f"].func.attr["T"]
    with pytest.raises(ModelFileError, match=r"tf.Cast 'c/n': attribute 'DstT' refers to \$T, which the call does not give"):
        read(content, tmp_path)


def test_constants_of_functions_are_shared(tmp_path):
    inner = function("f", "p", "r", [constant("w", np.ones(5)), node("m", "Mul", "p w:output:0")], {"r": "m:z:0"})
    nodes = [placeholder("x"), call("a", "f", "x"), call("b", "f", "a")]
    module = read(graph(*nodes, functions=[inner]), tmp_path)
    first, second = operations(module, "opset1.Constant")
    assert first.properties["value"] is second.properties["value"]
    assert [name_of(op) for op in (first, second)] == ["a/w", "b/w"]


THEN = function("then", "p q:INT32", "r", [node("a", "Abs", "p")], {"r": "a:y:0"})
ELSE = function("else", "p q:INT32", "r", [node("n", "Neg", "p")], {"r": "n:y:0"})


def test_branches_are_regions(tmp_path):
    nodes = [placeholder("c", (), Type("BOOL")), placeholder("x"), placeholder("k", (), INT32)]
    choice = node("if", "If", "c x k", else_branch=Call("else"), then_branch=Call("then"), Tcond=Type("BOOL"))
    module = read(graph(*nodes, choice, functions=[THEN, ELSE]), tmp_path)
    op = the(module, "tf.If")
    assert properties(op) == {"Tcond": element_types.boolean, "graph_attributes": ("then_branch", "else_branch")}
    then, otherwise = map(body_operations, op.regions)
    assert [each.name for each in then] == ["opset1.Parameter", "opset1.Parameter", "tf.Abs", "opset1.Result"]
    assert [each.name for each in otherwise] == ["opset1.Parameter", "opset1.Parameter", "tf.Neg", "opset1.Result"]
    assert [element_of(each.results[0]) for each in then[:2]] == [element_types.f32, element_types.si32]
    assert [name_of(each) for each in then] == ["if/p", "if/q", "if/a", "if/r"]


def test_a_case_has_a_region_for_each_branch(tmp_path):
    nodes = [placeholder("c", (), INT32), placeholder("x"), placeholder("k", (), INT32)]
    choice = node("case", "Case", "c x k", branches=[Call("then"), Call("else"), Call("then")])
    op = the(read(graph(*nodes, choice, functions=[THEN, ELSE]), tmp_path), "tf.Case")
    assert properties(op) == {"graph_attributes": ("branches", "branches", "branches")}
    assert [body_operations(region)[2].name for region in op.regions] == ["tf.Abs", "tf.Neg", "tf.Abs"]


def loop(results, **more):
    """A loop over a handle `h`, a value `v` and a counter `i`."""
    arguments = "h:RESOURCE v i:INT32"
    body = function(
        "body",
        arguments,
        "h1:RESOURCE v1 i1:INT32",
        [node("same", "Identity", "h"), node("w", "ReadVariableOp", "same:output:0"), node("m", "Mul", "v w:value:0")],
        results,
    )
    cond = function("cond", arguments, "r:BOOL", [constant("n", 3, np.int32), node("l", "Less", "i n:output:0")], {"r": "l:z:0"})
    nodes = [
        node("var", "VarHandleOp", dtype=FLOAT, shape=Shape([2]), **more),
        placeholder("x"),
        placeholder("k", (), INT32),
        node("loop", "While", "var x k", cond=Call("cond"), body=Call("body")),
        node("after", "ReadVariableOp", "loop:0"),
        node("y", "Add", "loop:1 after"),
    ]
    return graph(*nodes, functions=[cond, body])


def test_handles_are_not_handed_through_loops():
    module = imported(loop({"h1": "same:output:0", "v1": "m:z:0", "i1": "i"}))
    op = the(module, "tf.While")
    assert properties(op)["graph_attributes"] == ("cond", "body")
    assert len(op.operands) == 2
    assert len(op.results) == 1
    cond, body = map(body_operations, op.regions)
    assert [each.name for each in cond] == [
        "opset1.Parameter",
        "opset1.Parameter",
        "opset1.Constant",
        "tf.Less",
        "opset1.Result",
    ]
    assert [each.name for each in body][:3] == ["tf.VarHandleOp", "opset1.Parameter", "opset1.Parameter"]
    assert [each.name for each in body][-2:] == ["opset1.Result", "opset1.Result"]
    assert name_of(body[0]) == "var"
    assert the(module, "tf.ReadVariableOp").operands[0] is the(module, "tf.VarHandleOp").results[0]


def test_a_loop_that_exchanges_its_variable(tmp_path):
    content = loop({"h1": "other:resource:0", "v1": "m:z:0", "i1": "i"})
    content.library.function[1].node_def.append(node("other", "VarHandleOp"))
    with pytest.raises(ModelFileError, match=r"tf.While 'loop': its body exchanges the variable or table that is operand 0"):
        read(content, tmp_path)


def test_handles_in_branches_and_calls():
    reading = function("read", "h:RESOURCE p", "r", [node("w", "ReadVariableOp", "h")], {"r": "w:value:0"})
    plain = function("plain", "h:RESOURCE p", "r", [], {"r": "p"})
    choice = node("if", "If", "c h x", then_branch=Call("read"), else_branch=Call("plain"))
    outer = function("outer", "c:BOOL h:RESOURCE x", "r", [choice], {"r": "if:output:0"})
    nodes = [placeholder("c", (), Type("BOOL")), node("var", "VarHandleOp"), placeholder("x"), call("f", "outer", "c var x")]
    op = the(imported(graph(*nodes, functions=[reading, plain, outer])), "tf.If")
    assert len(op.operands) == 2
    then, otherwise = map(body_operations, op.regions)
    assert [each.name for each in then] == ["tf.VarHandleOp", "opset1.Parameter", "tf.ReadVariableOp", "opset1.Result"]
    assert [each.name for each in otherwise] == ["opset1.Parameter", "opset1.Result"]


def test_loops_of_nodes_in_functions(tmp_path):
    nodes = [
        node("e", "Enter", "p", frame_name="loop"),
        node("m", "Merge", "e:output:0 n:output:0"),
        node("s", "Switch", "m:output:0 m:output:0"),
        node("n", "NextIteration", "s:output_true:0"),
        node("z", "Exit", "s:output_false:0"),
    ]
    inner = function("f", "p", "r", nodes, {"r": "z:output:0"})
    module = read(graph(placeholder("x"), call("c", "f", "x"), functions=[inner]), tmp_path)
    assert properties(the(module, "tf.NextIteration")) == {"merge": "c/m", "index": 1}


@pytest.mark.parametrize(
    ("functions", "message"),
    [
        ([], "StatefulPartitionedCall 'c': it calls the function 'f', which the model does not have; export"),
        ([DOUBLE, DOUBLE], "function 'double' is there twice"),
        ([function("f", "p q", "r", [], {"r": "p"})], "the function 'f' has 2 arguments and 1 results, the call does not fit that"),
        ([function("f", "p", "r", [], {})], "function 'f' does not compute its output 'r'"),
        ([function("f", "p", "r", [], {"r": "q:0"})], "function 'f' has no node 'q'"),
        ([function("f", "p p", "r", [], {"r": "p"})], "two tensors of function 'f' have the name 'p'"),
        ([function("f", "p", "r", [node("p", "Abs")], {"r": "p"})], "two tensors of function 'f' have the name 'p'"),
        ([function("f", "p", "r", [node("t", "TopKV2", "p p")], {"r": "t:ranks:0"})], "tf.TopKV2 'c/t': it has no output 'ranks'"),
        ([function("f", "p", "r", [call("g", "f", "p")], {"r": "g:output:0"})], "functions call themselves: f -> f; the operation"),
    ],
)
def test_contradictions(tmp_path, functions, message):
    with pytest.raises(ModelFileError) as caught:
        read(graph(placeholder("x"), call("c", "f", "x"), functions=functions), tmp_path)
    assert message in str(caught.value)


def test_list_arguments_are_refused(tmp_path):
    inner = function("f", "p", "r", [], {"r": "p"})
    inner.signature.input_arg[0].number_attr = "N"
    with pytest.raises(ModelFileError, match=r"argument 'p' of function 'f' is a list of tensors"):
        read(graph(placeholder("x"), call("c", "f", "x"), functions=[inner]), tmp_path)


def nested(depth):
    """Functions each of which calls the next one twice."""
    functions = [
        function(f"f{level}", "p", "r", [call("a", f"f{level + 1}", "p"), call("b", f"f{level + 1}", "a:output:0")], {"r": "b:output:0"})
        for level in range(depth)
    ]
    return [*functions, function(f"f{depth}", "p", "r", [node("n", "Neg", "p")], {"r": "n:y:0"})]


def test_calls_cannot_eat_memory(tmp_path, monkeypatch):
    assert graph_module.FREE_PARTS <= 100_000
    monkeypatch.setattr(graph_module, "FREE_PARTS", 5000)
    monkeypatch.setattr(graph_module, "GROWTH", 2)
    reason = r"functions call each other until there are more than 5166 nodes, arguments and outputs.*convert a part of the model"
    with pytest.raises(ModelFileError, match=reason):
        read(graph(placeholder("x"), call("c", "f0", "x"), functions=nested(40)), tmp_path)


def test_calls_may_give_more_the_more_nodes_there_are(tmp_path, monkeypatch):
    monkeypatch.setattr(graph_module, "FREE_PARTS", 0)
    monkeypatch.setattr(graph_module, "GROWTH", 10)
    ten = [node(f"n{index}", "Neg", f"n{index - 1}:y:0" if index else "p") for index in range(10)]
    body = [function("f", "p", "r", ten, {"r": "n9:y:0"})]
    calls = [call(f"c{index}", "f", f"c{index - 1}" if index else "x") for index in range(200)]
    read(graph(placeholder("x"), *calls[:5], functions=body), tmp_path)
    with pytest.raises(ModelFileError, match="until there are more than"):
        read(graph(placeholder("x"), *calls, functions=body), tmp_path)


def test_calls_are_nested_to_a_limit(tmp_path):
    functions = [function(f"f{level}", "p", "r", [call("a", f"f{level + 1}", "p")], {"r": "a:output:0"}) for level in range(100)]
    with pytest.raises(ModelFileError, match="functions are nested more than 64 deep"):
        read(graph(placeholder("x"), call("c", "f0", "x"), functions=functions), tmp_path)


def test_names_of_calls_are_nested_to_a_limit(tmp_path):
    name = "n" * 1500
    functions = [function(f"f{level}", "p", "r", [call(name, f"f{level + 1}", "p")], {"r": f"{name}:output:0"}) for level in range(3)]
    with pytest.raises(ModelFileError, match="the names of nodes that call each other are too long"):
        read(graph(placeholder("x"), call("c", "f0", "x"), functions=functions), tmp_path)
