"""Tables of lowerings: from kind (and version of its operation set) to handler.

    @onnx.lowers("Elu")
    def elu(node: LoweringNode, op: OpBuilder) -> SSAValue:
        \"\"\"onnx.Elu(x) {alpha} -> opset1.Elu(x) {alpha}\"\"\"
        return op.Elu(node.operand(0), alpha=node.number("alpha", 1.0))

A handler gets the node with typed access to its operands and attributes and a builder; it returns the values that
replace the results. A handler registered later goes in front of an earlier one of the same kind and version. Those of
an extension go in front of all others, and are taken back when the extension is closed.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import TypeAlias

from xdsl.ir import Operation, SSAValue

from moir.dialects.framework import FrameworkOp
from moir.lowering.binder import LoweringNode
from moir.rewriting.builder import OpBuilder

Replacement: TypeAlias = SSAValue | Sequence[SSAValue | None]
"""What a handler returns: a value for each result; None only for results without uses. None as a whole: the operation
stays as it is.
"""

NEWEST = 1 << 16
"""A version behind all there are."""

Handler: TypeAlias = Callable[[LoweringNode, OpBuilder], "Replacement | None"]
Expander: TypeAlias = Callable[[FrameworkOp, int], "Sequence[SSAValue] | None"]
"""Builds what an operation (of a version) is defined as in front of it and returns its values; None if it has no
definition.
"""


class LoweringTable:
    """The handlers of one framework. A family of built-in ones is imported when a kind of it is first asked for.

    Args:
        framework: name of the dialect.
        modules: module of each family.
        families: the kinds of each family, separated by blanks.
        check: looks at a model before any of it is lowered, and raises ConversionError for what cannot be.
    """

    def __init__(
        self,
        framework: str,
        modules: Mapping[str, str] | None = None,
        families: Mapping[str, str] | None = None,
        check: Callable[[Operation], None] | None = None,
    ) -> None:
        self.framework = framework
        self.check = check
        self._handlers: dict[str, list[tuple[int, Handler]]] = {}
        self._added: dict[str, list[tuple[int, Handler]]] | None = None
        modules = modules or {}
        self._unloaded = {kind: modules[family] for family, kinds in (families or {}).items() for kind in kinds.split()}

    def lowers(self, *kinds: str, since: int = 1) -> Callable[[Handler], Handler]:
        """Register a handler for kinds, from a version of their operation set on."""

        def register(handler: Handler) -> Handler:
            for kind in kinds:
                # A built-in handler is registered before one that goes in front of it.
                self._load(kind)
                is_added = self._added is not None and not handler.__module__.startswith("moir.")
                table = self._added if self._added is not None and is_added else self._handlers
                versions = table.setdefault(kind, [])
                versions.insert(0, (since, handler))
                versions.sort(key=lambda entry: -entry[0])
            return handler

        return register

    @contextmanager
    def extended(self) -> Generator[None]:
        """While this lasts, handlers that are registered are those of extensions: they are asked first, and forgotten
        at the end.
        """
        outer = self._added
        self._added = {kind: list(versions) for kind, versions in (outer or {}).items()}
        try:
            yield
        finally:
            self._added = outer

    def _load(self, kind: str) -> None:
        module = self._unloaded.pop(kind, None)
        if module is not None:
            import_module(module)

    def _registered(self, kind: str) -> Sequence[tuple[int, Handler]]:
        """The handlers of a kind with the versions they are for, those of extensions first."""
        self._load(kind)
        handlers = self._handlers.get(kind, ())
        return (*self._added.get(kind, ()), *handlers) if self._added else handlers

    def handler(self, kind: str, version: int) -> Handler | None:
        """The handler of a kind in a version of its operation set."""
        for since, handler in self._registered(kind):
            if since <= version:
                return handler
        return None

    def kinds(self) -> Iterable[str]:
        """The kinds that have a handler."""
        return dict.fromkeys((*self._handlers, *self._unloaded, *(self._added or ())))

    def since(self, kind: str) -> list[int]:
        """The versions from which on a kind has its handlers."""
        return [since for since, _ in self._registered(kind)]
