"""What a model loses in f16: the operations at fault, those that have to stay in f32, and no false alarms."""

from __future__ import annotations

import numpy as np
import pytest

import moir
from moir.checking.automatic import operations_to_keep
from moir.checking.findings import CANCELS, INSIDE, OVERFLOW, ROUNDING
from moir.checking.input_ranges import ranges_by_name
from moir.checking.precision import check_precision
from moir.dialects.element_types import f32, si32, si64
from moir.execution.evaluation import EvaluationRunner
from moir.execution.ports import TensorPort
from tests.unit.checking.overflowing_models import MODELS
from tests.unit.conftest import Parse


@pytest.mark.parametrize("name", MODELS)
def test_the_operation_at_fault_is_named(name: str) -> None:
    model, inputs, node, kind = MODELS[name]()
    module = moir.convert_model(model)
    check = check_precision(module, [inputs], "f16")
    finding = next(each for each in check.findings if any(source.name == node for source in each.nodes))
    assert finding.kind == kind
    assert finding.factor is not None
    assert finding.factor > 1
    assert not check.agrees
    assert check.kept_error is not None
    assert check.kept_error < 1e-3
    assert check_precision(module, [inputs], "bf16").findings == ()


X = np.asarray([[1, 2, 3, 4], [-1, 0, 1, 0.5]], np.float32)

HARMLESS = {
    "a masked softmax": """
        %m = opset1.Constant() {value = #moir.data<tensor<4xf32>, [0.0, 0.0, -3.4e38, -3.4e38]>} : tensor<4xf32>
        %0 = opset1.Add(%x, %m) : tensor<2x4xf32>
        %y = opset8.Softmax(%0) {axis = 1} : tensor<2x4xf32>
    """,
    "an overflow before an activation": """
        %c = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0e5]>} : tensor<f32>
        %0 = opset1.Multiply(%x, %c) : tensor<2x4xf32>
        %1 = opset1.Multiply(%0, %c) : tensor<2x4xf32>
        %y = opset1.Tanh(%1) : tensor<2x4xf32>
    """,
    "a selection of numbers that become equal": """
        %c = opset1.Constant() {value = #moir.data<tensor<4xf32>, [1000.1, 1000.2, 1000.3, 1000.4]>} : tensor<4xf32>
        %k = opset1.Constant() {value = #moir.data<tensor<si64>, [2]>} : tensor<si64>
        %z = opset1.Constant() {value = #moir.data<tensor<f32>, [0.0]>} : tensor<f32>
        %0 = opset1.Multiply(%x, %z) : tensor<2x4xf32>
        %1 = opset1.Add(%0, %c) : tensor<2x4xf32>
        %y, %i = opset11.TopK(%1, %k) {axis = 1, mode = "max", sort = "value"} : tensor<2x2xf32>, tensor<2x2xsi32>
    """,
    "sizes beyond f16": """
        %s = opset3.ShapeOf(%x) {output_type = si64} : tensor<2xsi64>
        %f = opset1.Convert(%s) {destination_type = f32} : tensor<2xf32>
        %c = opset1.Constant() {value = #moir.data<tensor<2xf32>, [1.0e5, 1.0e5]>} : tensor<2xf32>
        %0 = opset1.Multiply(%f, %c) : tensor<2xf32>
        %1 = opset1.Divide(%0, %c) : tensor<2xf32>
        %2 = opset1.Convert(%1) {destination_type = si64} : tensor<2xsi64>
        %y = opset3.Broadcast(%x, %2) {mode = "numpy"} : tensor<2x4xf32>
    """,
}


@pytest.mark.parametrize("text", HARMLESS.values(), ids=HARMLESS)
def test_what_is_harmless_is_no_finding(parse: Parse, text: str) -> None:
    module = parse(f'%x = opset1.Parameter() {{name = "x"}} : tensor<2x4xf32> {text} opset1.Result(%y) {{name = "y"}}')
    check = check_precision(module, [{"x": X}], "f16")
    assert check.findings == ()
    assert check.agrees


