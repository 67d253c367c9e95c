"""`raise-writes`: operations that write to their operands become operations with results, so that values never change.

    %v = aten.select.int(%x) {index = 1}        %v = aten.select.int(%x) {index = 1}
    %w = aten.relu_.default(%v)             ->  %w = aten.relu.default(%v)
    %y = aten.add.Tensor(%x, %z)                %x1 = aten.select_scatter.default(%x, %w) {index = 1}
                                                %y = aten.add.Tensor(%x1, %z)

A write to a view changes the tensor under it, and so all other views of this tensor, which are computed again where
they are used. A constant that is written, such as the cache in a buffer, becomes a state: it is read by a ReadValue
and assigned at the end. An input that is written becomes an output, with a note.
"""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from moir.analysis.analyses import Analyses
from moir.dialects import opset
from moir.dialects.framework import FrameworkOp, operation_class
from moir.dialects.locations import located
from moir.dialects.moir import ModelOp, add_notes, all_blocks
from moir.dialects.names import add_tensor_names, escaped, inherit_names, name_of, names_of, set_names
from moir.dialects.opset.infrastructure import Constant, Parameter, Result
from moir.dialects.properties import string_attribute, value_of
from moir.dialects.shapes import element_of, shape_of, tensor
from moir.errors import UnsupportedOperationError
from moir.frameworks.traits import REPEATED_VIEW, kinds_with
from moir.raising.pytorch.views import DIALECT, applied, is_undecided, is_view, new_operation, written_through
from moir.raising.pytorch.written_operands import OUT, WRITERS, written_count
from moir.rewriting.reporting_pass import ReportingPass

OVERWRITING = frozenset(("copy.default", "fill.Scalar", "fill.Tensor", "zeros_like.default"))
"""Operations that write all elements of their first operand without reading them."""

STATISTICS: dict[str, tuple[str, int]] = {
    **dict.fromkeys(
        ("batch_norm.default", "native_batch_norm.default", "_native_batch_norm_legit.default"),
        ("_native_batch_norm_legit_functional.default", 3),
    ),
    "_batch_norm_with_update.default": ("_batch_norm_with_update_functional.default", 4),
    "instance_norm.default": ("moir.instance_norm_functional", 1),
}
"""For each operation that updates running statistics in place, the operation that returns them, and the number of
results before them.
"""


class RaiseWritesPass(ReportingPass):
    """Raises writes to tensors, to views of them, to buffers and to inputs."""

    name = "raise-writes"

    def run(self, module: ModuleOp, analyses: Analyses) -> bool:
        changed = False
        for block in list(all_blocks(module)):
            changed = _Writes(block).run() or changed
        return changed


