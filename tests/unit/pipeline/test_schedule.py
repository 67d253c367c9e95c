"""Passes run only where they may change something: what is left out would have changed nothing."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

import moir
from moir.analysis.analyses import Analyses
from moir.dialects.context import MoirContext
from moir.dialects.element_types import f32
from moir.dialects.inference import set_type
from moir.dialects.shapes import tensor
from moir.pipeline import PASS_MODULES, AnchorPass, DeferredPass, default_pipeline, load_pass, pipeline_names
from moir.pipeline.pass_index import PASS_KINDS
from moir.pipeline.schedule import PassSchedule, needs_by_name
from moir.pipeline.stale_facts import StaleFact, check_facts
from moir.rewriting.reporting_pass import ReportingPass, may_be_met
from moir.rewriting.verification import OperationVerifyException
from moir.support.xdsl_passes import module_pass
from moir.tools.optimizer.text import TextParser, print_module
from scripts.pass_index import FILE, text
from tests.unit.small_models import loop_model, matmul_model, save

ROOT = Path(__file__).parents[3]
FIXTURES = ROOT / "tests" / "fixtures" / "tensorflow"
EVERY_PASS = sorted(PASS_MODULES)


def test_the_generated_file_is_that_of_the_passes() -> None:
    assert FILE.read_text(encoding="utf-8") == text(), "run python -m scripts.pass_index"


@pytest.mark.parametrize("name", [name for name in EVERY_PASS if name != "lower-mo"])
def test_every_pass_says_whether_it_changed_the_module(name: str) -> None:
    assert issubclass(load_pass(name), ReportingPass)


def printed(module: ModuleOp) -> str:
    stream = io.StringIO()
    print_module(module, stream)
    return stream.getvalue()


def models(folder: Path) -> list[tuple[Path, dict[str, object]]]:
    """Models with loops, shape computations, channel-last data and quantities of activations."""
    return [
        (ROOT / "examples" / "digits" / "digits.onnx", {}),
        (save(loop_model(), folder / "loop.onnx"), {}),
        (save(matmul_model(), folder / "matmul.onnx"), {}),
        (FIXTURES / "keras_3", {}),
        (FIXTURES / "convolution.pbtxt", {}),
        (FIXTURES / "saved_model_v1", {"signature": "dense"}),
    ]


@pytest.mark.parametrize("number", range(6))
def test_a_pass_that_is_left_out_or_reports_nothing_changes_nothing(tmp_path: Path, number: int) -> None:
    path, options = models(tmp_path)[number]
    module = moir.read_model(path, **options)
    framework = moir.files.recognition.framework_of_file(path).dialect
    before = printed(module)
    for name in pipeline_names(framework):
        each = load_pass(name)()
        kinds = Analyses(module).kinds
        changed = each.run(module, Analyses(module)) if isinstance(each, ReportingPass) else each.apply(MoirContext(), module) is None
        after = printed(module)
        if after != before:
            assert changed, f"{name} changed the module and says that it did not"
            needs = needs_by_name(name)
            assert needs is None or may_be_met(needs, kinds), f"{name} changed a module that lacks what it needs"
        before = after


@pytest.mark.parametrize("number", range(6))
def test_the_result_is_that_of_all_passes(tmp_path: Path, number: int) -> None:
    path, options = models(tmp_path)[number]
    every = moir.read_model(path, **options)
    for name in pipeline_names(moir.files.recognition.framework_of_file(path).dialect):
        load_pass(name)().apply(Context(), every)
    scheduled = moir.read_model(path, **options)
    schedule = PassSchedule(scheduled)
    for each in default_pipeline(moir.files.recognition.framework_of_file(path).dialect):
        schedule.run(each, MoirContext())
    assert printed(scheduled) == printed(every)


@dataclass(frozen=True)
class RecordingPass(ReportingPass):
    """A pass that counts its runs, and reports what it was made with."""

    name = "recording"

    changes: bool
    runs: list[str]

    def run(self, module: ModuleOp, analyses: Analyses) -> bool:
        self.runs.append("run")
        return self.changes


class DeferredRecording(DeferredPass):
    """A pass of the default pipeline that counts its runs."""

    def __init__(self, name: str, changes: bool) -> None:
        super().__init__(name)
        self.recording = RecordingPass(changes, [])

    def loaded(self) -> ModulePass:
        return self.recording


class OfOthers(ModulePass):
    """A pass that does not say whether it changed anything."""

    name = "of-others"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Nothing."""


def module_of(text_: str) -> ModuleOp:
    return TextParser(MoirContext(), f"moir.model @m {{ {text_} }}").parse_module()


def test_a_pass_that_changed_nothing_runs_again_only_after_a_change() -> None:
    idle, busy = DeferredRecording("idle", False), DeferredRecording("busy", True)
    schedule = PassSchedule(module_of(""))
    for each, expected in ((idle, 1), (idle, 1), (busy, 1), (idle, 2), (idle, 2), (OfOthers(), 2), (idle, 3)):
        schedule.run(each, MoirContext())
        assert len(idle.recording.runs) == expected


@pytest.mark.parametrize("each", [DeferredRecording("busy", True), RecordingPass(False, []), RecordingPass(True, [])])
def test_passes_of_callers_and_those_that_change_something_always_run(each: DeferredRecording | RecordingPass) -> None:
    schedule = PassSchedule(module_of(""))
    for _ in range(3):
        schedule.run(each, MoirContext())
    assert len((each.recording if isinstance(each, DeferredRecording) else each).runs) == 3


