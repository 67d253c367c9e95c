"""Types that a text gives to results are checked against inference."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from moir.analysis import known_values
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.errors import InferenceError
from moir.tools.optimizer.written_types import check_written_types

Parse = Callable[..., ModuleOp]

ABS = """
%x = opset1.Parameter() {{name = "x"}} : {parameter}
%y = opset1.Abs(%x) {{name = "y"}} : {abs}
opset1.Result(%y) {{name = "r"}}
"""


def types_of(module: ModuleOp) -> list[str]:
    return [str(result.type) for op in module.walk() for result in op.results]


@pytest.mark.parametrize(
    ("parameter", "result"),
    [
        ("tensor<1x4xf32>", "tensor<1x4xf32>"),
        ("tensor<?x4xf32>", "tensor<?x4xf32>"),
        ("tensor<1x4xf32>", "tensor<?x4xf32>"),
        ("tensor<1x4xf32>", "tensor<*xf32>"),
        ("tensor<1x4xf32>", "tensor<1x4x!moir.dynamic>"),
        ("tensor<*x!moir.dynamic>", "tensor<*x!moir.dynamic>"),
    ],
)
def test_a_type_that_follows_or_says_less_stays(parse: Parse, parameter: str, result: str) -> None:
    module = parse(ABS.format(parameter=parameter, abs=result))
    before = types_of(module)
    check_written_types(module)
    assert types_of(module) == before


@pytest.mark.parametrize(
    ("parameter", "result"),
    [
        ("tensor<1x4xf32>", "tensor<2x4xf32>"),
        ("tensor<1x4xf32>", "tensor<1x4xf16>"),
        ("tensor<1x4xf32>", "tensor<4xf32>"),
        ("tensor<1x4xf32>", "tensor<?x5xf32>"),
        # It does not contradict, and folding ShapeOf would make a wrong model of it.
        ("tensor<?x4xf32>", "tensor<1x4xf32>"),
        ("tensor<*xf32>", "tensor<?x?xf32>"),
        ("tensor<1x4x!moir.dynamic>", "tensor<1x4xf32>"),
        ("tensor<?x4xf32>", "tensor<1x?xf32>"),
    ],
)
def test_a_type_that_does_not_follow_is_an_error(parse: Parse, parameter: str, result: str) -> None:
    module = parse(ABS.format(parameter=parameter, abs=result))
    with pytest.raises(InferenceError) as raised:
        check_written_types(module)
    error = raised.value
    assert (error.operation, error.node) == ("opset1.Abs", "y")
    assert f"written as {result}" in error.reason
    assert f"give {parameter}" in error.reason
    assert [op for op in module.walk() if op.name == "opset1.Abs"] == [error.subject]


def test_types_are_replaced_on_request(parse: Parse) -> None:
    module = parse(ABS.format(parameter="tensor<?x4xf16>", abs="tensor<1x4xf32>"))
    check_written_types(module, replace=True)
    assert types_of(module) == ["tensor<?x4xf16>", "tensor<?x4xf16>"]


def test_what_is_no_tensor_type(parse: Parse) -> None:
    with pytest.raises(InferenceError, match="a tensor type, not f32"):
        check_written_types(parse(ABS.format(parameter="tensor<f32>", abs="f32")))


def test_operands_that_contradict_the_operation(parse: Parse) -> None:
    text = """
    %x = opset1.Parameter() : tensor<2x3xf32>
    %w = opset1.Parameter() : tensor<4x5xf32>
    %y = opset1.MatMul(%x, %w) {name = "product"} : tensor<2x5xf32>
    """
    with pytest.raises(InferenceError) as raised:
        check_written_types(parse(text))
    assert (raised.value.operation, raised.value.node) == ("opset1.MatMul", "product")


def test_values_decide(parse: Parse) -> None:
    text = """
    %x = opset1.Parameter() : tensor<?x6xf32>
    %s = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [2, SIZE]>} : tensor<2xsi64>
    %y = opset1.Reshape(%x, %s) {special_zero = false} : tensor<2x3xf32>
    """
    check_written_types(parse(text.replace("SIZE", "3")))
    with pytest.raises(InferenceError, match="give tensor<2x9xf32>"):
        check_written_types(parse(text.replace("SIZE", "9")))


ELIDED = """
%x = opset1.Parameter() : tensor<?xf32>
%s = opset1.Constant() {value = #moir.data<tensor<9xsi64>, elided "0">} : tensor<9xsi64>
%a = opset1.Convert(%s) {destination_type = si32} : tensor<9xsi32>
%y = opset1.Reshape(%x, %a) {special_zero = false, name = "y"} : tensor<1x1x1x1x1x1x1x2x3xf32>
%z = opset1.Abs(%y) {name = "z"} : tensor<1x1x1x1x1x1x1x2x3xf32>
"""


def test_a_value_that_was_left_out_decides_in_its_place(parse: Parse) -> None:
    check_written_types(parse(ELIDED))
    with pytest.raises(InferenceError) as raised:
        check_written_types(parse(ELIDED.replace("1x2x3xf32>\n%z", "2x3xf32>\n%z")))
    assert raised.value.node == "y"
    with pytest.raises(InferenceError) as raised:
        check_written_types(parse(ELIDED.replace('"z"} : tensor<1x1x', '"z"} : tensor<1x7x')))
    assert raised.value.node == "z"


LOOP = """
%n = opset1.Constant() {value = #moir.data<tensor<si64>, [3]>} : tensor<si64>
%t = opset1.Constant() {value = #moir.data<tensor<i1>, [true]>} : tensor<i1>
%x = opset1.Parameter() {name = "x"} : tensor<2x4xf32>
%y = opset5.Loop(%n, %t, %x) {inputs = [#moir.port<2 back 1>], outputs = [#moir.port<1>], condition = 0, name = "loop"} ({
  %c = opset1.Constant() {value = #moir.data<tensor<i1>, [true]>} : tensor<i1>
  %p = opset1.Parameter() {name = "p"} : tensor<2x4xf32>
  %a = opset1.Abs(%p) {name = "inner"} : tensor<2x4xf32>
  opset1.Result(%c)
  opset1.Result(%a)
}) : tensor<2x4xf32>
"""


@pytest.mark.parametrize(
    ("old", "new", "node"),
    [
        ('"inner"} : tensor<2x4xf32>', '"inner"} : tensor<3x4xf32>', "inner"),
        ('"p"} : tensor<2x4xf32>', '"p"} : tensor<3x4xf32>', "p"),
        ("}) : tensor<2x4xf32>", "}) : tensor<3x4xf32>", "loop"),
        ('"x"} : tensor<2x4xf32>', '"x"} : tensor<?x4xf32>', "loop"),
    ],
)
def test_bodies_too(parse: Parse, old: str, new: str, node: str) -> None:
    check_written_types(parse(LOOP))
    with pytest.raises(InferenceError) as raised:
        check_written_types(parse(LOOP.replace(old, new)))
    assert raised.value.node == node


def test_an_error_in_a_body_is_about_its_operation(parse: Parse) -> None:
    text = LOOP.replace('opset1.Abs(%p) {name = "inner"}', 'opset8.Softmax(%p) {axis = 7, name = "inner"}')
    with pytest.raises(InferenceError) as raised:
        check_written_types(parse(text))
    assert raised.value.node == "inner"
    assert getattr(raised.value.subject, "name", "") == "opset8.Softmax"


def test_operations_of_frameworks_are_taken_as_they_are(parse: Parse) -> None:
    text = """
    %x = opset1.Parameter() : tensor<2xf32>
    %f = onnx.Mystery(%x) ({ %c = opset1.Constant() {value = #moir.data<tensor<i1>, [true]>, name = "c"} : TYPE }) : tensor<7xf32>
    %y = opset1.Abs(%f) : tensor<7xf32>
    """
    check_written_types(parse(text.replace("TYPE", "tensor<i1>")))
    with pytest.raises(InferenceError, match="'c'"):
        check_written_types(parse(text.replace("TYPE", "tensor<1xi1>")))


def test_every_value_is_computed_once(parse: Parse, monkeypatch: pytest.MonkeyPatch) -> None:
    """A chain of shape computations, each of which a type depends on: computed anew for each, it takes quadratic time."""
    count, computed = 100, list[str]()
    compute = known_values.evaluate

    def counted(op: OpsetOp, operands: Sequence[np.ndarray]) -> Sequence[np.ndarray] | None:
        computed.append(op.name)
        return compute(op, operands)

    monkeypatch.setattr(known_values, "evaluate", counted)
    lines = [
        "%x = opset1.Parameter() : tensor<?x4xf32>",
        "%one = opset1.Constant() {value = #moir.data<tensor<si64>, [1]>} : tensor<si64>",
        "%v0 = opset3.ShapeOf(%x) : tensor<2xsi64>",
    ]
    for index in range(1, count + 1):
        lines.append(f"%v{index} = opset1.Add(%v{index - 1}, %one) : tensor<2xsi64>")
        lines.append(f"%y{index} = opset3.Broadcast(%one, %v{index}) : tensor<?x{4 + index}xsi64>")
    check_written_types(parse("\n".join(lines), verify=False))
    assert computed.count("opset1.Add") == count
