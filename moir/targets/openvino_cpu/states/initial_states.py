"""Initial values of states that the CPU plugin moves into the ReadValue.

    %z = opset3.Broadcast(0.0, %sizes)                       // with no other use
    %p = opset6.ReadValue(%z) {…}
    opset1.Result(%y)
->  %0 = opset1.Add(%y, opset1.ReduceSum(%z, all axes))      // the sum is 0
    opset1.Result(%0)

The plugin moves operations that only compute initial values. A state whose size changes then keeps its value at a
reset, and some models are not compiled.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, SSAValue

from moir.analysis.analyses import Analyses
from moir.analysis.constants import scalar_of
from moir.analysis.known_values import KnownValues
from moir.analysis.uses import has_one_live_use
from moir.dialects.element_types import INTEGER_TYPES, REAL_TYPES
from moir.dialects.moir import models_of
from moir.dialects.opset.attention import ScaledDotProductAttention
from moir.dialects.opset.indexing import GatherOp
from moir.dialects.opset.infrastructure import Constant, Parameter, ReadValue, Result
from moir.dialects.opset.repetition import Broadcast
from moir.dialects.shapes import element_of, shape_of
from moir.rewriting.builder import OpBuilder
from moir.targets.openvino_cpu.states.outputs import add_to_output
from moir.targets.record import Fault, Form
from moir.targets.stages import STATES

ATTENTION_DISTANCE = 6
"""The most operations from a cache to the attention that reads it: Gather, Concat, and those that repeat heads."""


def _use_initial_zeros(module: ModuleOp, _: Analyses) -> bool:
    """Add the initial zeros of states of computed sizes to an output; return whether there are such states."""
    changed = False
    for model in models_of(module):
        zeros = _zeros_of_computed_sizes(model.block)
        changed |= bool(zeros) and _use([op for op in model.block.ops if isinstance(op, Result)], zeros)
    return changed


def _zeros_of_computed_sizes(block: Block) -> list[SSAValue]:
    """The initial values of states that are zeros of a computed shape.

    Caches whose rows an input reorders (`beam_idx`) are left out, since the plugin recomputes their initial values. It
    does not for a cache that begins without entries, that no attention reads and that shares its zeros with no other
    state; such a cache is included.
    """
    zeros: dict[SSAValue, None] = {}
    for op in block.ops:
        if not isinstance(op, ReadValue) or not op.operands:
            continue
        if _is_reordered(op) and not _grows_alone(op):
            continue
        initial = op.operands[0].owner
        if isinstance(initial, Broadcast) and not isinstance(initial.operands[1].owner, Constant) and scalar_of(initial.operands[0]) == 0:
            zeros[op.operands[0]] = None
    return [*zeros]


def _is_reordered(state: ReadValue) -> bool:
    """Whether a Gather selects rows of a state by indices that are an input of the model."""
    users = [use.operation for use in state.results[0].uses]
    return any(isinstance(each, GatherOp) and isinstance(each.operands[1].owner, Parameter) for each in users)


def _grows_alone(state: ReadValue) -> bool:
    """Whether a state begins without entries, as no other one does, and no attention reads it."""
    initial = state.operands[0]
    return 0 in (shape_of(initial) or ()) and has_one_live_use(initial) and not _is_attended(state)


def _is_attended(state: ReadValue) -> bool:
    """Whether a ScaledDotProductAttention reads a state, or what few operations make of it."""
    values: list[SSAValue] = [state.results[0]]
    for _ in range(ATTENTION_DISTANCE):
        users = [use.operation for value in values for use in value.uses]
        if any(isinstance(each, ScaledDotProductAttention) for each in users):
            return True
        values = [result for each in users for result in each.results]
    return False


def _use(results: Sequence[Result], zeros: Sequence[SSAValue]) -> bool:
    """Add the sum of `zeros` to the first numeric output, so that they have a use; return whether there is such an
    output.

    The zeros may be empty tensors.
    """
    numbers = REAL_TYPES | INTEGER_TYPES
    result = next((op for op in results if element_of(op.operands[0]) in numbers), None)
    if result is None or result.parent is None:
        return False
    op = OpBuilder(KnownValues(), result.parent, result)
    sums: list[SSAValue] = []
    for each in zeros:
        axes = np.arange(len(shape_of(each) or ()))
        sums.append(op.convert(op.ReduceSum(each, axes, keep_dims=False), element_of(result.operands[0])))
    add_to_output(op, result, reduce(op.Add, sums))
    return True


FORMS = (
    Form(
        "use-initial-zeros",
        summary="Adds the sum of the zeros with which states of computed sizes begin to an output, so that they have another use.",
        run=_use_initial_zeros,
        roots=(ReadValue,),
        stage=STATES,
        faults=(
            Fault(
                "initial-sizes",
                "ReadValue of an initial value of computed sizes that nothing else reads",
                "keeps its value at a reset if its size changed, or is not compiled",
            ),
        ),
    ),
)
