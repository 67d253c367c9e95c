"""Variables for the states of earlier tokens, with a row for each text of the batch, reordered by `beam_idx`."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from moir.dialects.element_types import f32
from moir.rewriting.builder import OpBuilder


def state(op: OpBuilder, beams: SSAValue, variable: str, sizes: Sequence[int], shape: str) -> SSAValue:
    """The value of a state variable, its rows reordered by beams.

    Gather(ReadValue(zeros [batch, sizes]), beams, 0)

    Args:
        op: the builder.
        beams: for each text the index of its row in the previous step.
        variable: the name of the variable.
        sizes: the dimensions after the batch of its first value, which is zeros.
        shape: the shape that all values of the variable have, as text.
    """
    batch = op.Gather(op.ShapeOf(beams), [0], 0)
    first = op.Broadcast(op.constant(0.0, f32), op.Concat(batch, op.constant(list(sizes)), axis=0))
    past = op.ReadValue(first, variable_id=variable, variable_type=f32, variable_shape=shape)
    return op.Gather(past, beams, op.constant(0))


def fixed_state(op: OpBuilder, beams: SSAValue, variable: str, sizes: Sequence[int]) -> SSAValue:
    """The value of a state variable, reordered by beams, whose dimensions `sizes` after the batch never change."""
    return state(op, beams, variable, sizes, ",".join(["?", *map(str, sizes)]))


def recurrent_variable(kind: str, layer: int) -> str:
    """The name of a layer's variable: of the last tokens of a convolution (`kind` conv), or of a recurrent
    state (ssm).
    """
    return f"cache_params.past.{kind}.{layer}cache_params.present.{kind}.{layer}"


def zeros_of(op: OpBuilder, like: SSAValue, dimensions: Sequence[int]) -> SSAValue:
    """Zeros in the shape `dimensions`, where -1 stands for the batch and -2 for the tokens of `like` [batch, tokens,
    …].
    """
    sizes = op.ShapeOf(like)
    named = {-1: op.Gather(sizes, [0], 0), -2: op.Gather(sizes, [1], 0)}
    parts = [named[each] if each < 0 else op.constant([each]) for each in dimensions]
    return op.Broadcast(op.constant(0.0, f32), op.Concat(*parts, axis=0))
