"""States of element types that the CPU plugin cannot hold."""

from __future__ import annotations

from xdsl.ir import Attribute, Operation, SSAValue

from moir.dialects.element_types import bf16, f32, f64, si16, si32, si64, to_numpy, ui16, ui32, ui64
from moir.dialects.opset.infrastructure import Assign, Constant, ReadValue, Result
from moir.dialects.shapes import element_of
from moir.rewriting.driver import Pattern, Rewriter
from moir.targets.record import Form

_STORED: dict[Attribute, Attribute] = {si64: si32, ui64: si32, ui32: si32, si16: si32, ui16: si32, f64: f32, bf16: f32}
"""For each element type that the plugin cannot hold, the one in which the state is stored."""


class UnsupportedState(Pattern):
    """Changes the element type of a state at its ReadValue and Assign.

        %0 = opset6.ReadValue(%i) {variable_type = si64, …}
        %y = opset6.Assign(%n) {variable_id = "v"}
    ->  %1 = opset6.ReadValue(%j) {variable_type = si32, …}
        %0 = opset1.Convert(%1) {destination_type = si64}
        %2 = opset1.Convert(%n) {destination_type = si32}
        %3 = opset6.Assign(%2) {variable_id = "v"}
        %y = opset1.Convert(%3) {destination_type = si64}

    The plugin computes integers in 32 bits and f64 in f32, but for a ReadValue it requests the original element type
    from oneDNN, which does not have it. A state in bf16 gets wrong values. The plugin would merge a Convert between a
    ReadValue and a Result with both; an Unsqueeze before the Convert and a Squeeze after it prevent that.
    """

    roots = (ReadValue, Assign)

    def may_match(self, op: Operation) -> bool:
        return element_of(op.results[0]) in _STORED

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        build, element = rewriter.op, element_of(op.results[0])
        stored = _STORED[element]

        def converted(value: SSAValue) -> SSAValue:
            owner = value.owner
            if isinstance(owner, Constant) and (known := build.known.constant(value)) is not None:
                return build.constant(known.astype(to_numpy(stored)), stored)
            return build.convert(value, stored)

        operands = [converted(value) for value in op.operands]
        if isinstance(op, ReadValue):
            properties = {name: op.text(name) for name in ("variable_id", "variable_shape")}
            value = build.ReadValue(*operands, variable_type=stored, **properties)
            if any(isinstance(use.operation, Result) for use in op.results[0].uses):
                value = build.Squeeze(build.convert(build.Unsqueeze(value, [0]), element), [0])
        else:
            assert isinstance(op, Assign)
            value = build.Assign(*operands, variable_id=op.text("variable_id"))
        rewriter.replace_with(op, build.convert(value, element))


FORMS = (Form("store-states", "Holds states in element types that the runtime can hold.", lambda: [UnsupportedState()]),)
