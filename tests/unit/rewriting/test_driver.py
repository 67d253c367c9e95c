"""The pattern driver: which operations are visited, what inherits names, and when it stops."""

from __future__ import annotations

from typing import Any

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

from moir.dialects.moir import all_blocks, models_of
from moir.dialects.names import MAXIMUM_NAMES, name_of, split_names, tensor_names_of
from moir.dialects.opset.activation import Relu, Sigmoid
from moir.dialects.opset.elementwise import Abs, Exp, Tanh
from moir.dialects.opset.interfaces.elementwise import ElementwiseOp
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.passes.canonicalize.deduplicate import deduplicate
from moir.rewriting.driver import Pattern, Rewriter, rewrite

CHAIN = """
    %x = opset1.Parameter() {name = "x"} : tensor<?xf32>
    %a = opset1.Exp(%x) {name = "a", tensor_names = ["one,two"]} : tensor<?xf32>
    %b = opset1.Relu(%a) {name = "b", tensor_names = ["three"]} : tensor<?xf32>
    %c = opset1.Exp(%b) : tensor<?xf32>
    opset1.Result(%c) {name = "y"}
"""


def names(module: ModuleOp) -> list[str]:
    (model,) = models_of(module)
    return [op.name.partition(".")[2] for op in model.block.ops][1:-1]


class Replace(Pattern):
    """Operations of one class become others of another."""

    def __init__(self, root: type[Operation], *kinds: str) -> None:
        self.roots = (root,)
        self.kinds = kinds
        self.visited: list[str | None] = []

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        self.visited.append(name_of(op))
        value = op.operands[0]
        for kind in self.kinds:
            value = getattr(rewriter.op, kind)(value)
        rewriter.replace_with(op, value)


class Look(Pattern):
    """Changes nothing."""

    def __init__(self, *roots: type[Operation]) -> None:
        self.roots = roots
        self.visited: list[Operation] = []

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        self.visited.append(op)


def test_replacement_inherits_names(parse: Any) -> None:
    module = parse(CHAIN)
    assert rewrite(module, [Replace(Exp, "Tanh", "Abs")])
    module.verify()
    assert names(module) == ["Tanh", "Abs", "Relu", "Tanh", "Abs"]
    tanh, absolute = [op for op in module.walk() if isinstance(op, Tanh | Abs)][:2]
    assert name_of(absolute) == "a"
    assert tensor_names_of(absolute) == ["one,two"]
    assert name_of(tanh) is None
    assert "tensor_names" not in tanh.attributes


def test_cascade_visits_inserted_operations_with_the_later_patterns(parse: Any) -> None:
    module = parse(CHAIN)
    assert rewrite(module, [Replace(Tanh, "Sigmoid"), Replace(Exp, "Exp", "Tanh"), Replace(Tanh, "Abs")], cascade=True)
    module.verify()
    assert names(module) == ["Exp", "Abs", "Relu", "Exp", "Abs"]


def test_operation_that_takes_over_keeps_its_name_and_collects_tensor_names(parse: Any) -> None:
    module = parse(CHAIN)
    rewrite(module, [Replace(Relu)])
    assert names(module) == ["Exp", "Exp"]
    first = next(op for op in module.walk() if isinstance(op, Exp))
    assert name_of(first) == "a"
    assert tensor_names_of(first) == ["one,two,three"]


def test_input_that_takes_over_collects_tensor_names(parse: Any) -> None:
    module = parse(CHAIN)
    rewrite(module, [Replace(Exp), Replace(Relu)])
    assert names(module) == []
    (parameter,) = (op for op in module.walk() if op.name == "opset1.Parameter")
    assert name_of(parameter) == "x"
    assert tensor_names_of(parameter) == ["one,two,three"]


def test_names_with_commas_stay_whole() -> None:
    assert split_names(r"a\,b,c") == [r"a\,b", "c"]
    assert split_names("") == []


def test_one_walk_does_not_visit_what_it_built(parse: Any) -> None:
    module = parse(CHAIN)
    replace_exp, replace_tanh = Replace(Exp, "Tanh"), Replace(Tanh, "Abs")
    rewrite(module, [replace_exp, replace_tanh])
    assert names(module) == ["Tanh", "Relu", "Tanh"]
    assert replace_tanh.visited == []


