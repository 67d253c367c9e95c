"""Tensors and ports of a model by their names: exact, with ports, and what is said about names that do not exist."""

from __future__ import annotations

import pytest
from xdsl.ir import SSAValue

from moir.analysis.model_names import InputPort, ModelNames
from moir.dialects.context import MoirContext
from moir.dialects.moir import models_of
from moir.dialects.names import name_of, names_of
from moir.dialects.opset.infrastructure import Parameter
from moir.errors import ConversionError
from moir.parameters.input_notation import place

TEXT = """
builtin.module {
  moir.model @m {
    %x = opset1.Parameter() {name = "x", tensor_names = ["x,x:0"]} : tensor<1x8xf32>
    %c = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0]>, name = "c", tensor_names = ["c"]} : tensor<f32>
    %1 = onnx.Relu(%x) {name = "act", tensor_names = ["a.b"]} : tensor<1x8xf32>
    %2, %3 = onnx.Split(%1) {name = "split", tensor_names = ["b", "split:0"]} : tensor<1x4xf32>, tensor<1x4xf32>
    %4 = onnx.Add(%2, %c) {name = "add", tensor_names = ["sum"]} : tensor<1x4xf32>
    %5 = onnx.Add(%4, %3) {name = "twin", tensor_names = ["first"]} : tensor<1x4xf32>
    %6 = moir.none
    %7 = onnx.Clip(%5, %6, %c) {name = "twin", tensor_names = ["second"]} : tensor<1x4xf32>
    %8 = onnx.Loop(%7) {name = "loop", tensor_names = ["scope/y"]} ({
      %9 = opset1.Parameter() {name = "i"} : tensor<1x4xf32>
      %10 = onnx.Exp(%9) {name = "inner", tensor_names = ["e"]} : tensor<1x4xf32>
      opset1.Result(%10) {name = "o"}
    }) : tensor<1x4xf32>
    opset1.Result(%8) {name = "out"}
  }
}
"""


@pytest.fixture(scope="module")
def names() -> ModelNames:
    from xdsl.parser import Parser

    module = Parser(MoirContext(), TEXT).parse_module()
    return ModelNames(models_of(module)[0].block)


def described(port: object) -> str:
    if isinstance(port, Parameter):
        return f"input {name_of(port)}"
    if isinstance(port, InputPort):
        return f"port {port.number} of {name_of(port.op)}"
    assert isinstance(port, SSAValue)
    return f"tensor {names_of(port)[0]}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x", "input x"),
        ("x:0", "input x"),
        ("0:x", "input x"),
        ("", "input x"),
        ("act", "port 0 of act"),
        ("0:act", "port 0 of act"),
        ("act:0", "tensor a.b"),
        ("a.b", "tensor a.b"),
        ("b", "tensor b"),
        ("add", "port 0 of add"),
        ("1:add", "port 1 of add"),
        ("c", "tensor c"),
        ("split:0", "tensor split:0"),
        ("'split':0", "tensor b"),
        ("split:1", "tensor split:0"),
        ("out", "tensor scope/y"),
    ],
)
def test_inputs(names: ModelNames, text: str, expected: str) -> None:
    assert described(names.input_at(place(text), 0)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("out", "scope/y"),
        ("act", "a.b"),
        ("a.b", "a.b"),
        ("1:add", "c"),
        ("split:1", "split:0"),
        ("x", "x"),
        ("0:act", "x"),
        ("loop", "scope/y"),
    ],
)
def test_outputs(names: ModelNames, text: str, expected: str) -> None:
    assert names_of(names.output_at(place(text)))[0] == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a_b", "there is no node and no tensor 'a_b'; did you mean a.b?"),
        ("aXb", "there is no node and no tensor 'aXb'; did you mean a.b?"),
        (".*", "there is no node and no tensor '.*'; the inputs are x"),
        ("y", "there is no node and no tensor 'y'; did you mean scope/y?"),
        ("loop/out", "did you mean out?"),
        ("0:nothing", "there is no node and no tensor '0:nothing'"),
        ("twin", "2 nodes have the name 'twin'; name a tensor instead, such as first or second"),
        ("inner", "'inner' is in a body of onnx.Loop 'loop'; models can be cut outside of loops and branches only"),
        ("act:1", "onnx.Relu 'act': it has no output port 1; its output port is 0"),
        ("split:2", "onnx.Split 'split': it has no output port 2; its output ports are 0 to 1"),
        ("3:add", "onnx.Add 'add': it has no input port 3; its input ports are 0, 1"),
    ],
)
def test_what_does_not_exist(names: ModelNames, text: str, message: str) -> None:
    for find in (lambda: names.input_at(place(text), 0), lambda: names.output_at(place(text))):
        with pytest.raises(ConversionError) as caught:
            find()
        assert message in str(caught.value)


def test_what_is_several(names: ModelNames) -> None:
    with pytest.raises(ConversionError, match="it has 2 outputs; say which: split:0 or split:1"):
        names.output_at(place("split"))
    with pytest.raises(ConversionError, match="the model has 1 input, so there is no input 1; they are x"):
        names.input_at(place(""), 1)