class _Writes:
    """The walk over a block, with the value of each tensor after the writes so far."""

    def __init__(self, block: Block) -> None:
        self.block = block
        self.views: dict[SSAValue, tuple[FrameworkOp, int, SSAValue]] = {}
        """View -> the operation that makes it, the index of the result, and the tensor that it is a view of."""
        self.versions: dict[SSAValue, int] = {}
        """The number of writes to each tensor that is not a view."""
        self.current: dict[SSAValue, tuple[int, SSAValue]] = {}
        """Tensor -> the number of writes so far, and the value after them."""
        self.same: dict[SSAValue, SSAValue] = {}
        """The tensor that is the result of an operation that writes."""
        self.anchor: Operation | None = None

    def run(self) -> bool:
        """Replace all writes of the block; returns whether there were any.

        Raises UnsupportedOperationError for an operation that writes and is not in the tables, since its write would be
        lost.
        """
        operations = list(self.block.ops)
        for op in operations:
            if isinstance(op, FrameworkOp) and _writes_unknown(op):
                raise UnsupportedOperationError(
                    "it writes to its operands in a way that moir does not know",
                    operation=op.name,
                    node=name_of(op),
                    hint="export the program decomposed: program.run_decompositions()",
                )
        if not any(_is_writing(op) for op in operations):
            return False
        for op in operations:
            self.anchor = op
            if isinstance(op, FrameworkOp) and _is_writing(op):
                if op.KIND in STATISTICS:
                    self._write_statistics(op)
                else:
                    self._write(op)
                continue
            if is_view(op):
                source = self._tensor(op.operands[0])
                self._read(op)
                for index, result in enumerate(op.results):
                    self.views[result] = (cast("FrameworkOp", op), index, source)
                    self.current[result] = (self.versions.get(self._base(source), 0), result)
                continue
            self._read(op)
        self._finish()
        return True

    def _tensor(self, value: SSAValue) -> SSAValue:
        """The tensor that a value denotes; the result of a write denotes the tensor that was written."""
        while value in self.same:
            value = self.same[value]
        return value

    def _base(self, tensor_: SSAValue) -> SSAValue:
        """The tensor of which a value is a view, directly or through other views; the value itself if it is not a
        view.
        """
        while tensor_ in self.views:
            tensor_ = self.views[tensor_][2]
        return tensor_

    def _value(self, value: SSAValue) -> SSAValue:
        """The current value of a tensor; an outdated view is recomputed.

        Raises UnsupportedOperationError if the file leaves open whether the tensor is a view.
        """
        named = self._tensor(value)
        version = self.versions.get(self._base(named), 0)
        current_value = self.current.get(named)
        if current_value is not None and current_value[0] == version:
            return current_value[1]
        if named not in self.views:
            return named if current_value is None else current_value[1]
        op, number, source = self.views[named]
        if is_undecided(op):
            raise _undecided(op)
        results = applied(op, self._value(source), self._insert)
        self.current[named] = (version, results[number])
        return results[number]

    def _insert(self, op: Operation) -> Operation:
        assert self.anchor is not None
        self.block.insert_op_before(op, self.anchor)
        return op

    def _read(self, op: Operation) -> None:
        """Give an operation, and the operations in its regions, the current values of its operands."""
        for index, operand in enumerate(op.operands):
            value = self._value(operand)
            if value is not operand:
                op.operands[index] = value
                if isinstance(op, Result):
                    _name_output(op, operand, value)

    def _write(self, op: FrameworkOp) -> None:
        """Replace an operation that writes. Raises UnsupportedOperationError if the tensor that it writes is
        missing.
        """
        names: list[str] = list(value_of(op.properties["arguments"])) if "arguments" in op.properties else []
        if not op.operands or len(names) != len(op.operands) or (op.KIND in WRITERS and len(op.results) > 1):
            raise UnsupportedOperationError("the tensor that it writes is missing", operation=op.name, node=name_of(op))
        if op.KIND == "detach_.default":
            self.same[op.results[0]] = self._tensor(op.operands[0])
            return self._erase(op)
        # An overload `out` writes its last operands, and reads none of them.
        count = written_count(op) if op.KIND in OUT else 1
        first = len(names) - count if op.KIND in OUT else 0
        targets = [self._tensor(each) for each in op.operands[first : first + count]]
        for target in targets:
            self._check(op, target)
        read = slice(0, first if op.KIND in OUT else len(names))
        operands = {name: self._value(each) for name, each in zip(names[read], op.operands[read], strict=True)}
        properties: dict[str, Attribute] = {name: each for name, each in op.properties.items() if name != "arguments"}
        elements = [element_of(result) for result in op.results] or [element_of(target) for target in targets]
        new = self._insert(new_operation(OUT.get(op.KIND) or WRITERS[op.KIND], operands, properties, elements, op))
        if op.results:
            inherit_names(op, new.results)
            self.same |= dict(zip(op.results, targets, strict=True))
        for target, result in zip(targets, new.results, strict=True):
            self._set(target, result)
        return self._erase(op)

    def _write_statistics(self, op: FrameworkOp) -> None:
        """Replace a normalization that updates its running statistics in place by one that returns the new
        statistics.
        """
        names: list[str] = list(value_of(op.properties["arguments"]))
        targets = [self._tensor(op.operands[names.index(name)]) for name in ("running_mean", "running_var")]
        for target in targets:
            self._check(op, target)
        kind, count = STATISTICS[op.KIND]
        types = [result.type for result in op.results]
        more = [types[0]] * (count - len(types))
        new = operation_class(DIALECT, kind).create(
            operands=[self._value(each) for each in op.operands],
            properties=dict(op.properties),
            attributes=dict(op.attributes),
            result_types=[*types, *more, *(tensor(None, element_of(target)) for target in targets)],
        )
        new.location = located(op)
        self._insert(new)
        for old, result in zip(op.results, new.results, strict=False):
            old.replace_all_uses_with(result)
        for target, result in zip(targets, new.results[count:], strict=True):
            self._set(target, result)
        op.detach()
        op.erase()

    def _erase(self, op: Operation) -> None:
        for result in op.results:
            result.replace_all_uses_with(self._result_stand_in(result))
        op.detach()
        op.erase()

    def _result_stand_in(self, result: SSAValue) -> SSAValue:
        """The tensor that an operation wrote, in place of the result of the write.

        Uses of the result are then replaced by the tensor's value at that point.
        """
        return self._tensor(result)

    def _check(self, op: FrameworkOp, target: SSAValue) -> None:
        """Raises UnsupportedOperationError if the effect of a write to `target` is unknown.

        This is so if `target` may be either a view or a copy, has elements that occur several times, or is an input of
        a loop or branch.
        """
        tensor_ = target
        while tensor_ in self.views:
            view, _, tensor_ = self.views[tensor_]
            if is_undecided(view):
                raise _undecided(view)
            if view.KIND in kinds_with(DIALECT, REPEATED_VIEW):
                raise UnsupportedOperationError(
                    f"it writes to the result of {view.KIND}, in which elements occur several times",
                    operation=op.name,
                    node=name_of(op),
                    hint="write to a copy: tensor.clone() before it",
                )
        if isinstance(tensor_.owner, Parameter) and not isinstance(self.block.parent_op(), ModelOp):
            raise UnsupportedOperationError(
                "it writes to an input of the graph of a loop or a branch",
                operation=op.name,
                node=name_of(op),
                hint="export the program decomposed: program.run_decompositions()",
            )

    def _set(self, target: SSAValue, value: SSAValue) -> None:
        """Record the new value of a tensor, and of the tensor of which it is a view."""
        base = self._base(target)
        version = self.versions.get(base, 0) + 1
        chain: list[tuple[SSAValue, SSAValue]] = [(target, value)]
        tensor_ = target
        while tensor_ in self.views:
            view, number, source = self.views[tensor_]
            value = written_through(view, number, self._value(source), value, self._insert)
            tensor_ = source
            chain.append((tensor_, value))
        self.versions[base] = version
        for each, alias in chain:
            self.current[each] = (version, alias)

    def _finish(self) -> None:
        """Turn written constants into states, and add outputs for written inputs, in the order of the inputs."""
        for base in self.versions:
            if isinstance(base.owner, Constant) and _is_read(base):
                self._state(base, self.current[base][1])
        for op in list(self.block.ops):
            if isinstance(op, Parameter) and op.results[0] in self.versions:
                self._output(op, self.current[op.results[0]][1])

    def _state(self, base: SSAValue, value: SSAValue) -> None:
        """Make the constant `base` the initial value of a state, which `value` is assigned to at the end."""
        name = name_of(cast("Operation", base.owner)) or "state"
        shape = shape_of(base) or ()
        element = element_of(base)
        read = opset.operation("opset6.ReadValue").create(
            operands=[base],
            properties={
                "variable_id": string_attribute(name),
                "variable_type": element,
                "variable_shape": string_attribute(",".join(map(str, shape))),
            },
            attributes={"name": string_attribute(f"{name}/read")},
            result_types=[tensor(shape, element)],
        )
        for use in list(base.uses):
            if use.operation is not read:
                use.operation.operands[use.index] = read.results[0]
        self.block.insert_op_after(read, cast("Operation", base.owner))
        assign = opset.operation("opset6.Assign").create(
            operands=[value],
            properties={"variable_id": string_attribute(name)},
            attributes={"name": string_attribute(f"{name}/assign")},
            result_types=[tensor(shape, element)],
        )
        self._append(assign)

    def _append(self, op: Operation) -> None:
        """Insert an operation before the Results, which are last in a block."""
        first = next((each for each in self.block.ops if isinstance(each, Result)), None)
        if first is None:
            self.block.add_op(op)
        else:
            self.block.insert_op_before(op, first)

    def _output(self, parameter: Parameter, value: SSAValue) -> None:
        """Add an output for the value that was written to an input."""
        name = name_of(parameter) or "input"
        written = f"{name}_written"
        add_tensor_names(value, escaped(written), required=True)
        self.block.add_op(Result.create(operands=[value], attributes={"name": string_attribute(written)}))
        model = self.block.parent_op()
        if isinstance(model, ModelOp):
            add_notes(model, [f"the program writes to its input {name!r}: the new value is the output {written!r}"])


