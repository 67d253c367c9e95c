"""Scans: axes, directions, states that are passed on, slices that are not used."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto

from tests.fuzz.sketch import CONTROL_FLOW, Sketch, pattern


@pattern("Scan", CONTROL_FLOW)
def scan(g: Sketch) -> str:
    """One state and one scanned input."""
    draw = g.draw
    shape, length = draw.shape(0, 2), draw.integer(1, 4)
    rank = len(shape) + 1
    axis, out = draw.axis(rank), draw.axis(rank)
    sizes = list(shape)
    sizes.insert(axis % rank, length)
    state, data = g.input(shape), g.input(sizes)
    captured = g.input([1]) if draw.chance(0.3) else ""
    kind = draw.one_of(("Add", "Mul", "Max", "Min", "Sub"))

    def step() -> list[str]:
        pair = ["element", "state"] if draw.chance(0.5) else ["state", "element"]
        match draw.integer(0, 4):
            case 0:
                return ["element", "state"]
            case 1:
                return [g.op("Neg", "state"), "state"]
            case 2:
                following = g.op(kind, *pair)
                return [following, g.op("Mul", following, captured) if captured else following]
            case _:
                following = g.op(kind, *pair)
                return [following, following if draw.chance(0.5) else "element"]

    body = g.body({"state": (TensorProto.FLOAT, None), "element": (TensorProto.FLOAT, None)}, step)
    attributes = {"scan_input_axes": [axis], "scan_output_axes": [out], "scan_input_directions": [draw.integer(0, 1)]}
    attributes["scan_output_directions"] = [draw.integer(0, 1)]
    given = {name: value for name, value in attributes.items() if draw.chance(0.7) or name == "scan_input_axes"}
    results = g.plain("Scan", state, data, outputs=2, num_scan_inputs=1, body=body, **given)
    g.outputs.append(results[0])
    return results[1]


@pattern("Scan.several", CONTROL_FLOW)
def several(g: Sketch) -> str:
    """Two states of different types and two scanned inputs."""
    draw = g.draw
    shape, length = draw.shape(0, 2), draw.integer(1, 4)
    states = [g.input(shape), g.array(0, np.int64, given=0.5)]
    data = [g.input([length, *shape]), g.input([length, *shape])]

    def step() -> list[str]:
        total = g.op("Add", "state", g.op("Mul", "left", "right") if draw.chance(0.6) else "left")
        return [total, g.op("Add", "number", g.array(1, np.int64)), g.op("Sub", total, "right"), "number"]

    parameters = dict.fromkeys(("state", "number", "left", "right"), (TensorProto.FLOAT, None)) | {"number": (TensorProto.INT64, 0)}
    results = g.plain("Scan", *states, *data, outputs=4, num_scan_inputs=2, body=g.body(parameters, step))
    g.outputs += results[:-1]
    return results[-1]


@pattern("Scan.stateless", CONTROL_FLOW)
def stateless(g: Sketch) -> str:
    """No state: the body is applied to each slice."""
    shape, length = g.draw.shape(0, 2), g.draw.integer(1, 4)
    kind = g.draw.one_of(("Relu", "Identity", "Neg"))
    body = g.body({"element": (TensorProto.FLOAT, None)}, lambda: [g.op(kind, "element")])
    return g.plain("Scan", g.input([length, *shape]), num_scan_inputs=1, body=body)[0]
