"""Sequences and optional values."""

from __future__ import annotations

import numpy as np
import onnx
from onnx import TensorProto, helper

from tests.fuzz.patterns.loops import trips
from tests.fuzz.sketch import CONTROL_FLOW, Sketch, pattern


def position(g: Sketch, length: int, end: int = 0) -> str:
    """A place in a sequence of a length, mostly known while converting."""
    low, high = -length, length - 1 + end
    return g.array(g.draw.integer(min(low, high), max(low, high)), np.int64)


@pattern("sequence", CONTROL_FLOW)
def chain(g: Sketch) -> str:
    """A sequence that is built, changed and read."""
    draw = g.draw
    shape = draw.shape(1, 3)
    length = draw.integer(1, 3)
    if draw.chance(0.2):
        sequence = g.plain("SequenceInsert", g.plain("SequenceEmpty", dtype=1)[0], g.input(shape))[0]
        length = 1
    elif draw.chance(0.3):
        axis = draw.axis(len(shape))
        shape[axis] = length * 2
        sequence = g.plain("SplitToSequence", g.input(shape), g.array(2, np.int64), axis=axis)[0]
        shape[axis] = 2
    else:
        sequence = g.plain("SequenceConstruct", *(g.input(shape) for _ in range(length)))[0]
    for _ in range(draw.integer(0, 3)):
        if draw.chance(0.5) or length < 2:
            place = [position(g, length, 1)] if draw.chance(0.6) else []
            sequence = g.plain("SequenceInsert", sequence, g.input(shape), *place)[0]
            length += 1
        else:
            sequence = g.plain("SequenceErase", sequence, *([position(g, length)] if draw.chance(0.6) else []))[0]
            length -= 1
    match draw.integer(0, 3):
        case 0:
            return g.plain("SequenceLength", sequence)[0]
        case 1:
            return g.op("Relu", g.plain("SequenceAt", sequence, position(g, length))[0])
        case _:
            new = draw.integer(0, 1)
            axis = draw.integer(-len(shape), len(shape) - 1) if not new else draw.integer(-len(shape) - 1, len(shape))
            return g.plain("ConcatFromSequence", sequence, axis=axis, new_axis=new)[0]


@pattern("sequence.split", CONTROL_FLOW)
def split(g: Sketch) -> str:
    """A value that is split and joined again."""
    shape = g.draw.filled(1, 3)
    axis, is_even = g.draw.axis(len(shape)), True
    if g.draw.chance(0.5):
        sequence = g.plain("SplitToSequence", g.input(shape), axis=axis, keepdims=g.draw.integer(0, 1))[0]
    else:
        first = g.draw.integer(0, shape[axis])
        is_even = 2 * first == shape[axis]
        sequence = g.plain("SplitToSequence", g.input(shape), g.integers(first, shape[axis] - first), axis=axis)[0]
    if g.draw.chance(0.5):
        return g.plain("SequenceAt", sequence, g.array(g.draw.one_of((0, -1)), np.int64))[0]
    # Members have to fit, though ONNX Runtime passes over those without elements.
    joined, new_axis = (0, g.draw.integer(0, 1)) if is_even else (axis, 0)
    return g.plain("ConcatFromSequence", sequence, axis=joined, new_axis=new_axis)[0]


@pattern("sequence.loop", CONTROL_FLOW)
def collected(g: Sketch) -> str:
    """A loop that appends to a sequence, which is joined after it."""
    shape = g.draw.shape(0 if g.draw.chance(0.2) else 1, 2)
    value = g.input(shape)
    start = g.plain("SequenceConstruct", value)[0] if g.draw.chance(0.5) else g.plain("SequenceEmpty", dtype=1)[0]

    def step() -> list[str]:
        element = g.op("Mul", value, g.op("Cast", "i", to=1))
        return [g.op("Identity", "keep"), g.plain("SequenceInsert", "collected", element)[0]]

    body = g.body({"i": (TensorProto.INT64, 0), "keep": (TensorProto.BOOL, 0), "collected": (TensorProto.FLOAT, None)}, step)
    type_ = helper.make_sequence_type_proto(helper.make_tensor_type_proto(TensorProto.FLOAT, None))
    body.input[2].CopyFrom(onnx.ValueInfoProto(name="collected", type=type_))
    sequence = g.plain("Loop", trips(g), "", start, body=body)[0]
    if g.draw.chance(0.3):
        return g.plain("SequenceLength", sequence)[0]
    return g.plain("ConcatFromSequence", sequence, axis=0, new_axis=g.draw.integer(0, 1))[0]


@pattern("SequenceMap", CONTROL_FLOW)
def mapped(g: Sketch) -> str:
    """A function of each member, and of a further value."""
    shape = g.draw.shape(1, 2)
    sequence = g.plain("SequenceConstruct", *(g.input(shape) for _ in range(g.draw.integer(1, 3))))[0]
    factor = g.input(g.draw.broadcasts_to(shape))
    body = g.body({"member": (TensorProto.FLOAT, None), "factor": (TensorProto.FLOAT, None)}, lambda: [g.op("Mul", "member", "factor")])
    result = g.plain("SequenceMap", sequence, factor, body=body)[0]
    return g.plain("ConcatFromSequence", result, axis=0)[0]


@pattern("optional", CONTROL_FLOW)
def optional(g: Sketch) -> str:
    """An optional value that is asked for and taken."""
    g.opset = max(g.opset, 18)
    x = g.input(g.draw.shape(0, 3))
    if g.draw.chance(0.25):
        type_ = helper.make_tensor_type_proto(TensorProto.FLOAT, None)
        empty = g.plain("Optional", type=type_)[0]
        has = g.plain("OptionalHasElement", empty)[0]
        return g.op("Where", has, x, g.op("Neg", x))
    held = g.plain("Optional", x)[0]
    g.outputs.append(g.plain("OptionalHasElement", held)[0])
    return g.op("Relu", g.plain("OptionalGetElement", held)[0])


@pattern("optional.branch", CONTROL_FLOW)
def optional_branch(g: Sketch) -> str:
    """A branch on whether an optional value is there."""
    g.opset = max(g.opset, 18)
    x = g.input(g.draw.shape(0, 2))
    held = g.plain("Optional", x)[0]
    has = g.plain("OptionalHasElement", held)[0]
    then = g.body({}, lambda: [g.op("Relu", g.plain("OptionalGetElement", held)[0])])
    other = g.body({}, lambda: [g.op("Neg", x)])
    return g.plain("If", has, then_branch=then, else_branch=other)[0]
