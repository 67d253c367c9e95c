"""The conversion that is examined: the model as it was read, the passes, and the states between them."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from moir.conversion import Observer, collection_paused, import_model, open_extensions, run
from moir.dialects.framework import FrameworkOp, framework_of
from moir.errors import ConversionError, InternalError, MoirError
from moir.files.recognition import framework_of_file
from moir.frameworks import FRAMEWORKS
from moir.frameworks.record import Framework
from moir.options import ConversionOptions
from moir.parameters.interface import INPUT
from moir.pipeline import LoadedExtensions, default_pipeline, deferred
from moir.pipeline.cut_types import infer_cut_types
from moir.pipeline.text import expanded
from moir.rewriting.events import RewriteEvent, traced
from moir.support.records import Record
from moir.targets.registry import OPENVINO_CPU

LOWERED = "check-lowered"
"""The name of the pass after which a module is in opset dialects."""


class PipelineState(Record):
    """The module after a pass that changed it.

    Args:
        number: the number of the pass; 0 is the import.
        stage: the name of the pass.
        module: the module. It shares the weights with the other states.
    """

    number: int
    stage: str
    module: ModuleOp

    def __str__(self) -> str:
        return f"{self.number:03}-{self.stage}"


class StateRecorder(Observer):
    """Keeps the states of a conversion: a copy of the module after each pass that changed it."""

    def __init__(self) -> None:
        self.states: list[PipelineState] = []
        self.running = (0, "import")
        """The number and the name of the stage that runs, or ran last."""
        self._contents: list[tuple[object, ...]] = []

    def start(self, number: int, stage: str) -> None:
        self.running = (number, stage)

    def finish(self, number: int, stage: str, module: ModuleOp, seconds: float) -> None:
        contents = [_contents(op) for op in module.walk()]
        if contents != self._contents:
            self._contents = contents
            self.states.append(PipelineState(number, stage, module.clone()))

    def finish_unchanged(self, number: int, stage: str, module: ModuleOp, seconds: float) -> None:
        pass


def _contents(op: Operation) -> tuple[object, ...]:
    """A tuple that identifies the state of an operation: itself, its operands, properties, attributes and result types.

    Two such tuples are equal (mostly by identity) as long as the operation is unchanged.
    """
    types = (result.type for result in op.results)
    return (op, *op.operands, *op.properties.values(), *op.attributes.values(), *types)


class ExaminedConversion:
    """A conversion under examination: its model and passes, by which states are computed, and passes run again.

    Args:
        module: the model as it was read; it is not changed.
        framework: its framework.
        passes: the passes of the conversion.
        extensions: the extensions that are loaded.
        path: the model file; None for a module.
        options: the options of the conversion.
    """

    def __init__(
        self,
        module: ModuleOp,
        framework: Framework,
        passes: Sequence[ModulePass],
        extensions: LoadedExtensions | None,
        path: Path | None,
        options: ConversionOptions,
    ) -> None:
        self.module = module
        self.framework = framework
        self.passes = list(passes)
        self.extensions = extensions
        self.path = path
        self.options = options
        self.stopped: Exception | None = None
        """The error of the pass with which the states end; None if all passes ran."""

    def states(self) -> list[PipelineState]:
        """Run the passes once; returns the state after each of them, with the imported module first.

        If a pass after the lowering raises an error, the last state is the module as that pass left it: an earlier pass
        may have made the module invalid. Raises ConversionError if the lowering does.
        """
        recorder = StateRecorder()
        module = self.module.clone()
        recorder.finish(0, "import", module, 0)
        with collection_paused():
            try:
                run(module, self.passes, [recorder], extensions=self.extensions)
            except (ConversionError, InternalError) as error:
                if is_foreign(module):
                    raise
                self.stopped = error
                recorder.states.append(PipelineState(*recorder.running, module.clone()))
        return recorder.states

    def forms(self, state: PipelineState) -> Iterator[ModuleOp]:
        """Yields the modules by which a state can be executed, the best one first.

        Operations of a framework are lowered, in a copy, by the following passes up to `check-lowered`. A second copy
        has the forms of the target. Modules that cannot be built are left out.
        """
        module = state.module
        with suppress(MoirError, InternalError):
            if is_foreign(module):
                names = [each.name for each in self.passes[state.number :]]
                end = names.index(LOWERED) + 1 if LOWERED in names else len(names)
                module = module.clone()
                run(module, self.passes[state.number : state.number + end], extensions=self.extensions)
            yield module
            module = module.clone()
            run(module, [deferred(name) for name in ("fold-constants", *OPENVINO_CPU.forms, "eliminate-dead")], extensions=self.extensions)
            yield module

    def replayed(self, before: PipelineState, number: int, limit: int | None = None) -> tuple[PipelineState, list[RewriteEvent]]:
        """Run a pass again on a copy of the state before it.

        Args:
            before: the state.
            number: the number of the pass.
            limit: how many rewrites the pass may do; None for all.

        Returns the state after it, and its rewrites; if the pass raises an error, the state at that time.
        """
        events: list[RewriteEvent] = []
        module, each = before.module.clone(), self.passes[number - 1]
        with traced(events.append, limit), suppress(ConversionError, InternalError):
            run(module, [each], extensions=self.extensions)
        return PipelineState(number, each.name, module), [event for event in events if event.reason is None]


def is_foreign(module: ModuleOp) -> bool:
    """Whether a module contains operations of a framework's dialect."""
    return any(isinstance(op, FrameworkOp) for op in module.walk())


@contextmanager
def opened(
    model: Path | ModuleOp, options: ConversionOptions | None = None, passes: str | Iterable[str | ModulePass] | None = None
) -> Generator[ExaminedConversion]:
    """Read a model for an examination of its conversion, with its extensions loaded.

    Args:
        model: a model file; or a module, in the dialect of a framework or in opset dialects, of which a copy is
            examined.
        options: the options of the conversion.
        passes: a pipeline in place of the default one; for a module without operations of a framework, by default the
            passes after `check-lowered`.

    Raises MoirError as a conversion does.
    """
    options = options or ConversionOptions()
    options.check()
    path = model if isinstance(model, Path) else None
    framework = framework_of_file(path) if path is not None else FRAMEWORKS[framework_of(_module(model))]
    with ExitStack() as stack:
        extensions = open_extensions(framework, options, options.parameters(path) if path is not None else None)
        if extensions is not None:
            stack.callback(extensions.close)
        module = import_model(path, options, framework) if path is not None else _module(model)
        if passes:
            chosen = expanded(passes, framework.dialect, options, extensions)
        else:
            chosen = default_pipeline(framework.dialect, options, extensions)
        if any(item.place.text and item.shape is None for item in options[INPUT]) and framework.lowering is not None:
            infer_cut_types(module, options[INPUT], framework, run)
        yield ExaminedConversion(module, framework, chosen, extensions, path, options)


def _module(model: Path | ModuleOp) -> ModuleOp:
    assert isinstance(model, ModuleOp)
    return model
