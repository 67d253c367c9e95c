"""Tables of lowerings: from kind (and version of its operation set) to handler.

    @onnx.lowers("Elu")
    def elu(op: OpBuilder, x: SSAValue, *, alpha: float = 1.0) -> SSAValue:
        \"\"\"onnx.Elu(x) {alpha} -> opset1.Elu(x) {alpha}\"\"\"
        return op.Elu(x, alpha=alpha)

Further facts of a kind stand at its registration: the rule for the ranks of its operands (`moir.lowering.ranks`), its
computation with complex numbers (`moir.lowering.complex.kinds`), and what other stages ask (`moir.frameworks.traits`).

    @tf.lowers("Log1p", rank=as_result, complex=by_function("log1p"))
    @aten.lowers("swapdims.default", complex=by_parts(), traits=(VIEW,))

A handler takes a builder, the operands and the attributes of its kind, as `moir.lowering.signatures` says, and the node
if it asks for more. It returns the values that replace the results. A handler that is registered later precedes earlier
ones of the same kind and version. Handlers of an extension precede all others and are removed when the extension is
closed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from xdsl.ir import SSAValue

from moir.dialects.framework import FrameworkOp
from moir.errors import UsageError
from moir.lowering.binder import LoweringNode
from moir.lowering.complex.kinds import Complex, for_complex
from moir.lowering.handlers import BoundHandler, Replacement
from moir.lowering.signatures import READERS, Arrange, Reader, Signature, bound, signature_of
from moir.lowering.unnamed_attributes import refusing_unnamed
from moir.rewriting.builder import OpBuilder
from moir.support.tables import by_member

NEWEST = 1 << 16
"""A version above all existing versions."""

Handler: TypeAlias = Callable[..., "Replacement | None"]
"""A registered handler: a function of operands and attributes, according to its signature
(`moir.lowering.signatures`).
"""

Registered = TypeVar("Registered", bound=Callable[..., Any])

Expander: TypeAlias = Callable[[FrameworkOp, int], "Sequence[SSAValue] | None"]
"""Builds the definition of an operation, given the version of its operation set, before the operation; returns the
values of its results.

