"""The mask of a window in the emitted IR. GenAI's paged attention keeps a window only if the mask consists of exactly these operations."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import openvino
import pytest

import moir
from tests.unit.language_models.folders import write_folder

WINDOW = 3

LENGTH = "Gather(ShapeOf(attention_mask), 1, 0)"
COUNT = "Gather(ShapeOf(input_ids), 1, 0)"
KEYS = f"Unsqueeze(Range(0, {LENGTH}, 1), [0, 1, 2])"
QUERIES = f"Unsqueeze(Add(Range(0, {COUNT}, 1), Subtract({LENGTH}, {COUNT})), [0, 1, 3])"


def written(folder: Path, **keys: object) -> openvino.Model:
    """The IR of a mistral, read from its file."""
    moir.save_model(moir.convert_model(write_folder(folder / "m", model_type="mistral", **keys)), folder / "net.xml")
    return openvino.Core().read_model(folder / "net.xml")


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
