"""If, Loop and TensorIterator: types against OpenVINO Runtime, verifiers, text form, inference in place."""

from __future__ import annotations

from collections.abc import Callable
from io import StringIO
from typing import Any

import numpy as np
import openvino
import pytest
from openvino import opset13
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from moir.analysis.known_values import KnownValues
from moir.dialects.inference import infer_block
from moir.dialects.moir import ModelOp, Moir, models_of
from moir.dialects.opset import operation
from moir.dialects.shapes import shape_of
from moir.errors import InferenceError

KINDS = (
    "opset1.Parameter opset1.Constant opset1.Result opset1.Add opset1.Concat opset1.Unsqueeze opset16.Identity opset1.Transpose "
    "opset8.If opset5.Loop opset1.TensorIterator"
)


def context() -> Context:
    """What the texts here are made of."""
    context = Context()
    for dialect in (Builtin, Moir):
        context.load_dialect(dialect)
    for name in KINDS.split():
        context.load_op(operation(name))
    return context


def parsed(text: str) -> ModelOp:
    """The model with the operations of a text."""
    module = Parser(context(), f"builtin.module {{ moir.model @m {{ {text} }} }}").parse_module()
    module.verify()
    return models_of(module)[0]


def inferred(text: str) -> list[tuple[int, ...] | None]:
    """Shapes of the operands of the Results of a model after inference; its text form is checked as well."""
    model = parsed(text)
    infer_block(model.block, KnownValues())
    module = model.parent_op()
    assert isinstance(module, ModuleOp)
    module.verify()
    first = printed(module)
    assert printed(Parser(context(), first).parse_module()) == first
    return [shape_of(op.operands[0]) for op in model.block.ops if op.name == "opset1.Result"]


def printed(module: ModuleOp) -> str:
    """A module as text."""
    stream = StringIO()
    Printer(stream).print_op(module)
    return stream.getvalue()


def dimensions(shape: str) -> str:
    """The tensor type of a shape written as the runtime has it, `?,3`."""
    if shape == "...":
        return "tensor<*xf32>"
    return f"tensor<{''.join(d.strip() + 'x' for d in shape.split(',') if d)}f32>"


def shape_in_runtime(node: Any, index: int) -> tuple[int, ...] | None:
    """Shape of a result of a node of the runtime."""
    shape = node.output(index).get_partial_shape()
    return None if shape.rank.is_dynamic else tuple(d.get_length() if d.is_static else -1 for d in shape)


def boolean(value: bool | None) -> str:
    """A condition called %c: a constant, or a Parameter."""
    if value is None:
        return "%c = opset1.Parameter() : tensor<i1>"
    return f"%c = opset1.Constant() {{value = #moir.data<tensor<i1>, [{str(value).lower()}]>}} : tensor<i1>"


@pytest.mark.parametrize("condition", [None, True, False])
@pytest.mark.parametrize(
    ("then", "otherwise"),
    [("2,3", "2,3"), ("2,3", "2,4"), ("2,3", "3"), ("", "3"), ("", "1"), ("1", ""), ("?,3", "2,3"), ("...", "2,3"), ("", "2,3")],
)
def test_if_has_the_types_of_the_runtime(then: str, otherwise: str, condition: bool | None) -> None:
    text = f"""
      {boolean(condition)}
      %x = opset1.Parameter() : {dimensions(then)}
      %y = opset1.Parameter() : {dimensions(otherwise)}
      %r = opset8.If(%c, %x, %y) {{then_inputs = [1], else_inputs = [2]}} ({{
        %p = opset1.Parameter() : tensor<*xf32>
        opset1.Result(%p)
      }}, {{
        %p = opset1.Parameter() : tensor<*xf32>
        opset1.Result(%p)
      }}) : tensor<*xf32>
      opset1.Result(%r)"""
    node = opset13.if_op(opset13.parameter([], np.bool_) if condition is None else opset13.constant(np.array(condition)))
    bodies = []
    for shape in (then, otherwise):
        inner = opset13.parameter(openvino.PartialShape(shape), np.float32)
        bodies.append((inner, openvino.Model([opset13.result(inner)], [inner])))
    node.set_then_body(bodies[0][1])
    node.set_else_body(bodies[1][1])
    node.set_input(opset13.parameter(openvino.PartialShape(then), np.float32).output(0), bodies[0][0], None)
    node.set_input(opset13.parameter(openvino.PartialShape(otherwise), np.float32).output(0), None, bodies[1][0])
    node.set_output(bodies[0][1].results[0], bodies[1][1].results[0])
    node.validate_and_infer_types()
    assert inferred(text) == [shape_in_runtime(node, 0)]