def test_fixpoint_visits_what_was_built(parse: Any) -> None:
    module = parse(CHAIN)
    assert rewrite(module, [Replace(Exp, "Tanh"), Replace(Tanh, "Abs")], fixpoint=True)
    assert names(module) == ["Abs", "Relu", "Abs"]


def test_fixpoint_visits_users_and_producers_again(parse: Any) -> None:
    module = parse(CHAIN)
    look = Look(Exp)
    rewrite(module, [look, Replace(Relu)], fixpoint=True)
    first, second = (op for op in module.walk() if isinstance(op, Exp))
    assert look.visited == [first, second, second, first]


def test_walk_goes_in_block_order(parse: Any) -> None:
    module = parse(CHAIN)
    look = Look(OpsetOp)
    assert not rewrite(module, [look])
    (model,) = models_of(module)
    assert look.visited == list(model.block.ops)


def test_root_that_is_a_base_class_gets_subclasses(parse: Any) -> None:
    module = parse(CHAIN)
    look = Look(ElementwiseOp)
    rewrite(module, [look])
    assert [type(op) for op in look.visited] == [Exp, Relu, Exp]


def test_specific_patterns_are_tried_first(parse: Any) -> None:
    module = parse(CHAIN)
    general, specific = Look(ElementwiseOp), Replace(Relu, "Tanh")
    rewrite(module, [general, specific])
    assert [type(op) for op in general.visited] == [Exp, Exp]
    assert specific.visited == ["b"]


def test_pattern_without_roots_gets_every_operation(parse: Any) -> None:
    visited: list[str] = []

    class Any_(RewritePattern):
        def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
            visited.append(op.name)

    rewrite(parse(CHAIN), [Any_()])
    assert visited == ["opset1.Parameter", "opset1.Exp", "opset1.Relu", "opset1.Exp", "opset1.Result"]


def test_nothing_is_done_without_a_root(parse: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    module = parse(CHAIN)
    before = str(module)

    # What cannot be called cannot be made.
    monkeypatch.setattr("moir.rewriting.driver.Rewriter", None)
    assert not rewrite(module, [Replace(Sigmoid, "Tanh"), Replace(Abs, "Tanh")], fixpoint=True)
    assert str(module) == before


def test_operations_in_bodies_are_rewritten(parse: Any) -> None:
    module = parse("""
        %c = opset1.Parameter() {name = "c"} : tensor<i1>
        %x = opset1.Parameter() {name = "x"} : tensor<?xf32>
        %y = opset8.If(%c, %x) {then_inputs = [1], else_inputs = [1]} ({
            %t = opset1.Parameter() {name = "t"} : tensor<?xf32>
            %u = opset1.Exp(%t) {name = "u"} : tensor<?xf32>
            opset1.Result(%u)
        }, {
            %e = opset1.Parameter() {name = "e"} : tensor<?xf32>
            opset1.Result(%e)
        }) : tensor<?xf32>
        opset1.Result(%y)
    """)
    assert rewrite(module, [Replace(Exp, "Tanh")])
    assert [name_of(op) for op in module.walk() if isinstance(op, Tanh)] == ["u"]


def test_a_tensor_takes_on_few_names_but_those_of_outputs(parse: Any) -> None:
    count = MAXIMUM_NAMES + 5
    body = "".join(f'%r{i} = opset1.Relu(%x) {{tensor_names = ["n{i}"]}} : tensor<2xf32>\n' for i in range(count))
    last = f'opset1.Result(%r0) {{name = "y"}}\nopset1.Result(%r{count - 1}) {{name = "z"}}'
    module = parse(f'%x = opset1.Parameter() {{name = "x", tensor_names = ["x"]}} : tensor<2xf32>\n{body}{last}')
    deduplicate(next(iter(all_blocks(module))).ops)
    kept = next(tensor_names_of(op)[0].split(",") for op in module.walk() if op.name == "opset1.Relu")
    assert kept[0] == "n0"
    assert kept[-1] == f"n{count - 1}"
    assert len(kept) == MAXIMUM_NAMES + 1
