"""Collects transformations, extractors and operations written for Model Optimizer's API from files.

Every complete class that is defined or created in a file is registered, also if it derives from another class of a
user. Among transformations and extractors of one kind (`op`), one of a later directory replaces one of an earlier
directory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from xdsl.passes import ModulePass
from xdsl.utils.arg_spec import ArgSpec

from moir.dialects.moir import ModelOp
from moir.extensions.failures import shown
from moir.extensions.importing import ExtensionPackage
from moir.extensions.native import ExtensionFile, kebab_case
from moir.extensions.transformation import UserTransformation
from moir.frameworks import FRAMEWORKS
from moir.model_optimizer.api.configuration.command_line import command_line
from moir.model_optimizer.api.extraction.extractor_tables import taken
from moir.model_optimizer.api.extraction.front_extractor import FrontExtractorOp
from moir.model_optimizer.api.operations import register_all
from moir.model_optimizer.api.transformations.anchors import FrontFinish
from moir.model_optimizer.api.transformations.no_match import layout_read
from moir.model_optimizer.api.transformations.replacement import BASE_CLASSES, FrontReplacementOp, ReplacementPattern
from moir.model_optimizer.frameworks.lookup import view_of
from moir.model_optimizer.graph.graph import Graph
from moir.model_optimizer.graph.operation import Op, registration
from moir.model_optimizer.graph_passes import (
    ExtractionPass,
    GraphPass,
    MatchConstantsPass,
    OrderInputsPass,
    RestoreFrameworkFormsPass,
    graph_of,
)
from moir.model_optimizer.import_paths import LegacyImports
from moir.model_optimizer.lowering.table import mo
from moir.model_optimizer.numpy_aliases import numpy_aliases
from moir.pipeline import is_pass, refuse_unknown_options

if TYPE_CHECKING:
    from moir.extensions.loading import Settings


class OwnStep(UserTransformation):
    """A step of moir itself among the transformations of an extension."""

    @property
    def summary(self) -> str:
        """The description of the step in a list of passes, where a user's class has its docstring."""
        return self.description


