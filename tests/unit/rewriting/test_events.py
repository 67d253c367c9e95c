"""Rewrite events: what listeners are told, and that nothing is made for nobody."""

from __future__ import annotations

from typing import Any

import pytest
from xdsl.context import Context
from xdsl.ir import SSAValue

from moir.dialects.element_types import f64
from moir.pipeline import load_pass
from moir.rewriting import events
from moir.rewriting.builder import OpBuilder
from moir.rewriting.driver import rewrite
from moir.rewriting.events import RewriteEvent, traced
from moir.rewriting.rules import FusionRule, Match

TEXT = """
%x = opset1.Parameter() {name = "x"} : tensor<4xf32>
%e = opset1.Exp(%x) {name = "e"} : tensor<4xf32>
%y = opset1.Log(%e) {name = "y"} : tensor<4xf32>
opset1.Result(%y) {name = "r"}
"""


def events_of(module: Any, rule: FusionRule) -> list[RewriteEvent]:
    events: list[RewriteEvent] = []
    with traced(events.append):
        rewrite(module, [rule])
    return events


def test_an_applied_rule(parse: Any) -> None:
    rule = FusionRule(pattern=lambda op, x: op.Log(op.Exp(x)), rewrite=lambda op, match: op.Relu(match["x"]))
    (event,) = events_of(parse(TEXT), rule)
    assert event.pattern == "Log(Exp(x))"
    assert event.reason is None
    assert [text.partition(" {")[0] for text in event.before] == ["%y = opset1.Log(%e)", "%e = opset1.Exp(%x)"]
    assert [text.partition(" {")[0].partition(" = ")[2] for text in event.after] == ["opset1.Relu(%x)"]


def wider(op: OpBuilder, match: Match) -> SSAValue:
    return op.Convert(match["x"], destination_type=f64)


@pytest.mark.parametrize(
    ("rewrite_", "reason"),
    [
        (lambda *_: None, "a condition of its rewrite does not hold"),
        (wider, "the replacement has type tensor<4xf64>, which is less refined than tensor<4xf32>"),
        (lambda op, match: op.MatMul(match["x"], op.constant([1.0, 2.0])), "4"),
    ],
)
def test_a_rule_that_declines_says_why_and_leaves_nothing(parse: Any, rewrite_: Any, reason: str) -> None:
    module = parse(TEXT)
    before = str(module)
    (event,) = events_of(module, FusionRule(pattern=lambda op, x: op.Log(op.Exp(x)), rewrite=rewrite_))
    assert event.reason is not None
    assert reason in event.reason
    assert event.after == ()
    assert str(module) == before


def test_passes_that_replace_operations_themselves_report_too(parse: Any) -> None:
    module = parse(
        """
        %x = opset1.Parameter() {name = "x"} : tensor<2xf32>
        %a = opset1.Constant() {value = #moir.data<tensor<2xf32>, [1.0, 2.0]>} : tensor<2xf32>
        %b = opset1.Negative(%a) {name = "b"} : tensor<2xf32>
        %c = opset1.Add(%x, %b) {name = "c"} : tensor<2xf32>
        %d = opset1.Add(%x, %b) {name = "d"} : tensor<2xf32>
        %e = opset1.Multiply(%c, %d) {name = "e"} : tensor<2xf32>
        opset1.Result(%e) {name = "r"}
        """
    )
    actual: list[RewriteEvent] = []
    with traced(actual.append):
        for name in ("fold-constants", "deduplicate"):
            load_pass(name)().apply(Context(), module)
    assert [event.pattern for event in actual] == ["fold-constants", "deduplicate"]
    assert "opset1.Negative" in actual[0].before[0]
    assert "[-1.0, -2.0]" in actual[0].after[0]
    assert actual[1].before[0].startswith("%d = ")
    assert actual[1].after[0].startswith("%c = ")


def test_nothing_is_made_if_nobody_listens(parse: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events.Recording, "text", None)
    rule = FusionRule(pattern=lambda op, x: op.Log(op.Exp(x)), rewrite=lambda op, match: op.Relu(match["x"]))
    assert rewrite(parse(TEXT), [rule])
