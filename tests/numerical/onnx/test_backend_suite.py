"""A part of the backend tests of ONNX, statically and with symbolic dimensions: none is computed wrongly but those that are known."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from zlib import crc32

import onnx
import pytest
from onnx import TensorProto, helper

from tests.numerical.onnx.backend_suite import Symbols, inapplicable, run_test, suite, with_symbolic_inputs
from tests.numerical.outcomes import DEFECTS, Judgement, died
from tests.numerical.workers import Died, Say, Workers

PART = 20
"""One in so many tests is run; `benchmarks/onnx_backend.py` runs all."""

Item = tuple[str, Symbols]

_ALWAYS = {
    "test_cast_e8m0_FLOAT_to_FLOAT8E8M0": "rounding to f8e8m0",
    "test_castlike_FLOAT16_to_DOUBLE": "infinities of f64 become the largest number of f32",
}

KNOWN: dict[Symbols, dict[str, str]] = {
    "none": _ALWAYS,
    "all": {
        **_ALWAYS,
    },
}
"""Tests that are defects, with the reason; by the dimensions that are symbols."""


def run_item(item: Item, say: Say) -> Judgement:
    """The task of a worker."""
    return run_test(item[0], say, symbols=item[1])


def chosen() -> list[str]:
    """The tests of the part. Whole networks are left out: they take seconds each."""
    tests = [test for test in suite().values() if not isinstance(test.data, Path) or test.data.suffix != ".onnx"]
    return sorted(test.name for test in tests if crc32(test.name.encode()) % PART == 0)


@pytest.fixture(scope="module")
def judgements() -> Mapping[Item, Judgement]:
    items: list[Item] = [(name, symbols) for name in chosen() for symbols in KNOWN]
    workers: Workers[Item, Judgement] = Workers(run_item)
    return {item: died(answer) if isinstance(answer, Died) else answer for item, answer in workers.run(items)}


@pytest.mark.parametrize("symbols", KNOWN)
def test_a_part_of_the_suite(symbols: Symbols, judgements: Mapping[Item, Judgement]) -> None:
    assert len(judgements) > 150
    defects = {name: each for (name, which), each in judgements.items() if which == symbols and each.outcome in DEFECTS}
    new = [f"{name}: {each.outcome}: {each.message}" for name, each in defects.items() if name not in KNOWN[symbols]]
    assert not new, "\n".join(new)
    mended = KNOWN[symbols].keys() - defects.keys()
    assert not mended, f"take these out of the list: {', '.join(sorted(mended))}"


def test_what_is_made_symbolic() -> None:
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        [helper.make_node("Add", ["x", "w"], ["y"])],
        "test",
        [value("x", TensorProto.FLOAT, [2, 3]), value("w", TensorProto.FLOAT, [3]), value("axes", TensorProto.INT64, [2])],
        [value("y", TensorProto.FLOAT, [2, 3])],
        [helper.make_tensor("w", TensorProto.FLOAT, [3], [1, 2, 3])],
    )
    model = with_symbolic_inputs(helper.make_model(graph))
    copied = with_symbolic_inputs(helper.make_model(graph), "data")
    assert [dimension.dim_param for dimension in copied.graph.input[0].type.tensor_type.shape.dim] == ["x_0", "x_1"]
    assert [dimension.dim_value for dimension in copied.graph.input[2].type.tensor_type.shape.dim] == [2]
    assert [dimension.dim_param for dimension in model.graph.input[0].type.tensor_type.shape.dim] == ["x_0", "x_1"]
    assert [dimension.dim_value for dimension in model.graph.input[1].type.tensor_type.shape.dim] == [3]
    assert [dimension.WhichOneof("value") for dimension in model.graph.output[0].type.tensor_type.shape.dim] == [None, None]
    assert inapplicable("test", model) == ""


def test_what_is_not_applicable() -> None:
    def of(node: onnx.NodeProto, output: onnx.ValueInfoProto) -> str:
        return inapplicable("test", helper.make_model(helper.make_graph([node], "test", [], [output])))

    tensor, sequence = helper.make_empty_tensor_value_info("y"), helper.make_tensor_sequence_value_info("y", TensorProto.FLOAT, None)
    tensor.type.tensor_type.elem_type = TensorProto.FLOAT
    assert of(helper.make_node("Adam", [], ["y"], domain="ai.onnx.preview.training"), tensor) == "training"
    assert of(helper.make_node("RandomNormal", [], ["y"], shape=[1]), tensor).startswith("the expected numbers")
    assert of(helper.make_node("SequenceEmpty", [], ["y"]), sequence).startswith("an input or output is a sequence")