# Body of a loop in both forms: text with the operand %p (and the slice %s), function of the runtime.
Body = tuple[str, Callable[..., Any]]
SAME: Body = ("opset16.Identity(%p)", lambda p: opset13.relu(p))
DOUBLED: Body = ("opset1.Concat(%p, %p) {axis = 0}", lambda p: opset13.concat([p, p], 0))
DEEPER: Body = ("opset1.Unsqueeze(%p, %zero)", lambda p: opset13.unsqueeze(p, np.array(0)))
SUM: Body = ("opset1.Add(%p, %s)", lambda p, s: opset13.add(p, s))

ZERO = "%zero = opset1.Constant() {value = #moir.data<tensor<si64>, [0]>} : tensor<si64>"
LOOPS: list[tuple[int | None, bool | None, str, Body, str | None]] = [
    (5, True, "1,3", SAME, None),
    (None, True, "1,3", SAME, None),
    (5, None, "1,3", SAME, None),
    (0, True, "1,3", SAME, None),
    (-1, True, "1,3", SAME, None),
    (5, True, "2,3", SAME, None),
    (5, True, "?,3", SAME, None),
    (5, True, "...", SAME, None),
    (5, True, "1,3", DOUBLED, None),
    (5, True, "1,3", DEEPER, None),
    (4, True, "1,3", SUM, "4,3"),
    (-1, True, "1,3", SUM, "4,3"),
    (None, True, "1,3", SUM, "?,3"),
    (None, True, "1,3", SUM, "..."),
]


def body_of_runtime(body: Body, initial: str, sliced: str | None) -> tuple[list[Any], Any, Any]:
    """Parameters, the value and the condition of a body."""
    parameters = [opset13.parameter(openvino.PartialShape(initial), np.float32)]
    if sliced is not None:
        parameters.append(opset13.parameter(openvino.PartialShape("..."), np.float32))
    return parameters, body[1](*parameters), opset13.constant(np.array(True))


@pytest.mark.parametrize(("trip_count", "condition", "initial", "body", "sliced"), LOOPS)
def test_loop_has_the_types_of_the_runtime(
    trip_count: int | None, condition: bool | None, initial: str, body: Body, sliced: str | None
) -> None:
    count = "opset1.Parameter() : tensor<si64>"
    if trip_count is not None:
        count = f"opset1.Constant() {{value = #moir.data<tensor<si64>, [{trip_count}]>}} : tensor<si64>"
    text = f"""
      %t = {count}
      {boolean(condition)}
      %x = opset1.Parameter() : {dimensions(initial)}
      %y = opset1.Parameter() : {dimensions(sliced or "...")}
      %a, %b = opset5.Loop(%t, %c, %x, %y) {{
        inputs = [#moir.port<iteration>, #moir.port<2 back 1>{", #moir.port<3 axis 0 from 0 to -1 stride 1 part 1>" if sliced else ""}],
        outputs = [#moir.port<1>, #moir.port<1 axis 0 from 0 to -1 stride 1 part 1>], condition = 0}} ({{
        %i = opset1.Parameter() : tensor<si64>
        %p = opset1.Parameter() : tensor<*xf32>
        {"%s = opset1.Parameter() : tensor<*xf32>" if sliced else ""}
        {ZERO}
        %r = {body[0]} : tensor<*xf32>
        %go = opset1.Constant() {{value = #moir.data<tensor<i1>, [true]>}} : tensor<i1>
        opset1.Result(%go)
        opset1.Result(%r)
      }}) : tensor<*xf32>, tensor<*xf32>
      opset1.Result(%a)
      opset1.Result(%b)"""
    parameters, value, go = body_of_runtime(body, initial, sliced)
    node = opset13.loop(
        opset13.parameter([], np.int64) if trip_count is None else opset13.constant(np.array(trip_count)),
        opset13.parameter([], np.bool_) if condition is None else opset13.constant(np.array(condition)),
    )
    node.set_function(openvino.Model([opset13.result(go), opset13.result(value)], parameters))
    node.set_special_body_ports([-1, 0])
    check(node, text, parameters, value, initial, sliced)


