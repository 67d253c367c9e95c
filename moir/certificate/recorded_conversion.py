"""A conversion that keeps what a certificate needs: the model as it was read, as lowered, and as written."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp

from moir.bisection.examined_conversion import LOWERED, ExaminedConversion, opened
from moir.bisection.reference import INTERFACE_PASSES
from moir.bisection.state_execution import tolerance_after
from moir.certificate.touched_nodes import TouchedNodes
from moir.conversion import Observer, collection_paused, run
from moir.files.source_files import files_read
from moir.frameworks.record import Framework
from moir.options import ConversionOptions
from moir.support.records import Record


class RecordedConversion(Record):
    """A conversion that is done.

    Args:
        source: the model as it was read.
        base: the model after it was lowered, and after the last pass that changes on request what it computes.
        stage: the pass after which `base` is; `import` for a model that needs no lowering.
        changing: the passes that changed on request what the model computes.
        module: the converted model.
        framework: the framework of the model.
        touched: the rewrites that touched each node.
        read: the files that were read.
        tolerance: the relative tolerance that passes which round weights require; None if there are none.
    """

    source: ModuleOp
    base: ModuleOp
    stage: str
    changing: tuple[str, ...]
    module: ModuleOp
    framework: Framework
    touched: TouchedNodes
    read: tuple[Path, ...]
    tolerance: float | None


class _BaseRecorder(Observer):
    """Keeps a copy of the module after the lowering, or after the last pass that changes the computed function."""

    def __init__(self, module: ModuleOp) -> None:
        self.base = module
        self.stage = "import"
        self.changing: list[str] = []

    def finish(self, number: int, stage: str, module: ModuleOp, seconds: float) -> None:
        if stage in INTERFACE_PASSES:
            self.changing.append(stage)
        if stage == LOWERED or stage in INTERFACE_PASSES:
            self.base, self.stage = module.clone(), stage

    def finish_unchanged(self, number: int, stage: str, module: ModuleOp, seconds: float) -> None:
        if stage == LOWERED:
            self.base, self.stage = module.clone(), stage


def recorded_conversion(model: Path, options: ConversionOptions, passes: str | Iterable[str] | None = None) -> RecordedConversion:
    """Convert a model, and keep what a certificate needs.

    Args:
        model: the model.
        options: the options of the conversion.
        passes: a pipeline in place of the default one.

    Raises MoirError as a conversion does.
    """
    with opened(model, options, passes) as conversion, collection_paused():
        module, recorder = conversion.module.clone(), _BaseRecorder(conversion.module)
        touched = TouchedNodes(is_lowered=conversion.framework.is_lowered)
        touched.finish(0, "import", module, 0)
        with touched.recorded():
            run(module, conversion.passes, [touched, recorder], extensions=conversion.extensions)
        return RecordedConversion(
            source=conversion.module,
            base=recorder.base,
            stage=recorder.stage,
            changing=tuple(dict.fromkeys(recorder.changing)),
            module=module,
            framework=conversion.framework,
            touched=touched,
            read=tuple(files_read(conversion.module)),
            tolerance=_tolerance(conversion),
        )


def _tolerance(conversion: ExaminedConversion) -> float | None:
    return max((limit for each in conversion.passes if (limit := tolerance_after(each)) is not None), default=None)