class GraphCollector:
    """Registers the classes in files, and unregisters them at the end.

    Args:
        settings: the conversion for which extensions are loaded.
    """

    def __init__(self, settings: Settings) -> None:
        self.transformations: list[UserTransformation] = []
        self._parameters = command_line(
            framework=settings.framework,
            extensions=",".join(settings.directories) or None,
            transformations_config=None if settings.configuration is None else str(settings.configuration),
            **settings.parameters,
        )
        self._framework = settings.framework
        self._tables = settings.tables
        self._extractors: dict[str, tuple[type[FrontExtractorOp], ExtensionFile]] = {}
        self._operations: dict[str, tuple[type[Op], ExtensionFile]] = {}
        self._stack = ExitStack()
        self._stack.enter_context(registration())
        register_all()
        self._stack.enter_context(LegacyImports())
        self._stack.enter_context(numpy_aliases())
        self._stack.enter_context(mo.with_command_line(self._parameters))

    def close(self) -> None:
        """Unregister everything, including registrations by a file that then failed to load."""
        taken()
        self._stack.close()

    def collect(self, file: ExtensionFile) -> None:
        """Register the classes of a file. Raises ConversionError for a class without a required member."""
        for source in file.classes(ReplacementPattern):
            if source not in BASE_CLASSES and self._is_complete(source, file):
                self._add(source, file)
        for extractor in file.classes(FrontExtractorOp):
            if self._is_complete(extractor, file):
                self._add_extractor(extractor, file)
        for extractor in taken():
            self._add_extractor(extractor, file)
        for operation in file.classes(Op):
            if isinstance(operation.op, str) and operation.enabled:
                self._operations[operation.op] = (operation, file)

    def _add_extractor(self, extractor: type[FrontExtractorOp], file: ExtensionFile) -> None:
        assert extractor.op is not None
        other = self._extractors.get(extractor.op.lower())
        if other is not None and other[1].package is file.package:
            raise file.error(f"there is an extractor for {extractor.op} in {shown(other[1].path)} already")
        self._extractors[extractor.op.lower()] = (extractor, file)

    def _is_complete(self, source: type[ReplacementPattern] | type[FrontExtractorOp], file: ExtensionFile) -> bool:
        missing = source.missing_member()
        if missing is None:
            return True
        # A base class of other classes of the file is not registered by itself.
        if any(issubclass(other, source) and other is not source for other in file.classes(source)):
            return False
        raise file.error(f"the class {source.__name__} does not define {missing}")

    def _add(self, source: type[ReplacementPattern], file: ExtensionFile) -> None:
        if issubclass(source, FrontReplacementOp):
            self.transformations = [
                each
                for each in self.transformations
                if not (
                    issubclass(each.source, FrontReplacementOp) and each.source.op == source.op and not file.package.owns(str(each.file))
                )
            ]
        label = f"{file.package.label(file.module.__name__)}.{source.__name__}"

        def build(spec: ArgSpec) -> ModulePass:
            refuse_unknown_options(spec, ())
            return GraphPass(source, self._parameters)

        self.transformations.append(
            UserTransformation(
                _free_name(source.__name__),
                label,
                file.path,
                source.phase,
                file.framework,
                source,
                build,
                self._graph_of(source.phase),
                file.package.owns,
                ignores_unknown=True,
                keeps_dead=True,
                sees_layouts=True,
                told_by_condition=lambda graph: layout_read([graph]),
            )
        )

    def _graph_of(self, phase: str) -> Callable[[ModelOp], Graph]:
        return lambda model: graph_of(model, phase, self._parameters)

    def finish(self) -> None:
        """Complete the list when all files are loaded: extractors run as one transformation, before all others.

        Before the transformations of the front phase, the inputs of nodes are reordered as in Model Optimizer. After
        them, constants that they made get element types, and nodes that they left unchanged become operations of the
        framework.
        """
        self._add_extraction()
        if any(each.phase == "front" for each in self.transformations):
            file = self.transformations[0].file
            self._add_ordering(file)
            self._add_step(MATCHING, "constants", _Matching, MatchConstantsPass(self._parameters), file, ())
            self._add_step(RESTORING, "framework forms", _Restoring, RestoreFrameworkFormsPass(self._parameters), file, ())

    def _add_ordering(self, file: Path) -> None:
        """Add the step that orders the inputs of nodes, for the frameworks that have another order.

        `file` is the file of an extension that the step is listed with.
        """
        extracted = any(each.name == EXTRACTION for each in self.transformations)
        place = type("_Ordering", (_Ordering,), {"run_after": (EXTRACTION,) if extracted else (), "__doc__": _Ordering.__doc__})
        known = [self._framework] if self._framework is not None else list(FRAMEWORKS)
        for framework in known:
            if view_of(framework).input_orders:
                self._add_step(ORDERING, "inputs", place, OrderInputsPass(self._parameters), file, (), framework)

    def _add_extraction(self) -> None:
        used = [*self._extractors.values(), *self._operations.values()]
        if not used:
            return
        extractors = {kind: extractor for kind, (extractor, _) in self._extractors.items()}
        operations = {kind: operation for kind, (operation, _) in self._operations.items()}
        packages = {file.package for _, file in used}

        step = ExtractionPass(extractors, operations, self._tables, self._parameters)
        place = type("_Extraction", (_Extraction,), {"__doc__": f"Extractors: {_shown_classes(used)}."})
        self._add_step(EXTRACTION, "extractors", place, step, used[0][1].path, packages)

    def _add_step(
        self,
        name: str,
        label: str,
        place: type,
        step: ModulePass,
        file: Path,
        packages: Iterable[ExtensionPackage],
        framework: str | None = None,
    ) -> None:
        """Add a step of moir itself to the transformations of the front phase.

        Args:
            name: the name of the pass.
            label: what the step is listed as.
            place: a class whose `run_after` and `run_before` say where the step is sorted.
            step: the pass.
            file: the file of an extension that the step is listed with.
            packages: the extensions whose files count as the step's own.
            framework: the framework of the models; None for all.
        """
        owners = tuple(packages)

        def build(spec: ArgSpec) -> ModulePass:
            refuse_unknown_options(spec, ())
            return step

        self.transformations.append(
            OwnStep(
                name,
                label,
                file,
                "front",
                framework,
                place,
                build,
                self._graph_of("front"),
                lambda filename: any(package.owns(filename) for package in owners),
                ignores_unknown=True,
            )
        )


EXTRACTION = "extract-attributes"
"""The pass name of all extractors together."""

ORDERING = "order-inputs"
"""The pass name of the step that orders the inputs of nodes, before all transformations of the front phase."""

MATCHING = "match-constants"
"""The pass name of the step that gives constants their element types, after all transformations of the front phase."""

RESTORING = "restore-framework-forms"
"""The pass name of the last step of the front phase."""


class _Extraction:
    """Stands for all extractors when transformations are sorted: they run before `front-start`."""

    run_after = ()
    run_before = ("front-start",)


class _Ordering:
    """Gives inputs of nodes the order that they had in Model Optimizer."""

    run_before = ("front-start",)


class _Matching:
    """Gives constants that transformations made the element types of the other operands."""

    run_after = (FrontFinish,)
    run_before = ("lower",)


class _Restoring:
    """Turns nodes that no transformation has changed into operations of the framework again."""

    run_after = (MATCHING,)
    run_before = ("lower",)


def _shown_classes(classes: Iterable[tuple[type, ExtensionFile]]) -> str:
    return ", ".join(f"{each.__name__} in {shown(file.path)}" for each, file in classes)


def _free_name(class_name: str) -> str:
    """The name of a class in kebab case, with the suffix `-extension` if a pass of moir has this name."""
    name = kebab_case(class_name)
    return f"{name}-extension" if is_pass(name) else name
