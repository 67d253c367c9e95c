"""Rules: what a traced pattern matches, what it declines, and which operations are left."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, SSAValue

from moir.analysis.constants import constant_of
from moir.analysis.known_values import KnownValues
from moir.dialects import opset
from moir.dialects.data import DataAttr
from moir.dialects.element_types import f32, si4
from moir.dialects.moir import models_of
from moir.dialects.names import name_of
from moir.dialects.shapes import tensor
from moir.errors import InferenceError
from moir.rewriting.builder import OpBuilder
from moir.rewriting.driver import PatternPass, rewrite
from moir.rewriting.events import RewriteEvent, traced
from moir.rewriting.rules import FusionRule, Match, RulePass, is_refinement


def apply(module: ModuleOp, *rules: FusionRule) -> list[str]:
    """Names of the operations after a pass of the rules, the ends of the model and constants left out."""

    pass_of(*rules)().apply(Context(), module)
    module.verify()
    return operations(module)


def pass_of(*rules: FusionRule) -> type[RulePass]:
    @dataclass(frozen=True)
    class Pass(RulePass):
        name = "test"
        RULES: ClassVar[tuple[FusionRule, ...]] = rules

    return Pass


def operations(module: ModuleOp) -> list[str]:
    (model,) = models_of(module)
    return [op.name for op in model.block.ops if op.name not in ("opset1.Parameter", "opset1.Constant", "opset1.Result")]


SWISH = FusionRule(lambda op, x: op.Multiply(x, op.Sigmoid(x)), lambda op, match: op.Swish(match["x"]))


def add_number(number: float) -> FusionRule:
    return FusionRule(lambda op, x: op.Add(x, number), lambda op, match: op.Relu(match["x"]))


def test_operands_of_commutative_operations_match_in_either_order(parse: Any) -> None:
    for operands in ("%x, %s", "%s, %x"):
        module = parse(f"""
            %x = opset1.Parameter() : tensor<?xf32>
            %s = opset1.Sigmoid(%x) : tensor<?xf32>
            %y = opset1.Multiply({operands}) {{name = "m"}} : tensor<?xf32>
            opset1.Result(%y)
        """)
        assert apply(module, SWISH) == ["opset4.Swish"]
        assert [name_of(op) for op in module.walk() if op.name == "opset4.Swish"] == ["m"]


def test_operands_of_other_operations_keep_their_order(parse: Any) -> None:
    rule = FusionRule(lambda op, x: op.Subtract(x, op.Sigmoid(x)), lambda op, match: op.Swish(match["x"]))
    module = parse("""
        %x = opset1.Parameter() : tensor<?xf32>
        %s = opset1.Sigmoid(%x) : tensor<?xf32>
        %y = opset1.Subtract(%s, %x) : tensor<?xf32>
        opset1.Result(%y)
    """)
    assert apply(module, rule) == ["opset1.Sigmoid", "opset1.Subtract"]


def test_variable_is_one_value(parse: Any) -> None:
    module = parse("""
        %x = opset1.Parameter() : tensor<?xf32>
        %z = opset1.Parameter() : tensor<?xf32>
        %s = opset1.Sigmoid(%x) : tensor<?xf32>
        %y = opset1.Multiply(%z, %s) : tensor<?xf32>
        opset1.Result(%y)
    """)
    assert apply(module, SWISH) == ["opset1.Sigmoid", "opset1.Multiply"]


OUTSIDE_USE = """
    %x = opset1.Parameter() : tensor<?xf32>
    %s = opset1.Sigmoid(%x) : tensor<?xf32>
    %y = opset1.Multiply(%x, %s) : tensor<?xf32>
    opset1.Result(%y)
    opset1.Result(%s)
