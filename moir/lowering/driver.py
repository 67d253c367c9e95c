"""Lowering of a model: one walk over each block replaces each framework operation by the operations its handler builds.

    %y = onnx.Elu(%x) {alpha = 1.0, name = "act"} : tensor<*x!moir.dynamic>
->  %y = opset1.Elu(%x) {alpha = 1.0, name = "act"} : tensor<1x8xf32>

The passes `lower-onnx`, `lower-tf`, … are built from the records in `moir.frameworks`. An operation without handler is
expanded to its definition by the framework, if there is one; otherwise it stays, and `check-lowered` reports it.
Operations that extensions built with Model Optimizer's API (the `mo` dialect) are lowered in the same walk.

With `keeps_layouts` the operations with an attribute for their data layout are kept, so that transformations of
extensions see them as in the framework; the pass runs a second time without it.

    %y = tf.Conv2D(%x, %w) {strides = [1, 1, 1, 1], …} : tensor<*x!moir.dynamic>
->  %y = tf.Conv2D(%x, %w) {strides = [1, 1, 1, 1], …} : tensor<1x8x6x4xf32>
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from types import NoneType
from typing import Any, ClassVar, cast

from xdsl.dialects.builtin import DictionaryAttr, ModuleOp, UnitAttr
from xdsl.ir import Block, Operation, OpResult, SSAValue

from moir.analysis.analyses import Analyses
from moir.analysis.known_values import KnownValues
from moir.analysis.unlowered_operations import must_go, unlowered_before
from moir.dialects.element_types import string
from moir.dialects.framework import NEWEST_VERSION, FrameworkOp
from moir.dialects.inference import infer_operation, set_type
from moir.dialects.moir import ONNX_DOMAIN, ModelOp, ModuleLevel, add_notes, all_blocks, models_of
from moir.dialects.names import inherit_names, name_of
from moir.dialects.opset.infrastructure import Constant, Parameter, Result
from moir.dialects.properties import value_of
from moir.dialects.shapes import element_of, rank_of
from moir.errors import ConversionError, InferenceError, UnsupportedOperationError
from moir.frameworks import load, lowered_with
from moir.frameworks.record import Framework
from moir.frameworks.traits import SAYS_LAYOUT, kinds_with
from moir.lowering.binder import LoweringNode, T
from moir.lowering.declared_outputs import contradictions, declared_outputs
from moir.lowering.kept_operations import is_kept, name_computing
from moir.lowering.table import NEWEST, BoundHandler, Expander, LoweringTable
from moir.lowering.unnamed_attributes import location_of
from moir.rewriting.builder import OpBuilder
from moir.rewriting.dead_code import erase, is_used
from moir.rewriting.events import RECORDING
from moir.rewriting.reporting_pass import ReportingPass


class Lowering:
    """One run of a lowering pass over one model.

    Args:
        framework: the framework of the model.
        versions: versions of the operation sets the model imports, by domain.
        dialects: the records of the dialects that are lowered; by default the framework's dialect and moir's own.
        keeps_layouts: whether the operations with an attribute for their data layout are kept, with inferred types.
        names_kept: whether operations that stayed pass their names on to the operations that replace them.
    """

    def __init__(
        self,
        framework: Framework,
        versions: Mapping[str, int] | None = None,
        dialects: Sequence[Framework] | None = None,
        *,
        keeps_layouts: bool = False,
        names_kept: bool = False,
    ) -> None:
        self.framework = framework
        self.keeps_layouts = keeps_layouts
        self.names_kept = names_kept
        self.versions = versions or {}
        self.known = KnownValues(framework.has_fixed_sizes)
        self.notes: list[str] = []
        self._dialects = {each.operations_dialect: each for each in (dialects or lowered_with(framework))}
        self._prefixes = tuple(f"{name}." for name in self._dialects)
        self._handlers: dict[type[FrameworkOp], tuple[BoundHandler | None, int]] = {}
        self._states: dict[object, object] = {}
        self._released: list[Operation] = []
        self._recording = RECORDING.get()

    def state(self, key: object, make: Callable[[], T]) -> T:
        """The state that the handlers of this run share under a key; `make` builds it at the first request."""
        if key not in self._states:
            self._states[key] = make()
        return cast(Any, self._states[key])

    def release(self, op: Operation) -> None:
        """Erase an operation after the node that is being lowered is replaced, if the operation then has no uses."""
        self._released.append(op)

    def block(self, block: Block) -> None:
        """Lower the operations of a block in order. Operations of a kind without a handler stay.

        Opset operations, which passes before this one may have built, get their types here.
        """
        builder = OpBuilder(self.known, block)
        current = block.first_op
        while current is not None:
            if isinstance(current, FrameworkOp) and current.name.startswith(self._prefixes):
                # An operation that says the layout of its data stays.
                is_waiting = self.keeps_layouts and is_kept(current, self.framework)
                current = self._keep(current) if is_waiting else self._lower(current, builder)
            else:
                if current.operands and current.results and not current.regions:
                    infer_operation(current, self.known)
                current = current.next_op

    def _keep(self, op: FrameworkOp) -> Operation | None:
        """Infer the types of an operation that is not lowered; return the next operation to visit, None at the end of
        the block.
        """
        infer_kept(op, self.framework, self.versions)
        self.known.forget()
        return op.next_op

    def lowers(self, op: FrameworkOp) -> bool:
        """Whether an operation is of a dialect that is lowered."""
        return op.name.startswith(self._prefixes)

    def operation(self, op: FrameworkOp) -> bool:
        """Lower one operation; returns whether it was replaced."""
        block = op.parent
        assert block is not None
        self._lower(op, OpBuilder(self.known, block))
        return op.parent is not block

    def _handler(self, op: FrameworkOp) -> tuple[BoundHandler | None, int]:
        """The handler of an operation, or None, and the version of its operation set that applies."""
        if NEWEST_VERSION in op.attributes:
            return self._table(op).handler(op.KIND, NEWEST), NEWEST
        entry = self._handlers.get(type(op))
        if entry is None:
            version = self.versions.get(op.KIND.rpartition(".")[0], 1)
            entry = self._handlers[type(op)] = (self._table(op).handler(op.KIND, version), version)
        return entry

    def _table(self, op: FrameworkOp) -> LoweringTable:
        return table_of(self._dialects[op.dialect_name()])

    def _lower(self, op: FrameworkOp, builder: OpBuilder) -> Operation | None:
        """Lower one operation if it has a handler, or a definition by the framework.

        `builder` builds in the block of the operation. Returns the next operation to visit, None at the end of the
        block.
        """
        handler, version = self._handler(op)
        if handler is None:
            return self._expand(op, version)
        builder.anchor = op
        is_named = self.names_kept and is_kept(op, self.framework)
        if self._recording is not None or is_named:
            builder.inserted = []
        values = self._replacement(op, builder, handler, version)
        following = op.next_op
        if values is None:
            return following
        if self._recording is not None:
            self._recording.replaced(f"{handler.__module__.rpartition('.')[2]}.{handler.__name__}", [op], builder.inserted or ())
        if is_named:
            name_computing(op, values)
        self._replace(op, values)
        return following

    def replacement(self, op: FrameworkOp, builder: OpBuilder) -> Sequence[SSAValue | None] | None:
        """The values that the handler of an operation builds for its results; None if the operation has no handler, or
        is left unchanged.
        """
        handler, version = self._handler(op)
        return None if handler is None else self._replacement(op, builder, handler, version)

    def _replacement(self, op: FrameworkOp, builder: OpBuilder, handler: BoundHandler, version: int) -> Sequence[SSAValue | None] | None:
        try:
            results = handler(LoweringNode(op, version, self), builder)
        except ConversionError as error:
            # With an expander, an operation before this one may stay until its definition is built: not a definite
            # cause.
            is_definite = expander_of(self.framework) is None
            if (cause := unlowered_before(op, self._has_no_lowering, is_definite=is_definite)) is not None:
                raise cause from error
            if error.operation is None or error.node is None:
                raise type(error)(error.reason, operation=op.name, node=name_of(op), hint=error.hint) from error
            raise
        except (TypeError, ValueError, AttributeError) as error:
            # Handlers that compute with constants do not check each constant for strings.
            if (index := _string_constant(op)) is None:
                raise
            reason = f"operand {index} is a constant of strings, with which it cannot be computed"
            raise InferenceError(reason, operation=op.name, node=name_of(op)) from error
        return None if results is None else _values(op, handler, results)

    def _has_no_lowering(self, op: Operation) -> bool:
        return isinstance(op, FrameworkOp) and self.lowers(op) and must_go(op) and self._handler(op)[0] is None

    def _expand(self, op: FrameworkOp, version: int) -> Operation | None:
        before, following = op.prev_op, op.next_op
        expander = expander_of(self._dialects[op.dialect_name()])
        values = None if expander is None else expander(op, version)
        if values is None:
            return following
        first = before.next_op if before is not None else op.parent.first_op if op.parent is not None else None
        expansion_is_empty = first is op
        self._replace(op, values)
        return following if expansion_is_empty else first

    def _replace(self, op: FrameworkOp, values: Sequence[SSAValue | None]) -> None:
        if len(values) < len(op.results):
            values = [*values, *[None] * (len(op.results) - len(values))]
        pairs = [(result, value) for result, value in zip(op.results, values, strict=False) if result.first_use is not None]
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
        # No result has uses left, so that nothing is to be erased of them.
        op.detach()
        op.drop_all_references()
        if self._released:
            self._erase_released()

    def _erase_released(self) -> None:
        for each in self._released:
            if each.parent is not None and not is_used(each):
                erase(each)
        self._released = [each for each in self._released if each.parent is not None]

    def _inherit_some(self, op: FrameworkOp, values: Sequence[SSAValue | None]) -> None:
        """Give the names of an operation to the `values` that replace its results; a result whose value is None keeps
        its operation.
        """
        substitutes = [value if value is not None else result for result, value in zip(op.results, values, strict=False)]
        inherit_names(op, substitutes)


def infer_kept(op: FrameworkOp, framework: Framework, versions: Mapping[str, int] | None = None) -> bool:
    """Infer the types of an operation that is not lowered yet: its replacement is built, its types are copied, and the
    replacement is erased.

    `versions` are the versions of the operation sets by domain. Returns whether a type changed. Raises ConversionError,
    with the name of the node, if it cannot be lowered.
    """
    block = op.parent
    assert block is not None
    run = Lowering(framework, versions)
    builder = OpBuilder(run.known, block, op)
    builder.inserted = built = list[Operation]()
    before = [result.type for result in op.results]
    try:
        values = run.replacement(op, builder)
        for result, value in zip(op.results, values or (), strict=False):
            if value is not None:
                set_type(result, value.type)
    finally:
        for each in reversed(built):
            each.detach()
            each.erase()
    return before != [result.type for result in op.results]


def _string_constant(op: Operation) -> int | None:
    """The index of the first operand that is a constant of strings; None if there is none."""
    indices = (index for index, value in enumerate(op.operands) if isinstance(value.owner, Constant) and element_of(value) == string)
    return next(indices, None)


_VALUES = (SSAValue, NoneType)


def _values(op: FrameworkOp, handler: BoundHandler, returned: object) -> Sequence[SSAValue | None]:
    """The values that a handler returned for the results of an operation, after a check of their types and number.

    Raises ConversionError for anything other than values: a handler of an extension may return anything.
    """
    values: Any = returned
    if type(returned) is OpResult or isinstance(returned, SSAValue):
        return [values]
    if isinstance(values, list | tuple) and all(isinstance(value, _VALUES) for value in cast("Sequence[Any]", values)):
        return cast("Sequence[SSAValue | None]", values)
    raise ConversionError(
        f"the lowering returns {type(returned).__name__}",
        operation=op.name,
        node=name_of(op),
        location=location_of(handler),
        hint="return a value, a list of values, one for each result, or None to leave the node as it is",
    )


def opset_versions(model: ModelOp) -> dict[str, int]:
    """The versions of the operation sets that a model imports, by domain; ONNX's own domain is the empty string."""
    imports = model.attributes.get(ModuleLevel.OPSET_IMPORT)
    if not isinstance(imports, DictionaryAttr):
        return {}
    return {"" if domain == ONNX_DOMAIN else domain: value_of(version) for domain, version in imports.data.items()}


