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
from xdsl.passes import ModulePass

import moir
from moir.analysis.analyses import Analyses
from moir.dialects.context import MoirContext
from moir.dialects.moir import all_blocks
from moir.dialects.shapes import shape_of
from moir.dialects.symbols import Symbol
from moir.pass_kinds import PASS_KINDS
from moir.pass_schedule import PassSchedule
from moir.pipeline import AnchorPass, DeferredPass, default_pipeline, load_pass, pass_modules, pipeline_names
from moir.rewriting.reporting_pass import ReportingPass, may_be_met
from moir.tools.text import TextParser, print_module
from scripts.pass_kinds import FILE, text
from tests.unit.small_models import loop_model, matmul_model, save

ROOT = Path(__file__).parents[2]
FIXTURES = ROOT / "tests" / "fixtures" / "tensorflow"
EVERY_PASS = sorted(pass_modules())


def test_the_generated_file_is_that_of_the_passes() -> None:
    assert FILE.read_text(encoding="utf-8") == text(), "run python -m scripts.pass_kinds"


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
    framework = moir.recognition.framework_of_file(path).dialect
    before = printed(module)
    for name in pipeline_names(framework):
        each = load_pass(name)()
        kinds = Analyses(module).kinds
        changed = each.run(module, Analyses(module)) if isinstance(each, ReportingPass) else each.apply(MoirContext(), module) is None
        after = printed(module)
        if after != before:
            assert changed, f"{name} changed the module and says that it did not"
            assert name not in PASS_KINDS or may_be_met(PASS_KINDS[name], kinds), f"{name} changed a module that lacks what it needs"
        before = after


@pytest.mark.parametrize("number", range(6))
def test_the_result_is_that_of_all_passes(tmp_path: Path, number: int) -> None:
    path, options = models(tmp_path)[number]
    every = moir.read_model(path, **options)
    for name in pipeline_names(moir.recognition.framework_of_file(path).dialect):
        load_pass(name)().apply(Context(), every)
    scheduled = moir.read_model(path, **options)
    schedule = PassSchedule(scheduled)
    for each in default_pipeline(moir.recognition.framework_of_file(path).dialect):
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


@pytest.mark.parametrize("fact", [Analyses.dimensions, lambda analyses: analyses.contents, lambda analyses: analyses.classes])
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


@pytest.mark.parametrize("number", range(6))
def test_dimensions_that_passes_keep_are_those_of_the_module(tmp_path: Path, number: int) -> None:
    """What is kept does not contradict what is computed anew: no other size, and no two sizes that are one."""
    path, options = models(tmp_path)[number]
    module = moir.read_model(path, **options)
    analyses = Analyses(module)
    compared = 0
    for name in pipeline_names(moir.recognition.framework_of_file(path).dialect):
        each = load_pass(name)()
        kept = analyses.dimensions()
        changed = each.run(module, analyses) if isinstance(each, ReportingPass) else each.apply(MoirContext(), module) is None
        keeps = isinstance(each, ReportingPass) and each.KEEPS_DIMENSIONS
        if changed:
            analyses.invalidate(dimensions=not keeps)
            if not keeps:
                continue
        fresh = Analyses(module).dimensions()
        sizes: dict[object, int] = {}
        for op in (op for block in all_blocks(module) for op in block.ops):
            for result in op.results:
                old, new = kept.tokens(result), fresh.tokens(result)
                assert (old is None) == (new is None)
                for before, after, size in zip(old or (), new or (), shape_of(result) or (), strict=True):
                    if not isinstance(before, Symbol) and not isinstance(after, Symbol):
                        assert before == after, name
                    if isinstance(before, Symbol) and size >= 0:
                        assert sizes.setdefault(before, size) == size, name
                    compared += 1
    assert compared > 0


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
    assert imported == {name for name in pipeline_names("onnx") if name in pass_modules()} - {
        name for name, needs in PASS_KINDS.items() if not may_be_met(needs, frozenset(("MatMul", "Constant", "Parameter", "Result")))
    }
    assert len(imported) < 10


def test_a_deferred_pass_is_the_pass() -> None:
    deferred = DeferredPass("fold-constants")
    assert deferred.name == "fold-constants"
    assert str(deferred.pipeline_pass_spec()) == "fold-constants"
    assert not isinstance(deferred.loaded(), AnchorPass | DeferredPass)
