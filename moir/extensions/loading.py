"""Loading extensions for one conversion.

    with Extensions.load([Path("my_extension")], "onnx", tables) as extensions:
        passes = extensions.passes(pipeline_names("onnx"), "onnx")

While the extensions are open, their operations and lowerings are registered and their modules can be imported; closing
them undoes that.
"""

from __future__ import annotations

import importlib
import logging
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, Self, cast

from xdsl.passes import ModulePass
from xdsl.utils.arg_spec import ArgSpec

from moir.errors import ConversionError
from moir.extensions.directories import files_of, find_directory, unread_folders
from moir.extensions.environment import Choice
from moir.extensions.failures import failure, line_of, shown
from moir.extensions.importing import AliasFinder, ExtensionPackage, NeighbourFinder
from moir.extensions.native import ExtensionFile, NativeCollector
from moir.extensions.placing import placed
from moir.extensions.transformation import UserTransformation
from moir.extensions.transformation_pass import TransformationPass
from moir.frameworks import FRAMEWORKS, MODEL_OPTIMIZER, lowered
from moir.frameworks.record import Framework
from moir.frameworks.traits import SAYS_LAYOUT, kinds_with
from moir.lowering.driver import table_of
from moir.lowering.table import LoweringTable
from moir.options import ConversionOptions
from moir.parameters.extension import DETECTION, DISABLE, ENABLE, EXTENSION_LAYOUT, EXTENSIONS, TRANSFORMATIONS_CONFIG
from moir.pipeline import ANCHORS, deferred, is_pass, pass_names

logger = logging.getLogger("moir")


class Collector(Protocol):
    """Registers the definitions of one API in the files of an extension: native ones, or those of Model Optimizer."""

    transformations: list[UserTransformation]

    def collect(self, file: ExtensionFile) -> None:
        """Register the definitions in a file."""
        ...

    def finish(self) -> None:
        """Called once, after all files were collected."""
        ...

    def close(self) -> None:
        """Undo all registrations."""
        ...


@dataclass(frozen=True)
class Settings:
    """The inputs of loading extensions.

    Args:
        framework: the framework of the model; None if it is not known yet: then directories for single frameworks are
            loaded for all of them.
        directories: directories of extensions or names of entry points, as the user gave them.
        configuration: a JSON file that configures transformations.
        parameters: further options of the conversion, which extensions find in `graph.graph["cmd_params"]`.
        tables: the tables of lowerings that extensions may register in.
    """

    framework: str | None = None
    directories: tuple[str, ...] = ()
    configuration: Path | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict[str, Any])
    tables: tuple[LoweringTable, ...] = ()

    @property
    def names_transformations(self) -> bool:
        """Whether there are directories or a configuration from which transformations can be collected."""
        return bool(self.directories) or self.configuration is not None or self.parameters.get(DETECTION.name) == "output"


MIDDLE_START = "middle-start"
"""The anchor (a pass that does nothing) at which the middle phase begins."""

COLLECTORS: tuple[str, ...] = (
    "moir.model_optimizer.graph_collector:GraphCollector",
    "moir.model_optimizer.configuration_collector:ConfigurationCollector",
)
"""The collectors besides the native one, as `module:class`.

Each is created from the settings before files are loaded.
"""


