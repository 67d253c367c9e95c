"""One bisection: the search for the first wrong state of a conversion, and for the cause."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from moir.bisection.examined_conversion import ExaminedConversion, PipelineState, is_foreign
from moir.bisection.plugin import PluginFault, has_definition, plugin_fault
from moir.bisection.reference import Reference
from moir.bisection.search import first_bad
from moir.bisection.smaller import smaller_lowering, smaller_pass, smaller_plugin
from moir.bisection.state_execution import COMPRESSION, Outcome, StateExecution
from moir.bisection.tensors import TensorDifference, differing, inner_arrays, inner_values, not_finite
from moir.bisection.verdict import Reproduction, Rewrite, Verdict, WrongTensor
from moir.dialects.framework import FrameworkOp
from moir.dialects.memory_map import Array
from moir.dialects.names import name_of, names_of
from moir.errors import ExecutionError, MoirError
from moir.execution.comparison import difference, first_not_finite
from moir.execution.ports import interface_of, matched, only_model
from moir.pipeline import spec_text
from moir.rewriting.events import Recording, RewriteEvent

LOSSES = 5
"""The number of tensors in a verdict that lose the most accuracy by compression."""


class Examination:
    """One bisection.

    Args:
        conversion: the conversion.
        states: its states.
        execution: runs states.
        reference: provides the correct arrays.
        reduce: whether to look for a small model with the same fault.
    """

    def __init__(
        self,
        conversion: ExaminedConversion,
        states: Sequence[PipelineState],
        execution: StateExecution,
        reference: Reference,
        *,
        reduce: bool,
    ) -> None:
        self.conversion = conversion
        self.states = list(states)
        self.execution = execution
        self.reference = reference
        self.reduce = reduce
        self.notes: list[str] = []
        """Further remarks for the verdict."""
        if reference.base is not None:
            # The passes before the base change the function of the model.
            self.states = self.states[self.states.index(reference.base) :]

    def verdict(self) -> Verdict:
        """The verdict. Raises ExecutionError if the last state cannot be run."""
        last = self.states[-1]
        self.execution.expected = self.reference.of_ports(interface_of(last.module).outputs)
        if not self.execution.expected:
            raise ExecutionError("the reference has none of the outputs", hint=f"it has to have one of {self._outputs()}")
        if self.conversion.stopped is not None:
            self.notes.append(f"the conversion ends in {last}: {self.conversion.stopped}")
        outcome = self.execution.outcome(last)
        if outcome is None:
            raise ExecutionError("the passes do not lower the model, so that it cannot be run")
        if outcome.error is not None:
            self.execution.refusals_are_bad = True
            self.notes.append(f"the converted model cannot be run: {outcome.error}")
        common: dict[str, Any] = {"reference": self.reference.title, "outputs": outcome.differences}
        fault = self.inner_fault(outcome, common) if outcome.is_good else self.output_fault(outcome, common)
        return fault.with_fields(
            not_finite=self.not_finite(outcome), losses=self.losses(), notes=tuple(dict.fromkeys((*fault.notes, *self.notes)))
        )

    def output_fault(self, outcome: Outcome, common: Mapping[str, Any]) -> Verdict:
        """The verdict on a model with a wrong output.

        If some outputs are wrong in the first state that can be run, and others become wrong later, it is on the latter
        alone. The former may be right: a NonMaxSuppression of nearly equal scores chooses others after a rounding.

        Args:
            outcome: the result of the last state.
            common: the fields that every verdict has.
        """
        if (fault := self.pass_fault(common)) is not None:
            return fault
        first = next((state for state in self.states if self.execution.is_good(state) is not None), None)
        before = None if first is None else self.execution.outcome(first)
        if before is None or before.error is not None:
            return self.lowering_fault(common)
        expected, early = self.execution.expected, before.wrong
        wrong = set(expected) if outcome.error is not None else outcome.wrong
        if wrong <= early:
            return self.lowering_fault(common)
        self._compare_with({name: array for name, array in expected.items() if name in wrong - early})
        if (fault := self.pass_fault(common)) is not None:
            self.notes.append(f"not examined, as wrong in the first state: {', '.join(sorted(early))}; --output NAME examines one")
            return fault
        self._compare_with(expected)
        return self.lowering_fault(common)

    def _compare_with(self, expected: dict[str, Array]) -> None:
        self.execution.expected = expected
        self.execution.forget()

    def inner_fault(self, outcome: Outcome, common: Mapping[str, Any]) -> Verdict:
        """The verdict on a model whose outputs are right: a wrong inner tensor counts as well.

        Integers and booleans are not judged, only mentioned: they may result from rounding a number between two of
        them.

        Args:
            outcome: the result of the last state.
            common: the fields that every verdict has.
        """
        if any(state.stage == COMPRESSION for state in self.states):
            # After a rounding, or another operation with steps, weights in f16 may well make inner tensors differ.
            return Verdict(kind="none", **common)
        values = inner_values(outcome.module)
        expected = self.reference.inner(list(values))
        arrays = inner_arrays(self.execution, outcome.module, list(expected)) if expected else {}
        wrong = differing(outcome.module, arrays, expected, self.execution.tolerance_at(self.states[-1]))
        if not wrong:
            return Verdict(kind="none", **common)
        first = wrong[0]
        count = f"{len(wrong)} of {len(arrays)} inner tensors with names of the reference differ"
        self.notes.append(f"the outputs are right, but {count}, first {first.name} ({first.difference})")
        if arrays[first.name].dtype.kind in "iub":
            return Verdict(kind="none", **common)
        self.execution.watched = [first.name]
        self.execution.expected[first.name] = expected[first.name]
        self.execution.forget()
        if self.execution.is_good(self.states[-1]) is not False:
            return Verdict(kind="none", **common)
        return self.pass_fault(common) or self.lowering_fault(common)

    def _outputs(self) -> str:
        return ", ".join(port.name for port in interface_of(self.states[-1].module).outputs)

    # A pass

    def pass_fault(self, common: Mapping[str, Any]) -> Verdict | None:
        """The verdict on a pass; None if the first state that can be run is already wrong.

        `common` has the fields that every verdict has.
        """
        first = next((index for index, state in enumerate(self.states) if self.execution.is_good(state) is not None), None)
        if first is None or not self.execution.is_good(self.states[first]):
            return None
        good, bad = first_bad(first, len(self.states) - 1, lambda index: self.execution.is_good(self.states[index]))
        if bad - good > 1:
            skipped = ", ".join(map(str, self.states[good + 1 : bad]))
            self.notes.append(f"the states after {skipped} cannot be run; one of these passes may be the first")
        before, after = self.states[good], self.states[bad]
        if (outcome := self.execution.outcome(before)) is not None:
            # Only the forms up to the one in which the last good state agrees are tried from here on.
            self.execution.forms = outcome.form + 1
        rewrite, before, after = self.rewrite(before, after)
        tensor = self.first_tensor(before, after)
        fault = self.plugin(before, after, tensor)
        pipeline = spec_text(self.conversion.passes[after.number - 1])
        reproduction = Reproduction(before.module, pipeline, self._inputs(before.module))
        return Verdict(
            kind="pass" if fault is None else "plugin",
            **common,
            stage=str(after),
            rewrite=rewrite,
            tensor=None if tensor is None else self._described(tensor, before),
            plugin=None if fault is None else _sentence(fault),
            reproduction=reproduction,
            reduced=self.smaller(before, after, tensor, fault),
        )

    def rewrite(self, before: PipelineState, after: PipelineState) -> tuple[Rewrite | None, PipelineState, PipelineState]:
        """The first rewrite of a pass after which the model is wrong, and the states around it.

        If the pass does not report its rewrites, the rewrite is None, and the states are those before and after the
        whole pass.

        Args:
            before: the state before the pass, which is right.
            after: the state after it, which is wrong.
        """
        whole, events = self.conversion.replayed(before, after.number)
        if not events:
            return None, before, after
        if self.execution.is_good(whole) is not False:
            self.notes.append(f"{after} is not wrong on a copy of the state before: it depends on facts held from earlier passes")
            return None, before, after
        replays: dict[int, PipelineState] = {}

        def replay(count: int) -> PipelineState:
            if count not in replays:
                replays[count], _ = self.conversion.replayed(before, after.number, count)
            return replays[count]

        if self.execution.is_good(replay(0)) is False:
            return None, before, after
        good, bad = first_bad(0, len(events), lambda count: self.execution.is_good(replay(count)))
        if bad == len(events) and self.execution.is_good(replay(bad)) is not False:
            return None, before, after
        event = events[bad - 1]
        return Rewrite(event.pattern, bad, len(events), event.before, event.after), replay(good), replay(bad)

    def first_tensor(self, before: PipelineState, after: PipelineState) -> TensorDifference | None:
        """The first tensor common to both states that is right before a rewrite and wrong after it.

        Returns None if there is none, or one of the states cannot be run.
        """
        good, bad = self.execution.outcome(before), self.execution.outcome(after)
        if good is None or bad is None or bad.error is not None:
            return None
        expected = inner_arrays(self.execution, good.module)
        arrays = inner_arrays(self.execution, bad.module, list(expected))
        differences = differing(bad.module, arrays, expected, self.execution.tolerance_at(after))
        return differences[0] if differences else None

    def plugin(self, before: PipelineState, after: PipelineState, tensor: TensorDifference | None) -> PluginFault | None:
        """The fault of the plugin, if the state after a rewrite is right when its operations are computed by their
        definitions.

        None otherwise.

        Args:
            before: the state before the rewrite.
            after: the state after it.
            tensor: the tensor that is wrong; None to compare the outputs.
        """
        bad = self.execution.outcome(after)
        if bad is None:
            return None
        tolerance = self.execution.tolerance_at(after)
        if tensor is not None:
            return plugin_fault(self.execution, bad.module, tensor.value, tensor.expected, tolerance)
        return self._plugin_at_output(bad, tolerance)

    def _plugin_at_output(self, outcome: Outcome, tolerance: float | None) -> PluginFault | None:
        ports = interface_of(outcome.module).outputs
        results = [op for op in only_model(outcome.module).block.ops if op.name == "opset1.Result"]
        for port, result in zip(ports, results, strict=True):
            is_wrong = outcome.error is not None or (port.name in outcome.differences and outcome.differences[port.name].exceeds)
            if is_wrong and port.name in self.execution.expected:
                return plugin_fault(self.execution, outcome.module, result.operands[0], self.execution.expected[port.name], tolerance)
        return None

    def smaller(self, before: PipelineState, after: PipelineState, tensor: TensorDifference | None, fault: PluginFault | None) -> Any:
        """A reduced model that shows the fault of the pass, or of the plugin; None if reduction is off or finds
        nothing.

        Args:
            before: the state before the pass.
            after: the state after it.
            tensor: the tensor that is wrong, if it is known.
            fault: the fault of the plugin; None for one of the pass.
        """
        if not self.reduce:
            return None
        good, bad = self.execution.outcome(before), self.execution.outcome(after)
        assert good is not None
        if fault is not None and bad is not None:
            return smaller_plugin(self.execution, bad.module, fault, tensor)
        return smaller_pass(self.execution, before, after, tensor)

    # A lowering

    def lowering_fault(self, common: Mapping[str, Any]) -> Verdict:
        """The verdict on a model that is wrong from the beginning: a lowering, the frontend, or the plugin.

        `common` has the fields that every verdict has.
        """
        state = next(state for state in self.states if self.execution.is_good(state) is not None)
        outcome = self.execution.outcome(state)
        assert outcome is not None
        names = list(inner_values(outcome.module))
        expected = self.reference.inner(names)
        if not expected:
            self.notes.append("the reference has no inner tensors")
        arrays = inner_arrays(self.execution, outcome.module, list(expected))
        wrong = differing(outcome.module, arrays, expected, self.execution.tolerance)
        tensor = wrong[0] if wrong else None
        if tensor is None:
            fault = self._plugin_at_output(outcome, self.execution.tolerance)
        else:
            fault = plugin_fault(self.execution, outcome.module, tensor.value, tensor.expected, self.execution.tolerance)
            owner = tensor.value.owner
            if fault is None and isinstance(owner, Operation) and not has_definition(owner):
                self.notes.append(f"whether the lowering or the plugin is at fault is not judged: {owner.name} has no definition in numpy")
        node = None if tensor is None else self._node(tensor.name)
        is_lowered = self.conversion.framework.is_lowered or not is_foreign(self.conversion.module)
        event = None if node is None or fault is not None else self._lowering(node)
        reduction = None
        if self.reduce and fault is not None:
            reduction = smaller_plugin(self.execution, outcome.module, fault, tensor)
        elif self.reduce and not is_lowered:
            reduction = smaller_lowering(self.execution, self.conversion, self.reference, [] if tensor is None else [tensor.name])
        return Verdict(
            kind="lowering" if fault is None else "plugin",
            **common,
            stage=self.conversion.framework.lowering_pass,
            rewrite=None if event is None else Rewrite(event.pattern, 1, 1, event.before, event.after),
            tensor=None if tensor is None else self._described(tensor, None),
            node=None if node is None else f"{name_of(node) or 'a node without name'!r}, {node.name}",
            plugin=None if fault is None else _sentence(fault),
            reproduction=Reproduction(self.conversion.module, "default", self._inputs(self.conversion.module)),
            reduced=reduction,
        )

    def _node(self, tensor: str) -> Operation | None:
        """The operation of the framework whose result has this tensor name, or that has it as node name; None if there
        is none.
        """
        operations = [op for op in only_model(self.conversion.module).block.ops if isinstance(op, FrameworkOp)]
        named = (op for op in operations if any(tensor in names_of(result) for result in op.results))
        return next(named, None) or next((op for op in operations if name_of(op) == tensor), None)

    def _lowering(self, node: Operation) -> RewriteEvent | None:
        """The event of the lowering of a node of the framework; None if the lowering cannot be repeated or reports no
        such event.
        """
        number = next(
            (index for index, each in enumerate(self.conversion.passes, 1) if each.name == self.conversion.framework.lowering_pass), 0
        )
        before = [state for state in self.states if state.number < number]
        if not number or not before:
            return None
        try:
            _, events = self.conversion.replayed(before[-1], number)
        except MoirError:
            return None
        wanted = Recording(_ignored).text(node)
        marks = [part for part in (f'name = "{name_of(node)}"' if name_of(node) else "", _names_text(wanted)) if part]
        return next((event for event in events if event.before and all(mark in event.before[0] for mark in marks)), None)

    # Further remarks

    def not_finite(self, outcome: Outcome) -> str | None:
        """A sentence on the first tensor of the converted model that has NaN or infinite elements.

        Returns None if all outputs are finite, or no tensor with such elements is found.
        """
        if not any(first_not_finite(array) for array in outcome.outputs.values()):
            return None
        arrays = inner_arrays(self.execution, outcome.module)
        return not_finite(outcome.module, arrays, self.reference.inner(list(arrays)))

    def losses(self) -> tuple[tuple[str, float], ...]:
        """The tensors that lose the most accuracy by the compression of weights to f16, with their relative errors."""
        number = next((index for index, state in enumerate(self.states) if state.stage == COMPRESSION), 0)
        if not number:
            return ()
        whole, half = self.execution.outcome(self.states[number - 1]), self.execution.outcome(self.states[number])
        if whole is None or half is None or not whole.outputs or not half.outputs:
            return ()
        expected = inner_arrays(self.execution, whole.module)
        arrays = inner_arrays(self.execution, half.module, list(expected))
        errors = {name: difference(array, expected[name]).error for name, array in arrays.items() if array.dtype.kind == "f"}
        return tuple(sorted(errors.items(), key=lambda item: -item[1])[:LOSSES])

    def _inputs(self, module: ModuleOp) -> dict[str, Array]:
        return matched(self.execution.inputs, interface_of(module).inputs, "input")

    def _described(self, tensor: TensorDifference, before: PipelineState | None) -> WrongTensor:
        """The record of a wrong tensor, with the operations that compute it before and after the pass.

        `before` is the state before the pass; None for a lowering.
        """
        recording = Recording(_ignored)
        former: SSAValue | None = None
        if before is not None and (outcome := self.execution.outcome(before)) is not None:
            former = inner_values(outcome.module).get(tensor.name)
        old = recording.text(former.owner) if former is not None and isinstance(former.owner, Operation) else None
        owner = tensor.value.owner
        return WrongTensor(tensor.name, recording.text(owner) if isinstance(owner, Operation) else "", tensor.difference, old)


def _ignored(event: RewriteEvent) -> None:
    pass


def _names_text(text: str) -> str:
    """The tensor names in the text of an operation, as written there; an empty string if there are none."""
    start = text.find("tensor_names = [")
    return "" if start < 0 else text[start : text.find("]", start) + 1]


def _sentence(fault: PluginFault) -> str:
    if fault.operation is None:
        return fault.reason
    return f"{Recording(_ignored).text(fault.operation)}: {fault.reason}"