def table_of(framework: Framework) -> LoweringTable:
    """The lowering table of a dialect, whose module is imported at the first call."""
    assert framework.lowering is not None
    return load(framework.lowering)


def expander_of(framework: Framework) -> Expander | None:
    """The function that replaces operations by their definitions in the framework; None if the framework has none.

    Its module is imported at the first call.
    """
    return None if framework.expander is None else load(framework.expander)


def _has_output_of_framework(block: Block) -> bool:
    """Whether an output of a model is the result of an operation that was not lowered.

    The Results are last in the block.
    """
    op = block.last_op
    while isinstance(op, Result):
        if isinstance(op.operands[0].owner, FrameworkOp):
            return True
        op = op.prev_op
    return False


def _has_unranked_input(block: Block) -> bool:
    """Whether an input of a model has a dynamic rank. The Parameters are first in the block."""
    op = block.first_op
    while isinstance(op, Parameter):
        if rank_of(op.results[0]) is None:
            return True
        op = op.next_op
    return False


def check(module: ModuleOp, framework: Framework) -> None:
    """Run the check of a framework's table before the lowering, if it has one. Raises ConversionError."""
    table = table_of(framework)
    if table.check is not None:
        load(table.check)(table, module)


def lower(module: ModuleOp, framework: Framework, *, keeps_layouts: bool = False) -> None:
    """Lower all models of a module. Raises ConversionError, with the name of the node, if a node cannot be lowered.

    With `keeps_layouts`, operations with an attribute for their data layout are kept. The models then have the
    attribute `keeps_layouts` until a lowering without it.
    """
    check(module, framework)
    table = table_of(framework)
    for model in models_of(module):
        kept = model.attributes.pop(ModuleLevel.KEEPS_LAYOUTS, None)
        if keeps_layouts:
            model.attributes[ModuleLevel.KEEPS_LAYOUTS] = UnitAttr()
        if _has_unranked_input(model.block):
            from moir.lowering.ranks import rank_inputs

            rank_inputs(model, table.rank)
        lowering = Lowering(framework, opset_versions(model), keeps_layouts=keeps_layouts, names_kept=kept is not None)
        declared = declared_outputs(model.block)
        # Operations that were kept are also in the bodies of loops that are lowered already, so all blocks are walked.
        for block in [model.block] if kept is None else [*all_blocks(model)][::-1]:
            lowering.block(block)
        # The graph of a node may be lowered several times.
        add_notes(model, dict.fromkeys([*lowering.notes, *contradictions(declared)]))
        if table.finish is not None and _has_output_of_framework(model.block):
            load(table.finish)(model)


class LoweringPass(ReportingPass):
    """Lowers the dialect of a framework. Operations without lowering stay; `check-lowered` reports them."""

    FRAMEWORK: ClassVar[Framework]

    def run(self, module: ModuleOp, analyses: Analyses) -> bool:
        lower(module, self.FRAMEWORK)
        return True


@cache
def _lowering_pass(framework: Framework) -> type[LoweringPass]:
    doc = f"Lowers {framework.title} operations; a kind without lowering stays and is reported by `check-lowered`."
    members = {"name": framework.lowering_pass, "FRAMEWORK": framework, "__doc__": doc}
    base = load("moir.lowering.channel_last:ChannelLastLoweringPass") if kinds_with(framework.dialect, SAYS_LAYOUT) else LoweringPass
    return cast("type[LoweringPass]", type(f"Lower{framework.title.replace(' ', '')}Pass", (base,), members))


def lowering_pass(framework: Framework) -> type[LoweringPass]:
    """Build the pass that lowers the dialect of a framework."""
    return _lowering_pass(framework)