@pytest.mark.parametrize(
    "fact",
    [Analyses.dimensions, lambda analyses: analyses.contents, lambda analyses: analyses.classes, lambda analyses: analyses.known_values],
)
def test_analyses_are_shared_until_something_changes(fact: Callable[[Analyses], object]) -> None:
    seen: list[object] = []

    class Asking(RecordingPass):
        def run(self, module: ModuleOp, analyses: Analyses) -> bool:
            seen.append(fact(analyses))
            return self.changes

    schedule = PassSchedule(module_of('%0 = opset1.Parameter() {name = "x"} : tensor<?xf32> opset1.Result(%0)'))
    for changes in (False, True, False):
        schedule.run(Asking(changes, []), MoirContext())
    assert seen[0] is seen[1]
    assert seen[1] is not seen[2]


class AskingForAll(RecordingPass):
    """Changes nothing, and asks for all facts."""

    def run(self, module: ModuleOp, analyses: Analyses) -> bool:
        for static in (False, True):
            analyses.dimensions(static=static)
        for op in analyses.operations(Operation):
            for result in op.results:
                analyses.known_values.elements(result)
        return False


@pytest.mark.parametrize("number", range(6))
def test_facts_that_passes_keep_are_those_of_the_module(tmp_path: Path, number: int) -> None:
    path, options = models(tmp_path)[number]
    schedule = PassSchedule(moir.read_model(path, **options), verifies=True)
    for each in default_pipeline(moir.files.recognition.framework_of_file(path).dialect):
        schedule.run(AskingForAll(False, []), MoirContext())
        schedule.run(each, MoirContext())


PRODUCT = """
    %x = opset1.Parameter() {name = "x"} : tensor<?x3xf32>
    %w = opset1.Constant() {value = #moir.data<tensor<3x2xf32>, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]>} : tensor<3x2xf32>
    %y = opset1.MatMul(%x, %w) {name = "y"} : tensor<?x2xf32>
    %s = opset3.ShapeOf(%w) {name = "s"} : tensor<2xsi64>
    opset1.Result(%y) {name = "y"}
    opset1.Result(%s) {name = "s"}"""


def erase_last(module: ModuleOp) -> None:
    last = [op for op in module.walk() if op.name == "opset1.Result"][-1]
    last.detach()
    last.erase()


def replace_shape(module: ModuleOp) -> None:
    shape = next(op for op in module.walk() if op.name == "opset3.ShapeOf")
    other = module_of("%c = opset1.Constant() {value = #moir.data<tensor<2x3xf32>, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]>} : tensor<2x3xf32>")
    constant = next(op for op in other.walk() if op.name == "opset1.Constant")
    weights = next(op for op in module.walk() if op.name == "opset1.Constant")
    weights.properties["value"] = constant.properties["value"]
    set_type(shape.operands[0], constant.results[0].type)


def widen_result(module: ModuleOp) -> None:
    product = next(op for op in module.walk() if op.name == "opset1.MatMul")
    set_type(product.results[0], tensor((-1, 5), f32))


@pytest.mark.parametrize(
    ("change", "keeps", "message"),
    [
        (erase_last, False, r"after recording: builtin\.module: 6 operations are listed of 5; the pass says that it changed nothing"),
        (replace_shape, False, r"opset1\.Constant: of result 0, dimensions \[3,2\] are held, \[2,3\] computed"),
        (widen_result, True, r"opset1\.MatMul 'y': of result 0, dimensions .* the pass says that it keeps dimensions"),
    ],
)
def test_a_pass_that_lies_is_named(change: Callable[[ModuleOp], None], keeps: bool, message: str) -> None:
    class Lying(RecordingPass):
        KEEPS_DIMENSIONS = keeps

        def run(self, module: ModuleOp, analyses: Analyses) -> bool:
            change(module)
            return keeps

    schedule = PassSchedule(module_of(PRODUCT), verifies=True)
    schedule.run(AskingForAll(False, []), MoirContext())
    with pytest.raises(OperationVerifyException, match=message):
        schedule.run(Lying(keeps, []), MoirContext())


def test_a_value_that_is_held_is_that_of_the_module() -> None:
    analyses = Analyses(module_of(PRODUCT))
    shape = next(op for op in analyses.operations(Operation) if op.name == "opset3.ShapeOf")
    analyses.known_values.elements(shape.results[0])
    check_facts(analyses)
    shape.operands[0] = next(op for op in analyses.operations(Operation) if op.name == "opset1.MatMul").results[0]
    with pytest.raises(StaleFact, match=r"of result 0, the value \[3 2\] is held, \[\? 2\] computed"):
        check_facts(analyses)


def test_a_pass_without_its_operations_is_not_imported(tmp_path: Path) -> None:
    save(matmul_model(), tmp_path / "m.onnx")
    code = (
        "import sys, moir; moir.convert_model('m.onnx');"
        "print(*(name for name in sys.modules if name.startswith('moir.passes.') and name.count('.') == 3))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=True
    )
    imported = {name.rpartition(".")[2].replace("_", "-") for name in done.stdout.split()}
    assert imported == {name for name in pipeline_names("onnx") if name in PASS_MODULES} - {
        name for name in PASS_KINDS if not may_be_met(needs_by_name(name) or (), frozenset(("MatMul", "Constant", "Parameter", "Result")))
    }
    assert len(imported) < 10


def test_a_deferred_pass_is_the_pass() -> None:
    deferred = DeferredPass("fold-constants")
    assert deferred.name == "fold-constants"
    assert str(module_pass(deferred.loaded()).pipeline_pass_spec()) == "fold-constants"
    assert not isinstance(deferred.loaded(), AnchorPass | DeferredPass)