def _name_output(result: Result, before: SSAValue, value: SSAValue) -> None:
    """Move the name of an output from `before`, a tensor, to `value`, its value after all writes."""
    name = name_of(result)
    names = names_of(before)
    if name in names and not isinstance(before.owner, Parameter):
        set_names(before, [each for each in names if each != name])
        add_tensor_names(value, escaped(name), required=True)


def _is_read(base: SSAValue) -> bool:
    """Whether some operation uses a tensor in another way than overwriting all of it."""
    return any(not (isinstance(use.operation, FrameworkOp) and use.operation.KIND in OVERWRITING and use.index == 0) for use in base.uses)


def _undecided(view: FrameworkOp) -> UnsupportedOperationError:
    return UnsupportedOperationError(
        "its result or its operand is written to, and the file does not say whether the result is a copy",
        operation=view.name,
        node=name_of(view),
        hint="export the program decomposed: program.run_decompositions()",
    )


def _writes_unknown(op: FrameworkOp) -> bool:
    """Whether the name of an operation says that it writes (`normal_`, `__iadd__`, `exp.out`) although it is not in the
    tables.
    """
    if op.dialect_name() != DIALECT or _is_writing(op):
        return False
    stem, _, overload = op.KIND.rpartition(".")
    is_special = stem.startswith("__") and not stem.startswith("__i")
    return "." not in stem and ((stem.endswith("_") and not is_special) or overload == "out" or overload.endswith("_out"))


def _is_writing(op: Operation) -> bool:
    if not isinstance(op, FrameworkOp) or op.dialect_name() != DIALECT:
        return False
    if op.KIND in STATISTICS:
        return _updates_statistics(op)
    return op.KIND in WRITERS or op.KIND in OUT or op.KIND == "detach_.default"


def _updates_statistics(op: FrameworkOp) -> bool:
    """Whether a normalization has running statistics and is in training mode."""
    names = value_of(op.properties["arguments"]) if "arguments" in op.properties else ()
    flags = [value_of(op.properties[name]) for name in ("training", "use_input_stats") if name in op.properties]
    return "running_mean" in names and "running_var" in names and (any(flags) or op.KIND.startswith("_batch_norm_with"))
