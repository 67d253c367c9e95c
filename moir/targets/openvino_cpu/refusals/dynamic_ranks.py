"""Tensors of dynamic rank, with which the CPU plugin loads no model.

Their rank may become known by shapes that are given to the IR later (`model.reshape()`), so that this is not an error:
a note names the inputs, or else the first operation.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp, UnrankedTensorType
from xdsl.ir import Operation

from moir.analysis.analyses import Analyses
from moir.dialects.moir import ModelOp, add_notes
from moir.dialects.names import name_of
from moir.dialects.opset.infrastructure import Parameter, Result
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.targets.record import Fault, Form
from moir.targets.stages import STATES

_SHOWN = 4
"""The largest number of inputs that a note names."""


def _note_dynamic_ranks(_: ModuleOp, analyses: Analyses) -> bool:
    """Add a note on operations with results of dynamic rank; return whether there are any."""
    unranked = [op for op in analyses.operations(OpsetOp) for each in op.results if type(each.type) is UnrankedTensorType]
    if unranked:
        add_notes(unranked[0], [_unranked_note(unranked)])
    return bool(unranked)


def _unranked_note(unranked: Sequence[Operation]) -> str:
    """The note about operations with results of dynamic rank."""
    inputs = [name_of(each) or "" for each in unranked if isinstance(each, Parameter) and isinstance(each.parent_op(), ModelOp)]
    if inputs:
        shown = ", ".join(map(repr, inputs[:_SHOWN])) + (", …" if len(inputs) > _SHOWN else "")
        hint = f"give shapes with --input, ? for dynamic dimensions, {inputs[0]}[] if it is a scalar"
        return f"the IR will not load until the rank of {shown} is known: {hint}"
    first = unranked[0]
    hint = "give the inputs static shapes with --input"
    return f"the IR will not load until the rank of what {first.name} {name_of(first)!r} computes is known: {hint}"


FORMS = (
    Form(
        "note-dynamic-ranks",
        summary="Notes which ranks have to be known before the plugin loads the IR; changes no operation.",
        run=_note_dynamic_ranks,
        roots=(Result,),
        in_place=True,
        stage=STATES,
        faults=(Fault("dynamic-ranks", "tensors of dynamic rank", "are not compiled"),),
    ),
)
