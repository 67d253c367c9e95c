"""Which dimensions are known to be equal."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from moir.analysis.dimensions import Dimensions, Tokens, same_tokens
from moir.dialects.context import MoirContext
from moir.dialects.shapes import broadcast_shapes
from moir.dialects.symbols import Symbol

INPUTS = """
    %x = opset1.Parameter() {name = "x", dimension_names = ["batch", "length", ""]} : tensor<?x?x8xf32>
    %y = opset1.Parameter() {name = "y", dimension_names = ["batch", "", ""]} : tensor<?x6x8xf32>
    %zero = opset1.Constant() {value = #moir.data<tensor<si64>, [0]>} : tensor<si64>
    %one = opset1.Constant() {value = #moir.data<tensor<si64>, [1]>} : tensor<si64>
    %front = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [0]>} : tensor<1xsi64>
    %rest = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [4, -1]>} : tensor<2xsi64>
"""


def tokens(text: str, *, static: bool = False) -> dict[str, Tokens | None]:
    """Tokens of the operands of the Results, by name."""
    module = Parser(MoirContext(), f"builtin.module {{ moir.model @m {{ {INPUTS} {text} }} }}").parse_module()
    assert isinstance(module, ModuleOp)
    known = Dimensions(static).scan(module.walk())
    outputs = [op for op in module.walk() if op.name == "opset1.Result"]
    return {str(op.attributes["name"]).strip('"'): known.tokens(op.operands[0]) for op in outputs}


def test_static_dimensions_of_inputs_are_symbols_unless_asked_for() -> None:
    text = 'opset1.Result(%x) {name = "x"} opset1.Result(%y) {name = "y"}'
    actual = tokens(text)
    assert all(isinstance(token, Symbol) for token in (*actual["x"], *actual["y"]))
    assert actual["x"][0] is actual["y"][0]
    assert actual["x"][2] is not actual["y"][2]
    assert tokens(text, static=True)["y"][1:] == (6, 8)


def test_shapes_go_through_computations_on_them() -> None:
    actual = tokens("""
        %r = opset1.Relu(%x) : tensor<?x?x8xf32>
        %s = opset3.ShapeOf(%r) : tensor<3xsi64>
        %0 = opset8.Gather(%s, %zero, %zero) : tensor<si64>
        %1 = opset1.Unsqueeze(%0, %front) : tensor<1xsi64>
        %t = opset1.Concat(%1, %rest) {axis = 0} : tensor<3xsi64>
        %2 = opset1.Reshape(%x, %t) {special_zero = false} : tensor<?x4x?xf32>
        opset1.Result(%x) {name = "x"}
        opset1.Result(%2) {name = "reshaped"}""")
    assert actual["reshaped"][0] is actual["x"][0]
    assert actual["reshaped"][1] == 4
    assert actual["reshaped"][2] is not actual["x"][2]


def test_sums_of_the_same_dimensions_are_the_same() -> None:
    actual = tokens("""
        %sx = opset3.ShapeOf(%x) : tensor<3xsi64>
        %sy = opset3.ShapeOf(%y) : tensor<3xsi64>
        %a = opset8.Gather(%sx, %one, %zero) : tensor<si64>
        %b = opset8.Gather(%sy, %one, %zero) : tensor<si64>
        %sum = opset1.Add(%b, %a) : tensor<si64>
        %r = opset4.Range(%zero, %sum, %one) {output_type = si64} : tensor<?xsi64>
        %j = opset1.Concat(%x, %y) {axis = 1} : tensor<?x?x8xf32>
        opset1.Result(%r) {name = "range"}
        opset1.Result(%j) {name = "joined"}""")
    assert actual["range"][0] is actual["joined"][1]


def test_minus_one_is_a_number_among_values() -> None:
    actual = tokens("""
        %sx = opset3.ShapeOf(%x) : tensor<3xsi64>
        %a = opset8.Gather(%sx, %one, %zero) : tensor<si64>
        %less = opset1.Constant() {value = #moir.data<tensor<si64>, [-1]>} : tensor<si64>
        %sum = opset1.Add(%a, %less) : tensor<si64>
        %t = opset1.Unsqueeze(%sum, %front) : tensor<1xsi64>
        %b = opset3.Broadcast(%one, %t) {mode = "numpy"} : tensor<?xsi64>
        %again = opset3.Broadcast(%zero, %t) {mode = "numpy"} : tensor<?xsi64>
        %r = opset4.Range(%zero, %sum, %one) {output_type = si64} : tensor<?xsi64>
        opset1.Result(%b) {name = "broadcast"}
        opset1.Result(%again) {name = "again"}
        opset1.Result(%r) {name = "range"}""")
    assert isinstance(actual["broadcast"][0], Symbol)
    assert actual["broadcast"][0] is actual["again"][0]
    # A range to a negative number is empty: its length may be another.
    assert actual["range"][0] is not actual["broadcast"][0]


def test_an_operation_on_two_shapes_may_have_either() -> None:
    actual = tokens("""
        %z = opset1.Parameter() {name = "z"} : tensor<?x?x8xf32>
        %a = opset1.Add(%x, %z) : tensor<?x?x8xf32>
        opset1.Result(%a) {name = "either"}
        opset1.Result(%x) {name = "x"}
        opset1.Result(%z) {name = "z"}""")
    assert actual["either"][0] is not actual["x"][0]
    assert actual["either"][0] is not actual["z"][0]


def test_broadcast() -> None:
    a, b = Symbol(True), Symbol(True)
    assert broadcast_shapes((a, 1), (1, b)) == (a, b)
    assert broadcast_shapes((a, 4), (b, a)) == (-1, 4)
    assert broadcast_shapes((a,), ()) == (a,)


def test_the_count_decides_one_dimension() -> None:
    a, b = Symbol(True), Symbol(True)
    assert same_tokens((a, 3), (b, 3))
    assert not same_tokens((a, b), (b, a))
    assert not same_tokens((a, 0), (b, 0))
    assert not same_tokens((2, 3), (3, 3))


def test_products_of_the_same_dimensions_are_the_same() -> None:
    actual = tokens("""
        %flat = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [-1, 8]>} : tensor<2xsi64>
        %split = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [-1, 4, 2]>} : tensor<3xsi64>
        %four = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [4]>} : tensor<1xsi64>
        %w = opset1.Constant() {value = #moir.data<tensor<8x8xf32>, elided "w">} : tensor<8x8xf32>
        %x8 = opset1.MatMul(%x, %w) : tensor<?x?x8xf32>
        %s = opset3.ShapeOf(%x8) : tensor<3xsi64>
        %b = opset8.Gather(%s, %zero, %zero) : tensor<si64>
        %l = opset8.Gather(%s, %one, %zero) : tensor<si64>
        %n = opset1.Multiply(%l, %b) : tensor<si64>
        %n1 = opset1.Unsqueeze(%n, %front) : tensor<1xsi64>
        %rows = opset1.Concat(%n1, %rest) {axis = 0} : tensor<3xsi64>
        %m = opset1.Multiply(%n1, %four) : tensor<1xsi64>
        %back = opset1.Divide(%m, %four) : tensor<1xsi64>
        %again = opset1.Concat(%back, %rest) {axis = 0} : tensor<3xsi64>
        %0 = opset1.Reshape(%x8, %flat) {special_zero = false} : tensor<?x8xf32>
        %1 = opset1.Reshape(%x8, %rows) {special_zero = false} : tensor<?x4x2xf32>
        %2 = opset1.Reshape(%x8, %again) {special_zero = false} : tensor<?x4x2xf32>
        %3 = opset1.Reshape(%x8, %split) {special_zero = false} : tensor<?x4x2xf32>
        opset1.Result(%0) {name = "flat"}
        opset1.Result(%1) {name = "rows"}
        opset1.Result(%2) {name = "again"}
        opset1.Result(%3) {name = "split"}""")
    assert actual["rows"][0] is actual["flat"][0]
    assert actual["again"][0] is actual["flat"][0]
    assert actual["split"][0] is actual["flat"][0]
    assert actual["rows"][1:] == actual["again"][1:] == (4, 2)


def test_a_size_that_is_clipped_broadcasts_to_the_size() -> None:
    actual = tokens("""
        %places = opset1.Constant() {value = #moir.data<tensor<1x64x1xf32>, elided "p">} : tensor<1x64x1xf32>
        %s = opset3.ShapeOf(%x) : tensor<3xsi64>
        %ends = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
        %n = opset8.Gather(%s, %ends, %zero) : tensor<1xsi64>
        %0 = opset8.Slice(%places, %front, %n, %ends, %ends) : tensor<1x?x1xf32>
        %1 = opset1.Add(%x, %0) : tensor<?x?x8xf32>
        opset1.Result(%x) {name = "x"}
        opset1.Result(%0) {name = "slice"}
        opset1.Result(%1) {name = "sum"}""")
    assert actual["slice"][1] is not actual["x"][1]
    assert actual["sum"][:2] == actual["x"][:2]
