"""Collecting the definitions of an extension that uses moir's own API.

- operations: IRDL classes derived from `OpsetOp`. Text, builders and rules refer to them by their names;
- lowerings: functions under `@onnx.lowers(…)` or `@tf.lowers(…)`, which are tried before those of moir;
- transformations, in the files of a phase: passes (`ModulePass`, `PatternPass`, `RulePass`). In a file without passes,
  each pattern (`Pattern`) is a transformation, and all rules (`Rule`) together are one, named like the file.

Abstract classes, and those whose names begin with an underscore, are not collected.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar, cast

from xdsl.ir import Operation
from xdsl.pattern_rewriter import RewritePattern
from xdsl.utils.arg_spec import ArgSpec
from xdsl.utils.exceptions import PyRDLOpDefinitionError

from moir.dialects import opset
from moir.dialects.moir import ModelOp
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.errors import ConversionError
from moir.extensions.failures import shown
from moir.extensions.importing import ExtensionPackage
from moir.extensions.transformation import UserTransformation
from moir.frameworks import is_open_dialect
from moir.lowering.table import LoweringTable
from moir.pipeline import build_pass, refuse_unknown_options
from moir.rewriting.driver import Pattern, PatternPass, Rewriter, adapted
from moir.rewriting.rules import AnyOf, FusionRule, RulePass
from moir.support.xdsl_passes import ModulePass

T = TypeVar("T")

_OPERATION_NAME = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_][\w$]*)+")
PASS_NAME = re.compile(r"[A-Za-z][\w-]*")
"""A valid name of a pass, which is part of pipelines and of names of dump files."""


@dataclass(frozen=True)
class ExtensionFile:
    """A file of an extension, imported.

    Args:
        package: the package of its directory.
        module: the module.
        path: path of the file.
        phase: `front`, `middle` or `back`; None for files in `ops`.
        framework: the framework it is for, None for all.
    """

    package: ExtensionPackage
    module: ModuleType
    path: Path
    phase: str | None
    framework: str | None

    def classes(self, base: type[T]) -> list[type[T]]:
        """The public subclasses of a class that are defined in the file."""
        members = dict.fromkeys(value for value in list(vars(self.module).values()) if isinstance(value, type))
        return [
            each
            for each in members
            if each.__module__ == self.module.__name__ and issubclass(each, base) and not each.__name__.startswith("_")
        ]

    def error(self, reason: str, hint: str | None = None) -> ConversionError:
        """An error that names the file."""
        return ConversionError(reason, location=shown(self.path), hint=hint)


class NativeCollector:
    """Registers operations and lowerings, and collects transformations.

    Args:
        tables: the tables that lowerings may be registered in.
    """

    def __init__(self, tables: Sequence[LoweringTable]) -> None:
        self.transformations: list[UserTransformation] = []
        self._stack = ExitStack()
        for table in tables:
            self._stack.enter_context(table.extended())

    def finish(self) -> None:
        """Does nothing: native definitions are complete when their file is collected."""

    def close(self) -> None:
        """Undo all registrations."""
        self._stack.close()

    def collect(self, file: ExtensionFile) -> None:
        """Register the definitions in a file. Raises ConversionError for an invalid one."""
        for operation in file.classes(Operation):
            self._register(operation, file)
        transformations = list(_transformations(file))
        if transformations and file.phase is None:
            name = transformations[0].name
            raise file.error(f"{name} is a transformation, and ops has no phase", "put the file in front, middle or back")
        self.transformations.extend(transformations)

    def _register(self, operation: type[Operation], file: ExtensionFile) -> None:
        if inspect.isabstract(operation) or "name" not in vars(operation):
            return
        if not issubclass(operation, OpsetOp):
            raise file.error(f"the operation {operation.__name__} is not derived from OpsetOp")
        name = operation.name
        if not _OPERATION_NAME.fullmatch(name) or is_open_dialect(dialect := name.partition(".")[0]) or dialect in ("moir", "builtin"):
            raise file.error(f"the operation {operation.__name__} is called {name!r}", "names are like extension.Mine")
        try:
            if operation.get_irdl_definition().name != name:
                raise PyRDLOpDefinitionError
        except (PyRDLOpDefinitionError, AttributeError) as error:
            raise file.error(f"the operation {operation.__name__} is not decorated by irdl_op_definition") from error
        try:
            opset.register(operation)
        except KeyError:
            raise file.error(f"there is an operation {name} already") from None
        self._stack.callback(opset.unregister, operation)


def kebab_case(name: str) -> str:
    """A class name in kebab case: `FuseMyMVN2` -> `fuse-my-mvn2`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|_", "-", name).strip("-").lower()


