"""`check-states`: verifies that each input that becomes a variable fits the type that the file declares for the
output.

    check-states{pairs="h=cache"}

    %h = opset1.Parameter() {name = "h"} : tensor<1x?x6xf32>
    opset1.Result(%c) {name = "cache"}                  // %c is declared as tensor<?x4x2xf32>
->  error: opset1.Parameter 'h': shape [1,?,6] does not fit the output 'cache' of shape [?,4,2]

This runs before lowering: declared types may be more exact than inferred ones. `make-stateful` compares the inferred
types.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from moir.analysis.analyses import Analyses
from moir.dialects.element_types import dynamic
from moir.dialects.moir import models_of
from moir.dialects.names import name_of
from moir.dialects.opset.infrastructure import Parameter, Result
from moir.dialects.shapes import element_of, format_shape, shape_of
from moir.errors import ConversionError, UsageError
from moir.rewriting.reporting_pass import ReportingPass
from moir.rewriting.state_pairs import inputs_by_name, outputs_by_name, split_pair

_HINT = "name the output that holds the next values of this input"


@dataclass(frozen=True)
class CheckStatesPass(ReportingPass):
    """Raises ConversionError for a pair of an input and an output of types that differ.

    Args:
        pairs: names of an input and of an output with `=` between them; pairs whose names the model does not have are
            skipped.
    """

    name = "check-states"

    pairs: tuple[str, ...] = ()

    def run(self, module: ModuleOp, analyses: Analyses) -> bool:
        for model in models_of(module) if self.pairs else ():
            inputs, outputs = inputs_by_name(model.block), outputs_by_name(model.block)
            for pair in self.pairs:
                try:
                    source, target = split_pair(pair, inputs, outputs)
                except (ConversionError, UsageError):
                    # A later pass may create the input or output.
                    continue
                _check(inputs[source], outputs[target])
        return False


def _check(parameter: Parameter, result: Result) -> None:
    """Raises ConversionError unless there is a shape and an element type that fits both the Parameter and the
    Result.
    """
    value, later = parameter.results[0], result.operands[0]
    shape, other = shape_of(value), shape_of(later)
    fits = (
        shape is None
        or other is None
        or (len(shape) == len(other) and all(a == b or -1 in (a, b) for a, b in zip(shape, other, strict=True)))
    )
    if not fits:
        reason = f"shape {format_shape(shape)} does not fit the output {name_of(result)!r} of shape {format_shape(other)}"
        raise ConversionError(reason, operation=parameter.name, node=name_of(parameter), hint=_HINT)
    elements = {element_of(value), element_of(later)} - {dynamic}
    if len(elements) > 1:
        reason = f"its element type {element_of(value)} is not that of the output {name_of(result)!r}, {element_of(later)}"
        raise ConversionError(reason, operation=parameter.name, node=name_of(parameter), hint=_HINT)
