"""Lowering of framework dialects: a table from kind (and operation-set version) to handler, and the driver.

    @onnx.lowers("Elu")
    def elu(node: Node, op: OpBuilder) -> SSAValue:
        \"\"\"onnx.Elu(x) {alpha} -> opset1.Elu(x) {alpha}\"\"\"
        return op.Elu(node.operand(0), alpha=node.number("alpha", 1.0))

A handler gets the node with typed access to its operands and attributes and a builder; it returns the values that replace the results.
A handler registered later goes in front of an earlier one of the same kind and version. Those of an extension go in front of all others,
and are taken back when the extension is closed.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any, NoReturn, TypeAlias, TypeVar, cast

from xdsl.dialects.builtin import ComplexType, DictionaryAttr, ModuleOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from moir.analysis.known_values import KnownValues
from moir.dialects.assembly import name_of
from moir.dialects.data import Array, DataAttr
from moir.dialects.element_types import is_element_type
from moir.dialects.framework import MODEL_OPTIMIZER, NEWEST_VERSION, FrameworkOp
from moir.dialects.moir import ModelOp, ModuleLevel, is_none, models_of
from moir.dialects.properties import value_of
from moir.dialects.shapes import Shape, element_of, rank_of, shape_of
from moir.errors import ConversionError, UnsupportedOperationError
from moir.rewriting.builder import OpBuilder
from moir.rewriting.driver import inherit_names

T = TypeVar("T")


class LoweringNode:
    """A node that is being lowered: typed access to its operands and attributes.

    Args:
        op: the operation of the framework dialect.
        version: version of the operation set its kind is from.
        lowering: the run of the pass, for handlers that lower bodies.
    """

    def __init__(self, op: FrameworkOp, version: int, lowering: Lowering) -> None:
        self.op = op
        self.version = version
        self.lowering = lowering

    @property
    def name(self) -> str:
        """The framework's name of the node."""
        return name_of(self.op) or ""

    @property
    def known(self) -> KnownValues:
        """Known values of the block."""
        return self.lowering.known

    def optional(self, index: int) -> SSAValue | None:
        """An operand, None if it is absent."""
        operands = self.op.operands
        if index >= len(operands) or is_none(operands[index].owner):
            return None
        return operands[index]

    def operand(self, index: int) -> SSAValue:
        """An operand. Raises ConversionError if it is absent."""
        value = self.optional(index)
        if value is None:
            self.fail(f"operand {index} is missing")
        return value

    @property
    def operands(self) -> list[SSAValue]:
        """All operands; none of them may be absent."""
        return [self.operand(index) for index in range(len(self.op.operands))]

    @property
    def result_count(self) -> int:
        """Number of results."""
        return len(self.op.results)

    def is_used(self, index: int) -> bool:
        """Whether a result exists and has uses."""
        return index < len(self.op.results) and bool(self.op.results[index].uses)

    def has(self, attribute: str) -> bool:
        """Whether the node has an attribute."""
        return attribute in self.op.properties

    def attribute(self, name: str, default: T) -> T | Any:
        """An attribute as a Python value of the default's type; the default if the node does not have it."""
        found = self.op.properties.get(name)
        if found is None:
            return default
        value = value_of(found)
        if isinstance(default, float) and isinstance(value, int):
            value = float(value)
        if default is not None and not isinstance(value, type(default)):
            self.fail(f"attribute {name} is {value!r}, not of type {type(default).__name__}")
        return value

    def integer(self, name: str, default: int | None = None) -> int:
        """An integer attribute. Raises ConversionError if it is absent and has no default."""
        return self._required(name, default, 0)

    def number(self, name: str, default: float | None = None) -> float:
        """A float attribute."""
        return self._required(name, default, 0.0)

    def text(self, name: str, default: str | None = None) -> str:
        """A string attribute."""
        return self._required(name, default, "")

    def flag(self, name: str, default: bool = False) -> bool:
        """An integer or boolean attribute that means true or false."""
        return bool(self.attribute(name, int(default)))

    def integers(self, name: str, default: Sequence[int] | None = None) -> tuple[int, ...]:
        """An attribute that is a list of integers."""
        return self._required(name, None if default is None else tuple(default), ())

    def numbers(self, name: str, default: Sequence[float] | None = None) -> tuple[float, ...]:
        """An attribute that is a list of floats."""
        return tuple(float(item) for item in self._required(name, None if default is None else tuple(default), ()))

    def texts(self, name: str, default: Sequence[str] | None = None) -> tuple[str, ...]:
        """An attribute that is a list of strings."""
        return self._required(name, None if default is None else tuple(default), ())

    def element_attribute(self, name: str, default: Attribute | None = None) -> Attribute:
        """An attribute that is an element type. Raises ConversionError if it is absent and has no default."""
        found = self.op.properties.get(name, default)
        if found is None:
            self.fail(f"attribute {name} is missing")
        if not isinstance(found, ComplexType) and not is_element_type(found):
            self.fail(f"attribute {name} is no element type")
        return cast(Attribute, found)

    def tensor(self, name: str) -> Array | None:
        """An attribute that is a tensor, None if it is absent."""
        found = self.op.properties.get(name)
        return found.array if isinstance(found, DataAttr) else None

    def _required(self, name: str, default: Any, kind: Any) -> Any:
        if default is None and name not in self.op.properties:
            self.fail(f"attribute {name} is missing")
        return self.attribute(name, kind if default is None else default)

    def constant(self, index: int) -> Array | None:
        """Value of an operand if all of it is known; None if it is not, or the operand is absent."""
        value = self.optional(index)
        return None if value is None else self.known.constant(value)

    def constant_integers(self, index: int) -> tuple[int, ...] | None:
        """Value of an operand as integers, if all of it is known."""
        return self.known.integers(self.optional(index))

    def shape(self, index: int) -> Shape:
        """Shape of an operand."""
        return shape_of(self.operand(index))

    def rank(self, index: int) -> int | None:
        """Rank of an operand, None if unknown."""
        return rank_of(self.operand(index))

    def known_rank(self, index: int) -> int:
        """Rank of an operand. Raises ConversionError if it is unknown."""
        rank = self.rank(index)
        if rank is None:
            self.fail(f"the rank of operand {index} is unknown", hint="give the model's inputs a known rank")
        return rank

    def element(self, index: int) -> Attribute:
        """Element type of an operand."""
        return element_of(self.operand(index))

    def fail(self, reason: str, hint: str | None = None) -> NoReturn:
        """Raise a ConversionError about this node."""
        raise UnsupportedOperationError(reason, operation=self.op.name, node=self.name, hint=hint)


