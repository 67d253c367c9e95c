"""A user exports a scripted decoder that appends each step's output to a list, and gets all steps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import moir
from tests.numerical.onnx.conversion import expected_results, node
from tests.numerical.runtime import compare, core, run

FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
HIDDEN = 6
info = helper.make_tensor_value_info


def decoder(
    *, early: bool = False, stack: bool = False, batch: int | str = 1, before: bool = False, greedy: bool = False
) -> onnx.ModelProto:
    """`h = tanh(h @ R + x[i])`, appended as it is after the step, or `before` it.

    Args:
        early: whether the loop ends when the mean of h is not below a threshold.
        stack: whether the list is joined along a new axis.
        batch: the batch of x and h.
        greedy: whether the next input is the largest entry of h instead of x[i].
    """
    source = [node("ArgMax", ["h"], ["best"], axis=1, keepdims=0), node("Gather", ["table", "best"], ["xt"])] if greedy else []
    source = source or [node("Gather", ["x", "i"], ["xt"], axis=0)]
    member = "h" if before else "hn"
    nodes = [
        *source,
        node("MatMul", ["h", "R"], ["hm"]),
        node("Add", ["hm", "xt"], ["ha"]),
        node("Tanh", ["ha"], ["hn"]),
        node("Unsqueeze", [member, "first"], ["row"]),
        node("SequenceInsert", ["seq", member if stack else "row"], ["seq_out"]),
        *(
            [node("ReduceMean", ["hn"], ["mean"], keepdims=0), node("Less", ["mean", "limit"], ["go"])]
            if early
            else [node("Identity", ["c"], ["go"])]
        ),
    ]
    sequence = helper.make_tensor_sequence_value_info
    body = helper.make_graph(
        nodes,
        "body",
        [info("i", INT64, []), info("c", BOOL, []), info("h", FLOAT, None), sequence("seq", FLOAT, None)],
        [info("go", BOOL, []), info("hn", FLOAT, None), sequence("seq_out", FLOAT, None)],
    )
    outer = [
        node("SequenceEmpty", [], ["s0"], dtype=FLOAT),
        node("Shape", ["x"], ["shape"]),
        node("Gather", ["shape", "zero"], ["count"], axis=0),
        node("Loop", ["count", "true", "h0", "s0"], ["last", "s"], body=body),
        node("ConcatFromSequence", ["s"], ["y"], axis=0, new_axis=int(stack)),
    ]
    random = np.random.default_rng(0)
    constants: dict[str, Any] = {
        "R": random.uniform(-0.5, 0.5, (HIDDEN, HIDDEN)).astype(np.float32),
        "table": random.uniform(-1, 1, (HIDDEN, HIDDEN)).astype(np.float32),
        "limit": np.float32(0.2),
        "first": np.array([0]),
        "zero": np.array(0),
        "true": np.array(True),
    }
    graph = helper.make_graph(
        outer,
        "g",
        [info("x", FLOAT, ["T", batch, HIDDEN]), info("h0", FLOAT, [batch, HIDDEN])],
        [info("y", FLOAT, None)],
        [onnx.numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


def check(source: onnx.ModelProto, folder: Path, batch: int = 1, length: int = 5, shapes: str | None = None) -> None:
    onnx.save(source, folder / "m.onnx")
    moir.save_model(moir.convert_model(folder / "m.onnx", input=shapes), folder / "m.xml")
    for seed in range(3):
        random = np.random.default_rng(seed)
        inputs = {"x": random.uniform(-1, 1, (length, batch, HIDDEN)), "h0": random.uniform(-1, 1, (batch, HIDDEN))}
        given = {name: each.astype(np.float32) for name, each in inputs.items()}
        compare(run(core().read_model(folder / "m.xml"), given), expected_results(source, given, "onnxruntime"))


@pytest.mark.parametrize("early", [False, True])
@pytest.mark.parametrize("stack", [False, True])
@pytest.mark.parametrize("before", [False, True])
@pytest.mark.parametrize("shapes", [None, "x[5,1,6],h0[1,6]"])
def test_steps(tmp_path: Path, early: bool, stack: bool, before: bool, shapes: str | None) -> None:
    check(decoder(early=early, stack=stack, before=before), tmp_path, shapes=shapes)


@pytest.mark.parametrize("early", [False, True])
def test_an_unknown_batch(tmp_path: Path, early: bool) -> None:
    check(decoder(early=early, batch="B"), tmp_path, batch=2)


@pytest.mark.parametrize("early", [False, True])
def test_the_next_input_is_chosen(tmp_path: Path, early: bool) -> None:
    """What ArgMax gives has the shape of a list: the sizes of h are known."""
    check(decoder(early=early, greedy=True), tmp_path)


def test_values_that_grow(tmp_path: Path) -> None:
    """Each step appends more rows, so that the loop of the IR hands on their concatenation."""
    source = decoder()
    body = source.graph.node[3].attribute[0].g
    grown = helper.make_node("Concat", ["h", "xt"], ["hn"], axis=0)
    tanh = next(index for index, each in enumerate(body.node) if each.op_type == "Tanh")
    body.node[tanh].CopyFrom(grown)
    source.graph.node[-1].attribute[0].i = 1
    check(source, tmp_path)