def _transformations(file: ExtensionFile) -> list[UserTransformation]:
    passes = [each for each in file.classes(ModulePass) if _is_complete(each)]
    transformations = [_transformation(file, each, _named(file, each), _pass_builder(file, each)) for each in passes]
    for pattern in (*file.classes(Pattern), *file.classes(RewritePattern)):
        if not inspect.isabstract(pattern) and (not passes or _is_placed(pattern)):
            transformations.append(_transformation(file, pattern, _named(file, pattern), _pattern_builder(pattern)))
    rules = [value for value in list(vars(file.module).values()) if isinstance(value, FusionRule)]
    if rules and not passes:
        transformations.append(_transformation(file, file.module, _checked(file, kebab_case(file.path.stem)), _rule_builder(rules)))
    return transformations


def _is_complete(candidate: type[ModulePass]) -> bool:
    """Whether a class of passes can run: it implements `apply`, or lists patterns or rules."""
    if inspect.isabstract(candidate):
        return False
    if issubclass(candidate, PatternPass) and candidate.apply is PatternPass.apply:
        if issubclass(candidate, RulePass) and candidate.patterns is RulePass.patterns:
            return bool(candidate.RULES)
        return candidate.patterns is not PatternPass.patterns
    return True


def _is_placed(pattern: type[Pattern | RewritePattern]) -> bool:
    """Whether a pattern's class has an attribute of transformations, such as `run_after`.

    A pattern without one, in a file with passes, belongs to one of these passes.
    """
    return any(attribute in vars(pattern) for attribute in ("run_after", "run_before", "id", "enabled"))


def _named(file: ExtensionFile, source: type) -> str:
    """The name of a pass or a pattern; a class without a name is given one in kebab case."""
    name = vars(source).get("name")
    if not isinstance(name, str):
        name = kebab_case(source.__name__)
        cast(Any, source).name = name
    return _checked(file, name)


def _checked(file: ExtensionFile, name: str) -> str:
    if not PASS_NAME.fullmatch(name):
        raise file.error(f"{name!r} is not a name for a pass", "use letters, digits and hyphens")
    return name


def _transformation(file: ExtensionFile, source: Any, name: str, build: Callable[[ArgSpec], ModulePass]) -> UserTransformation:
    module = file.package.label(file.module.__name__)
    label = f"{module}.{source.__name__}" if isinstance(source, type) else module
    phase = file.phase or "middle"
    return UserTransformation(name, label, file.path, phase, file.framework, source, build, _same, file.package.owns)


def _same(model: ModelOp) -> ModelOp:
    return model


def _pass_builder(file: ExtensionFile, source: type[ModulePass]) -> Callable[[ArgSpec], ModulePass]:
    def build(spec: ArgSpec) -> ModulePass:
        made = build_pass(source, spec)
        if not getattr(source, "run_not_recursively", False):
            return made
        if not isinstance(made, PatternPass) or source.apply is not PatternPass.apply:
            raise file.error(
                f"{source.__name__} has run_not_recursively, but walks the module itself",
                "derive it from PatternPass, or walk the models only",
            )
        return PatternsPass.of(source.name, [OutsideOfBodies(adapted(each)) for each in made.patterns()], fixpoint=made.FIXPOINT)

    return build


def _pattern_builder(source: type[Pattern | RewritePattern]) -> Callable[[ArgSpec], ModulePass]:
    def build(spec: ArgSpec) -> ModulePass:
        refuse_unknown_options(spec, ())
        pattern = adapted(source())
        chosen = OutsideOfBodies(pattern) if getattr(source, "run_not_recursively", False) else pattern
        return PatternsPass.of(spec.name, [chosen], fixpoint=bool(getattr(source, "FIXPOINT", False)))

    return build


def _rule_builder(rules: Sequence[FusionRule]) -> Callable[[ArgSpec], ModulePass]:
    def build(spec: ArgSpec) -> ModulePass:
        refuse_unknown_options(spec, ())
        return PatternsPass.of(spec.name, [AnyOf(rules)], fixpoint=False)

    return build


class PatternsPass(PatternPass):
    """A pass that applies given patterns."""

    CHOSEN: tuple[Pattern, ...] = ()

    @staticmethod
    def of(name: str, patterns: Sequence[Pattern], *, fixpoint: bool) -> PatternPass:
        """Build a pass with this name that applies the patterns, until nothing changes if `fixpoint` is set."""
        made = type("PatternsPass", (PatternsPass,), {"name": name, "CHOSEN": tuple(patterns), "FIXPOINT": fixpoint})
        return made()

    def patterns(self) -> Sequence[Pattern]:
        return self.CHOSEN


class OutsideOfBodies(Pattern):
    """A pattern that applies another pattern, except in the regions of loops and conditionals.

    Args:
        pattern: the other pattern.
    """

    def __init__(self, pattern: Pattern) -> None:
        self._pattern = pattern
        self.roots = pattern.roots

    def may_match(self, op: Operation) -> bool:
        return isinstance(op.parent_op(), ModelOp) and self._pattern.may_match(op)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        self._pattern.match_and_rewrite(op, rewriter)