def test_kinds_of_findings(parse: Parse) -> None:
    """A sum whose parts overflow, a difference of equal numbers, a phase of many turns; in a body, too."""
    module = parse("""
        %x = opset1.Parameter() {name = "x"} : tensor<2x4xf32>
        %w = opset1.Constant() {value = #moir.data<tensor<4x1xf32>, [6.0e4, 6.0e4, -6.0e4, -1.5e4]>} : tensor<4x1xf32>
        %sum = opset1.MatMul(%x, %w) {name = "sum"} : tensor<2x1xf32>
        %c = opset1.Constant() {value = #moir.data<tensor<f32>, [2000.0]>} : tensor<f32>
        %t = opset1.Constant() {value = #moir.data<tensor<f32>, [1000.0]>} : tensor<f32>
        %large = opset1.Add(%x, %c) {name = "large"} : tensor<2x4xf32>
        %difference = opset1.Subtract(%large, %c) {name = "difference"} : tensor<2x4xf32>
        %phase = opset1.Multiply(%x, %t) {name = "phase"} : tensor<2x4xf32>
        %sine = opset1.Sin(%phase) {name = "sine"} : tensor<2x4xf32>
        opset1.Result(%sum) {name = "a"}
        opset1.Result(%difference) {name = "b"}
        opset1.Result(%sine) {name = "c"}
    """)
    x = np.asarray([[1, 1, 1, 1], [0.3333, 0.1234, 0.777, 0.4321]], np.float32)
    check = check_precision(module, [{"x": x}], "f16")
    kinds = {each.operation: each.kind for each in check.findings}
    assert kinds == {"sum": INSIDE, "difference": CANCELS, "sine": ROUNDING}
    assert {"sum", "large", "difference", "phase", "sine"} <= {*check.keep}
    assert check.kept_error is not None
    assert check.kept_error < 0.01


def test_several_samples_and_a_tolerance(parse: Parse) -> None:
    module = parse("""
        %x = opset1.Parameter() {name = "x"} : tensor<2xf32>
        %y = opset1.Exp(%x) {name = "exp"} : tensor<2xf32>
        opset1.Result(%y) {name = "y"}
    """)
    samples = [{"x": np.asarray([0.0, last], np.float32)} for last in (1, 12)]
    check = check_precision(module, iter(samples), "f16")
    assert (check.samples, check.error) == (2, None)
    (finding,) = check.findings
    assert (finding.kind, finding.operation) == (OVERFLOW, "exp")
    assert finding.factor == pytest.approx(np.exp(12) / 65504, rel=1e-3)
    assert check_precision(module, samples[:1], "f16", tolerance=1e-6).error == pytest.approx(2e-4, rel=1)
    assert not check_precision(module, samples[:1], "f16", tolerance=1e-6).agrees


def test_what_a_conversion_keeps() -> None:
    module = moir.convert_model(MODELS["t5_feed_forward"]().model)
    operations, note = operations_to_keep(module)
    assert {op.name for op in operations} >= {"opset1.MatMul", "opset1.Power"}
    assert "are not finite for random inputs" in note
    module = moir.convert_model(MODELS["variance"]().model)
    assert operations_to_keep(module)[0] == []


def test_inputs_that_are_not_random() -> None:
    """A random mask would mask whole rows, and a random index of a beam is not in a batch of one."""
    ports = [
        TensorPort("attention_mask", (), si64, (1, 8)),
        TensorPort("beam_idx", (), si32, (1,)),
        TensorPort("input_ids", (), si64, (1, 8)),
        TensorPort("bias_mask", (), f32, (1, 8)),
    ]
    assert ranges_by_name(ports) == {"attention_mask": (1, 1), "beam_idx": (0, 0)}


def test_weights_of_4_bits_and_states(parse: Parse) -> None:
    """What numpy does not have is computed by the runtime; a state has its initial value."""
    module = parse("""
        %x = opset1.Parameter() {name = "x"} : tensor<2x4xf32>
        %q = opset1.Constant() {value = #moir.data<tensor<4xui4>, [33, 67]>} : tensor<4xui4>
        %w = opset1.Convert(%q) {destination_type = f32} : tensor<4xf32>
        %s = opset6.ReadValue(%w) {variable_id = "s", variable_type = f32, variable_shape = "4"} : tensor<4xf32>
        %y = opset1.Multiply(%x, %s) : tensor<2x4xf32>
        %a = opset6.Assign(%s) {variable_id = "s"} : tensor<4xf32>
        opset1.Result(%y) {name = "y"}
    """)
    check = check_precision(module, [{"x": X}], "f16")
    assert (check.agrees, check.error) == (True, 0.0)
    (sums,) = EvaluationRunner(module).run({"x": np.ones((2, 4), np.float32)}).values()
    assert sorted(sums[0]) == [1, 2, 3, 4]
