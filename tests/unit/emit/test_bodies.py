"""Bodies of If, Loop and TensorIterator, run by OpenVINO Runtime."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from moir.emit import serialize, to_openvino, write_model
from moir.errors import EmissionError

IF = """
    %c = opset1.Parameter() {name = "c"} : tensor<i1>
    %x = opset1.Parameter() {name = "x"} : tensor<2xf32>
    %y = opset1.Parameter() {name = "y"} : tensor<2xf32>
    %a, %b = opset8.If(%c, %x, %y) {name = "if", then_inputs = [1, 2], else_inputs = [2]} ({
        %0 = opset1.Parameter() {name = "x"} : tensor<2xf32>
        %1 = opset1.Parameter() {name = "y"} : tensor<2xf32>
        %2 = opset1.Subtract(%0, %1) {name = "d"} : tensor<2xf32>
        opset1.Result(%2) {name = "first"}
        opset1.Result(%0) {name = "second"}
    }, {
        %0 = opset1.Parameter() {name = "y"} : tensor<2xf32>
        %1 = opset1.Constant() {value = #moir.data<tensor<2xf32>, [10.0, 20.0]>, name = "k"} : tensor<2xf32>
        %2 = opset1.Multiply(%0, %1) {name = "d"} : tensor<2xf32>
        opset1.Result(%1) {name = "first"}
        opset1.Result(%2) {name = "second"}
    }) : tensor<2xf32>, tensor<2xf32>
    %k = opset1.Constant() {value = #moir.data<tensor<1x2xf32>, [10.0, 20.0]>, name = "k"} : tensor<1x2xf32>
    %s = opset1.Add(%a, %k) {} : tensor<1x2xf32>
    opset1.Result(%s) {name = "p"}
    opset1.Result(%b) {name = "q"}
"""

LOOP = """
    %n = opset1.Parameter() {name = "n"} : tensor<si64>
    %x = opset1.Parameter() {name = "x"} : tensor<4x2xf32>
    %t = opset1.Constant() {value = #moir.data<tensor<i1>, [true]>, name = "go"} : tensor<i1>
    %z = opset1.Constant() {value = #moir.data<tensor<1x2xf32>, [0.0, 0.0]>, name = "zero"} : tensor<1x2xf32>
    %sum, %all = opset5.Loop(%n, %t, %z, %x) {
        name = "loop",
        inputs = [#moir.port<iteration>, #moir.port<2 back 1>, #moir.port<3 axis 0 from 0 to -1 stride 1 part 1>],
        outputs = [#moir.port<1>, #moir.port<2 axis 0 from 0 to -1 stride 1 part 1>],
        condition = 0
    } ({
        %0 = opset1.Parameter() {name = "i"} : tensor<si64>
        %1 = opset1.Parameter() {name = "state"} : tensor<1x2xf32>
        %2 = opset1.Parameter() {name = "row"} : tensor<1x2xf32>
        %3 = opset1.Constant() {value = #moir.data<tensor<i1>, [true]>, name = "go"} : tensor<i1>
        %4 = opset1.Add(%1, %2) {name = "next"} : tensor<1x2xf32>
        %5 = opset1.Convert(%0) {destination_type = f32, name = "j"} : tensor<f32>
        %6 = opset1.Multiply(%4, %5) {name = "scaled"} : tensor<1x2xf32>
        opset1.Result(%3) {name = "go on"}
        opset1.Result(%4) {name = "state"}
        opset1.Result(%6) {name = "scan"}
    }) : tensor<1x2xf32>, tensor<?x2xf32>
    opset1.Result(%sum) {name = "sum"}
    opset1.Result(%all) {name = "all"}
"""

ITERATOR = """
    %x = opset1.Parameter() {name = "x"} : tensor<3x2xf32>
    %z = opset1.Constant() {value = #moir.data<tensor<1x2xf32>, [0.5, 0.25]>, name = "half"} : tensor<1x2xf32>
    %last, %all = opset1.TensorIterator(%x, %z, %z) {
        name = "iterator",
        inputs = [#moir.port<0 axis 0 from -1 to 0 stride -1 part 1>, #moir.port<1 back 0>, #moir.port<2>],
        outputs = [#moir.port<0>, #moir.port<1 axis 0 from 0 to -1 stride 1 part 1>]
    } ({
        %0 = opset1.Parameter() {name = "row"} : tensor<1x2xf32>
        %1 = opset1.Parameter() {name = "state"} : tensor<1x2xf32>
        %2 = opset1.Parameter() {name = "weight"} : tensor<1x2xf32>
        %3 = opset1.Multiply(%1, %2) {name = "decayed"} : tensor<1x2xf32>
        %4 = opset1.Add(%3, %0) {name = "next"} : tensor<1x2xf32>
        opset1.Result(%4) {name = "state"}
        opset1.Result(%4) {name = "scan"}
    }) : tensor<1x2xf32>, tensor<3x2xf32>
    opset1.Result(%last) {name = "last"}
    opset1.Result(%all) {name = "all"}
"""


def test_if(parse: Any, run: Any, tmp_path: Path) -> None:
    path = write_model(parse(IF), tmp_path / "m.xml").xml_path
    x, y = np.array([1, 2], np.float32), np.array([5, 7], np.float32)
    p, q = run(path, np.array(True), x, y)
    np.testing.assert_array_equal(p, (x - y + [10, 20])[None])
    np.testing.assert_array_equal(q, x)
    p, q = run(path, np.array(False), x, y)
    np.testing.assert_array_equal(p, [[20, 40]])
    np.testing.assert_array_equal(q, y * [10, 20])


def test_constants_of_bodies_share_the_weights_of_the_model(parse: Any) -> None:
    xml, weights = serialize(parse(IF))
    assert weights.size == 8
    root = ElementTree.fromstring(xml)
    assert [layer.get("name") for layer in root.iterfind("layers/layer/else_body/layers/layer")] == ["y", "k", "d", "first", "second"]
    assert [layer.get("id") for layer in root.iterfind("layers/layer/else_body/layers/layer")] == list("01234")


def loop(rows: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    state, scanned = np.zeros((1, 2), np.float32), []
    for index in range(count):
        state = state + rows[index : index + 1]
        scanned.append(state * index)
    return state, np.concatenate(scanned)


def test_loop(parse: Any, run: Any) -> None:
    model = to_openvino(parse(LOOP))
    x = np.arange(8, dtype=np.float32).reshape(4, 2)
    for actual, expected in zip(run(model, np.array(4), x), loop(x, 4), strict=True):
        np.testing.assert_allclose(actual, expected)


def test_tensor_iterator_backwards(parse: Any, run: Any) -> None:
    x = np.arange(6, dtype=np.float32).reshape(3, 2)
    weight = np.array([[0.5, 0.25]], np.float32)
    state, scanned = weight, []
    for index in (2, 1, 0):
        state = state * weight + x[index : index + 1]
        scanned.append(state)
    last, everything = run(to_openvino(parse(ITERATOR)), x)
    np.testing.assert_allclose(last, state)
    np.testing.assert_allclose(everything, np.concatenate(scanned))


def test_body_in_a_body(parse: Any, run: Any) -> None:
    module = parse("""
        %c = opset1.Parameter() {name = "c"} : tensor<i1>
        %x = opset1.Parameter() {name = "x"} : tensor<f32>
        %r = opset8.If(%c, %x, %c) {name = "outer", then_inputs = [2, 1], else_inputs = [1]} ({
            %0 = opset1.Parameter() {name = "c"} : tensor<i1>
            %1 = opset1.Parameter() {name = "x"} : tensor<f32>
            %2 = opset8.If(%0, %1) {name = "inner", then_inputs = [1], else_inputs = []} ({
                %3 = opset1.Parameter() {name = "x"} : tensor<f32>
                %4 = opset1.Add(%3, %3) {name = "twice"} : tensor<f32>
                opset1.Result(%4) {name = "r"}
            }, {
                %3 = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0]>, name = "one"} : tensor<f32>
                opset1.Result(%3) {name = "r"}
            }) : tensor<f32>
            opset1.Result(%2) {name = "r"}
        }, {
            %0 = opset1.Parameter() {name = "x"} : tensor<f32>
            opset1.Result(%0) {name = "r"}
        }) : tensor<f32>
        opset1.Result(%r) {name = "y"}
    """)
    model = to_openvino(module)
    assert run(model, np.array(True), np.float32(3))[0] == 6
    assert run(model, np.array(False), np.float32(3))[0] == 3


@pytest.mark.parametrize(
    ("model", "old", "new", "reason"),
    [
        (IF, "then_inputs = [1, 2]", "then_inputs = [1, 0]", "operand 0 feeds its body"),
        (LOOP, "port<2 back 1>", "port<1 back 1>", "operand 1 feeds its body"),
        (IF, "then_inputs = [1, 2]", "then_inputs = [1]", "refers to something that is not there"),
        (IF, "then_inputs = [1, 2]", "then_inputs = [1, 3]", "refers to something that is not there"),
        (LOOP, "port<2 back 1>", "port<2 back 3>", "refers to something that is not there"),
        (LOOP, "condition = 0", "condition = 7", "refers to something that is not there"),
        (ITERATOR, "outputs = [#moir.port<0>", "outputs = [#moir.port<iteration>", "refers to something that is not there"),
    ],
)
def test_connections_the_ir_cannot_express(parse: Any, model: str, old: str, new: str, reason: str) -> None:
    assert old in model
    with pytest.raises(EmissionError, match=rf"'(if|loop|iterator)': .*{reason}"):
        serialize(parse(model.replace(old, new), verify=False))


def test_value_from_outside_a_body_is_refused(parse: Any) -> None:
    text = IF.replace("opset1.Multiply(%0, %1)", "opset1.Multiply(%x, %1)")
    with pytest.raises(EmissionError, match=r"opset1.Multiply 'd': an operand comes from outside its block"):
        serialize(parse(text, verify=False))


def test_operations_left_over_in_bodies_are_listed(parse: Any) -> None:
    with pytest.raises(EmissionError, match=r"onnx.Foo \('d'\)"):
        serialize(parse(IF.replace("opset1.Multiply(%0, %1)", "onnx.Foo(%0, %1)")))