"""


def test_operation_with_a_use_outside_is_not_fused(parse: Any) -> None:
    assert apply(parse(OUTSIDE_USE), SWISH) == ["opset1.Sigmoid", "opset1.Multiply"]


def test_shared_operation_is_fused_and_stays(parse: Any) -> None:
    rule = FusionRule(lambda op, x: op.Multiply(x, op.Sigmoid(x)), lambda op, match: op.Swish(match["x"]), shared=True)
    assert apply(parse(OUTSIDE_USE), rule) == ["opset1.Sigmoid", "opset4.Swish"]


def test_backtracking_finds_the_other_order(parse: Any) -> None:
    # The first operand of the root matches the inner sum as well, but then its constants are wrong.
    rule = FusionRule(
        lambda op, x, y: op.Multiply(op.Add(x, 1), op.Add(y, 2)),
        lambda op, match: op.Subtract(match["x"], match["y"]),
    )
    module = parse("""
        %x = opset1.Parameter() : tensor<?xf32>
        %z = opset1.Parameter() : tensor<?xf32>
        %one = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0]>} : tensor<f32>
        %two = opset1.Constant() {value = #moir.data<tensor<f32>, [2.0]>} : tensor<f32>
        %a = opset1.Add(%two, %x) : tensor<?xf32>
        %b = opset1.Add(%one, %z) : tensor<?xf32>
        %y = opset1.Multiply(%a, %b) : tensor<?xf32>
        opset1.Result(%y)
    """)
    x, z = (op.results[0] for op in module.walk() if op.name == "opset1.Parameter")
    assert apply(module, rule) == ["opset1.Subtract"]
    (difference,) = (op for op in module.walk() if op.name == "opset1.Subtract")
    assert tuple(difference.operands) == (z, x)


def added(parse: Any, x: str, constant: str, result: str, mode: str = "numpy", element: str = "f32", value: str = "3.0") -> ModuleOp:
    return parse(f"""
        %x = opset1.Parameter() : tensor<{x}{element}>
        %c = opset1.Constant() {{value = #moir.data<tensor<{constant}{element}>, [{value}]>}} : tensor<{constant}{element}>
        %y = opset1.Add(%x, %c) {{auto_broadcast = "{mode}"}} : tensor<{result}{element}>
        opset1.Result(%y)
    """)


@pytest.mark.parametrize(("x", "constant", "result"), [("?x", "", "?x"), ("?x", "1x", "?x"), ("2x3x", "1x1x", "2x3x"), ("*x", "", "*x")])
def test_number_that_keeps_the_shape(x: str, constant: str, result: str, parse: Any) -> None:
    assert apply(added(parse, x, constant, result), add_number(3)) == ["opset1.Relu"]


@pytest.mark.parametrize(("x", "constant", "result"), [("?x", "1x1x", "1x?x"), ("", "1x", "1x"), ("*x", "1x", "*x")])
def test_number_that_may_add_dimensions(x: str, constant: str, result: str, parse: Any) -> None:
    assert apply(added(parse, x, constant, result), add_number(3)) == ["opset1.Add"]


@pytest.mark.parametrize(
    ("element", "value", "matches"),
    [
        ("f32", "3.000001", True),
        ("f32", "3.001", False),
        ("f16", "3.001", True),
        ("f16", "3.02", False),
        ("si32", "3", True),
        ("si32", "4", False),
    ],
)
def test_number_up_to_the_rounding_of_its_type(element: str, value: str, matches: bool, parse: Any) -> None:
    module = added(parse, "?x", "", "?x", element=element, value=value)
    assert apply(module, add_number(3)) == ["opset1.Relu" if matches else "opset1.Add"]


def test_zero_is_exact(parse: Any) -> None:
    assert apply(added(parse, "?x", "", "?x", value="0.0"), add_number(0)) == ["opset1.Relu"]
    assert apply(added(parse, "?x", "", "?x", value="1.0e-30"), add_number(0)) == ["opset1.Add"]


def test_constant_of_several_elements_is_no_number(parse: Any) -> None:
    assert apply(added(parse, "2x", "2x", "2x", value="3.0, 3.0"), add_number(3)) == ["opset1.Add"]


def test_packed_constant_is_no_constant_of_numbers() -> None:
    builder = OpBuilder(KnownValues(), Block())
    packed = opset.operation("opset1.Constant").create(
        properties={"value": DataAttr.of(np.array([3], np.uint8), si4, (1,))}, result_types=[tensor((1,), si4)]
    )
    assert constant_of(packed.results[0]) is None
    assert constant_of(builder.constant([3])) is not None
    assert constant_of(builder.Convert(builder.constant([3]), destination_type=f32)) is None


def test_paddle_broadcasting_does_not_match(parse: Any) -> None:
    assert apply(added(parse, "2x3x", "", "2x3x", mode="pdpd"), add_number(3)) == ["opset1.Add"]


def test_constant_variable_binds_equal_constants(parse: Any) -> None:
    rule = FusionRule(
        lambda op, x: op.Subtract(op.Add(x, op.constant("c")), op.constant("c")),
        lambda op, match: op.Relu(match["x"]),
    )
    for value, left in (("2.0", ["opset1.Relu"]), ("2.5", ["opset1.Add", "opset1.Subtract"])):
        module = parse(f"""
            %x = opset1.Parameter() : tensor<?xf32>
            %c = opset1.Constant() {{value = #moir.data<tensor<f32>, [2.0]>}} : tensor<f32>
            %d = opset1.Constant() {{value = #moir.data<tensor<f32>, [{value}]>}} : tensor<f32>
            %a = opset1.Add(%x, %c) : tensor<?xf32>
            %y = opset1.Subtract(%a, %d) : tensor<?xf32>
            opset1.Result(%y)
        """)
        assert apply(module, rule) == left


GELU = """
    %x = opset1.Parameter() : tensor<?xf32>
    %y = opset7.Gelu(%x) {approximation_mode = "TANH"} : tensor<?xf32>
    opset1.Result(%y)
"""
TANH_TO_RELU = FusionRule(lambda op, x: op.Gelu(x, approximation_mode="TANH"), lambda op, match: op.Relu(match["x"]))


@pytest.mark.parametrize(
    ("shape", "first", "second", "matches"),
    [
        ("2x3x4", "2", "-1", True),
        ("?x?x?", "-1", "2", True),
        ("2x3x4", "1, -1", "-1, -2", True),
        ("2x3x4", "2", "-2", False),
        ("2x3x4", "1, 2", "2", False),
        ("*", "2", "-1", False),
        ("*", "-1", "-1", True),
    ],
)
def test_axes_are_the_same_from_either_end(shape: str, first: str, second: str, matches: bool, parse: Any) -> None:
    rule = FusionRule(
        lambda op, x: op.ReduceMean(op.ReduceSum(x, op.constant("axes"), keep_dims=True), op.constant("axes"), keep_dims=True),
        lambda op, match: op.Relu(match["x"]),
    )
    count = first.count(",") + 1, second.count(",") + 1
    tensor_type = f"tensor<{shape}xf32>"
    module = parse(f"""
        %x = opset1.Parameter() {{name = "x"}} : {tensor_type}
        %a = opset1.Constant() {{value = #moir.data<tensor<{count[0]}xsi64>, [{first}]>}} : tensor<{count[0]}xsi64>
        %b = opset1.Constant() {{value = #moir.data<tensor<{count[1]}xsi64>, [{second}]>}} : tensor<{count[1]}xsi64>
        %0 = opset1.ReduceSum(%x, %a) {{keep_dims = true}} : {tensor_type}
        %1 = opset1.ReduceMean(%0, %b) {{keep_dims = true}} : {tensor_type}
        opset1.Result(%1) {{name = "y"}}
    """)
    assert (apply(module, rule) == ["opset1.Relu"]) == matches


def test_properties_must_be_equal(parse: Any) -> None:
    assert apply(parse(GELU), TANH_TO_RELU) == ["opset1.Relu"]
    assert apply(parse(GELU.replace("TANH", "ERF")), TANH_TO_RELU) == ["opset7.Gelu"]


def test_version_without_the_property_does_not_match(parse: Any) -> None:
    text = GELU.replace("opset7", "opset2").replace(' {approximation_mode = "TANH"}', "")
    assert apply(parse(text), TANH_TO_RELU) == ["opset2.Gelu"]


def test_pattern_names_one_version(parse: Any) -> None:
    rule = FusionRule(lambda op, x: op["opset2.Gelu"](x), lambda op, match: op.Relu(match["x"]))
    assert apply(parse(GELU), rule) == ["opset7.Gelu"]


def test_a_rule_stands_among_the_patterns_of_a_pass_under_its_name(parse: Any) -> None:
    class Pass(PatternPass):
        name = "test"
        PATTERNS = (FusionRule(lambda op, x: op.Gelu(x), lambda op, match: op.Relu(match["x"]), name="ReluInstead"),)

    module, events = parse(GELU), list[RewriteEvent]()
    with traced(events.append):
        Pass().apply(Context(), module)
    assert operations(module) == ["opset1.Relu"]
    assert [each.pattern for each in events] == ["ReluInstead"]
    assert Pass.needs() == ((("Gelu",),),)


def never(op: OpBuilder, match: Match) -> SSAValue | None:
    raise AssertionError(f"{op} was asked to rewrite {match}")


def test_unknown_property_and_operation_are_errors_when_traced() -> None:
    with pytest.raises(TypeError, match=r"no property colour; its properties are approximation_mode"):
        FusionRule(lambda op, x: op.Gelu(x, colour="red"), never)
    with pytest.raises(TypeError, match=r"no property approximation; did you mean approximation_mode\?"):
        FusionRule(lambda op, x: op.Gelu(x, approximation="tanh"), never)
    with pytest.raises(AttributeError, match=r"^no operation set has an operation NoSuchOperation$"):
        FusionRule(lambda op, x: op.NoSuchOperation(x), never)
    with pytest.raises(AttributeError, match=r"an operation Convolutoin; did you mean Convolution\b"):
        FusionRule(lambda op, x: op.Convolutoin(x, x), never)
    with pytest.raises(KeyError, match=r"there is no operation opset1\.Gelu; did you mean opset7\.Gelu\?"):
        FusionRule(lambda op, x: op["opset1.Gelu"](x), never)


def test_property_that_is_no_identifier_and_a_list() -> None:
    rule = FusionRule(lambda op, x: op["opset14.AvgPool"](x, exclude_pad=True, strides=[1, 2]), never)
    assert rule.term.properties == (("exclude-pad", True), ("strides", (1, 2)))


def test_alternatives_match_one_form_after_the_other(parse: Any) -> None:
    rule = FusionRule(
        lambda op, x: op.Sqrt(op.one_of(op.Multiply(x, x), op.Power(x, 2), op.Exp(op.one_of(op.Log(x), op.Sin(x))))),
        lambda op, match: op.Abs(match["x"]),
    )
    for form, expected in (
        ("opset1.Multiply(%x, %x)", ["opset1.Abs"]),
        ("opset1.Power(%x, %two)", ["opset1.Abs"]),
        ("opset1.Exp(%sine)", ["opset1.Abs"]),
        ("opset1.Exp(%x)", ["opset1.Exp", "opset1.Sqrt"]),
    ):
        module = parse(f"""
            %x = opset1.Parameter() {{name = "x"}} : tensor<3xf32>
            %two = opset1.Constant() {{value = #moir.data<tensor<f32>, [2.0]>}} : tensor<f32>
            %sine = opset1.Sin(%x) : tensor<3xf32>
            %0 = {form} : tensor<3xf32>
            %1 = opset1.Sqrt(%0) : tensor<3xf32>
            opset1.Result(%1) {{name = "out"}}
        """)
        assert apply(module, rule)[-len(expected) :] == expected
    assert str(rule) == "Sqrt(one of (Multiply(x, x), Power(x, 2), Exp(one of (Log(x), Sin(x)))))"
    assert rule.needs() == tuple(
        (*sorted(((kind,) for kind in kinds)),)
        for kinds in (("Multiply", "Sqrt"), ("Power", "Sqrt"), ("Exp", "Log", "Sqrt"), ("Exp", "Sin", "Sqrt"))
    )


def declined(op: OpBuilder, match: Match) -> SSAValue | None:
    op.Exp(match["x"])


def impossible(op: OpBuilder, match: Match) -> SSAValue | None:
    op.Exp(match["x"])
    raise InferenceError("no")


def narrower(op: OpBuilder, match: Match) -> SSAValue | None:
    return op.ReduceSum(match["x"], [0])


@pytest.mark.parametrize("rewrite", [declined, impossible, narrower])
def test_what_a_declined_rewrite_built_is_erased(rewrite: Any, parse: Any) -> None:
    module = added(parse, "?x", "", "?x")
    before = str(module)
    apply(module, FusionRule(lambda op, x: op.Add(x, 3), rewrite))
    assert str(module) == before


def test_next_rule_is_tried_after_one_that_declines(parse: Any) -> None:
    module = added(parse, "?x", "", "?x")
    assert apply(module, FusionRule(lambda op, x: op.Add(x, 3), declined), add_number(3)) == ["opset1.Relu"]


def test_match_finds_operations_and_scalars(parse: Any) -> None:
    actual: list[Any] = []

    def look(_: OpBuilder, match: Match) -> SSAValue | None:
        actual.extend((match.scalar("c"), match.constant("c").shape, match.operation("Add") is match.root, match.is_real("x")))

    apply(added(parse, "?x", "1x", "?x"), FusionRule(lambda op, x: op.Add(x, op.constant("c")), look))
    # Both orders are tried, but the other one has no constant first.
    assert actual == [3.0, (1,), True, True]


def test_refinement(parse: Any) -> None:
    types = [
        op.results[0].type
        for op in parse("""
            %a = opset1.Parameter() : tensor<?x3xf32>
            %b = opset1.Parameter() : tensor<2x3xf32>
            %c = opset1.Parameter() : tensor<*xf32>
            %d = opset1.Parameter() : tensor<2x3xf16>
            %e = opset1.Parameter() : tensor<*x!moir.dynamic>
        """).walk()
        if op.results
    ]
    a, b, c, d, e = types
    assert is_refinement(b, a)
    assert is_refinement(a, c)
    assert is_refinement(d, e)
    assert not is_refinement(a, b)
    assert not is_refinement(c, a)
    assert not is_refinement(d, b)
    assert not is_refinement(e, b)


def test_chain_of_matches_in_one_walk(parse: Any) -> None:
    lines = "\n".join(
        f"%s{i} = opset1.Sigmoid(%x{i}) : tensor<?xf32>\n%x{i + 1} = opset1.Multiply(%x{i}, %s{i}) : tensor<?xf32>" for i in range(50)
    )
    module = parse(f"%x0 = opset1.Parameter() : tensor<?xf32>\n{lines}\nopset1.Result(%x50)")
    assert apply(module, SWISH) == ["opset4.Swish"] * 50


def test_idle_cost_of_many_rules_on_many_operations(parse: Any) -> None:
    module = parse("%x0 = opset1.Parameter() : tensor<?xf32>\nopset1.Result(%x0)")
    (model,) = models_of(module)
    builder = OpBuilder(KnownValues(), model.block, model.block.last_op)
    value = model.block.first_op.results[0]
    for _ in range(2000):
        value = op_pair(builder, value)
    rules = [FusionRule(lambda op, x: op.Multiply(x, op.Sigmoid(op.Add(x, 1))), never) for _ in range(20)]
    (pattern,) = pass_of(*rules)().patterns()
    start = time.process_time()
    rewrite(module, [pattern])
    # 4 µs measured; with each rule tried on each operation it was 87.
    assert (time.process_time() - start) / 2000 < 40e-6


def op_pair(op: OpBuilder, value: SSAValue) -> SSAValue:
    return op.Multiply(value, op.Exp(value))
