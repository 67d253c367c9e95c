"""The operations of TensorFlow that are supported, by their names in `tf.raw_ops`."""

from __future__ import annotations

from collections.abc import Iterable

from moir.dialects.frameworks.tensorflow import BACK_EDGES
from moir.frontends.tensorflow.functions import CALL_KINDS
from moir.frontends.tensorflow.graph import PROGRAM_CALL
from moir.frontends.tensorflow.model_inputs import INPUT_KINDS
from moir.inspection.operations.operation import IMPORTED, RAISED, Operation, all_lowered, treated
from moir.lowering.tensorflow.table import tf
from moir.raising.tensorflow import raise_switch_merge, raise_tensor_arrays, raise_while_frames

RAISED_BY: dict[str, Iterable[str]] = {
    raise_while_frames.RaiseWhileFramesPass.name: (
        "LoopCond",
        *raise_while_frames.ENTERS,
        *raise_while_frames.EXITS,
        *raise_while_frames.MERGES,
        *raise_while_frames.SWITCHES,
        *BACK_EDGES,
    ),
    raise_switch_merge.RaiseSwitchMergePass.name: (*raise_switch_merge.SWITCHES, *raise_switch_merge.MERGES),
    raise_tensor_arrays.RaiseTensorArraysPass.name: raise_tensor_arrays.REWRITES,
}
"""The kinds that each raising pass removes from the model."""


def operations() -> list[Operation]:
    """The operations that are lowered, raised or read by the frontend.

    A kind that is also lowered counts as lowered, and a raised kind that is also read by the frontend as read.
    """
    raised = [each for name, kinds in reversed(RAISED_BY.items()) for each in treated(kinds, RAISED, name)]
    imported = treated(("Const", PROGRAM_CALL, *CALL_KINDS, *INPUT_KINDS), IMPORTED)
    by_kind = {each.kind: each for each in (*raised, *imported, *all_lowered(tf))}
    return list(by_kind.values())