@pytest.mark.parametrize(
    ("initial", "body", "sliced", "cut"),
    [
        ("1,3", SUM, "4,3", (0, 1, 1, -1, 0)),
        ("1,3", SUM, "?,3", (0, 1, 1, -1, 0)),
        ("1,?", SUM, "4,?", (0, 1, 1, -1, 0)),
        ("2,3", SUM, "4,3", (0, 2, 2, -1, 0)),
        ("2,3", SUM, "5,3", (0, 2, 2, -1, 0)),
        ("2,1", SUM, "2,7", (0, 1, 1, -1, 1)),
        ("1,3", SUM, "4,3", (-1, -1, 1, 0, 0)),
        ("1,3", SUM, "5,3", (1, 1, 1, -1, 0)),
        ("1,3", SUM, "5,3", (0, 1, 1, -2, 0)),
        ("1,3", SAME, None, (0, 1, 1, -1, 0)),
    ],
)
def test_tensor_iterator_has_the_types_of_the_runtime(initial: str, body: Body, sliced: str | None, cut: tuple[int, ...]) -> None:
    start, stride, part, end, axis = cut
    text = f"""
      %x = opset1.Parameter() : {dimensions(initial)}
      %y = opset1.Parameter() : {dimensions(sliced or "...")}
      %a, %b = opset1.TensorIterator(%x, %y) {{
        inputs = [#moir.port<0 back 0>{f", #moir.port<1 axis {axis} from {start} to {end} stride {stride} part {part}>" if sliced else ""}],
        outputs = [#moir.port<0>, #moir.port<0 axis {axis} from 0 to -1 stride 1 part 1>]}} ({{
        %p = opset1.Parameter() : tensor<*xf32>
        {"%s = opset1.Parameter() : tensor<*xf32>" if sliced else ""}
        %r = {body[0]} : tensor<*xf32>
        opset1.Result(%r)
      }}) : tensor<*xf32>, tensor<*xf32>
      opset1.Result(%a)
      opset1.Result(%b)"""
    parameters, value, _ = body_of_runtime(body, initial, sliced)
    node = opset13.tensor_iterator()
    node.set_body(openvino.Model([opset13.result(value)], parameters))
    check(node, text, parameters, value, initial, sliced, cut)


def check(
    node: Any, text: str, parameters: list[Any], value: Any, initial: str, sliced: str | None, cut: tuple[int, ...] = (0, 1, 1, -1, 0)
) -> None:
    """Connect a loop of the runtime, and compare the types of its last value and its joined values."""
    node.set_merged_input(parameters[0], opset13.parameter(openvino.PartialShape(initial), np.float32).output(0), value.output(0))
    if sliced is not None:
        node.set_sliced_input(parameters[1], opset13.parameter(openvino.PartialShape(sliced), np.float32).output(0), *cut)
    node.get_iter_value(value.output(0), -1)
    node.get_concatenated_slices(value.output(0), 0, 1, 1, -1, cut[4])
    node.validate_and_infer_types()
    assert inferred(text) == [shape_in_runtime(node, 0), shape_in_runtime(node, 1)]


