"""What attributes of a few bytes would make of a node is limited: it is refused, or left to the runtime."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from moir import convert_model
from moir.errors import ConversionError


def converted(folder: Path, nodes: list[onnx.NodeProto], given: dict[str, np.ndarray], inputs: dict[str, tuple[int, list[int | None]]]):
    """The conversion of nodes, of which the last one gives the output."""
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info(name, *type_) for name, type_ in inputs.items()],
        [helper.make_empty_tensor_value_info(nodes[-1].output[0])],
        [numpy_helper.from_array(array, name) for name, array in given.items()],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), folder / "m.onnx")
    return convert_model(folder / "m.onnx")


HUGE = 1 << 40


@pytest.mark.parametrize(
    ("attributes", "length", "reason"),
    [
        ({"max_skip_count": HUGE, "ngram_indexes": [0]}, None, "more than 16384 comparisons.*use a smaller max_skip_count"),
        ({"max_skip_count": 0, "ngram_indexes": [HUGE]}, 4, "indices up to.*use indices without gaps"),
    ],
)
def test_counts_of_n_grams(tmp_path: Path, attributes: dict[str, object], length: int | None, reason: str) -> None:
    node = helper.make_node(
        *("TfIdfVectorizer", ["x"], ["y"]),
        **{"mode": "TF", "min_gram_length": 2, "max_gram_length": 2, "ngram_counts": [0, 0], "pool_int64s": [1, 2], **attributes},
    )
    with pytest.raises(ConversionError, match=reason):
        converted(tmp_path, [node], {}, {"x": (onnx.TensorProto.INT64, [length])})


def test_a_known_length_limits_the_distances_of_tokens(tmp_path: Path) -> None:
    node = helper.make_node(
        *("TfIdfVectorizer", ["x"], ["y"]),
        **{"mode": "TF", "min_gram_length": 2, "max_gram_length": 2, "ngram_counts": [0, 0], "pool_int64s": [1, 2]},
        max_skip_count=HUGE,
        ngram_indexes=[0],
    )
    text = str(converted(tmp_path, [node], {}, {"x": (onnx.TensorProto.INT64, [4])}))
    assert text.count("opset1.LogicalAnd") == 3


def test_a_string_is_joined_with_itself_until_it_is_too_long(tmp_path: Path) -> None:
    nodes = [helper.make_node("StringConcat", [f"t{index}", f"t{index}"], [f"t{index + 1}"]) for index in range(40)]
    actual = str(converted(tmp_path, nodes, {"t0": np.array(["ab"], object)}, {}))
    assert "opset15.StringTensorPack" in actual
