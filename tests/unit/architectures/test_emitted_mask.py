"""Masks in the emitted IR.

GenAI's paged attention keeps a window, or linear biases, only if the mask consists of exactly these operations.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import openvino
import pytest

import moir
from tests.unit.language_models.folders import Array, write_folder, write_tensors

WINDOW = 3

LENGTH = "Gather(ShapeOf(attention_mask), 1, 0)"
COUNT = "Gather(ShapeOf(input_ids), 1, 0)"
KEYS = f"Unsqueeze(Range(0, {LENGTH}, 1), [0, 1, 2])"
QUERIES = f"Unsqueeze(Add(Range(0, {COUNT}, 1), Subtract({LENGTH}, {COUNT})), [0, 1, 3])"


def written(folder: Path, **keys: object) -> openvino.Model:
    """The IR of a mistral."""
    return emitted(write_folder(folder / "m", model_type="mistral", **keys))


def emitted(folder: Path) -> openvino.Model:
    """The IR of the model of a folder, read from its file."""
    path = folder.with_name("net.xml")
    moir.save_model(moir.convert_model(folder), path)
    return openvino.Core().read_model(path)


def expression(node: openvino.Node, depth: int) -> str:
    """The operations of which a value consists, up to a depth: Add(x, 1)."""
    kind = node.get_type_name()
    if kind == "Parameter":
        return node.get_friendly_name()
    if kind == "Constant":
        return str(node.get_data().tolist())  # pyright: ignore[reportAttributeAccessIssue]
    if not depth:
        return "…"
    return f"{kind}({', '.join(expression(each.get_node(), depth - 1) for each in node.input_values())})"


def mask(model: openvino.Model) -> openvino.Node:
    """The mask of the only attention."""
    [attention] = [each for each in model.get_ordered_ops() if each.get_type_name() == "ScaledDotProductAttention"]
    return attention.input_value(3).get_node()


def test_the_chain_of_a_window(tmp_path: Path) -> None:
    select = mask(written(tmp_path, sliding_window=WINDOW))
    assert select.get_type_name() == "Select"
    assert [expression(each.get_node(), 0) for each in select.input_values()][1:] == ["0.0", "-65504.0"]
    broadcast = select.input_value(0).get_node()
    assert broadcast.get_type_name() == "Broadcast"
    seen = f"BitwiseAnd(True, BitwiseAnd(BitwiseAnd(True, Greater({KEYS}, Add({QUERIES}, {-WINDOW}))), LessEqual({KEYS}, {QUERIES})))"
    assert expression(broadcast.input_value(0).get_node(), 12) == f"BitwiseAnd({seen}, Unsqueeze(NotEqual(attention_mask, 0), [1, 2]))"


@pytest.mark.parametrize("window", [None, 0])
def test_no_window_compares_no_distances(tmp_path: Path, window: int | None) -> None:
    text = expression(mask(written(tmp_path, sliding_window=window)), 20)
    assert "LessEqual(" in text
    assert "Greater(" not in text


def test_the_window_is_a_scalar_of_integers(tmp_path: Path) -> None:
    [greater] = [each for each in written(tmp_path, sliding_window=WINDOW).get_ordered_ops() if each.get_type_name() == "Greater"]
    constant = greater.input_value(1).get_node().input_value(1).get_node()
    assert constant.get_element_type() == openvino.Type.i64
    assert np.array_equal(constant.get_data(), np.array(-WINDOW))  # pyright: ignore[reportAttributeAccessIssue]


def bloom_tensors() -> dict[str, Array]:
    """The tensors of a bloom of one layer with two heads of size 4; their values do not matter here."""
    shapes = {
        "self_attention.query_key_value": (24, 8),
        "self_attention.dense": (8, 8),
        "mlp.dense_h_to_4h": (32, 8),
        "mlp.dense_4h_to_h": (8, 32),
    }
    norms = ["word_embeddings_layernorm", "ln_f", "h.0.input_layernorm", "h.0.post_attention_layernorm"]
    tensors = {"word_embeddings.weight": np.ones((6, 8))}
    for name, shape in ({f"h.0.{name}": shape for name, shape in shapes.items()} | dict.fromkeys(norms, (8,))).items():
        tensors |= {f"{name}.weight": np.ones(shape), f"{name}.bias": np.ones(shape[:1])}
    return tensors


def test_the_chain_of_linear_biases(tmp_path: Path) -> None:
    (tmp_path / "m").mkdir()
    keys = {"model_type": "bloom", "hidden_size": 8, "n_layer": 1, "n_head": 2, "vocab_size": 6}
    (tmp_path / "m" / "config.json").write_text(json.dumps(keys))
    write_tensors(tmp_path / "m" / "model.safetensors", bloom_tensors())
    select = mask(emitted(tmp_path / "m"))
    assert select.get_type_name() == "Select"
    positions = "Multiply(Subtract(CumSum(attention_mask, 1), 1), attention_mask)"
    biases = f"Multiply([[[0.0625], [0.00390625]]], Convert(Unsqueeze({positions}, [1])))"
    shape = "Concat(Gather(ShapeOf(attention_mask), [0], 0), [2, 1], Gather(ShapeOf(attention_mask), [1], 0))"
    assert expression(select.input_value(2).get_node(), 12) == f"Reshape(Reshape({biases}, [-1, 1, 0]), {shape})"