The function returns None if the operation has no definition.
"""


if TYPE_CHECKING:
    from moir.lowering.ranks import Rule

    Formula: TypeAlias = (
        Callable[[OpBuilder], Replacement]
        | Callable[[OpBuilder, SSAValue], Replacement]
        | Callable[[OpBuilder, SSAValue, SSAValue], Replacement]
        | Callable[[OpBuilder, SSAValue, SSAValue, SSAValue], Replacement]
        | Callable[[OpBuilder, SSAValue, SSAValue, SSAValue, SSAValue], Replacement]
    )
    """A handler that is one expression, of a builder, operands, and attributes with defaults."""

    NodeFormula: TypeAlias = (
        Callable[[LoweringNode, OpBuilder], Replacement]
        | Callable[[LoweringNode, OpBuilder, SSAValue], Replacement]
        | Callable[[LoweringNode, OpBuilder, SSAValue, SSAValue], Replacement]
        | Callable[[LoweringNode, OpBuilder, SSAValue, SSAValue, SSAValue], Replacement]
    )
    """A handler that is one expression and asks for the node as well."""


def _is_own(handler: Handler) -> bool:
    return handler.__module__.startswith("moir.")


class LoweringTable:
    """The handlers of one framework. The file of a family is imported when one of its kinds is first looked up.

    Args:
        framework: name of the dialect.
        package: the package whose files register handlers; None if only others register them. Its file `index.py` has
            the kinds of each file: `python -m scripts.lowering_index` writes it from what the handlers register.
        check: "module:function" that is called with the table and a module before its operations are lowered; raises
            ConversionError if that is impossible.
        adapt: returns the bound handler to use for a kind instead of a built-in one.
        finish: "module:function" that is called with a model if one of its outputs was not lowered.
        readers: how the framework's attributes are read, by the annotations in signatures, where that differs from
            `moir.lowering.signatures.READERS`.
        arrange: puts the operands of a node in the order of a signature, where the framework's nodes name them.
        implied: the names of attributes that follow from operands and results, or do not change results: a lowering of
            an extension may leave them out of its signature.
    """

    def __init__(
        self,
        framework: str,
        package: str | None = None,
        check: str | None = None,
        adapt: Callable[[str, BoundHandler], BoundHandler] | None = None,
        finish: str | None = None,
        readers: Mapping[str, Reader] | None = None,
        arrange: Arrange | None = None,
        implied: Collection[str] = frozenset(),
    ) -> None:
        self.framework = framework
        self.check = check
        self.finish = finish
        self._adapt = adapt
        self._arrange = arrange
        self._implied = implied
        self.readers: Mapping[str, Reader] = {**READERS, **(readers or {})}
        """How attributes are read, by the annotations in signatures."""
        self._handlers: dict[str, list[tuple[int, Handler]]] = {}
        self._ranks: dict[str, Rule] = {}
        self._complex: dict[str, Complex] = {}
        self._traits: dict[str, Collection[str]] = {}
        self._added: dict[str, list[tuple[int, Handler]]] | None = None
        self._imported: set[str] = set()
        self.package = package
        self._files = {} if package is None else by_member(import_module(f"{package}.index").INDEX)
        self._unloaded = dict(self._files)

    def lowers(
        self,
        *kinds: str,
        since: int = 1,
        rank: Rule | None = None,
        complex: Complex | None = None,
        traits: Collection[str] = (),
    ) -> Callable[[Registered], Registered]:
        """Register a handler for kinds, from version `since` of their operation set on.

        Args:
            kinds: the kinds.
            since: the first version of the operation set that the handler is for.
            rank: the rule for the ranks of their operands.
            complex: how they compute with complex numbers.
            traits: what other stages ask about them.

        Raises UsageError if a kind is no text, as in `@onnx.lowers` without parentheses.
        """
        if others := [each for each in kinds if not isinstance(each, str)]:  # pyright: ignore[reportUnnecessaryIsInstance] of an extension
            name = getattr(others[0], "__name__", others[0])
            raise UsageError(f"lowers takes the names of kinds, not {name}", hint='write @onnx.lowers("KIND") above the function')

        def register(handler: Registered) -> Registered:
            for kind in kinds:
                # Built-in handlers are registered first, so that this one precedes them.
                self._load(kind)
                if rank is not None:
                    self._ranks[kind] = rank
                if complex is not None:
                    self._complex[kind] = complex
                if traits:
                    self._traits[kind] = traits
                is_added = self._added is not None and not _is_own(handler)
                table = self._added if self._added is not None and is_added else self._handlers
                versions = table.setdefault(kind, [])
                versions.insert(0, (since, handler))
                versions.sort(key=lambda entry: -entry[0])
            return handler

        return register

    def lowers_each(
        self,
        formulas: Mapping[str, Formula],
        *,
        rank: Rule | None = None,
        complex: Complex | None = None,
        traits: Collection[str] = (),
    ) -> None:
        """Register the handlers of a table, each for the kinds that its key names, with spaces between them.

        `rank`, `complex` and `traits` hold for all of them, as for `lowers`.

        onnx.lowers_each({"Relu": lambda op, x: op.Relu(x), "PRelu": lambda op, x, slope: op.PRelu(x, slope)})
        """
        self._register_each(formulas, rank, complex, traits)

    def lowers_each_node(self, formulas: Mapping[str, NodeFormula], *, rank: Rule | None = None, complex: Complex | None = None) -> None:
        """Register the handlers of a table as `lowers_each` does; these functions take the node as well.

        tf.lowers_each_node({"RFFT RFFT2D": lambda node, op, x, length: op.RDFT(x, innermost_axes(node), length)})
        """
        self._register_each(formulas, rank, complex, ())

    def _register_each(
        self, formulas: Mapping[str, Callable[..., Any]], rank: Rule | None, complex: Complex | None, traits: Collection[str]
    ) -> None:
        for kinds, formula in formulas.items():
            first, *others = kinds.split()
            if formula.__name__ == "<lambda>":
                formula.__name__ = first
            self.lowers(first, *others, rank=rank, complex=complex, traits=traits)(formula)

    @contextmanager
    def extended(self) -> Generator[None]:
        """A context in which handlers from outside of `moir` have precedence; they are removed at its end."""
        outer = self._added
        self._added = {kind: list(versions) for kind, versions in (outer or {}).items()}
        try:
            yield
        finally:
            self._added = outer

    def _load(self, kind: str) -> None:
        file = self._unloaded.pop(kind, None)
        # A file registers its other kinds while it is imported.
        if file is not None and file not in self._imported:
            self._imported.add(file)
            import_module(f"{self.package}.{file}")

    def _registered(self, kind: str) -> Sequence[tuple[int, Handler]]:
        """The handlers of a kind with the versions since which they apply, those of extensions first."""
        self._load(kind)
        handlers = self._handlers.get(kind, ())
        return (*self._added.get(kind, ()), *handlers) if self._added else handlers

    def handler(self, kind: str, version: int) -> BoundHandler | None:
        """The handler of a kind in a version of its operation set; None if there is none."""
        for since, handler in self._registered(kind):
            if since <= version:
                called = bound(handler, readers=self.readers, arrange=self._arrange)
                if _is_own(handler):
                    if kind in self._complex and (compute := self._complex[kind].compute) is not None:
                        called = for_complex(called, compute)
                    return called if self._adapt is None else self._adapt(kind, called)
                signature = signature_of(handler, self.readers)
                return refusing_unnamed(called, signature, self._implied, lambda: self._own_signature(kind, version))
        return None

    def _own_signature(self, kind: str, version: int) -> Signature | None:
        """The signature of moir's own handler of a kind in a version; None if there is none."""
        own = (handler for since, handler in self._registered(kind) if since <= version and _is_own(handler))
        return next((signature_of(each, self.readers) for each in own), None)

    def rank(self, kind: str) -> Rule | None:
        """The rule for the ranks of the operands of a kind; None if it has none."""
        self._load(kind)
        return self._ranks.get(kind)

    def complex(self, kind: str) -> Complex | None:
        """How a kind computes with complex numbers; None if it only computes with real numbers."""
        self._load(kind)
        return self._complex.get(kind)

    def traits(self, kind: str) -> Collection[str]:
        """The traits of a kind."""
        self._load(kind)
        return self._traits.get(kind, ())

    def added_kinds(self) -> list[str]:
        """The kinds that have a handler from outside of `moir`."""
        tables = (self._handlers, self._added or {})
        return [kind for table in tables for kind, versions in table.items() if not all(_is_own(handler) for _, handler in versions)]

    def file(self, kind: str) -> str:
        """The file of the package that registers the handler of a kind, such as `ml.trees`; empty for other kinds."""
        return self._files.get(kind, "")

    def kinds(self) -> Iterable[str]:
        """The kinds that have a handler."""
        return dict.fromkeys((*self._handlers, *self._unloaded, *(self._added or ())))

    def since(self, kind: str) -> list[int]:
        """The versions since which the handlers of a kind apply."""
        return [since for since, _ in self._registered(kind)]
