"""Executing states and judging them by a reference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from moir.bisection.examined_conversion import ExaminedConversion, PipelineState
from moir.dialects.memory_map import Array
from moir.errors import MoirError
from moir.execution.comparison import HALF, WEIGHT_BITS, Difference, is_permuted, worst
from moir.execution.openvino_runtime import run_module
from moir.execution.ports import interface_of, matched, only_model
from moir.execution.values import named_values
from moir.parameters.weight_codes import MODES, weight_codes
from moir.passes.compress.compress_weights import CompressWeightsPass
from moir.pipeline import loaded

COMPRESSION = "compress-to-fp16"


def tolerance_after(each: ModulePass) -> float | None:
    """The tolerance for floating-point numbers after a pass that compresses weights; None for any other pass."""
    if each.name == CompressWeightsPass.name and isinstance(itself := loaded(each), CompressWeightsPass):
        return WEIGHT_BITS[MODES[weight_codes(itself.codes).mode].bits]
    return HALF if each.name == COMPRESSION else None


class Outcome:
    """The result of executing a state.

    Args:
        module: the executable form of the state.
        outputs: its outputs, by name; empty if it cannot be run.
        differences: their differences from the reference, by name.
        error: the reason why it cannot be run; None if it can.
        form: the index of the form among `ExaminedConversion.forms`.
    """

    def __init__(
        self,
        module: ModuleOp,
        outputs: dict[str, Array],
        differences: dict[str, Difference],
        error: MoirError | None = None,
        form: int = 0,
    ) -> None:
        self.module = module
        self.outputs = outputs
        self.differences = differences
        self.error = error
        self.form = form

    @property
    def is_good(self) -> bool:
        """Whether all outputs are within the tolerance."""
        return self.error is None and not self.wrong

    @property
    def wrong(self) -> set[str]:
        """The names of the outputs beyond the tolerance."""
        return {name for name, each in self.differences.items() if each.exceeds}


class StateExecution:
    """The inputs, and the reference to which the results of states are compared.

    Args:
        conversion: the conversion.
        given: arrays for the inputs, by any of their names.
        tolerance: the relative tolerance for floats; None for those of the element types.
    """

    def __init__(self, conversion: ExaminedConversion, arrays: Mapping[str, Array], tolerance: float | None = None) -> None:
        self.conversion = conversion
        self.inputs = arrays
        self.tolerance = tolerance
        self.expected: dict[str, Array] = {}
        """The reference: arrays by the names of outputs."""
        self.runs = 0
        """Number of runs of modules."""
        self.forms = 2
        """Number of forms of a state that are tried."""
        self.watched: list[str] = []
        """Inner tensors that are judged besides the outputs, in the states that have them."""
        self.refusals_are_bad = False
        """Whether a state that cannot be run counts as wrong, as the last state does, instead of being skipped."""
        self._rounding = [(index, limit) for index, each in enumerate(conversion.passes, 1) if (limit := tolerance_after(each)) is not None]
        self._outcomes: dict[PipelineState, Outcome | None] = {}

    def run(self, module: ModuleOp, values: Sequence[SSAValue] = ()) -> tuple[dict[str, Array], list[Array]]:
        """Run a module in opset dialects; returns its outputs by name, and the arrays of `values`.

        Raises MoirError if it cannot be run.
        """
        interface = interface_of(module)
        inputs = matched(self.inputs, interface.inputs, "input")
        self.runs += 1
        results, inner = run_module(module, [inputs[port.name] for port in interface.inputs], values)
        return {port.name: result for port, result in zip(interface.outputs, results, strict=True)}, inner

    def _outputs(self, module: ModuleOp) -> dict[str, Array]:
        """The outputs of a module, and the inner tensors that are compared, too."""
        if not self.watched:
            return self.run(module)[0]
        values = named_values(only_model(module).block)
        present = {name: values[name] for name in self.watched if name in values}
        outputs, inner = self.run(module, list(present.values()))
        # A tensor in another layout has the elements in another order.
        tensors = {
            name: array for name, array in zip(present, inner, strict=True) if not is_permuted(array, self.expected[name], self.tolerance)
        }
        return outputs | tensors

    def tolerance_at(self, state: PipelineState) -> float | None:
        """The tolerance for a state: the given one, or else the largest rounding of weights by passes before the state.

        None without a given tolerance if no pass before it rounds weights.
        """
        if self.tolerance is not None:
            return self.tolerance
        return max((limit for index, limit in self._rounding if state.number >= index), default=None)

    def outcome(self, state: PipelineState) -> Outcome | None:
        """The result of running a state and comparing; None if no form of the state is in opset dialects.

        A state may have several forms: the outcome is that of the first form that agrees with the reference, or else of
        the first one that can be run.
        """
        if state not in self._outcomes:
            self._outcomes[state] = self._outcome(state)
        return self._outcomes[state]

    def _outcome(self, state: PipelineState) -> Outcome | None:
        best: Outcome | None = None
        for form, module in enumerate(islice(self.conversion.forms(state), self.forms)):
            try:
                outputs = self._outputs(module)
            except MoirError as error:
                best = best or Outcome(module, {}, {}, error, form)
                continue
            outcome = Outcome(module, outputs, worst(outputs, self.expected, self.tolerance_at(state)), form=form)
            if outcome.is_good:
                return outcome
            best = outcome if best is None or best.error is not None else best
        return best

    def forget(self) -> None:
        """Forget the outcomes of states, because the reference changes."""
        self._outcomes.clear()

    def is_good(self, state: PipelineState) -> bool | None:
        """Whether a state agrees with the reference; None if it cannot be run, so that it is skipped."""
        outcome = self.outcome(state)
        if outcome is None:
            return None
        return outcome.is_good if outcome.error is None or self.refusals_are_bad else None
