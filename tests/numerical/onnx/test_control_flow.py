"""If, Loop and Scan against ONNX Runtime."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from moir.errors import ConversionError
from tests.numerical.onnx.conversion import build, check, convert, node
from tests.numerical.onnx.node_case import normal_numbers

FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
X = np.arange(6, dtype=np.float32).reshape(2, 3) - 2
Z = X * 0.5
YES, NO = np.array(True), np.array(False)


def info(name, type_=FLOAT, shape=None):
    """An input or output of a graph."""
    return helper.make_tensor_value_info(name, type_, shape)


def body(nodes, inputs, outputs, initializers=()):
    """A graph; inputs and outputs are names (of f32 tensors) or pairs of name and type."""
    declared = [[info(*(each if isinstance(each, tuple) else (each,))) for each in names] for names in (inputs, outputs)]
    return helper.make_graph(nodes, "body", *declared, initializer=list(initializers))


def constant(name, value):
    """A Constant node."""
    return node("Constant", [], [name], value=onnx.numpy_helper.from_array(np.asarray(value)))


def same(name):
    """A branch that is a value from outside. ONNX Runtime does not take the value itself for an output."""
    return body([node("Identity", [name], [f"{name}_same"])], [], [f"{name}_same"])


def branches(then, otherwise, outputs=("y",)):
    """An If."""
    return node("If", ["c"], list(outputs), name="choice", then_branch=then, else_branch=otherwise)


# If


IFS = {
    "captured": branches(body([node("Neg", ["x"], ["p"])], [], ["p"]), body([node("Abs", ["x"], ["q"])], [], ["q"])),
    "passed through": branches(same("x"), body([node("Abs", ["x"], ["q"])], [], ["q"])),
    "both passed through": branches(same("x"), same("z")),
    "different captures": branches(body([node("Add", ["x", "z"], ["p"])], [], ["p"]), body([node("Mul", ["z", "z"], ["q"])], [], ["q"])),
    "different sizes": branches(body([node("ReduceSum", ["x"], ["p"])], [], ["p"]), body([node("Abs", ["x"], ["q"])], [], ["q"])),
    "constants": branches(
        body([constant("k", np.float32(2)), node("Mul", ["x", "k"], ["p"])], [], ["p"]),
        body([constant("q", np.ones((2, 3), np.float32))], [], ["q"]),
    ),
    "results twice": branches(
        body([node("Neg", ["x"], ["p"])], [], ["p", "p"]),
        body([node("Abs", ["x"], ["q"]), node("Identity", ["x"], ["r"])], [], ["q", "r"]),
        ["y", "y2"],
    ),
    "nested": branches(
        body(
            [node("Neg", ["x"], ["h"]), node("If", ["d"], ["p"], then_branch=same("h"), else_branch=same("z"))],
            [],
            ["p"],
        ),
        body([node("Abs", ["x"], ["q"])], [], ["q"]),
    ),
}


@pytest.mark.parametrize("condition", [YES, NO, np.array([True]), np.array([False])])
@pytest.mark.parametrize("name", IFS)
def test_if(name, condition):
    # ONNX Runtime wants every model input used: Identity of each is an output as well.
    others = {"x": X, "z": X * 3, "d": YES}
    reference = "onnx" if name == "results twice" else "onnxruntime"
    nodes = [IFS[name], *(node("Identity", [each], [f"{each}_out"]) for each in others)]
    outputs = [*IFS[name].output, *(f"{each}_out" for each in others)]
    check(nodes, {"c": condition, **others}, outputs=outputs, opset=13, fixed=["c", "d"], reference=reference)


@pytest.mark.parametrize("condition", [YES, NO])
def test_if_with_a_known_condition_is_inlined(condition):
    check([IFS["captured"]], {"x": X}, constants={"c": condition}, opset=13, operations=1)


@pytest.mark.parametrize("condition", [YES, NO])
def test_if_with_a_condition_known_from_the_rank(condition):
    axis = 2 if condition else 3
    nodes = [
        node("Shape", ["x"], ["s"]),
        node("Shape", ["s"], ["r"]),
        constant("two", np.array([axis])),
        node("Equal", ["r", "two"], ["c"]),
        branches(body([node("Neg", ["x"], ["p"])], [], ["p"]), body([node("Abs", ["x"], ["q"])], [], ["q"])),
    ]
    check(nodes, {"x": X}, opset=13, forms=["static", "dynamic"])


@pytest.mark.parametrize("opset", [1, 11, 13, 16, 21])
def test_if_of_all_operator_sets(opset):
    check([IFS["captured"]], {"c": YES, "x": X}, opset=max(opset, 7), fixed=["c"])


# Loop


def counting(nodes, states, scans=(), condition=None):
    """The body of a Loop."""
    again = "go" if condition is None else condition
    outputs = [(again, BOOL), *[name for _, name in states], *scans]
    inputs = [("i", INT64, []), ("go", BOOL, []), *[name for name, _ in states]]
    if condition is None:
        nodes, outputs = [*nodes, node("Identity", ["go"], ["again"])], [("again", BOOL), *outputs[1:]]
    return body(nodes, inputs, outputs)


def looping(graph, operands, outputs):
    """A Loop."""
    return node("Loop", operands, outputs, name="loop", body=graph)


ADDING = counting([node("Add", ["s", "s"], ["t"])], [("s", "t")])
SCANNING = counting([node("Add", ["s", "x"], ["t"]), node("Neg", ["t"], ["u"])], [("s", "t")], ["u"])
COUNTER = counting([node("Cast", ["i"], ["f"], to=FLOAT), node("Add", ["s", "f"], ["t"])], [("s", "t")], ["f"])
WHILE = counting(
    [
        node("Add", ["s", "x"], ["t"]),
        node("ReduceMax", ["t"], ["m"], keepdims=0),
        constant("top", np.float32(9)),
        node("Less", ["m", "top"], ["more"]),
    ],
    [("s", "t")],
    ["t"],
    condition="more",
)
GROWING = counting([node("Concat", ["s", "x"], ["t"], axis=0)], [("s", "t")])
PASSING = counting([node("Add", ["a", "b"], ["t"])], [("a", "t"), ("b", "b")], ["b"])
SWAPPING = counting([node("Identity", ["a"], ["a2"]), node("Identity", ["b"], ["b2"])], [("a", "b2"), ("b", "a2")])
SHIFTING = counting([node("Add", ["a", "b"], ["t"]), node("Identity", ["a"], ["u"])], [("a", "t"), ("b", "u")])
TWICE = counting([node("Neg", ["a"], ["t"])], [("a", "t"), ("b", "t")], ["t", "t"])
LOOPS = {
    "sum": (ADDING, ["s0"], ["y"], lambda _, s: ([s + s], [])),
    "captured and joined": (SCANNING, ["s0"], ["y", "ys"], lambda _, s: ([s + Z], [-(s + Z)])),
    "counter": (COUNTER, ["s0"], ["y", "ys"], lambda i, s: ([s + np.float32(i)], [np.float32(i)])),
    "joined only": (SCANNING, ["s0"], ["unused", "ys"], lambda _, s: ([s + Z], [-(s + Z)])),
    "growing": (GROWING, ["s0"], ["y"], lambda _, s: ([np.concatenate([s, Z])], [])),
    "passing": (PASSING, ["s0", "x"], ["y", "y2", "ys"], lambda _, a, b: ([a + b, b], [b])),
    "swapping": (SWAPPING, ["s0", "x"], ["y", "y2"], lambda _, a, b: ([b, a], [])),
    "shifting": (SHIFTING, ["s0", "x"], ["y", "y2"], lambda _, a, b: ([a + b, a], [])),
    "twice": (TWICE, ["s0", "x"], ["y", "y2", "ys", "ys2"], lambda _, a, _b: ([-a, -a], [-a, -a])),
}
"""Body, states, outputs, and what one iteration computes."""


def repeated(step, states, trips):
    """What a Loop computes, values handed on and joined ones. ONNX Runtime and the reference of onnx are not right for all of them."""
    shapes = [np.shape(value) for value in step(0, *states)[1]]
    joined = [[] for _ in shapes]
    for index in range(trips):
        states, scans = step(index, *states)
        for values, value in zip(joined, scans, strict=True):
            values.append(value)
    return [
        *states,
        *(
            np.array(values, np.float32).reshape(-1, *shape) if values else np.zeros((0, *shape), np.float32)
            for values, shape in zip(joined, shapes, strict=True)
        ),
    ]


@pytest.mark.parametrize("trips", [0, 1, 3])
@pytest.mark.parametrize("name", LOOPS)
def test_loop(name, trips):
    graph, states, outputs, step = LOOPS[name]
    nodes = [looping(graph, ["n", "", *states], outputs), node("Identity", ["x"], ["x_out"])]
    inputs = {"s0": X, "x": Z}
    results = dict(zip(outputs, repeated(step, [inputs[each] for each in states], trips), strict=True)) | {"x_out": Z}
    results.pop("unused", None)
    options = {"outputs": list(results), "expected": list(results.values()), "opset": 13}
    # The runtime does not know the sizes of what no iteration has made.
    forms = ["static", "dynamic", "rank"] if trips or not any(each.startswith("ys") for each in results) else ["static"]
    if name == "growing" and trips:
        forms = ["static", "dynamic"]
    check(nodes, inputs | {"n": np.array(trips)}, fixed=["n"], forms=forms, **options)
    check(nodes, inputs, constants={"n": np.array(trips)}, forms=forms, **options)


@pytest.mark.parametrize("trips", [0, 2, 100, 2**63 - 1])
@pytest.mark.parametrize("first", [YES, NO])
def test_while_loop(first, trips):
    nodes = [looping(WHILE, ["n", "c", "s0"], ["y", "ys"])]
    x = np.ones((2, 3), np.float32)
    forms, expected = ["static", "dynamic", "rank"], None
    if trips == 0 or not first:
        # ONNX Runtime does not know the sizes of what no iteration has made, nor does the runtime if they are not static.
        forms, expected = ["static"], [X, np.zeros((0, 2, 3), np.float32)]
    check(nodes, {"s0": X, "x": x, "c": first}, constants={"n": np.array(trips)}, opset=13, fixed=["c"], forms=forms, expected=expected)
    check(
        nodes,
        {"s0": X, "x": x, "c": first, "n": np.array([min(trips, 1000)])},
        opset=13,
        fixed=["c", "n"],
        forms=["static"],
        expected=expected,
    )


def test_while_loop_without_trip_count():
    nodes = [looping(WHILE, ["", "c", "s0"], ["y", "ys"])]
    check(nodes, {"s0": X, "x": np.ones((2, 3), np.float32)}, constants={"c": YES}, opset=13)


def test_loop_in_a_loop_and_if():
    inner = looping(counting([node("Add", ["q", "x"], ["t"])], [("q", "t")]), ["i", "", "s"], ["v"])
    choice = node("If", ["go"], ["w"], then_branch=body([node("Neg", ["v"], ["p"])], [], ["p"]), else_branch=same("s"))
    nodes = [looping(counting([inner, choice], [("s", "w")], ["v"]), ["n", "", "s0"], ["y", "ys"])]
    check(nodes, {"s0": X, "x": X, "n": np.array(3)}, opset=13, fixed=["n"])


@pytest.mark.parametrize("opset", [1, 11, 13, 16, 21])
def test_loop_of_all_operator_sets(opset):
    check([looping(ADDING, ["n", "c", "s0"], ["y"])], {"s0": X, "n": np.array(2), "c": YES}, opset=max(opset, 7), fixed=["n", "c"])


@pytest.mark.parametrize("trips", [3, 0])
def test_a_state_that_is_not_read_is_an_output_only_where_the_loop_runs(trips, tmp_path):
    graph = counting([node("Cast", ["i"], ["f"], to=FLOAT), node("Add", ["x", "f"], ["t"])], [("s", "t")])
    nodes, inputs = [looping(graph, ["n", "", "s0"], ["y"]), node("Neg", ["s0"], ["z"])], {"s0": X, "x": Z}
    check(nodes, inputs, constants={"n": np.array(trips)}, opset=13, expected=[Z + 2 if trips else X, -X], outputs=["y", "z"])
    if trips:
        model = convert(build(nodes, inputs, constants={"n": np.array(trips)}, outputs=["y", "z"], opset=13), tmp_path)
        [loop] = [each for each in model.get_ops() if each.get_type_name() == "Loop"]
        # The number of iterations, the condition, and x.
        assert loop.get_input_size() == 3


def test_deeply_nested_loops_end(tmp_path):
    graph = GROWING
    for level in range(12):
        graph = counting([looping(graph, ["i", "", "s"], [f"v{level}"])], [("s", f"v{level}")])
    convert(build([looping(graph, ["n", "", "s0"], ["y"])], {"s0": X, "x": X, "n": np.array(1)}, opset=13), tmp_path)


def test_a_loop_whose_value_changes_its_type(tmp_path):
    graph = counting([node("Cast", ["s"], ["t"], to=INT64)], [("s", "t")])
    model = build([looping(graph, ["n", "", "s0"], ["y"])], {"s0": X, "n": np.array(1)}, opset=13)
    with pytest.raises(ConversionError, match="element type of a value changes"):
        convert(model, tmp_path)


def test_a_loop_with_missing_outputs(tmp_path):
    model = build([looping(ADDING, ["n", "", "s0"], ["y", "ys"])], {"s0": X, "n": np.array(1)}, opset=13)
    with pytest.raises(ConversionError, match="for 1 values handed on"):
        convert(model, tmp_path)


def test_a_loop_that_never_runs_and_collects_values_of_unknown_rank(tmp_path):
    graph = counting([node("Identity", ["s"], ["t"]), node("Mul", ["s", "s"], ["u"])], [("s", "t")], ["u"])
    nodes = [looping(graph, ["n", "c", "s0"], ["y", "ys"])]
    model = build(nodes, {"s0": X, "n": np.array(1)}, constants={"c": np.array(False)}, opset=13, form="rank")
    with pytest.raises(ConversionError, match="it has no iterations, and the rank"):
        convert(model, tmp_path)


def test_a_loop_that_may_not_run_and_changes_the_size_of_a_state(tmp_path):
    graph = counting([node("Add", ["s", "k"], ["t"])], [("s", "t")])
    nodes = [looping(graph, ["n", "c", "s0"], ["y"])]
    inputs, constants = {"s0": X[:, :1]}, {"n": np.array(4), "k": X[:1]}
    with pytest.raises(ConversionError, match=r"output 0 begins with the shape \[2, 1\], gets \[2, 3\]"):
        convert(build(nodes, {**inputs, "c": YES}, constants=constants, opset=13), tmp_path)
    check(nodes, inputs, constants={**constants, "c": YES}, opset=13)


# Scan


SUMMING = body([node("Add", ["s", "e"], ["t"]), node("Mul", ["t", "t"], ["u"])], ["s", "e"], ["t", "u"])
CAPTURING = body([node("Add", ["s", "e"], ["h"]), node("Mul", ["h", "k"], ["t"]), node("Neg", ["t"], ["v"])], ["s", "e"], ["t", "v"])
PAIRING = body([node("Add", ["e", "f"], ["u"]), node("Identity", ["s"], ["t"])], ["s", "e", "f"], ["t", "u", "e"])
START = np.array([1, 2, 3], dtype=np.float32)


@pytest.mark.parametrize("backward", [0, 1])
@pytest.mark.parametrize("opset", [9, 11, 16, 21])
def test_scan(opset, backward):
    directions = {"scan_input_directions": [backward], "scan_output_directions": [1 - backward]}
    given = node("Scan", ["s0", "x"], ["y", "ys"], body=SUMMING, num_scan_inputs=1, **directions)
    check([given], {"s0": START, "x": X}, opset=opset, operations=1)


@pytest.mark.parametrize(("cut", "joined"), [(0, 1), (1, 0), (-1, -1)])
def test_scan_along_axes(cut, joined):
    start = START if cut == 0 else START[:2]
    attributes = {"scan_input_axes": [cut], "scan_output_axes": [joined]}
    given = node("Scan", ["s0", "x"], ["y", "ys"], body=SUMMING, num_scan_inputs=1, **attributes)
    forms = ["static", "dynamic"] if cut < 0 else ["static", "dynamic", "rank"]
    if cut < 0:
        attributes["scan_output_axes"] = [1]
    check([given], {"s0": start, "x": X}, opset=11, forms=forms, fixed=["s0"])


@pytest.mark.parametrize("backward", [0, 1])
def test_scan_of_no_elements_joined_after_an_axis(backward):
    given = node("Scan", ["s0", "x"], ["y", "ys"], body=SUMMING, num_scan_inputs=1, scan_output_axes=[1], scan_output_directions=[backward])
    nothing = {"s0": np.zeros((2, 0), np.float32), "x": np.zeros((3, 2, 0), np.float32)}
    check([given], nothing, opset=11, expected=[nothing["s0"], np.zeros((2, 3, 0), np.float32)], forms=["static", "dynamic"])


def test_scan_captures_and_passes_values_through():
    given = node("Scan", ["s0", "x"], ["y", "ys"], body=CAPTURING, num_scan_inputs=1)
    check([given], {"s0": START, "x": X, "k": START * 2}, opset=11)
    check([given], {"s0": START, "x": X}, constants={"k": START * 2}, opset=11)
    pair = node("Scan", ["s0", "x", "z"], ["y", "ys", "zs"], body=PAIRING, num_scan_inputs=2, scan_input_directions=[0, 1])
    check([pair], {"s0": START, "x": X, "z": X * 2}, opset=11, expected=[START, X + 2 * X[::-1], X])


def test_scan_in_a_scan():
    inner = node(
        "Scan",
        ["s", "e"],
        ["t", "u"],
        body=body([node("Add", ["a", "b"], ["c"]), node("Neg", ["c"], ["d"])], ["a", "b"], ["c", "d"]),
        num_scan_inputs=1,
    )
    given = node("Scan", ["s0", "x"], ["y", "ys"], body=body([inner], ["s", "e"], ["t", "u"]), num_scan_inputs=1)
    check([given], {"s0": np.array(1, np.float32), "x": X}, opset=11)


@pytest.mark.parametrize("backward", [0, 1])
def test_scan_of_a_batch(backward):
    given = node("Scan", ["", "s0", "x"], ["y", "ys"], body=CAPTURING, num_scan_inputs=1, directions=[backward])
    batch = np.stack([X, X * 2, X - 1, X + 4])
    inputs = {"s0": np.stack([START] * 4), "x": batch, "k": START * 2}
    check([given], inputs, opset=8)


def test_scan_of_a_batch_with_lengths(tmp_path):
    given = node("Scan", ["n", "s0", "x"], ["y", "ys"], body=SUMMING, num_scan_inputs=1)
    inputs = {"s0": np.stack([START] * 2), "x": np.stack([X, X * 2])}
    check([given], inputs, constants={"n": np.array([2, 2])}, opset=8, forms=["static"])
    with pytest.raises(ConversionError, match="lengths of their own"):
        convert(build([given], inputs, constants={"n": np.array([1, 2])}, opset=8), tmp_path)


real = normal_numbers(np.random.default_rng(4))


def branch(nodes: list[Any], outputs: list[str]) -> onnx.GraphProto:
    """The body of a branch without inputs."""
    return onnx.helper.make_graph(nodes, "branch", [], [onnx.helper.make_empty_tensor_value_info(name) for name in outputs])


def body_of_loop(nodes: list[Any], outputs: Sequence[str]) -> onnx.GraphProto:
    """The body of a loop with the state `s`, whose nodes may use the condition `go`."""
    value = onnx.helper.make_tensor_value_info
    inputs = [value("i", onnx.TensorProto.INT64, []), value("go", onnx.TensorProto.BOOL, []), value("s", onnx.TensorProto.FLOAT, None)]
    return onnx.helper.make_graph(nodes, "body", inputs, [onnx.helper.make_empty_tensor_value_info(name) for name in outputs])


def test_a_loop_that_may_not_begin_collects_nothing() -> None:
    """A constant number of iterations says nothing about a loop whose condition is computed."""
    body = body_of_loop(
        [node("Add", ["s", "s"], ["t"]), node("Identity", ["go"], ["on"]), node("Identity", ["t"], ["v"])], ("on", "t", "v")
    )
    nodes = [node("Loop", ["n", "c", "x"], ["y", "ys"], body=body)]
    x = real(2, 3)
    for begins, expected in ((True, [4 * x, np.stack([2 * x, 4 * x])]), (False, [x, np.zeros((0, 2, 3), np.float32)])):
        check(nodes, {"x": x, "c": np.array(begins)}, constants={"n": np.array(2)}, fixed=["c"], forms=["static"], expected=expected)


def test_branches_of_different_ranks_that_values_choose_are_refused() -> None:
    then, otherwise = branch([node("Neg", ["x"], ["p"])], ["p"]), branch([node("Unsqueeze", ["x", "axis"], ["q"])], ["q"])
    nodes = [node("If", ["c"], ["y"], then_branch=then, else_branch=otherwise)]
    with pytest.raises(ConversionError, match="2 dimensions in one branch and 3 in the other"):
        check(nodes, {"x": real(2, 3), "c": np.array(True)}, constants={"axis": np.array([0])}, forms=["static"], expected=[])


def test_a_state_whose_rank_changes_is_refused() -> None:
    body = body_of_loop([node("Unsqueeze", ["s", "axis"], ["t"]), node("Identity", ["go"], ["on"])], ("on", "t"))
    inputs = {"x": real(2, 3), "n": np.array(3)}
    with pytest.raises(ConversionError, match="2 dimensions before an iteration and 3 after it"):
        check([node("Loop", ["n", "", "x"], ["y"], body=body)], inputs, constants={"axis": np.array([0])}, forms=["static"], expected=[])


def test_members_without_elements_are_joined() -> None:
    """The runtime leaves out constants without elements, and what it computes of them."""
    nodes = [
        node("SequenceConstruct", ["x", "y"], ["s"]),
        node("ConcatFromSequence", ["s"], ["z"], axis=0),
    ]
    x, y = np.zeros((2, 0), np.float32), np.zeros((4, 0), np.float32)
    check(nodes, {"x": x}, constants={"y": y}, forms=["dynamic"])


@pytest.mark.parametrize(
    ("condition", "inputs", "decides"),
    [([], {"c": np.array(True)}, "values"), ([node("Size", ["x"], ["n"]), node("Equal", ["n", "two"], ["c"])], {"x": real(2)}, "shapes")],
    ids=["values", "shapes"],
)
def test_a_number_or_a_list_that_the_inputs_choose_is_refused(condition: list[Any], inputs: dict[str, Any], decides: str) -> None:
    """In the runtime both are lists."""
    bodies = [branch([node("Identity", [name], ["z"])], ["z"]) for name in ("list", "number")]
    nodes = [*condition, node("If", ["c"], ["y"], then_branch=bodies[0], else_branch=bodies[1])]
    constants = {"list": real(3), "number": np.array(2, np.float32), "two": np.array(2)}
    with pytest.raises(ConversionError, match=f"1 dimensions in one branch and 0 in the other, which the {decides}"):
        check(nodes, inputs, constants=constants, forms=["dynamic"], fixed=["c"])
