"""States without uses, states of an element type that the CPU plugin cannot store, and states that it mistakes for
constants.
"""

from __future__ import annotations

from xdsl.ir import Attribute, Operation, SSAValue

from moir.analysis.sources import is_computed_of
from moir.dialects.element_types import bf16, f32, f64, si16, si32, si64, to_numpy, ui16, ui32, ui64
from moir.dialects.opset.infrastructure import Assign, Constant, ReadValue, Result
from moir.dialects.opset.matrix import MatMul
from moir.dialects.shapes import element_of, rank_of
from moir.rewriting.driver import Pattern, Rewriter
from moir.targets.record import Fault, Form
from moir.targets.stages import STATES

_STORED: dict[Attribute, Attribute] = {si64: si32, ui64: si32, ui32: si32, si16: si32, ui16: si32, f64: f32, bf16: f32}
"""The element types that the plugin cannot store in a state, each with the type that is stored instead."""


class UnreadState(Pattern):
    """Erases a state that no operation reads, with its Assign.

        %0 = opset6.ReadValue(%i) {variable_id = "v", …}     // without uses
        %1 = opset6.Assign(%n) {variable_id = "v"}
    ->

    The runtime removes the unused ReadValue, so it has no variable for the Assign, and does not read the model. No
    result depends on the state.
    """

    roots = (ReadValue,)

    def may_match(self, op: Operation) -> bool:
        return op.results[0].first_use is None

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, ReadValue)
        assert op.parent is not None
        variable = op.text("variable_id")
        for each in list(op.parent.ops):
            if isinstance(each, Assign) and each.text("variable_id") == variable:
                rewriter.substitute(each, each.operands)
        rewriter.substitute(op, op.operands)


class UnsupportedState(Pattern):
    """Changes the element type of a state that the runtime cannot hold, at its ReadValue and Assign.

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


class WeightsInState(Pattern):
    """Multiplies from the left by a matrix that is computed from states, and transposes the result.

        %w = opset6.ReadValue(%constant)
        %1 = opset1.MatMul(%x, %w) {transpose_b = true}
    ->  %2 = opset1.MatMul(%w, %x) {transpose_b = true}
        %1 = opset1.Transpose(%2, [1, 0])

    If the states are initialized with constants, the plugin mistakes the matrix for constant weights, and packs it
    before the states have values.
    """

    roots = (MatMul,)
    companions = ((ReadValue,),)

    def may_match(self, op: Operation) -> bool:
        x, weights = op.operands
        return (
            (rank_of(weights) or 4) <= 3
            and (rank_of(x) or 0) >= 2
            and is_computed_of(weights, "ReadValue")
            and not is_computed_of(x, "ReadValue")
        )

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, MatMul)
        build, (x, weights) = rewriter.op, op.operands
        rank = rank_of(op.results[0])
        if rank is None or rank < 2 or (rank_of(weights) or 0) < 2:
            return
        product = build.MatMul(weights, x, transpose_a=not op.flag("transpose_b"), transpose_b=not op.flag("transpose_a"))
        rewriter.replace_with(op, build.transposed(product, [*range(rank - 2), rank - 1, rank - 2]))


FORMS = (
    Form(
        "erase-unread-states",
        (UnreadState,),
        stage=STATES,
        faults=(Fault("state-unread", "an Assign to a state that no operation reads", "is not read with the model"),),
    ),
    Form(
        "store-states",
        (UnsupportedState,),
        stage=STATES,
        faults=(Fault("state-types", "a state of i64, u64, f64 or bf16", "is not compiled, or wrong"),),
    ),
    Form(
        "swap-weights-of-states",
        (WeightsInState,),
        stage=STATES,
        faults=(
            Fault(
                "weights-of-states",
                "MatMul by what is computed of states that begin as constants",
                "packs the matrix before the states have values",
            ),
        ),
    ),
)