Replacement: TypeAlias = SSAValue | Sequence[SSAValue | None]
"""What a handler returns: a value for each result; None only for results without uses."""

NEWEST = 1 << 16
"""A version behind all there are."""

Handler: TypeAlias = Callable[[LoweringNode, OpBuilder], Replacement]
ForeignHandler: TypeAlias = Callable[[LoweringNode, OpBuilder], "Replacement | None"]
Expander: TypeAlias = Callable[[FrameworkOp, int], "Sequence[SSAValue] | None"]


class LoweringTable:
    """The handlers of one framework. A family of built-in ones is imported when a kind of it is first asked for.

    Args:
        framework: name of the dialect.
        modules: module of each family.
        families: the kinds of each family, separated by blanks.
    """

    def __init__(self, framework: str, modules: Mapping[str, str] | None = None, families: Mapping[str, str] | None = None) -> None:
        self.framework = framework
        self.expander: Expander | None = None
        """Expands a kind without a handler in front of the operation and returns its values, None if it cannot."""
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
        """While this lasts, handlers that are registered are those of extensions: they are asked first, and forgotten at the end."""
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


_FOREIGN = f"{MODEL_OPTIMIZER}."


class Lowering:
    """One run of a lowering pass over one model: the operations of a framework, and in the same walk those that extensions made of them
    in terms of Model Optimizer (the `mo` dialect); only the handlers of the latter may leave an operation as it is, for a later pass."""

    def __init__(self, table: LoweringTable, versions: Mapping[str, int]) -> None:
        self.table = table
        self.versions = versions
        self.known = KnownValues()
        self._resolved: dict[type[FrameworkOp], tuple[ForeignHandler | None, int]] = {}
        self._prefixes = (f"{table.framework}.", _FOREIGN)

    def resolve(self, operation: type[FrameworkOp]) -> tuple[ForeignHandler | None, int]:
        """Handler of a kind and the version of its operation set."""
        found = self._resolved.get(operation)
        if found is None and operation.name.startswith(_FOREIGN):
            from moir.model_optimizer.lowering.operation import lower_operation

            found = self._resolved[operation] = (lower_operation, 1)
        if found is None:
            domain = operation.KIND.rpartition(".")[0]
            version = self.versions.get(domain, 1)
            found = self._resolved[operation] = (self.table.handler(operation.KIND, version), version)
        return found

    def block(self, block: Block) -> None:
        """Lower the operations of a block in order. A kind that nothing handles stays."""
        current = block.first_op
        while current is not None:
            if isinstance(current, FrameworkOp) and current.name.startswith(self._prefixes):
                current = self._lower(current, block)
            else:
                current = current.next_op

    def operation(self, op: FrameworkOp) -> bool:
        """Lower one operation; returns whether it was replaced."""
        block = op.parent
        assert block is not None
        self._lower(op, block)
        return op.parent is not block

    def _lower(self, op: FrameworkOp, block: Block) -> Operation | None:
        """Lower one operation of a block, if anything handles it; returns the one to go on with."""
        handler, version = self.resolve(type(op))
        if NEWEST_VERSION in op.attributes:
            handler, version = self.table.handler(op.KIND, NEWEST), NEWEST
        if handler is None:
            return self._expand(op, version)
        builder = OpBuilder(self.known, block, op)
        try:
            replacement = handler(LoweringNode(op, version, self), builder)
        except ConversionError as error:
            if error.operation is None or error.node is None:
                raise type(error)(error.reason, operation=op.name, node=name_of(op), hint=error.hint) from error
            raise
        following = op.next_op
        if replacement is None:
            return following
        self._replace(op, [replacement] if isinstance(replacement, SSAValue) else replacement)
        return following

    def _expand(self, op: FrameworkOp, version: int) -> Operation | None:
        before, following = op.prev_op, op.next_op
        values = self.table.expander(op, version) if self.table.expander is not None else None
        if values is None:
            return following
        first = before.next_op if before is not None else op.parent.first_op if op.parent is not None else None
        expansion_is_empty = first is op
        self._replace(op, values)
        return following if expansion_is_empty else first

    def _replace(self, op: FrameworkOp, values: Sequence[SSAValue | None]) -> None:
        if len(values) < len(op.results):
            values = [*values, *[None] * (len(op.results) - len(values))]
        pairs = [(result, value) for result, value in zip(op.results, values, strict=False) if result.uses]
        for result, value in pairs:
            if value is None:
                raise UnsupportedOperationError(
                    f"result {result.index} is not supported", operation=op.name, node=name_of(op), hint="write a lowering for this node"
                )
        if len(pairs) == len(op.results):
            inherit_names(op, [value for _, value in pairs if value is not None])
        else:
            self._inherit_some(op, values)
        for result, value in pairs:
            assert value is not None
            result.replace_all_uses_with(value)
        op.detach()
        op.erase()

    def _inherit_some(self, op: FrameworkOp, values: Sequence[SSAValue | None]) -> None:
        """Pass names on where some results are dropped."""
        substitutes = [value if value is not None else result for result, value in zip(op.results, values, strict=False)]
        inherit_names(op, substitutes)


def opset_versions(model: ModelOp) -> dict[str, int]:
    """The operation-set versions a model imports, by domain."""
    imports = model.attributes.get(ModuleLevel.OPSET_IMPORT)
    return {domain: value_of(version) for domain, version in imports.data.items()} if isinstance(imports, DictionaryAttr) else {}


def lower(module: ModuleOp, table: LoweringTable) -> None:
    """Lower all models of a module."""
    for model in models_of(module):
        Lowering(table, opset_versions(model)).block(model.block)