LOOP_TEXT = """
  %t = opset1.Parameter() : tensor<si64>
  %c = opset1.Parameter() : tensor<i1>
  %a = opset5.Loop(%t, %c, %t) {{inputs = [{inputs}], outputs = [{outputs}], condition = {condition}}} ({{
    %p = opset1.Parameter() : tensor<si64>
    %go = opset1.Constant() {{value = #moir.data<tensor<i1>, [true]>}} : tensor<i1>
    opset1.Result(%go)
  }}) : tensor<i1>"""


@pytest.mark.parametrize(
    ("inputs", "outputs", "condition", "message"),
    [
        ("", "#moir.port<0>", 0, "0 entries for 1 Parameters"),
        ("#moir.port<2>", "", 0, "0 entries for 1 results"),
        ("#moir.port<1>", "#moir.port<0>", 0, "no operand 1 can feed"),
        ("#moir.port<3>", "#moir.port<0>", 0, "no operand 3 can feed"),
        ("#moir.port<2 back 1>", "#moir.port<0>", 0, "the body has no Result 1"),
        ("#moir.port<2>", "#moir.port<1>", 0, "the body has no Result 1"),
        ("#moir.port<2>", "#moir.port<0>", 1, "the body has no Result 1"),
        ("#moir.port<2 axis 0 from 0 to -1 stride 0 part 1>", "#moir.port<0>", 0, "does not move"),
        ("#moir.port<2 back 0 axis 0 from 0 to -1 stride 1 part 1>", "#moir.port<0>", 0, "not both"),
    ],
)
def test_loop_is_verified(inputs: str, outputs: str, condition: int, message: str) -> None:
    with pytest.raises(VerifyException, match=message):
        parsed(LOOP_TEXT.format(inputs=inputs, outputs=outputs, condition=condition))


@pytest.mark.parametrize(
    ("then_inputs", "message"), [("[]", "0 entries for 1 Parameters"), ("[0]", "does not exist"), ("[2]", "does not exist")]
)
def test_if_is_verified(then_inputs: str, message: str) -> None:
    with pytest.raises(VerifyException, match=message):
        parsed(f"""
          %c = opset1.Parameter() : tensor<i1>
          %r = opset8.If(%c, %c) {{then_inputs = {then_inputs}, else_inputs = []}} ({{
            %p = opset1.Parameter() : tensor<i1>
            opset1.Result(%p)
          }}, {{
            %p = opset1.Constant() {{value = #moir.data<tensor<i1>, [true]>}} : tensor<i1>
            opset1.Result(%p)
          }}) : tensor<i1>""")


def test_an_error_in_a_body_names_the_node() -> None:
    model = parsed("""
      %c = opset1.Parameter() : tensor<i1>
      %x = opset1.Parameter() : tensor<2x3xf32>
      %r = opset8.If(%c, %x) {then_inputs = [1], else_inputs = [], name = "branch"} ({
        %p = opset1.Parameter() : tensor<*xf32>
        %order = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [5]>} : tensor<1xsi64>
        %q = opset1.Transpose(%p, %order) {name = "turned"} : tensor<*xf32>
        opset1.Result(%q)
      }, {
        %p = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0]>} : tensor<f32>
        opset1.Result(%p)
      }) : tensor<*xf32>""")
    with pytest.raises(InferenceError) as caught:
        infer_block(model.block, KnownValues())
    assert caught.value.operation == "opset1.Transpose"
    assert caught.value.node == "turned"


def test_an_operation_that_is_not_lowered_keeps_its_types() -> None:
    model = parsed("%n = moir.none")
    (none,) = model.block.ops
    before = none.results[0].type
    infer_block(model.block, KnownValues())
    assert none.results[0].type is before