class Extensions:
    """The extensions of a conversion.

    Args:
        settings: the directories to load, and the conversion they are loaded for.
        choice: the transformations that the user enables and disables.
    """

    def __init__(self, settings: Settings, choice: Choice) -> None:
        self.settings = settings
        self.choice = choice
        self._stack = ExitStack()
        self._packages: list[ExtensionPackage] = []
        self._collectors: list[Collector] = []
        self._by_name: dict[str, UserTransformation] = {}
        try:
            if settings.names_transformations:
                self._load()
            self._check_names()
        except BaseException:
            self.close()
            raise

    @classmethod
    def load(
        cls,
        directories: Iterable[str | Path],
        framework: str | None = None,
        tables: Sequence[LoweringTable] = (),
        *,
        configuration: str | Path | None = None,
        enable: Iterable[str] = (),
        disable: Iterable[str] = (),
        environment: Mapping[str, str] = os.environ,
        parameters: Mapping[str, Any] | None = None,
    ) -> Self:
        """Load the files of directories.

        Args:
            directories: directories of extensions, or names of entry points.
            framework: the framework of the model; None if it is not known yet.
            tables: the tables of lowerings that extensions may register in.
            configuration: a JSON file that configures transformations.
            enable: names of transformations to run although they are not enabled.
            disable: names of transformations and passes not to run.
            environment: the environment variables.
            parameters: further options of the conversion, for `graph.graph["cmd_params"]`.

        Raises ConversionError for files that cannot be loaded and names that do not exist.
        """
        path = None if configuration is None else Path(configuration)
        settings = Settings(framework, tuple(map(str, directories)), path, dict(parameters or {}), tuple(tables))
        return cls(settings, Choice.read(enable, disable, environment))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Undo all registrations, and unload the modules of the extensions."""
        self._stack.close()

    def _load(self) -> None:
        importlib.invalidate_caches()
        directories = dict.fromkeys(find_directory(each).resolve() for each in self.settings.directories)
        self._packages = [ExtensionPackage(each) for each in directories]
        collectors: list[Collector] = [NativeCollector(self.settings.tables)]
        self._stack.callback(collectors[0].close)
        for source in COLLECTORS:
            module, _, name = source.partition(":")
            collector = cast("Callable[[Settings], Collector]", getattr(importlib.import_module(module), name))(self.settings)
            self._stack.callback(collector.close)
            collectors.append(collector)
        self._collectors = collectors
        finder = AliasFinder(self._packages)
        finder.open()
        self._stack.callback(finder.close)
        neighbours = NeighbourFinder(self._packages)
        neighbours.open()
        self._stack.callback(neighbours.close)
        for package in self._packages:
            finder.prefer(package)
            neighbours.prefer(package)
            self._stack.callback(package.close)
            package.open()
            for paths in files_of(package.directory, self.settings.framework):
                file = ExtensionFile(package, package.load(paths.path), paths.path, paths.phase, paths.framework)
                for collector in collectors:
                    collector.collect(file)
            self._tell_unread(package)
        for collector in collectors:
            collector.finish()

    @staticmethod
    def _tell_unread(package: ExtensionPackage) -> None:
        """Warn about folders in `front` that are not named after a framework, unless other modules import them."""
        for folder in unread_folders(package.directory):
            if f"{package.name}.front.{folder.name}" not in sys.modules:
                folders = ", ".join(f"front/{name}" for name in FRAMEWORKS)
                logger.warning("%s is not loaded: it is for no framework that moir reads, whose folders are %s", shown(folder), folders)

    @property
    def transformations(self) -> list[UserTransformation]:
        """All transformations that were loaded."""
        return [each for collector in self._collectors for each in collector.transformations]

    def _check_names(self) -> None:
        ids: dict[str, UserTransformation] = {}
        for each in self.transformations:
            if is_pass(each.name) or each.name == "default":
                raise ConversionError(
                    f"the name {each.name!r} is one of moir's passes", location=shown(each.file), hint="choose another one"
                )
            for known, key, what in ((self._by_name, each.name, "name"), (ids, each.id, "id")):
                if key is not None and known.setdefault(key, each) is not each:
                    other = shown(known[key].file)
                    raise ConversionError(f"a transformation of the {what} {key!r} is in {other} already", location=shown(each.file))
        self.choice.check([*pass_names(), *(handle for each in self.transformations for handle in each.handles)])

    def has(self, name: str) -> bool:
        """Whether a transformation has this pass name."""
        return name in self._by_name

    def names(self) -> list[str]:
        """The pass names of all transformations."""
        return sorted(self._by_name)

    def build(self, spec: ArgSpec) -> ModulePass:
        """The pass of the transformation that `spec`, an element of a pipeline, names; it runs even if it is not
        enabled.
        """
        transformation = self._by_name[spec.name]
        return TransformationPass.of(transformation, transformation.build(spec), transformation.phase, None)

    def passes(self, names: Sequence[str], framework: str, made: Callable[[str], ModulePass] = deferred) -> list[ModulePass]:
        """The passes of a pipeline without the disabled ones, with the transformations inserted.

        If transformations that begin the middle phase see layouts, the lowering keeps the operations with an attribute
        for their data layout, and runs a second time after these transformations.

        Args:
            names: the names of the passes.
            framework: the framework of the model.
            made: makes a pass of moir, by its name.

        Raises ConversionError if `run_after` and `run_before` form a cycle or contain an unknown name.
        """
        fitting = [each for each in self.transformations if each.framework in (None, framework)]
        ends = {FRAMEWORKS[framework].lowering_pass: "middle", "back-start": "back"}
        passes: list[ModulePass] = []
        phase = "front"
        order = placed(names, fitting, framework, self.transformations)
        end = self._end_of_layouts(order, FRAMEWORKS[framework])
        for index, each in enumerate(order):
            if end and index == end:
                passes.append(made(FRAMEWORKS[framework].lowering_pass))
            if isinstance(each, UserTransformation):
                # The phase at its position in the pipeline, which may differ from that of its directory.
                passes.append(TransformationPass.of(each, self._inner(each), phase, self.choice))
                continue
            phase = ends.get(each, phase)
            if end and each == FRAMEWORKS[framework].lowering_pass:
                passes.append(deferred(each, {"keeps_layouts": True}))
            elif each in ANCHORS or self.choice.is_enabled((each,), True):
                passes.append(made(each))
        return passes

    def _end_of_layouts(self, order: Sequence[str | UserTransformation], framework: Framework) -> int:
        """The index in `order` after the last transformation that begins the middle phase and sees layouts.

        Returns 0 if no enabled transformation of the middle and back phases sees layouts.
        """
        if not kinds_with(framework.dialect, SAYS_LAYOUT) or MIDDLE_START not in order:
            return 0
        begin = end = order.index(MIDDLE_START) + 1
        while end < len(order) and isinstance(each := order[end], UserTransformation) and each.sees_layouts:
            end += 1
        looking = (each for each in order[begin:] if isinstance(each, UserTransformation) and each.sees_layouts)
        return end if any(each.is_enabled(self.choice) for each in looking) else 0

    def _inner(self, transformation: UserTransformation) -> ModulePass:
        try:
            return transformation.build(ArgSpec(transformation.name, {}))
        except ConversionError:
            raise
        except Exception as error:
            raise failure(error, transformation.title, self.owns) from error

    def owns(self, filename: str) -> bool:
        """Whether a file belongs to one of the extensions."""
        return any(package.owns(filename) for package in self._packages)

    def failure(self, error: BaseException, where: str) -> ConversionError | None:
        """The error for an unexpected exception that passed through a file of an extension, else None.

        Args:
            error: the exception.
            where: the stage of the conversion, for the message.
        """
        return failure(error, where, self.owns) if line_of(error, self.owns) is not None else None

    def locate(self, error: ConversionError) -> None:
        """Set the location of an error to the line of an extension's file that its cause passed through, if there is
        one.
        """
        cause = error.__cause__
        if error.location is None and cause is not None and (line := line_of(cause, self.owns)) is not None:
            error.location = line


def open_extensions(framework: Framework | None, options: ConversionOptions, parameters: Mapping[str, Any]) -> Extensions:
    """Load the extensions of a conversion; the caller closes them.

    Args:
        framework: the framework of the model; None if it is not known yet.
        options: the options of the conversion.
        parameters: further options, which extensions find in `graph.graph["cmd_params"]`.

    Raises ConversionError for files that cannot be loaded and names that do not exist.
    """
    has_files = bool(options[EXTENSIONS] or options[TRANSFORMATIONS_CONFIG])
    return Extensions.load(
        options[EXTENSIONS],
        None if framework is None else framework.dialect,
        lowering_tables(framework) if has_files else (),
        configuration=options[TRANSFORMATIONS_CONFIG],
        enable=options[ENABLE],
        disable=options[DISABLE],
        parameters={**parameters, EXTENSION_LAYOUT.name: options[EXTENSION_LAYOUT]},
    )


def lowering_tables(framework: Framework | None) -> list[LoweringTable]:
    """The tables of lowerings that extensions may register in.

    They are those of the framework (None: of all frameworks), and that of operations of Model Optimizer's API.
    """
    frameworks = lowered() if framework is None else [] if framework.is_lowered else [framework]
    return [table_of(each) for each in (*frameworks, MODEL_OPTIMIZER)]
