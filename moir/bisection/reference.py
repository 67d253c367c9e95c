"""The reference: the correct arrays of a model, and their origin."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from moir.bisection.examined_conversion import ExaminedConversion, PipelineState
from moir.bisection.state_execution import StateExecution
from moir.dialects.memory_map import Array
from moir.errors import ExecutionError, MoirError
from moir.execution.choice import framework_runner
from moir.execution.openvino_runtime import OpenVinoRunner
from moir.execution.ports import TensorPort, interface_of, matched
from moir.execution.runner import Runner

INTERFACE_PASSES = frozenset(("cut-inputs", "freeze-inputs", "set-input-types", "preprocess-inputs", "set-layouts"))
"""Passes that change, on request, what the model computes, so that the framework's results no longer apply."""


class Reference:
    """Arrays of outputs and of inner tensors.

    Args:
        title: the runtime that computed them.
        arrays: arrays by name.
        runner: computes further tensors; None if there is no such runner.
        inputs: the inputs for the runner.
        base: the state of the conversion that is the reference; None if the reference is another one.
    """

    def __init__(
        self,
        title: str,
        arrays: Mapping[str, Array],
        runner: Runner | None = None,
        inputs: Mapping[str, Array] | None = None,
        base: PipelineState | None = None,
    ) -> None:
        self.title = title
        self._arrays = dict(arrays)
        self._runner = runner
        self._inputs = inputs or {}
        self.base = base

    def of_ports(self, ports: Iterable[TensorPort]) -> dict[str, Array]:
        """The arrays of the outputs that the reference has, by their first names."""
        ports = list(ports)
        if len(ports) == 1 and len(self._arrays) == 1:
            return {ports[0].name: next(iter(self._arrays.values()))}
        missing = [name for port in ports if not any(name in self._arrays for name in port.names) for name in port.names]
        known = self._arrays | (self.inner(missing) if missing else {})
        arrays = {port.name: next((known[name] for name in port.names if name in known), None) for port in ports}
        return {name: array for name, array in arrays.items() if array is not None}

    def inner(self, names: Sequence[str]) -> dict[str, Array]:
        """The arrays of tensors, by name; without those that the reference does not have."""
        missing = [name for name in names if name not in self._arrays]
        if missing and self._runner is not None:
            try:
                self._arrays |= self._runner.run(self._inputs, missing)
            except MoirError:
                # Some kinds of tensors cannot be outputs; the outputs are known anyway.
                self._runner = None
        return {name: self._arrays[name] for name in names if name in self._arrays}


def reference_of(
    conversion: ExaminedConversion, states: Sequence[PipelineState], execution: StateExecution, arrays: Mapping[str, Array] | None
) -> Reference:
    """The reference of a conversion: given arrays, the framework's own runtime, or else a state of the conversion.

    The state is that after the last of `INTERFACE_PASSES`, or the lowered state if that comes later.

    Args:
        conversion: the conversion.
        states: its states.
        execution: runs states.
        arrays: arrays by the names of outputs and tensors; None if there are none.
    """
    if arrays is not None:
        return Reference("the given reference", arrays)
    changing = [state for state in states if state.stage in INTERFACE_PASSES]
    if not changing and conversion.path is not None:
        runner = framework_runner(conversion.path, conversion.module, conversion.framework, conversion.options)
        if runner is not None:
            inputs = matched(execution.inputs, interface_of(conversion.module).inputs, "input")
            return Reference(runner.title, runner.run(inputs), runner, inputs)
    start = states.index(changing[-1]) if changing else 0
    for state in states[start:]:
        outcome = execution.outcome(state)
        if outcome is not None and outcome.error is None:
            execution.forget()
            title = "the model as it was read, on OpenVINO Runtime" if state.number == 0 else f"the model after {state}"
            runner = OpenVinoRunner(outcome.module)
            return Reference(title, outcome.outputs, runner, matched(execution.inputs, runner.interface.inputs, "input"), base=state)
    raise ExecutionError("no state of the conversion can be run", hint="moir run says why the last one cannot")
