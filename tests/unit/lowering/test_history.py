"""What a lowering pass does depends on the module alone, not on what the process did before."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import moir
from moir.frameworks import lowered
from moir.lowering.onnx.table import onnx as onnx_table

ROOT = Path(__file__).parents[3]

MODELS = {
    "onnx": [ROOT / "tests/numerical/onnx/networks" / f"{name}.onnx" for name in ("lstm", "quantized", "resnet")],
    "caffe": [ROOT / "tests/fixtures/caffe/classifier.caffemodel"],
    "mxnet": [ROOT / "tests/fixtures/mxnet/classifier-symbol.json"],
    "paddle": [ROOT / "tests/fixtures/paddle" / name for name in ("classifier.pdmodel", "classifier_pir.json")],
    "tflite": [ROOT / "tests/fixtures/tflite/network.tflite"],
    "keras": [ROOT / "tests/fixtures/keras/functional.keras"],
    "stablehlo": [ROOT / "tests/fixtures/stablehlo/mlp.mlir"],
    "aten": [ROOT / "tests/fixtures/pytorch/classifier.pt2"],
    "transformers": [ROOT / "tests/fixtures/huggingface/llama"],
    "tf": [ROOT / "tests/fixtures/tensorflow" / name for name in ("convolution.pbtxt", "saved_model_v2", "keras_3")],
}

PROGRAM = """
import sys
from xdsl.context import Context
import moir
from moir.pipeline import default_pipeline

separator = sys.argv[1]
before, pairs = (each.split(separator) for each in sys.argv[2:])
for other in filter(None, before):
    moir.convert_model(other)
for framework, model in zip(pairs[::2], pairs[1::2]):
    module = moir.read_model(model)
    for each in default_pipeline(framework):
        each.apply(Context(), module)
        if each.name == f"lower-{framework}":
            break
    print(module, end=separator)
"""

SEPARATOR = "\x1e"

SOURCES = [(framework, str(path)) for framework, paths in MODELS.items() for path in paths]


def lowered_texts(sources: Sequence[tuple[str, str]], before: Sequence[str]) -> list[str]:
    """The modules after the lowering passes of their frameworks, in a process that has converted other models before."""
    pairs = SEPARATOR.join(text for pair in sources for text in pair)
    command = [sys.executable, "-c", PROGRAM, SEPARATOR, SEPARATOR.join(before), pairs]
    finished = subprocess.run(command, cwd=Path(moir.__file__).parents[1], capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr
    return finished.stdout.split(SEPARATOR)[:-1]


@pytest.fixture(scope="module")
def after_all_others() -> Mapping[tuple[str, str], str]:
    return dict(zip(SOURCES, lowered_texts(SOURCES, [path for _, path in SOURCES]), strict=True))


def test_there_are_models_of_each_framework() -> None:
    assert {each.dialect for each in lowered()} == MODELS.keys()


@pytest.mark.parametrize(("framework", "source"), SOURCES)
def test_a_fresh_process_and_one_that_converted_others(
    framework: str, source: str, after_all_others: Mapping[tuple[str, str], str]
) -> None:
    [fresh] = lowered_texts([(framework, source)], [])
    assert not re.search(rf"= {framework}\.", fresh)
    assert after_all_others[framework, source] == fresh


def test_expansion_by_definitions_needs_no_conversion_before(tmp_path: Path) -> None:
    """A kind without a handler is expanded by its definition in ONNX."""
    node = helper.make_node("NegativeLogLikelihoodLoss", ["x", "s"], ["y"], reduction="none")
    given = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [4, 6])]
    wanted = [helper.make_tensor_value_info("y", TensorProto.FLOAT, [4])]
    labels = numpy_helper.from_array(np.array([2, 5, 0, 1], np.int64), "s")
    graph = helper.make_graph([node], "g", given, wanted, [labels])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), tmp_path / "m.onnx")
    assert "NegativeLogLikelihoodLoss" not in onnx_table.kinds()
    source = ("onnx", str(tmp_path / "m.onnx"))
    [fresh] = lowered_texts([source], [])
    assert "onnx.NegativeLogLikelihoodLoss" not in fresh
    assert "tensor<4xf32>" in fresh
    assert lowered_texts([source], [str(path) for path in MODELS["onnx"]]) == [fresh]
