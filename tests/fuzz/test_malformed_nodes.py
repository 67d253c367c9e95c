"""Nodes with operands and attributes that no schema allows: converted or refused, never an internal error."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, defs, helper

import moir
from moir.errors import ConversionError

TYPES = (TensorProto.FLOAT, TensorProto.FLOAT, TensorProto.INT64, TensorProto.INT32, TensorProto.UINT8, TensorProto.BOOL)
VERSIONS = {"": 23, "ai.onnx.ml": 5, "ai.onnx.preview": 1}
WITH_BODIES = ("If", "Loop", "Scan")
SCHEMAS = [each for each in defs.get_all_schemas() if each.domain in VERSIONS and each.name not in WITH_BODIES]
COUNT = 1500


def attribute(draw: random.Random, kind: Any) -> Any:
    """A value of the type of an attribute, rarely a sensible one; None for types that are not drawn."""
    size, of = draw.randint(0, 5), type(kind)
    values = {
        of.INT: draw.choice([0, 1, -1, 2, 9, -7]),
        of.FLOAT: draw.choice([0.0, 1.0, -1.0, 0.5]),
        of.STRING: draw.choice(["", "linear", "TF", "NONE", "nothing"]),
        of.INTS: [draw.choice([0, 1, 2, -1, 3]) for _ in range(size)],
        of.FLOATS: [draw.choice([0.0, 1.0, -2.0]) for _ in range(size)],
        of.STRINGS: [draw.choice(["a", "tanh", "BRANCH_LEQ", "LEAF"]) for _ in range(size)],
        of.TENSOR: onnx.numpy_helper.from_array(np.ones(size, np.float32)),
    }
    return values.get(kind)


def malformed(draw: random.Random) -> onnx.ModelProto:
    """A model of one node of any kind."""
    schema = draw.choice(SCHEMAS)
    inputs: list[Any] = []
    constants: list[Any] = []
    names = [f"x{index}" for index in range(draw.randint(schema.min_input, min(schema.max_input, schema.min_input + 4)))]
    for name in names:
        type_, shape = draw.choice(TYPES), [draw.choice([1, 2, 3, 0, "n"]) for _ in range(draw.randint(0, 5))]
        if draw.random() < 0.4 and "n" not in shape:
            array = np.full(shape, draw.choice([0, 1, 2, 5])).astype(helper.tensor_dtype_to_np_dtype(type_))
            constants.append(onnx.numpy_helper.from_array(array, name))
        else:
            inputs.append(helper.make_tensor_value_info(name, type_, shape if draw.random() < 0.9 else None))
    drawn = {name: attribute(draw, each.type) for name, each in schema.attributes.items() if each.required or draw.random() < 0.5}
    given = {name: value for name, value in drawn.items() if value is not None and value != []}
    results = [f"y{index}" for index in range(max(1, min(schema.max_output, 3)))]
    node = helper.make_node(schema.name, names, results, domain=schema.domain, **given)
    graph = helper.make_graph([node], "malformed", inputs, [helper.make_empty_tensor_value_info(name) for name in results], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid(*each) for each in VERSIONS.items()], ir_version=11)


@pytest.mark.parametrize("seed", [3, 4])
def test_no_node_is_an_internal_error(seed: int, tmp_path: Path) -> None:
    draw, path = random.Random(seed), tmp_path / "model.onnx"
    outcomes = {"converted": 0, "refused": 0}
    for _ in range(COUNT):
        model = malformed(draw)
        path.write_bytes(model.SerializeToString())
        try:
            moir.convert_model(path)
            outcomes["converted"] += 1
        except ConversionError:
            outcomes["refused"] += 1
    assert min(outcomes.values()) > COUNT / 20
