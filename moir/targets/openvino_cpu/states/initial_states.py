"""Initial values of states that the CPU plugin moves into the ReadValue.

    %z = opset3.Broadcast(0.0, %sizes)                       // with no other use
    %p = opset6.ReadValue(%z) {…}
    opset1.Result(%y)
->  %0 = opset1.Add(%y, opset1.ReduceSum(%z, all axes))      // the sum is 0
    opset1.Result(%0)

It moves operations that only compute initial values. A variable whose size changes then keeps its value at a reset, and
some models are not compiled.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, OpResult, SSAValue

from moir.analysis.analyses import Analyses
from moir.analysis.constants import scalar_of
from moir.analysis.known_values import KnownValues
from moir.dialects.element_types import INTEGER_TYPES, REAL_TYPES
from moir.dialects.moir import models_of
from moir.dialects.names import name_of, names_of, several_tensor_names
from moir.dialects.opset.arithmetic import Add
from moir.dialects.opset.indexing import GatherOp
from moir.dialects.opset.infrastructure import Constant, Parameter, ReadValue, Result
from moir.dialects.opset.repetition import Broadcast
from moir.dialects.properties import string_attribute
from moir.dialects.shapes import element_of, shape_of
from moir.rewriting.builder import OpBuilder
from moir.targets.record import Fault, Form
from moir.targets.stages import STATES


def _use_initial_zeros(module: ModuleOp, _: Analyses) -> bool:
    """Add the zeros with which states of computed sizes begin to an output; return whether there are any."""
    changed = False
    for model in models_of(module):
        zeros = _zeros_of_computed_sizes(model.block)
        changed |= bool(zeros) and _use([op for op in model.block.ops if isinstance(op, Result)], zeros)
    return changed


def _zeros_of_computed_sizes(block: Block) -> list[SSAValue]:
    """The initial values of states that are zeros of a computed shape.

    Those of caches whose rows an input reorders (`beam_idx`) are left out: the plugin computes them anew.
    """
    zeros: dict[SSAValue, None] = {}
    for op in block.ops:
        if not isinstance(op, ReadValue) or not op.operands or _is_reordered(op):
            continue
        initial = op.operands[0].owner
        if isinstance(initial, Broadcast) and not isinstance(initial.operands[1].owner, Constant) and scalar_of(initial.operands[0]) == 0:
            zeros[op.operands[0]] = None
    return [*zeros]


def _is_reordered(state: ReadValue) -> bool:
    """Whether a Gather reads rows of a state that an input chooses."""
    users = [use.operation for use in state.results[0].uses]
    return any(isinstance(each, GatherOp) and isinstance(each.operands[1].owner, Parameter) for each in users)


def _use(results: Sequence[Result], zeros: Sequence[SSAValue]) -> bool:
    """Add the sum of zeros (possibly empty tensors) to the first numeric output, so that they have a use; return
    whether there is one.
    """
    numbers = REAL_TYPES | INTEGER_TYPES
    result = next((op for op in results if element_of(op.operands[0]) in numbers), None)
    if result is None or result.parent is None:
        return False
    value = result.operands[0]
    op = OpBuilder(KnownValues(), result.parent, result)
    sums: list[SSAValue] = []
    for each in zeros:
        axes = np.arange(len(shape_of(each) or ()))
        sums.append(op.convert(op.ReduceSum(each, axes, keep_dims=False), element_of(value)))
    added = op.create(Add, [value, reduce(op.Add, sums)], {})
    if isinstance(value, OpResult):
        producer = value.op
        names = [names_of(each) for each in producer.results]
        # The output is found by the names of its tensor.
        if names[value.index]:
            added.attributes["tensor_names"] = several_tensor_names([names[value.index]])
            names[value.index] = []
            producer.attributes["tensor_names"] = several_tensor_names(names)
        if (name := name_of(producer)) is not None:
            added.attributes["name"] = string_attribute(f"{name}/state")
    result.operands[0] = added.results[0]
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
