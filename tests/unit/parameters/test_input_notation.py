"""The notation of inputs and outputs, and what it stands for in Python."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import openvino
import pytest

import moir
from moir.parameters.input_notation import input_item, input_items, parse_shape, place, places, shapes
from moir.parameters.input_values import inputs_of, outputs_of, shapes_of

TEXTS = [
    ("x", ["x"]),
    ("x[1,3,224,224]", ["x[1,3,224,224]"]),
    ("x[1 3 224 224], y", ["x[1,3,224,224]", "y"]),
    ("x[]", ["x[]"]),
    ("x[?,-1,3,1..10,2..,..7,batch]{f16}", ["x[?,?,3,1..10,2..,..7,batch]{f16}"]),
    ("x[ 1 .. 10 , 2 ]", ["x[1..10,2]"]),
    ("x{int64}[2]->[1 2]", ["x[2]{i64}->[1,2]"]),
    ("x[2]{i64}->[1,2],y->-0.5,z->True", ["x[2]{i64}->[1,2]", "y->-0.5", "z->True"]),
    ("0:conv,conv:1[2]", ["0:conv", "conv:1[2]"]),
    ("[1,3],[10],{u8}", ["[1,3]", "[10]", "{u8}"]),
    ("'a,b[0]'[1,3],0:\"c d\":1", ["'a,b[0]'[1,3]", "0:'c d':1"]),
    ("a/b.c+(d)|e$^*[1]", ["a/b.c+(d)|e$^*[1]"]),
    ("StatefulPartitionedCall/x:0[-1,2]", ["StatefulPartitionedCall/x:0[?,2]"]),
    ("x->'a b'", ["x->'a b'"]),
    ("x->[inf,-inf,nan,1e-3]", ["x->[inf,-inf,nan,0.001]"]),
    ("it's", ["it's"]),
]


@pytest.mark.parametrize(("text", "items"), TEXTS, ids=[text for text, _ in TEXTS])
def test_inputs(text: str, items: list[str]) -> None:
    actual = input_items(text)
    assert list(map(str, actual)) == items
    assert str(input_items(",".join(items))) == str(actual)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x[1", "a bracket is not closed: 'x[1'"),
        ("x]", "a bracket is closed that was not opened: 'x]'"),
        ("'x", "a quote is not closed"),
        ("x[1][2]", "'x[1][2]' has two shapes"),
        ("x{f32}{f16}", "'x{f32}{f16}' has two types"),
        ("x[a b!]", "'b!' is not a dimension"),
        ("x[1,,2]", "'' is not a dimension"),
        ("x[-2]", "'-2' is not a dimension"),
        ("x[99999999999999999999]", "is not a dimension"),
        ("x[5..2]", "the dimension '5..2' has its bounds in the wrong order"),
        ("x{f31}", "'f31' is not an element type; did you mean f32"),
        ("x{complex}", "'complex' is not an element type; it is one of boolean, f64"),
        ("x->", "'x->' has no value after ->"),
    ],
)
def test_what_is_no_input(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        input_items(text)


def test_dimensions() -> None:
    unknown, bounded, named, fixed = parse_shape("?,1..10,n,3")
    assert [each.size for each in (unknown, bounded, named, fixed)] == [-1, -1, -1, 3]
    assert [each.is_bounded for each in (unknown, bounded, named, fixed)] == [False, True, False, False]
    assert (bounded.low, bounded.high, named.name) == (1, 10, "n")
    assert parse_shape("..") == parse_shape("?") == parse_shape("0..")


def test_readings_of_a_name() -> None:
    assert list(place("a:0").readings()) == [("a:0", None, None), ("a", None, 0)]
    assert list(place("0:a:1").readings()) == [("0:a:1", None, None), ("0:a", None, 1), ("a:1", 0, None)]
    assert list(place("'a:0'").readings()) == [("a:0", None, None)]
    assert list(place("2:'a:0'").readings()) == [("a:0", 2, None)]


def test_outputs() -> None:
    assert list(map(str, places("a,b:0,0:c,'d,e'"))) == ["a", "b:0", "0:c", "'d,e'"]
    assert list(map(str, outputs_of(["a,b", "c(d"]))) == ["'a,b'", "c(d"]
    with pytest.raises(ValueError, match="has an empty item"):
        places("a,,b")


def test_shapes() -> None:
    assert shapes("[1,3],(10)") == shapes_of([[1, 3], [10]]) == shapes_of([(1, 3), (10,)])
    with pytest.raises(ValueError, match=r"give them as input: input=\{'x': \[1, 3\]\}"):
        shapes_of({"x": [1, 3]})
    assert shapes("1,3") == shapes("[1 3]") == shapes_of([1, 3]) == shapes_of(openvino.PartialShape([1, 3]))
    assert shapes("[]") == ((),)
    with pytest.raises(ValueError, match="is not a shape"):
        shapes("[1],2")


VALUES: list[tuple[Any, list[str]]] = [
    ("x[1,3]{f32},y", ["x[1,3]{f32}", "y"]),
    ([1, 3, None, -1], ["[1,3,?,?]"]),
    ((1, "?", (1, 10), "n"), ["[1,?,1..10,n]"]),
    ([[1, 3], [10]], ["[1,3]", "[10]"]),
    ([(1, 3), (2, 10)], ["[1,3]", "[2,10]"]),
    ([np.int64(1), np.int32(3)], ["[1,3]"]),
    (["x", "y[1]"], ["x", "y[1]"]),
    (("x", [1, 3], "f32"), ["x[1,3]{f32}"]),
    (("x", np.int32), ["x{i32}"]),
    (moir.Input("x", [1, None], "f16"), ["x[1,?]{f16}"]),
    (["x", moir.Input("y", value=1.5), moir.Input(shape=[2])], ["x", "y->1.5", "[2]"]),
    ({"x": [1, 3], "mask": np.int32, "z": ([1, -1], "f32"), "w": None}, ["x[1,3]", "mask{i32}", "z[1,?]{f32}", "w"]),
    ({"x": "[1,2]{f32}", "y": "i64", "z": "->3"}, ["x[1,2]{f32}", "y{i64}", "z->3"]),
    (
        {"x": np.array([[1, 2]], np.int64), "t": True, "f": [0.5, 1.5], "s": np.float32(2)},
        ["x[1,2]{i64}->[1,2]", "t->True", "f->[0.5,1.5]", "s[]{f32}->2.0"],
    ),
    ({"a,b": [1], "c->d": [2]}, ["'a,b'[1]", "'c->d'[2]"]),
    ({"0:conv": [1], "x:0": [2]}, ["0:conv[1]", "x:0[2]"]),
    (openvino.PartialShape("1,?,3..5"), ["[1,?,3..5]"]),
    ({"x": openvino.PartialShape([1, -1]), "y": openvino.Type.f16}, ["x[1,?]", "y{f16}"]),
    ([openvino.Dimension(1), openvino.Dimension(1, 4)], ["[1,1..4]"]),
    ([np.float32, [1, 2]], ["{f32}", "[1,2]"]),
    ([], ["[]"]),
]


@pytest.mark.parametrize(("given", "items"), VALUES, ids=lambda value: str(value)[:50])
def test_values(given: Any, items: list[str]) -> None:
    actual = inputs_of(given)
    assert list(map(str, actual)) == items
    assert [str(input_item(each)) for each in items] == items


def test_what_model_optimizer_had() -> None:
    class InputCutInfo:
        def __init__(self, name: str | None, shape: Any = None, type: Any = None, value: Any = None) -> None:
            self.name, self.shape, self.type, self.value = name, shape, type, value

    given = [InputCutInfo("x", [1, 3], np.float32), InputCutInfo("y", value=[1, 2]), InputCutInfo(None, "[4]")]
    assert list(map(str, inputs_of(given))) == ["x[1,3]{f32}", "y->[1,2]", "[4]"]


@pytest.mark.parametrize("given", [5, object, {"x": ("f32", "f16")}, [object], {"x": object}], ids=str)
def test_what_is_no_value(given: Any) -> None:
    with pytest.raises((ValueError, TypeError)):
        inputs_of(given)
